"""What is left out, against the why-sets of the whole query: over every construct that has a provenance case, and random SQL.

A run of a reading is either kept or lost, never both and never neither; what is kept is in the why-set of some row of the
query annotated in one piece; and a clause is quoted as it stands in the text.
"""

from __future__ import annotations

import re

import duckdb
import pytest
from exhaustive import few
from provenance import generator, oracle

from warehouse.errors import WarehouseError
from warehouse.trace.catalog import BuiltModel, Catalog
from warehouse.trace.excluded.readings import readings
from warehouse.trace.excluded.survival import Survival
from warehouse.trace.excluded.tree import expanded
from warehouse.trace.provenance.annotator import annotate
from warehouse.transform.sql.text import canonical

# Table -> its columns; those of the fixture, and a run_id where it has none.
COLUMNS = {"run": ("id", "host", "conc", "tput", "status", "run_id"), "host": ("id", "name", "gpus")}
SAMPLE = {"sample": ("id", "run_id", "latency", "tags")}
# Their parts are not taken from each other: a PIVOT, a recursive CTE, joins in brackets; and names that only the engine knows.
UNTOLD = re.compile(r"pivot|recursive|parenthes|names_as_the_engine|two_columns_of_one_name|another_of_its_name_hides")
SEEDS = range(40)


def connect() -> duckdb.DuckDBPyConnection:
    con = oracle.connect()
    con.execute("alter table run add column run_id varchar; update run set run_id = 'run ' || id; create schema rollup")
    return con


def cases() -> list[oracle.Case]:
    """Those that are traced and can be a rollup, which has no two columns of one name."""
    with connect() as con:
        traced = [case for case in oracle.all_cases() if case.refuse is None]
        names = [[row[0].lower() for row in con.execute(f"describe {case.sql}").fetchall()] for case in traced]
    return [case for case, columns in zip(traced, names, strict=True) if len(set(columns)) == len(columns)]


CASES = cases()


@pytest.fixture(scope="module")
def fixture() -> duckdb.DuckDBPyConnection:
    return connect()


def examined(con: duckdb.DuckDBPyConnection, tables: dict[str, tuple[str, ...]], sql: str) -> tuple[int, set[bool]]:
    """Check one query: how many runs were lost or kept, and whether each loss was determined."""
    con.execute(f"create or replace table rollup.q as {sql}")
    grain = [row[0] for row in con.execute("describe rollup.q").fetchall()]
    model = BuiltModel("q", "rollup", "table", "", "q.sql", sql, (), (), None)
    models = {name: BuiltModel(name.rpartition(".")[2], "main", "table", "", "", "", (), (), None) for name in tables}
    session = con.cursor()  # with temporary tables of its own
    survival = Survival(session, Catalog(models, tables, {}, {}, ()), model.qualified, grain, 0)
    whole = annotate(sql, tables, {name: "{alias}.run_id" if "run_id" in columns else "1" for name, columns in tables.items()})
    why = {
        str(row[0])
        for occurrence in whole.occurrences if "run_id" in tables[occurrence.table]
        for row in session.execute(f"select distinct unnest(__why_{occurrence.number}) from ({whole.sql})").fetchall()
    }
    told, determined = 0, set()
    for way in readings(expanded(model, Catalog({}, {}, {}, {}, ()), lambda read: False), lambda table: of_runs(table.sql(), tables)):
        losses, kept = survival.follow(way)
        lost = {loss.run_id for loss in losses}
        assert lost.isdisjoint(kept) and lost | kept.keys() == survival.population(way.table)
        assert kept.keys() <= why
        for loss in losses:
            assert not loss.is_determined or canonical(loss.clause.text) in canonical(sql) or loss.clause.kind in ("limit", "inner join")
        told += len(lost) + len(kept)
        determined |= {loss.is_determined for loss in losses}
    return told, determined


def of_runs(written: str, tables: dict[str, tuple[str, ...]]) -> str | None:
    name = written.partition(" ")[0]
    return name if "run_id" in tables.get(name, ()) else None


@pytest.mark.parametrize("case", few(CASES, 100), ids=lambda case: case.name)
def test_case(case: oracle.Case, fixture: duckdb.DuckDBPyConnection) -> None:
    _, determined = examined(fixture, COLUMNS | {"feed.sample": SAMPLE["sample"]}, case.sql)
    if not UNTOLD.search(f"{case.name} {case.sql.lower()}"):
        assert determined <= {True}


def test_random_queries() -> None:
    told = 0
    for seed in SEEDS:
        con = generator.database(seed).connection
        con.execute("create schema rollup")
        tables = {name: tuple(columns) for name, columns in generator.CATALOG.items()}
        sql = generator.query(seed)[0]
        try:
            counted, determined = examined(con, tables, sql)
        except (duckdb.BinderException, WarehouseError):  # what the rewriter refuses has no why-sets to be held against
            continue
        assert determined <= {True} or UNTOLD.search(sql)
        told += counted
    assert told > 40  # a run or more a query
