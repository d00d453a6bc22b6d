"""`wh columns`: what each column is computed from, clause by clause, in the standard project, and against data."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from warehouse.cli.main import main
from warehouse.errors import ExitCode, WarehouseError
from warehouse.project.making import init_project
from warehouse.project.project import Project, standard_folder
from warehouse.transform.check.project_check import check
from warehouse.transform.inputs.landing_tables import landing_types
from warehouse.transform.lineage.columns import CONDITION, UNKNOWN, VALUE, ColumnGraph, Edge, column_graph, project_columns
from warehouse.transform.lineage.derived import ROWS, ColumnRef
from warehouse.transform.project.model import Column, Model
from warehouse.transform.sql.duck import connect

LANDING = {
    "t": pa.schema(
        [
            ("id", pa.int64()), ("a", pa.int64()), ("b", pa.string()), ("c", pa.float64()),
            ("s", pa.struct([("x", pa.int64()), ("y", pa.string())])), ("l", pa.list_(pa.int64())),
        ]
    ),
    "u": pa.schema([("id", pa.int64()), ("a", pa.int64()), ("d", pa.int64())]),
}


TYPES = landing_types(LANDING)


def graph_of(sqls: Mapping[str, str]) -> ColumnGraph:
    """The lineage of models by name, over the landing tables `t` and `u`."""
    models = {name: Model(name, "main", f"models/{name}.sql", sql) for name, sql in sqls.items()}
    return column_graph(check(models, {}, TYPES), TYPES)


def written(graph: ColumnGraph, table: str) -> dict[str, str]:
    """The direct sources of each column of a table and of its rows: `=t.a` copied, `t.a` in a value, `?t.a` a
    condition, `!t.a` unknown. Rows have only conditions, so these have no mark; a column's edge from its own rows is
    left out."""
    found = {}
    for column in (*graph.columns[table], ROWS):
        target = ColumnRef(table, column)
        edges = [edge for edge in graph.sources[target] if edge.source != ColumnRef(table, ROWS)]
        marks = {VALUE: "", CONDITION: "" if column == ROWS else "?", UNKNOWN: "!"}
        found[column] = " ".join(
            f"{'=' if edge.is_copy else marks[edge.kind]}{edge.source.table}.{edge.source.column}" for edge in edges
        )
    return found


# --- one query ----------------------------------------------------------------------------------------------------

U = {"id": "=u.id", "a": "=u.a", "d": "=u.d"}
T = {column: f"=t.{column}" for column in ("id", "a", "b", "c", "s", "l")}

# SQL, and what each of its columns is made of.
CASES: dict[str, tuple[str, dict[str, str]]] = {
    # names
    "star": ("select * from u", {**U, "*": "u.*"}),
    "star of a table": (
        "select y.*, x.b from t as x, u as y", {**U, "b": "=t.b", "*": "t.* u.*"}),
    "star with exclude and replace": (
        "select * exclude (a) replace (d + id as d) from u", {"id": "=u.id", "d": "u.d u.id", "*": "u.*"}),
    "star with rename": ("select * rename (a as z) from u", {"id": "=u.id", "z": "=u.a", "d": "=u.d", "*": "u.*"}),
    "star like": ("select * like 'i%' from u", {"id": "=u.id", "*": "u.*"}),
    "columns of a pattern": ("select columns('a|d') + 1 from u", {"id": "u.id", "a": "u.a", "d": "u.d", "*": "u.*"}),
    "columns of a lambda": ("select columns(lambda c: c = 'a') from u", {"a": "=u.a", "*": "u.*"}),
    "from first": ("from u", {**U, "*": "u.*"}),
    "quoted and of mixed case": ('select U."ID" as "The id" from U', {"The id": "=u.id", "*": "u.*"}),
    "renamed columns of a table": ("select r from u as v (p, q, r)", {"r": "=u.d", "*": "u.*"}),
    "an alias used later": (
        "select a as q, q + d as z from u where q > 1", {"q": "=u.a", "z": "u.a u.d", "*": "u.* u.a"}),
    "group by position": (
        "select a + id as k, sum(d) as z from u group by 1", {"k": "u.a u.id", "z": "u.d", "*": "u.* u.a u.id"}),
    "group by all, order by all": (
        "select a, sum(d) as z from u group by all order by all", {"a": "=u.a", "z": "u.d", "*": "u.* u.a u.d"}),
    "a CTE with the name of a table": (
        "with t as (select a, d from u) select * from t", {"a": "=u.a", "d": "=u.d", "*": "u.*"}),
    "a whole row": ("select u from u", {"u": "u.a u.d u.id", "*": "u.*"}),
    # expressions
    "constants": ("select 1 as one, pi() as p, null as none from u", {"one": "", "p": "", "none": "", "*": "u.*"}),
    "no table": ("select 1 as one", {"one": "", "*": ""}),
    "values": (
        "select v.n, u.a from (values (1), (2)) as v (n) join u on u.id = v.n",
        {"n": "", "a": "=u.a", "*": "u.* u.id"}),
    "case": ("select case a when 1 then d else id end as z from u", {"z": "u.a u.d u.id", "*": "u.*"}),
    "cast": ("select a::varchar as z, try_cast(b as int) as y from t", {"z": "t.a", "y": "t.b", "*": "t.*"}),
    "a field": ("select s.x, s['y'] as y, t.s.x as z from t", {"x": "t.s", "y": "t.s", "z": "t.s", "*": "t.*"}),
    "a struct unpacked": ("select s.* from t", {"x": "t.s", "y": "t.s", "*": "t.*"}),
    "a struct unnested": ("select unnest(s) from t", {"x": "t.s", "y": "t.s", "*": "t.*"}),
    "a struct packed": (
        "select struct_pack(p := a, q := b) as z, {'k': c} as y from t", {"z": "t.a t.b", "y": "t.c", "*": "t.*"}),
    "a field of a struct packed below": (
        "select z.p from (select {'p': a, 'q': b} as z from t)", {"p": "t.a t.b", "*": "t.*"}),
    "an element": ("select l[id] as z, [a, d][1] as y from t join u using (id, a)", {
        "z": "t.id t.l", "y": "t.a u.d", "*": "t.* t.a t.id u.* u.a u.id"}),
    "a lambda": (
        "select list_transform(l, lambda x: x + a) as z, list_filter(l, lambda x: x > id) as y from t",
        {"z": "t.a t.l", "y": "t.id t.l", "*": "t.*"}),
    "a lambda in a lambda": (
        "select list_transform(l, lambda x: list_sum(list_transform(l, lambda y: x + y + a))) as z from t",
        {"z": "t.a t.l", "*": "t.*"}),
    "a list comprehension": ("select [x + a for x in l if x > id] as z from t", {"z": "t.a t.id t.l", "*": "t.*"}),
    "a description": ("select column_name from (describe u)", {"column_name": "", "*": ""}),
    # rows
    "where": ("select a from u where d > 1 or id is null", {"a": "=u.a", "*": "u.* u.d u.id"}),
    "order and limit": ("select a from u order by d limit 1", {"a": "=u.a", "*": "u.* u.d"}),
    "a limit from a query": (
        "select a from u limit (select count(*) from t where c > 0)", {"a": "=u.a", "*": "t.* t.c u.*"}),
    "distinct": ("select distinct a, d + 1 as z from u", {"a": "=u.a", "z": "u.d", "*": "u.* u.a u.d"}),
    "distinct on": ("select distinct on (a) d from u order by id", {"d": "=u.d", "*": "u.* u.a u.id"}),
    "sample": ("select a from u using sample reservoir (2 rows) repeatable (1)", {"a": "=u.a", "*": "u.*"}),
    "unnest": ("select a, unnest(l) as z from t", {"a": "=t.a", "z": "t.l", "*": "t.* t.l"}),
    "unnest beside a table": ("select t.a, z from t, unnest(l) as v (z)", {"a": "=t.a", "z": "t.l", "*": "t.* t.l"}),
    "a range beside a table": ("select z from u, range(a) as v (z)", {"z": "u.a", "*": "u.* u.a"}),
    # joins
    "join": (
        "select t.b, u.d from t join u on t.a = u.a and t.c > u.id",
        {"b": "=t.b", "d": "=u.d", "*": "t.* t.a t.c u.* u.a u.id"}),
    "join on anything": (
        "select t.b from t left join u on t.c + u.d > 3", {"b": "=t.b", "*": "t.* t.c u.* u.d"}),
    "join with a side alone in its condition": (
        "select t.b, u.d from t left join u on t.a = u.a and t.c > 1",
        {"b": "=t.b", "d": "=u.d", "*": "t.* t.a t.c u.* u.a"}),
    "using": ("select a, d from t join u using (a)", {"a": "=t.a", "d": "=u.d", "*": "t.* t.a u.* u.a"}),
    "using, right": ("select a, b from t right join u using (a)", {"a": "=u.a", "b": "=t.b", "*": "t.* t.a u.* u.a"}),
    "using, full: from both sides": (
        "select a, b, d from t full join u using (a)",
        {"a": "t.a u.a", "b": "=t.b", "d": "=u.d", "*": "t.* t.a u.* u.a"}),
    "natural": ("select b, d from t natural join u", {"b": "=t.b", "d": "=u.d", "*": "t.* t.a t.id u.* u.a u.id"}),
    "semi": ("select d from u semi join t using (a)", {"d": "=u.d", "*": "t.* t.a u.* u.a"}),
    "anti": ("select d from u anti join t on t.id = u.id", {"d": "=u.d", "*": "t.* t.id u.* u.id"}),
    "asof": (
        "select t.b, u.d from t asof left join u on t.a = u.a and t.id >= u.id",
        {"b": "=t.b", "d": "=u.d", "*": "t.* t.a t.id u.* u.a u.id"}),
    "positional": ("select t.b, u.d from t positional join u", {"b": "=t.b", "d": "=u.d", "*": "t.* u.*"}),
    "cross": ("select t.b, u.d from t cross join u", {"b": "=t.b", "d": "=u.d", "*": "t.* u.*"}),
    "lateral": (
        "select t.b, v.z from t, lateral (select u.d + t.c as z from u where u.a = t.a) as v",
        # t.c too: the engine joins the inner query to the outer one on every column that it takes from there.
        {"b": "=t.b", "z": "t.c u.d", "*": "t.* t.a t.c u.* u.a"}),
    # groups
    "group by": ("select a, sum(d) as z from u group by a", {"a": "=u.a", "z": "u.d", "*": "u.* u.a"}),
    "one group has always one row": ("select max(d) as z from u where a > 1", {"z": "u.d ?u.* ?u.a", "*": ""}),
    "count of rows": ("select count(*) as n from u where a > 1", {"n": "?u.* ?u.a", "*": ""}),
    "count of rows by group": (
        "select a, count(*) as n from u group by a",
        {"a": "=u.a", "n": "?u.* ?u.a", "*": "u.* u.a"}),
    "having": ("select a from u group by a having sum(d) > 3", {"a": "=u.a", "*": "u.* u.a u.d"}),
    "filter of an aggregate": (
        "select a, sum(d) filter (id > 1) as z from u group by a", {"a": "=u.a", "z": "u.d ?u.id", "*": "u.* u.a"}),
    "order in an aggregate": (
        "select a, list(d order by id) as z from u group by a", {"a": "=u.a", "z": "u.d ?u.id", "*": "u.* u.a"}),
    "grouping sets": (
        "select grouping(a) as g, a, sum(id) as z from u group by rollup (a, d)",
        {"g": "?u.* ?u.a ?u.d", "a": "=u.a", "z": "u.id", "*": "u.* u.a u.d"}),
    "order below an aggregate": (
        "select list(a) as z from (select a from u order by d)",
        {"z": "u.a ?u.* ?u.d", "*": ""}),
    # windows
    "window": (
        "select a, sum(d) over (partition by a order by id) as z from u",
        {"a": "=u.a", "z": "u.d ?u.a ?u.id", "*": "u.*"}),
    "row number": ("select row_number() over (order by d) as z from u", {"z": "?u.* ?u.d", "*": "u.*"}),
    "named window": (
        "select lag(d, 1, id) over w as z from u window w as (order by a)", {"z": "u.d u.id ?u.a", "*": "u.*"}),
    "frame and filter of a window": (
        "select sum(d) filter (a > 0) over (rows between coalesce(id, 0) preceding and current row) as z from u",
        {"z": "u.d ?u.a ?u.id", "*": "u.*"}),
    "qualify": (
        "select d from u qualify row_number() over (partition by a order by id) = 1",
        {"d": "=u.d", "*": "u.* u.a u.id"}),
    # subqueries
    "scalar subquery": ("select b, (select max(d) from u) as z from t", {"b": "=t.b", "z": "u.d ?u.*", "*": "t.*"}),
    "correlated scalar subquery": (
        "select b, (select d from u where u.a = t.a and u.id > t.id limit 1) as z from t",
        {"b": "=t.b", "z": "=u.d ?t.a ?t.id ?u.* ?u.a ?u.id", "*": "t.*"}),
    "exists": (
        "select d from u where exists (select 1 from t where t.a = u.a and t.c > u.id)",
        {"d": "=u.d", "*": "t.* t.a t.c u.* u.a u.id"}),
    "in": ("select b, a in (select d from u) as z from t", {"b": "=t.b", "z": "t.a u.d ?u.*", "*": "t.*"}),
    "all": ("select id from u where d > all (select a from t)", {"id": "=u.id", "*": "t.* t.a u.* u.d"}),
    "a subquery over a list": (
        "select (select sum(e) from unnest(l) as v (e)) as z from t",
        {"z": "t.l ?t.l", "*": "t.*"}),
    "CTE": (
        "with x as (select a, d + 1 as z from u), y as (select z from x where a > 1) select * from y",
        {"z": "u.d", "*": "u.* u.a"}),
    "materialized CTE": (
        "with x as materialized (select * from u) select p.a, q.d from x as p join x as q on p.id = q.a",
        {"a": "=u.a", "d": "=u.d", "*": "u.* u.a u.id"}),
    "recursive CTE": (
        "with recursive r as (select id, a, 0 as n from u union all"
        " select u.id, r.a, r.n + 1 from r join u on u.id = r.id + 1 where u.d > 0) select a, n from r",
        {"a": "=u.a", "n": "", "*": "u.* u.d u.id"}),
    "recursive CTE whose columns move": (
        "with recursive r (p, q, n) as (select id, a, d from u union all select q, n, 0 from r where n > 0)"
        " select p from r",
        {"p": "=u.a =u.d =u.id", "*": "u.* u.d"}),
    "a recursive CTE in a recursive CTE": (
        "with recursive r as (select id, a, 0 as n from u union all select r.id, q.a, r.n + 1 from r, ("
        "with recursive s as (select r2.id, r2.a, 0 as m from r as r2 union all select id, a, m + 1 from s where m < 1)"
        " select * from s) as q where r.n < 2 and q.m = 1 and q.id = r.id) select id, a from r",
        {"id": "=u.id", "a": "=u.a", "*": "u.* u.id"}),
    # sets
    "union all": ("select a from t union all select d + 1 from u", {"a": "=t.a u.d", "*": "t.* u.*"}),
    "union": ("select a from t union select d from u", {"a": "=t.a =u.d", "*": "t.* t.a u.* u.d"}),
    "union by name": (
        "select id, a from t union all by name select d, a from u",
        {"id": "=t.id", "a": "=t.a =u.a", "d": "=u.d", "*": "t.* u.*"}),
    "where in one part of a union": (
        "select a from t where b = 'x' union all select a from u", {"a": "=t.a =u.a", "*": "t.* t.b u.*"}),
    "except": ("select a from t except select d from u", {"a": "=t.a", "*": "t.* t.a u.* u.d"}),
    "intersect all": ("select a from t intersect all select d from u", {"a": "=t.a", "*": "t.* t.a u.* u.d"}),
    # reshaping
    "pivot": (
        "from (pivot t on b in ('x', 'y') using sum(c) group by a)",
        {"a": "=t.a", "x": "t.c ?t.b", "y": "t.c ?t.b", "*": "t.* t.a"}),
    "pivot to many columns": (
        f"from (pivot t on id in ({', '.join(map(str, range(25)))}) using sum(c) group by a)",
        {"a": "=t.a", **{str(n): "t.c t.id" for n in range(25)}, "*": "t.* t.a t.id"}),
    "unpivot": (
        "from (unpivot u on a, d into name n value v)", {"id": "=u.id", "n": "", "v": "u.a u.d", "*": "u.* u.a u.d"}),
    "summarize": (
        "select column_name, \"max\" as z from (summarize u)",
        {"column_name": "", "z": "u.a u.d u.id", "*": "u.* u.a u.d u.id"}),
}


NAMES = {case: f"m{number}" for number, case in enumerate(CASES)}


@pytest.fixture(scope="module")
def cases() -> ColumnGraph:
    return graph_of({NAMES[case]: sql for case, (sql, _) in CASES.items()})


@pytest.mark.parametrize("case", CASES)
def test_sources(case: str, cases: ColumnGraph) -> None:
    assert written(cases, f"main.{NAMES[case]}") == CASES[case][1]


def test_every_case_is_understood(cases: ColumnGraph) -> None:
    assert cases.unknown == {}


def test_every_column_rests_on_the_rows_of_its_table() -> None:
    graph = graph_of({"m": "select a, 1 as one from u where d > 1"})
    for column in ("a", "one"):
        own = graph.sources[ColumnRef("main.m", column)][-1]
        assert (own.source, own.kind) == (ColumnRef("main.m", ROWS), CONDITION)


# --- files and what is not understood -----------------------------------------------------------------------------


@pytest.fixture
def files(tmp_path: Path) -> Path:
    con = duckdb.connect()
    for name in ("x.csv", "x.parquet", "x.json", "y).json"):
        con.execute(f"copy (select 1 as a, 'x' as b) to '{tmp_path}/{name}' (format {name.rpartition('.')[2]})")
    return tmp_path


# SQL with DIR for the folder, and what its columns are made of.
FILES = {
    "CSV with options, over lines": (
        "select a, c.b || a as z\nfrom read_csv('DIR/x.csv',\n  header = true) as c\nwhere b > ''",
        {"a": "=read_csv('DIR/x.csv', header = true).a",
         "z": "read_csv('DIR/x.csv', header = true).a read_csv('DIR/x.csv', header = true).b",
         "*": "read_csv('DIR/x.csv', header = true).* read_csv('DIR/x.csv', header = true).b"},
    ),
    "Parquet by its function's name": (
        "select read_parquet.a from read_parquet('DIR/*.parquet')",
        {"a": "=read_parquet('DIR/*.parquet').a", "*": "read_parquet('DIR/*.parquet').*"},
    ),
    "a bracket in a path": (
        "select a, 'é' as e from read_json(['DIR/x.json', 'DIR/[x].json', 'DIR/y).json'])",
        {"a": "=read_json(['DIR/x.json', 'DIR/[x].json', 'DIR/y).json']).a", "e": "",
         "*": "read_json(['DIR/x.json', 'DIR/[x].json', 'DIR/y).json']).*"},
    ),
    "rows alone": ("select count(*) as n from read_csv('DIR/x.csv')", {"n": "?read_csv('DIR/x.csv').*", "*": ""}),
    "beside a table, twice": (
        "with f as (select * from read_csv('DIR/x.csv')) select f.b, u.d from f join u using (a)"
        " union all select b, a from read_csv('DIR/x.csv')",
        {"b": "=read_csv('DIR/x.csv').b", "d": "=read_csv('DIR/x.csv').a =u.d",
         "*": "read_csv('DIR/x.csv').* read_csv('DIR/x.csv').a u.* u.a"},
    ),
    "a call that is correlated by its condition": (
        "select t.b, x.b as y from t, lateral (from read_csv('DIR/x.csv') where a = t.a) as x",
        {"b": "=t.b", "y": "=read_csv('DIR/x.csv').b", "*": "read_csv('DIR/x.csv').* read_csv('DIR/x.csv').a t.* t.a"},
    ),
}


@pytest.mark.parametrize("case", FILES)
def test_calls_that_read_files_are_leaves(case: str, files: Path) -> None:
    sql, expected = FILES[case]
    graph = graph_of({"m": sql.replace("DIR", str(files))})
    assert graph.unknown == {}
    assert {column: text.replace(str(files), "DIR") for column, text in written(graph, "main.m").items()} == expected


def test_a_call_lists_the_columns_that_are_used(files: Path) -> None:
    call = f"read_csv('{files}/x.csv')"
    graph = graph_of({"m": f"select b from {call}", "n": "select b from m"})
    assert graph.columns[call] == ("b",)
    assert graph.find(f"{call}.b") == (call, "b")
    assert [str(edge.target) for edge in graph.walk(ColumnRef(call, "b"), down=True)] == ["main.m.b", "main.n.b"]


# SQL that is not understood, by one of two versions of the engine because it cannot write its plan, and parts of what is said.
NOT_UNDERSTOOD = {
    "using key": (
        "with recursive r using key (a) as (select a, 0 as n from u union select r.a, n + 1 from r where n < 3)"
        " select a as id, n as o from r", "type|using key"),
    "a column that is called like the rows": ('select id as "*", id, a as o from u', r'named "\*"'),
    "nested deeply": (
        "with x0 as (select id, d as o from u), "
        + ", ".join(f"x{n} as (select * from x{n - 1})" for n in range(1, 600)) + " select * from x599",
        "nested too deeply"),
}


@pytest.mark.parametrize("case", NOT_UNDERSTOOD)
def test_what_is_not_understood_is_said_and_rests_on_all_that_is_read(case: str) -> None:
    sql, reason = NOT_UNDERSTOOD[case]
    graph = graph_of({"m": sql, "n": "select id from m"})
    assert list(graph.unknown) == ["main.m"]
    assert re.search(reason, graph.unknown["main.m"])
    everything = "!u.* !u.a !u.d !u.id"
    assert written(graph, "main.m") == dict.fromkeys((*graph.columns["main.m"], ROWS), everything)
    assert written(graph, "main.n") == {"id": "=main.m.id", "*": "main.m.*"}
    assert ColumnRef("u", "d") in graph.conditions(ColumnRef("main.n", "id"))


# --- the graph ----------------------------------------------------------------------------------------------------

CHAIN = {
    "one": "select id, a, d * 2 as twice from u where a > 0",
    "two": "select a, sum(twice) as total from one group by a",
    "three": "select two.total, t.b from two join t using (a)",
}


def test_walks_go_to_the_leaves_both_ways() -> None:
    graph = graph_of(CHAIN)
    up = list(graph.walk(ColumnRef("main.three", "total"), kinds=(VALUE,)))
    assert [(str(edge.source), edge.is_copy) for edge in up] == [
        ("main.two.total", True), ("main.one.twice", False), ("u.d", False)
    ]
    down = list(graph.walk(ColumnRef("u", "d"), down=True))
    assert [str(edge.target) for edge in down] == ["main.one.twice", "main.two.total", "main.three.total"]
    deciding = graph.conditions(ColumnRef("main.three", "b"))
    assert [str(column) for column in deciding] == ["rows of t", "t.a", "rows of u", "u.a"]
    assert graph.conditions(ColumnRef("u", "d")) == []


def test_a_view_and_a_feed_are_hops_like_any_model() -> None:
    collector = Model("all_speeds", "main", "c.sql", "select speed from feed.speed", collects="speed")
    first = Model("first", "staging", "f.sql", "select c as speed from t", feeds="speed")
    view = replace(first, name="second", text="select speed / 2 as speed from first", materialized="view")
    models = {m.name: m for m in (replace(collector, columns={"speed": Column("speed", "double", "")}), first, view)}
    graph = column_graph(check(models, {}, TYPES), TYPES)
    assert written(graph, "feed.speed") == {
        "speed": "=staging.first.speed =staging.second.speed", "*": "staging.first.* staging.second.*"
    }
    assert written(graph, "staging.second") == {"speed": "staging.first.speed", "*": "staging.first.*"}
    assert graph.find("speed") == ("feed.speed", None)


def test_a_chain_of_thousands_is_walked() -> None:
    chain = [ColumnRef(f"main.m{number}", "a") for number in range(5000)]
    edges = {target: (Edge(source, target, VALUE, is_copy=True),) for source, target in pairwise(chain)}
    graph = ColumnGraph({}, edges, {})
    assert [edge.source for edge in graph.walk(chain[-1])] == chain[-2::-1]
    assert [edge.target for edge in graph.walk(chain[0], down=True)] == chain[1:]
    assert graph.conditions(chain[-1]) == []


# What is asked for, and what is found.
FOUND = {
    "main.two": ("main.two", None),
    "two": ("main.two", None),
    "TWO.Total": ("main.two", "total"),
    "main.two.total": ("main.two", "total"),
    "two.*": ("main.two", "*"),
    "t.s": ("t", "s"),
}
# What is asked for, the code, a part of the message, of the hint.
MISSING = {
    "twoo": ("WH203", "twoo", "did you mean two?"),
    "main.twoo": ("WH203", "main.twoo", "did you mean main.two?"),
    "main.twoo.total": ("WH203", "main.twoo", "did you mean main.two?"),
    "twoo.total": ("WH203", "twoo", "did you mean two?"),
    "nothing_like_it.x": ("WH203", "nothing_like_it", None),
    "two.totl": ("WH204", "main.two has no column totl", "did you mean total?"),
}


@pytest.mark.parametrize("text", FOUND)
def test_find(text: str) -> None:
    assert graph_of(CHAIN).find(text) == FOUND[text]


@pytest.mark.parametrize("text", MISSING)
def test_find_nothing(text: str) -> None:
    code, message, hint = MISSING[text]
    with pytest.raises(WarehouseError) as caught:
        graph_of(CHAIN).find(text)
    error = caught.value
    assert (error.code, error.place, error.exit_code, error.hint) == (code, text, ExitCode.NOT_FOUND, hint)
    assert message in error.message


# --- against data -------------------------------------------------------------------------------------------------
# Change one source column's values: every output column that changes must be said to rest on it. No expectation is
# written down here, so the lineage is held to what the engine does with data, not to what its plan says.

MORE = {
    "groups": """
        select a, median(d) as m, max_by(d, id) as x, count(distinct d) as n
        from u group by a order by m desc limit 2""",
    "fields": "select b, s.y, l[1] + c as z from t where s.x > 2 and length(l) > 0",
    "subqueries": """
        select
            t.id,
            (select count(*) from u where u.a = t.a and u.d > (select avg(d) from u as w where w.id <= t.id)) as n
        from t""",
    "self_join": "select p.a, q.id as other from u as p left join u as q on p.d = q.d and p.id < q.id",
    "ranks": """
        select a, d, rank() over (partition by a order by d, id) as r
        from u qualify r <= 2 and d > (select min(c) from t)""",
    "outer_join": """
        select coalesce(t.a, u.a) as a, count(*) as n, string_agg(b, ',' order by c, t.id) as bs
        from t full join u on t.id = u.id group by 1""",
    "elements": "select x, count(*) as n from (select unnest(l) as x, a from t) where x <> a group by x",
    "sums": """
        with recursive r as (
            select id, d as total from u where id = 1
            union all
            select u.id, r.total + u.d from r join u on u.id = r.id + 1
        )
        select * from r""",
    "lambdas": "select list_transform(l, lambda x: x * a + coalesce(s.x, id)) as z from t",
    "pivoted": """
        from (
            pivot (select id % 2 as even, a, d from u) on a in (0, 1, 2) using sum(d) as s, count(*) as n group by even
        )""",
    "frames": """
        select
            first_value(d) over (order by a, id rows between 2 preceding and 1 following) as z,
            last(d) over (order by id) as y
        from u""",
    "common": "select a from t intersect select a from u where d > 2",
    "missing": "select b, c from t except all select b, c from t where a > 2",
    "hits": """
        select (a, d) in (select (t.a, t.id) from t) as hit, exists (select 1 from t where t.id = u.d) as near
        from u""",
    "nearest": """
        select t.id, v.e, v.k
        from t
        left join lateral (select d + t.a as e, id as k from u where u.a >= t.a order by d, id limit 2) as v on true""",
    # models on models
    "runs": "select id, a, d, row_number() over (partition by a order by d, id) as n from u",
    "firsts": "select id, a, d from runs where n = 1",
    "facts": "select t.id, t.b, firsts.d, firsts.id as first_id from t left join firsts using (a)",
    "counts": "select b, count(*) as n, count(d) as known from facts group by b",
    "whole": "select count(*) as n from counts where known > 1",
}
ORACLE = {**{NAMES[case]: sql for case, (sql, _) in CASES.items()}, **MORE}
Rows = dict[str, list[dict[str, Any]]]


def random_value(column: str, source: random.Random) -> Any:
    if source.random() < 0.1:
        return None
    match column:
        case "b":
            return source.choice("xyz")
        case "c":
            return source.choice([0.5, 1.5, 2.5, 3.5])
        case "s":
            return {"x": source.randrange(5), "y": source.choice("pq")}
        case "l":
            return [source.randrange(5) for _ in range(source.randrange(4))]
    return source.randrange(5)


def random_rows(source: random.Random) -> Rows:
    def row(number: int, names: list[str]) -> dict[str, Any]:
        return {name: number if name == "id" else random_value(name, source) for name in names}

    return {table: [row(number, schema.names) for number in range(1, 9)] for table, schema in LANDING.items()}


def changes(rows: Rows, source: random.Random) -> Iterator[tuple[ColumnRef, Rows]]:
    """The same rows with one column's values changed, or with a row less."""
    for table, schema in LANDING.items():
        for name in schema.names:
            changed = [
                {**row, name: random_value(name, source)} if source.random() < 0.6 else row for row in rows[table]
            ]
            yield ColumnRef(table, name), {**rows, table: changed}
        gone = source.choice(rows[table])
        yield ColumnRef(table, ROWS), {**rows, table: [row for row in rows[table] if row is not gone]}


