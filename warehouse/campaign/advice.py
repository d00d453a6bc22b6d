"""The best measured stack of a campaign, and how sure that is: the cells that may be the best, compared over the campaign's sessions.

Cells compete where they do the same work: same case, workload, point and metric. A cell without a result in a session is compared over the others,
and said to have failed. Nothing that was not measured is advised.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from statistics import fmean
from typing import Any

from warehouse.analysis.measurements import Measurement, measured
from warehouse.errors import ExitCode, WarehouseError, did_you_mean, printable
from warehouse.evidence.objects.location import open_store
from warehouse.evidence.store import raw_key
from warehouse.project.project import Project
from warehouse.statistics.best import Against, Best, best
from warehouse.transform.finished.builds import current_build
from warehouse.transform.finished.query import open_build

_LOCK = "pylock.toml"
_COLUMNS = ("campaign_key", "cell", "session", "is_screening", "factors", "is_baseline", "run_id", "status", "status_reason", "stack_digest")
_CELLS = f"select {', '.join(_COLUMNS)} from campaign_cell_fact"


@dataclass(frozen=True)
class CellResult:
    """A cell with what it gave: `values` has the geometric mean of the runs of each session in which it has a result, `run_ids` all of those runs.
    `failures`: how its other runs ended, and why, with their number."""

    cell: str
    factors: Mapping[str, str]
    is_baseline: bool
    stack_digest: str | None
    values: Mapping[str, float]
    run_ids: tuple[str, ...]
    failures: Mapping[tuple[str, str | None], int]

    @property
    def label(self) -> str:
        return " ".join(f"{name}={value}" for name, value in self.factors.items())


@dataclass(frozen=True)
class Advice:
    """What a campaign says of one piece of work. `sessions` that the campaign has; `cells` by name; `found` compares those that can be compared."""

    campaign: str
    case: str | None
    workload: str | None
    point: str
    metric: str
    unit: str | None
    higher_is_better: bool
    sessions: int
    cells: Mapping[str, CellResult]
    found: Best
    other_metrics: tuple[str, ...] = field(default=())

    @property
    def baseline(self) -> CellResult | None:
        return next((cell for cell in self.cells.values() if cell.is_baseline), None)

    def typical(self, cell: str) -> float:
        """The geometric mean of a cell's sessions."""
        return math.exp(fmean(math.log(value) for value in self.cells[cell].values.values()))

    @property
    def against_baseline(self) -> Against | None:
        """The first of those that may be the best beside the baseline; None where that is itself, or is not known."""
        base = self.baseline
        if base is None or not self.found.may_be_best or self.found.may_be_best[0] == base.cell:
            return None
        first = self.found.may_be_best[0]
        pair = best(
            {name: self.cells[name].values for name in (first, base.cell)}, higher_is_better=self.higher_is_better, confidence=self.found.confidence
        )
        return pair.against.get(first)


@dataclass(frozen=True)
class Advised:
    """All that a campaign says: an advice for each piece of work, and the cells that have no result at all."""

    campaign: str
    works: tuple[Advice, ...]
    failed: tuple[CellResult, ...]


