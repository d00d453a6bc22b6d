"""Explore: one metric over time, a panel for each value of a facet, each point a run; or one series by its key."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from warehouse.analysis.events.annotations import Places
from warehouse.analysis.labels import labels
from warehouse.analysis.measurements import VARIABLES, Measured, measured
from warehouse.analysis.metric_names import metric_names
from warehouse.analysis.names import engine_name, model_name
from warehouse.analysis.series import scan
from warehouse.analysis.times import parse_since
from warehouse.evidence.ledger.annotations import Annotation, dated_notes
from warehouse.surfaces.parts import Chart, Choice, Column, Facets, Fact, Facts, Form, Page, Part, Table
from warehouse.surfaces.view import Parameter, View, Visit, address
from warehouse.surfaces.views.analysis.stretches import stretches
from warehouse.transform.export.docs.published_pages import is_digest, short
from warehouse.transform.sql.duck import quote

_PATH = "/explore"
_RUN = "/runs/{run_id:path}"
_MOST = 2000  # points that are read, the newest
_MOST_ROWS = 50
_METRICS = 60
_MOST_VERSIONS = 6  # of a panel, that are marked
_SERIES = 60
# What panels and colours may be of: columns of the measurements, and of the dimensions that those have the keys of.
_FACETS = ("benchmark_case_id", "point", "node", "series_key", *VARIABLES)
_OF_DIMENSIONS = {
    **dict.fromkeys(("model", "precision"), ("main", "workload_dim", "workload_spec_digest", "workload")),
    **dict.fromkeys(("framework", "framework_version"), ("main", "software_version_dim", "software_version_key", "software")),
    **dict.fromkeys(("accelerator_name", "gpu_model"), ("main", "hardware_topology_dim", "hardware_topology_key", "hardware")),
    "cluster": ("main", "cluster_region_dim", "cluster_region_key", "testbed"),
}
_GPU = "gpu"  # by the name that the evidence states, whichever column has it
_NAMES = {
    "model": "model or test",
    "benchmark_case_id": "case", "point": "load", "series_key": "series", "framework": "engine", "framework_version": "engine version",
    "accelerator_name": "GPU", _GPU: "GPU", "gpu_model": "GPU model", "testbed": "machine",
}
_MOST_FACET = 12  # values of a facet beside the chart
_UNSETTLED = 10  # runs after a change that the detector called outliers before it knew of the change


def _answer(visit: Visit) -> Page:
    assert visit.build
    with measured(visit.build) as found:
        if not visit["metric"] and not visit["series"] and not visit["case"]:
            said = "Which metric over time? Each point is a run."
            return Page("Explore", (_form(visit, found), _metrics(found)), said, next_steps=_OTHERS)
        if not visit["metric"] and not visit["series"]:
            return Page("Explore", (_form(visit, found), _series_of(visit, found)), f"The series of {visit['case']}")
        return _drawn(visit, found)


def _metrics(found: Measured) -> Table:
    rows = found.con.execute(
        "select metric, any_value(indicator), any_value(unit), any_value(better), count(distinct run_id) as runs,"
        " count(distinct series_key) as series,"
        f" max(started_at) as last_at from {found.measurements.sql} group by metric order by runs desc, metric limit {_METRICS}"
    ).fetchall()
    ((total,),) = found.con.execute(f"select count(distinct metric) from {found.measurements.sql}").fetchall()
    names = metric_names(found.con)
    called = [names.of(metric, unit) for metric, _, unit, *_ in rows]
    columns = (
        Column("called", "metric", link="/explore?metric={metric}",), Column("metric", is_hidden=True),
        Column("indicator", "kind", is_minor=True), Column("unit"), Column("better"), Column("runs", kind="number"),
        Column("series", kind="number"), Column("last_at", "last run", kind="moment"),
    )
    shown = tuple((name, metric, indicator, unit, *rest) for (name, _, unit), (metric, indicator, _, *rest) in zip(called, rows, strict=True))
    return Table("metrics", columns, shown, "Metrics", total=total, empty="the build has no measurement")


def _series_of(visit: Visit, found: Measured) -> Table:
    where, values = _where(visit, found)
    rows = found.con.execute(
        "select m.series_key, any_value(m.metric) as metric, any_value(m.point) as point, any_value(m.unit), count(*) as n,"
        " count(distinct m.session) as sessions,"
        f" max(m.started_at) as last_at from {found.measurements.sql} as m where {where} group by m.series_key"
        f" order by n desc, metric, point, m.series_key limit {_SERIES}", values,
    ).fetchall()
    names = metric_names(found.con)
    rows = [(names.of(metric, unit)[0], key, metric, point, names.of(metric, unit)[2], *rest) for key, metric, point, unit, *rest in rows]
    counted = f"select count(distinct m.series_key) from {found.measurements.sql} as m where {where}"
    ((total,),) = found.con.execute(counted, values).fetchall()
    columns = (
        Column("called", "metric", link="/explore?series={series_key}"), Column("series_key", is_hidden=True), Column("metric", is_hidden=True),
        Column("point", "load"), Column("unit"),
        Column("runs", kind="number"), Column("sessions", kind="number"), Column("last_at", "last run", kind="moment"),
    )
    return Table("series", columns, tuple(rows), "Series", total=total, empty="no measurement is like that")


def _where(visit: Visit, found: Measured, without: str = "") -> tuple[str, list[Any]]:
    """The choice as SQL on a row `m`, and its values; `without` one of the facets."""
    clauses, values = ["true"], []
    for name, column in (("series", "series_key"), ("metric", "metric"), ("case", "benchmark_case_id"), ("point", "point")):
        if visit[name]:
            clauses.append(f"m.{column} = ?" if name == "series" else f"m.{column} glob ?")
            values.append(visit[name])
    for name in ("model", _GPU):
        if visit[name] and name != without:
            clauses.append(f"coalesce({_read(found, name)} glob ?, false)")
            values.append(visit[name])
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
        f" {parts[0]} as facet, {parts[1]} as colour, {parts[2]} as framework, {parts[3]} as version, m.testbed, m.node"
        f" from {found.measurements.sql} as m where {where}"
        f" order by m.started_at desc nulls last, m.run_id desc limit {_MOST}", values,
    ).fetchall()
    ((total, units, untimed),) = found.con.execute(
        "select count(*), count(distinct coalesce(m.unit, '')), count(*) filter (m.started_at is null)"
        f" from {found.measurements.sql} as m where {where}", values,
    ).fetchall()
    names = (
        "run_id", "started_at", "value", "unit", "better", "metric", "point", "case", "software", "series_key", "session", "facet", "colour",
        "framework", "version", "testbed", "node",
    )
    records = [dict(zip(names, row, strict=True)) for row in reversed(rows)]
    for shown, of in (("facet", facet), ("colour", by)):
        for record in records:
            record[shown] = _value_words(of, record[shown], record)
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
    _stretched(timed, notes, bool(visit["series"]))
    noted = _noted(visit, found, records)
    _mark_noted(timed, noted, notes)
    tables = [_trend(visit, timed, first, notes, outliers)] if timed else []
    if len(timed) < len(records):
        tables.append(_untimed(visit, [record for record in records if record["started_at"] is None], first))
    page_parts: list[Part] = [_form(visit, found), *_facets(visit, found), *(tables or [_trend(visit, [], first, {}, ())])]
    if noted:
        page_parts.append(_notes_table([each for each, _ in noted]))
    steps = {"What changed": "/changes"}
    if first and visit["series"]:
        steps["All series of the case"] = address(_PATH, case=first["case"])
        steps["The same metric of all cases"] = address(_PATH, metric=first["metric"], facet="benchmark_case_id")
    title = metric_names(found.con).of(visit["metric"], None)[0] if visit["metric"] else "Explore"
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
    for parameter, names in (("facet", ("model", "benchmark_case_id")), ("by", (_GPU, "framework_version"))):
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
    if name == _GPU:
        return f"coalesce({_read(found, 'accelerator_name')}, {_read(found, 'gpu_model')})"
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
        Column("started_at", "start, UTC", kind="moment"), Column("run_id", "run", kind="code", link=_RUN),
        _value_column(first), Column("point", "load", is_minor=True),
        Column("facet", _words(visit["facet"]) or "facet", is_hidden=not visit["facet"]),
        Column("colour", _words(visit["by"]) or "colour", is_hidden=not visit["by"]), Column("session", is_minor=True),
        Column("note", is_hidden=not notes), Column("state", kind="state", is_hidden=not outliers), Column("series_key", is_hidden=True),
        Column("level", is_hidden=True), Column("median_low", is_hidden=True), Column("median_high", is_hidden=True),
        Column("version", is_hidden=True),
    )
    rows = tuple(
        (
            record["started_at"], record["run_id"], record["value"], record["point"], record["facet"] or "not stated",
            record["colour"] or "not stated", record["session"], notes.get(place),
            "outlier" if place in outliers else None, record["series_key"],
            *record["stretch"], _version(record) if record["version"] or record["software"] else None,
        )
        for place, record in enumerate(records)
    )
    chart = Chart(
        "trend", "started_at", "value", group="colour" if visit["by"] else None, facet="facet" if visit["facet"] else None,
        line="series_key", middle="level", around=("median_low", "median_high"), beside="session",
        note="note" if notes else None, link=_RUN, logs=("y",) if visit["scale"] == "log" else (),
        state="state" if outliers else None, details=("version", "run_id"), is_own=visit["facet"] in ("model", "benchmark_case_id"),
        hatched=("outlier",),
    )
    has_interval = any(record["stretch"][1] is not None for record in records)
    note = "Steps: the median of runs between two marks, shaded with its 95 % interval." if visit["series"] else (
        "Steps: the median of at most twelve runs of one series and version, shaded with its 95 % interval."
    )
    return Table(
        "over_time", columns, rows, note=note if has_interval else "", chart=chart, listed=_MOST_ROWS, is_folded=len(rows) > 40,
        empty="no measurement is like that",
    )


def _stretched(records: Sequence[dict[str, Any]], notes: Mapping[int, str], is_one: bool) -> None:
    """Give each record its stretch: the place of its median, and the ends of the interval of that."""
    of_series: dict[str, list[int]] = {}
    for place, record in enumerate(records):
        of_series.setdefault(record["series_key"], []).append(place)
    for places in of_series.values():
        own = [records[place] for place in places]
        marks = notes if is_one else [
            at for at, (before, record) in enumerate(zip(own, own[1:], strict=False), 1)
            if None not in (before["software"], record["software"]) and before["software"] != record["software"]
        ]
        for record, stretch in zip(own, stretches(own, marks, is_cut=not is_one), strict=True):
            record["stretch"] = stretch


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
    """At which rows the software or, in one series by the detector, the level is another than before; and which rows are outliers. Where several
    series share a panel, a version is marked where it first ran."""
    if len({record["series_key"] for record in records}) != 1:
        return _first_of_versions(records), ()
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


def _noted(visit: Visit, found: Measured, records: Sequence[dict[str, Any]]) -> list[tuple[Annotation, set[int]]]:
    """The notes that people made of these series and their machines, each with the records that it is of, by identity."""
    made = dated_notes(visit.events())
    places = Places(found, made) if made else None
    of_note: dict[str, set[int]] = {}
    of_place: dict[tuple[Any, ...], list[Annotation]] = {}
    for record in records if places else ():
        key = record["series_key"], record["testbed"], record["node"]
        if key not in of_place and places:
            of_place[key] = places.of(*key)
        for each in of_place[key]:
            of_note.setdefault(each.event.key, set()).add(id(record))
    return [(each, of_note[each.event.key]) for each in made if each.event.key in of_note]


def _mark_noted(timed: Sequence[dict[str, Any]], noted: Sequence[tuple[Annotation, set[int]]], notes: dict[int, str]) -> None:
    """Mark the first run from the time of each note on, of those that it is of."""
    for each, of in noted:
        place = next((place for place, record in enumerate(timed) if id(record) in of and record["started_at"] >= each.at), None)
        if place is not None:
            notes[place] = " · ".join(filter(None, (notes.get(place), each.text)))


def _notes_table(noted: Sequence[Annotation]) -> Table:
    columns = (
        Column("at", "when, UTC", kind="moment"), Column("note"), Column("of"), Column("subject", "which", kind="code"), Column("by", is_minor=True),
    )
    return Table("notes", columns, tuple((each.at, each.text, each.place, each.subject, each.event.by) for each in noted), "Notes")


def _first_of_versions(records: Sequence[dict[str, Any]]) -> dict[int, str]:
    """Where a version first ran among the runs of a panel that has few, beside the one that it began with."""
    of_panel: dict[Any, dict[str, int]] = {}
    for place, record in enumerate(records):
        if record["software"] is not None:
            of_panel.setdefault(record["facet"], {}).setdefault(_version(record), place)
    return {
        place: version for seen in of_panel.values() if len(seen) <= _MOST_VERSIONS for version, place in [*seen.items()][1:]
    }


def _words(name: str | None) -> str:
    return _NAMES.get(name or "") or (name or "").replace("_", " ")


def _value_words(name: str | None, value: str | None, record: Mapping[str, Any]) -> str | None:
    """A value of a facet as people call it."""
    if value is None or name is None:
        return None
    if name == "software":
        return _version(record)
    if name == "framework":
        return engine_name(value, None)
    return model_name(value) if name == "model" else short(value) if is_digest(value) else value


def _facets(visit: Visit, found: Measured) -> Iterator[Facets]:
    """The models and GPUs of what was chosen, with how many measurements each has: a choice of one narrows the chart."""
    groups = []
    for name in () if visit["series"] else ("model", _GPU):
        where, values = _where(visit, found, without=name)
        rows = found.con.execute(
            f"select value, count(*) as measured from (select {_read(found, name)} as value from {found.measurements.sql} as m"
            f" where {where}) where value is not null group by value order by measured desc, value", values,
        ).fetchall()
        if len(rows) < 2 and not visit[name]:
            continue
        chosen = visit[name]
        items = [
            Fact(
                name, f"{measured:,}", title=_value_words(name, value, {}) or value,
                link=None if chosen == _exactly(value) else address(_PATH, **{**visit.values, name: _exactly(value), "scale": _scale(visit)}),
            )
            for value, measured in rows[:_MOST_FACET]
        ]
        if chosen and all(each.link for each in items):
            items.append(Fact(name, None, title=chosen))
        if chosen:
            items.append(Fact(name, None, title="any", link=address(_PATH, **{**visit.values, name: None, "scale": _scale(visit)})))
        if len(rows) > _MOST_FACET:
            items.append(Fact(name, f"{len(rows) - _MOST_FACET} more", title="and"))
        groups.append(Facts(f"facet-{name}", tuple(items), _words(name), "links"))
    if groups:
        yield Facets("narrow", tuple(groups))


def _exactly(value: str) -> str:
    """A pattern that means the value alone."""
    return re.sub(r"[*?\[]", r"[\g<0>]", value)


def _scale(visit: Visit) -> str | None:
    return None if visit["scale"] == "linear" else visit["scale"]


def _form(visit: Visit, found: Measured) -> Form:
    names = metric_names(found.con)
    known = {
        metric: ", ".join(filter(None, (names.of(metric, unit)[0], names.of(metric, unit)[2]))) for metric, unit in found.con.execute(
            f"select metric, any_value(unit) from {found.measurements.sql} group by metric order by count(*) desc, metric limit {_METRICS}"
        ).fetchall()
    }
    metric = visit["metric"] or ""
    offered = tuple(sorted(known, key=lambda each: known[each].lower()))
    words = {name: _words(name) for name in _OF_RUNS}
    hidden = [name for name in ("series", "model", _GPU) if visit[name]]
    apart = () if visit["series"] else (
        Choice("metric", value=metric, choices=("", *offered), words=known) if metric in ("", *offered) else Choice("metric", value=metric),
        Choice("case", value=visit["case"] or "", hint="any"), Choice("point", "load", visit["point"] or "", hint="any"),
        Choice("facet", "a panel for each", visit["facet"] or "", ("", *_OF_RUNS), words=words),
        Choice("by", "coloured by", visit["by"] or "", ("", *_OF_RUNS), words=words),
    )
    return Form("chosen", _PATH, (
        *apart, Choice("since", value=visit["since"] or "", hint="1y, 30d, 2026-01-31"),
        Choice("scale", value=visit["scale"], choices=("linear", "log")), *(Choice(name, value=visit[name], form="hidden") for name in hidden),
    ))


# Other ways to look at many runs at once.
_OTHERS = {
    "Frontiers of load curves": "/frontier", "Goodput": "/goodput", "Validity of served runs": "/validity", "Workloads": "/workloads",
    "Hardware": "/hardware", "Software": "/software",
}
_OF_RUNS = tuple(dict.fromkeys(("model", _GPU, "framework", "framework_version", *_FACETS, *_OF_DIMENSIONS)))
VIEWS = (
    View(
        "explore", _PATH, "Explore", "The measurements of one metric or one series over time, each with its run, in panels by a facet.",
        _answer, (
            Parameter("metric", "Metrics of this name; * stands for any characters."), Parameter("series", "One series, by its key."),
            Parameter("case", "Only this benchmark case; * stands for any characters."),
            Parameter("point", "Only this point of the workload; * stands for any characters."),
            Parameter("model", "Only runs of this model; * stands for any characters."),
            Parameter(_GPU, "Only runs on this GPU; * stands for any characters."),
            Parameter("since", "Only runs that started since then: 1y, 6m, 2w, 10d, or a date."),
            Parameter("facet", "A panel for each value of this.", choices=_OF_RUNS),
            Parameter("by", "A colour for each value of this.", choices=_OF_RUNS),
            Parameter("scale", "How values are drawn.", default="linear", choices=("linear", "log")),
        ), menu="Explore",
    ),
)
