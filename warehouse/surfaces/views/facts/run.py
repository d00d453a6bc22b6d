"""One run: what it was, what it measured, whether it can be trusted, the bytes it is read from, and its neighbours."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from warehouse.analysis.names import SEPARATOR, load_words
from warehouse.analysis.serving.validity import HOLDS, NO_EVIDENCE, state_of, validity
from warehouse.claims.publish.specification import Units
from warehouse.claims.verify.impact import impact
from warehouse.errors import ExitCode, WarehouseError, counted, did_you_mean, printable
from warehouse.evidence.ledger.events import Ledger
from warehouse.evidence.ledger.run_decisions import is_of_run
from warehouse.evidence.objects.location import open_store
from warehouse.surfaces.figures import rounded
from warehouse.surfaces.parts import Chart, Column, Fact, Facts, Page, Part, Table
from warehouse.surfaces.view import Parameter, View, Visit, address
from warehouse.surfaces.views.analysis.serving import load_text, point_line
from warehouse.surfaces.views.facts.headlines import beside_others
from warehouse.surfaces.views.facts.reading import Reader, reader
from warehouse.surfaces.views.facts.run_names import run_names
from warehouse.surfaces.views.facts.run_telemetry import telemetry_parts
from warehouse.surfaces.views.facts.run_timeline import timeline
from warehouse.surfaces.views.facts.runs import DIMENSIONS, label_sql, runs_table
from warehouse.surfaces.views.results.facets import heading, named_column
from warehouse.transform.export.docs.published_pages import is_digest
from warehouse.transform.finished.role_tables import RoleTable
from warehouse.transform.project.model import REQUESTS, RUNS
from warehouse.transform.sql.duck import quote

_PATH = "/runs/{run_id:path}"
_MOST = 40  # files, issues, numbers
_MOST_FIGURES = 150
_MOST_POINTS = 6  # loads whose requests are drawn
_SPANS = 40  # of time, that requests are counted in
_NEIGHBOURS = 5  # on each side
_CARDS = 3  # headline figures
_UNFOLDED = 20  # figures that are not folded away
# What the page says elsewhere, or that only the machine needs.
_ELSEWHERE = frozenset({"run_id", "status", "state", "has_conflict", "mode", "state_reason", "benchmark_case_id"})
# What people call columns of the table of runs.
_WORDS = {
    "artifact_manifest_digest": "bundle", "raw_folder": "file or folder in it", "raw_section": "bytes of the file", "family": "format",
    "is_zone_assumed": "time zone was assumed", "outcome_digest": "digest of its results", "bundle_count": "bundles that state it",
    "repeat_index": "repeat", "started_at": "start", "ended_at": "end", "superseded_by": "replaced by", "supports_run_id": "supports the run",
}
_DIMENSION_PAGES = {"hardware": "/hardware/{key}", "software": "/software/{key}", "workload": "/workloads/{key}"}


def _answer(visit: Visit) -> Page:
    run_id = visit["run_id"]
    with reader(visit) as found:
        table = runs_table(found)
        run = next(iter(found.by_key(table.name, "run_id", run_id, 1)), None)
        if run is None:
            raise _unknown(found, table, run_id)
        name = str(run_names(found, table, [run_id])[run_id])
        verdicts, trusted = _validity(visit, run_id)
        near = _neighbours(found, table, run)
        repeats = [row[0] for row in sorted(near.rows, key=lambda row: abs(row[2] - run["started_at"])) if row[3] == "succeeded"]
        parts: list[Part] = [*_cards(found, run_id), *_decisions(visit, run_id), *trusted, *timeline(found, run, repeats)]
        identity, row = _identity(found, table, run)
        parts += [*_figures(found, run_id), *_log_lines(found, run_id), identity, *_requests(found, run_id)]
        parts += [*telemetry_parts(found, run_id, visit["metric"]), *_issues(found, run_id), *_evidence(found, run)]
        parts += [near] if near.rows else []
        parts += _impact(visit, run_id) if visit["impact"] == "yes" else []
        parts.append(row)
    before = next((row[0] for row in reversed(near.rows) if row[1] == "before"), None)
    steps = {"Its repeats, and all runs of the case": address("/runs", case=run["benchmark_case_id"])}
    if before:
        steps = {"Compare with the run before": address("/compare", base=before, head=run_id), **steps}
    steps["Explain it: what is abnormal, and where"] = address("/explain", run=run_id)
    steps["Published numbers that depend on it"] = address(_PATH, run_id=run_id, impact="yes") + "#impact"
    words = [run["status"], *([run["state"]] if run["state"] != "admitted" else []), *(["in conflict"] if run["has_conflict"] else []), *verdicts]
    reasons = [run.get("status_reason"), run.get("state_reason")]
    return Page(
        name or run_id, tuple(parts), _when(run), tuple(words), tuple(str(each) for each in reasons if each),
        (("Runs", "/runs"), (run["benchmark_case_id"] or "no case", address("/runs", case=run["benchmark_case_id"]))), steps,
    )


def _unknown(found: Reader, table: RoleTable, run_id: str) -> WarehouseError:
    similar = found.rows(f"select run_id from {table.sql} group by run_id order by levenshtein(run_id, ?), run_id limit 3", [run_id[:200]])
    hint = did_you_mean(run_id, [row["run_id"] for row in similar])
    return WarehouseError("WH502", "the build has no run with this id", printable(run_id), hint, ExitCode.NOT_FOUND)


def _when(run: dict[str, Any]) -> str:
    """When it ran, as far as is known, and its id."""
    started, ended = run.get("started_at"), run.get("ended_at")
    until = f" to {ended:%H:%M}" if started and ended and ended > started else ""
    return SEPARATOR.join(filter(None, (f"{started:%-d %b %Y, %H:%M}{until} UTC" if started else None, f"run {run['run_id']}")))


def _cards(found: Reader, run_id: str) -> Iterator[Facts]:
    """Its headline figures, each beside the other runs of its series, and how many requests failed."""
    cards = []
    for each in beside_others(found, run_id, _CARDS):
        note = ""
        if each.others:
            low, high, runs = each.others
            spread = rounded(low) if low == high else f"{rounded(low)} to {rounded(high)}"
            note = f"{counted(runs, 'other run')} of the series: {spread}"
        link = address("/explore", series=each.series_key) if each.series_key else None
        cards.append(Fact(each.metric, each.words, link=link, title=f"{each.unit or ''} {each.name}".strip(), note=note))
    outcomes = "main.serving_outcome_fact"
    if {"run_id", "completed_count", "failed_count"} <= found.columns(outcomes):
        sums = "sum(completed_count)::bigint as done, sum(failed_count)::bigint as failed"
        row = found.rows(f"select {sums} from {outcomes} where run_id = ?", [run_id])[0]
        if row["failed"] is not None and row["done"] is not None:
            words = f"of {row['done'] + row['failed']:,} requests failed"
            cards.append(Fact("failed", row["failed"], title=words, tone="bad" if row["failed"] else ""))
    if cards:
        yield Facts("headline", tuple(cards), form="cards")


def _identity(found: Reader, table: RoleTable, run: dict[str, Any]) -> Iterator[Facts]:
    """What the run was on and with, as links, and everything that its row states."""
    on: list[Fact] = []
    for name, (key, of_dimension, _) in DIMENSIONS.items():
        if (value := run.get(key)) is None:
            continue
        label = found.rows(f"select {label_sql(found, name)} as label from {of_dimension} as {name} where {key} = ?", [value]) if (
            key in found.columns(of_dimension)
        ) else []
        words = label[0]["label"] if label else None
        on.append(Fact(name, words or value, link=_DIMENSION_PAGES[name].replace("{key}", str(value)), kind="text" if words else "code"))
    for row in found.by_key("main.cluster_region_dim", "cluster_region_key", run.get("cluster_region_key"), 1):
        on.append(Fact("cluster", " · ".join(str(value) for name, value in row.items() if value is not None and name != "cluster_region_key")))
    on.append(Fact("case", run["benchmark_case_id"], link=address("/runs", case=run["benchmark_case_id"])))
    on.append(Fact("mode", run.get("mode")))
    yield Facts("on", tuple(on), "On and with what")
    described = found.described(table.name)
    keys = {key for key, _, _ in DIMENSIONS.values()} | {"cluster_region_key"}
    units = {name: unit for name, (unit, _) in described.items() if unit not in ("UTC", "bytes")}
    stated = [
        Fact(name, value, units.get(name), _link(name, value), _kind(name, value), title=_WORDS.get(name) or heading(name, units.get(name)))
        for name, value in run.items() if value is not None and name not in _ELSEWHERE | keys
    ]
    yield Facts("row", tuple(stated), "What its evidence states")


def _kind(name: str, value: Any) -> Any:
    if hasattr(value, "year"):
        return "moment"
    if name.endswith("_bytes"):
        return "bytes"
    return "code" if isinstance(value, str) and name.endswith(("digest", "_uid", "_uuid")) else "text"


def _link(name: str, value: Any) -> str | None:
    if name in ("superseded_by", "supports_run_id"):
        return address(_PATH, run_id=value)
    return address("/evidence/{bundle}", bundle=value) if name == "artifact_manifest_digest" else None


def _decisions(visit: Visit, run_id: str) -> Iterator[Table]:
    """What people decided and noted of the run, from the ledger as it is now."""
    events = [event for event in Ledger(open_store(visit.project).objects).decisions() if is_of_run(event) and event.subject == run_id]
    if not events:
        return
    columns = (Column("at", kind="moment"), Column("kind", "what", kind="state"), Column("by"), Column("reason"))
    rows = tuple((event.at, event.kind, event.by, str(event.detail.get("reason", ""))) for event in events[-_MOST:])
    yield Table("decisions", columns, rows, "Decisions and notes", total=len(events))


def _figures(found: Reader, run_id: str) -> Iterator[Table]:
    """Every number of the run's outcomes, in long form with its unit; and where it is a measurement, its series."""
    rows: list[tuple[Any, ...]] = []
    keys: dict[tuple[str, float], set[str]] = {}
    for row in found.by_key("mart.measurement", "run_id", run_id):
        keys.setdefault((row["metric"], row["value"]), set()).add(row["series_key"])
    # Where two points have the same value of a metric, it is not known here which series is whose: neither gets a link.
    series = {name: next(iter(of_value)) for name, of_value in keys.items() if len(of_value) == 1}
    tables = found.rows(
        "select distinct schema_name || '.' || table_name as name from duckdb_columns() where schema_name = 'main' and column_name = 'run_id'"
        " and table_name like '%outcome_fact' order by 1"
    )
    for name in (table["name"] for table in tables):
        units, grain = Units({column: unit for column, (unit, _) in found.described(name).items() if unit}), found.grain(name)
        for record in found.by_key(name, "run_id", run_id):
            point = (value for key, value in record.items() if key in grain and key != "run_id" and isinstance(value, str) and not is_digest(value))
            place = " ".join(filter(None, (*point, load_words(record))))
            for column, value in record.items():
                if isinstance(value, bool) or not isinstance(value, int | float) or column in grain:
                    continue
                called, unit = named_column(found.metric_names, column, units.of(column, record))
                rows.append((called, place[:120], value, unit, series.get((column, float(value))), column, name))
    for record in found.by_key("main.performance_indicator_fact", "run_id", run_id):
        if record.get("value_number") is not None and record.get("kind") in ("result", "score"):
            key, value = record["key"], record["value_number"]
            called, _, unit = found.metric_names.of(key, record.get("unit"))
            of_series = series.get((key, float(value)))
            rows.append((called, record.get("component") or "", value, unit, of_series, key, "main.performance_indicator_fact"))
    columns = (
        Column("called", "what", link="/explore?series={series_key}"), Column("point"), Column("value", kind="number"), Column("unit"),
        Column("series_key", is_hidden=True), Column("metric", is_hidden=True), Column("table", link="/catalogue/{table}", is_minor=True),
    )
    empty = "the evidence has no outcome of this run"
    yield Table(
        "figures", columns, tuple(rows[:_MOST_FIGURES]), "What it measured", total=len(rows), empty=empty, is_folded=len(rows) > _UNFOLDED,
    )


