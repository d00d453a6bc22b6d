"""Which of several treatments may be the best, from the same sessions as blocks: a subset that holds the best with the stated confidence.

Comparisons with the best after J. C. Hsu (Multiple Comparisons: Theory and Methods, 1996, ch. 4 and 7.1). Each pair is compared by the differences of
its sessions (paired t), which needs neither equal variances nor that treatments act alike in all sessions; Bonferroni over the others makes
the comparisons of one treatment simultaneous. All equal, exactly one is left in at most `1 - confidence` of cases.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean

FEWEST_SESSIONS = 3  # of two, a paired t has one degree of freedom: an interval as wide as the values


@dataclass(frozen=True)
class Against:
    """A treatment beside the one that has the best mean of all others: the effect as a ratio, above 1 where the treatment is better, with its
    simultaneous interval, over so many sessions."""

    other: str
    ratio: float
    low: float
    high: float
    sessions: int


@dataclass(frozen=True)
class Best:
    """`may_be_best`: the treatments that no other is shown to beat by more than the indifference zone, the best mean first. `beaten_by`: of each
    other, the treatment that beats it most clearly. `not_compared`: those with too few sessions in common with others. `against`: how each
    compares with the best of the others."""

    may_be_best: tuple[str, ...]
    beaten_by: Mapping[str, str]
    not_compared: tuple[str, ...]
    against: Mapping[str, Against]
    confidence: float
    indifference: float

    @property
    def named(self) -> str | None:
        """The best, where it is one; None: a tie, or nothing to compare."""
        return self.may_be_best[0] if len(self.may_be_best) == 1 and self.beaten_by else None


def best(
    values: Mapping[str, Mapping[str, float]], *, higher_is_better: bool, indifference: float = 0.0, confidence: float = 0.95
) -> Best:
    """Compare treatments by their positive values in sessions (a mean of its runs, each). `indifference`: a share, such as 0.01, by which one must be
    better at least to count as better. Raises `ValueError` for a value that is not positive, or an indifference below 0."""
    if indifference < 0 or any(not value > 0 for each in values.values() for value in each.values()):
        raise ValueError("values are positive, and indifference is at least 0")
    sign = 1 if higher_is_better else -1
    logs = {name: {session: sign * math.log(value) for session, value in each.items()} for name, each in values.items()}
    compared = {name for name in logs if any(_shared(logs, name, other) >= FEWEST_SESSIONS for other in logs if other != name)}
    zone = math.log1p(indifference)
    intervals: dict[tuple[str, str], tuple[float, float, float, int]] = {}
    for one, other in combinations(sorted(compared), 2):
        if _shared(logs, one, other) >= FEWEST_SESSIONS:
            middle, low, high, count = _interval(logs[one], logs[other], confidence, len(compared) - 1)
            intervals[one, other], intervals[other, one] = (middle, low, high, count), (-middle, -high, -low, count)
    means = {name: fmean(logs[name].values()) for name in compared}
    beaten_by: dict[str, str] = {}
    for name in compared:
        beaters = {other: found[1] for other in compared if (found := intervals.get((other, name))) and found[1] > zone}
        if beaters:
            beaten_by[name] = max(beaters, key=lambda other: (beaters[other], other))
    left = tuple(sorted(compared - beaten_by.keys(), key=lambda name: (-means[name], name)))
    against = {}
    for name in compared:
        others = sorted((other for other in compared if (name, other) in intervals), key=lambda other: (-means[other], other))
        middle, low, high, sessions = intervals[name, others[0]]
        against[name] = Against(others[0], math.exp(middle), math.exp(low), math.exp(high), sessions)
    return Best(left, beaten_by, tuple(sorted(logs.keys() - compared)), against, confidence, indifference)


def _shared(logs: Mapping[str, Mapping[str, float]], one: str, other: str) -> int:
    return len(logs[one].keys() & logs[other].keys())


def _interval(one: Mapping[str, float], other: Mapping[str, float], confidence: float, comparisons: int) -> tuple[float, float, float, int]:
    from scipy.special import stdtrit

    differences = [one[session] - other[session] for session in sorted(one.keys() & other.keys())]
    middle, count = fmean(differences), len(differences)
    # Two-sided over all others at once. Sessions whose differences are all equal to the last digit say nothing of noise.
    quantile = float(stdtrit(count - 1, 1 - (1 - confidence) / 2 / comparisons))
    # Not statistics.stdev, whose fractions take most of the time that 50 treatments take.
    half = quantile * math.sqrt(math.fsum((each - middle) ** 2 for each in differences) / (count - 1) / count)
    return middle, middle - half, middle + half, count
