"""The runs of a number: those that it depends on, and those that were left out, each with the reason and the clause that did it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from warehouse.claims.gate.evidence import REQUESTS, SESSION, STARTED_AT, Evidence
from warehouse.claims.numbers.lineage import Lineage
from warehouse.errors import counted
from warehouse.statistics.interval import Interval
from warehouse.surfaces.parts import Chart, Column, Table, without_empty

RUN = "/runs/{run_id:path}"
USED, LEFT_OUT, FAILED, NOT_USED = "used", "left out", "failed", "read, not used"
_MOST_RUNS = 200


def runs_table(number: Lineage, unit: str | None) -> Table:
    """The runs that the number depends on, with the value of each, in this unit, where its query claims a statistic of them, and the runs that
    were left out of it."""
    evidence = number.worth.evidence if number.worth else None
    rows = list(_judged(number, evidence) if evidence else _traced(number))
    columns = (
        Column("run_id", "run", "code", link=RUN), Column("value", kind="number", unit=unit), Column("state", kind="state"),
        Column("why"), Column("clause", "left out by", "code", is_minor=True), Column("place", "at", "code", is_minor=True),
        Column("session", is_minor=True), Column("started_at", "started", "moment", is_minor=True), Column("requests", kind="number", is_minor=True),
    )
    interval = number.worth.interval if number.worth else None
    chart = Chart(
        "dots", "value", title="Each dot is a run", x_unit=unit, state="state", hatched=(LEFT_OUT, FAILED, NOT_USED), link=RUN,
        band=(interval.low, interval.high) if isinstance(interval, Interval) else None,
        mark=float(number.value) if evidence and evidence.value is not None else None,
    )
    without = sum(row[1] is None for row in rows)
    note = ""
    if evidence is None:
        note = "What each run measured is not known here: the query claims no statistic of this column. Its rows are at wh lineage NUMBER --rows."
    elif without:
        note = f"{counted(without, 'run has', 'runs have')} no value and so no dot."
    drawn = chart if sum(row[1] is not None for row in rows) else None
    return Table(
        "runs", without_empty(columns, rows), tuple(rows[:_MOST_RUNS]), "The runs", note, "it depends on no run", len(rows), chart=drawn,
    )


def left_out_count(number: Lineage) -> int:
    """How many runs were left out, as far as its judgement says."""
    evidence = number.worth.evidence if number.worth else None
    return len({each.run_id for each in evidence.left_out}) if evidence else 0


def _judged(number: Lineage, evidence: Evidence) -> Iterator[tuple[Any, ...]]:
    left_out = {each.run_id: each for each in evidence.left_out}
    for each in sorted(evidence.observations, key=lambda each: not each.is_used):
        told = left_out.pop(each.run_id, None)
        state = USED if each.is_used else FAILED if told and told.has_failed else LEFT_OUT if told and told.clause else NOT_USED
        decided = str(number.decisions[each.run_id]) if each.run_id in number.decisions else None
        why = decided or (told.excuse or told.reason if told else None)
        yield (
            each.run_id, each.value, state, why, told and told.clause or None, told and told.place or None, each.columns.get(SESSION),
            each.columns.get(STARTED_AT), each.columns.get(REQUESTS),
        )
    for told in left_out.values():
        why = told.excuse or f"{told.reason}; no reason was given why it does not count"
        yield told.run_id, None, FAILED if told.has_failed else LEFT_OUT, why, told.clause or None, told.place or None, None, None, None


def _traced(number: Lineage) -> Iterator[tuple[Any, ...]]:
    for run in number.runs:
        run_id = str(run["run_id"])
        decided = str(number.decisions[run_id]) if run_id in number.decisions else None
        yield run_id, None, USED, decided, None, None, None, None, None
