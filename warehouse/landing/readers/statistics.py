"""Statistics of a file's own detail, for ingestors: to check what the file states of it, never to replace it.

Percentiles are linear interpolations between order statistics, as numpy's and pandas' default.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Sums of floats differ in their last digits with the order of adding; what is further off is another value.
_RELATIVE_TOLERANCE = 1e-9

Numbers = Sequence[float] | NDArray[Any]


_SCALE = 2.0**64


def mean(values: Numbers) -> float:
    """The mean by the exact sum. It is finite if the values are, even if their sum is not."""
    numbers = values if isinstance(values, Sequence) else values.tolist()
    try:
        return math.fsum(numbers) / len(numbers)
    except OverflowError:
        return math.fsum(number / _SCALE for number in numbers) / len(numbers) * _SCALE


def percentile(ordered: Numbers, percent: float) -> float:
    """The percentile, 0 to 100, of values in ascending order."""
    place = (len(ordered) - 1) * percent / 100
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return float(ordered[below] + (ordered[above] - ordered[below]) * (place - below))


def standard_deviation(values: Numbers, ddof: int) -> float | None:
    """With `ddof` 0 of a population, with 1 of a sample; None where it has none. Infinite where a square is."""
    if len(values) <= ddof:
        return None
    with np.errstate(over="ignore"):
        squares = np.square(np.asarray(values, np.float64) - mean(values))
    return math.sqrt(mean(squares) * (len(values) / (len(values) - ddof)))


def agrees_at_once(stated: float, values: NDArray[np.float64], ddof: int | None) -> bool:
    """Whether a stated mean, or standard deviation where there is a `ddof`, is surely that of values which are no less than
    zero; where it is not sure, the exact sum tells, which takes ten times as long."""
    if len(values) <= (ddof or 0) or values.min() < 0:
        return False
    with np.errstate(over="ignore", invalid="ignore"):
        computed = float(values.mean() if ddof is None else values.std(ddof=ddof))
    return math.isclose(stated, computed, rel_tol=_RELATIVE_TOLERANCE / 2)


def agrees(stated: float, computed: float) -> bool:
    """Whether two statements of one quantity differ by no more than rounding."""
    return math.isclose(stated, computed, rel_tol=_RELATIVE_TOLERANCE, abs_tol=1e-12)
