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
from warehouse.statistics.observations import Floats, finite, grouped, last_digit, tail_of

Statistic = Literal["mean", "median", "geometric mean"]

# Sessions of one machine often differ by 5 % although nothing changed. With five degrees of freedom, three sessions that agree are not
# enough to call a number good to 5 %, and four are (five for a median).
ASSUMED = 0.05
ASSUMED_FREEDOM = 5
# Five runs in two sessions say so little of how runs spread that a bound on the width picks those that happened to agree: of runs that spread by
# 6 %, eight intervals in ten hold the truth without this.
ASSUMED_OF_RUNS = 0.03
_CONSTANT = 0.001  # sessions that round to one value with a lower probability do not differ: what was measured is constant
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
    """What the sessions of one number say, in squares of shares: the variance `between` the means of its sessions, how much of it the runs
    of these explain, and with how many degrees of freedom that is known."""

    sessions: tuple[str, ...]
    between: float
    of_runs: float
    run_freedom: int

    @property
    def freedom(self) -> int:
        return len(self.sessions) - 1


def spread_of(values: Mapping[str, Sequence[float]]) -> Spread | None:
    """The spread of the positive values of one number by session; None with fewer than two sessions, or a value that is not positive.
    What was rounded away hides a difference as the runs do."""
    if any(min(each, default=1.0) <= 0 for each in values.values()):
        return None
    groups = [np.log(each) for each in values.values()]
    if len(groups) < 2:
        return None
    every = np.concatenate([np.asarray(each, dtype=np.float64) for each in values.values()])
    within, middle = _within(groups), float(np.exp(np.concatenate(groups).mean()))
    hidden = (_rounded_away(every, (within or 0.0) * middle**2) / middle) ** 2
    between = float(np.var([group.mean() for group in groups], ddof=1)) + hidden
    of_runs = (within or 0.0) * float(np.mean([1 / len(group) for group in groups])) + hidden
    return Spread(tuple(values), between, of_runs, len(every) - len(groups))


