"""The shape of repeats: whether they lie about two levels instead of one, and whether they drift while they are taken."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import lru_cache
from math import factorial, prod

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr

from warehouse.statistics.interval import NotSupported
from warehouse.statistics.observations import Floats, finite, grouped, last_digit

_DRAWS = 4000
_MOST_DRAWN = 500  # values of a reference sample: of more values the statistic only gets smaller
_COUNTED = 50  # values up to which the null distribution of a trend is counted
_FEWEST = 6
_LEAST_P = 0.01  # a trend that cannot have a smaller p is not tested: with five values the smallest is 0.017


def two_levels_p(values: ArrayLike, sessions: Sequence[Hashable] | None = None, step: float | None = None) -> float | NotSupported:
    """The p-value of values that lie about one level, against two levels with a fifth of the values or more at each. Six at least.

    Engelman and Hartigan, *Percentage points of a test for clusters* (JASA 64, 1969): the variance between two groups as a share of all,
    for the split that makes it greatest. Its null distribution is that of uniform values, the flattest with one level, as in Hartigan
    and Hartigan's dip test (1985), drawn with a fixed seed. One outlier is no level.

    With `sessions`, it is the mean of these shares over sessions of three values or more: sessions that differ make no levels of runs.
    From six sessions on, their means are tested as well. Equal values are spread over the `step` that they were rounded
    to, which is found from the values unless it is given (0: not rounded).
    """
    array = finite(values)
    if len(array) and step != 0:
        array = _unrounded(array, step)
    if sessions is None:
        if len(array) < _FEWEST:
            return NotSupported("so few values form no two groups", "run", len(array), _FEWEST)
        return _levels_p([array], is_exact=step == 0)
    groups = grouped(array, sessions)
    large = [group for group in groups if len(group) > 2]
    found = [_levels_p(large)] if sum(map(len, large)) >= _FEWEST else []
    if len(groups) >= _FEWEST:
        found.append(_levels_p([np.array([group.mean() for group in groups])]))
    most = max(map(len, groups), default=0)
    return _any_of(found) if found else NotSupported("so few values of a session form no two groups", "run", most, _FEWEST)


def trend_p(
    values: ArrayLike, times: ArrayLike | None = None, sessions: Sequence[Hashable] | None = None
) -> float | NotSupported:
    """The two-sided p-value of values that come in no order, against a rise or a fall. `times` are when the values were taken, as any
    numbers; without them the values are in the order of time. Values of one time have no order among themselves. Six values at least.

    Mann, *Nonparametric tests against trend* (Econometrica 13, 1945). Without ties and up to 50 values the distribution is counted, else
    it is normal, with the variance of Kendall, *Rank correlation methods* (4th ed., 1970), section 4.4, for ties in values and times.

    With `sessions`, values are compared with those of their own session alone (Hirsch and Slack, *A nonparametric trend test for seasonal
    data with serial dependence*, Water Resources Research 20, 1984): sessions that differ are no drift of runs. From six sessions on, the
    order of their means is tested as well.
    """
    array = finite(values)
    when = np.arange(len(array), dtype=np.float64) if times is None else finite(times)
    groups = [(array, when)] if sessions is None else list(zip(grouped(array, sessions), grouped(when, sessions), strict=True))
    sizes = [len(each) for each, _ in groups]
    found = [_trend_p(groups)] if 2 / prod(factorial(min(size, _COUNTED)) for size in sizes) < _LEAST_P else []
    if sessions is not None and len(groups) >= _FEWEST:
        found.append(_trend_p([(np.array([each.mean() for each, _ in groups]), np.array([at.mean() for _, at in groups]))]))
    return _any_of(found) if found else NotSupported("so few values cannot tell a trend from chance", "run", max(sizes, default=0), _FEWEST)


def _any_of(found: Sequence[float]) -> float:
    """The p-value of several tests together (Bonferroni)."""
    return min(1.0, len(found) * min(found))


def _trend_p(groups: Sequence[tuple[Floats, Floats]]) -> float:
    """Of groups of values and their times, which are compared within a group alone."""
    score, variance, pairs, counts = 0, 0.0, 0, np.ones(1)
    is_counted = all(len(each) <= _COUNTED and len(np.unique(each)) == len(np.unique(at)) == len(each) for each, at in groups)
    for each, at in groups:
        n = len(each)
        score += int(np.tril(np.sign(np.subtract.outer(each, each)) * np.sign(np.subtract.outer(at, at))).sum())
        if is_counted:
            counts, pairs = np.convolve(counts, _inversions(n)), pairs + n * (n - 1) // 2
        elif n > 1:
            variance += _variance_of_score(each, at)
    if is_counted:
        fewest = (pairs - abs(score)) // 2  # pairs out of order, in the rarer direction
        return float(min(1.0, 2 * counts[: fewest + 1].sum()))
    return float(min(1.0, 2 * ndtr(-max(0, abs(score) - 1) / np.sqrt(variance)))) if variance > 0 else 1.0


def _variance_of_score(values: Floats, times: Floats) -> float:
    n = len(values)
    ties, together = (np.unique(each, return_counts=True)[1] for each in (values, times))
    variance = (n * (n - 1) * (2 * n + 5) - sum((each * (each - 1) * (2 * each + 5)).sum() for each in (ties, together))) / 18
    pairs, triples = ((each * (each - 1) for each in (ties, together)), (each * (each - 1) * (each - 2) for each in (ties, together)))
    variance += np.prod([float(each.sum()) for each in pairs]) / (2 * n * (n - 1))
    of_triples = np.prod([float(each.sum()) for each in triples])
    return float(variance + (of_triples / (9 * n * (n - 1) * (n - 2)) if n > 2 else 0.0))


def _unrounded(array: Floats, step: float | None) -> Floats:
    """Equal values spread evenly over the step that they were rounded to: the last digit that the values have, or if it is larger the least
    distance between two of them, up to a fiftieth of the median (a rate of whole seconds has many digits)."""
    distinct, places, counts = np.unique(array, return_inverse=True, return_counts=True)
    if len(distinct) == len(array) or len(distinct) < 2:
        return array
    if step is None:
        step = max(last_digit(distinct), min(float(np.diff(distinct).min()), abs(float(np.median(array))) / 50))
    rank = np.empty(len(array))
    for value, count in enumerate(counts):
        rank[places == value] = (np.arange(count) + 0.5) / count - 0.5
    return array + step * rank


def _levels_p(groups: Sequence[Floats], is_exact: bool = False) -> float:
    """`is_exact`: values are taken as they are. Else from the first of their group: equal ones then have no variance from the last bit of their
    mean."""
    sizes = _at_most([len(group) for group in groups])
    share = float(_mean_share([np.sort(group if is_exact else group - group[0])[None, :] for group in groups])[0])
    reference = _reference_shares(sizes)
    return float((1 + (reference >= share).sum()) / (1 + len(reference)))


def _at_most(sizes: Sequence[int]) -> tuple[int, ...]:
    """The sizes of groups that a reference sample is drawn for, the largest first."""
    chosen: list[int] = []
    for size in sorted(sizes, reverse=True):
        if sum(chosen) < _MOST_DRAWN:
            chosen.append(min(size, _MOST_DRAWN - sum(chosen)))
    return tuple(chosen)


def _mean_share(groups: Sequence[Floats]) -> Floats:
    """The mean over groups of `_between_share`, each with the weight of its size. In several groups one value may be a level of its group."""
    least = 2 if len(groups) == 1 else 1
    shares = [group.shape[1] * _between_share(group, least) for group in groups]
    mean: Floats = np.sum(shares, axis=0) / sum(group.shape[1] for group in groups)
    return mean


def _between_share(ordered: Floats, least: int) -> Floats:
    """For each row of ordered values the greatest share of its variance that lies between two groups of it, of `least` values or a fifth."""
    n = ordered.shape[1]
    least = max(least, -(-n // 5))
    centred = ordered - ordered.mean(axis=1, keepdims=True)
    total = (centred**2).sum(axis=1)
    sizes = np.arange(least, n - least + 1)
    below = np.cumsum(centred, axis=1)[:, sizes - 1]  # the sum of those below a split; above it is the same with the other sign
    between = (below**2 * (1 / sizes + 1 / (n - sizes))).max(axis=1)
    shares: Floats = np.divide(between, total, out=np.zeros_like(total), where=total > 0)
    return shares


@lru_cache(maxsize=64)
def _reference_shares(sizes: tuple[int, ...]) -> Floats:
    """Of uniform values in groups of these sizes."""
    drawn = np.random.RandomState(sum(sizes)).random_sample((_DRAWS, sum(sizes)))
    return _mean_share([np.sort(group, axis=1) for group in np.split(drawn, np.cumsum(sizes[:-1]), axis=1)])


@lru_cache(maxsize=64)
def _inversions(n: int) -> Floats:
    """The probability of each number of pairs out of order in a random order of n values."""
    counts = np.ones(1)
    for size in range(2, n + 1):
        counts = np.convolve(counts, np.full(size, 1 / size))
    return counts
