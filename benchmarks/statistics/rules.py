"""What others call a change, written anew from the descriptions of their rules: each takes a series and gives the indices of first points."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.stats import ttest_ind_from_stats

Floats = NDArray[np.float64]


# --- Apache Otava 0.8, defaults: Fleming and others, *Hunter* (ICPE 2023) ---------------------------------------------------

_WINDOW, _P = 50, 0.001


def otava(values: Floats) -> list[int]:
    """Windows of 50 points, half overlapping, are split where the energy distance of both sides is largest, as long as t's p is at most
    0.01. All splits together are then tested against their neighbours, and the weakest is dropped until each has p below 0.001."""
    found: set[int] = set()
    start = 0
    while start < len(values):
        window = values[start : start + _WINDOW]
        inside = _energy_splits(window)
        found |= {start + split for split in inside}
        start = max(start + max(inside, default=0), start + _WINDOW // 2)
    splits = sorted(found)
    p_values = [_p_at(values, splits, place) for place in range(len(splits))]
    while splits and max(p_values) >= _P:
        weakest = int(np.argmax(p_values))
        del splits[weakest], p_values[weakest]
        # Otava tests the two splits after the dropped one again, not the one before it and the one after it.
        for place in range(weakest, min(weakest + 2, len(splits))):
            p_values[place] = _p_at(values, splits, place)
    return splits


def _p_at(values: Floats, splits: list[int], place: int) -> float:
    edges = [0, *splits, len(values)]
    return _p_of(values[edges[place] : edges[place + 1]], values[edges[place + 1] : edges[place + 2]])


def _energy_splits(values: Floats) -> list[int]:
    splits: list[int] = []
    while True:
        edges = [0, *sorted(splits), len(values)]
        candidates = [(*_best_energy(values[a:b]), a, b) for a, b in itertools.pairwise(edges) if b - a > 1]
        if not candidates:
            return splits
        _, split, a, b = max(candidates)
        if not _p_of(values[a : a + split], values[a + split : b]) <= 10 * _P:  # nan for two constants
            return splits
        splits.append(a + split)


def _best_energy(values: Floats) -> tuple[float, int]:
    """The split with the largest energy distance between what is before it and any stretch that begins at it."""
    n = len(values)
    sums = np.zeros((n + 1, n + 1))
    sums[1:, 1:] = np.abs(np.subtract.outer(values, values)).cumsum(axis=0).cumsum(axis=1)
    a, b = np.arange(1, n)[:, None], np.arange(2, n + 1)[None, :]  # the split, the end of the stretch
    across = sums[a, b] - sums[a, a]
    first = sums[a, a] / 2
    second = (sums[b, b] - sums[a, b] - sums[b, a] + sums[a, a]) / 2
    left, right = a.astype(float), (b - a).astype(float)
    with np.errstate(divide="ignore", invalid="ignore"):
        energy = 2 / (left + right) * (
            across - np.where(left > 1, right * first / (left - 1), 0) - np.where(right > 1, left * second / (right - 1), 0)
        )
    energy = np.where(right >= 1, energy, -np.inf)
    split, _ = np.unravel_index(int(energy.argmax()), energy.shape)
    return float(energy.max()), int(split) + 1


def _p_of(left: Floats, right: Floats) -> float:
    """Student's t with the standard deviations that numpy gives, which divide by n: as Otava has it."""
    if len(left) + len(right) <= 2:
        return 1.0
    with np.errstate(divide="ignore", invalid="ignore"):
        p = ttest_ind_from_stats(left.mean(), left.std(), len(left), right.mean(), right.std(), len(right)).pvalue
    return float(p)


# --- Perfherder: Mozilla's wiki, *Sheriffing/Alert FAQ*; bugs 1265381 and 1425493 -------------------------------------------

_BACK, _MOST_BACK, _FORWARD, _T = 12, 24, 12, 7.0


def perfherder(values: Floats) -> list[int]:
    """Up to 24 points before and 12 from a point on, weighted linearly by nearness: a change where t is above 7 and no neighbour's is
    larger. The back window grows from 12 to 24 with the distance from the last such point."""
    n = len(values)
    t = np.zeros(n)
    since = 0
    for point in range(1, n):
        back = min(max(since, _BACK), _MOST_BACK, point)
        t[point] = _weighted_t(values[point - back : point][::-1], values[point : point + _FORWARD])
        since = 0 if t[point] > _T else since + 1
    return [
        point for point in range(_BACK, n - _FORWARD + 1)
        if t[point] > _T and t[point] >= t[point - 1] and (point + 1 == n or t[point] >= t[point + 1])
    ]


def _weighted_t(before: Floats, after: Floats) -> float:
    moments = []
    for side in (before, after):
        weights = 1 - np.arange(len(side)) / len(side)
        mean = float((weights * side).sum() / weights.sum())
        moments.append((mean, float(((side - mean) ** 2).sum() / (len(side) - 1)) if len(side) > 1 else 0.0, len(side)))
    (a, u, n), (b, v, m) = moments
    if a == b:
        return 0.0
    return abs(a - b) / np.sqrt(u / n + v / m) if u or v else np.inf


# --- asv 0.6: its documentation, *Step detection* (asv.step_detect) ---------------------------------------------------------

_LONGEST = 20
_PENALTIES = 24


