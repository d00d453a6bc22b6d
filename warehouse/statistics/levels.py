"""The two levels of variation that a comparison of runs sees: runs within sessions, and sessions."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from warehouse.statistics.observations import Floats, finite, grouped


@dataclass(frozen=True)
class VarianceComponents:
    """What each level adds to the variance of one run's value. None: the observations have no two members of the level to compare.
    Zero: the members differ no more than what is below them explains."""

    session: float | None
    run: float | None


def variance_components(values: ArrayLike, sessions: Sequence[Hashable]) -> VarianceComponents:
    """How much of the variance of runs comes from sessions and how much from the runs of one session, in the square of the values'
    unit. Take logarithms first for shares of a positive quantity.

    Kalibera and Jones, *Quantifying performance changes with effect size confidence intervals* (2012), section 6.1, with the means of
    unequal groups weighted alike, so that the estimates stay unbiased.
    """
    groups = grouped(finite(values), sessions)
    run = _within(groups)
    from_runs = np.mean([(run or 0.0) / len(group) for group in groups])
    between = _within([np.array([group.mean() for group in groups], dtype=np.float64)])
    return VarianceComponents(None if between is None else max(0.0, between - float(from_runs)), run)


def _within(groups: Sequence[Floats]) -> float | None:
    """The variance within groups, pooled; None where no group has two members."""
    freedom = sum(len(group) - 1 for group in groups)
    return float(sum(((group - group.mean()) ** 2).sum() for group in groups)) / freedom if freedom else None
