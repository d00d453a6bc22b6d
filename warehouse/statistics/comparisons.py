"""Head against base: by how much, with an interval; and what a comparison of this size could have found.

Hodges and Lehmann's estimate is the median of all differences between the two sides, with the interval that inverts the rank test:
nothing is assumed of the distributions but that one is the other, shifted. Where there are too few values for any rank test at the
confidence, Student's t is used. With sessions given, each side's sessions are compared, and the interval covers sessions as well.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import lru_cache
from math import comb

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri, stdtr, stdtrit

from warehouse.statistics.interval import Interval, Level, NotSupported
from warehouse.statistics.means import multiplied, student
from warehouse.statistics.observations import Floats, finite, positive, replicates, tail_of

# Up to so many pairs the null distribution is counted; beyond, the normal approximation differs by less than one rank.
_COUNTED_PAIRS = 2_500
_COUNTED_SIGNS = 50
# From so many values of the smaller side on: the 80 % quantile of the lower end of `ratio_interval`, of 3,000 pairs of normal samples, over
# what Bloom's formula gives.
_WIDER = ((11, 1.03), (6, 1.06), (5, 1.15), (4, 1.21), (3, 1.17), (2, 1.96))


def shift_interval(
    base: ArrayLike,
    head: ArrayLike,
    confidence: float = 0.95,
    base_sessions: Sequence[Hashable] | None = None,
    head_sessions: Sequence[Hashable] | None = None,
) -> Interval | NotSupported:
    """An interval of how much head lies above base, in their unit. Two observations on each side at least.

    Hollander, Wolfe and Chicken, *Nonparametric Statistical Methods* (3rd edition, 2014), sections 4.2 and 4.3. With three against
    three values or fewer: Welch's t.
    """
    return _difference(finite(base), finite(head), confidence, base_sessions, head_sessions)


def ratio_interval(
    base: ArrayLike,
    head: ArrayLike,
    confidence: float = 0.95,
    base_sessions: Sequence[Hashable] | None = None,
    head_sessions: Sequence[Hashable] | None = None,
) -> Interval | NotSupported:
    """An interval of head over base: 1.02 is 2 % more. The shift of the logarithms."""
    return _exponential(_difference(np.log(positive(base)), np.log(positive(head)), confidence, base_sessions, head_sessions))


def paired_ratio_interval(
    base: ArrayLike, head: ArrayLike, confidence: float = 0.95, sessions: Sequence[Hashable] | None = None
) -> Interval | NotSupported:
    """An interval of head over base for pairs that ran side by side. The paired shift of the logarithms."""
    return _exponential(_paired(np.log(positive(base)), np.log(positive(head)), confidence, sessions))


def difference_p(base: ArrayLike, head: ArrayLike) -> float | NotSupported:
    """The two-sided p-value of a difference between the means, for values whose place of change was known beforehand: Welch's t.
    Take logarithms first for a ratio. Two observations on each side at least."""
    a, b = finite(base), finite(head)
    if min(len(a), len(b)) < 2:
        return NotSupported("a side with one value has no spread", "run", min(len(a), len(b)), 2)
    variance, freedom = _welch_variance(a, b)
    distance = abs(b.mean() - a.mean())
    if variance == 0:
        return float(distance == 0)
    return float(2 * stdtr(freedom, -distance / np.sqrt(variance)))


def least_detectable_ratio(spread: float, base: int, head: int, confidence: float = 0.95, power: float = 0.8) -> float | NotSupported:
    """The smallest ratio above 1 whose interval would exclude 1 with the probability `power`, where single observations spread by
    `spread`, the standard deviation of their logarithms (for a few percent: the coefficient of variation).

    Bloom, *Minimum detectable effects* (Evaluation Review 19, 1995): (t of the confidence + t of the power) x the standard error. The interval
    of few values is wider than that of t, by ranks and by Welch: measured, `_WIDER`.
    """
    freedom = base + head - 2
    if min(base, head) < 2:
        return NotSupported("a side with one value has no spread", "run", min(base, head), 2)
    reach = -stdtrit(freedom, tail_of(confidence)) + stdtrit(freedom, power)
    wider = next(factor for fewest, factor in _WIDER if min(base, head) >= fewest)
    return float(np.exp(reach * wider * spread * np.sqrt(1 / base + 1 / head)))


def _difference(
    base: Floats,
    head: Floats,
    confidence: float,
    base_sessions: Sequence[Hashable] | None,
    head_sessions: Sequence[Hashable] | None,
) -> Interval | NotSupported:
    tail = tail_of(confidence)
    if (base_sessions is None) != (head_sessions is None):
        raise ValueError("sessions are given for one side only")
    sides = replicates(base, base_sessions, np.mean), replicates(head, head_sessions, np.mean)
    for side, name in zip(sides, ("base", "head"), strict=True):
        if refusal := side.too_few(2, f"{name} has no spread to compare with"):
            return refusal
    a, b = sides[0].values, sides[1].values
    n: dict[Level, int] = {level: count + sides[1].n[level] for level, count in sides[0].n.items()}
    if rank := _mann_whitney_rank(len(a), len(b), tail):
        return _between_ranks(np.subtract.outer(b, a).ravel(), rank, confidence, "Hodges-Lehmann", n)
    low, high = _welch(a, b, tail)
    return Interval(float(b.mean() - a.mean()), low, high, confidence, "Welch's t", n)


def _paired(base: Floats, head: Floats, confidence: float, sessions: Sequence[Hashable] | None) -> Interval | NotSupported:
    tail = tail_of(confidence)
    if len(base) != len(head):
        raise ValueError(f"{len(base)} values of base and {len(head)} of head are no pairs")
    pairs = replicates(head - base, sessions, np.mean)
    if refusal := pairs.too_few(2, "one pair has no spread"):
        return refusal
    if rank := _signed_rank_rank(len(pairs.values), tail):
        first, second = np.triu_indices(len(pairs.values))
        return _between_ranks((pairs.values[first] + pairs.values[second]) / 2, rank, confidence, "Hodges-Lehmann, paired", pairs.n)
    low, high = student(pairs.values, tail)
    return Interval(float(pairs.values.mean()), low, high, confidence, "paired t", pairs.n)


def _between_ranks(candidates: Floats, rank: int, confidence: float, method: str, n: dict[Level, int]) -> Interval:
    ordered = np.sort(candidates)
    return Interval(float(np.median(ordered)), float(ordered[rank - 1]), float(ordered[-rank]), confidence, method, n)


def _exponential(found: Interval | NotSupported) -> Interval | NotSupported:
    if isinstance(found, NotSupported):
        return found
    low, high = multiplied((found.low, found.high))
    return Interval(float(np.exp(found.estimate)), low, high, found.confidence, f"{found.method} of logarithms", found.n)


def _welch(a: Floats, b: Floats, tail: float) -> tuple[float, float]:
    """Welch, *The generalization of Student's problem when several different population variances are involved* (Biometrika 34, 1947)."""
    variance, freedom = _welch_variance(a, b)
    difference = b.mean() - a.mean()
    if variance == 0:
        return float(difference), float(difference)
    half = -stdtrit(freedom, tail) * np.sqrt(variance)
    return float(difference - half), float(difference + half)


