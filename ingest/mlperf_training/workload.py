"""The workload document of a run: what any system would have to do, from what its log states.

Seeds, hosts and how the batch is spread over the system (gradient accumulation, local batch size) are not in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .mllog import Event

_KEYS = frozenset({"global_batch_size", "max_sequence_length", "lora_rank", "lora_alpha"})


def is_of_workload(key: str) -> bool:
    return key.startswith("opt_") or key in _KEYS


def workload_document(benchmark: str | None, stated: Mapping[str, Event]) -> dict[str, Any] | None:
    """The document; what the log does not state is absent. None: the log states nothing that makes a workload."""
    if benchmark is None:
        return None
    document: dict[str, Any] = {"benchmark": benchmark}
    for key, event in sorted(stated.items()):
        if not is_of_workload(key):
            continue
        number = event.value_number
        if number is not None:
            document[key] = int(number) if number.is_integer() and abs(number) < 2**53 else number
        elif event.value is not None:
            document[key] = event.value
    return document if len(document) > 1 else None
