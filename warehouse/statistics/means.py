"""Intervals of the mean and the median of runs.

With sessions given, the sessions' own means or medians are the observations, and the interval covers sessions as well: Kalibera and
Jones, *Rigorous benchmarking in reasonable time* (ISMM 2013), whose interval has as many degrees of freedom as the top level has.
Pooling the runs of sessions that happen to agree would give narrower intervals, which cover as little as 85 % (benchmarks/statistics).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import bdtr, ndtr, ndtri, stdtrit

from warehouse.statistics.interval import Interval, NotSupported
from warehouse.statistics.observations import Floats, finite, positive, replicates, tail_of

# Up to so many observations t is the better one: BCa of 30 log-normal values with a spread of 1 covers 90 %.
FEW = 30
_NO_SPREAD = "one value has no spread"
_RESAMPLES = 4000
_AT_ONCE = 1_000_000  # values drawn at one time


def mean_interval(
    runs: ArrayLike, confidence: float = 0.95, sessions: Sequence[Hashable] | None = None
) -> Interval | NotSupported:
    """An interval of the mean of runs, or of sessions where they are given. Two observations at least.

    Up to 30: Student's t; of positive runs Cox's interval of a log-normal mean with t (Olsson, *Confidence intervals for the mean of
    a log-normal distribution*, Journal of Statistics Education 13(1), 2005), which is the same where the spread is small. More: the
    bias-corrected and accelerated bootstrap.
    """
    tail, observed = tail_of(confidence), replicates(finite(runs), sessions, np.mean)
    if refusal := observed.too_few(2, _NO_SPREAD):
        return refusal
    values = observed.values
    if len(values) > FEW:
        method, (low, high) = "BCa bootstrap", _bca_mean(values, tail)
    elif (values > 0).all():
        method, (low, high) = "t, log-normal mean", _cox(np.log(values), tail)
    else:
        method, (low, high) = "t", student(values, tail)
    return Interval(float(values.mean()), low, high, confidence, method, observed.n)


def median_interval(
    runs: ArrayLike, confidence: float = 0.95, sessions: Sequence[Hashable] | None = None
) -> Interval | NotSupported:
    """An interval of the median of runs, or of sessions where they are given. Two observations at least.

    Where two values enclose the median with the confidence (from six values on at 95 %): order statistics, interpolated to the very
    confidence (Hettmansperger and Sheather, *Confidence intervals based on interpolated order statistics*, Statistics & Probability
    Letters 4, 1986). Fewer: Student's t, of positive runs that of the logarithms, which assumes that they are symmetric.
    """
    tail, observed = tail_of(confidence), replicates(finite(runs), sessions, np.median)
    if refusal := observed.too_few(2, _NO_SPREAD):
        return refusal
    values = observed.values
    if 0.5 ** len(values) <= tail:
        method, (low, high) = "order statistics, interpolated", _enclosing_median(np.sort(values), tail)
    elif (values > 0).all():
        method, (low, high) = "t of logarithms", multiplied(student(np.log(values), tail))
    else:
        method, (low, high) = "t", student(values, tail)
    return Interval(float(np.median(values)), low, high, confidence, method, observed.n)


def geometric_interval(runs: ArrayLike, confidence: float = 0.95, sessions: Sequence[Hashable] | None = None) -> Interval | NotSupported:
    """An interval of the geometric mean of positive runs, or of sessions: Student's t of the logarithms."""
    observed = replicates(np.log(positive(runs)), sessions, np.mean)
    if refusal := observed.too_few(2, _NO_SPREAD):
        return refusal
    low, high = multiplied(student(observed.values, tail_of(confidence)))
    return Interval(float(np.exp(observed.values.mean())), low, high, confidence, "t of logarithms", observed.n)


