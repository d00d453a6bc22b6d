"""Intervals and summaries: published tables, cases worked by hand, scipy as the oracle, properties, refusals, coverage."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from warehouse.statistics.interval import Interval, NotSupported
from warehouse.statistics.means import geometric_interval, mean_interval, median_interval
from warehouse.statistics.sessions import VarianceComponents, variance_components
from warehouse.statistics.summaries import geometric_mean, olympic_mean, variation

RUNS = [101.2, 99.1, 100.4, 98.7, 103.0]
MANY = np.exp(np.random.default_rng(1).normal(0, 0.4, 60)).tolist()


def interval(found: Interval | NotSupported) -> Interval:
    assert isinstance(found, Interval), found
    return found


def refusal(found: object) -> NotSupported:
    assert isinstance(found, NotSupported), found
    return found


# --- means and medians --------------------------------------------------------------------------------------------------


def test_few_runs_that_are_not_all_positive_have_students_interval() -> None:
    shifted = np.subtract(RUNS, 100)
    found = interval(mean_interval(shifted))
    assert (found.low, found.high) == pytest.approx(stats.ttest_1samp(shifted, 0).confidence_interval(0.95))
    assert (found.method, found.levels, found.n, found.confidence) == ("t", ("run",), {"run": 5}, 0.95)
    assert found.estimate == pytest.approx(np.mean(shifted))


def test_coxs_interval_of_a_log_normal_mean() -> None:
    """By hand: the logarithms have the mean 2.4 and the variance 0.925; sqrt(0.925 / 5 + 0.925**2 / 8) = 0.540327; t(4) = 2.776445."""
    found = interval(mean_interval(np.exp([2.0, 3.0, 2.5, 3.5, 1.0])))
    assert np.log([found.low, found.high]) == pytest.approx([2.8625 - 1.500188, 2.8625 + 1.500188], abs=1e-5)
    assert found.method == "t, log-normal mean"


def test_a_value_of_zero_has_no_logarithm() -> None:
    assert interval(mean_interval([0.0, 1.0, 2.0])).method == "t"
    assert interval(median_interval([-1.0, 1.0, 2.0])).method == "t"
    with pytest.raises(ValueError, match="positive"):
        geometric_interval([0.0, 1.0])


def test_many_runs_are_resampled_with_expanded_tails() -> None:
    """scipy's BCa at the confidence that Hesterberg's expansion amounts to; other draws, so within their noise."""
    found = interval(mean_interval(MANY))
    expanded = 1 - 2 * stats.norm.cdf(-np.sqrt(60 / 59) * stats.t.ppf(0.975, 59))
    theirs = stats.bootstrap((MANY,), np.mean, confidence_level=expanded, n_resamples=20_000, method="BCa", rng=1).confidence_interval
    assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high), rel=0.01)
    assert found.method == "BCa bootstrap"


def test_the_same_runs_have_the_same_interval_in_any_order() -> None:
    assert mean_interval(MANY) == mean_interval(MANY[::-1])
    assert mean_interval([*MANY[:-1], MANY[-1] * 1.01]) != mean_interval(MANY)


def test_the_median_of_few_runs_is_taken_as_log_normal() -> None:
    found = interval(median_interval(RUNS))
    low, high = stats.ttest_1samp(np.log(RUNS), 0).confidence_interval(0.95)
    assert (found.low, found.high, found.method) == (pytest.approx(np.exp(low)), pytest.approx(np.exp(high)), "t of logarithms")
    assert found.estimate == 100.4


def test_the_median_of_more_runs_lies_between_order_statistics() -> None:
    """By hand for ten values: [X2, X9] leaves 11/1024 on each side, [X3, X8] 56/1024. 0.025 is 14.6/45 of the way in probability, so
    8 x 0.324444 / (2 + 6 x 0.324444) = 0.657658 in value."""
    found = interval(median_interval(range(1, 11)))
    assert (found.low, found.high) == pytest.approx((2.657658, 8.342342), abs=1e-6)
    assert found.method == "order statistics, interpolated"


def test_runs_of_known_sessions_count_by_session() -> None:
    """Three sessions of two runs: their means are the three observations."""
    runs, sessions = [-10.0, -12.0, -20.0, -22.0, -15.0, -17.0], ["a", "a", "b", "b", "c", "c"]
    found = interval(mean_interval(runs, sessions=sessions))
    assert (found.low, found.high) == pytest.approx(stats.ttest_1samp([-11.0, -21.0, -16.0], 0).confidence_interval(0.95))
    assert found.n == {"session": 3, "run": 6} and found.levels == ("session", "run")
    assert interval(median_interval(runs, sessions=sessions)).estimate == -16.0
    assert interval(geometric_interval([1.0, 4.0, 8.0, 8.0], sessions=["a", "a", "b", "b"])).estimate == pytest.approx(4.0)


@pytest.mark.parametrize("ask", [mean_interval, median_interval, geometric_interval])
def test_one_run_and_one_session_support_no_interval(ask: Callable[..., Interval | NotSupported]) -> None:
    one = refusal(ask([5.0]))
    assert (one.level, one.n, one.needs) == ("run", 1, 2)
    assert str(one).startswith("not supported, needs 2 runs (has 1):")
    session = refusal(ask([5.0, 6.0, 7.0], sessions=["a", "a", "a"]))
    assert (session.level, session.n, session.needs) == ("session", 1, 2)
    assert refusal(ask([])).n == 0


def test_bad_numbers_are_refused() -> None:
    with pytest.raises(ValueError, match="finite"):
        mean_interval([1.0, float("nan"), 2.0])
    with pytest.raises(ValueError, match="3 values, but 2 names"):
        mean_interval([1.0, 2.0, 3.0], sessions=["a", "b"])
    with pytest.raises(ValueError, match="between 0 and 1"):
        mean_interval(RUNS, confidence=95)


@given(st.lists(st.floats(0.1, 1000), min_size=2, max_size=40), st.floats(0.01, 100))
def test_intervals_follow_the_unit(runs: list[float], factor: float) -> None:
    for ask in (mean_interval, median_interval, geometric_interval):
        ours, scaled = interval(ask(runs)), interval(ask([factor * run for run in runs]))
        if ours.method != "BCa bootstrap":  # its draws depend on the bits of the values
            assert (scaled.low, scaled.high) == (pytest.approx(factor * ours.low, rel=1e-6), pytest.approx(factor * ours.high, rel=1e-6))
        assert ours.low <= ours.high


def test_relative_half_width() -> None:
    assert Interval(10.0, 9.0, 12.0, 0.95, "t", {"run": 3}).relative_half_width == pytest.approx(0.15)
    assert Interval(0.0, -1.0, 1.0, 0.95, "t", {"run": 3}).relative_half_width is None


# --- levels -------------------------------------------------------------------------------------------------------------


def test_variance_components_of_a_balanced_design() -> None:
    """By hand: variance 8 within a session. Session means are 12 and 22: variance 50, of which runs explain 8 / 2."""
    assert variance_components([10, 14, 20, 24], ["a", "a", "b", "b"]) == VarianceComponents(46.0, 8.0)


def test_levels_without_two_members_are_unknown_and_levels_that_add_nothing_are_zero() -> None:
    assert variance_components([1.0, 2.0], ["a", "b"]) == VarianceComponents(0.5, None)
    assert variance_components([1.0, 3.0], ["a", "a"]) == VarianceComponents(None, 2.0)
    assert variance_components([0.0, 10.0, 0.0, 10.0], ["a", "a", "b", "b"]).session == 0.0


def test_variance_components_are_unbiased_where_groups_differ_in_size() -> None:
    chance = np.random.default_rng(5)
    sessions = np.repeat([0, 1, 2], [5, 2, 3])
    found = [variance_components(3 * chance.normal(size=3)[sessions] + 2 * chance.normal(size=10), sessions.tolist()) for _ in range(2000)]
    # Estimates below zero are cut to zero, so the means lie a little above the truth.
    assert np.mean([[c.session, c.run] for c in found], axis=0) == pytest.approx([9, 4], rel=0.12)


# --- summaries ----------------------------------------------------------------------------------------------------------


def test_olympic_mean() -> None:
    assert olympic_mean([1.0, 5.0, 3.0, 4.0, 100.0]) == 4.0
    assert olympic_mean([1.0, 2.0, 3.0, float("inf")]) == 2.5  # one run did not converge
    assert olympic_mean([1.0, 3.0, float("inf"), float("inf")]) == float("inf")
    assert olympic_mean(range(40), dropped=4) == 19.5
    assert refusal(olympic_mean([1.0, 2.0])).needs == 3


def test_ratios_and_spreads() -> None:
    assert geometric_mean([2, 0.5]) == pytest.approx(1) and geometric_mean([1, 10, 100]) == pytest.approx(10)
    assert variation([9, 10, 11]) == pytest.approx(0.1)
    assert refusal(variation([1.0])).needs == 2
    for wrong in (lambda: geometric_mean([]), lambda: geometric_mean([1, 0])):
        with pytest.raises(ValueError):
            wrong()


# --- coverage: the whole of it is in benchmarks/statistics ----------------------------------------------------------------


@pytest.mark.parametrize("n", [3, 5, 10, 30])
@pytest.mark.parametrize("spread", [0.05, 0.5])
def test_coverage_of_log_normal_means_and_medians(n: int, spread: float) -> None:
    draws = np.exp(spread * np.random.default_rng(n).normal(size=(1500, n)))
    for ask, truth in ((mean_interval, np.exp(spread**2 / 2)), (median_interval, 1.0)):
        covered = np.mean([found.low <= truth <= found.high for found in map(interval, map(ask, draws))])
        assert 0.93 <= covered <= 0.97, ask
