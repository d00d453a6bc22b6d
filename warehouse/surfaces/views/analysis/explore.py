"""Explore: one metric over time, a panel for each value of a facet, each point a run; or one series by its key."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from warehouse.analysis.labels import labels
from warehouse.analysis.measurements import VARIABLES, Measured, measured
from warehouse.analysis.metric_names import metric_names
from warehouse.analysis.names import engine_name, model_name
from warehouse.analysis.series import scan
from warehouse.analysis.times import parse_since
from warehouse.surfaces.parts import Chart, Choice, Column, Form, Page, Part, Table
from warehouse.surfaces.view import Parameter, View, Visit, address
from warehouse.transform.sql.duck import quote

_PATH = "/explore"
_RUN = "/runs/{run_id:path}"
_MOST = 2000  # points that are read, the newest
_MOST_ROWS = 50
_METRICS = 60
_SERIES = 60
# What panels and colours may be of: columns of the measurements, and of the dimensions that those have the keys of.
_FACETS = ("benchmark_case_id", "point", "node", "series_key", *VARIABLES)
_OF_DIMENSIONS = {
    **dict.fromkeys(("model", "precision"), ("main", "workload_dim", "workload_spec_digest", "workload")),
    **dict.fromkeys(("framework", "framework_version"), ("main", "software_version_dim", "software_version_key", "software")),
    **dict.fromkeys(("accelerator_name", "gpu_model"), ("main", "hardware_topology_dim", "hardware_topology_key", "hardware")),
    "cluster": ("main", "cluster_region_dim", "cluster_region_key", "testbed"),
}
_UNSETTLED = 10  # runs after a change that the detector called outliers before it knew of the change


def _answer(visit: Visit) -> Page:
    assert visit.build
    with measured(visit.build) as found:
        if not visit["metric"] and not visit["series"] and not visit["case"]:
            said = "Which metric over time? Each point is a run."
            return Page("Explore", (_form(visit), _metrics(found)), said, next_steps=_OTHERS)
        if not visit["metric"] and not visit["series"]:
            return Page("Explore", (_form(visit), _series_of(visit, found)), f"The series of {visit['case']}")
        return _drawn(visit, found)


def _metrics(found: Measured) -> Table:
    rows = found.con.execute(
        "select metric, any_value(indicator), any_value(unit), any_value(better), count(distinct run_id) as runs,"
        " count(distinct series_key) as series,"
        f" max(started_at) as last_at from {found.measurements.sql} group by metric order by runs desc, metric limit {_METRICS}"
    ).fetchall()
    ((total,),) = found.con.execute(f"select count(distinct metric) from {found.measurements.sql}").fetchall()
    columns = (
        Column("metric", link="/explore?metric={metric}"), Column("indicator"), Column("unit"), Column("better"), Column("runs", kind="number"),
        Column("series", kind="number"), Column("last_at", "last run", kind="moment"),
    )
    return Table("metrics", columns, tuple(rows), "Metrics", total=total, empty="the build has no measurement")


def _series_of(visit: Visit, found: Measured) -> Table:
    where, values = _where(visit, found)
    rows = found.con.execute(
        "select m.series_key, any_value(m.metric), any_value(m.point), any_value(m.unit), count(*) as n, count(distinct m.session) as sessions,"
        f" max(m.started_at) as last_at from {found.measurements.sql} as m where {where} group by m.series_key"
        f" order by n desc, 2, 3, 1 limit {_SERIES}", values,
    ).fetchall()
    counted = f"select count(distinct m.series_key) from {found.measurements.sql} as m where {where}"
    ((total,),) = found.con.execute(counted, values).fetchall()
    columns = (
        Column("series_key", is_hidden=True), Column("metric", link="/explore?series={series_key}"), Column("point"), Column("unit"),
        Column("runs", kind="number"), Column("sessions", kind="number"), Column("last_at", "last run", kind="moment"),
    )
    return Table("series", columns, tuple(rows), "Series", total=total, empty="no measurement is like that")


def _where(visit: Visit, found: Measured) -> tuple[str, list[Any]]:
    clauses, values = ["true"], []
    for name, column in (("series", "series_key"), ("metric", "metric"), ("case", "benchmark_case_id"), ("point", "point")):
        if visit[name]:
            clauses.append(f"m.{column} = ?" if name == "series" else f"m.{column} glob ?")
            values.append(visit[name])
    if visit["model"]:
        clauses.append(f"coalesce({_read(found, 'model')} glob ?, false)")
        values.append(visit["model"])
    if visit["since"]:
        clauses.append("m.started_at >= ?")
        values.append(parse_since(visit["since"], visit.now))
    return " and ".join(clauses), values


def _drawn(visit: Visit, found: Measured) -> Page:
    where, values = _where(visit, found)
    visit = replace(visit, values={**visit.values, **_apart(visit, found, where, values)})
    facet, by = visit["facet"], visit["by"]
    parts = [*(_read(found, name) for name in (facet, by)), _read(found, "framework"), _read(found, "framework_version")]
    rows = found.con.execute(
        "select m.run_id, m.started_at, m.value, m.unit, m.better, m.metric, m.point, m.benchmark_case_id, m.software, m.series_key, m.session,"
        f" {parts[0]} as facet, {parts[1]} as colour, {parts[2]} as framework, {parts[3]} as version from {found.measurements.sql} as m where {where}"
        f" order by m.started_at desc nulls last, m.run_id desc limit {_MOST}", values,
    ).fetchall()
    ((total, units, untimed),) = found.con.execute(
        "select count(*), count(distinct coalesce(m.unit, '')), count(*) filter (m.started_at is null)"
        f" from {found.measurements.sql} as m where {where}", values,
    ).fetchall()
    names = (
        "run_id", "started_at", "value", "unit", "better", "metric", "point", "case", "software", "series_key", "session", "facet", "colour",
        "framework", "version",
    )
    records = [dict(zip(names, row, strict=True)) for row in reversed(rows)]
    for shown, of in (("facet", facet), ("colour", by)):
        for record in records if of == "model" else ():
            record[shown] = record[shown] and model_name(record[shown])
    first = records[-1] if records else None
    if first:
        first |= {"called": metric_names(found.con).of(first["metric"], first["unit"])}
    notices = []
    if total > len(records):
        notices.append(f"The newest {len(records):,} of {total:,} measurements are drawn. Narrow the choice to see older ones.")
    if units > 1:
        notices.append("These measurements are in several units: choose one metric, or one point.")
    if untimed:
        notices.append(f"{untimed:,} measurements have no time in their evidence: they are drawn by value alone.")
    timed = [record for record in records if record["started_at"] is not None]
    notes, outliers = _annotated(visit, found, timed, total == len(records)) if timed else ({}, ())
    tables = [_trend(visit, timed, first, notes, outliers)] if timed else []
    if len(timed) < len(records):
        tables.append(_untimed(visit, [record for record in records if record["started_at"] is None], first))
    page_parts: list[Part] = [_form(visit), *(tables or [_trend(visit, [], first, {}, ())])]
    steps = {"What changed": "/changes"}
    if first and visit["series"]:
        steps["All series of the case"] = address(_PATH, case=first["case"])
        steps["The same metric of all cases"] = address(_PATH, metric=first["metric"], facet="benchmark_case_id")
    title = visit["metric"] or "Explore"
    if first:
        title = str(labels(found, {first["series_key"]})[first["series_key"]]) if visit["series"] else first["called"][0] if units == 1 else title
    better = {"lower": "lower is better", "higher": "higher is better"}.get(first["better"] if first else "", "no direction is better")
    said = f"{total:,} measurements · {better}" if first else "no measurement is like that"
    return Page(title, tuple(page_parts), said, notices=tuple(notices), crumbs=(("Explore", _PATH),), next_steps=steps)


def _apart(visit: Visit, found: Measured, where: str, values: Sequence[Any]) -> dict[str, str]:
    """What tells the runs apart where nobody says it: a panel for each model, a colour for each kind of GPU, where there are several."""
    if visit["facet"] or visit["by"] or visit["series"]:
        return {}
    chosen: dict[str, str] = {}
    for parameter, names in (("facet", ("model", "benchmark_case_id")), ("by", ("accelerator_name", "gpu_model", "framework_version"))):
        for name in names:
            ((count,),) = found.con.execute(
                f"select count(distinct {_read(found, name)}) from {found.measurements.sql} as m where {where}", values
            ).fetchall()
            if count > 1:
                chosen[parameter] = name
                break
    return chosen


def _version(record: Mapping[str, Any]) -> str:
    """The software of a run by its name, else by its key."""
    return engine_name(record["framework"], record["version"]) or f"software {record['version'] or record['software'][:12]}"


def _read(found: Measured, name: str | None) -> str:
    """A facet as SQL on a row `m`: a column of the measurements, or of a dimension. NULL where the build has no such table."""
    if not name:
        return "null"
    if name in _FACETS:
        return f"m.{quote(name)}::varchar"
    schema, table, key, column = _OF_DIMENSIONS[name]
    held = found.con.execute(
        "select count(*) from duckdb_columns() where schema_name = ? and table_name = ? and column_name in (?, ?)", [schema, table, key, name]
    ).fetchone()
    if held is None or held[0] != 2:
        return "null::varchar"
    return f"(select any_value(d.{name}::varchar) from {schema}.{table} as d where d.{key} = m.{column})"


def _trend(
    visit: Visit, records: Sequence[dict[str, Any]], first: dict[str, Any] | None, notes: Mapping[int, str], outliers: Collection[int]
) -> Table:
    """Values over time. In one series, a line stands where the software or the level changed, and runs that stand out are named."""
    columns = (
        Column("started_at", "start", kind="moment"), Column("run_id", "run", kind="code", link=_RUN),
        _value_column(first), Column("point", is_minor=True), Column("facet", _words(visit["facet"]) or "facet", is_hidden=not visit["facet"]),
        Column("colour", _words(visit["by"]) or "colour", is_hidden=not visit["by"]), Column("session", is_minor=True),
        Column("note", is_hidden=not notes), Column("state", kind="state", is_hidden=not outliers), Column("series_key", is_hidden=True),
        Column("level", is_hidden=True), Column("version", is_hidden=True),
    )
    rows = tuple(
        (
            record["started_at"], record["run_id"], record["value"], record["point"], record["facet"] or "not stated",
            record["colour"] or "not stated", record["session"], notes.get(place),
            "outlier" if place in outliers else None, record["series_key"],
            sum(start <= place for start in notes), _version(record) if record["version"] or record["software"] else None,
        )
        for place, record in enumerate(records)
    )
    chart = Chart(
        "trend", "started_at", "value", group="colour" if visit["by"] else None, facet="facet" if visit["facet"] else None, line="series_key",
        middle="level" if notes else "session", note="note" if notes else None, link=_RUN, logs=("y",) if visit["scale"] == "log" else (),
        state="state" if outliers else None, details=("version", "run_id"), is_own=visit["facet"] == "model",
        hatched=("outlier",),
    )
    return Table(
        "over_time", columns, rows, chart=chart, listed=_MOST_ROWS, is_folded=len(rows) > 40, empty="no measurement is like that"
    )


def _value_column(first: dict[str, Any] | None) -> Column:
    return Column("value", first["called"][0], kind="number", unit=first["called"][2]) if first else Column("value", kind="number")


def _untimed(visit: Visit, records: Sequence[dict[str, Any]], first: dict[str, Any] | None) -> Table:
    columns = (
        Column("run_id", "run", kind="code", link=_RUN), _value_column(first), Column("point"),
        Column("facet", _words(visit["facet"]) or "facet", is_hidden=not visit["facet"]),
        Column("colour", _words(visit["by"]) or "colour", is_hidden=not visit["by"]),
    )
    rows = tuple((each["run_id"], each["value"], each["point"], each["facet"] or "not stated", each["colour"] or "not stated") for each in records)
    chart = Chart(
        "dots", "value", group="colour" if visit["by"] else None, facet="facet" if visit["facet"] else None, link=_RUN,
        logs=("x",) if visit["scale"] == "log" else (),
    )
    return Table("without_time", columns, rows, "Runs whose time is not known", chart=chart, listed=_MOST_ROWS, is_folded=len(rows) > 40)


def _annotated(visit: Visit, found: Measured, records: Sequence[dict[str, Any]], is_whole: bool) -> tuple[dict[int, str], Collection[int]]:
    """At which rows of one series the software or, by the detector, the level is another than before; and which rows are outliers."""
    if len({record["series_key"] for record in records}) != 1:
        return {}, ()
    notes, before = {}, None
    for place, record in enumerate(records):
        if before is not None and record["software"] is not None and record["software"] != before:
            notes[place] = _version(record)
        before = record["software"] or before
    if not visit["series"] or not is_whole or visit["since"]:
        return notes, ()
    scanned = scan(found, visit.project.builds).get(visit["series"])
    for change in scanned.changes if scanned else ():
        word = f"{'change' if change.kind == 'level' else change.kind} {'confirmed' if change.is_confirmed else 'suspected'}"
        notes[change.index] = " · ".join(filter(None, (word, notes.get(change.index))))
    if scanned is None:
        return notes, ()
    starts = [change.index for change in scanned.changes]
    return notes, [place for place in scanned.outliers if not any(0 <= place - start < _UNSETTLED for start in starts)]


def _words(name: str | None) -> str:
    return "case" if name == "benchmark_case_id" else (name or "").replace("_", " ")


def _form(visit: Visit) -> Form:
    return Form("chosen", _PATH, (
        Choice("metric", value=visit["metric"] or "", hint="any; * for any characters"), Choice("case", value=visit["case"] or "", hint="any"),
        Choice("point", value=visit["point"] or "", hint="any"), Choice("model", value=visit["model"] or "", hint="any"),
        Choice("since", value=visit["since"] or "", hint="1y, 30d, 2026-01-31"),
        Choice("facet", "a panel for each", visit["facet"] or "", ("", *_OF_RUNS)), Choice("by", "coloured by", visit["by"] or "", ("", *_OF_RUNS)),
        Choice("scale", value=visit["scale"], choices=("linear", "log")),
        *((Choice("series", value=visit["series"], form="hidden"),) if visit["series"] else ()),
    ))


# Other ways to look at many runs at once.
_OTHERS = {
    "Frontiers of load curves": "/frontier", "Goodput": "/goodput", "Validity of served runs": "/validity", "Workloads": "/workloads",
    "Hardware": "/hardware", "Software": "/software",
}
_OF_RUNS = (*_FACETS, *_OF_DIMENSIONS)
VIEWS = (
    View(
        "explore", _PATH, "Explore", "The measurements of one metric or one series over time, each with its run, in panels by a facet.",
        _answer, (
            Parameter("metric", "Metrics of this name; * stands for any characters."), Parameter("series", "One series, by its key."),
            Parameter("case", "Only this benchmark case; * stands for any characters."),
            Parameter("point", "Only this point of the workload; * stands for any characters."),
            Parameter("model", "Only runs of this model; * stands for any characters."),
            Parameter("since", "Only runs that started since then: 1y, 6m, 2w, 10d, or a date."),
            Parameter("facet", "A panel for each value of this.", choices=_OF_RUNS),
            Parameter("by", "A colour for each value of this.", choices=_OF_RUNS),
            Parameter("scale", "How values are drawn.", default="linear", choices=("linear", "log")),
        ), menu="Explore",
    ),
)
