"""Runs: all of them, the newest first, those that failed or do not count among them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from warehouse.analysis.names import SEPARATOR
from warehouse.analysis.times import parse_since
from warehouse.errors import WarehouseError
from warehouse.surfaces.parts import Choice, Column, Form, Page, Table
from warehouse.surfaces.view import OFFSET, Parameter, View, Visit, address
from warehouse.surfaces.views.analysis.wording import choices
from warehouse.surfaces.views.facts.headlines import Headline, headlines
from warehouse.surfaces.views.facts.reading import Reader, reader
from warehouse.surfaces.views.facts.run_names import named, run_names
from warehouse.transform.finished.role_tables import RoleTable
from warehouse.transform.project.model import RUNS

_PATH = "/runs"
_MOST = 50
_HEADLINES = 2  # figures of a run
_COLUMNS = (
    Column("name", "model · GPU · engine · load", link="/runs/{run_id:path}", below="run_id"), Column("result"), Column("state", kind="state"),
    Column("seen_at", "when", kind="moment"), Column("case", link="/runs?case={case}", is_minor=True),
    Column("run_id", "run", kind="code", is_hidden=True), Column("started_at", is_hidden=True),
)
_KEPT = (
    "family", "mode", "duration_s", "cadence", "status_reason", "workload_spec_digest", "hardware_topology_key", "software_version_key",
)
STATES = ("succeeded", "failed", "invalid", "interrupted", "unknown", "retracted", "superseded", "in conflict")
# A run has one of these states: that it does not count takes precedence over how it ended.
STATE_SQL = "case when has_conflict then 'in conflict' when state <> 'admitted' then state else status end"
# When a run was, as far as its evidence says: its start, or that of the attempt that launched it, or when it was exported.
_WHEN = ("started_at", "attempted_at", "snapshot_at")
_NEEDED = {"run_id", "status", "state", "has_conflict", "started_at", "benchmark_case_id"}
# The dimensions of a run: the column of the table of runs, the table and its key, and the columns that name a row of it.
DIMENSIONS = {
    "hardware": ("hardware_topology_key", "main.hardware_topology_dim", ("accelerator_name", "gpu_model", "system_name", "cpu_model")),
    "software": ("software_version_key", "main.software_version_dim", ("framework", "framework_version", "server_version", "software_stack")),
    "workload": ("workload_spec_digest", "main.workload_dim", ("model", "precision", "protocol")),
}


def runs_table(found: Reader) -> RoleTable:
    """The table of runs. Raises WH501 where the build has none with the columns that pages need."""
    table = found.role(RUNS)
    missing = sorted(_NEEDED - table.columns) if table else []
    if table and not missing:
        return table
    message = f"{table.name} has no column {missing[0]}" if table else "no table has the runs"
    raise WarehouseError("WH501", message, hint=f"give a model of one row per run `role: {RUNS}` (docs/models.md)")


def newest_runs(found: Reader, table: RoleTable, most: int) -> list[dict[str, Any]]:
    """The newest runs: their ids, names, results, states, and when they were."""
    rows = found.rows(
        f"select run.run_id, {STATE_SQL} as state, {_when_sql(table)} as seen_at{', run.status_reason' if 'status_reason' in table.columns else ''}"
        f" from {table.sql} as run order by seen_at desc nulls last, run.run_id limit {most}"
    )
    ids = [row["run_id"] for row in rows]
    names, results = run_names(found, table, ids), headlines(found, ids, _HEADLINES)
    return [{**row, "name": named(names, row["run_id"]), "result": _result(row, results.get(row["run_id"], []))} for row in rows]


def _when_sql(table: RoleTable) -> str:
    return f"coalesce({', '.join(f'run.{name}' for name in _WHEN if name in table.columns)})"


def label_sql(found: Reader, dimension: str) -> str:
    """What names a row of a dimension, as SQL; NULL where the build has no such table."""
    key, table, names = DIMENSIONS[dimension]
    columns = found.columns(table)
    shown = [f"{dimension}.{name}::varchar" for name in names if name in columns]
    if key not in columns or not shown:
        return "null"
    words = _hardware_sql(columns, shown) if dimension == "hardware" else f"concat_ws(' ', {', '.join(shown[:2])})"
    return f"nullif({words}, '')"


def _hardware_sql(columns: frozenset[str], shown: Sequence[str]) -> str:
    """Accelerators with their number, and that of nodes where there are several: 16×H100, 2 nodes; else the first name that is stated."""
    accelerators = [f"hardware.{name}::varchar" for name in ("accelerator_name", "gpu_model") if name in columns]
    if not accelerators or not {"gpu_count", "node_count"} <= columns:
        return f"coalesce({', '.join(shown)})"
    count = "coalesce(hardware.gpu_count::varchar || '×', '')"
    nodes = "case when hardware.node_count > 1 then ', ' || hardware.node_count::varchar || ' nodes' else '' end"
    return f"coalesce({count} || coalesce({', '.join(accelerators)}) || {nodes}, {', '.join(shown)})"


def _answer(visit: Visit) -> Page:
    with reader(visit) as found:
        return _page(visit, found, runs_table(found))


def _page(visit: Visit, found: Reader, table: RoleTable) -> Page:
    columns = table.columns
    clauses, values = _where(visit, found, columns)
    kept = [name for name in _KEPT if name in columns]
    first = visit["offset"]
    rows = found.rows(
        f"select run.run_id, {STATE_SQL} as state, {_when_sql(table)} as seen_at, run.benchmark_case_id as \"case\", run.started_at,"
        f" {', '.join(f'run.{name}' for name in kept) or 'null as family'} from {table.sql} as run where {clauses}"
        f" order by seen_at desc nulls last, run.run_id limit {_MOST} offset {first}", values,
    )
    ids = [row["run_id"] for row in rows]
    names, results = run_names(found, table, ids), headlines(found, ids, _HEADLINES)
    counted = found.rows(f"select {STATE_SQL} as state, count(*) as runs from {table.sql} as run where {clauses} group by all", values)
    total = sum(each["runs"] for each in counted)
    others = {**visit.values, "offset": None}
    without = _where(visit, found, columns, skip="state")
    states = {each["state"]: each["runs"] for each in found.rows(
        f"select {STATE_SQL} as state, count(*) as runs from {table.sql} as run where {without[0]} group by all", without[1]
    )}
    offered = [(state, state, states[state]) for state in STATES if state in states]
    more = address(_PATH, **{**visit.values, "offset": first + _MOST}) if total > first + len(rows) else None
    shown = tuple(
        (
            named(names, row["run_id"]), _result(row, results.get(row["run_id"], [])), row["state"], row["seen_at"], row["case"], row["run_id"],
            *(row[name] for name in ("started_at", *kept)),
        )
        for row in rows
    )
    return Page(
        "Runs",
        (
            choices("state", _PATH, others, "state", [("any state", None, sum(states.values())), *offered]), _form(visit),
            Table("runs", (*_COLUMNS, *(Column(name, is_hidden=True) for name in kept)), shown, total=total, more=more, empty="no run is like that"),
        ),
        f"{total:,} runs" + (f" of the case {visit['case']}" if visit["case"] else ""),
        next_steps={"Results in columns": "/results", "Compare two sets of runs": "/compare", "Which runs are valid": "/validity"},
    )


def _result(row: Mapping[str, Any], of_run: Sequence[Headline]) -> str | None:
    """What a run measured, in a line; of one that measured nothing, why."""
    return SEPARATOR.join(map(str, of_run)) or row.get("status_reason")


def _where(visit: Visit, found: Reader, columns: frozenset[str], skip: str = "") -> tuple[str, list[Any]]:
    clauses, values = ["true"], []
    if visit["state"] and skip != "state":
        clauses.append(f"{STATE_SQL} = ?")
        values.append(visit["state"])
    if visit["case"]:
        clauses.append("run.benchmark_case_id glob ?")
        values.append(visit["case"])
    if visit["run"]:
        clauses.append("run.run_id glob ?")
        values.append(visit["run"] if "*" in visit["run"] else f"*{visit['run']}*")
    if visit["since"]:
        clauses.append("run.started_at >= ?")
        values.append(parse_since(visit["since"], visit.now))
    if visit["model"]:
        key, table, _ = DIMENSIONS["workload"]
        has_model = key in columns and {key, "model"} <= found.columns(table)
        clauses.append(f"run.{key} in (select {key} from {table} where model glob ?)" if has_model else "? is null")
        values.append(visit["model"])
    for name, (key, _, _) in DIMENSIONS.items():
        if visit[name]:
            clauses.append(f"run.{key} = ?" if key in columns else "? is null")
            values.append(visit[name])
    return " and ".join(clauses), values


def _form(visit: Visit) -> Form:
    fields = [
        Choice("case", value=visit["case"] or "", hint="any; * for any characters"), Choice("model", value=visit["model"] or "", hint="any"),
        Choice("run", "run id", visit["run"] or "", hint="a part of it"), Choice("since", value=visit["since"] or "", hint="14d, 1y, 2026-01-31"),
    ]
    hidden = ("state", *DIMENSIONS)
    fields += [Choice(name, value=visit[name], form="hidden") for name in hidden if visit[name]]
    return Form("filter", _PATH, tuple(fields))


VIEWS = (
    View(
        "runs", _PATH, "Runs", "All runs, the newest first, with how they ended and whether they count; failed and retracted ones are among them.",
        _answer, (
            Parameter("state", "Only runs that ended so, or that do not count for this reason.", choices=STATES),
            Parameter("case", "Only runs of this benchmark case; * stands for any characters."),
            Parameter("model", "Only runs of this model; * stands for any characters."),
            Parameter("run", "Only runs whose id has this in it."),
            Parameter("since", "Only runs that started since then: 1y, 6m, 2w, 10d, or a date."),
            Parameter("workload", "Only runs of this workload, by its digest."),
            Parameter("hardware", "Only runs on this hardware, by its key."),
            Parameter("software", "Only runs with this software, by its key."),
            OFFSET,
        ), menu="Runs", role=RUNS,
    ),
)