def _requests(found: Reader, run_id: str) -> Iterator[Table]:
    """How many requests began in each span of time, for each load."""
    table = found.role(REQUESTS)
    needed = {"run_id", "started_s", "workload_point", "concurrency_point"}
    if table is None or not needed <= table.columns:
        return
    failed = "status = 'failed'" if "status" in table.columns else "false"
    rows = found.rows(
        f"with request as (select concat_ws(' ', workload_point, 'concurrency ' || concurrency_point) as load, started_s, {failed} as is_failed,"
        f" e2e_ms from {table.sql} where run_id = ?),"
        " load as (select load, max(started_s) as last, count(*) as n from request where started_s is not null group by load order by load"
        f" limit {_MOST_POINTS}),"
        f" span as (select load, least(floor(started_s / nullif(last, 0) * {_SPANS}), {_SPANS - 1}) as place, last, is_failed, e2e_ms"
        " from request join load using (load))"
        f" select load, coalesce(place, 0) * last / {_SPANS} as from_s, count(*) as requests, count(*) filter (is_failed) as failed,"
        " median(e2e_ms) as e2e_p50_ms from span group by load, place, last order by load, from_s", [run_id],
    ) if "e2e_ms" in table.columns else []
    if not rows:
        return
    columns = (
        Column("load"), Column("from_s", "from", kind="number", unit="s"), Column("requests", "requests sent", kind="number"),
        Column("failed", kind="number"), Column("e2e_p50_ms", "median latency", kind="number", unit="ms"),
    )
    is_several = len({row["load"] for row in rows}) > 1  # one is drawn with all else that has a time
    chart = Chart("bars", "from_s", "requests", "Requests sent, over the time of each load", facet="load") if is_several else None
    note = f"Each span is a {_SPANS}th of the load's time. The requests of one run are not repeats of each other."
    yield Table(
        "requests", columns, tuple(tuple(row.values()) for row in rows), "Requests over time", note, chart=chart, is_folded=True,
    )