def load(con: duckdb.DuckDBPyConnection, rows: Rows) -> None:
    for table, schema in LANDING.items():
        con.register("rows", pa.Table.from_pylist(rows[table], schema))
        con.execute(f"create or replace table {table} as from rows")
        con.unregister("rows")


def results(con: duckdb.DuckDBPyConnection) -> dict[ColumnRef, list[str]]:
    """Every model's columns on the rows that are loaded, each as a sorted bag of values."""
    found = {}
    for name, sql in ORACLE.items():
        result = con.execute(f"from {name}" if name in MORE else sql)
        columns, values = [each[0] for each in result.description], result.fetchall()
        for place, column in enumerate(columns):
            found[ColumnRef(f"main.{name}", column)] = sorted(repr(row[place]) for row in values)
    return found


@pytest.fixture(scope="module")
def observed() -> set[tuple[ColumnRef, ColumnRef]]:
    """Every source column and an output column that changed with it, on three random sets of rows."""
    found = set()
    con = connect()
    load(con, dict.fromkeys(LANDING, []))
    for name, sql in MORE.items():
        con.execute(f"create view {name} as {sql}")
    for seed in range(3):
        source = random.Random(seed)
        rows = random_rows(source)
        load(con, rows)
        before = results(con)
        for changed, after_rows in changes(rows, source):
            load(con, after_rows)
            after = results(con)
            found |= {(changed, output) for output in before if before[output] != after[output]}
    con.close()
    return found


