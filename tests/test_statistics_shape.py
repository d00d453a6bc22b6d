"""Trends against scipy's exact Kendall test and by counting; two levels and trimmed means by simulation with seeds."""

from __future__ import annotations

from itertools import permutations
from math import comb

import numpy as np
import pytest
from numpy.typing import ArrayLike
from scipy.special import ndtr
from scipy.stats import kendalltau, norm

from warehouse.statistics.interval import Interval, NotSupported
from warehouse.statistics.means import olympic_interval
from warehouse.statistics.shape import trend_p, two_levels_p
from warehouse.statistics.summaries import olympic_mean

ONE_LEVEL = {
    "uniform": lambda random, n: random.random_sample(n),
    "normal": lambda random, n: random.normal(100, 2, n),
    "log-normal": lambda random, n: random.lognormal(0, 0.5, n),
    "t3": lambda random, n: random.standard_t(3, n),
}


def two_levels(values: ArrayLike) -> float:
    found = two_levels_p(values)
    assert isinstance(found, float)
    return found


@pytest.mark.parametrize("n", [6, 7, 12, 30, 50])
def test_a_trend_is_kendalls_exact_test(n: int) -> None:
    random = np.random.RandomState(n)
    for slope in (0, 0, 0, 0.02, 0.1):
        values = random.normal(size=n) + slope * np.arange(n)
        assert trend_p(values) == pytest.approx(kendalltau(np.arange(n), values, method="exact").pvalue, rel=1e-9)


def test_a_trend_by_counting_all_orders() -> None:
    """Of 720 orders of six, by the number of pairs that are out of order."""
    scores = [abs(sum(np.sign(order[b] - order[a]) for a in range(6) for b in range(a + 1, 6))) for order in permutations(range(6))]
    assert trend_p([1, 2, 3, 4, 5, 6]) == pytest.approx(2 / 720)
    for order in ([6, 5, 4, 3, 2, 1], [1, 2, 3, 4, 6, 5], [2, 1, 4, 3, 6, 5], [1, 6, 2, 5, 3, 4]):
        own = abs(sum(np.sign(order[b] - order[a]) for a in range(6) for b in range(a + 1, 6)))
        assert trend_p(order) == pytest.approx(min(1.0, sum(score >= own for score in scores) / 720))


def test_a_trend_with_ties_has_kendalls_variance() -> None:
    """S = 14 - 1 for six with one tie, Var S = (6*5*17 - 2*1*9) / 18 = 27.33; z = (14 - 1) / 5.228 = 2.487."""
    assert trend_p([1, 2, 2, 4, 5, 6]) == pytest.approx(0.01289, abs=2e-5)
    assert trend_p([3, 3, 3, 3, 3, 3]) == 1.0
    assert isinstance(trend_p([1, 2, 3, 4, 5]), NotSupported)


def test_values_of_one_time_have_no_order_among_themselves() -> None:
    """All orders of six values in two times of three: S is as often as far from zero as the normal approximation with ties says, nearly."""
    times = [0, 0, 0, 1, 1, 1]
    found = trend_p([1, 2, 3, 4, 5, 6], times)
    assert found == trend_p([3, 1, 2, 6, 5, 4], times) == pytest.approx(2 * ndtr(-8 / 21**0.5))
    assert found == pytest.approx(2 / comb(6, 3), abs=0.03)
    assert trend_p([1, 2, 3, 4, 5, 6], [7] * 6) == 1.0
    assert trend_p([2, 4, 6, 1, 3, 5], [2, 4, 6, 1, 3, 5]) == pytest.approx(2 / 720)


def test_ties_of_values_and_times_have_the_variance_that_scipy_has() -> None:
    """scipy has no correction for continuity: z is (|S| - 1) / |S| of its."""
    random = np.random.RandomState(3)
    for _ in range(20):
        values, times = random.randint(0, 9, 30), random.randint(0, 12, 30)
        score = abs(sum(np.sign(values[b] - values[a]) * np.sign(times[b] - times[a]) for a in range(30) for b in range(a + 1, 30)))
        z = norm.isf(kendalltau(times, values, method="asymptotic").pvalue / 2)
        assert trend_p(values, times) == pytest.approx(2 * norm.sf(z * max(0, score - 1) / score) if score else 1.0, rel=1e-6)


