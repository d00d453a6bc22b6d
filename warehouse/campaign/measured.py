"""What an advice is computed from: the current build, or a publication of the values by session, from which anyone computes it again."""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from warehouse.campaign.advice import PRICE, WORK, Advised, Disturbance, Measured, Vulnerability, advice_on, read_slo
from warehouse.claims.publish.publication import PublishedRollup, PublishedRow
from warehouse.errors import ExitCode, WarehouseError, printable
from warehouse.evidence.objects.location import open_store
from warehouse.evidence.store import raw_key
from warehouse.project.project import Project
from warehouse.transform.finished.builds import current_build
from warehouse.transform.finished.query import open_build

if TYPE_CHECKING:
    import duckdb

_LOCK = "pylock.toml"
_COLUMNS = (
    "campaign_key", "cell", "session", "is_screening", "is_added", "factors", "is_baseline", "run_id", "unlike", "status", "status_reason",
    "stack_digest",
)
_TABLES = ("campaign_cell_fact", "campaign_dim", "campaign_measurement", "campaign_stacks", "stack_vulnerability")
_VALUES = (*WORK, "metric", "unit", "better", "cell", "session", "run_id", "value")
_DIRECTIONS = ("lower", "higher")
_COUNTED = f"part = 'counted' and better in {_DIRECTIONS} and value > 0"
_VULNERABLE = (
    "select stack_digest, package, version, vulnerability_id, summary, is_affected from stack_vulnerability where coalesce(is_affected, true) and"
    " stack_digest in (select stack_digest from campaign_cell_fact where campaign_key = ?) order by all"
)
_MACHINES = """
select
    run.run_id,
    min(price.usd_per_hour),
    min(concat_ws(' ', hardware.accelerator_name, hardware.gpu_model, hardware.cpu_model, hardware.system_name))
from campaign_cell_fact as slot
inner join benchmark_run_fact as run on run.run_id = slot.run_id
left join hardware_topology_dim as hardware on hardware.hardware_topology_key = run.hardware_topology_key
left join run_price as price on price.run_id = run.run_id and price.artifact_manifest_digest = run.artifact_manifest_digest
where slot.campaign_key = ?
group by run.run_id
"""
_DISTURBED = """
select session, count(distinct run_id) filter (where is_host_saturated or is_throttled) as disturbed, count(distinct run_id)
from campaign_measurement
where campaign_key = ? and part = 'counted'
group by session
having disturbed > 0
"""
_PUBLISHED = {"campaign_key", "cell", "session", "metric", *WORK}  # the grain of queries/campaign_sessions.sql


def advise(
    project: Project, campaign: str, metric: str | None = None, indifference: float = 0.0, slo: str | None = None, is_cheapest: bool = False,
    hardware: str | None = None,
) -> Advised:
    """What a campaign says by the current build. It is given by its name or id; `*` stands for any characters. With `hardware`, the runs count on
    machines of which it is a part of the description. Raises WH211 (nothing built), WH501 (a build without tables of campaigns), WH502 (no such
    campaign, or several; no such hardware), and as `advice_on`."""
    read_slo(slo or "")  # what is wrong in a question is said before any campaign is read
    con = open_build(current_build(project).path)
    try:
        present = {row[0] for row in con.execute("select distinct table_name from duckdb_columns()").fetchall()}
        if lacking := next((name for name in _TABLES if name not in present), None):
            hint = "wh build makes it, where the project has the standard models"
            raise WarehouseError("WH501", f"the build has no table {lacking}", current_build(project).path.name, hint)
        key = _chosen(campaign, [row[0] for row in con.execute("select distinct campaign_key from campaign_cell_fact order by all").fetchall()])
        slots = [_slot(row) for row in con.execute(f"select {', '.join(_COLUMNS)} from campaign_cell_fact where campaign_key = ?", [key]).fetchall()]
        sql = f"select {', '.join(_VALUES)} from campaign_measurement where campaign_key = ? and {_COUNTED} order by started_at nulls first, run_id"
        values = [dict(zip(_VALUES, row, strict=True)) for row in con.execute(sql, [key]).fetchall()]
        numbers = {} if hardware else _numbers(con, key)  # those are of all runs
        known = tuple(Vulnerability(*row) for row in con.execute(_VULNERABLE, [key]).fetchall())
        machines = {run: (price, text) for run, price, text in con.execute(_MACHINES, [key]).fetchall()}
        disturbed = [Disturbance(*row) for row in con.execute(_DISTURBED, [key]).fetchall()]
        spec = _spec(con, key)
    finally:
        con.close()
    not_drawn = math.prod(len(factor["values"]) for factor in spec["factors"]) - len({slot["cell"] for slot in slots})
    if hardware is not None:
        ours = _of_hardware(machines, hardware, key)
        slots = [slot for slot in slots if slot["run_id"] is None or slot["run_id"] in ours]
        values = [each for each in values if each["run_id"] in ours]
    prices = {run: price for run, (price, _) in machines.items()}
    measured = Measured(key, slots, values, numbers, prices, _run_more(spec, key), not_drawn, known, _in_order(disturbed))
    return advice_on(measured, metric, indifference, slo, is_cheapest)


