"""Stretches of a series whose runs belong together: between two marks, and of so few runs that a level that moves is seen to move. Each has a median
with its interval."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import ceil
from typing import Any

from warehouse.statistics.interval import Interval
from warehouse.statistics.means import median_interval

_MOST_RUNS = 12  # of a stretch, where nothing says where the level changed
_FEWEST = 3  # observations of an interval that is drawn: of two it is wider than any axis
Stretch = tuple[int, float | None, float | None]  # its number, and the ends of the interval of its median


def stretches(records: Sequence[Mapping[str, Any]], marks: Collection[int], is_cut: bool) -> list[Stretch]:
    """The stretch of each record of one series, which are in the order of time. A stretch begins at each of the `marks`; with `is_cut` it has at most
    twelve runs."""
    found: list[Stretch] = []
    starts = sorted({0, *marks, len(records)})
    number = 0
    for first, last in zip(starts, starts[1:], strict=False):
        parts = ceil((last - first) / _MOST_RUNS) if is_cut else 1
        for part in range(parts):
            of_one = records[first + (last - first) * part // parts : first + (last - first) * (part + 1) // parts]
            found += [(number, *_interval(of_one))] * len(of_one)
            number += 1
    return found


def _interval(records: Sequence[Mapping[str, Any]]) -> tuple[float | None, float | None]:
    """The interval of the median of sessions, or of runs where there is one session or none is stated."""
    sessions = [record["session"] for record in records]
    apart = len(set(sessions)) > 1 and None not in sessions
    if (len(set(sessions)) if apart else len(records)) < _FEWEST:
        return None, None
    interval = median_interval([record["value"] for record in records], sessions=sessions if apart else None)
    return (interval.low, interval.high) if isinstance(interval, Interval) else (None, None)
