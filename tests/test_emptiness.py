"""Which queries are known to have no row when tables have none: never one that has, of all that the oracle's queries ask."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection
from itertools import chain, combinations

import duckdb
import pytest
from bare_project import project, write
from provenance import generator, oracle

from warehouse.project.project import Project
from warehouse.transform.build.build import build
from warehouse.transform.finished.query import run_query
from warehouse.transform.sql.aggregates import AGGREGATE_MACROS, AGGREGATES
from warehouse.transform.sql.emptiness import empty_when, holds

__all__ = ["project"]
TABLES = ("host", "run", "sample")
SOME = list(chain.from_iterable(combinations(TABLES, count) for count in (1, 2, 3)))
FEATURES = [case.sql for path in sorted((oracle.HERE / "features").glob("*.sql")) for case in oracle.read_cases(path)]
RANDOM = [generator.query(seed)[0] for seed in range(150)]
# Over tables a and b, of which a has no row.
HAS_NONE = (
    "from a", "select x, count(*) from a group by x", "select x from a group by all", "select 1 from a group by all", "from b, a",
    "from a left join b using (x)", "from b right join a using (x)", "from b semi join a using (x)",
    "from b asof join a on b.x >= a.x", "from a anti join b using (x)", "from a except from b", "from b intersect from a",
    "from a union all from a", "with c as (from a), d as (from c) select * from d, b", "from b, (select * from a) as s",
    "select row_number() over (order by x) from a", "from a, unnest([1, 2])",
    "select distinct on (x) * from a order by x limit 3", "from a where exists (from b)",
    "select b.x from b left join a using (x) where a.x is not null", "select b.x from b full join a as c on c.x = b.x where (b.x > 0 and C.X is not null) group by all",
)
HAS_NONE_EVER = ("from a where false", "from b where false", "select x, count(*) from b where false group by x", "with c as (from b where false) from c, b")
HAS_SOME = (
    "select count(*) from a", "select max(x) from a", "select wavg(x, x) from a", "select count(*) from a group by all",
    "select count(*) as n, n as m from a group by all", "select 'k' as k, k, max(x) from a group by all",
    "select user, max(x) from a group by all", "select 1 from a group by all having true",
    "select count(*) from a group by rollup (x)", "select 1 from a having true", "from b left join a using (x)",
    "from b full join a using (x)", "from b anti join a using (x)", "from a union all from b", "from b except from a",
    "from a positional join b", "select 1", "from (values (1))", "with a as (from b) from a", "with a as (select 1) from a",
    'with "main.b" as (from a) from main.b', "select count(*) + sum(count(*)) over () from a", "summarize from a", "select count(*) from b where false", "from b where not false",
    "select sum(x) filter (x > 0) from a",
    "select 1 from b left join a on a.x = b.x where a.x is not null or b.x > 0", "select max(b.x) from b left join a on a.x = b.x where a.x is not null",
    "select 1 from b left join a on a.x = b.x where a.x is null", "with a as (from b) select 1 from b left join a on a.x = b.x where a.x is not null",
    "select 1 from (select {'y': 1} as a) as s left join a on true where a.y is not null",
    "with recursive r as (select 1 as x union select x + 1 from r where x < 3) from r", "select (select sum(a.x)) from a",
)  # fmt: skip


def told(con: duckdb.DuckDBPyConnection, sql: str, emptied: Collection[str]) -> bool:
    document = con.execute("select json_serialize_sql(?::varchar)", [sql]).fetchall()[0][0]
    return holds(empty_when(json.loads(document)["statements"][0]), emptied.__contains__, lambda table, column: table in TABLES or column == "x")


@pytest.fixture
def two() -> duckdb.DuckDBPyConnection:
    con = duckdb.connect()
    con.execute("create table a (x integer); create table b as select 1 as x")
    return con


@pytest.mark.parametrize("sql", HAS_NONE)
def test_no_row_comes_of_no_rows(sql: str, two: duckdb.DuckDBPyConnection) -> None:
    assert not two.execute(sql).fetchall()
    assert told(two, sql, ("a",))
    assert not told(two, sql, ())


@pytest.mark.parametrize("sql", HAS_NONE_EVER)
def test_no_row_fulfils_false(sql: str, two: duckdb.DuckDBPyConnection) -> None:
    assert not two.execute(sql).fetchall()
    assert told(two, sql, ())


@pytest.mark.parametrize("sql", HAS_SOME)
def test_a_row_may_come_of_no_rows(sql: str, two: duckdb.DuckDBPyConnection) -> None:
    assert two.execute(sql).fetchall()
    assert not told(two, sql, ("a",))


@pytest.mark.parametrize("emptied", SOME, ids="-".join)
def test_what_is_told_is_so(emptied: tuple[str, ...]) -> None:
    """Every feature query and 150 random ones, over databases in which some tables have no row."""
    counts = Counter[str]()
    con = generator.database(3).connection
    for table in emptied:
        con.execute(f"delete from {table}")
    for sql in (*FEATURES, *RANDOM):
        try:
            has_rows = bool(con.execute(sql).fetchall())
        except duckdb.Error:  # one that the rewriter refuses for what is not there
            continue
        is_told = told(con, sql, emptied)
        assert not (is_told and has_rows), sql
        counts["none", is_told] += not has_rows
    assert counts["none", True] >= counts["none", False] / 2, counts


def test_macros_over_aggregates_are_known() -> None:
    """As the engine defines its macros, one over another too."""
    macros = duckdb.connect().execute(
        "select function_name, lower(macro_definition) from duckdb_functions() where function_type = 'macro'"
    ).fetchall()
    found: set[str] = set()
    while more := {
        name for name, definition in macros
        if set(re.findall(r'"?(\w+)"?\s*\(', definition or "")) & (AGGREGATES | found)
    } - found:
        found |= more
    assert found == AGGREGATE_MACROS


def test_a_build_makes_tables_without_rows_as_if_it_ran_them(project: Project) -> None:
    write(project, {
        "models/nothing.sql": "select 1::tinyint as x, [1.5::decimal(4, 1)] as y where false",
        "models/grouped.sql": "select x, y, count(*) as n, {'s': max(x)} as s from nothing group by all",
        "models/seen.sql": "/*\nmaterialized: view\n*/\nselect * from grouped",
        "models/again.sql": "select n + 0.5 as n, s from seen",
        "models/total.sql": "select count(*) as n from seen",
    })  # fmt: skip
    built = build(project).build
    with run_query(built.path, "from again") as result:
        assert [str(column[1]) for column in result.description] == ["DECIMAL(21,1)", "STRUCT(s TINYINT)"]
        assert result.fetchall() == []
    with run_query(built.path, "from total") as result:
        assert result.fetchall() == [(0,)]
    write(project, {"models/nothing.sql": "select 1::tinyint as x, [1.5::decimal(4, 1)] as y"})
    with run_query(build(project).build.path, "select again.n, s from again, total") as result:
        assert result.fetchall() == [(1.5, {"s": 1})]