def _welch_variance(a: Floats, b: Floats) -> tuple[float, float]:
    """The variance of the difference of the means, and its degrees of freedom (NaN where it is zero)."""
    shares = a.var(ddof=1) / len(a), b.var(ddof=1) / len(b)
    variance = float(sum(shares))
    if variance == 0:
        return 0.0, float("nan")
    return variance, float(variance**2 / (shares[0] ** 2 / (len(a) - 1) + shares[1] ** 2 / (len(b) - 1)))


@lru_cache(maxsize=1024)
def _mann_whitney_rank(n: int, m: int, tail: float) -> int:
    """The greatest rank c with P[U < c] <= tail: between the c-th difference from below and from above. 0 where there is none."""
    if n * m > _COUNTED_PAIRS:
        return int(n * m / 2 + 0.5 + ndtri(tail) * np.sqrt(n * m * (n + m + 1) / 12))
    # ways[i][u]: in how many orders of i values of base and j of head the statistic is u, for j = 0, 1, ... m in turn.
    ways = np.zeros((n + 1, n * m + 1))
    ways[:, 0] = 1
    for j in range(1, m + 1):
        for i in range(1, n + 1):
            ways[i, j:] += ways[i - 1, : n * m + 1 - j]
    return int((np.cumsum(ways[n]) <= tail * comb(n + m, n)).sum())


@lru_cache(maxsize=1024)
def _signed_rank_rank(n: int, tail: float) -> int:
    """The same for the Walsh averages and the signed-rank test."""
    pairs = n * (n + 1) // 2
    if n > _COUNTED_SIGNS:
        return int(pairs / 2 + 0.5 + ndtri(tail) * np.sqrt(pairs * (2 * n + 1) / 12))
    ways = np.zeros(pairs + 1)
    ways[0] = 1
    for rank in range(1, n + 1):
        ways[rank:] += ways[:-rank].copy()
    return int((np.cumsum(ways) <= tail * 2.0**n).sum())
