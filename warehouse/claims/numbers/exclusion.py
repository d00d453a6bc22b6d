"""The excluded-by set of one number, in the current build."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from warehouse.claims.numbers.search import current_cell
from warehouse.errors import WarehouseError
from warehouse.project.project import Project

if TYPE_CHECKING:
    from warehouse.claims.numbers.lineage import Lineage
    from warehouse.trace.excluded.clauses import Clause
    from warehouse.trace.excluded.following import FollowedRuns
    from warehouse.trace.excluded.survival import Loss

NOT_DETERMINED = "not determined"


@dataclass(frozen=True)
class Excluded:
    """A run that did not contribute, for one reason; a query that reads it in two ways can have two.

    `reason` is the kind of the clause (`where`, `inner join`, `anti join`, `qualify`, ...), or `not determined`. `clause` is
    its text and `place` its file and line. `is_null`: the condition was NULL for the run, not false. `witnesses` are the runs
    whose rows excluded it, or were taken in its place. `is_of_row`: whether it would have been in this number's row by
    its grain; None where that is not known. `decision` is why it is not admitted, None where it is.
    """

    run_id: str
    reason: str
    clause: str
    place: str
    is_null: bool
    witnesses: tuple[str, ...]
    is_of_row: bool | None
    decision: str | None


@dataclass(frozen=True)
class Elsewhere:
    """A run that belongs to other rows of the result: the grain of the first of them, and how many there are."""

    run_id: str
    grain: Mapping[str, Any]
    rows: int


@dataclass(frozen=True)
class Exclusion:
    """The population of a number and what of it did not contribute. `tables` are those whose runs it is, `own` how many of
    them contributed."""

    build: str
    tables: tuple[str, ...]
    population: int
    own: int
    excluded: tuple[Excluded, ...]
    elsewhere: tuple[Elsewhere, ...]


def excluded_by(project: Project, number: "Lineage") -> Exclusion:
    """The runs that did not contribute to a number, with the reason for each. Raises WH311 when the current build does not
    hold the number any more, WH218 and WH123 for a build or landing that is not what was made."""
    from warehouse.trace.catalog import open_trace_session
    from warehouse.trace.excluded.following import follow_runs
    from warehouse.transform.finished.builds import find_current

    build = find_current(project)
    now = current_cell(project, number.query, number.grain, number.column)
    if build is None or now is None or now.rowid is None or now.cell.number_id != number.number_id:
        raise WarehouseError(
            "WH311", "the current build does not hold this number any more", number.key,
            "build from the same evidence and files again, or ask for the number that the build holds now",
        )
    con, catalog = open_trace_session(build, project.store_root)
    try:
        found = follow_runs(con, catalog, number.query, now.rowid)
    finally:
        con.close()
    own = {str(run["run_id"]) for run in number.runs} | {run for run, rows in found.kept.items() if now.rowid in rows}
    elsewhere = {run: rows for run, rows in sorted(found.kept.items()) if run not in own}
    return Exclusion(
        build.digest, found.tables, len(found.population), len(own & found.population), _excluded(found, own, now.rowid),
        tuple(Elsewhere(run, found.grains[min(rows)], len(rows)) for run, rows in elsewhere.items()),
    )


def _excluded(found: "FollowedRuns", own: set[str], rowid: int) -> tuple[Excluded, ...]:
    """The losses of runs that no reading kept, each reason once, those of the number's own row first. What two readings say
    differently for one reason is reported by the one that is nearer to the row."""
    order = {True: 0, None: 1, False: 2}
    told: dict[tuple[str, Clause, bool], Loss] = {}
    for loss in sorted(found.losses, key=lambda loss: order[loss.is_of(rowid)]):
        if loss.run_id not in own and loss.run_id not in found.kept:
            told.setdefault((loss.run_id, loss.clause, loss.is_determined), loss)
    return tuple(
        Excluded(
            loss.run_id, loss.clause.kind if loss.is_determined else NOT_DETERMINED, loss.clause.text, loss.clause.place,
            loss.is_null, loss.witnesses, loss.is_of(rowid), found.decisions.get(loss.run_id),
        )
        for loss in told.values()
    )