def unreported(observed: set[tuple[ColumnRef, ColumnRef]], graph: ColumnGraph) -> list[str]:
    """What was observed and the graph does not know."""
    reached = {output: {edge.source for edge in graph.walk(output)} for _, output in observed}
    return sorted(f"{output} changed with {changed}" for changed, output in observed if changed not in reached[output])


@pytest.fixture(scope="module")
def oracle_graph() -> ColumnGraph:
    return graph_of(ORACLE)


def test_what_changes_is_reported(observed: set[tuple[ColumnRef, ColumnRef]], oracle_graph: ColumnGraph) -> None:
    assert unreported(observed, oracle_graph) == []
    # All but those that read no rows did change.
    unchanged = {f"main.{name}" for name in ORACLE} - {output.table for _, output in observed}
    assert unchanged == {f"main.{NAMES[case]}" for case in ("no table", "a description")}


@pytest.mark.parametrize("kind", [VALUE, CONDITION])
def test_the_oracle_sees_that_edges_are_not_there(
    kind: str, observed: set[tuple[ColumnRef, ColumnRef]], oracle_graph: ColumnGraph
) -> None:
    sources = oracle_graph.sources.items()
    without = {target: tuple(edge for edge in edges if edge.kind != kind) for target, edges in sources}
    assert unreported(observed, replace(oracle_graph, sources=without))


