"""The three levels of variation together: requests within runs, runs within sessions."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from warehouse.statistics.interval import Interval, NotSupported
from warehouse.statistics.means import geometric_interval
from warehouse.statistics.observations import Floats, finite, grouped, positive
from warehouse.statistics.quantiles import fewest_for_interval, median_unbiased


def typical_quantile_interval(
    requests: ArrayLike,
    runs: Sequence[Hashable],
    quantile: float,
    confidence: float = 0.95,
    sessions: Sequence[Hashable] | None = None,
) -> Interval | NotSupported:
    """An interval of a percentile over runs: of the geometric mean of each run's own percentile, which is that of a typical run.

    `runs` and `sessions` name the run and the session of each request. The run is the replicate: a 95 % interval from
    all requests together covers 51 to 62 % where runs of 2,000 requests differ by 10 %, and more runs make it no better. Each run must
    support an interval of its own. (A mean over requests needs no function of its own: `mean_interval` of the runs' means.)
    """
    values = positive(requests)
    groups = grouped(values, runs)
    needs, least = fewest_for_interval(quantile, confidence), min((len(group) for group in groups), default=0)
    if least < needs:
        return NotSupported(f"a run has too few requests for its {quantile:g} quantile", "request", least, needs)
    of_runs = None if sessions is None else _session_of_each_run(runs, sessions)
    found = geometric_interval([median_unbiased(group, quantile) for group in groups], confidence, of_runs)
    if isinstance(found, NotSupported):
        return found
    return Interval(found.estimate, found.low, found.high, confidence, f"{found.method}, one quantile a run", {**found.n, "request": len(values)})


@dataclass(frozen=True)
class VarianceComponents:
    """What each level adds to the variance of one value. None: the observations have no two members of the level to compare. Zero: the
    members differ no more than what is below them explains."""

    session: float | None
    run: float | None
    request: float | None


def variance_components(
    values: ArrayLike, runs: Sequence[Hashable] | None = None, sessions: Sequence[Hashable] | None = None
) -> VarianceComponents:
    """How much of the variance comes from sessions, from runs and from requests, in the square of the values' unit. Without `runs`
    each value is a run. Take logarithms first for shares of a positive quantity.

    Kalibera and Jones, *Quantifying performance changes with effect size confidence intervals* (2012), section 6.1, with the means of
    unequal groups weighted alike, so that the estimates stay unbiased.
    """
    array = finite(values)
    requests = grouped(array, runs) if runs is not None else [array[place : place + 1] for place in range(len(array))]
    request = _within(requests)
    means = np.array([group.mean() for group in requests], dtype=np.float64)
    # What the requests alone do to the mean of each run.
    from_requests = np.array([(request or 0.0) / len(group) for group in requests], dtype=np.float64)
    if sessions is None:
        return VarianceComponents(None, _excess(_within([means]), float(from_requests.mean())), request)
    of_runs = _session_of_each_run(runs, sessions) if runs is not None else sessions
    groups, shares = grouped(means, of_runs), grouped(from_requests, of_runs)
    freedom = sum(len(group) - 1 for group in groups)
    below = sum((len(group) - 1) * share.mean() for group, share in zip(groups, shares, strict=True)) / freedom if freedom else 0.0
    run = _excess(_within(groups), float(below))
    from_runs = np.mean([((run or 0.0) + share).sum() / len(share) ** 2 for share in shares])
    session = _excess(_within([np.array([group.mean() for group in groups], dtype=np.float64)]), float(from_runs))
    return VarianceComponents(session, run, request)


def _within(groups: Sequence[Floats]) -> float | None:
    """The variance within groups, pooled; None where no group has two members."""
    freedom = sum(len(group) - 1 for group in groups)
    return float(sum(((group - group.mean()) ** 2).sum() for group in groups)) / freedom if freedom else None


def _excess(variance: float | None, explained: float) -> float | None:
    return None if variance is None else max(0.0, variance - explained)


def _session_of_each_run(runs: Sequence[Hashable], sessions: Sequence[Hashable]) -> list[Hashable]:
    """Raises ValueError where a run has requests of two sessions."""
    if len(runs) != len(sessions):
        raise ValueError(f"{len(runs)} names of runs, but {len(sessions)} of sessions")
    found: dict[Hashable, Hashable] = {}
    for run, session in zip(runs, sessions, strict=True):
        if found.setdefault(run, session) != session:
            raise ValueError(f"run {run} is in two sessions")
    return list(found.values())
