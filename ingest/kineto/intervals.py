"""Unions of intervals, and how much of them lies in windows. Times in microseconds."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_Numbers = NDArray[np.float64]


class Union(NamedTuple):
    """Intervals that do not touch, in order: where they start and end, and how much of the time before each start they take."""

    starts: _Numbers
    ends: _Numbers
    before: _Numbers

    def up_to(self, times: _Numbers) -> _Numbers:
        """How much of the time before each of `times` they take."""
        if not len(self.starts):
            return np.zeros(len(times))
        last = np.searchsorted(self.starts, times, "right") - 1
        place = np.maximum(last, 0)
        within = np.minimum(times, self.ends[place]) - self.starts[place]
        return np.where(last < 0, 0, self.before[place] + within)

    def within(self, starts: _Numbers, ends: _Numbers) -> _Numbers:
        """How much of each window they take."""
        return self.up_to(ends) - self.up_to(starts)


def union(starts: _Numbers, ends: _Numbers) -> Union:
    order = np.argsort(starts, kind="stable")
    starts, ends = starts[order], np.maximum.accumulate(ends[order])
    is_first = np.append(True, starts[1:] > ends[:-1])[: len(starts)]
    is_last = np.append(is_first[1:], True)[: len(starts)]
    starts, ends = starts[is_first], ends[is_last]
    lengths = ends - starts
    return Union(starts, ends, np.cumsum(lengths) - lengths)