# --- the standard project -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def standard() -> ColumnGraph:
    return project_columns(Project(standard_folder(), "standard", Path("store"), Path("builds"), 1, True))


def test_every_column_of_the_standard_project_is_understood(standard: ColumnGraph) -> None:
    assert standard.unknown == {}
    known = {ColumnRef(table, column) for table, columns in standard.columns.items() for column in (*columns, ROWS)}
    assert {edge.source for edges in standard.sources.values() for edge in edges} <= known


# Tables that the SQL itself spells out: nothing that lands is under them.
SPELLED_OUT = {
    "main.metric_definition_dim", "feed.accelerator_rule", "feed.serving_slo", "feed.telemetry_metric",
    *(f"staging.{path.stem}" for path in (standard_folder() / "models" / "reference").glob("*.sql")),
}
COUNTS = {"mart.wh_runs", "mart.wh_ingest_issues"}  # only numbers of rows: no value flows into them


def test_every_column_of_the_standard_project_reaches_what_has_landed(standard: ColumnGraph) -> None:
    from_nothing = {
        target.table
        for target in standard.sources
        if not any(edge.source not in standard.sources for edge in standard.walk(target))
    }
    assert from_nothing == SPELLED_OUT | COUNTS


# Read off the models' SQL: a column, and the landing columns that flow into its value, of these families' tables. What the
# other families feed must reach what has landed, as above.
FAMILIES = ("evidence_", "mlperf_inference_", "recorded_", "fabric_check_", "telemetry_")
ENTRY = "mlperf_inference_entry"
CHOSEN = {f"{ENTRY}.source", f"{ENTRY}.key"}  # by `case`: which log's line of which key the metrics of MLPerf are
BY_HAND: dict[str, set[str]] = {
    "benchmark_run_fact.duration_s": {"recorded_run.wall_s", "fabric_check_run.duration_s"},
    "benchmark_run_fact.run_id": {"mlperf_inference_run.run_id", "recorded_run.run_id", "fabric_check_run.run_id"},
    "benchmark_run_fact.status": CHOSEN | {
        f"{ENTRY}.value", f"{ENTRY}.raw_offset", "recorded_run.status", "fabric_check_run.status",
        # Whether its log, or that of the run whose detail log it shares, is refused.
        *(f"mlperf_inference_run.{name}" for name in ("run_id", "artifact_manifest_digest", "has_detail_log", "refusal")),
    },
    "benchmark_run_fact.outcome_digest": {"evidence_file.sha256", "fabric_check_run.raw_offset", "fabric_check_run.raw_length"},
    # Whether two bundles state the run differently: that is, whether a row of conflicts has its id.
    "benchmark_run_fact.has_conflict": {
        "fabric_check_point.run_id", "fabric_check_run.run_id", "fabric_check_test.run_id", "mlperf_inference_run.run_id", "recorded_run.run_id",
    },
    "benchmark_run_fact.bundle_count": set(),
    "raw_artifact.family": {"evidence_bundle.family"},
    "raw_artifact.copies": set(),
    "raw_artifact.is_recognised": {"evidence_bundle.family"},
    "ingest_issue.issue_number": set(),
    # A declared model beside the one that the evidence states.
    "ingest_issue.message": {
        "evidence_issue.message", "evidence_declaration.model", "mlperf_inference_run.workload_document",
        "recorded_run.workload_document", "fabric_check_run.workload_document", "mlperf_inference_run.scenario",
        # Which run shares its refused detail log, and why it was refused.
        "mlperf_inference_run.run_id", "mlperf_inference_run.artifact_manifest_digest", "mlperf_inference_run.has_detail_log",
        "mlperf_inference_run.refusal",
        # A rate that is not the operations of its indicator / elapsed.
        "recorded_indicator_value.indicator_name", "recorded_indicator_value.value_number",
        # A unit that a scrape states, and the exporter's documentation does not; a metric that is 0 beside one that is not; series of no run.
        "telemetry_series.unit", "telemetry_series.labels", "telemetry_series.metric", "telemetry_series.target", "telemetry_sample.value",
        # The values that two bundles state of a run (staging.run_statement).
        "evidence_file.raw_path", "evidence_file.sha256", "recorded_run.raw_path", "mlperf_inference_run.raw_path", "fabric_check_run.raw_path",
        *(f"{table}.artifact_manifest_digest" for table in (
            "recorded_run", "mlperf_inference_entry", "fabric_check_run", "fabric_check_test", "fabric_check_point",
        )),
        *(f"mlperf_inference_entry.{name}" for name in ("key", "source", "value", "raw_path")),
        # A run whose own samples are of another time, and the last of two statements of one key.
        "recorded_run.started_at", "fabric_check_run.started_at", "recorded_host_sample.window_start", "recorded_host_sample.window_end",
        "telemetry_sample.sampled_at", "mlperf_inference_entry.raw_offset",
        "fabric_check_test.raw_path", "fabric_check_point.raw_path",
        *(f"fabric_check_test.{name}" for name in ("status", "status_reason", "test_index")),
        *(f"fabric_check_point.{name}" for name in (
            "alg_bandwidth_gb_per_s", "bandwidth", "bandwidth_peak", "bus_bandwidth_gb_per_s", "direction", "error_count", "gflop_per_s",
            "io_per_s", "latency_mean", "latency_p99", "lost_pct", "max_error", "message_bytes", "placement", "point_index", "retransmit_count",
            "scope_name", "status", "test_index", "time_us", "wrong_count",
        )),
    },
    "benchmark_run_fact.benchmark_grade": {"evidence_declaration.benchmark_grade"},
    "benchmark_run_fact.grade_reason": {"evidence_declaration.grade_reason", "evidence_declaration.benchmark_grade"},
    "serving_outcome_fact.ttft_p99_ms": CHOSEN | {f"{ENTRY}.value_number", f"{ENTRY}.raw_offset"},
    "fabric_outcome_fact.avg_bus_bandwidth_gb_per_s": {"fabric_check_entry.value_number"},
    "telemetry_slice_fact.source_metric": {"telemetry_series.metric"},
    "hardware_topology_dim.gpu_model": {
        f"{ENTRY}.value", "recorded_run.gpu_model", "recorded_node_run.gpu_model", "fabric_check_run.gpu_model",
    },
    "hardware_topology_dim.accelerator_name": {
        f"{ENTRY}.value", "recorded_run.gpu_model", "recorded_node_run.gpu_model", "fabric_check_run.gpu_model",
    },
    "mlperf_inference_result.power": CHOSEN | {
        f"{ENTRY}.value", f"{ENTRY}.value_number", f"{ENTRY}.raw_offset", "mlperf_inference_power_sample.watts",
        "mlperf_inference_run.scenario", "mlperf_inference_run.logged_scenario",
    },
    "mlperf_inference_results.official_label": {"mlperf_inference_run.scenario"},
    "indicator_results.median": {"recorded_indicator_value.value_number"},
    "indicator_results.parameters": {"recorded_indicator_value.key", "recorded_indicator_value.value_text"},
}