def _validity(visit: Visit, run_id: str) -> tuple[list[str], list[Table]]:
    """The verdict of the policy for served runs, the worst of its loads, and what each rule found; nothing for other runs."""
    try:
        found = validity(visit.project, f"run_id={run_id}")
    except WarehouseError as error:
        if error.code in ("WH521", "WH522"):
            return [], []
        raise
    rows = tuple(
        (
            load_text(point), rule.rule.id,
            {HOLDS: "holds", NO_EVIDENCE: "not proven"}.get(state_of(rule), "broken"), str(rule),
            rule.rule.record if rule.figure is None else None,
        )
        for point in found.points for rule in point.rules
    )
    columns = (
        Column("load"), Column("rule"), Column("result", kind="state"), Column("why"), Column("record", "to close it, record"),
    )
    is_several = len(found.points) > 1
    note = "; ".join((f"{load_text(point)}: " if is_several else "") + point_line(point) for point in found.points[:_MOST_POINTS])
    of_loads = Counter(point.verdict for point in found.points)
    verdicts = [each if len(of_loads) == 1 else f"{each} at {of_loads[each]} of {counted(len(found.points), 'load')}" for each in list(of_loads)[:1]]
    table = Table(
        "validity", columns, rows[:_MOST_FIGURES], f"Can it be trusted? Policy {found.policy.name}", note, total=len(rows), is_folded=True,
    )
    return verdicts, [table]


