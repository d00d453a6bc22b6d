"""The load of a benchmark, out of the strategy that ran it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from warehouse.landing.readers.text import Entry, Report, is_non_finite, number_in, whole

_OPEN_LOOP = frozenset({"constant", "poisson", "async"})


class Load(NamedTuple):
    """What drove a benchmark: requests in flight of a closed loop, or an arrival rate per second of an open one."""

    strategy: str | None
    concurrency: int | None
    request_rate_per_s: float | None


def load_of(entries: Mapping[str, Entry], report: Report) -> Load:
    """As report versions 1 and 2 state it (`config/strategy`), or 0.2 and 0.3 (`args/strategy`). A value that should be a number and is
    not is reported."""
    prefix = "config/strategy/" if any(key.startswith("config/strategy/") for key in entries) else "args/strategy/"

    def number(key: str) -> float | None:
        entry = entries.get(prefix + key)
        if entry is None or entry.number is not None:
            return entry and entry.number
        # NaN, infinity and numbers that are too large are reported where they are read.
        if entry.value is not None and number_in(entry.value) is None and not is_non_finite(entry.value):
            report.at("not-a-number", f"{entry.key}: {entry.value[:80]}", entry, "error")
        return None

    stated = entries.get(f"{prefix}type_") or entries.get(f"{prefix}kind")
    strategy = stated.value if stated else None
    if strategy in _OPEN_LOOP:
        return Load(strategy, None, number("rate"))
    if strategy == "synchronous":
        return Load(strategy, 1, None)
    in_flight = number("streams")
    in_flight = number("max_concurrency") if in_flight is None else in_flight
    return Load(strategy, whole(in_flight), None)
