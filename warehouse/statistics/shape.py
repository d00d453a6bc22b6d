"""The shape of repeats: whether they lie about two levels instead of one, and whether they drift while they are taken."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr

from warehouse.statistics.interval import NotSupported
from warehouse.statistics.observations import Floats, finite

_DRAWS = 4000
_MOST_DRAWN = 500  # values of a reference sample: of more values the statistic only gets smaller
_COUNTED = 50  # values up to which the null distribution of a trend is counted
_FEWEST = 6  # with five values the smallest p of a trend is 0.017


def two_levels_p(values: ArrayLike) -> float | NotSupported:
    """The p-value of values that lie about one level, against two levels with a fifth of the values or more at each. Six at least.

    Engelman and Hartigan, *Percentage points of a test for clusters* (JASA 64, 1969): the variance between two groups as a share of all,
    for the split that makes it greatest. Its null distribution is that of uniform values, the flattest with one level, as in Hartigan
    and Hartigan's dip test (1985), drawn with a fixed seed. One outlier is no level.
    """
    array = finite(values)
    if len(array) < _FEWEST:
        return NotSupported("so few values form no two groups", "run", len(array), _FEWEST)
    share = float(_between_share(np.sort(array)[None, :])[0])
    reference = _reference_shares(min(len(array), _MOST_DRAWN))
    return float((1 + (reference >= share).sum()) / (1 + len(reference)))


def trend_p(values: ArrayLike, times: ArrayLike | None = None) -> float | NotSupported:
    """The two-sided p-value of values that come in no order, against a rise or a fall. `times` are when the values were taken, as any
    numbers; without them the values are in the order of time. Values of one time have no order among themselves. Six values at least.

    Mann, *Nonparametric tests against trend* (Econometrica 13, 1945). Without ties and up to 50 values the distribution is counted, else
    it is normal, with the variance of Kendall, *Rank correlation methods* (4th ed., 1970), section 4.4, for ties in values and times.
    """
    array = finite(values)
    n = len(array)
    when = np.arange(n) if times is None else finite(times)
    if n < _FEWEST:
        return NotSupported("so few values cannot tell a trend from chance", "run", n, _FEWEST)
    signs = np.sign(np.subtract.outer(array, array)) * np.sign(np.subtract.outer(when, when))
    score = abs(int(np.tril(signs).sum()))
    ties, together = (np.unique(each, return_counts=True)[1] for each in (array, when))
    if n <= _COUNTED and len(ties) == len(together) == n:
        counts = _inversions(n)
        fewest = (n * (n - 1) // 2 - score) // 2  # pairs out of order, in the rarer direction
        return float(min(1.0, 2 * counts[: fewest + 1].sum()))
    variance = (n * (n - 1) * (2 * n + 5) - sum((each * (each - 1) * (2 * each + 5)).sum() for each in (ties, together))) / 18
    pairs, triples = ((each * (each - 1) for each in (ties, together)), (each * (each - 1) * (each - 2) for each in (ties, together)))
    variance += np.prod([float(each.sum()) for each in pairs]) / (2 * n * (n - 1))
    variance += np.prod([float(each.sum()) for each in triples]) / (9 * n * (n - 1) * (n - 2))
    return float(min(1.0, 2 * ndtr(-max(0, score - 1) / np.sqrt(variance)))) if variance > 0 else 1.0


def _between_share(ordered: Floats) -> Floats:
    """For each row of ordered values the greatest share of its variance that lies between two groups of it."""
    n = ordered.shape[1]
    least = max(2, -(-n // 5))
    centred = ordered - ordered.mean(axis=1, keepdims=True)
    total = (centred**2).sum(axis=1)
    sizes = np.arange(least, n - least + 1)
    below = np.cumsum(centred, axis=1)[:, sizes - 1]  # the sum of those below a split; above it is the same with the other sign
    between = (below**2 * (1 / sizes + 1 / (n - sizes))).max(axis=1)
    shares: Floats = np.divide(between, total, out=np.zeros_like(total), where=total > 0)
    return shares


@lru_cache(maxsize=64)
def _reference_shares(n: int) -> Floats:
    return _between_share(np.sort(np.random.RandomState(n).random_sample((_DRAWS, n)), axis=1))


@lru_cache(maxsize=64)
def _inversions(n: int) -> Floats:
    """The probability of each number of pairs out of order in a random order of n values."""
    counts = np.ones(1)
    for size in range(2, n + 1):
        counts = np.convolve(counts, np.full(size, 1 / size))
    return counts
