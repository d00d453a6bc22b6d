"""Frontiers: dominance, the probability of being on one, and values between measured points."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from warehouse.statistics.frontier import OnFrontier, Outside, membership, non_dominated, value_at
from warehouse.statistics.interval import NotSupported


def beaten_by_some(points: np.ndarray, place: int) -> bool:
    """The definition, read aloud, for axes of which the first is better higher and the others lower."""
    mine = points[place]
    for other in points:
        gains = [other[0] - mine[0], *(mine[1:] - other[1:])]
        if min(gains) >= 0 and max(gains) > 0:
            return True
    return False


@pytest.mark.parametrize("axes", [1, 2, 3])
def test_a_point_is_on_the_frontier_if_no_other_beats_it(axes: int) -> None:
    points = np.random.default_rng(axes).integers(0, 6, (60, axes)).astype(float)  # with ties
    found = non_dominated(points, ["higher", "lower", "lower"][:axes])
    assert found.tolist() == [not beaten_by_some(points, place) for place in range(60)]
    assert 0 < found.sum() < 60


def test_equal_points_are_on_it_together() -> None:
    assert non_dominated([[1, 1], [1, 1], [0, 1]], ["higher", "higher"]).tolist() == [True, True, False]


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_a_value_that_is_no_number_is_refused(bad: float) -> None:
    with pytest.raises(ValueError, match="not finite"):
        non_dominated([[1, bad]], ["higher", "higher"])


TRUTH = np.array([[10.0, 100.0], [20.0, 80.0], [21.0, 79.0], [20.2, 79.2], [30.0, 40.0], [29.0, 39.0]])
SPREAD = 0.02


def measured_again(random: np.random.Generator, runs: int) -> np.ndarray:
    """Of each point its runs: both axes vary by 2 %, half of that together."""
    shared = random.normal(0, SPREAD / 2**0.5, (len(TRUTH), runs, 1))
    own = random.normal(0, SPREAD / 2**0.5, (len(TRUTH), runs, 2))
    return TRUTH[:, None, :] * (1 + shared + own)


def test_the_probability_is_that_of_measuring_again() -> None:
    """On a made-up curve: the mean over campaigns of ten runs, compared with the share of campaigns that find a point on the frontier
    where each is centred, as a bootstrap centres it, on the values of one campaign."""
    random, runs = np.random.default_rng(7), 10
    campaign = measured_again(random, runs)
    found = membership(list(campaign), ["higher", "higher"])
    assert not isinstance(found, NotSupported)
    centre = campaign.mean(axis=1)
    deviations = campaign - centre[:, None]
    covariance = [np.cov(each.T) / runs for each in deviations]
    again = np.stack([random.multivariate_normal(mean, each, 20_000) for mean, each in zip(centre, covariance, strict=True)], axis=1)
    expected = np.mean([non_dominated(each, ["higher", "higher"]) for each in again], axis=0)
    assert np.abs(np.array(found) - expected).max() < 0.05
    assert found[0] > 0.99 and min(found) < 0.5 < max(found)


def test_a_sure_probability_is_seldom_wrong() -> None:
    """Over campaigns of five runs, a point of the true frontier is said to have 5 % or less, and another one 95 % or more, about as seldom
    as a test at that level errs."""
    random = np.random.default_rng(11)
    truth = non_dominated(TRUTH, ["higher", "higher"])
    assert truth.tolist() == [True, True, True, True, True, False]
    said = np.array([membership(list(measured_again(random, 5)), ["higher", "higher"], draws=400) for _ in range(200)])
    assert (said[:, truth] <= 0.05).mean(axis=0).max() < 0.1
    assert (said[:, ~truth] >= 0.95).mean(axis=0).max() < 0.1
    assert (said[:, [0, 4]] >= 0.95).mean() > 0.9  # those that nothing comes near


def test_a_point_with_one_run_has_no_probability() -> None:
    found = membership([[[1.0, 2.0]], [[2.0, 1.0], [2.1, 1.1]]], ["higher", "higher"])
    assert isinstance(found, NotSupported) and (found.n, found.needs) == (1, 2)


CURVE = [[10.0, 100.0], [20.0, 80.0], [40.0, 20.0], [15.0, 60.0]]  # the last one is dominated


def test_the_step_function_has_measured_values_only() -> None:
    for x, y in ((10, 100), (10.5, 80), (20, 80), (20.1, 20), (40, 20)):
        assert value_at(CURVE, ("higher", "higher"), x) == OnFrontier(x, y, "step function of measured points", False)
    falling = [[1.0, 9.0], [2.0, 5.0], [4.0, 1.0]]  # a latency's limit, and a cost
    assert [value_at(falling, ("lower", "lower"), x).y for x in (1, 3, 4)] == [9, 5, 1]


def test_an_interpolated_value_differs_and_says_so() -> None:
    step, spline = (value_at(CURVE, ("higher", "higher"), 30, interpolate) for interpolate in (False, True))
    assert isinstance(step, OnFrontier) and isinstance(spline, OnFrontier)
    assert not step.is_interpolated and spline.is_interpolated and spline.method == "monotone cubic (PCHIP)"
    assert step.y == 20 and 20 < spline.y < 80
    at_a_point = value_at(CURVE, ("higher", "higher"), 20, True)
    assert isinstance(at_a_point, OnFrontier) and (at_a_point.y, at_a_point.is_interpolated) == (80, False)
    xs = np.linspace(10, 40, 61)
    ys = [value_at(CURVE, ("higher", "higher"), float(x), True).y for x in xs]
    assert all(later <= earlier + 1e-9 for earlier, later in itertools.pairwise(ys))


@pytest.mark.parametrize(("x", "interpolate"), [(9.9, False), (9.9, True), (40.1, False), (40.1, True)])
def test_nothing_is_said_outside_of_the_measured_range(x: float, interpolate: bool) -> None:
    found = value_at(CURVE, ("higher", "higher"), x, interpolate)
    assert found == Outside(x, 10, 40) and "10 to 40" in str(found)
