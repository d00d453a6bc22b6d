"""Intervals and summaries: published tables, cases worked by hand, scipy as the oracle, properties, refusals, coverage."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from warehouse.statistics.interval import Interval, NotSupported
from warehouse.statistics.levels import VarianceComponents, typical_quantile_interval, variance_components
from warehouse.statistics.means import geometric_interval, mean_interval, median_interval
from warehouse.statistics.quantiles import fewest_for_bound, fewest_for_interval, quantile_bound, quantile_interval
from warehouse.statistics.summaries import geometric_mean, olympic_mean, robust_spread, total_rate, variation

RUNS = [101.2, 99.1, 100.4, 98.7, 103.0]
MANY = np.exp(np.random.default_rng(1).normal(0, 0.4, 60)).tolist()


def interval(found: Interval | NotSupported) -> Interval:
    assert isinstance(found, Interval), found
    return found


def refusal(found: object) -> NotSupported:
    assert isinstance(found, NotSupported), found
    return found


# --- means and medians --------------------------------------------------------------------------------------------------


def test_few_runs_on_the_difference_scale_have_students_interval() -> None:
    found = interval(mean_interval(RUNS, scale="difference"))
    assert (found.low, found.high) == pytest.approx(stats.ttest_1samp(RUNS, 0).confidence_interval(0.95))
    assert (found.method, found.levels, found.n, found.confidence) == ("t", ("run",), {"run": 5}, 0.95)
    assert found.estimate == pytest.approx(np.mean(RUNS))


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
    runs, sessions = [10.0, 12.0, 20.0, 22.0, 15.0, 17.0], ["a", "a", "b", "b", "c", "c"]
    found = interval(mean_interval(runs, scale="difference", sessions=sessions))
    assert (found.low, found.high) == pytest.approx(stats.ttest_1samp([11.0, 21.0, 16.0], 0).confidence_interval(0.95))
    assert found.n == {"session": 3, "run": 6} and found.levels == ("session", "run")
    assert interval(median_interval(runs, sessions=sessions)).estimate == 16.0
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


# --- percentiles within a run -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("quantile", "at_95", "at_99"), [(0.5, 6, 8), (0.9, 36, 51), (0.95, 72, 104), (0.99, 368, 528), (0.999, 3688, 5296)]
)
def test_fewest_requests_for_an_interval(quantile: float, at_95: int, at_99: int) -> None:
    assert (fewest_for_interval(quantile), fewest_for_interval(quantile, 0.99)) == (at_95, at_99)
    if quantile > 0.5:
        assert fewest_for_interval(1 - quantile) == at_95
    assert refusal(quantile_interval(range(at_95 - 1), quantile)).needs == at_95
    assert interval(quantile_interval(range(at_95), quantile)).high == at_95 - 1


@pytest.mark.parametrize(
    ("quantile", "fewest"),
    [(0.9, [44, 64, 81, 127, 197]), (0.99, [459, 662, 838, 1307, 2010]), (0.999, [4603, 6636, 8403, 13105, 20140])],
)
def test_fewest_requests_for_a_bound_are_those_of_mlperfs_early_stopping(quantile: float, fewest: list[int]) -> None:
    assert [fewest_for_bound(quantile, above=above) for above in (0, 1, 2, 5, 10)] == fewest


def test_ranks_of_a_p99_interval() -> None:
    """The published ranks for 1,000 and 10,000 requests."""
    thousand = interval(quantile_interval(range(1, 1001), 0.99))
    assert (thousand.low, thousand.high, thousand.n) == (983, 997, {"request": 1000})
    many = interval(quantile_interval(range(1, 10_001), 0.99))
    assert (many.low, many.high) == (9880, 9920)
    assert stats.binom.cdf(9919, 10_000, 0.99) - stats.binom.cdf(9879, 10_000, 0.99) >= 0.95


@given(st.integers(6, 400), st.sampled_from([0.5, 0.9, 0.25]), st.sampled_from([0.8, 0.95, 0.99]))
def test_order_statistics_cover_what_they_claim_and_no_inner_pair_does(n: int, quantile: float, confidence: float) -> None:
    found = quantile_interval(range(1, n + 1), quantile, confidence)
    if isinstance(found, NotSupported):
        assert n < found.needs
        return
    tail = (1 - confidence) / 2
    below, above = stats.binom.cdf(found.low - 1, n, quantile), stats.binom.sf(found.high - 1, n, quantile)
    assert below <= tail and above <= tail
    assert stats.binom.cdf(found.low, n, quantile) > tail and stats.binom.sf(found.high - 2, n, quantile) > tail


def test_a_bound_lies_above_the_quantile() -> None:
    assert quantile_bound(range(1, 460), 0.99) == 459
    assert refusal(quantile_bound(range(458), 0.99)).needs == 459
    assert quantile_bound(range(1, 663), 0.99) == 661  # one may be above it


@pytest.mark.parametrize("quantile", [0.0, 1.0, 99.0])
def test_a_quantile_is_a_share(quantile: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        quantile_interval(range(1000), quantile)


# --- levels -------------------------------------------------------------------------------------------------------------


def test_variance_components_of_a_balanced_design() -> None:
    """By hand. Requests differ by 1 from their run's mean: variance 2. Run means are 10, 14 and 20, 24: variance 8 within a session, of
    which requests explain 2 / 2. Session means are 12 and 22: variance 50, of which runs explain 8 / 2."""
    values = [9, 11, 13, 15, 19, 21, 23, 25]
    runs, sessions = [1, 1, 2, 2, 3, 3, 4, 4], ["a"] * 4 + ["b"] * 4
    assert variance_components(values, runs, sessions) == VarianceComponents(session=46.0, run=7.0, request=2.0)
    assert variance_components([10, 14, 20, 24], sessions=["a", "a", "b", "b"]) == VarianceComponents(46.0, 8.0, None)
    assert variance_components([10, 14, 20, 24]).session is None


def test_levels_without_two_members_are_unknown_and_levels_that_add_nothing_are_zero() -> None:
    assert variance_components([1.0, 2.0], sessions=["a", "b"]) == VarianceComponents(0.5, None, None)
    assert variance_components([1.0, 3.0], sessions=["a", "a"]) == VarianceComponents(None, 2.0, None)
    assert variance_components([0.0, 10.0, 0.0, 10.0], sessions=["a", "a", "b", "b"]).session == 0.0
    with pytest.raises(ValueError, match="run 1 is in two sessions"):
        variance_components([1.0, 2.0], [1, 1], ["a", "b"])


def test_variance_components_are_unbiased_where_groups_differ_in_size() -> None:
    chance = np.random.default_rng(5)
    sizes = [(0, 0, 5), (0, 1, 1), (0, 2, 2), (1, 3, 4), (2, 4, 1), (2, 5, 3)]  # session, run, requests
    sessions, runs = np.repeat([s for s, _, _ in sizes], [n for *_, n in sizes]), np.repeat([r for _, r, _ in sizes], [n for *_, n in sizes])
    found = [
        variance_components(3 * chance.normal(size=3)[sessions] + 2 * chance.normal(size=6)[runs] + chance.normal(size=len(runs)), list(runs), list(sessions))
        for _ in range(2000)
    ]
    # Estimates below zero are cut to zero, so the means lie a little above the truth.
    assert np.mean([[c.session, c.run, c.request] for c in found], axis=0) == pytest.approx([9, 4, 1], rel=0.12)


def test_a_percentile_over_runs_has_the_run_as_its_replicate() -> None:
    chance = np.random.default_rng(2)
    requests = np.concatenate([np.exp(0.5 * chance.normal(size=500)) * factor for factor in (1.0, 1.1, 0.9)])
    runs = np.repeat([1, 2, 3], 500).tolist()
    found = interval(typical_quantile_interval(requests, runs, 0.99))
    each = [np.log(np.quantile(part, 0.99, method="median_unbiased")) for part in np.split(requests, 3)]
    assert np.log([found.low, found.high]) == pytest.approx(stats.ttest_1samp(each, 0).confidence_interval(0.95))
    assert found.n == {"run": 3, "request": 1500} and "one quantile a run" in found.method
    by_session = interval(typical_quantile_interval(requests, runs, 0.99, sessions=np.repeat(["a", "a", "b"], 500).tolist()))
    assert by_session.n == {"session": 2, "run": 3, "request": 1500}


def test_a_percentile_over_runs_is_refused_where_a_run_or_the_runs_are_too_few() -> None:
    short = refusal(typical_quantile_interval(range(1, 737), [1] * 368 + [2] * 368, 0.999))
    assert (short.level, short.needs, short.n) == ("request", 3688, 368)
    assert refusal(typical_quantile_interval(range(1, 501), [1] * 500, 0.99)).level == "run"
    assert refusal(typical_quantile_interval(range(1, 1001), [1] * 500 + [2] * 500, 0.99, sessions=["a"] * 1000)).level == "session"


# --- summaries ----------------------------------------------------------------------------------------------------------


def test_olympic_mean() -> None:
    assert olympic_mean([1.0, 5.0, 3.0, 4.0, 100.0]) == 4.0
    assert olympic_mean([1.0, 2.0, 3.0, float("inf")]) == 2.5  # one run did not converge
    assert olympic_mean([1.0, 3.0, float("inf"), float("inf")]) == float("inf")
    assert olympic_mean(range(40), dropped=4) == 19.5
    assert refusal(olympic_mean([1.0, 2.0])).needs == 3


def test_rates_ratios_and_spreads() -> None:
    assert total_rate([100, 100], [1, 4]) == 40  # not the mean of 100 and 25
    assert geometric_mean([2, 0.5]) == pytest.approx(1) and geometric_mean([1, 10, 100]) == pytest.approx(10)
    assert variation([9, 10, 11]) == pytest.approx(0.1)
    assert robust_spread([1, 2, 3, 4, 1000]) == pytest.approx(1.4826)
    assert refusal(variation([1.0])).needs == refusal(robust_spread([1.0])).needs == 2
    for wrong in (lambda: total_rate([1], [0]), lambda: total_rate([1, 2], [1]), lambda: geometric_mean([]), lambda: geometric_mean([1, 0])):
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
