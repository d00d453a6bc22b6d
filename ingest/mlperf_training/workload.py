"""The workload document of a run: what any system would have to do, from what its log states.

Seeds, hosts and how the batch is spread over the system (gradient accumulation, local batch size) are not in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from warehouse.landing.readers.text import exact_number
from warehouse.landing.rows import workload_columns

from .mllog import Event

_KEYS = frozenset({"global_batch_size", "max_sequence_length", "lora_rank", "lora_alpha"})


def is_of_workload(key: str) -> bool:
    return key.startswith("opt_") or key in _KEYS


def workload_of(benchmark: str | None, stated: Mapping[str, Event]) -> Mapping[str, str]:
    """The columns of the workload; what the log does not state is absent. None of them: it states nothing that makes a workload."""
    fields = tuple((key, _value(event)) for key, event in sorted(stated.items()) if is_of_workload(key))
    known = tuple((key, value) for key, value in fields if value is not None)
    return _frozen((("benchmark", benchmark), *known)) if benchmark is not None and known else {}


def _value(event: Event) -> int | float | str | None:
    return event.value if event.value_number is None else exact_number(event.value_number)


@lru_cache(maxsize=64)  # the runs of a repeat set share one: making it anew took a fifth of all parsing time
def _frozen(fields: tuple[tuple[str, int | float | str], ...]) -> Mapping[str, str]:
    return workload_columns(dict(fields))
