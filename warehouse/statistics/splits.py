"""The best split of a stretch of a series into before and after, and how surprising it is for a series without a change.

The statistic, for each window of points:

1. The values are winsorised at 3.5 spreads around the median, so that a spike counts as one far value however far it is. The spread
   comes from the quartiles, which half a window of other values does not move. Who decides about a split that was found asks again with
   wider bounds, which do not cut off what a step adds.
2. Every split with enough points on both sides is tried; the best one has the largest difference between the two means (maximum
   likelihood; Hawkins, *Testing a sequence of observations for a shift in location*, JASA 72, 1977). If the level began before the window,
   48 points must come before the split: a few points that the window is about to lose do not show where the level was.
3. Points of a real series resemble their neighbours. The variance of both means is multiplied by what the autocorrelation of the
   residuals adds to it, for a first-order autoregression: by the first autocorrelation, or by the sum of the first eight (Newey and
   West, Econometrica 55, 1987) where that is more, as in white noise on a slow wander. Estimates are corrected for their bias
   (Kendall, *Note on bias in the estimation of autocorrelation*, Biometrika 41, 1954). Beyond 0.7 they are taken for structure:
   noise that wanders so far is a change of level to whoever depends on it.
4. A split is no step where a straight line through the window leaves smaller residuals: the series drifts.
5. Student's t of the split becomes the normal deviate that is as rare (Wallace, *Bounds on normal approximations to Student's and the
   chi-square distributions*, Annals of Mathematical Statistics 30, 1959). The degrees of freedom are fewer than the points, since they
   resemble each other, and since how much they do is estimated (Satterthwaite, Biometrics Bulletin 2, 1946).
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from warehouse.statistics.observations import Floats

# A long window has the power, a short one sees a change beside another one, which in the long window hides both.
SHORT_WINDOW, WINDOW = 48, 128
LEAST_BEFORE, LEAST_AFTER = 8, 3
LEAST = LEAST_BEFORE + LEAST_AFTER  # points at a level, to look for a change in

CLIP = 3.5
_QUARTILES = np.array([[0.25], [0.5], [0.75]])
_NORMAL_QUARTILES = 1.349  # between the quartiles of a normal distribution, in standard deviations
_LAGS = 8
_WEIGHTS = 1 - np.arange(1, _LAGS + 1)[:, None] / (_LAGS + 1)
_KENDALL = 4.0  # the bias of a first autocorrelation is -(1 + 4 rho) / n where two means are removed
_MOST_CORRELATED = 0.7
_NOTHING = 1e-9  # a sum of squares to divide by, where a split leaves none

Ints = NDArray[np.int64]


def _per_split() -> Floats:
    """For windows of each length, the factor of each split from the square of a sum to a sum of squares: 0 where too few points come after."""
    lengths, before = np.arange(WINDOW + 1.0)[:, None], np.arange(1.0, WINDOW + 1)
    return lengths / (before * np.maximum(lengths - before, 1)) * (lengths - before >= LEAST_AFTER)


_PER_SPLIT = _per_split()


@dataclass(frozen=True)
class Splits:
    """For each window: the normal deviate of its best split, or of a straight line where that fits better (`is_drift`); how many points
    come before and after the split; how far the last value lies from the median, in spreads; and the most autocorrelation that its
    residuals may have, two standard errors above the estimate."""

    deviate: Floats
    is_drift: NDArray[np.bool_]
    before: Ints
    after: Ints
    last: Floats
    correlation: Floats

    @property
    def step(self) -> Floats:
        """The deviate of a step; 0 where there is none."""
        return np.where(self.is_drift, 0.0, self.deviate)


def best_splits(values: Floats, start: int, ends: Ints, clip: float = CLIP) -> Splits:
    """The best split before each end: of the last 128 values, or of the last 48 where that one is more surprising. `start` is the first
    value to use; there are 11 values before each end at least."""
    long = np.flatnonzero(ends - start > SHORT_WINDOW)
    starts = np.concatenate([np.maximum(start, ends - WINDOW), ends[long] - SHORT_WINDOW])
    least = np.where(ends - WINDOW > start, SHORT_WINDOW, LEAST_BEFORE)
    both = splits_of(values, starts, np.concatenate([ends, ends[long]]), clip, np.concatenate([least, np.full(len(long), LEAST_BEFORE)]))
    is_nearer = both.step[len(ends) :] > both.deviate[long]
    best = np.arange(len(ends))
    best[long[is_nearer]] = len(ends) + np.flatnonzero(is_nearer)
    return Splits(*(getattr(both, field.name)[best] for field in fields(Splits)))


def splits_of(values: Floats, starts: Ints, ends: Ints, clip: float = CLIP, least_before: Ints | None = None) -> Splits:
    """The best split of each window `values[start:end]`, which has 128 values at most, winsorised at `clip` spreads, with `least_before` values
    before it or 8.

    Sums run over as many places for every window: numpy adds in an order that depends on their number, and the last digits would
    otherwise depend on the windows beside it.
    """
    lengths = ends - starts
    least = np.full(len(lengths), LEAST_BEFORE) if least_before is None else least_before
    place, row = np.arange(WINDOW), np.arange(len(lengths))
    is_inside = place < lengths[:, None]
    windows = values[np.minimum(starts[:, None] + place, len(values) - 1)]
    centre, spread = _centre_and_spread(windows, is_inside, lengths)
    last = (values[ends - 1] - centre) / spread
    windows = np.clip((windows - centre[:, None]) / spread[:, None], -clip, clip)
    windows *= is_inside

    sums, before = np.cumsum(windows, axis=1), place + 1.0
    total = sums[:, -1]
    between = sums - before * (total / lengths)[:, None]
    between *= between
    between *= _PER_SPLIT[lengths]
    between *= before >= least[:, None]
    split = between.argmax(axis=1)
    n_before, n_after = split + 1, lengths - split - 1
    gained = between[row, split]
    squares = np.einsum("ij,ij->i", windows, windows) - total**2 / lengths
    # The straight line through the window, by least squares: values outside are zero.
    line = (np.einsum("ij,j->i", windows, before) - total * (lengths + 1) / 2) ** 2 / (lengths * (lengths**2 - 1.0) / 12)

    mean_before, mean_after = sums[row, split] / n_before, (total - sums[row, split]) / n_after
    residuals = windows - np.where(place <= split[:, None], mean_before[:, None], mean_after[:, None])
    residuals *= is_inside
    correlations = np.empty((_LAGS, len(lengths)))
    for lag in range(1, _LAGS + 1):
        np.einsum("ij,ij->i", residuals[:, lag:], residuals[:, :-lag], out=correlations[lag - 1])
    correlations /= np.maximum(squares - gained, _NOTHING)
    explained = np.maximum(gained, line)
    rho = _correlation(correlations, lengths)
    deviate = _deviate(explained / np.maximum(squares - explained, _NOTHING), rho, lengths, n_before, n_after)
    return Splits(deviate, line >= gained, n_before, n_after, last, rho + 2 / np.sqrt(lengths))


def centre_and_spread(values: Floats) -> tuple[float, float]:
    """The median, and the spread that windows are measured in, of one stretch of values."""
    ordered = np.sort(values).tolist()

    def quantile(share: float) -> float:
        rank = (len(ordered) - 1) * share
        low, high = ordered[int(rank)], ordered[min(int(rank) + 1, len(ordered) - 1)]
        return float(low + (rank - int(rank)) * (high - low))

    spread = (quantile(0.75) - quantile(0.25)) / _NORMAL_QUARTILES
    return quantile(0.5), spread if spread > 0 else float(values.std()) or _NOTHING


def _centre_and_spread(windows: Floats, is_inside: NDArray[np.bool_], lengths: Ints) -> tuple[Floats, Floats]:
    ordered = np.sort(np.where(is_inside, windows, np.inf), axis=1)
    row, rank = np.arange(len(lengths)), (lengths - 1) * _QUARTILES
    below = rank.astype(np.int64)
    low, high = ordered[row, below], ordered[row, np.minimum(below + 1, lengths - 1)]
    first, centre, third = low + (rank - below) * (high - low)
    spread = (third - first) / _NORMAL_QUARTILES
    for flat in np.flatnonzero(spread <= 0):  # half of the values are equal
        spread[flat] = windows[flat, : lengths[flat]].std() or _NOTHING
    return centre, spread


def _correlation(correlations: Floats, lengths: Ints) -> Floats:
    """The first autocorrelation of the noise, from those of the residuals at each lag."""
    unbiased = correlations + (1 + _KENDALL * np.maximum(correlations[0], 0)) / lengths
    # For the sum over lags, as the first-order autoregression whose mean has that variance.
    summed = np.maximum(2 * (_WEIGHTS * unbiased).sum(axis=0), 0)
    return np.asarray(np.clip(np.maximum(unbiased[0], summed / (2 + summed)), 0, _MOST_CORRELATED))


def _deviate(gain: Floats, rho: Floats, lengths: Ints, n_before: Ints, n_after: Ints) -> Floats:
    most = (1 + rho) / (1 - rho)

    def of_mean(n: Ints) -> Floats:
        """The variance of a mean of n neighbours, for points of variance one."""
        return np.asarray((most - 2 * rho * (1 - rho**n) / (n * (1 - rho) ** 2)) / n)

    inflation = (of_mean(n_before) + of_mean(n_after)) / (1 / n_before + 1 / n_after)
    # The variance is estimated twice over: its size from so many independent points, and what the autocorrelation adds to it from an
    # estimate whose own variance is (1 - rho^2) / n. A relative variance of 2 / f is that of a chi-square with f degrees of freedom.
    freedom = 1 / (most / (lengths - 2) + 2 / ((1 - rho**2) * lengths))
    t_squared = gain * (lengths - 2) / inflation
    return np.asarray(np.sqrt(freedom * np.log1p(t_squared / freedom)) * (8 * freedom + 1) / (8 * freedom + 3))
