"""Statistics of a file's own detail, for ingestors: to check what the file states of it, never to replace it.

Percentiles are linear interpolations between order statistics, as numpy's and pandas' default.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

# Sums of floats differ in their last digits with the order of adding; what is further off is another value.
_RELATIVE_TOLERANCE = 1e-9


def mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def percentile(ordered: Sequence[float], percent: float) -> float:
    """The percentile, 0 to 100, of values in ascending order."""
    place = (len(ordered) - 1) * percent / 100
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


def standard_deviation(values: Sequence[float], ddof: int) -> float | None:
    """With `ddof` 0 of a population, with 1 of a sample; None where it has none."""
    if len(values) <= ddof:
        return None
    centre = mean(values)
    return math.sqrt(math.fsum((value - centre) ** 2 for value in values) / (len(values) - ddof))


def agrees(stated: float, computed: float) -> bool:
    """Whether two statements of one quantity differ by no more than rounding."""
    return math.isclose(stated, computed, rel_tol=_RELATIVE_TOLERANCE, abs_tol=1e-12)
