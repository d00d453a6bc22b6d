"""The share of requests that meet a condition, over runs; and how large what was never seen may be."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from math import expm1, log, sqrt

import numpy as np
from scipy import stats
from scipy.special import expit

from warehouse.statistics.interval import Interval, Level, NotSupported
from warehouse.statistics.observations import tail_of


def never_seen(trials: int, confidence: float, n: Mapping[Level, int], *, is_share: bool) -> Interval:
    """The interval of an event that none of `trials` independent ones has seen: of its share (Clopper and Pearson, *The use of confidence or
    fiducial limits*, Biometrika 26, 1934), else of its count in each (Garwood, *Fiducial limits for the Poisson distribution*, Biometrika
    28, 1936). Of a hundred trials 3.7 % at most: two-sided, where the rule of three is one-sided."""
    most = -log(tail_of(confidence)) / trials
    return Interval(0.0, 0.0, -expm1(-most) if is_share else most, confidence, f"exact, none seen in {trials}", n)


def share_interval(
    met: Sequence[int], total: Sequence[int], confidence: float = 0.95, sessions: Sequence[Hashable] | None = None
) -> Interval | NotSupported:
    """An interval of the share of requests that meet a condition: `met` of `total` in each run. The estimate is all that met it over all
    requests.

    The requests of a run are not independent, so the variance is that of the ratio over runs, or over `sessions` where the runs are of
    several (Cochran, *Sampling techniques*, 3rd edition, section 9.8); where all are alike, that of independent requests. The interval is on
    the scale of log odds with Student's t, which Dean and Pagano (*Evaluating confidence interval methods for binomial proportions in
    clustered surveys*, 2015) recommend. Raises ValueError for counts that cannot be.
    """
    if len(met) != len(total) or any(not 0 <= good <= count or count < 1 for good, count in zip(met, total, strict=True)):
        raise ValueError("a run meets it in fewer than no or more than all of its requests, or has none")
    names = list(sessions) if sessions is not None and len(set(sessions)) > 1 else list(range(len(met)))
    level: Level = "session" if names != list(range(len(met))) else "run"
    groups = list(dict.fromkeys(names))
    good = np.array([sum(each for each, name in zip(met, names, strict=True) if name == group) for group in groups], dtype=float)
    count = np.array([sum(each for each, name in zip(total, names, strict=True) if name == group) for group in groups], dtype=float)
    if len(groups) < 2:
        return NotSupported("how much runs differ is not known from one run", level, len(groups), 2)
    share = good.sum() / count.sum()
    centre = (good.sum() + 0.5) / (count.sum() + 1)  # inside of 0 and 1
    over_groups = len(groups) / (len(groups) - 1) * ((good - share * count) ** 2).sum() / count.sum() ** 2
    deviation = sqrt(over_groups or centre * (1 - centre) / count.sum()) / (centre * (1 - centre))
    reach = stats.t.ppf((1 + confidence) / 2, len(groups) - 1) * deviation
    middle = log(centre / (1 - centre))
    n: dict[Level, int] = {level: len(groups), **({"run": len(met)} if level == "session" else {}), "request": int(count.sum())}
    low, high = float(expit(middle - reach)), float(expit(middle + reach))
    return Interval(float(share), min(low, float(share)), max(high, float(share)), confidence, f"t on log odds, clustered by {level}", n)