@pytest.mark.parametrize("column", BY_HAND)
def test_columns_of_the_standard_project(column: str, standard: ColumnGraph) -> None:
    table, name = standard.find(column)
    values = {edge.source for edge in standard.walk(ColumnRef(table, str(name)), kinds=(VALUE,))}
    landed = {str(value) for value in values if value not in standard.sources}
    assert {value for value in landed if value.startswith(FAMILIES)} == BY_HAND[column]


# --- wh columns ---------------------------------------------------------------------------------------------------

FILES_OF_A_PROJECT = {
    "models/staging/bundle.sql": "select family, file_count from evidence_bundle",
    "models/spread.sql": "select file_count - max(file_count) over (partition by family) as below from bundle",
    "models/label.sql": "select spread.below::varchar || bundle.family as label from spread, bundle",
    "models/staging/big_file.sql": "select raw_path, bytes, media_type as kind from evidence_file where bytes > 1000",
    "models/by_kind.sql": """
        select kind, sum(bytes) / 1e6 as mb, count(*) as n, 'file' as what from big_file group by kind""",
    "models/unclear.sql": """
        with recursive r using key (n) as (select n, 0 as o from by_kind union select r.n, o + 1 from r where o < 2)
        select n, o from r""",
}


@pytest.fixture
def wh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    """Run `wh columns` in a small project without a build: exit code, standard output, standard error."""
    project = init_project(tmp_path / "project", bare=True)
    for name, text in FILES_OF_A_PROJECT.items():
        path = project.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    monkeypatch.chdir(project.root)

    def run(*arguments: str) -> tuple[int, str, str]:
        return main(["columns", *arguments]), *capsys.readouterr()

    return run


