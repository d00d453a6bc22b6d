"""Campaigns: of one, the stacks that may be the best, each run of the plan with what became of it, and what was spent of the budget."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from statistics import fmean
from typing import Any

from warehouse.campaign.advice import Advice, Advised, CellResult
from warehouse.campaign.measured import advise
from warehouse.errors import ExitCode, WarehouseError, counted, printable
from warehouse.surfaces.figures import rounded
from warehouse.surfaces.parts import Chart, Column, Entry, Fact, Facts, Page, Part, Table
from warehouse.surfaces.view import Parameter, View, Visit
from warehouse.surfaces.views.analysis.wording import choices
from warehouse.surfaces.views.facts.reading import Reader, reader

_PATH = "/campaigns"
_NEXT = {"Results": "/results", "What is no longer fresh": "/freshness"}
_MOST = 100
_MOST_DRAWN = 2000  # runs of the plan
_MATRIX = "matrix"
_TABLES = ("main.campaign_dim", "main.campaign_cell_fact", "mart.campaign_measurement", "mart.stack_vulnerability", "rollup.campaign_stacks")
_NONE = "No campaign yet. A campaign runs one benchmark on many software stacks and says which may be the best: wh matrix SPEC (docs/campaigns.md)."
_CELLS, _NEEDED = "main.campaign_cell_fact", {"is_screening", "is_added", "stack_digest", "status_reason"}
_WITHOUT = ("failed", "interrupted", "unknown", "not resolved", "not built", "missing")
_STACKS = (
    Column("place", kind="state"), Column("stack", below="cell"), Column("value", kind="number", link="/numbers/{number}"),
    Column("effect", "beside the best other", kind="effect", note="times as good as the best of the others, with its simultaneous 95 % interval"),
    Column("ratio", "times as good", kind="number"), Column("sessions", kind="number"), Column("failures", is_minor=True),
    *(Column(name, is_hidden=True) for name in ("cell", "number", "stack_digest", "low", "high")),
)
_PLAN = (
    Column("stack", below="cell"), Column("session"), Column("status", kind="state"), Column("value", kind="number"),
    Column("beside", "beside its block", kind="number", note="times as good as the geometric mean of the session's stacks at the same work"),
    Column("reason", most=80), Column("run_id", "run", kind="code", link="/runs/{run_id:path}"), Column("cell", is_hidden=True),
)


def _answer(visit: Visit) -> Page:
    with reader(visit) as found:
        listed = _campaigns(found)
        matrices = [each for each in listed if each["kind"] == _MATRIX]
        key = visit["campaign"] or (matrices[0]["campaign"] if matrices else None)
        if visit["campaign"] and key not in {each["campaign"] for each in matrices}:
            raise WarehouseError("WH502", "no campaign of wh matrix has this name", printable(str(key)), f"see {_PATH}", ExitCode.NOT_FOUND)
        chosen = next((each for each in matrices if each["campaign"] == key), None)
        parts: list[Part] = [*_one(found, visit, chosen)] if chosen else []
    columns = (
        Column("name", "campaign", link=f"{_PATH}?campaign={{matrix}}", below="campaign"), Column("kind", kind="state"),
        Column("requested_count", "runs asked for", kind="number"), Column("started_at", "start", kind="moment"),
        Column("campaign", is_hidden=True), Column("matrix", is_hidden=True),
    )
    rows = tuple(
        (each["name"] or each["campaign"], each["kind"], each["requested_count"], each["started_at"], each["campaign"],
         each["campaign"] if each["kind"] == _MATRIX else None)
        for each in listed[:_MOST]
    )
    if len(listed) != 1 or not chosen:
        title = "All campaigns" if chosen else ""
        parts.append(Table("campaigns", columns, rows, title, empty=_NONE, total=len(listed), is_folded=bool(chosen)))
    said = chosen["campaign"] if chosen else ""
    return Page(f"Campaign {chosen['name']}" if chosen else "Campaigns", tuple(parts), said, next_steps=_NEXT)


def _campaigns(found: Reader) -> list[dict[str, Any]]:
    """All campaigns, the last first."""
    if not all(found.columns(name) for name in _TABLES):  # a project of other models
        return []
    if missing := sorted(_NEEDED - found.columns(_CELLS)):
        raise WarehouseError("WH501", f"no column {missing[0]}: the build is of an earlier version", _CELLS, "run: wh build")
    return found.rows(
        "select campaign_key as campaign, name, kind, requested_count, started_at, parameters from main.campaign_dim"
        " order by kind <> 'matrix', started_at desc nulls last, campaign_key"
    )


def _one(found: Reader, visit: Visit, campaign: Mapping[str, Any]) -> Iterator[Part]:
    key = campaign["campaign"]
    metrics = [row["metric"] for row in found.rows(
        "select distinct metric from mart.campaign_measurement where campaign_key = ? and part = 'counted' and better <> 'neither' and value > 0"
        " order by metric", [key],
    )]
    spec = json.loads(campaign["parameters"] or "{}")
    yield _budget(found, key, spec)
    if not metrics:
        yield Entry("advice", "No run has a result", lines=("each row below has its reason",), tone="bad")
        yield _plan(found, key, None, _labels(found, key))
        return
    labels = _labels(found, key)
    metric = visit["metric"] or (spec.get("confirmation") or {}).get("metric") or metrics[0]
    if len(metrics) > 1:
        yield choices("metrics", _PATH, {"campaign": key, "metric": metric}, "metric", [(each, each, None) for each in metrics])
    advised = advise(visit.project, key, metric)
    if advised.disturbances:
        note = "by other work, a limit or heat, as the recordings have it; the comparisons are within sessions"
        yield Entry("disturbed", f"Disturbed: session {advised.disturbed_text}", lines=(note,), tone="warn")
    for number, advice in enumerate(advised.works, start=1):
        called, _, unit = found.metric_names.of(advice.metric, advice.unit)
        yield _entry(advice, number, called, unit, labels)
        yield _stacks(advice, number, called, unit, labels)
    if advised.failed:
        yield _failed(advised, labels)
    if advised.vulnerabilities:
        yield _vulnerabilities(advised, labels)
    yield _plan(found, key, advised, labels)


def _labels(found: Reader, key: str) -> dict[str, str]:
    """What people call each cell: its values of the factors that differ between cells, of all where none does."""
    rows = found.rows("select distinct cell, factors from main.campaign_cell_fact where campaign_key = ?", [key])
    factors = {row["cell"]: json.loads(row["factors"] or "{}") for row in rows}
    names = list(dict.fromkeys(name for each in factors.values() for name in each))
    apart = [name for name in names if len({str(each.get(name)) for each in factors.values()}) > 1] or names
    return {cell: " ".join(f"{name}={each[name]}" for name in apart if name in each) or cell for cell, each in factors.items()}


def _budget(found: Reader, key: str, spec: Mapping[str, Any]) -> Facts:
    """What was run and spent, beside what the spec allows."""
    spent = found.by_key("staging.matrix_spent", "campaign_key", key)
    [plan] = found.rows(
        "select count(*) as planned, count(*) filter (where status = 'succeeded') as succeeded, count(distinct cell) as cells,"
        " count(distinct stack_digest) as stacks, count(distinct session) as sessions from main.campaign_cell_fact where campaign_key = ?", [key],
    )
    budget = spec.get("budget") or {}
    without = plan["planned"] - plan["succeeded"]
    items = [
        Fact("cells", plan["cells"], title=f"cells of {counted(plan['stacks'], 'stack')}, in {counted(plan['sessions'], 'session')}"),
        Fact("planned", f"{plan['succeeded']:,} of {plan['planned']:,}", title="runs with a result", tone="warn" if without else "good"),
    ]
    for row in spent:
        hours = (row["run_s"] or 0) / 3600
        most_runs, most_hours, most_dollars = (budget.get(name) for name in ("runs", "hours", "dollars"))
        items.append(Fact("runs", f"{row['run_count']:,}" + (f" of {most_runs:,}" if most_runs else ""), title="runs made, with warm-ups"))
        items.append(Fact("time", _time(hours) + (f" of {_time(most_hours)}" if most_hours else ""), title="of runs"))
        if price := budget.get("dollars_per_hour"):
            spent_words = f"${hours * price:.2f}" + (f" of ${most_dollars:,.2f}" if most_dollars else "")
            items.append(Fact("dollars", spent_words, title=f"at ${price:g} an hour"))
    return Facts("budget", tuple(items), form="cards")


def _time(hours: float) -> str:
    for unit, size in (("h", 1), ("min", 60)):
        if hours * size >= 1:
            return f"{rounded(hours * size)} {unit}"
    return f"{rounded(hours * 3600)} s"


def _entry(advice: Advice, number: int, called: str, unit: str | None, labels: Mapping[str, str]) -> Entry:
    named, first = advice.found.named, advice.found.may_be_best[:1]
    lines = [f"{called} of {advice.case} {advice.point}".rstrip() + f": {'higher' if advice.higher_is_better else 'lower'} is better"]
    if advice.runner_up and named:
        other, against = advice.runner_up
        interval = f"{against.low:.3g} to {against.high:.3g}"
        lines.append(f"runner-up: {labels.get(other, advice.cells[other].label)}; the best is {against.ratio:.3g} times as good ({interval})")
    if advice.next_run:
        lines.append(f"the next run that would say most: {advice.next_run}")
    title = advice.verdict[:1].upper() + advice.verdict[1:]
    value = f"{rounded(advice.typical(first[0]))} {unit or called}" if first else ""
    return Entry(f"advice_{number}", title, lines=tuple(lines), value=value, tone="good" if named else "warn")


def _stacks(advice: Advice, number: int, called: str, unit: str | None, labels: Mapping[str, str]) -> Table:
    rows = []
    for name in advice.ranked[:_MOST]:
        cell, against = advice.cells[name], advice.found.against.get(name)
        ratio, low, high = (against.ratio, against.low, against.high) if against else (None, None, None)
        effect = {"ratio": ratio, "low": low, "high": high, "threshold": advice.found.indifference} if against else None
        rows.append((
            advice.state(name), labels.get(name, cell.label) + (" (baseline)" if cell.is_baseline else ""), advice.typical(name), effect, ratio,
            len(cell.values), cell.failures_text or None, name, cell.number_id, cell.stack_digest, low, high,
        ))
    columns = tuple(
        Column("value", called, "number", unit, link="/numbers/{number}") if column.name == "value" else column for column in _STACKS
    )
    return Table(f"stacks_{number}", columns, tuple(rows), total=len(advice.cells))


def _failed(advised: Advised, labels: Mapping[str, str]) -> Table:
    """The stacks that have no result, and why."""
    columns = (
        Column("stack", below="cell"), Column("status", kind="state"), Column("runs", kind="number"), Column("reason", most=200),
        Column("cell", is_hidden=True),
    )
    rows = tuple(
        (labels.get(cell.cell, cell.label), status, count, reason, cell.cell)
        for cell in advised.failed[:_MOST] for (status, reason), count in cell.failures.items()
    )
    return Table("failed", columns, rows, "Stacks without a result", total=len(advised.failed))


def _vulnerabilities(advised: Advised, labels: Mapping[str, str]) -> Table:
    """What the OSV files that were brought know of the stacks."""
    of_stack: dict[str | None, str] = {}
    for work in advised.works:
        for name, cell in work.cells.items():
            of_stack.setdefault(cell.stack_digest, labels.get(name, cell.label))
    columns = (
        Column("vulnerability"), Column("package"), Column("version"), Column("listed", "the version is listed", kind="state"),
        Column("summary", most=120), Column("stack", "stack, for example"), Column("stack_digest", is_hidden=True),
    )
    rows = tuple(
        (each.vulnerability_id, each.package, each.version, "yes" if each.is_affected else "not stated", each.summary,
         of_stack.get(each.stack_digest), each.stack_digest)
        for each in advised.vulnerabilities
    )
    return Table("vulnerabilities", columns, rows, "Known vulnerabilities", "By the OSV files in this warehouse.", total=len(rows))


def _plan(found: Reader, key: str, advised: Advised | None, labels: Mapping[str, str]) -> Table:
    """Each run of the plan; its value beside those of its block, which other work on the machine disturbed alike."""
    slots = found.rows(
        "select cell, session, repeat, status, status_reason, run_id from main.campaign_cell_fact where campaign_key = ?"
        " order by cell, session, repeat", [key],
    )
    cells: dict[str, tuple[Advice, CellResult]] = {
        name: (advice, cell) for advice in (advised.works if advised else ()) for name, cell in advice.cells.items()
    }
    values = _values(found, key, advised.works[0].metric) if advised else {}
    logs: dict[tuple[Any, ...], list[float]] = {}
    for slot in slots:
        if slot["run_id"] in values and slot["cell"] in cells:
            logs.setdefault(_block(slot, cells), []).append(math.log(values[slot["run_id"]]))
    is_repeated = any(slot["repeat"] > 1 for slot in slots)
    rows = []
    for slot in slots[:_MOST_DRAWN]:
        value, beside = values.get(slot["run_id"]), None
        if value is not None and slot["cell"] in cells:
            sign = 1 if cells[slot["cell"]][0].higher_is_better else -1
            beside = math.exp(sign * (math.log(value) - fmean(logs[_block(slot, cells)])))
        session = f"{slot['session']}.{slot['repeat']}" if is_repeated else str(slot["session"])
        rows.append((labels[slot["cell"]], session, slot["status"], value, beside, slot["status_reason"], slot["run_id"], slot["cell"]))
    chart = Chart(
        "grid", "session", "stack", "Each stack in each session: times as good as the others of its session", state="status", hatched=_WITHOUT,
        value="beside", link="/runs/{run_id:path}", details=("reason",),
    )
    return Table("plan", _PLAN, tuple(rows), "Every run of the plan", total=len(slots), chart=chart, is_folded=True)


def _block(slot: Mapping[str, Any], cells: Mapping[str, tuple[Advice, CellResult]]) -> tuple[Any, ...]:
    advice = cells[slot["cell"]][0]
    return slot["session"], slot["repeat"], advice.case, advice.workload, advice.point


def _values(found: Reader, key: str, metric: str) -> dict[str, float]:
    """The metric of each run that has one value of it."""
    rows = found.rows(
        "select run_id, min(value) as value from mart.campaign_measurement where campaign_key = ? and metric = ? and value > 0 group by run_id"
        " having count(*) = 1", [key, metric],
    )
    return {row["run_id"]: row["value"] for row in rows}


VIEWS = (
    View(
        "campaigns", _PATH, "Campaigns",
        "Campaigns of software stacks; of one, which stacks may be the best, what became of each run, and what was spent.",
        _answer, (
            Parameter("campaign", "The campaign's key; without it the last."),
            Parameter("metric", "What to compare, where its runs measured several."),
        ), menu="Campaigns", is_further=True, is_costly=True,
    ),
)