def advise(project: Project, campaign: str, metric: str | None = None, indifference: float = 0.0) -> Advised:
    """What a campaign says, which is given by its name or id; `*` stands for any characters. Raises WH211 (nothing built), WH502 (no such campaign,
    or several; no result; no such metric) and WH504 where it has several metrics and none was chosen."""
    with measured(current_build(project)) as session:
        rows = session.con.execute(_CELLS).fetchall()
        key = _chosen(campaign, sorted({row[0] for row in rows}))
        slots = [_slot(row) for row in rows if row[0] == key]
        # What chose the front-runners says too much of them: only fresh sessions count, once there are some.
        is_confirmed = any(slot["run_id"] and not slot["is_screening"] for slot in slots)
        slots = [slot for slot in slots if not (is_confirmed and slot["is_screening"])]
        by_run = {slot["run_id"]: slot for slot in slots if slot["run_id"]}
        taken = session.read("list_contains(?, m.run_id) and m.better in ('lower', 'higher') and m.value > 0", [sorted(by_run)])
    chosen = _of_metric(taken, metric, key)
    works: dict[tuple[str | None, ...], list[Measurement]] = {}
    for each in chosen:
        works.setdefault((each.benchmark_case_id, each.variables["workload"], each.point), []).append(each)
    of_cell: dict[str, list[dict[str, Any]]] = {}
    for slot in slots:
        of_cell.setdefault(slot["cell"], []).append(slot)
    others = tuple(sorted({each.metric for each in taken} - {chosen[0].metric}))
    sessions = len({slot["session"] for slot in slots})
    advised = []
    for _, found in sorted(works.items(), key=lambda each: str(each[0])):
        results = _by_cell(found, by_run)
        cells = {name: _result(of_cell[name], results[name]) for name in sorted(results)}
        first = found[0]
        compared = best({name: cell.values for name, cell in cells.items()}, higher_is_better=first.better == "higher", indifference=indifference)
        work = first.benchmark_case_id, first.variables["workload"], first.point
        advised.append(Advice(key, *work, first.metric, first.unit, first.better == "higher", sessions, cells, compared, others))
    measured_cells = {name for each in advised for name in each.cells}
    return Advised(key, tuple(advised), tuple(_result(found, []) for name, found in sorted(of_cell.items()) if name not in measured_cells))


def front_runners(project: Project, campaign: str, metric: str, count: int) -> dict[str, float]:
    """The best `count` cells of each piece of work of a campaign by `metric`, and the baseline, each with its typical value. Raises as `advise`."""
    found: dict[str, float] = {}
    for work in advise(project, campaign, metric).works:
        ranked = sorted(work.cells, key=work.typical, reverse=work.higher_is_better)
        base = work.baseline
        found |= {name: work.typical(name) for name in (*ranked[:count], *([base.cell] if base else []))}
    return found


def _of_metric(taken: Sequence[Measurement], metric: str | None, key: str) -> list[Measurement]:
    metrics = sorted({each.metric for each in taken})
    if not metrics:
        hint = "wh sql \"select * from campaign_cell_fact\" says what became of them"
        raise WarehouseError("WH502", "none of its runs has a result", key, hint, ExitCode.NOT_FOUND)
    if metric is None and len(metrics) > 1:
        raise WarehouseError("WH504", f"it measured {', '.join(metrics)}", key, f"choose one: --metric {metrics[0]}", ExitCode.USAGE)
    chosen = [each for each in taken if each.metric == (metric or metrics[0])]
    if not chosen:
        hint = did_you_mean(metric or "", metrics) or f"it has {', '.join(metrics)}"
        raise WarehouseError("WH502", f"it has no metric {printable(metric or '')}", key, hint, ExitCode.NOT_FOUND)
    return chosen


def _by_cell(found: Sequence[Measurement], by_run: Mapping[str, Mapping[str, Any]]) -> dict[str, list[tuple[str, Measurement]]]:
    results: dict[str, list[tuple[str, Measurement]]] = {}
    for each in found:
        slot = by_run[each.run_id]
        results.setdefault(slot["cell"], []).append((str(slot["session"]), each))
    return results


def _result(slots: Sequence[Mapping[str, Any]], found: Sequence[tuple[str, Measurement]]) -> CellResult:
    logs: dict[str, list[float]] = {}
    for session, each in found:
        logs.setdefault(session, []).append(math.log(each.value))
    failures = Counter((slot["status"], slot["status_reason"]) for slot in slots if slot["status"] != "succeeded")
    first = slots[0]
    return CellResult(
        first["cell"], first["factors"], first["is_baseline"], next((slot["stack_digest"] for slot in slots if slot["stack_digest"]), None),
        {session: math.exp(fmean(values)) for session, values in logs.items()}, tuple(sorted(each.run_id for _, each in found)), failures,
    )


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
        [(digest,)] = con.execute(sql, [first.run_ids[0]]).fetchall()
    finally:
        con.close()
    store = open_store(project)
    file = store.manifest(digest).by_path[_LOCK]
    store.check_file(digest, file)
    return store.objects.read(raw_key(digest, _LOCK))