UP = """\
main.by_kind.mb
└─ value  staging.big_file.bytes
   └─ copy  evidence_file.bytes
which rows it has, and from which rows, is decided by
   evidence_file: rows, bytes, media_type
"""
COUNT = """\
main.by_kind.n
├─ condition  rows of staging.big_file
└─ condition  staging.big_file.kind
which rows it has, and from which rows, is decided by
   evidence_file: rows, bytes, media_type
"""
DOWN = """\
evidence_file.bytes
├─ copy  staging.big_file.bytes
│  └─ value  main.by_kind.mb
│     ├─ unknown  main.unclear.n
│     ├─ unknown  main.unclear.o
│     └─ unknown  rows of main.unclear
└─ condition  rows of staging.big_file
   ├─ condition  main.by_kind.n
   │  ├─ unknown  main.unclear.n
   │  ├─ unknown  main.unclear.o
   │  └─ unknown  rows of main.unclear
   └─ condition  rows of main.by_kind
      ├─ unknown  main.unclear.n
      ├─ unknown  main.unclear.o
      └─ unknown  rows of main.unclear
"""
TABLE = """\
column  kind       from
------  ---------  ------------------------
kind    copy       staging.big_file.kind
mb      value      staging.big_file.bytes
n       condition  rows of staging.big_file
        condition  staging.big_file.kind
what    constant
*       condition  rows of staging.big_file
        condition  staging.big_file.kind
"""
TABLE_DOWN = """\
column    kind       to
--------  ---------  --------------------
raw_path
bytes     value      main.by_kind.mb
kind      copy       main.by_kind.kind
          condition  main.by_kind.n
          condition  rows of main.by_kind
*         condition  main.by_kind.n
          condition  rows of main.by_kind
"""
CONSTANT = """\
main.by_kind.what  (constant)
which rows it has, and from which rows, is decided by
   evidence_file: rows, bytes, media_type
"""
CONDITION_BEFORE_VALUE = """\
main.label.label
├─ value  main.spread.below
│  ├─ value  staging.bundle.file_count
│  │  └─ copy  evidence_bundle.file_count
│  └─ condition  staging.bundle.family
└─ value  staging.bundle.family
   └─ copy  evidence_bundle.family
which rows it has, and from which rows, is decided by
   evidence_bundle: rows, family
"""
PRINTED = {
    ("by_kind.mb",): UP,
    ("MAIN.by_kind.N",): COUNT,
    ("evidence_file.bytes", "--down"): DOWN,
    ("by_kind",): TABLE,
    ("big_file", "--down"): TABLE_DOWN,
    ("by_kind.what",): CONSTANT,
    ("label.label",): CONDITION_BEFORE_VALUE,
    ("evidence_file.bytes",): "evidence_file.bytes\n",
}


