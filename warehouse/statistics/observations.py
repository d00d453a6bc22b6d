"""What every question does with its numbers first: check them, and reduce them to the replicates of its top level."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warehouse.statistics.interval import Level, NotSupported

Floats: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True)
class Replicates:
    """Independent values, and how many observations there are of each level that they cover, the top level first."""

    values: Floats
    n: dict[Level, int]

    @property
    def level(self) -> Level:
        return next(iter(self.n))

    def too_few(self, needs: int, reason: str) -> NotSupported | None:
        return NotSupported(reason, self.level, len(self.values), needs) if len(self.values) < needs else None


def finite(values: ArrayLike) -> Floats:
    """The values as one row of floats. Raises ValueError where a value is NaN or infinite."""
    array = np.asarray(values, dtype=np.float64).ravel()
    if not np.isfinite(array).all():
        raise ValueError("values must be finite: leave missing values out, and count them")
    return array


def positive(values: ArrayLike) -> Floats:
    """The same for what has a logarithm. Raises ValueError where a value is not positive."""
    array = finite(values)
    if len(array) and array.min() <= 0:
        raise ValueError("ratios and geometric means need positive values")
    return array


def last_digit(values: ArrayLike) -> float:
    """What one is worth in the last decimal place that any of the values has: 0.1 of 12, 12.5 and 13. Zero has no place."""
    return min((10.0 ** int(Decimal(repr(float(value))).normalize().as_tuple().exponent) for value in finite(values) if value), default=1.0)


def grouped(values: Floats, groups: Sequence[Hashable]) -> list[Floats]:
    """The values of each group, in the order in which the groups first appear. Raises ValueError for another number of groups."""
    if len(groups) != len(values):
        raise ValueError(f"{len(values)} values, but {len(groups)} names of groups")
    places: dict[Hashable, list[int]] = {}
    for place, group in enumerate(groups):
        places.setdefault(group, []).append(place)
    return [values[found] for found in places.values()]


def replicates(runs: Floats, sessions: Sequence[Hashable] | None, reduce: Callable[[Floats], float]) -> Replicates:
    """The runs themselves; or where their sessions are known, one value a session: the runs of a session share what it did to them."""
    if sessions is None:
        return Replicates(runs, {"run": len(runs)})
    means = np.array([reduce(group) for group in grouped(runs, sessions)], dtype=np.float64)
    return Replicates(means, {"session": len(means), "run": len(runs)})


def tail_of(confidence: float) -> float:
    """What is left on each side. Raises ValueError where the confidence is not between 0 and 1."""
    if not 0 < confidence < 1:
        raise ValueError(f"a confidence is between 0 and 1, not {confidence}")
    return round((1 - confidence) / 2, 12)  # 0.05 for 0.9: a rank test of 3 against 3 reaches just that
