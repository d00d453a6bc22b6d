"""Shares of requests over runs: coverage where runs differ, and the joint share of correlated latencies."""

from __future__ import annotations

import numpy as np
import pytest

from warehouse.statistics.interval import Interval, NotSupported
from warehouse.statistics.shares import share_interval

SPREAD = 0.1  # between runs, of both latencies
LIMITS = [(1.3, 1.2), (2.0, 1.5), (3.0, 2.0)]  # met by 60, 86 and 97 % of requests


def requests(random: np.random.Generator, runs: int, count: int, spread: float = SPREAD) -> tuple[np.ndarray, np.ndarray]:
    """Two latencies of every request, log-normal with a correlation of 0.7."""
    run = np.exp(random.normal(0, spread, (runs, 1)))
    one, other = random.normal(size=(2, runs, count))
    return np.exp(0.5 * one) * run, np.exp(0.3 * (0.7 * one + np.sqrt(1 - 0.49) * other)) * run


@pytest.mark.parametrize("limits", LIMITS)
@pytest.mark.parametrize("runs", [3, 5, 10])
def test_the_interval_covers_where_runs_differ(runs: int, limits: tuple[float, float]) -> None:
    random, count, trials = np.random.default_rng(runs), 500, 1500
    one, other = requests(random, 40_000, 100)
    truth = ((one <= limits[0]) & (other <= limits[1])).mean()
    hits = 0
    for _ in range(trials):
        one, other = requests(random, runs, count)
        met = ((one <= limits[0]) & (other <= limits[1])).sum(axis=1)
        found = share_interval(met.tolist(), [count] * runs)
        assert isinstance(found, Interval)
        hits += found.low <= truth <= found.high
    assert 0.92 <= hits / trials <= 0.98  # 93 to 97 %, and what 1,500 trials leave open


def test_the_joint_share_is_not_the_product_of_the_marginal_ones() -> None:
    one, other = requests(np.random.default_rng(3), 10, 2000)
    met_one, met_other = one <= 1.3, other <= 1.2
    found = share_interval((met_one & met_other).sum(axis=1).tolist(), [2000] * 10)
    assert isinstance(found, Interval)
    assert found.estimate == pytest.approx((met_one & met_other).mean())
    assert found.estimate > met_one.mean() * met_other.mean() + 0.05


def test_sessions_are_the_clusters_where_there_are_several() -> None:
    met, total = [90, 91, 70, 71], [100, 100, 100, 100]
    of_runs, of_sessions, of_one = (share_interval(met, total, sessions=names) for names in (None, "aabb", "aaaa"))
    assert isinstance(of_runs, Interval) and isinstance(of_sessions, Interval) and isinstance(of_one, Interval)
    assert of_sessions.n == {"session": 2, "run": 4, "request": 400} and of_runs.n == of_one.n == {"run": 4, "request": 400}
    assert of_sessions.estimate == of_runs.estimate == 0.805
    assert of_sessions.high - of_sessions.low > of_runs.high - of_runs.low


def test_runs_count_by_their_requests() -> None:
    found = share_interval([90, 5], [100, 10])
    assert isinstance(found, Interval) and found.estimate == pytest.approx(95 / 110)


def test_all_or_none_is_not_certain() -> None:
    for met, estimate in ((300, 1.0), (0, 0.0)):
        found = share_interval([met] * 3, [300] * 3)
        assert isinstance(found, Interval) and found.estimate == estimate and 0.001 < found.high - found.low < 0.25


def test_one_run_supports_no_interval() -> None:
    assert share_interval([9], [10]) == NotSupported("how much runs differ is not known from one run", "run", 1, 2)


@pytest.mark.parametrize(("met", "total"), [([11], [10]), ([-1], [10]), ([0], [0]), ([1], [2, 3])])
def test_counts_that_cannot_be_are_refused(met: list[int], total: list[int]) -> None:
    with pytest.raises(ValueError):
        share_interval(met, total)