def advise_published(
    publication: PublishedRollup, campaign: str, metric: str | None = None, indifference: float = 0.0, slo: str | None = None,
    is_cheapest: bool = False,
) -> Advised:
    """What a campaign says by the values of a publication of `campaign_sessions`, or of a query that has its columns. The build is not asked. A
    publication has no runs that failed, and no prices. Raises WH307 (a damaged publication), WH502 (it is of another query; no such campaign, or
    several; the cheapest is asked for, and prices are no factor), and as
    `advice_on`."""
    read_slo(slo or "")
    publication.check()
    rows = list(publication.rows())
    if not rows or any(row.grain.keys() != _PUBLISHED or "session_value" not in row.cells for row in rows):
        place = f"publication {publication.digest[:12]} of {publication.query}"
        raise WarehouseError("WH502", "has no values of stacks by session", place, "wh publish campaign_sessions", ExitCode.NOT_FOUND)
    key = _chosen(campaign, sorted({str(row.grain["campaign_key"]) for row in rows}))
    ours = [row for row in rows if row.grain["campaign_key"] == key]
    slots = [_published_slot(row) for row in ours]
    if is_cheapest and not any(PRICE in slot["factors"] for slot in slots):
        place = f"publication {publication.digest[:12]}"
        raise WarehouseError("WH502", f"states no price: no factor is {PRICE}", place, exit_code=ExitCode.NOT_FOUND)
    values = [each for row in ours if _cell(row, "better") in _DIRECTIONS for each in _published_values(row)]
    return advice_on(Measured(key, slots, values, disturbances=_published_disturbances(ours)), metric, indifference, slo, is_cheapest)


def _cell(row: PublishedRow, column: str) -> Any:
    """A cell's value; None where the publication is of before there was this column."""
    return row.cells[column].value if column in row.cells else None


def _published_slot(row: PublishedRow) -> dict[str, Any]:
    """A row as the runs of the plan that it is of."""
    return {
        "cell": row.grain["cell"], "session": row.grain["session"], "run_id": row.cells["session_value"].runs[0]["run_id"], "status": "succeeded",
        "status_reason": None, "is_screening": False, "factors": json.loads(_cell(row, "factors") or "{}"),
        **{name: bool(_cell(row, name)) for name in ("is_baseline", "is_added")}, **{name: _cell(row, name) for name in ("unlike", "stack_digest")},
    }


def _published_values(row: PublishedRow) -> Iterator[dict[str, Any]]:
    """One for each run of a row: the mean of a session is all that is known of its runs."""
    for run in row.cells["session_value"].runs:
        yield {**row.grain, "unit": _cell(row, "unit"), "better": _cell(row, "better"), "run_id": run["run_id"], "value": _cell(row, "session_value")}


def _published_disturbances(rows: Sequence[PublishedRow]) -> tuple[Disturbance, ...]:
    """The rows of a cell in a session, one for each metric, are of the same runs."""
    runs: dict[str, set[str]] = {}
    disturbed: dict[str, dict[str, int]] = {}
    for row in rows:
        session, cell = str(row.grain["session"]), str(row.grain["cell"])
        runs.setdefault(session, set()).update(str(run["run_id"]) for run in row.cells["session_value"].runs)
        of_cell = disturbed.setdefault(session, {})
        of_cell[cell] = max(of_cell.get(cell, 0), _cell(row, "disturbed_run_count") or 0)
    return _in_order(Disturbance(session, sum(cells.values()), len(runs[session])) for session, cells in disturbed.items() if any(cells.values()))


