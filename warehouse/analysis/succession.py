"""What a detector of long series cannot see: variants of a case that replaced each other, moves of a case to another machine, and single
runs that stand out among few.

Where a variant (another software, script or parameter) ended before the next began, the place of the change is known beforehand,
and a handful of runs on each side are enough to suspect a change. They never confirm one: nothing says what else changed between them. So it is
where a case ended on one machine and went on on another, whose series are two.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtr

from warehouse.analysis.compare import varying
from warehouse.analysis.comparison.judged_sides import Judged, judge_sides
from warehouse.analysis.conditions import Conditions, read_conditions
from warehouse.analysis.measurements import Measured, Measurement
from warehouse.statistics.comparisons import difference_p
from warehouse.statistics.observations import Floats

# Raised with any rule of this module: findings of another version are not comparable.
SUCCESSION = 2
_P = 0.001
_RUNS = 20  # of each variant, those nearest to the change
_FEWEST = 4  # runs among which one can stand out; sessions that show how sessions spread
_LATE = 0.1  # of the runs of a machine, how many may come after the first run on the next
_MACHINE = ("hardware", "testbed", "node")


@dataclass(frozen=True)
class Succession:
    """Two variants of a case, the later of which replaced the earlier: their runs nearest to the change, in the order of time, what
    differs, how they compare, and how likely so large a difference is without a change. What a machine is, however many variables say it, is
    one variable: `machine`."""

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
    """The successions that are suspicious, moves to other machines among them, and how many were tested. `statuses` is what the detector says of
    each series: of two variants of a series that is long enough for it the detector decides."""
    sql = (
        "with variant as (select indicator, metric, point, benchmark_case_id, comparable_key, any_value(series_key) as series_key, count(*) as n,"
        " any_value([workload, parameters]) as asked, min(started_at) as first, max(started_at) as last"
        f" from {found.measurements.sql} where started_at is not null and value > 0 group by all)"
        " select comparable_key, series_key, lag(comparable_key) over following, lag(series_key) over following,"
        " asked is not distinct from lag(asked) over following from variant"
        " window following as (partition by indicator, metric, point, benchmark_case_id order by first)"
        " qualify n >= 2 and lag(n) over following >= 2"
        " and first > max(last) over (following rows between unbounded preceding and 1 preceding) order by 1, 3"
    )
    suspicious, tested = _moves(found, threshold)
    for after_key, after_series, before_key, before_series, is_same_work in found.con.execute(sql).fetchall():
        if after_series == before_series and statuses.get(after_series) != "insufficient":
            continue
        if after_series != before_series and is_same_work:
            continue  # a move
        before = found.read("m.comparable_key = ? and m.started_at is not null", [before_key])[-_RUNS:]
        after = found.read("m.comparable_key = ? and m.started_at is not null", [after_key])[:_RUNS]
        if {each.session for each in before} & {each.session for each in after}:
            continue  # a sweep of parameters in one session replaces nothing
        p = difference_p(*(np.log([each.value for each in side]) for side in (before, after)))
        if not isinstance(p, float):
            continue
        tested += 1
        conditions = read_conditions(found, {each.run_id for each in (*before, *after)})
        suspicious += _suspicious(before, after, _variables(before, after, conditions), p, threshold)
    return suspicious, tested


def _moves(found: Measured, threshold: float) -> tuple[list[Succession], int]:
    """The same work on another machine: each series against the one that ended last before it began, of the same metric, case, workload and
    parameters. A tenth of the earlier runs may come later, because machines are handed over in days; machines that run side by side are no move."""
    same = ("indicator", "metric", "point", "unit", "better", "benchmark_case_id", "workload", "parameters")
    sql = (
        f"with point as (select * from {found.measurements.sql} where started_at is not null),"
        f" series as (select {', '.join(same)}, series_key, min(started_at) as first, max(started_at) as last, count(*) as n"
        " from point group by all having count(*) >= 2 and min(value) > 0),"
        " pair as (select b.series_key as after_key, a.series_key as before_key, b.first, a.last, a.n from series as b inner join series as a"
        f" on a.first < b.first and a.last < b.last and {' and '.join(f'a.{name} is not distinct from b.{name}' for name in same)}),"
        " handed as (select pair.after_key, pair.before_key, pair.last from pair left join point"
        " on point.series_key = pair.before_key and point.started_at >= pair.first"
        f" group by pair.after_key, pair.before_key, pair.last, pair.n having count(point.run_id) <= {_LATE} * pair.n),"
        " move as (select after_key, before_key from handed qualify row_number() over (partition by after_key order by last desc, before_key) = 1)"
        " select 'before', move.after_key, point.run_id, point.series_key from move inner join point on point.series_key = move.before_key"
        f" qualify row_number() over (partition by move.after_key order by point.started_at desc, point.run_id desc) <= {_RUNS}"
        " union all select 'after', move.after_key, point.run_id, point.series_key from move inner join point on point.series_key = move.after_key"
        f" qualify row_number() over (partition by move.after_key order by point.started_at, point.run_id) <= {_RUNS}"
    )
    rows = found.con.execute(sql).fetchall()
    if not rows:
        return [], 0
    where = "(m.series_key, m.run_id) in (select (unnest(?::varchar[]), unnest(?::varchar[])))"
    measurements = found.read(where, [[row[3] for row in rows], [row[2] for row in rows]])
    of_series: dict[str, list[Measurement]] = defaultdict(list)
    for each in measurements:
        of_series[each.series_key].append(each)
    runs: dict[tuple[str, str], set[str]] = defaultdict(set)
    series: dict[tuple[str, str], str] = {}
    for side, move, run_id, series_key in rows:
        runs[move, side].add(run_id)
        series[move, side] = series_key
    suspicious: list[Succession] = []
    moves = sorted({move for move, _ in series})
    for move in moves:
        before, after = ([each for each in of_series[series[move, side]] if each.run_id in runs[move, side]] for side in ("before", "after"))
        suspicious += _suspicious(before, after, _variables(before, after, {}), _move_p(before, after), threshold)
    return suspicious, len(moves)


def _move_p(before: Sequence[Measurement], after: Sequence[Measurement]) -> float:
    """How likely so large a difference is without a change: of sessions where the earlier machine has enough to show how they spread, for the later
    one may have one; else of runs. Student's t with the pooled variance."""
    sides = [_session_means(side) for side in (before, after)]
    if len(sides[0]) < _FEWEST:
        p = difference_p(*(np.log([each.value for each in side]) for side in (before, after)))
        return p if isinstance(p, float) else 1.0
    freedom = len(sides[0]) + len(sides[1]) - 2
    variance = sum(((side - side.mean()) ** 2).sum() for side in sides) / freedom
    distance = abs(sides[0].mean() - sides[1].mean())
    if variance == 0:
        return float(distance == 0)
    return float(2 * stdtr(freedom, -distance / np.sqrt(variance * (1 / len(sides[0]) + 1 / len(sides[1])))))


def _session_means(side: Sequence[Measurement]) -> Floats:
    of_session: dict[str, list[float]] = defaultdict(list)
    for each in side:
        of_session[each.session].append(each.value)
    return np.array([float(np.log(values).mean()) for values in of_session.values()])


def _suspicious(
    before: Sequence[Measurement], after: Sequence[Measurement], variables: tuple[str, ...], p: float, threshold: float
) -> list[Succession]:
    """The succession of two sides, if they differ."""
    if p > _P:
        return []
    judged = judge_sides(before, after, threshold, is_exploratory=len(variables) > 1)
    return [Succession(tuple(before), tuple(after), variables, judged, p)] if judged.outcome else []


def _variables(before: Sequence[Measurement], after: Sequence[Measurement], conditions: Mapping[str, Conditions]) -> tuple[str, ...]:
    found = varying(before, after, conditions)
    others = tuple(name for name in found if name not in _MACHINE)
    return (*others, "machine") if others != found else found


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
