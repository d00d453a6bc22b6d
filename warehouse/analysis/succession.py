"""What a detector of long series cannot see: variants of a case that replaced each other, and single runs that stand out among few.

Where a variant (another software, script, parameter or machine) ended before the next began, the place of the change is known beforehand,
and a handful of runs on each side are enough to suspect a change. They never confirm one: nothing says what else changed between them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtr

from warehouse.analysis.compare import varying
from warehouse.analysis.comparison.judged_sides import Judged, judge_sides
from warehouse.analysis.conditions import read_conditions
from warehouse.analysis.measurements import Measured, Measurement
from warehouse.statistics.comparisons import difference_p

# Raised with any rule of this module: findings of another version are not comparable.
SUCCESSION = 1
_P = 0.001
_RUNS = 20  # of each variant, those nearest to the change
_FEWEST = 4  # runs among which one can stand out


@dataclass(frozen=True)
class Succession:
    """Two variants of a case, the later of which replaced the earlier: their runs nearest to the change, in the order of time, what
    differs, how they compare, and how likely so large a difference is without a change."""

    before: tuple[Measurement, ...]
    after: tuple[Measurement, ...]
    variables: tuple[str, ...]
    judged: Judged
    p: float


@dataclass(frozen=True)
class Outlier:
    """A run whose value stands out among those of its series: `expected` is the geometric mean of the others, `p` how likely one of so many
    runs lies so far off by chance."""

    measurement: Measurement
    expected: float
    others: tuple[str, ...]
    p: float


def successions(found: Measured, statuses: Mapping[str, str], threshold: float) -> tuple[list[Succession], int]:
    """The successions that are suspicious, and how many were tested. `statuses` is what the detector says of each series: of two variants
    of a series that is long enough for it the detector decides."""
    sql = (
        "with variant as (select indicator, metric, point, benchmark_case_id, comparable_key, any_value(series_key) as series_key, count(*) as n,"
        f" min(started_at) as first, max(started_at) as last from {found.measurements.sql} where started_at is not null and value > 0 group by all)"
        " select comparable_key, series_key, lag(comparable_key) over following, lag(series_key) over following from variant"
        " window following as (partition by indicator, metric, point, benchmark_case_id order by first)"
        " qualify n >= 2 and lag(n) over following >= 2"
        " and first > max(last) over (following rows between unbounded preceding and 1 preceding) order by 1, 3"
    )
    suspicious, tested = [], 0
    for after_key, after_series, before_key, before_series in found.con.execute(sql).fetchall():
        if after_series == before_series and statuses.get(after_series) != "insufficient":
            continue
        before = found.read("m.comparable_key = ? and m.started_at is not null", [before_key])[-_RUNS:]
        after = found.read("m.comparable_key = ? and m.started_at is not null", [after_key])[:_RUNS]
        if {each.session for each in before} & {each.session for each in after}:
            continue  # a sweep of parameters in one session replaces nothing
        p = difference_p(*(np.log([each.value for each in side]) for side in (before, after)))
        if not isinstance(p, float):
            continue
        tested += 1
        conditions = read_conditions(found, {each.run_id for each in (*before, *after)})
        variables = varying(before, after, conditions)
        judged = judge_sides(before, after, threshold, is_exploratory=len(variables) > 1)
        if p <= _P and judged.outcome:
            suspicious.append(Succession(tuple(before), tuple(after), variables, judged, p))
    return suspicious, tested


def outliers(found: Measured, statuses: Mapping[str, str], threshold: float) -> Iterator[Outlier]:
    """The run that stands out most in each series that is too short for the detector, or has no times: its residual from the others,
    studentised, against Student's t for the worst of so many (Grubbs, *Sample criteria for testing outlying observations*, Annals of
    Mathematical Statistics 21, 1950)."""
    sql = (
        f"select series_key, list(value order by run_id), list(run_id order by run_id) from {found.measurements.sql}"
        " where series_key not in (select unnest(?::varchar[])) group by series_key"
        f" having count(*) >= {_FEWEST} and min(value) > 0 order by series_key"
    )
    long = [key for key, status in statuses.items() if status != "insufficient"]
    for series_key, values, run_ids in found.con.execute(sql, [long]).fetchall():
        logs = np.log(values)
        place = int(np.abs(logs - np.median(logs)).argmax())
        others = np.delete(logs, place)
        distance, spread, n = abs(logs[place] - others.mean()), others.std(ddof=1), len(logs)
        if distance <= np.log1p(threshold):
            continue
        p = 0.0 if spread == 0 else min(1.0, float(2 * n * stdtr(n - 2, -distance / (spread * np.sqrt(1 + 1 / (n - 1))))))
        if p <= _P:
            (measurement,) = found.read("m.series_key = ? and m.run_id = ?", [series_key, run_ids[place]])
            yield Outlier(measurement, float(np.exp(others.mean())), tuple(np.delete(run_ids, place).tolist()), p)
