"""`wh retention plan`, the warm tier: what a build at this time would leave out of its detail tables, what is out already, and
what stays although it is past its age, and why.

Nothing is removed here, and the ledger says nothing of it: detail is derived. It leaves with a build and comes back with one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from warehouse.evidence.ledger.events import Ledger
from warehouse.evidence.objects.location import open_store
from warehouse.project.project import Project
from warehouse.transform.finished.builds import find_current

if TYPE_CHECKING:
    import duckdb

LEAVES = "leaves"  # past its age: the next build is without it
AWAY = "away"  # the current build is without it
RETURNS = "returns"  # it is, and the next build is not
KEPT = "kept"  # past its age, and its run is one of `retention.keep_detail`
NEEDED = "needed"  # past its age, but something that would be other without it reads the table


@dataclass(frozen=True)
class AgedDetail:
    """The runs of one detail table, by qualified name, that are in one state (`LEAVES` and the others); their rows, where the
    current build holds them; and what needs the table."""

    table: str
    state: str
    runs: int
    rows: int | None = None
    needed_by: tuple[str, ...] = ()


@dataclass(frozen=True)
class DetailPlan:
    """The detail past its age by table and state, and the runs of `retention.keep_detail` that no detail table knows."""

    aged: tuple[AgedDetail, ...]
    unknown_runs: tuple[str, ...]


def plan_detail(project: Project, now: datetime | None = None) -> DetailPlan:
    """What becomes of the detail in the project's current build by a build now (UTC); nothing where there is none. Raises
    what reading the ledger does (WH114)."""
    from warehouse.transform.finished.query import open_build

    current = find_current(project)
    if current is None:
        return DetailPlan((), ())
    horizon = (now or datetime.now(UTC)) - timedelta(days=project.retention.warm_days)
    arrivals = Ledger(open_store(project).objects).arrivals()
    past = frozenset(digest for digest, time in arrivals.items() if datetime.fromisoformat(time) <= horizon)
    kept = frozenset(project.retention.kept_detail)
    known: set[str] = set()
    aged: list[AgedDetail] = []
    con = open_build(current.path)
    try:
        for table, needed_by in _detail_tables(con):
            aged += _of_table(con, table, tuple(needed_by), past, kept, known)
    finally:
        con.close()
    return DetailPlan(tuple(aged), tuple(sorted(kept - known)))


def _detail_tables(con: "duckdb.DuckDBPyConnection") -> list[tuple[str, list[str]]]:
    from warehouse.transform.incremental.aged_out import knows_away

    return con.execute("select name, needed_by from catalog.detail_table order by name").fetchall() if knows_away(con) else []


def _of_table(
    con: "duckdb.DuckDBPyConnection", table: str, needed_by: tuple[str, ...], past: Collection[str], kept: Collection[str],
    known: set[str],
) -> list[AgedDetail]:
    """The states of one table's runs; they are added to `known`."""
    from warehouse.transform.sql.duck import quoted

    runs: Counter[str] = Counter()
    rows: Counter[str] = Counter()
    for run_id, digest, count in con.execute(
        f"select run_id, artifact_manifest_digest, count(*) from {quoted(table)} group by all"
    ).fetchall():
        known.add(run_id)
        if digest in past:
            state = NEEDED if needed_by else KEPT if run_id in kept else LEAVES
            runs[state] += 1
            rows[state] += count
    for run_id, digest in con.execute("select run_id, artifact_manifest_digest from catalog.away where name = ?", [table]).fetchall():
        known.add(run_id)
        runs[AWAY if digest in past and run_id not in kept else RETURNS] += 1
    return [AgedDetail(table, state, runs[state], rows.get(state), needed_by if state == NEEDED else ()) for state in sorted(runs)]
