"""Percentiles of the requests of one run, from order statistics alone: nothing is assumed about how latencies are distributed.

An interval here covers the requests of that run. What another run would give is a question for `levels`.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import bdtr

from warehouse.statistics.interval import Interval, NotSupported
from warehouse.statistics.observations import Floats, finite, tail_of


def quantile_interval(values: ArrayLike, quantile: float, confidence: float = 0.95) -> Interval | NotSupported:
    """An interval of a quantile with equal tails, between two of the values: [X(l), X(u)] covers it with probability
    B(u-1; n, q) - B(l-1; n, q), at least `confidence`, whatever the distribution. The estimate is Hyndman and Fan's type 7, the
    linear interpolation that SQL's `quantile_cont` gives.

    David and Nagaraja, *Order Statistics* (3rd edition, 2003), section 7.1. Requests are taken as independent.
    """
    tail = tail_of(confidence)
    ordered = np.sort(finite(values))
    n, needs = len(ordered), fewest_for_interval(quantile, confidence)
    if n < needs:
        return NotSupported(f"no two values enclose the {quantile:g} quantile with {confidence:.0%} confidence", "request", n, needs)
    low, high = _last_rank(n, quantile, tail), n + 1 - _last_rank(n, 1 - quantile, tail)
    estimate = float(np.quantile(ordered, quantile))
    return Interval(estimate, float(ordered[low - 1]), float(ordered[high - 1]), confidence, "order statistics", {"request": n})


def quantile_bound(values: ArrayLike, quantile: float, confidence: float = 0.99) -> float | NotSupported:
    """The least of the values that lies above the quantile with the confidence: a one-sided upper bound.

    The same tail of the binomial distribution as in MLPerf Inference's *Early stopping*, whose estimate is the next greater value.
    """
    ordered = np.sort(finite(values))
    n, needs = len(ordered), fewest_for_bound(quantile, confidence)
    if n < needs:
        return NotSupported(f"no value bounds the {quantile:g} quantile with {confidence:.0%} confidence", "request", n, needs)
    return float(ordered[n - _last_rank(n, 1 - quantile, 1 - confidence)])


def median_unbiased(ordered: Floats, quantile: float) -> float:
    """The estimate to compare runs by: Hyndman and Fan's type 8, *Sample quantiles in statistical packages* (1996).

    Type 7 is too low in the tail: of 500 log-normal latencies with a spread of 0.5 its p99 is 3 % below the true one, which is as
    much as ten runs differ in their mean.
    """
    return float(np.quantile(ordered, quantile, method="median_unbiased"))


@lru_cache(maxsize=256)
def fewest_for_interval(quantile: float, confidence: float = 0.95) -> int:
    """The fewest values between which an interval with equal tails exists: 368 for p99 at 95 %, 6 for the median."""
    tail = tail_of(confidence)
    _check_quantile(quantile)
    # The least value is above the quantile with (1 - q)^n, the greatest below it with q^n.
    return int(np.ceil(np.log(tail) / np.log(max(quantile, 1 - quantile)) - 1e-9))


@lru_cache(maxsize=256)
def fewest_for_bound(quantile: float, confidence: float = 0.99, above: int = 0) -> int:
    """The fewest values of which `above` may lie above an upper bound of the quantile: the least n with
    P[Bin(n, 1-q) <= above] <= 1 - confidence. For p99 at 99 %: 459, 662, 838 with 0, 1, 2 above.

    MLPerf Inference rules, *Early stopping*, where at least one query is above: 64 for p90, 662 for p99.
    """
    tail_of(confidence)
    _check_quantile(quantile)
    low, high = above, 2 * (above + 1)
    while bdtr(above, high, 1 - quantile) > 1 - confidence:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if bdtr(above, middle, 1 - quantile) > 1 - confidence else (low, middle)
    return high


def _last_rank(n: int, quantile: float, tail: float) -> int:
    """The greatest rank l with B(l-1; n, q) <= tail; 0 where there is none."""
    low, high = 0, n + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if bdtr(middle - 1, n, quantile) <= tail else (low, middle)
    return low


def _check_quantile(quantile: float) -> None:
    if not 0 < quantile < 1:
        raise ValueError(f"a quantile is between 0 and 1, not {quantile}")