def olympic_interval(runs: ArrayLike, dropped: int = 1, confidence: float = 0.95) -> Interval | NotSupported:
    """An interval of the mean without the `dropped` least and greatest runs. Two more runs than are dropped at least.

    Tukey and McLaughlin, *Less vulnerable confidence and significance procedures for location* (Sankhya A 25, 1963): Student's t of a
    trimmed mean, with the spread of the winsorized values, as many degrees of freedom as runs are left, less one.
    """
    tail, values = tail_of(confidence), np.sort(finite(runs))
    n, left = len(values), len(values) - 2 * dropped
    if left < 2:
        return NotSupported("what is left after dropping the best and the worst has no spread", "run", n, 2 * dropped + 2)
    winsorized = np.clip(values, values[dropped], values[n - dropped - 1])
    half = -stdtrit(left - 1, tail) * winsorized.std(ddof=1) * np.sqrt(n) / left
    mean = float(values[dropped : n - dropped].mean())
    return Interval(mean, mean - float(half), mean + float(half), confidence, "t of a trimmed mean", {"run": n})


def student(values: Floats, tail: float) -> tuple[float, float]:
    """Student's interval of a mean."""
    half = -stdtrit(len(values) - 1, tail) * values.std(ddof=1) / np.sqrt(len(values))
    return float(values.mean() - half), float(values.mean() + half)


def multiplied(ends: tuple[float, float]) -> tuple[float, float]:
    """The ends of an interval of logarithms, as what they are the logarithms of."""
    return float(np.exp(ends[0])), float(np.exp(ends[1]))


def _cox(logs: Floats, tail: float) -> tuple[float, float]:
    n, variance = len(logs), logs.var(ddof=1)
    centre = logs.mean() + variance / 2
    half = -stdtrit(n - 1, tail) * np.sqrt(variance / n + variance**2 / (2 * (n - 1)))
    return float(np.exp(centre - half)), float(np.exp(centre + half))


def _enclosing_median(ordered: Floats, tail: float) -> tuple[float, float]:
    """Between the narrowest interval [X(k), X(n+1-k)] that covers enough and the next one inwards."""
    n = len(ordered)
    k = next(rank for rank in range(1, n) if bdtr(rank, n, 0.5) > tail)
    outer, inner = bdtr(k - 1, n, 0.5), bdtr(k, n, 0.5)  # what each leaves uncovered on one side
    share = (tail - outer) / (inner - outer)
    inwards = (n - k) * share / (k + (n - 2 * k) * share)
    low = (1 - inwards) * ordered[k - 1] + inwards * ordered[k]
    high = (1 - inwards) * ordered[n - k] + inwards * ordered[n - k - 1]
    return float(low), float(high)


def _bca_mean(values: Floats, tail: float) -> tuple[float, float]:
    """Efron, *Better bootstrap confidence intervals* (JASA 82, 1987), with the tails that Hesterberg, *What teachers should know about the
    bootstrap* (The American Statistician 69, 2015), section 5.3, expands for the bootstrap's narrowness. The draws are seeded by the
    values, in RandomState's stream, which numpy keeps for ever (NEP 19): the same values have the same interval everywhere."""
    n, ordered = len(values), np.sort(values)
    mean = ordered.mean()
    deviations = ordered - mean  # the jackknife's, but for a factor
    spread = float((deviations**2).sum())
    if spread == 0:
        return float(mean), float(mean)
    random = np.random.RandomState(np.frombuffer(ordered.tobytes(), dtype=np.uint32))
    rows = max(1, _AT_ONCE // n)
    drawn = [
        ordered[random.randint(0, n, (min(rows, _RESAMPLES - start), n))].mean(axis=1) for start in range(0, _RESAMPLES, rows)
    ]
    means = np.sort(np.concatenate(drawn))
    bias = ndtri(((means < mean).mean() + (means <= mean).mean()) / 2)
    acceleration = float((deviations**3).sum()) / (6 * spread**1.5)
    z = np.sqrt(n / (n - 1)) * stdtrit(n - 1, np.array([tail, 1 - tail]))
    low, high = np.quantile(means, ndtr(bias + (bias + z) / (1 - acceleration * (bias + z))))
    return float(low), float(high)
