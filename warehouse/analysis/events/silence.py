"""Which series stopped getting data: *stale* ones, runs that lack a metric, and what has been retired. One line a case, not one a metric."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from warehouse.analysis.labels import labels
from warehouse.analysis.measurements import Measured
from warehouse.errors import counted

_STALE = 3  # mean gaps between sessions without a run
_FOR_GAPS = 5  # sessions that have a mean gap
_RETIRED_GAPS = 10  # mean gaps without a run, where other series of the case go on
_RETIRED = timedelta(days=90)  # without a run
_LISTED = 3  # metrics and cases in a line
_SHORT = 8  # characters of the key of a machine that has no name



@dataclass(frozen=True)
class SeriesState:
    """One series: what the detector says of it, and whether data stopped coming. `is_stale`: no run came for three mean gaps between its
    sessions. `is_retired`: it is stale, and no run came for 90 days, or for ten mean gaps while others of its case went on. `missing` are the runs
    since then that should have this metric: of the same case, machine and point, or without any measurement, failed ones among them."""

    series_key: str
    indicator: str
    metric: str
    point: str
    unit: str | None
    benchmark_case_id: str | None
    points: int
    sessions: int
    status: str
    first_at: datetime | None
    last_at: datetime | None
    is_stale: bool
    missing: int
    is_retired: bool = False
    hardware: str | None = None
    testbed: str | None = None
    node: str | None = None
    last_run: str | None = None


@dataclass(frozen=True)
class Silence:
    """Series of one case and machine that get no data, or all that are retired: since when, and which metrics."""

    kind: Literal["missing data", "stale", "retired"]
    subjects: tuple[str, ...]
    metrics: tuple[str, ...]
    series: int
    runs: int
    since: datetime
    last_run: str | None = None  # of these series, the one that ran last

    def __str__(self) -> str:
        where = _few(self.subjects)
        if self.kind == "missing data":
            return f"missing data: {where}: {counted(self.runs, 'run')} since {self.since:%Y-%m-%d} without {_few(self.metrics)}"
        if self.kind == "stale":
            return f"stale: {where}: no run since {self.since:%Y-%m-%d} ({counted(self.series, 'series', 'series')})"
        return f"retired: {counted(self.series, 'series', 'series')} of {where}: the last run was on {self.since:%Y-%m-%d}"


def series_states(found: Measured, statuses: Mapping[str, str], lone: Collection[str], now: datetime) -> tuple[SeriesState, ...]:
    """The state of every series, those without times included. `lone` are the series in which a run stands out."""
    constant = ("indicator", "metric", "point", "unit", "benchmark_case_id", "hardware", "testbed")
    sql = (
        f"with series as (select series_key, {', '.join(f'any_value({name}) as {name}' for name in constant)}, arg_max(node, started_at) as node,"
        " arg_max(run_id, started_at) as last_run,"
        " count(*) as points, count(distinct session) as sessions, min(started_at) as first_at, max(started_at) as last_at"
        f" from {found.measurements.sql} group by series_key)"
        " select series_key, max(last_at) over (partition by indicator, benchmark_case_id), indicator, metric, point, unit, benchmark_case_id,"
        " points, sessions, first_at, last_at, hardware, testbed, node, last_run from series order by indicator, metric, point, series_key"
    )
    missing = _missing(found)
    states = []
    for key, case_last, indicator, metric, point, unit, case, points, sessions, first, last, *machine in found.con.execute(sql).fetchall():
        status = "outlier" if key in lone else statuses.get(key, "insufficient")
        has_stopped = is_stale(first, last, sessions, now)
        is_retired = has_stopped and _is_retired(first, last, sessions, case_last, now)
        lacking = missing.get(key, 0)
        states.append(
            SeriesState(key, indicator, metric, point, unit, case, points, sessions, status, first, last, has_stopped, lacking, is_retired, *machine)
        )
    return tuple(states)


def is_stale(first: datetime | None, last: datetime | None, sessions: int, now: datetime) -> bool:
    """Whether data stopped coming in a series of so many sessions between these times."""
    return bool(first and last and sessions >= _FOR_GAPS and now - last > _STALE * (last - first) / (sessions - 1))


def _is_retired(first: datetime, last: datetime, sessions: int, case_last: datetime, now: datetime) -> bool:
    gap = (last - first) / (sessions - 1)
    return now - last > _RETIRED or (now - last > _RETIRED_GAPS * gap and case_last - last > _STALE * gap)


def silences(found: Measured, series: Sequence[SeriesState]) -> tuple[Silence, ...]:
    """What got no data, those that lack a metric first, then the stale, then in one line all that is retired."""
    silent = [each for each in series if each.is_stale or each.missing]
    names = labels(found, [each.series_key for each in silent]) if silent else {}
    groups: dict[tuple[str, ...], list[SeriesState]] = defaultdict(list)
    for each in silent:
        if each.is_retired:
            groups[("retired",)].append(each)
        else:
            case = each.benchmark_case_id or each.indicator
            where = each.node or names[each.series_key].gpu or (each.testbed or each.hardware or "")[:_SHORT]
            groups["missing data" if each.missing else "stale", f"{case} on {where}" if where else case].append(each)
    found_silences = [_silence(key, group, [names[each.series_key].metric for each in group]) for key, group in groups.items()]
    order = ("missing data", "stale", "retired")
    return tuple(sorted(found_silences, key=lambda each: (order.index(each.kind), -each.runs, -each.since.timestamp(), each.subjects)))


def _silence(key: tuple[str, ...], group: Sequence[SeriesState], metrics: Sequence[str]) -> Silence:
    last = [each.last_at for each in group if each.last_at]
    names = tuple(dict.fromkeys(metrics))
    subjects = key[1:] or tuple(dict.fromkeys(each.benchmark_case_id or each.indicator for each in group))
    kind: Literal["missing data", "stale", "retired"] = "retired" if key[0] == "retired" else "stale" if key[0] == "stale" else "missing data"
    since = min(last) if kind == "missing data" else max(last)
    newest = max((each for each in group if each.last_at), key=lambda each: (each.last_at, each.last_run), default=None)
    return Silence(kind, subjects, names, len(group), max(each.missing for each in group), since, newest.last_run if newest else None)


def _few(names: Sequence[str]) -> str:
    left = len(names) - _LISTED
    return ", ".join(names[:_LISTED]) + (f" and {left} more" if left > 0 else "")


def _missing(found: Measured) -> dict[str, int]:
    """How many runs of its case and workload, on its machine, began after the last point of each series and lack its metric; none where the table
    of runs does not say. A run that measured only other points of its case, as those of a sweep do, lacks nothing. A retracted run is not missing."""
    runs = found.runs
    needed = {"benchmark_case_id", "workload_spec_digest", "hardware_topology_key", "cluster_region_key", "started_at", "state", "mode"}
    if runs is None or not needed <= runs.columns or not {"workload", "hardware", "testbed"} <= found.measurements.columns:
        return {}
    measurements = found.measurements.sql
    sql = (
        "with last as (select series_key, any_value(indicator) as indicator, any_value(point) as point, any_value(parameters) as parameters,"
        " any_value(benchmark_case_id) as benchmark_case_id, any_value(workload) as workload, any_value(hardware) as hardware,"
        f" any_value(testbed) as testbed, max(started_at) as last_at from {measurements} group by series_key),"
        f" measured as (select distinct run_id, indicator, point, parameters from {measurements}),"
        f" silent as (select run_id from {runs.sql} where run_id not in (select run_id from {measurements}))"
        f" select last.series_key, count(*) from last inner join {runs.sql} as run on run.benchmark_case_id = last.benchmark_case_id"
        " and run.workload_spec_digest is not distinct from last.workload and run.hardware_topology_key is not distinct from last.hardware"
        " and run.cluster_region_key is not distinct from last.testbed and run.started_at > last.last_at"
        " left join measured on measured.run_id = run.run_id and measured.indicator = last.indicator and measured.point = last.point"
        " and measured.parameters is not distinct from last.parameters left join silent on silent.run_id = run.run_id"
        " where run.state = 'admitted' and run.mode = 'performance' and coalesce(measured.run_id, silent.run_id) is not null group by all"
    )
    return dict(found.con.execute(sql).fetchall())