class Pool:
    """What the sessions of several numbers say together. Numbers that share their sessions do not say the same twice: the degrees of freedom
    are at most half as many as there are sessions."""

    def __init__(self, spreads: Iterable[Spread] = ()) -> None:
        self._between, self._of_runs, self._freedom, self._run_freedom = 0.0, 0.0, 0, 0
        self._sessions: Counter[str] = Counter()
        for spread in spreads:
            self.add(spread)

    def add(self, spread: Spread, times: int = 1) -> None:
        """Add what a number says; or take it away again, with -1."""
        self._between += times * spread.freedom * spread.between
        self._of_runs += times * spread.freedom * spread.of_runs
        self._freedom += times * spread.freedom
        self._run_freedom += times * spread.run_freedom
        for session in spread.sessions:
            self._sessions[session] += times
            if not self._sessions[session]:
                del self._sessions[session]

    @property
    def noise(self) -> SessionNoise | None:
        """None of no number."""
        if not self._freedom:
            return None
        between, of_runs = (max(0.0, each / self._freedom) for each in (self._between, self._of_runs))
        spread, sessions = float(np.sqrt(max(0.0, between - of_runs))), len(self._sessions)
        return SessionNoise(spread, min(self._freedom, sessions // 2), sessions, float(np.sqrt(of_runs)), self._run_freedom)


@dataclass(frozen=True)
class Expected:
    """The variance between sessions to reckon with before any is seen, in squares of shares, its degrees of freedom, and where it is from."""

    variance: float
    freedom: float
    source: str

    def __str__(self) -> str:
        return f"sessions expected to differ by {np.sqrt(self.variance):.1%} ({self.source})"


def expected(history: SessionNoise | None, is_selected: bool = False) -> Expected:
    """What a history, or none, lets expect. `is_selected`: for intervals of which the narrow ones are picked. Then what is assumed counts
    besides, and a history lets expect less than that only by the unfavourable ends of its own intervals; else a history with enough degrees
    of freedom counts alone."""
    assumed = Expected(ASSUMED**2, ASSUMED_FREEDOM, "assumed")
    if history is None or not history.freedom:
        return assumed
    source, of_runs = f"{history.sessions} others", history.of_runs**2
    between = history.spread**2 + of_runs
    if not is_selected and history.freedom >= ASSUMED_FREEDOM:
        return Expected(history.spread**2, history.freedom, source)
    source += f", and {ASSUMED:.0%} assumed"
    found = Expected(*_shrunk(between, history.freedom, of_runs), source)
    if not is_selected:
        return found
    highest = between * history.freedom / (2 * float(gammaincinv(history.freedom / 2, _DOUBT)))
    least = of_runs * history.run_freedom / (2 * float(gammaincinv(history.run_freedom / 2, 1 - _DOUBT))) if history.run_freedom else 0.0
    doubted = Expected(*_shrunk(highest, history.freedom, least), source)
    return doubted if doubted.variance <= assumed.variance else max(found, assumed, key=lambda each: each.variance)


def _shrunk(between: float, freedom: int, of_runs: float) -> tuple[float, float]:
    """The variance between sessions, and its degrees of freedom, by what is assumed and by means of sessions with the variance `between`, of
    which their runs explain `of_runs`.

    Without runs, it is Smyth's mean of both. Runs that differ widely hide what sessions differ by: then the scaled inverse chi-squared
    distribution that has the mean and the variance of the precision after both, found on a grid. Where they hide all, what is assumed stays.
    """
    if not of_runs:
        total = ASSUMED_FREEDOM + freedom
        return (ASSUMED_FREEDOM * ASSUMED**2 + freedom * between) / total, total
    logs = np.arange(-25, 5, 0.05)
    variance = np.exp(logs)
    means = variance + of_runs
    density = -(ASSUMED_FREEDOM * (logs + ASSUMED**2 / variance) + freedom * (np.log(means) + between / means)) / 2
    weights = np.exp(density - density.max())
    weights /= weights.sum()
    precision = float((weights / variance).sum())
    return 1 / precision, 2 / (float((weights / variance**2).sum()) / precision**2 - 1)


def counting(sessions: Sequence[Hashable]) -> list[Hashable]:
    """The sessions of runs that count as such: those that have at least half of an equal share of the runs. Of 20 runs of one session and
    1 of another, the first alone."""
    sizes: dict[Hashable, int] = {}
    for session in sessions:
        sizes[session] = sizes.get(session, 0) + 1
    return [session for session, size in sizes.items() if 2 * size * len(sizes) >= len(sessions)]


def session_interval(
    runs: ArrayLike, sessions: Sequence[Hashable], statistic: Statistic = "mean", confidence: float = 0.95,
    history: SessionNoise | None = None, value: float | None = None, is_count: bool = False,
) -> Interval | NotSupported:
    """An interval about a statistic of all runs, each run with the same weight, that covers their sessions as well. `value` is the statistic,
    if not the plain one (a trimmed mean). Two sessions that count at least. `is_count`: the values are whole by nature, not rounded.

    The variance of a weighted mean of sessions is the variance of a session times the sum of the squared weights. The former is that of
    the sessions at hand, shrunk towards what is `expected`; Student's t has the degrees of freedom of all that it is made of
    (Satterthwaite, *An approximate distribution of estimates of variance components*, Biometrics Bulletin 2, 1946). What rounding took
    away is added: it does not average out.
    """
    array, tail = finite(runs), tail_of(confidence)
    groups = dict(zip(dict.fromkeys(sessions), grouped(array, sessions), strict=True))
    chosen = [groups[name] for name in counting(sessions)]
    if len(chosen) < 2:
        return _of_unequal(groups, statistic, len(array))
    if value is None:
        value = _statistic(array, statistic)
    n: dict[Level, int] = {"session": len(chosen), "run": len(array)}
    is_constant = bool((array == array[0]).all())
    if is_count and is_constant:  # what is counted by chance varies by the root of its count, from run to run
        return Interval(value, value, value, confidence, "all runs count the same", n)
    if value == 0:
        return NotSupported("how much sessions differ is known as a share, and the value is zero", "session", len(chosen), len(chosen) + 1)
    has_logarithms = bool(array.min() > 0) and statistic != "mean"
    is_median = statistic == "median"
    away = 0.0 if is_count else _rounded_away(array, 0.0 if is_median else _within(list(groups.values())) or 0.0)

    def shares(group: Floats) -> Floats:
        return np.log(group) if has_logarithms else group / abs(value)

    before = expected(history, is_selected=True)
    if is_constant and _luck(2 * away / abs(value), before, len(chosen)) < _CONSTANT:
        return Interval(value, value - away, value + away, confidence, "all runs are alike, to half of their last digit", n)
    centres = [np.median(shares(group)) if is_median else shares(group).mean() for group in chosen]
    within = _within([shares(group) for group in groups.values()]) or 0.0
    # What is assumed of sessions is of their means, and holds their runs too; what a history shows is without them.
    assumed = ASSUMED_OF_RUNS**2 * (1 - ASSUMED_FREEDOM / before.freedom)
    own, run_freedom = len(array) - len(groups), ASSUMED_FREEDOM + len(array) - len(groups)
    of_runs = max(within, (ASSUMED_FREEDOM * assumed + own * within) / run_freedom)
    of_runs *= float(np.mean([(_price_of_median(len(group)) if is_median else 1.0) / len(group) for group in chosen]))
    prior = before.variance + of_runs
    prior_freedom = prior**2 / (before.variance**2 / before.freedom + of_runs**2 / run_freedom)
    freedom = prior_freedom + len(chosen) - 1
    variance = (prior_freedom * prior + (len(chosen) - 1) * float(np.var(centres, ddof=1))) / freedom
    price = _price_of_median(len(chosen)) if is_median else 1.0
    variance *= 1 + (price - 1) * max(0.0, 1 - of_runs / variance)
    weights = sum((len(group) / len(array)) ** 2 for group in groups.values())
    half = float(-stdtrit(freedom, tail) * np.sqrt(variance * weights))
    is_ratio = array.min() > 0
    low, high = (value * np.exp(-half), value * np.exp(half)) if is_ratio else (value - half * abs(value), value + half * abs(value))
    low, high = float(low) - away, float(high) + away
    return Interval(value, max(0.0, low) if is_ratio else low, high, confidence, f"t, {before}", n)


def _rounded_away(values: Floats, within: float) -> float:
    """How far the mean of values may lie from that of what they were before they were rounded to the last place that any of them states: half
    of it, less what runs spread by, for these are rounded up as often as down. `within` is their variance in a session."""
    return max(0.0, min(1.0, last_digit(values)) / 2 - float(np.sqrt(within)))


def _luck(step: float, before: Expected, sessions: int) -> float:
    """How likely sessions that differ as expected round to the same value, a share of `step` wide."""
    return (step / np.sqrt(2 * np.pi * before.variance)) ** (sessions - 1) / float(np.sqrt(sessions)) if before.variance else 1.0


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
