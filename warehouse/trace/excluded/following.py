"""What becomes of the runs that a query reads: which rows each one contributes to, and which clause leaves it out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from warehouse.landing.parse.batches import DECISION_TABLE

if TYPE_CHECKING:
    import duckdb
    from sqlglot import exp

    from warehouse.trace.catalog import BuiltModel, Catalog
    from warehouse.trace.excluded.survival import Loss


@dataclass(frozen=True)
class FollowedRuns:
    """What becomes of the runs that a query reads: the tables whose runs they are, all of them, the losses, the row ids of the rows that
    depend on each of the others, the grain of every row, and why runs are not admitted, as the build has it."""

    tables: tuple[str, ...]
    population: frozenset[str]
    losses: "Sequence[Loss]"
    kept: Mapping[str, set[int]]
    grains: Mapping[int, Mapping[str, Any]]
    decisions: Mapping[str, str]


def follow_runs(con: "duckdb.DuckDBPyConnection", catalog: "Catalog", query: str, rowid: int | None = None) -> FollowedRuns:
    """Follow the runs that a query reads, clause by clause; losses are reported for one row of its rollup, or for all. `con` is a session of
    `open_trace_session` or `trace_in_memory`."""
    from warehouse.trace.excluded.readings import readings
    from warehouse.trace.excluded.survival import Survival
    from warehouse.trace.excluded.tree import expanded

    model = catalog.models[f"rollup.{query}"]
    survival = Survival(con, catalog, model.qualified, model.grain, rowid)
    ways = readings(expanded(model, catalog, _is_read_through), lambda table: _table_of_runs(table, catalog))
    tables = tuple(dict.fromkeys(way.table for way in ways))
    losses: list[Loss] = []
    kept: dict[str, set[int]] = {}
    for way in ways:
        lost, found = survival.follow(way)
        losses += lost
        for run, rows in found.items():
            kept.setdefault(run, set()).update(rows)
    population = frozenset[str]().union(*map(survival.population, tables))
    return FollowedRuns(tables, population, losses, kept, survival.grains(), _decisions(con, catalog))


def _is_read_through(model: "BuiltModel") -> bool:
    """A view has no rows of its own, and what a mart leaves out of the facts its queries leave out."""
    return not model.has_rows or model.schema == "mart"


def _table_of_runs(table: "exp.Table", catalog: "Catalog") -> str | None:
    name = catalog.resolve(".".join(filter(None, (table.db, table.name))))
    return name if "run_id" in catalog.columns.get(name, ()) else None


def _decisions(con: "duckdb.DuckDBPyConnection", catalog: "Catalog") -> dict[str, str]:
    """Why runs are not admitted, as the build has it."""
    if DECISION_TABLE not in catalog.landing_types:  # a build of an earlier version
        return {}
    stand_in = "coalesce(' by ' || superseded_by, '')"
    return dict(con.execute(f"select run_id, state || {stand_in} || ': ' || reason from {DECISION_TABLE}").fetchall())