@pytest.mark.parametrize("arguments", PRINTED, ids=" ".join)
def test_what_is_printed(arguments: tuple[str, ...], wh: Any) -> None:
    status, out, err = wh(*arguments)
    assert (status, out) == (0, PRINTED[arguments])
    assert ("main.unclear" in err) == ("main.unclear" in out)


def test_what_is_not_understood_is_told(wh: Any) -> None:
    status, out, err = wh("unclear")
    assert status == 0
    assert "o       unknown  rows of main.by_kind" in out
    assert err.startswith("main.unclear is not understood (")


def test_json_of_a_column(wh: Any) -> None:
    status, out, err = wh("by_kind.mb", "--json")
    document = json.loads(out)
    edges = document.pop("edges")
    assert (status, err) == (0, "")
    assert document == {"table": "main.by_kind", "column": "mb", "down": False, "unknown": {}}
    assert {
        "source": {"table": "evidence_file", "column": "bytes"},
        "target": {"table": "staging.big_file", "column": "bytes"},
        "kind": "value", "is_copy": True,
    } in edges
    assert {
        "source": {"table": "main.by_kind", "column": "*"},
        "target": {"table": "main.by_kind", "column": "mb"},
        "kind": "condition", "is_copy": False,
    } in edges


def test_json_of_a_table(wh: Any) -> None:
    document = json.loads(wh("unclear", "--json")[1])
    assert (document["table"], document["column"]) == ("main.unclear", None)
    assert {edge["target"]["column"] for edge in document["edges"]} == {"n", "o", "*"}
    assert list(document["unknown"]) == ["main.unclear"]


def test_nothing_of_that_name(wh: Any) -> None:
    said = "WH203 by_knd.mb: no model, feed or landing table is named by_knd\n  hint: did you mean by_kind?\n"
    assert wh("by_knd.mb") == (ExitCode.NOT_FOUND, "", said)
    said = "WH204 by_kind.knd: main.by_kind has no column knd\n  hint: did you mean kind?\n"
    assert wh("by_kind.knd") == (ExitCode.NOT_FOUND, "", said)
