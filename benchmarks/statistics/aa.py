"""`wh compare` of the same with the same, few sessions a side: how often a difference is suspected, in samples drawn with a seed."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from figure import Figure
from numpy.random import Generator
from numpy.typing import NDArray

from warehouse.analysis.comparison.judged_sides import judge_sides
from warehouse.analysis.measurements import VARIABLES, Measurement
from warehouse.statistics.comparisons import ratio_interval
from warehouse.statistics.effects import judge
from warehouse.statistics.interval import Interval, SessionNoise
from warehouse.statistics.sessions import Pool, spread_of

_SPREAD = 0.01  # of the runs of a session
_THRESHOLD = 0.02
_OTHERS = 20  # sessions of the testbed, two of each workload


def figures(series: int) -> Iterator[Figure]:
    for between in (0.01, 0.03, 0.05):
        for runs in (3, 10):
            name = f"sessions differ by {between:.0%}, {runs} runs: suspected"
            for said, others in (("", 0), (f"{_OTHERS} other sessions, ", _OTHERS)):
                chance = np.random.default_rng([runs, int(1000 * between)])
                found = np.mean([_suspects(chance, between, runs, others, 1.0) for _ in range(series)])
                yield Figure("the same in one session a side", said + name, float(found), high=0.05)
            chance = np.random.default_rng([runs, int(1000 * between)])
            alone = np.mean([_by_runs(_side(chance, between, runs), _side(chance, between, runs)) for _ in range(series)])
            yield Figure("the same in one session a side", f"before: {name}", float(alone))
    for between, effect in ((0.01, 1.1), (0.03, 1.2), (0.05, 1.3)):
        chance = np.random.default_rng(int(1000 * between))
        found = np.mean([_suspects(chance, between, 5, _OTHERS, effect) for _ in range(series)])
        name = f"sessions differ by {between:.0%}, a change of {effect - 1:.0%}: suspected"
        yield Figure("a change in one session a side", name, float(found), low=0.8)
    for sessions in (2, 3):
        for between in (0.01, 0.05):
            for others in (0, _OTHERS):
                chance = np.random.default_rng([sessions, int(1000 * between)])
                told = f"{sessions} sessions, {others} others, sessions differ by {between:.0%}"
                false = np.mean([_suspects(chance, between, 3, others, 1.0, sessions) for _ in range(series)])
                yield Figure("few sessions a side", f"{told}: suspected or confirmed", float(false), high=0.05)
                right = np.mean([_suspects(chance, between, 3, others, 1.3, sessions) for _ in range(series)])
                yield Figure("few sessions a side", "  a change of 30 %", float(right))
        chance = np.random.default_rng(sessions)
        rounded = [np.round(10.5 * np.exp(0.02 * chance.normal(size=(2, sessions)))) for _ in range(series)]
        names = [f"{place}" for place in range(2 * sessions)]
        sides = [[_measured(side, name) for side, name in zip(pair.reshape(-1, 1), names, strict=True)] for pair in rounded]
        found = [judge_sides(sum(pair[:sessions], []), sum(pair[sessions:], []), _THRESHOLD).outcome is not None for pair in sides]
        yield Figure("few sessions a side", f"{sessions} sessions of one run, 10.5 rounded to integers", float(np.mean(found)), high=0.05)


def _suspects(chance: Generator, between: float, runs: int, others: int, effect: float, sessions: int = 1) -> bool:
    groups = [{f"{place} {one}": list(_side(chance, between, runs)) for one in range(2)} for place in range(others // 2)]
    noise: SessionNoise | None = Pool(filter(None, map(spread_of, groups))).noise
    base, head = (
        [each for place in range(sessions) for each in _measured(times * _side(chance, between, runs), f"{name} {place}")]
        for name, times in (("base", 1.0), ("head", effect))
    )
    return judge_sides(base, head, _THRESHOLD, noise=noise).verdict in ("suspected", "confirmed")


def _side(chance: Generator, between: float, runs: int) -> NDArray[np.float64]:
    return np.asarray(100 * np.exp(between * chance.normal() + _SPREAD * chance.normal(size=runs)))


def _by_runs(base: NDArray[np.float64], head: NDArray[np.float64]) -> bool:
    """As it was before: by the interval of the runs."""
    found = ratio_interval(base, head)
    return isinstance(found, Interval) and judge(found, _THRESHOLD, "higher").outcome in ("better", "worse")


def _measured(values: NDArray[np.float64], session: str) -> list[Measurement]:
    return [
        Measurement(
            f"{session} {place}", "sim", "elapsed_ms", "", "ms", "lower", session, None, None, "s", "k", float(value), None, dict.fromkeys(VARIABLES)
        )
        for place, value in enumerate(values)
    ]