def _issues(found: Reader, run_id: str) -> Iterator[Table]:
    rows = found.by_key("main.ingest_issue", "run_id", run_id, _MOST + 1)
    if not rows:
        return
    columns = (
        Column("severity", kind="state"), Column("code"), Column("message"),
        Column("raw_path", "file", link="/evidence/{artifact_manifest_digest}/files/{raw_path:path}"), Column("line_number", "line", kind="number"),
        Column("artifact_manifest_digest", is_hidden=True),
    )
    shown = tuple(tuple(row.get(column.name) for column in columns) for row in rows[:_MOST])
    yield Table("issues", columns, shown, "Issues of its evidence", total=len(rows) if len(rows) <= _MOST else None)


def _log_lines(found: Reader, run_id: str) -> Iterator[Table]:
    """Known lines of its logs, the serious ones first; then the frequent warnings and errors that no rule knows."""
    if not {"rule", "severity", "text"} <= found.columns("main.log_observation"):
        return
    link = "/evidence/{artifact_manifest_digest}/files/{raw_path:path}"
    place = (Column("raw_path", "log", link=link), Column("line_number", "first line", kind="number"))
    order = "array_position(['error', 'warning', 'note'], severity)"
    rows = found.rows(
        "select severity, meaning, count, text, raw_path, line_number, rule, artifact_manifest_digest from main.log_observation"
        f" where run_id = ? order by {order}, raw_path, raw_offset, rule limit {_MOST + 1}", [run_id],
    )
    columns = (
        Column("severity", kind="state"), Column("meaning"), Column("count", "lines", kind="number"), Column("text", "the first"), *place,
        Column("rule", kind="code"), Column("artifact_manifest_digest", is_hidden=True),
    )
    yield from _some("log_lines", columns, rows, "Known lines of its logs")
    if "template" not in found.columns("mart.log_unknown_line"):
        return
    rows = found.rows(
        "select line.severity, line.template, line.count, line.raw_path, line.line_number, line.artifact_manifest_digest"
        " from mart.log_unknown_line as line inner join staging.run_log as log"
        " on log.artifact_manifest_digest = line.artifact_manifest_digest and log.raw_path = line.raw_path"
        f" where log.run_id = ? order by line.count desc, line.raw_path, line.line_number, line.template limit {_MOST + 1}", [run_id],
    )
    unknown = (
        Column("severity", kind="state"), Column("template", "line"), Column("count", "lines", kind="number"), *place,
        Column("artifact_manifest_digest", is_hidden=True),
    )
    yield from _some("unknown_log_lines", unknown, rows, "Other warnings and errors of its logs", is_folded=True)


