"""How often intervals of nominal 95 % contain the truth, in samples drawn with a seed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np
from figure import Figure
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.stats import f_oneway

from warehouse.statistics.comparisons import paired_ratio_interval, ratio_interval
from warehouse.statistics.interval import Interval, NotSupported
from warehouse.statistics.means import mean_interval, median_interval
from warehouse.statistics.sessions import Statistic, session_interval
from warehouse.statistics.summaries import olympic_mean

Draw = Callable[[Generator, int], NDArray[np.float64]]
_LOW, _HIGH = 0.93, 0.97
# A distribution of runs, its mean and its median.
DISTRIBUTIONS: dict[str, tuple[Draw, float, float]] = {
    "normal, spread 5 %": (lambda chance, n: chance.normal(100, 5, n), 100, 100),
    "normal, spread 20 %": (lambda chance, n: chance.normal(100, 20, n), 100, 100),
    "log-normal, spread 5 %": (lambda chance, n: chance.lognormal(0, 0.05, n), np.exp(0.05**2 / 2), 1),
    "log-normal, spread 0.5": (lambda chance, n: chance.lognormal(0, 0.5, n), np.exp(0.5**2 / 2), 1),
    "log-normal, spread 1": (lambda chance, n: chance.lognormal(0, 1, n), np.exp(1 / 2), 1),
}


def share_covered(intervals: Iterable[Interval | NotSupported], truth: float) -> float:
    return float(np.mean([isinstance(one, Interval) and one.low <= truth <= one.high for one in intervals]))


def figures(trials: int) -> Iterator[Figure]:
    yield from of_runs(trials)
    yield from of_shapes_that_few_runs_do_not_show(trials)
    yield from of_sessions(trials // 4)
    yield from of_numbers_over_sessions(trials // 4)
    yield from of_comparisons(trials)


def of_runs(trials: int) -> Iterator[Figure]:
    for name, (draw, mean, median) in DISTRIBUTIONS.items():
        for n in (3, 5, 10, 30):
            chance = np.random.default_rng(n)
            covered = share_covered((mean_interval(draw(chance, n)) for _ in range(trials)), mean)
            yield Figure("coverage", f"mean of {n} runs, {name}", covered, _LOW, _HIGH)
            covered = share_covered((median_interval(draw(chance, n)) for _ in range(trials)), median)
            yield Figure("coverage", f"median of {n} runs, {name}", covered, _LOW, _HIGH)
        chance = np.random.default_rng(60)
        covered = share_covered((mean_interval(draw(chance, 60)) for _ in range(trials // 10)), mean)
        yield Figure("coverage", f"mean of 60 runs, BCa, {name}", covered)


def of_shapes_that_few_runs_do_not_show(trials: int) -> Iterator[Figure]:
    """Means of few runs of two levels, or with rare spikes: their intervals say that one level is assumed."""
    for name, share in (("a level 20 % higher in 3 of 10", 0.3), ("a spike of 20 % in 1 of 10", 0.1)):
        for n in (3, 5):
            chance = np.random.default_rng(n)
            draws = (100 + 20 * (chance.uniform(size=n) < share) + chance.normal(size=n) for _ in range(trials))
            yield Figure("coverage", f"mean of {n} runs, {name} (says so)", share_covered((mean_interval(draw) for draw in draws), 100 + 20 * share))


def of_numbers_over_sessions(trials: int) -> Iterator[Figure]:
    """Statistics of all runs, in sessions that differ by 5 % or not at all, of equal and unequal sizes."""
    for statistic in ("median", "mean", "olympic mean"):
        for sizes in ((3, 3), (5, 4, 3), (10, 5, 5, 8), (2, 2, 2, 2, 2)):
            for between in (0.0, 0.05):
                chance = np.random.default_rng(sum(sizes))
                sessions = np.repeat(np.arange(len(sizes)), sizes)
                found = []
                for _ in range(trials):
                    runs = 100 * np.exp(between * chance.normal(size=len(sizes))[sessions] + 0.01 * chance.normal(size=len(sessions)))
                    plain: Statistic = "median" if statistic == "median" else "mean"
                    value = olympic_mean(runs) if statistic == "olympic mean" else None
                    assert value is None or isinstance(value, float)
                    found.append(session_interval(runs, sessions.tolist(), plain, value=value))
                truth = 100 * np.exp((between**2 + 0.01**2) / 2) if statistic == "mean" else 100
                name = f"{statistic} of all runs of sessions {sizes} that differ by {between:.0%}"
                yield Figure("coverage", name, share_covered(found, truth), _LOW)


def of_sessions(trials: int) -> Iterator[Figure]:
    """Runs that differ by 10 %, in sessions that differ by 5 %."""
    for sizes in ((1, 1), (3, 2), (2, 2, 1), (4, 3, 3), (2, 2, 2, 2, 2)):
        chance = np.random.default_rng(sum(sizes))
        sessions = np.repeat(np.arange(len(sizes)), sizes)
        logs = (0.05 * chance.normal(size=len(sizes))[sessions] + 0.1 * chance.normal(size=len(sessions)) for _ in range(trials))
        covered = share_covered((median_interval(np.exp(one), sessions=sessions.tolist()) for one in logs), 1)
        yield Figure("coverage", f"median of {len(sessions)} runs in {len(sizes)} sessions {sizes}", covered, _LOW)
    chance, centre = np.random.default_rng(55), -1000.0  # negative values have Student's t
    sides = (centre + chance.normal(size=(2, 1)) + chance.normal(size=(2, 5)) for _ in range(trials))
    pooled = share_covered((_pooled_where_alike(two) for two in sides), centre)
    yield Figure("coverage", "  two sessions of 5, pooled where they do not differ (what not to do)", pooled)


def _pooled_where_alike(sessions: NDArray[np.float64]) -> Interval | NotSupported:
    """The usual advice: runs are pooled where an F test at 25 % finds no difference between sessions (Bancroft, 1964)."""
    if f_oneway(*sessions).pvalue > 0.25:
        return mean_interval(sessions.ravel())
    return mean_interval(sessions.mean(axis=1))


def of_comparisons(trials: int) -> Iterator[Figure]:
    for n in (3, 4, 5, 10, 30):
        chance = np.random.default_rng(n)
        samples = [(chance.lognormal(0, 0.05, n), 1.1 * chance.lognormal(0, 0.05, n)) for _ in range(trials)]
        yield Figure("coverage", f"ratio of {n} runs to {n}", share_covered((ratio_interval(*sample) for sample in samples), 1.1), _LOW)
        paired = ((base, base * head) for base, head in samples)
        yield Figure("coverage", f"ratio of {n} pairs", share_covered((paired_ratio_interval(*pair) for pair in paired), 1.1), _LOW)
