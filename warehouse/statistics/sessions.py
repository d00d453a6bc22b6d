"""What sessions and runs each add to the variance; and intervals over sessions, for which few sessions borrow from others.

Two sessions that happen to agree give a narrow interval, and a gate that lets narrow intervals pass picks just these: of intervals of
nominal 95 % that a bound of 5 % lets pass, four in ten hold the truth if sessions differ by 5 % (benchmarks/statistics). So the variance between
sessions is shrunk towards what is known beforehand: Smyth, *Linear models and empirical Bayes methods for assessing differential
expression* (Statistical Applications in Genetics and Molecular Biology 3, 2004), equation 3.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaincinv, stdtrit

from warehouse.statistics.interval import Interval, Level, NotSupported, SessionNoise
from warehouse.statistics.observations import Floats, finite, grouped, tail_of

Statistic = Literal["mean", "median", "geometric mean"]

# Sessions of one machine often differ by 5 % although nothing changed. With five degrees of freedom, three sessions that agree are not
# enough to call a number good to 5 %, and four are (five for a median).
ASSUMED = 0.05
ASSUMED_FREEDOM = 5
_DOUBT = 0.1  # the history counts with the upper end of its one-sided 90 % interval: too low a figure lets numbers pass that should not


@dataclass(frozen=True)
class VarianceComponents:
    """What each level adds to the variance of one run's value. None: the observations have no two members of the level to compare.
    Zero: the members differ no more than what is below them explains."""

    session: float | None
    run: float | None


def variance_components(values: ArrayLike, sessions: Sequence[Hashable]) -> VarianceComponents:
    """How much of the variance of runs comes from sessions and how much from the runs of one session, in the square of the values'
    unit. Take logarithms first for shares of a positive quantity.

    Kalibera and Jones, *Quantifying performance changes with effect size confidence intervals* (2012), section 6.1, with the means of
    unequal groups weighted alike, so that the estimates stay unbiased.
    """
    groups = grouped(finite(values), sessions)
    run = _within(groups)
    from_runs = np.mean([(run or 0.0) / len(group) for group in groups])
    between = _within([np.array([group.mean() for group in groups], dtype=np.float64)])
    return VarianceComponents(None if between is None else max(0.0, between - float(from_runs)), run)


@dataclass(frozen=True)
class Spread:
    """What the sessions of one number say of the variance between sessions, in squares of shares: less than zero where they differ less
    than their runs explain."""

    sessions: tuple[str, ...]
    variance: float

    @property
    def freedom(self) -> int:
        return len(self.sessions) - 1


def spread_of(values: Mapping[str, Sequence[float]]) -> Spread | None:
    """The spread of the positive values of one number by session; None with fewer than two sessions, or a value that is not positive."""
    groups = [np.log(each) for each in values.values() if min(each, default=1.0) > 0]
    if len(groups) < 2 or len(groups) < len(values):
        return None
    between = float(np.var([group.mean() for group in groups], ddof=1))
    return Spread(tuple(values), between - (_within(groups) or 0.0) * float(np.mean([1 / len(group) for group in groups])))


class Pool:
    """What the sessions of several numbers say together. Numbers that share their sessions do not say the same twice: the degrees of freedom
    are at most half as many as there are sessions."""

    def __init__(self, spreads: Iterable[Spread] = ()) -> None:
        self._variance, self._freedom = 0.0, 0
        self._sessions: Counter[str] = Counter()
        for spread in spreads:
            self.add(spread)

    def add(self, spread: Spread, times: int = 1) -> None:
        """Add what a number says; or take it away again, with -1."""
        self._variance += times * spread.freedom * spread.variance
        self._freedom += times * spread.freedom
        for session in spread.sessions:
            self._sessions[session] += times
            if not self._sessions[session]:
                del self._sessions[session]

    @property
    def noise(self) -> SessionNoise | None:
        """None of no number."""
        if not self._freedom:
            return None
        spread, sessions = float(np.sqrt(max(0.0, self._variance / self._freedom))), len(self._sessions)
        return SessionNoise(spread, min(self._freedom, sessions // 2), sessions)


@dataclass(frozen=True)
class Expected:
    """The variance between sessions to reckon with before any is seen, in squares of shares, its degrees of freedom, and where it is from."""

    variance: float
    freedom: int
    source: str

    def __str__(self) -> str:
        return f"sessions expected to differ by {np.sqrt(self.variance):.1%} ({self.source})"


def expected(history: SessionNoise | None, is_selected: bool = False) -> Expected:
    """What a history, or none, lets expect. `is_selected`: for intervals of which the narrow ones are picked. Then what is assumed counts
    besides, and the history with the upper end of its interval; else a history with enough degrees of freedom counts alone."""
    if history is None or not history.freedom:
        return Expected(ASSUMED**2, ASSUMED_FREEDOM, "assumed")
    freedom, upper, source = history.freedom, history.spread**2, f"{history.sessions} others"
    if is_selected:
        upper *= freedom / (2 * float(gammaincinv(freedom / 2, _DOUBT)))
    elif freedom >= ASSUMED_FREEDOM:
        return Expected(upper, freedom, source)
    total = ASSUMED_FREEDOM + freedom
    return Expected((ASSUMED_FREEDOM * ASSUMED**2 + freedom * upper) / total, total, f"{source}, and {ASSUMED:.0%} assumed")


def counting(sessions: Sequence[Hashable]) -> list[Hashable]:
    """The sessions of runs that count as such: those that have at least half of an equal share of the runs. Of 20 runs of one session and
    1 of another, the first alone."""
    sizes: dict[Hashable, int] = {}
    for session in sessions:
        sizes[session] = sizes.get(session, 0) + 1
    return [session for session, size in sizes.items() if 2 * size * len(sizes) >= len(sessions)]


def session_interval(
    runs: ArrayLike, sessions: Sequence[Hashable], statistic: Statistic = "mean", confidence: float = 0.95,
    history: SessionNoise | None = None, value: float | None = None,
) -> Interval | NotSupported:
    """An interval about a statistic of all runs, each run with the same weight, that covers their sessions as well. `value` is the statistic,
    if not the plain one (a trimmed mean). Two sessions that count at least.

    The variance of a weighted mean of sessions is the variance of a session times the sum of the squared weights. The former is that of
    the sessions at hand, shrunk towards what is `expected`; Student's t has the degrees of freedom of both.
    """
    array, tail = finite(runs), tail_of(confidence)
    groups = dict(zip(dict.fromkeys(sessions), grouped(array, sessions), strict=True))
    chosen = [groups[name] for name in counting(sessions)]
    if len(chosen) < 2:
        return _of_unequal(groups, statistic, len(array))
    if value is None:
        value = _statistic(array, statistic)
    n: dict[Level, int] = {"session": len(chosen), "run": len(array)}
    if (array == array[0]).all():
        return Interval(value, value, value, confidence, "all runs are alike", n)
    if value == 0:
        return NotSupported("how much sessions differ is known as a share, and the value is zero", "session", len(chosen), len(chosen) + 1)
    has_logarithms = bool(array.min() > 0) and statistic != "mean"

    def shares(group: Floats) -> Floats:
        return np.log(group) if has_logarithms else group / abs(value)

    is_median = statistic == "median"
    centres = [np.median(shares(group)) if is_median else shares(group).mean() for group in chosen]
    of_runs = _within([shares(group) for group in groups.values()]) or 0.0
    of_runs *= float(np.mean([(_price_of_median(len(group)) if is_median else 1.0) / len(group) for group in chosen]))
    before = expected(history, is_selected=True)
    freedom = before.freedom + len(chosen) - 1
    variance = (before.freedom * (before.variance + of_runs) + (len(chosen) - 1) * float(np.var(centres, ddof=1))) / freedom
    price = _price_of_median(len(chosen)) if is_median else 1.0
    variance *= 1 + (price - 1) * max(0.0, 1 - of_runs / variance)
    weights = sum((len(group) / len(array)) ** 2 for group in groups.values())
    half = float(-stdtrit(freedom, tail) * np.sqrt(variance * weights))
    low, high = (value * np.exp(-half), value * np.exp(half)) if array.min() > 0 else (value - half * abs(value), value + half * abs(value))
    return Interval(value, float(low), float(high), confidence, f"t, {before}", n)


def _of_unequal(groups: Mapping[Hashable, Floats], statistic: str, runs: int) -> NotSupported:
    largest = max((len(group) for group in groups.values()), default=0)
    if len(groups) < 2:
        return NotSupported("one session has no spread between sessions", "session", len(groups), 2)
    reason = (
        f"{largest} of {runs} runs are of one session, so their {statistic} is of that session, and an interval over sessions is of another number:"
        " publish the number of that session, or take as many runs of each"
    )
    return NotSupported(reason, "session", 1, 2)


def _statistic(values: Floats, statistic: Statistic) -> float:
    if statistic == "median":
        return float(np.median(values))
    return float(np.exp(np.log(values).mean())) if statistic == "geometric mean" else float(values.mean())


def _price_of_median(n: int) -> float:
    """The variance of a median of n normal values over that of their mean; exact for odd n within 1 %, more than it is for even n."""
    return 1.0 if n < 3 else np.pi / 2 * n / (n + 0.5)


def _within(groups: Sequence[Floats]) -> float | None:
    """The variance within groups, pooled; None where no group has two members."""
    freedom = sum(len(group) - 1 for group in groups)
    return float(sum(((group - group.mean()) ** 2).sum() for group in groups)) / freedom if freedom else None