def _some(name: str, columns: tuple[Column, ...], rows: list[dict[str, Any]], title: str, is_folded: bool = False) -> Iterator[Table]:
    if rows:
        shown = tuple(tuple(row.get(column.name) for column in columns) for row in rows[:_MOST])
        yield Table(name, columns, shown, title, total=len(rows) if len(rows) <= _MOST else None, is_folded=is_folded)


def _evidence(found: Reader, run: dict[str, Any]) -> Iterator[Part]:
    """The bundle and the run's own files in it."""
    digest, folder = run.get("artifact_manifest_digest"), run.get("raw_folder") or ""
    if digest is None:
        return
    facts = [Fact("bundle", digest, link=address("/evidence/{bundle}", bundle=digest), kind="code")]
    for row in found.by_key("main.artifact_lineage_dim", "run_id", run["run_id"], 1):
        facts += [
            Fact("files", row.get("file_count"), kind="number"), Fact("size", row.get("raw_bytes"), kind="bytes"),
            Fact("arrived_at", row.get("arrived_at"), kind="moment"), Fact("signature", row.get("signing_state"), kind="state"),
            Fact("is_shared_evidence", row.get("is_shared_evidence"), title="shared with another run"),
            *([Fact("source", row["source"])] if row.get("source") not in (None, "", "{}") else []),
        ]
    yield Facts("evidence", tuple(facts), "Evidence")
    table = "main.raw_artifact"
    if {"artifact_manifest_digest", "raw_path", "bytes", "sha256"} <= found.columns(table):
        where = "artifact_manifest_digest = ? and (raw_path = ? or starts_with(raw_path, ?) and ? like '%/' or ? = '')"
        values = [digest, folder, folder, folder, folder]
        rows = found.rows(f"select raw_path, bytes, sha256 from {table} where {where} order by raw_path limit {_MOST}", values)
        ((total,),) = found.con.execute(f"select count(*) from {table} where {where}", values).fetchall()
        columns = (
            Column("raw_path", "file", link=f"/evidence/{digest}/files/{{raw_path:path}}"), Column("bytes", "size", kind="bytes"),
            Column("sha256", kind="code"),
        )
        yield Table("files", columns, tuple(tuple(row.values()) for row in rows), "The run's files", total=total)


