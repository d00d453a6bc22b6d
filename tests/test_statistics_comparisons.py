"""Head against base: published examples, scipy's exact tests as the oracle, properties, refusals; judgements; scans."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import ArrayLike
from scipy import stats

from warehouse.statistics.comparisons import (
    least_detectable_ratio,
    paired_ratio_interval,
    ratio_interval,
    shift_interval,
)
from warehouse.statistics.effects import Direction, Outcome, judge
from warehouse.statistics.interval import Interval, NotSupported
from warehouse.statistics.scans import benjamini_hochberg

# Hollander, Wolfe and Chicken, examples 4.1 and 3.1; the estimates are theirs (4.3, 3.3).
PLACENTA_LATE = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46]
PLACENTA_EARLY = [1.15, 0.88, 0.90, 0.74, 1.21]
DEPRESSION_BEFORE = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30]
DEPRESSION_AFTER = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29]


def interval(found: Interval | NotSupported) -> Interval:
    assert isinstance(found, Interval), found
    return found


def paired_shift(base: ArrayLike, head: ArrayLike, sessions: list[str] | None = None) -> Interval:
    """The interval of the paired differences: that of the logarithms of values whose logarithms these are."""
    found = interval(paired_ratio_interval(np.exp(base), np.exp(head), sessions=sessions))
    low, estimate, high = np.log([found.low, found.estimate, found.high])
    return Interval(estimate, low, high, found.confidence, found.method.removesuffix(" of logarithms"), found.n)


def test_published_estimates() -> None:
    assert interval(shift_interval(PLACENTA_EARLY, PLACENTA_LATE)).estimate == pytest.approx(0.305)
    assert paired_shift(DEPRESSION_BEFORE, DEPRESSION_AFTER).estimate == pytest.approx(-0.46)


@pytest.mark.parametrize(("n", "m"), [(4, 4), (5, 5), (3, 9), (12, 7), (30, 40)])
@pytest.mark.parametrize("confidence", [0.9, 0.95])
def test_the_interval_holds_the_shifts_that_the_exact_test_does_not_reject(n: int, m: int, confidence: float) -> None:
    chance = np.random.default_rng(n + m)
    base, head = chance.normal(size=n), chance.normal(1, 2, size=m)
    found = interval(shift_interval(base, head, confidence))

    def p(shift: float) -> float:
        return round(float(stats.mannwhitneyu(head - shift, base, method="exact").pvalue), 9)

    assert found.method == "Hodges-Lehmann"
    assert p(found.low - 1e-9) <= round(1 - confidence, 9) < p(found.low + 1e-9)
    assert p(found.high + 1e-9) <= round(1 - confidence, 9) < p(found.high - 1e-9)
    assert found.low < found.estimate < found.high


@pytest.mark.parametrize("n", [6, 9, 20])
def test_the_paired_interval_holds_the_shifts_that_the_signed_rank_test_does_not_reject(n: int) -> None:
    chance = np.random.default_rng(n)
    base = chance.normal(0, 20, size=n)
    head = base + chance.normal(1, 1, size=n)
    found = paired_shift(base, head)

    def p(shift: float) -> float:
        return float(stats.wilcoxon(head - base - shift, method="exact").pvalue)

    assert found.method == "Hodges-Lehmann, paired"
    assert p(found.low - 1e-9) <= 0.05 < p(found.low + 1e-9)
    assert p(found.high + 1e-9) <= 0.05 < p(found.high - 1e-9)


def test_large_samples_use_the_normal_approximation() -> None:
    chance = np.random.default_rng(3)
    base, head = chance.normal(size=60), chance.normal(size=70)
    found = interval(shift_interval(base, head))
    assert stats.mannwhitneyu(head - found.low, base, method="exact").pvalue == pytest.approx(0.05, abs=0.002)
    pairs = paired_shift(base, head[:60])
    assert stats.wilcoxon(head[:60] - base - pairs.low, method="exact").pvalue == pytest.approx(0.05, abs=0.002)


def test_too_few_for_ranks_are_compared_by_t() -> None:
    base, head = [1.0, 2.0, 4.0], [5.0, 9.0, 7.0]
    found = interval(shift_interval(base, head))
    welch = stats.ttest_ind(head, base, equal_var=False)
    assert (found.low, found.high) == pytest.approx(welch.confidence_interval(0.95))
    assert found.method == "Welch's t" and found.estimate == pytest.approx(7 - 7 / 3)
    paired = paired_shift(base, head)
    assert (paired.low, paired.high) == pytest.approx(stats.ttest_rel(head, base).confidence_interval(0.95))
    assert paired.method == "paired t"
    assert interval(shift_interval(base, head, confidence=0.9)).method == "Hodges-Lehmann"  # 3 against 3 reach p = 0.1


def test_ratios_are_shifts_of_logarithms() -> None:
    chance = np.random.default_rng(1)
    base, head = chance.lognormal(size=8), 2 * chance.lognormal(size=9)
    ratio, shift = interval(ratio_interval(base, head)), interval(shift_interval(np.log(base), np.log(head)))
    assert (ratio.estimate, ratio.low, ratio.high) == pytest.approx(tuple(np.exp([shift.estimate, shift.low, shift.high])))
    assert ratio.method == "Hodges-Lehmann of logarithms"
    assert interval(ratio_interval(head, base)).low == pytest.approx(1 / ratio.high)
    assert interval(paired_ratio_interval(base, 3 * base)).estimate == pytest.approx(3)
    with pytest.raises(ValueError, match="positive"):
        ratio_interval([0.0, 1.0], [1.0, 2.0])


def test_sessions_are_the_replicates_where_they_are_known() -> None:
    base, head = [10.0, 10.2, 12.0, 12.2], [11.0, 11.2, 13.0, 13.2]
    found = interval(shift_interval(base, head, base_sessions=["a", "a", "b", "b"], head_sessions=["c", "c", "d", "d"]))
    welch = stats.ttest_ind([11.1, 13.1], [10.1, 12.1], equal_var=False)
    assert (found.low, found.high) == pytest.approx(welch.confidence_interval(0.95))
    assert found.n == {"session": 4, "run": 8}
    paired = paired_shift(base, head, sessions=["a", "a", "b", "b"])
    assert paired.n == {"session": 2, "run": 4} and paired.estimate == pytest.approx(1.0)


def test_refusals() -> None:
    one = shift_interval([1.0], [1.0, 2.0])
    assert isinstance(one, NotSupported) and (one.level, one.needs) == ("run", 2) and "base" in one.reason
    session = ratio_interval([1.0, 2.0], [1.0, 2.0], base_sessions=["a", "b"], head_sessions=["c", "c"])
    assert isinstance(session, NotSupported) and session.level == "session" and "head" in session.reason
    assert isinstance(paired_ratio_interval([1.0], [1.0]), NotSupported)
    with pytest.raises(ValueError, match="one side"):
        shift_interval([1.0, 2.0], [1.0, 2.0], base_sessions=["a", "b"])
    with pytest.raises(ValueError, match="no pairs"):
        paired_ratio_interval([1.0, 2.0], [1.0])


@given(st.lists(st.floats(1, 100), min_size=2, max_size=12), st.lists(st.floats(1, 100), min_size=2, max_size=12))
def test_swapping_the_sides_turns_the_sign(base: list[float], head: list[float]) -> None:
    there, back = interval(shift_interval(base, head)), interval(shift_interval(head, base))
    assert (there.estimate, there.low, there.high) == pytest.approx((-back.estimate, -back.high, -back.low))


def test_what_a_comparison_of_a_size_can_detect() -> None:
    ratio = least_detectable_ratio(0.0266, 5, 5)
    assert isinstance(ratio, float)
    # By hand: t(8) is 2.306 and 0.889; 3.195 x 0.0266 x sqrt(2/5) = 0.05375, and the interval by ranks of five is 15 % wider.
    assert np.log(ratio) == pytest.approx(1.15 * 0.05375, rel=1e-3)
    assert isinstance(least_detectable_ratio(0.02, 1, 5), NotSupported)


def test_the_least_detectable_ratio_is_found_as_often_as_it_says() -> None:
    chance = np.random.default_rng(4)
    ratio = least_detectable_ratio(0.02, 8, 8)
    assert isinstance(ratio, float)
    found = [
        interval(ratio_interval(np.exp(0.02 * chance.normal(size=8)), ratio * np.exp(0.02 * chance.normal(size=8)))).low > 1
        for _ in range(1000)
    ]
    assert 0.74 <= np.mean(found) <= 0.86


# --- judgements ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("low", "high", "better", "outcome", "is_different"),
    [
        (1.03, 1.05, "higher", "better", True),
        (1.03, 1.05, "lower", "worse", True),
        (0.90, 0.97, "higher", "worse", True),
        (0.90, 0.97, "lower", "better", True),
        (0.99, 1.01, "higher", "same", False),
        (1.005, 1.015, "lower", "same", True),
        (0.99, 1.03, "higher", "inconclusive", False),
        (0.99, 1.03, "lower", "inconclusive", False),
        (1.02, 1.05, "higher", "inconclusive", True),
        (0.90, 1.10, "lower", "inconclusive", False),
    ],
)
def test_judgement(low: float, high: float, better: Direction, outcome: Outcome, is_different: bool) -> None:
    found = judge(Interval((low + high) / 2, low, high, 0.95, "t", {"run": 5}), 0.02, better)
    assert (found.outcome, found.is_different) == (outcome, is_different)
    assert not found.is_across_sessions
    assert judge(Interval(1.0, low, high, 0.95, "t", {"session": 2, "run": 5}), 0.02, better).is_across_sessions


def test_a_threshold_is_a_share() -> None:
    with pytest.raises(ValueError, match="share"):
        judge(Interval(1.0, 1.0, 1.0, 0.95, "t", {"run": 5}), 2, "lower")


# --- scans ---------------------------------------------------------------------------------------------------------------


def test_benjamini_and_hochbergs_own_example() -> None:
    """Their paper's 15 p-values: four hypotheses are rejected at 5 %."""
    p = [0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0]
    assert (benjamini_hochberg(p) <= 0.05).sum() == 4


def test_adjusted_p_values_are_scipys() -> None:
    p = np.random.default_rng(1).uniform(size=50) ** 2
    assert benjamini_hochberg(p) == pytest.approx(stats.false_discovery_control(p))
    assert benjamini_hochberg([]).size == 0
    with pytest.raises(ValueError, match="between 0 and 1"):
        benjamini_hochberg([0.5, 1.5])