def asv(values: Floats) -> list[int]:
    """The piecewise constant function with the least sum of absolute residuals plus a penalty for each step (an L1 Potts functional),
    found for pieces of up to 20 points, which are then joined as long as that pays. The penalty is the one with the least information
    criterion, 4 ln(n) / n for each piece, where residuals may follow a first-order autoregression."""
    n = len(values)
    if n < 3:
        return []
    costs = _costs_of_short_pieces(values)
    whole = float(np.abs(values - np.median(values)).sum()) or 1.0
    steps = np.abs(np.diff(values))
    floor = 0.1 * float(steps[steps > 0].min(initial=whole))  # so that a perfect fit has a finite criterion

    def criterion(pieces: list[int]) -> float:
        edges = [0, *pieces, n]
        residuals = np.concatenate([values[a:b] - np.median(values[a:b]) for a, b in itertools.pairwise(edges)])
        spread = min(abs(residuals[0]) + np.abs(residuals[1:] - rho * residuals[:-1]).sum() for rho in np.linspace(-1, 1, 41))
        return float(4 * np.log(n) / n * (len(pieces) + 1) + np.log(floor + spread))

    fits = [_joined(values, _short_pieces(costs, penalty), penalty) for penalty in whole * np.exp(np.linspace(np.log(0.1 / n), 0, _PENALTIES))]
    return min(fits, key=criterion)


def _costs_of_short_pieces(values: Floats) -> Floats:
    """costs[end, length]: the absolute residuals of the piece of so many points that ends before `end`."""
    costs = np.full((len(values) + 1, _LONGEST + 1), np.inf)
    for length in range(1, min(_LONGEST, len(values)) + 1):
        pieces = np.lib.stride_tricks.sliding_window_view(values, length)
        costs[length:, length] = np.abs(pieces - np.median(pieces, axis=1, keepdims=True)).sum(axis=1)
    return costs


def _short_pieces(costs: Floats, penalty: float) -> list[int]:
    n = len(costs) - 1
    best, length = np.zeros(n + 1), np.zeros(n + 1, dtype=int)
    best[0] = -penalty
    for end in range(1, n + 1):
        longest = min(_LONGEST, end)
        totals = best[end - longest : end][::-1] + costs[end, 1 : longest + 1]
        length[end] = int(totals.argmin()) + 1
        best[end] = totals[length[end] - 1] + penalty
    starts, end = [], n
    while end:
        end -= length[end]
        starts.append(int(end))
    return starts[-2::-1]


def _joined(values: Floats, starts: list[int], penalty: float) -> list[int]:
    def cost(a: int, b: int) -> float:
        return float(np.abs(values[a:b] - np.median(values[a:b])).sum())

    edges = [0, *starts, len(values)]
    own = [cost(a, b) for a, b in itertools.pairwise(edges)]
    gains = [own[i] + own[i + 1] + penalty - cost(edges[i], edges[i + 2]) for i in range(len(own) - 1)]
    while gains and max(gains) >= 0:
        i = int(np.argmax(gains))
        del edges[i + 1], gains[i]
        own[i : i + 2] = [cost(edges[i], edges[i + 1])]
        for j in (i - 1, i):
            if 0 <= j < len(gains):
                gains[j] = own[j] + own[j + 1] + penalty - cost(edges[j], edges[j + 2])
    return edges[1:-1]


# --- PELT: Killick, Fearnhead and Eckley, JASA 107, 2012, with the squared error about the mean of each piece -----------------

_SHORTEST = 3


def pelt(values: Floats) -> list[int]:
    """The pieces with the least sum of squares plus a penalty of 3 ln(n) variances for each. The variance of the noise is that of the
    differences of neighbours, by their median absolute deviation."""
    n = len(values)
    steps = np.diff(values)
    spread = 1.4826 * float(np.median(np.abs(steps - np.median(steps)))) / np.sqrt(2) if n > 1 else 0.0
    penalty = 3 * np.log(max(n, 2)) * (spread or float(steps.std()) or 1.0) ** 2
    sums, squares = np.concatenate([[0.0], values.cumsum()]), np.concatenate([[0.0], (values**2).cumsum()])
    best, previous = np.full(n + 1, np.inf), np.zeros(n + 1, dtype=int)
    best[0] = -penalty
    starts = np.array([0])
    for end in range(_SHORTEST, n + 1):
        costs = best[starts] + squares[end] - squares[starts] - (sums[end] - sums[starts]) ** 2 / (end - starts)
        least = int(costs.argmin())
        best[end], previous[end] = costs[least] + penalty, starts[least]
        starts = np.append(starts[costs <= best[end]], end - _SHORTEST + 1)
    found, end = [], int(previous[n])
    while end:
        found.append(end)
        end = int(previous[end])
    return found[::-1]


# --- PyTorch HUD: test-infra, the benchmark regression report ----------------------------------------------------------------


def hud(days: Sequence[Floats], ratio: float, compared: int = 3, baseline: int = 4) -> bool:
    """Whether the last days are a regression of a metric of which more is better: the two newest of the compared days at least lie
    below `ratio` times the median of the days before. A day's value is the mean of its runs."""
    values = [float(day.mean()) for day in days[-compared - baseline :]]
    level = ratio * float(np.median(values[:baseline]))
    return all(value < level for value in values[-2:])
