"""What a build says that it is without: the runs whose rows left its detail tables for their age (`warm_tier`).

`state.away` has them by the table that they left, for the builds that follow; `catalog.away` is for readers, so that no answer
without these rows passes for an answer over all.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from warehouse.transform.project.model import BUNDLE_COLUMN, RUN_COLUMN
from warehouse.transform.sql.duck import SEARCH_PATH, quoted

if TYPE_CHECKING:
    from pathlib import Path

    import duckdb

    from warehouse.transform.incremental.warm_tier import DetailTable

AWAY = "state.away"


def create_away_table(con: "duckdb.DuckDBPyConnection") -> None:
    con.execute(f"create table if not exists {AWAY} (model varchar, {RUN_COLUMN} varchar, {BUNDLE_COLUMN} varchar)")


def write_away(con: "duckdb.DuckDBPyConnection", tables: Iterable[DetailTable]) -> None:
    """Make `catalog.away`: a table is without its own rows that left, and without those that it would have from tables that leave
    with it; of a run that several bundles state it may have all that it ever had."""
    names = f"{RUN_COLUMN} varchar, {BUNDLE_COLUMN} varchar"
    con.execute(f"create table catalog.away (name varchar, {names})")
    con.execute(f"insert into catalog.away from {AWAY} order by all")
    for table in tables:
        for reader in table.read_by:
            con.execute(
                f"insert into catalog.away select ?, a.{RUN_COLUMN}, a.{BUNDLE_COLUMN} from {AWAY} as a"
                f" anti join {quoted(reader)} as r on r.{RUN_COLUMN} = a.{RUN_COLUMN} where a.model = ? order by all",
                [reader, table.qualified],
            )


def knows_away(con: "duckdb.DuckDBPyConnection") -> bool:
    """Whether a finished build is of a version that leaves detail out."""
    return bool(con.execute("select 1 from duckdb_tables() where schema_name = 'catalog' and table_name = 'away'").fetchall())


def runs_without_detail(build: "Path") -> dict[str, int]:
    """`runs_away` of a finished build's file."""
    from warehouse.transform.finished.query import open_build

    con = open_build(build)
    try:
        return runs_away(con)
    finally:
        con.close()


def runs_away(con: "duckdb.DuckDBPyConnection", sql: str | None = None) -> dict[str, int]:
    """How many runs the tables of a finished build are without, by qualified name; with `sql`, those that this query reads,
    through views too."""
    import duckdb

    if not knows_away(con):
        return {}
    counts = dict(con.execute(f"select name, count(distinct {RUN_COLUMN}) from catalog.away group by name order by name").fetchall())
    if sql is None or not counts:
        return counts
    try:
        read = {name.lower() for name in con.get_table_names(sql)}  # a name is used once in all schemas
    except duckdb.Error:  # of a statement whose tables the engine does not tell, any may be among them
        return counts
    return {name: runs for name, runs in counts.items() if name.partition(".")[2] in read}


def told_away(result: "duckdb.DuckDBPyConnection", sql: str) -> str | None:
    """What is to be said of a query's result (`query.run_query`): that tables it reads are without some runs, and how these come
    back. None where they are whole."""
    con = result.cursor()  # the session's own result stays as it is
    try:
        con.execute(f"set search_path = '{SEARCH_PATH}'")
        away = runs_away(con, sql)
        if not away:
            return None
        days = con.execute("select warm_days from catalog.build").fetchall()[0][0]
    finally:
        con.close()
    told = ", ".join(f"{runs:,} run{'s' * (runs != 1)} in {name}" for name, runs in away.items())
    return (
        f"without the rows of {told}: they arrived more than {days} days before the build (catalog.away lists them);"
        " to have them back, name the runs in retention.keep_detail of warehouse.toml and run: wh build"
    )
