"""Latencies that a record states twice, in two units or under two names. Where the two contradict each other, neither is a number."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from warehouse.landing.consistency import rounding
from warehouse.landing.readers.text import Entry, Report
from warehouse.landing.severity import disagreement

from .formats import latency_of

_FLOATS = 1e-6


def without_contradictions(stated: Sequence[Entry], report: Report) -> list[Entry]:
    """The entries, without the numbers of latencies that contradict each other beyond rounding; that is reported."""
    groups: dict[str, list[tuple[Entry, float, float]]] = defaultdict(list)
    for entry in stated:
        if entry.number is not None and (found := latency_of(entry.key)):
            statistic, unit_ms = found
            groups[statistic].append((entry, entry.number * unit_ms, rounding(entry.value or "") * unit_ms))
    wrong: set[str] = set()
    for (first, first_ms, first_rounding), *others in groups.values():
        for other, other_ms, other_rounding in others:
            if abs(first_ms - other_ms) > first_rounding + other_rounding + _FLOATS * abs(first_ms):
                severity, apart = disagreement(first_ms, other_ms)
                message = f"{first.key} is {first.value}, but {other.key} is {other.value}: {apart}; neither is taken"
                report.at("latency-stated-twice", message[:300], other, severity)
                wrong |= {first.key, other.key}
    return [entry._replace(number=None) if entry.key in wrong else entry for entry in stated]