@pytest.mark.parametrize("n", [6, 10, 20, 50])
@pytest.mark.parametrize("shape", ONE_LEVEL)
def test_one_level_is_seldom_called_two(shape: str, n: int) -> None:
    random = np.random.RandomState(n)
    flagged = np.mean([two_levels(ONE_LEVEL[shape](random, n)) < 0.01 for _ in range(1000)])
    assert flagged <= 0.02


@pytest.mark.parametrize("n", [10, 20, 50])
def test_two_clear_levels_are_found(n: int) -> None:
    """Sixteen deviations apart, a third of the values at one of them."""
    random = np.random.RandomState(n)
    found = [two_levels(random.normal(0, 1, n) + np.where(np.arange(n) % 3 == 0, 16.0, 0.0)) < 0.01 for _ in range(200)]
    assert np.mean(found) >= 0.9


def test_one_outlier_is_no_level_and_no_spread_is_one() -> None:
    random = np.random.RandomState(1)
    for n in (6, 10, 20, 50):
        values = random.normal(100, 1, n)
        values[0] = 200
        assert two_levels(values) >= 0.01
        assert two_levels_p(np.full(n, 100.0)) == two_levels_p(np.full(n, 100.1)) == 1.0  # the mean of the latter is not 100.1
    assert isinstance(two_levels_p([1, 1, 1, 9, 9]), NotSupported)
    assert two_levels_p([1, 1, 1, 9, 9, 9], step=0) == pytest.approx(1 / 4001) and two_levels([1, 1, 1, 9, 9, 9]) < 0.01


@pytest.mark.parametrize(("n", "dropped", "least"), [(5, 1, 0.92), (10, 1, 0.93), (40, 4, 0.93)])
def test_the_interval_of_an_olympic_mean_covers_what_it_says(n: int, dropped: int, least: float) -> None:
    """Of five runs, three of which are left, it covers half a percent less."""
    random = np.random.RandomState(n)
    covered = []
    for _ in range(4000):
        found = olympic_interval(random.normal(100, 3, n), dropped)
        assert isinstance(found, Interval)
        covered.append(found.low <= 100 <= found.high)
    assert least <= np.mean(covered) <= 0.97


def test_the_interval_of_an_olympic_mean_by_hand() -> None:
    """Of 1, 2, 3, 4, 100 the mean of the middle is 3; winsorized 2, 2, 3, 4, 4 deviate by 1; t of two degrees of freedom is 4.302653."""
    found = olympic_interval([100, 1, 3, 2, 4], 1)
    assert isinstance(found, Interval)
    assert found.estimate == olympic_mean([100, 1, 3, 2, 4], 1) == 3
    assert (found.high - found.low) / 2 == pytest.approx(4.302653 * 1 * 5**0.5 / 3, rel=1e-6)
    assert isinstance(olympic_interval([1, 2, 3], 1), NotSupported)


def test_rounding_makes_no_levels() -> None:
    """A constant between two values of the last digit, with a noise of a fifth of it; and rates of whole seconds, whose steps are no digit."""
    random = np.random.RandomState(5)
    for n in (10, 20, 50):
        digits = [np.round(1000 + random.random_sample() + 0.2 * random.normal(size=n)) / 10 for _ in range(100)]
        rates = [1000 / np.round(120 + random.random_sample() + 0.2 * random.normal(size=n)) for _ in range(100)]
        assert sum(two_levels(one) < 0.01 for one in [*digits, *rates]) <= 2
        assert sum(two_levels_p(one, step=0) < 0.01 for one in digits) > 20


def test_sessions_that_differ_are_neither_levels_nor_a_drift() -> None:
    """Three sessions of five that differ by 5 %, with runs that differ by 1 %; and runs of two levels, or that rise, within them."""
    random, sessions = np.random.RandomState(6), np.repeat([0, 1, 2], 5).tolist()
    honest = [100 * np.exp(np.repeat(0.05 * random.normal(size=3), 5) + 0.01 * random.normal(size=15)) for _ in range(300)]
    assert np.mean([two_levels_p(one, sessions) < 0.01 or trend_p(one, None, sessions) < 0.01 for one in honest]) <= 0.02
    assert np.mean([two_levels_p(one * np.where(np.arange(15) % 5 < 2, 1.2, 1), sessions) < 0.01 for one in honest]) >= 0.9
    assert np.mean([trend_p(one * (1 + 0.03 * (np.arange(15) % 5)), None, sessions) < 0.01 for one in honest]) >= 0.9
