"""One number for many: the means and spreads that benchmark rules ask for."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from warehouse.statistics.interval import NotSupported
from warehouse.statistics.observations import finite, positive


def olympic_mean(values: ArrayLike, dropped: int = 1) -> float | NotSupported:
    """The mean without the `dropped` least and the `dropped` greatest values.

    MLPerf Training rules, *Benchmark results*: the fastest and the slowest run are dropped, four of each of the forty runs of
    3D U-Net. A run that did not converge may be the slowest that is dropped: pass infinity for it.
    """
    array = np.sort(np.asarray(values, dtype=np.float64).ravel())
    if np.isnan(array).any():
        raise ValueError("values must be numbers: leave missing values out, and count them")
    if len(array) < 2 * dropped + 1:
        return NotSupported("the mean of what is left after dropping the best and the worst", "run", len(array), 2 * dropped + 1)
    return float(array[dropped : len(array) - dropped].mean())


def geometric_mean(ratios: ArrayLike) -> float:
    """The mean of ratios that does not depend on which side is the base.

    Fleming and Wallace, *How not to lie with statistics* (CACM 29(3), 1986). Raises ValueError for no ratios, or one that is not positive.
    """
    array = positive(ratios)
    if not len(array):
        raise ValueError("a mean of no ratios")
    return float(np.exp(np.log(array).mean()))


def variation(values: ArrayLike) -> float | NotSupported:
    """The coefficient of variation: the sample standard deviation as a share of the mean."""
    array = finite(values)
    if len(array) < 2:
        return NotSupported("one value has no spread", "run", len(array), 2)
    if array.mean() == 0:
        raise ValueError("the variation of values with mean zero is undefined")
    return float(array.std(ddof=1) / abs(array.mean()))
