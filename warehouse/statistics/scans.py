"""Many tests at once: which findings of a scan are significant."""

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
    array = finite(p_values)
    if len(array) and not (0 <= array.min() and array.max() <= 1):
        raise ValueError("p-values are between 0 and 1")
    n, order = len(array), np.argsort(array, kind="stable")
    steps = np.minimum(1.0, array[order] * n / np.arange(1, n + 1))
    adjusted = np.empty(n)
    adjusted[order] = np.minimum.accumulate(steps[::-1])[::-1]
    return adjusted
