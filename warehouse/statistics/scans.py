"""Many tests at once: which findings of a scan stand."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from warehouse.statistics.observations import Floats, finite


def benjamini_hochberg(p_values: ArrayLike) -> Floats:
    """Each p-value, adjusted for being one of so many: keep the findings with at most q, and the share of false ones among them is
    expected to be at most q. In the order given.

    Benjamini and Hochberg, *Controlling the false discovery rate* (JRSS B 57, 1995). It holds for independent tests and for tests that
    depend on each other positively (Benjamini and Yekutieli, Annals of Statistics 29, 2001), such as metrics that get slower together.
    """
    return _step_up(finite(p_values), 1.0)


def benjamini_yekutieli(p_values: ArrayLike) -> Floats:
    """The same whatever the dependence, such as ratios that share a base, at the price of a factor of about ln(n).

    Benjamini and Yekutieli, *The control of the false discovery rate in multiple testing under dependency* (Annals of Statistics 29, 2001).
    """
    array = finite(p_values)
    return _step_up(array, float((1 / np.arange(1, len(array) + 1)).sum()))


def _step_up(p_values: Floats, factor: float) -> Floats:
    if len(p_values) and not (0 <= p_values.min() and p_values.max() <= 1):
        raise ValueError("p-values are between 0 and 1")
    n, order = len(p_values), np.argsort(p_values, kind="stable")
    steps = np.minimum(1.0, p_values[order] * factor * n / np.arange(1, n + 1))
    adjusted = np.empty(n)
    adjusted[order] = np.minimum.accumulate(steps[::-1])[::-1]
    return adjusted
