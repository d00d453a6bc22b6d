"""Whether the spread of a series changed while its level stayed: the split of its deviations from the median, and the ratio of both sides.

The square root of a Gaussian deviation is nearly symmetric, so a change of spread is a step in the series of these roots, and `splits`
judges it as it judges a step of the level. Levene, *Robust tests for equality of variances* (1960), compares deviations for the same
reason: unlike an F test it does not take long tails for a wider spread.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from warehouse.statistics.observations import Floats
from warehouse.statistics.splits import Ints, Splits, centre_and_spread, splits_of

_TO_DEVIATION = float(np.sqrt(np.pi / 2))  # from the mean absolute deviation of a normal distribution to its standard deviation
_Z = 1.959964


@dataclass(frozen=True)
class SpreadRatio:
    """Both spreads as standard deviations, and the 95 % interval of after over before; None where one of them is zero."""

    before: float
    after: float
    low: float | None
    high: float | None


def deviations(values: Floats) -> Floats:
    """The roots of the absolute deviations from the median: what is split."""
    return np.asarray(np.sqrt(np.abs(values - centre_and_spread(values)[0])))


def spread_splits(values: Floats, starts: Ints, ends: Ints) -> Splits:
    """The best split of the deviations in each window `values[start:end]`."""
    windows = [deviations(values[start:end]) for start, end in zip(starts, ends, strict=True)]
    edges = np.cumsum([0, *(len(window) for window in windows)])
    return splits_of(np.concatenate(windows), edges[:-1], edges[1:])


def spread_ratio(before: Floats, after: Floats) -> SpreadRatio:
    """The interval is that of the logarithm of a ratio of two means (delta method), each side about its own median."""
    sides = [np.abs(side - np.median(side)) * len(side) / (len(side) - 1) for side in (before, after)]
    a, b = (float(side.mean()) for side in sides)
    if not (a > 0 and b > 0):
        return SpreadRatio(a * _TO_DEVIATION, b * _TO_DEVIATION, None, None)
    half = _Z * np.sqrt(sum(side.var(ddof=1) / len(side) / side.mean() ** 2 for side in sides))
    return SpreadRatio(a * _TO_DEVIATION, b * _TO_DEVIATION, float(b / a * np.exp(-half)), float(b / a * np.exp(half)))