def _impact(visit: Visit, run_id: str) -> Iterator[Table]:
    """The published numbers that the run is among the runs of."""
    try:
        numbers: Sequence[Any] = impact(visit.project, run_id).numbers
    except WarehouseError as error:
        if error.code != "WH304":
            raise
        numbers = ()
    columns = (
        Column("number_id", "number", kind="code", link="/numbers/{number_id}"), Column("key", "cell"), Column("value", kind="number"),
        Column("publication", kind="code", link="/publications/{publication}", is_minor=True),
    )
    rows = tuple((each.number_id, each.key, each.value, each.publication) for each in numbers[:_MOST])
    empty = "no published number depends on this run"
    yield Table("impact", columns, rows, "Published numbers that depend on it", total=len(numbers), empty=empty)


def _neighbours(found: Reader, table: RoleTable, run: dict[str, Any]) -> Table:
    """The runs of the same case on the same machine with the same workload, nearest in time."""
    same = [name for name in ("benchmark_case_id", "workload_spec_digest", "hardware_topology_key", "cluster_region_key", "mode") if name in run]
    where = " and ".join(f"{quote(name)} is not distinct from ?" for name in same)
    started = run["started_at"]
    rows: list[dict[str, Any]] = []
    if started is not None:
        for side, condition, order in (("before", "<", "desc"), ("after", ">", "asc")):
            near = found.rows(
                f"select run_id, started_at, status, state from {table.sql} where {where} and (started_at, run_id) {condition} (?, ?)"
                f" order by started_at {order}, run_id {order} limit {_NEIGHBOURS}", [*(run[name] for name in same), started, run["run_id"]],
            )
            rows += [{**row, "side": side} for row in (reversed(near) if side == "before" else near)]
    columns = (
        Column("run_id", "run", kind="code", link=_PATH), Column("side", "when"), Column("started_at", kind="moment"), Column("status", kind="state"),
        Column("compare", link="/compare?base={base}&head={head}"), Column("base", is_hidden=True), Column("head", is_hidden=True),
    )
    shown = tuple(
        (
            row["run_id"], row["side"], row["started_at"], row["status"] if row["state"] == "admitted" else row["state"], "compare",
            *((row["run_id"], run["run_id"]) if row["side"] == "before" else (run["run_id"], row["run_id"])),
        )
        for row in rows
    )
    return Table("neighbours", columns, shown, "Its neighbours: the same case, workload and machine")


VIEWS = (
    View(
        "run", _PATH, "Run", "One run: what it was, what it measured with units, whether it can be trusted, its evidence, and its neighbours.",
        _answer, (
            Parameter("run_id", "The run's id."),
            Parameter("impact", "Whether to look for published numbers that depend on it, in all publications.", default="no", choices=("no", "yes")),
            Parameter("metric", "The metric of telemetry whose windows are listed."),
        ), is_costly=True, role=RUNS,
    ),
)