def _in_order(disturbances: Iterator[Disturbance] | Sequence[Disturbance]) -> tuple[Disturbance, ...]:
    return tuple(sorted(disturbances, key=lambda each: int(each.session.rpartition(" ")[2])))


def _numbers(con: "duckdb.DuckDBPyConnection", key: str) -> dict[tuple[Any, ...], str]:
    """The number ids of the typical values, by cell, work and metric."""
    columns = ", ".join(("cell", *WORK, "metric"))
    rows = con.execute(f"select {columns}, number_ids.typical from rollup.campaign_stacks where campaign_key = ?", [key]).fetchall()
    return {tuple(row[:-1]): row[-1] for row in rows}


def _spec(con: "duckdb.DuckDBPyConnection", key: str) -> dict[str, Any]:
    [(parameters,)] = con.execute("select parameters from campaign_dim where campaign_key = ?", [key]).fetchall()
    spec: dict[str, Any] = json.loads(parameters)
    return spec


def _run_more(spec: Mapping[str, Any], key: str) -> str:
    """`wh matrix` of the campaign: the file's name where its evidence has it."""
    rerun = key.removeprefix(f"matrix/{spec['name']}").rpartition("-")[0].removeprefix(".")
    return f"wh matrix {shlex.quote(spec.get('spec_file') or 'SPEC')}{f' --rerun {rerun}' if rerun else ''}"


def _of_hardware(machines: Mapping[str, tuple[float | None, str]], hardware: str, key: str) -> set[str]:
    """The runs on machines of which the text is a part of the description. Raises WH502 where there are none."""
    found = {run for run, (_, text) in machines.items() if hardware.lower() in text.lower()}
    if not found:
        known = "; ".join(sorted({text for _, text in machines.values() if text})) or "its runs do not state their machine"
        raise WarehouseError("WH502", f"no run on {printable(hardware)}", key, known, ExitCode.NOT_FOUND)
    return found


def _slot(row: tuple[Any, ...]) -> dict[str, Any]:
    slot = dict(zip(_COLUMNS, row, strict=True))
    slot["factors"] = json.loads(slot["factors"] or "{}")
    return slot


def _chosen(campaign: str, keys: Sequence[str]) -> str:
    found = [key for key in keys if key in (campaign, f"matrix/{campaign}")] or [
        key for key in keys if fnmatchcase(key, f"matrix/{campaign}") or fnmatchcase(key, f"matrix/{campaign}-*")
    ]
    if len(found) != 1:
        names = ", ".join(key.removeprefix("matrix/") for key in (found or keys)) or "there is none; wh matrix runs one"
        message = "several campaigns match" if found else "no campaign has this name"
        raise WarehouseError("WH502", message, printable(campaign), names, ExitCode.NOT_FOUND)
    return found[0]


def lock_of(project: Project, advised: Advised) -> bytes:
    """The lock of the first stack of the first piece of work that may be the best, as its evidence has it. Raises WH502 where nothing is advised,
    and what reading evidence raises."""
    first = next((each.cells[each.found.may_be_best[0]] for each in advised.works if each.found.may_be_best), None)
    if first is None:
        raise WarehouseError("WH502", "it advises no stack", advised.campaign, exit_code=ExitCode.NOT_FOUND)
    con = open_build(current_build(project).path)
    try:
        sql = "select artifact_manifest_digest from benchmark_run_fact where run_id = ?"
        digests = [str(row[0]) for row in con.execute(sql, [first.run_ids[0]]).fetchall()]
    finally:
        con.close()
    if not digests:
        raise WarehouseError("WH502", "the current build does not have its run", printable(first.run_ids[0]), exit_code=ExitCode.NOT_FOUND)
    store, digest = open_store(project), digests[0]
    file = store.manifest(digest).by_path[_LOCK]
    store.check_file(digest, file)
    return store.objects.read(raw_key(digest, _LOCK))
