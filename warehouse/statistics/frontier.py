"""Which points no other point beats, how sure that is, and what a frontier says between its points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warehouse.statistics.interval import NotSupported
from warehouse.statistics.observations import Floats

Better = Literal["higher", "lower"]
_DRAWS = 2000
_SEED = 20260101


@dataclass(frozen=True)
class OnFrontier:
    """What a frontier has at `x`: `y`, and by which method. `is_interpolated`: `y` was not measured."""

    x: float
    y: float
    method: str
    is_interpolated: bool


def non_dominated(points: ArrayLike, better: Sequence[Better]) -> NDArray[np.bool_]:
    """Which points, rows of one value an axis, are on the frontier: no other point is at least as good on every axis and better on one
    (Pareto). Equal points are on it together. Raises ValueError for values that are not finite."""
    return _non_dominated(_turned(points, better))


def membership(runs: Sequence[ArrayLike], better: Sequence[Better], draws: int = _DRAWS, seed: int = _SEED) -> list[float] | NotSupported:
    """The probability of each point to be on the frontier, if all were measured again with as many runs each.

    `runs` has for each point a row of one value an axis for every run; a point is the mean of its runs. A bootstrap over runs: the axes of a
    run stay together, and deviations are widened by sqrt(n / (n - 1)), without which the variance of n runs is too small by
    (n - 1) / n (Davison and Hinkley, *Bootstrap methods and their application*, section 2.3). Not supported where a point has one run:
    how much it varies is not known, and all others compete with it.
    """
    arrays = [_turned(each, better) for each in runs]
    if (least := min((len(each) for each in arrays), default=0)) < 2:
        return NotSupported("how much a point with one run varies is not known", "run", least, 2)
    random = np.random.default_rng(seed)
    drawn = np.empty((draws, len(arrays), len(better)))
    for place, array in enumerate(arrays):
        mean, count = array.mean(axis=0), len(array)
        deviations = (array - mean) * np.sqrt(count / (count - 1))
        drawn[:, place] = mean + deviations[random.integers(0, count, (draws, count))].mean(axis=1)
    return [float(share) for share in np.mean([_non_dominated(each) for each in drawn], axis=0)]


@dataclass(frozen=True)
class Outside:
    """An x that is outside of what a frontier was measured at, `low` to `high`."""

    x: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"not supported: {self.x:g} is outside of what the frontier was measured at, {self.low:g} to {self.high:g}"


def value_at(points: ArrayLike, better: tuple[Better, Better], x: float, interpolate: bool = False) -> OnFrontier | Outside:
    """The y of a frontier at `x`. By default the best y that was measured at an x at least as good: a step function, as MLPerf Endpoints'
    official curve is. With `interpolate` a monotone cubic through the frontier's points (Fritsch and Carlson 1980, scipy's PCHIP).
    There is no extrapolation: outside of the measured range of x, an `Outside`. Takes at least one point."""
    array = np.asarray(points, dtype=np.float64)
    frontier = array[non_dominated(array, better)]
    frontier = np.unique(frontier[np.argsort(frontier[:, 0])], axis=0)
    low, high = float(frontier[0, 0]), float(frontier[-1, 0])
    if not low <= x <= high:
        return Outside(x, low, high)
    if interpolate and len(frontier) > 1:
        from scipy.interpolate import PchipInterpolator

        return OnFrontier(x, float(PchipInterpolator(frontier[:, 0], frontier[:, 1])(x)), "monotone cubic (PCHIP)", not (frontier[:, 0] == x).any())
    met = frontier[frontier[:, 0] >= x if better[0] == "higher" else frontier[:, 0] <= x]
    return OnFrontier(x, float(met[:, 1].max() if better[1] == "higher" else met[:, 1].min()), "step function of measured points", False)


def _turned(points: ArrayLike, better: Sequence[Better]) -> Floats:
    """The points with every axis turned so that higher is better."""
    array = np.asarray(points, dtype=np.float64).reshape(-1, len(better))
    if not np.isfinite(array).all():
        raise ValueError("a point has a value that is not finite")
    turned: Floats = array * np.array([1.0 if each == "higher" else -1.0 for each in better])
    return turned


def _non_dominated(points: Floats) -> NDArray[np.bool_]:
    """Higher is better. The first of the points in lexicographic order is beaten by none: it is on the frontier, all that it beats go, and
    the first of the others is the next. So the cost is that of the points times those on the frontier."""
    on = np.zeros(len(points), dtype=np.bool_)
    left = np.lexsort(points.T[::-1])[::-1]
    while len(left):
        first, others = points[left[0]], points[left]
        on[left[(others == first).all(axis=1)]] = True
        left = left[(others > first).any(axis=1)]
    return on
