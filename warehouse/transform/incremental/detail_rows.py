"""Rows of detail tables on their way out of a build's database and back into it (`warm_tier`).

What is left out is recorded (`away`) in the transaction that takes the rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from warehouse.transform.incremental.aged_out import AWAY
from warehouse.transform.incremental.incremental import AFFECTED, delta_name
from warehouse.transform.incremental.warm_tier import WarmTier
from warehouse.transform.inputs.content import HASH_SUM, ROW, ROWS, Content, content_by_key
from warehouse.transform.project.model import BUNDLE_COLUMN, RUN_COLUMN, Model
from warehouse.transform.sql.duck import execute, quote, quoted, text_literal

if TYPE_CHECKING:
    import duckdb

_PAST, _LEAVING = '"wh past"', '"wh leaving"'


@dataclass(frozen=True)
class Left:
    """How many runs left a table, and what they held."""

    runs: int
    content: Content


def left_out(con: "duckdb.DuckDBPyConnection", name: str, tier: WarmTier | None) -> str:
    """A condition that is true of the rows that a table is made without; empty where it is made whole. The session has what
    it names until it is asked again."""
    past = tier.leaves_out(name) if tier else []
    if not tier or not past:
        return ""
    con.execute(f"create or replace temp table {_PAST} as select unnest(?::varchar[]) as {BUNDLE_COLUMN}", [past])
    kept = ", ".join(map(text_literal, tier.kept))
    stays = f" and {RUN_COLUMN} not in ({kept})" if kept else ""
    return f"coalesce({BUNDLE_COLUMN} in (select p.{BUNDLE_COLUMN} from {_PAST} as p){stays}, false)"


def record_away(con: "duckdb.DuckDBPyConnection", model: Model, condition: str) -> None:
    """After a table was made from nothing: which runs it is made without. Raises WH209."""
    forget_away(con, model.qualified)
    if condition:
        prefix = f"insert into {AWAY} select distinct {text_literal(model.qualified)}, {RUN_COLUMN}, {BUNDLE_COLUMN} from ("
        execute(con, model, prefix, f") where {condition}")


def forget_away(con: "duckdb.DuckDBPyConnection", qualified: str) -> None:
    con.execute(f"delete from {AWAY} where model = ?", [qualified])


def forget_affected(con: "duckdb.DuckDBPyConnection", model: Model) -> None:
    """After an update: the runs that it computed anew are all in the table again."""
    con.execute(f"delete from {AWAY} where model = ? and {RUN_COLUMN} in (select {RUN_COLUMN} from {AFFECTED})", [model.qualified])


def returning(con: "duckdb.DuckDBPyConnection", model: Model, condition: str) -> str:
    """SQL for the runs that are away and are to be in the table; empty when there are none."""
    runs = f"select distinct {RUN_COLUMN} from {AWAY} where model = {text_literal(model.qualified)}"
    if condition:
        runs += f" and not {condition}"
    return runs if con.execute(f"{runs} limit 1").fetchall() else ""


def leave(
    con: "duckdb.DuckDBPyConnection", model: Model, types: Mapping[str, str], condition: str, *, has_delta: bool
) -> Left:
    """Take the rows that meet a condition out of a table, and record their runs. They are added to the rows that changed in
    this build (`incremental.delta_name`); with `has_delta` there are others among these."""
    if not condition:
        return Left(0, Content(0, 0))
    table, delta = quoted(model.qualified), delta_name(model.qualified)
    by_run = content_by_key(table, types, (RUN_COLUMN, BUNDLE_COLUMN), f"where {condition}")
    con.execute(f"create or replace temp table {_LEAVING} as {by_run}")
    runs, rows, hashes = con.execute(
        f"select count(distinct {RUN_COLUMN}), sum({ROWS}), sum({HASH_SUM}) from {_LEAVING}"
    ).fetchall()[0]
    if runs:
        leaving = f"from {table} as {ROW} where {condition}"
        con.execute(f"{f'insert into {delta}' if has_delta else f'create or replace temp table {delta} as'} select {ROW}.* {leaving}")
        con.execute(f"delete from {table} where {condition}")
        con.execute(f"insert into {AWAY} select {text_literal(model.qualified)}, {RUN_COLUMN}, {BUNDLE_COLUMN} from {_LEAVING}")
    return Left(runs, Content(int(rows or 0), int(hashes or 0)))


def bundles_present(con: "duckdb.DuckDBPyConnection", tier: WarmTier) -> set[str]:
    """The bundles of which tables that rows leave hold some."""
    tables = [quoted(table.qualified) for table in tier.tables.values() if not table.needed_by]
    return {
        row[0] for table in tables
        for row in con.execute(f"select distinct {quote(BUNDLE_COLUMN)} from {table}").fetchall()
    }
