"""Histories that once gave something else than a build from nothing: found by trying, each kept in its smallest form."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest
from bare_project import project, write
from built import sql_of
from conftest import Wh
from exhaustive import few
from from_nothing import tables_unlike_from_nothing

from warehouse.project.project import Project

__all__ = ["project"]

DATA = "'data/*.parquet'"


def keyed(key: str, sql: str, grain: str = "") -> str:
    stated = f"grain: [{grain}]\n" if grain else ""
    return f"/*\nmaterialized: incremental\nkey: [{key}]\n{stated}*/\n{sql}"


def parquet(project: Project, name: str, sql: str) -> None:
    path = project.root / name
    path.parent.mkdir(exist_ok=True)
    duckdb.sql(f"copy ({sql}) to '{path}'")


def rows(project: Project, sql: str) -> list[tuple[object, ...]]:
    return sql_of(project)(sql)


def test_what_is_retried_after_a_failure_is_what_was_read(project: Project, wh: Wh, tmp_path: Path) -> None:
    """A table that was brought up to date, saved, and then written again for a reader, when another model failed."""
    for number in range(4):
        parquet(project, f"data/{number}.parquet", f"select {number} as k, 10 as v")
    parquet(project, "other/1.parquet", "select 1.5::double as x")
    write(project, {
        "models/d.sql": "select x from 'other/*.parquet'", "models/inc.sql": keyed("k", f"select k, v from {DATA}"),
        "models/level1_a.sql": "select sum(x) as s from d", "models/level1_b.sql": "select k, v from inc",
    })
    assert wh("build")[0] == 0
    parquet(project, "data/1.parquet", "select 1 as k, 777 as v")
    parquet(project, "other/1.parquet", "select 2.5::double as x")
    write(project, {"models/level1_c.sql": "select error('a mistake') as e from inc"})
    assert wh("build")[0] == 1
    write(project, {"models/level1_c.sql": "select 'mended' as e from inc"})
    assert wh("build", "--retry")[0] == 0
    assert (1, 777) in rows(project, "select k, v from level1_b")
    assert tables_unlike_from_nothing(project, tmp_path) == []


NESTED = {
    "[]::varchar[]": "null::varchar[]", "[null]::varchar[]": "[]::varchar[]", "{'a': null::int}": "null::struct(a int)",
    "map {}::map(varchar, int)": "null::map(varchar, int)", "['NULL']": "[null::varchar]", "['a, b']": "['a', 'b']",
}


@pytest.mark.parametrize("before", few(NESTED, 2))
def test_nested_values_that_hold_nothing_are_told_apart(before: str, project: Project, wh: Wh) -> None:
    parquet(project, "data/9.parquet", f"select 9 as k, {before} as tags")
    for number in range(5):
        parquet(project, f"data/{number}.parquet", f"select {number} as k, {before} as tags")
    write(project, {
        "models/t.sql": f"select 1 as id, {before} as tags", "models/n.sql": "select tags::varchar as told from t",
        "models/inc.sql": keyed("k", f"select k, tags::varchar as told, tags from {DATA}"),
    })
    assert wh("build")[0] == 0
    write(project, {"models/t.sql": f"select 1 as id, {NESTED[before]} as tags"})
    parquet(project, "data/9.parquet", f"select 9 as k, {NESTED[before]} as tags")
    assert "built 2, updated 1 (1 key)" in wh("build")[2]
    expected = duckdb.sql(f"select ({NESTED[before]})::varchar").fetchall()
    assert rows(project, "select told from n") == rows(project, "select tags::varchar from inc where k = 9") == expected


def test_two_rows_that_swap_their_values_are_another_table(project: Project, wh: Wh) -> None:
    """2488 and 51933 gave the same sum of hashes either way."""
    write(project, {"models/t.sql": "select unnest([2488, 51933])::int as b", "models/first_b.sql": "select b from t limit 1"})
    assert wh("build")[0] == 0
    write(project, {"models/t.sql": "select unnest([51933, 2488])::int as b"})
    assert "built 2" in wh("build")[2]
    assert rows(project, "from first_b") == [(51933,)]


MANY = "select (hash(r) % 150)::int as k, r::int as t, 1 / (r + 3.0e0) as x, (hash(r) % 7)::int as g from range(20000) as t (r)"
# Models by key whose rows depend on the order in which few rows of some vectors and many of others come.
ORDERED = {
    "first": f"select k, first(t) as first_t, last(t) as last_t from {DATA} group by k",
    "list": f"select k, list(t) as ts, string_agg(t::varchar, ',') as s from {DATA} group by k",
    "sum": f"select k, sum(x) as total, avg(x) as mean from {DATA} group by k",
    "filter": f"select k, list(t) as ts, sum(x) as total from {DATA} where t % 31 = 3 or t < 900 group by k",
    "join": f"select k, list(t) as ts, sum(x) as total from {DATA} join 'dim/*.parquet' as dim using (g) group by k",
    "semi join": f"select k, list(t) as ts, sum(x) as total from {DATA} semi join 'dim/*.parquet' as dim using (g) group by k",
    "distinct on": f"select distinct on (k) k, t from {DATA}",
    "frame": f"select k, t, sum(x) over (partition by k order by t rows between 50 preceding and current row) as v from {DATA}",
    "so far": f"select k, t, sum(x) over (partition by k order by t) as v from {DATA}",
    "tied numbers": f"select k, t, row_number() over (partition by k order by t // 100) as n from {DATA}",
    "ranks": f"select k, t, rank() over (partition by k order by t // 100) as n from {DATA}",
}


@pytest.mark.parametrize("model", few(ORDERED, 4))
def test_other_rows_do_not_show_in_a_key(model: str, project: Project, wh: Wh, tmp_path: Path) -> None:
    parquet(project, "data/1.parquet", MANY)
    parquet(project, "data/2.parquet", "select 1 as k, (100000 + r)::int as t, 0.1 * r as x, 1 as g from range(113) as t (r)")
    parquet(project, "dim/1.parquet", "select r::int as g from range(3) as t (r)")
    grain = "k, t" if " over " in model or "over (" in ORDERED[model] else "k"
    write(project, {"models/m.sql": keyed("k", ORDERED[model], grain)})
    assert wh("build")[0] == 0
    parquet(project, "data/3.parquet", "select unnest([1, 1, 5]) as k, 50000 + unnest([1, 2, 3]) as t, 0.5e0 as x, 1 as g")
    assert wh("build")[0] == 0
    assert tables_unlike_from_nothing(project, tmp_path) == []


READERS = {
    "join": "select id from inc join (select unnest(range(0, 10000, 20))::int as id) using (id)",
    "in": "select id from inc where id in (select unnest(range(0, 10000, 20))::int)",
    "sample": "select id from inc using sample reservoir(10 rows) repeatable (4)",
    "summarize": "select column_name, avg, std from (summarize inc)",
    "limit": "select id from inc limit 3",
}


@pytest.mark.parametrize("reader", few(READERS, 2))
def test_who_reads_a_table_that_grew_or_shrank(reader: str, project: Project, wh: Wh, tmp_path: Path) -> None:
    parquet(project, "data/1.parquet", "select r::int as id from range(3000) as t (r)")
    write(project, {"models/inc.sql": keyed("id", f"select id from {DATA}"), "models/few.sql": READERS[reader]})
    assert wh("build")[0] == 0
    parquet(project, "data/2.parquet", "select r::int as id from range(3000, 4400) as t (r)")
    assert "updated 1" in wh("build")[2]
    assert tables_unlike_from_nothing(project, tmp_path) == []
    parquet(project, "data/3.parquet", "select r::int as id from range(5000, 5100) as t (r)")
    assert wh("build")[0] == 0
    (project.root / "data" / "2.parquet").unlink()
    assert "updated 1" in wh("build")[2]
    assert tables_unlike_from_nothing(project, tmp_path) == []


@pytest.mark.parametrize(("key", "grain"), [("b", ""), ("b, a", ""), ("a", "a, b")])
def test_another_key_is_another_order(key: str, grain: str, project: Project, wh: Wh, tmp_path: Path) -> None:
    parquet(project, "data/1.parquet", "select 1 as c, r // 2 as a, 9 - r as b from range(10) as t (r)")
    write(project, {
        "models/inc.sql": keyed("a", f"select a, c, b from {DATA}"), "models/lim.sql": "select a, b from inc limit 3",
    })
    assert wh("build")[0] == 0
    write(project, {"models/inc.sql": keyed(key, f"select a, c, b from {DATA}", grain)})
    assert "built 2" in wh("build")[2]
    assert tables_unlike_from_nothing(project, tmp_path) == []


@pytest.mark.parametrize("name", few(["source", "file", "rows", "hash_sum", "place", "hashed", "occurrence", "here", "before", "a", "m", "o", "c"], 5))
def test_columns_may_be_called_anything(name: str, project: Project, wh: Wh, tmp_path: Path) -> None:
    for number in range(6):
        parquet(project, f"data/{number}.parquet", f"select 's{number}' as {name}, r::int as v from range(5) as t (r)")
    write(project, {
        "models/inc.sql": keyed(name, f"select {name}, v from {DATA}"),
        "models/agg.sql": keyed(name, f"select {name}, sum(v) as s from inc group by {name}"),
        "models/tab.sql": f"select {name}, v as k, v from {DATA}",
        "models/by_name.sql": keyed(name, f"select {name}, sum(v) as s from tab group by {name}"),
        "models/by_k.sql": keyed("k", f"select k, max({name}) as named, sum(v) as s from tab group by k"),
    })
    assert wh("build")[0] == 0
    parquet(project, "data/2.parquet", f"select 's2' as {name}, r::int as v from range(7) as t (r)")
    assert wh("build")[0] == 0
    assert rows(project, f"select s::int from agg where {name} = 's2'") == [(21,)]
    assert tables_unlike_from_nothing(project, tmp_path) == []


@pytest.mark.parametrize(
    ("sql", "code"), [
        ("select * from (select 1 as a) using sample 10% (system, 4)", "WH226"), ("show tables", "WH220"),
        ("select * from (show all tables)", "WH220"), ('select 1 as "wh row"', "WH207"),
    ],
)
def test_what_is_no_function_of_its_inputs_is_refused(sql: str, code: str, project: Project, wh: Wh) -> None:
    write(project, {"models/m.sql": sql})
    status, _, err = wh("check")
    assert status == 1 and err.startswith(f"{code} models/m.sql:1:")
