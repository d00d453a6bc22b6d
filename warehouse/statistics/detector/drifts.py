"""Whether a series moves along a straight line, and by how much: least squares with noise that resembles its neighbours."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from warehouse.statistics.observations import Floats
from warehouse.statistics.splits import CLIP

_MOST_CORRELATED = 0.95  # noise that wanders looks like a line for a while: unlike a step, a line is not taken for structure
_KENDALL = 4.0
_SHORTEST_RISE = 16  # points of a rise: of fewer nobody can say that they are no step
_CLEAR = 16.0  # by how many variances of the residuals a line that ends fits better than a level
_MARGIN = 3.0  # by how many variances of the residuals a step fits better that is no rise


def rise_start(values: Floats, after: int) -> int | None:
    """The place from which a series that was level moves along a line, where this fits about as well as the step before its last `after`
    values; None where the step fits better."""
    n = len(values)
    centred = values - values.mean()
    place = np.arange(n, dtype=np.float64)
    # The rise from each place on: its values' sum, sum of squares, and products with the series, as sums from the end.
    length = n - 1 - place
    total, squares = length * (length + 1) / 2, length * (length + 1) * (2 * length + 1) / 6
    from_here = centred[::-1].cumsum()[::-1]
    products = np.concatenate([from_here[1:][::-1].cumsum()[::-1], [0.0]])
    gains = np.zeros(n)
    tried = slice(0, n - _SHORTEST_RISE)
    gains[tried] = products[tried] ** 2 / (squares[tried] - total[tried] ** 2 / n)
    start = int(gains.argmax())
    step = float(from_here[n - after]) ** 2 * n / (after * (n - after))
    variance = max(float((centred**2).sum()) - step, 0.0) / (n - 2)
    return start if n > _SHORTEST_RISE and gains[start] > step - _MARGIN * variance else None


def rise_end(values: Floats, is_up: bool) -> int:
    """The place at which a line, up or down, turned into a level: 0 where the values do not begin with one."""
    n = len(values)
    centred = values - values.mean()
    bent = np.minimum(np.arange(n), np.arange(1, n - 1)[:, None]).astype(np.float64)
    bent -= bent.mean(axis=1, keepdims=True)
    products = bent @ centred
    gains = np.where((products > 0) == is_up, products**2 / (bent**2).sum(axis=1), 0.0)
    best = int(gains.argmax())
    variance = (float((centred**2).sum()) - float(gains[best])) / (n - 2)
    return best + 1 if gains[best] > _CLEAR * variance else 0


@dataclass(frozen=True)
class StepOnLine:
    """The place of a step on a line, the line's value there without and with it, the 95 % interval of the step, its size in spreads of the residuals,
    how many standard errors that is, and all values less the line without the step."""

    place: int
    before: float
    after: float
    low: float
    high: float
    effect: float
    deviate: float
    rest: Floats


def step_on_line(values: Floats, least: int) -> StepOnLine | None:
    """The best step on a line, with `least` values or more on each side: least squares of both together. None where a bend of the line fits about
    as well."""
    n = len(values)
    time = np.arange(n) - (n - 1) / 2
    line = np.stack([np.ones(n) / np.sqrt(n), time / np.sqrt((time**2).sum())])
    places = np.arange(least, n - least + 1)
    steps = (np.arange(n) >= places[:, None]).astype(np.float64)
    steps -= steps @ line.T @ line
    rest = values - values @ line.T @ line
    squares = (steps**2).sum(axis=1)
    sizes = steps @ rest / squares
    best = int((sizes**2 * squares).argmax())
    size, residuals = float(sizes[best]), rest - sizes[best] * steps[best]
    total = float((residuals**2).sum()) or float(np.finfo(float).tiny)
    bends = np.maximum(np.arange(n) - places[:, None], 0).astype(np.float64)
    bends -= bends @ line.T @ line
    if float(((bends @ rest) ** 2 / (bends**2).sum(axis=1)).max()) > float(size**2 * squares[best]) - _CLEAR * total / (n - 3):
        return None
    first = float((residuals[1:] * residuals[:-1]).sum()) / total
    rho = min(max(first + (1 + _KENDALL * max(first, 0)) / n, 0.0), _MOST_CORRELATED)
    spread = float(np.sqrt(total / (n - 3)))
    error = spread * float(np.sqrt((1 + rho) / (1 - rho) / squares[best]))
    without = (values - size * (np.arange(n) >= places[best])) @ line.T @ line
    level = float(without[places[best]])
    half = float(stdtrit(n - 3, 0.975)) * error
    return StepOnLine(
        int(places[best]), level, level + size, size - half, size + half, abs(size) / spread, abs(size) / error, values - without
    )


@dataclass(frozen=True)
class Line:
    """The line's first and last value, the 95 % interval of the difference of both, and how many standard errors that is away from zero, as
    a normal deviate of the same probability."""

    first: float
    last: float
    low: float
    high: float
    deviate: float


def line_through(values: Floats) -> Line:
    """The line through ten values or more, one step apart. Residuals are winsorised at 3.5 spreads around a first fit, so that a spike at an
    end does not turn it."""
    n = len(values)
    place = np.arange(n) - (n - 1) / 2
    squares = float((place**2).sum())

    def fit(of: Floats) -> tuple[Floats, float]:
        slope = float((place * of).sum()) / squares
        return np.asarray(of.mean() + slope * place), slope

    line, _ = fit(values)
    residuals = values - line
    spread = float(np.median(np.abs(residuals - np.median(residuals)))) * 1.4826 or float(residuals.std())
    line, slope = fit(line + np.clip(residuals, -CLIP * spread, CLIP * spread))
    residuals = np.clip(values - line, -CLIP * spread, CLIP * spread)
    total = float((residuals**2).sum())
    if total <= 0:
        return Line(float(line[0]), float(line[-1]), float(line[-1] - line[0]), float(line[-1] - line[0]), np.inf if slope else 0.0)
    first = float((residuals[1:] * residuals[:-1]).sum()) / total
    rho = min(max(first + (1 + _KENDALL * max(first, 0)) / n, 0.0), _MOST_CORRELATED)
    inflation = (1 + rho) / (1 - rho)
    freedom = 1 / (inflation / (n - 2) + 2 / ((1 - rho**2) * n))
    error = float(np.sqrt(total / (n - 2) * inflation / squares))
    t = slope / error
    deviate = float(np.sqrt(freedom * np.log1p(t**2 / freedom)) * (8 * freedom + 1) / (8 * freedom + 3))
    half = float(stdtrit(freedom, 0.975)) * error * (n - 1)
    return Line(float(line[0]), float(line[-1]), float(slope * (n - 1)) - half, float(slope * (n - 1)) + half, deviate)
