"""Tables that are local to a run or a bundle are updated by it without a word in their header, and are what a full build makes."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import pytest
from bare_project import project, write
from conftest import Wh
from exhaustive import few
from from_nothing import tables_unlike_from_nothing
from standard import standard_project

from warehouse.project.project import Project
from warehouse.scale.choice import partitioned_models
from warehouse.transform.build import plan as build_plan
from warehouse.transform.build.build import gather_material
from warehouse.transform.sql.aggregates import AGGREGATES, STEADY_AGGREGATES, adds_in_pieces, sees_layout, takes_disordered_rows
from warehouse.transform.sql.duck import connect

__all__ = ["project"]


def parquet(path: Path, sql: str) -> None:
    path.parent.mkdir(exist_ok=True)
    duckdb.sql(f"copy ({sql}) to '{path}'")


def sample(project: Project, run: int, rows: int) -> None:
    """A file of one run's samples."""
    parquet(project.root / "samples" / f"{run:03}.parquet", f"select 'run-{run}' as run_id, i, 0.1 * (i % 7) as watts, i % 3 as host from range({rows}) as r (i)")


MODELS = {
    "models/fact.sql": "select run_id, i, watts, host from read_parquet('samples/*.parquet')",
    "models/energy.sql": "select run_id, sum(watts) as total, avg(watts) as mean, count(*) as n from fact group by run_id",
    "models/host.sql": "select i as host, 'h' || i as name from range(3) as r (i)",
    "models/named.sql": "select f.run_id, h.name, max(f.i) as last from fact as f join host as h using (host) group by all",
    "models/total.sql": "select sum(total) as total from energy",
}


def test_what_is_local_is_updated_by_key(project: Project, wh: Wh, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build_plan, "LEAST_ROWS", 1)
    write(project, MODELS)
    for run in range(20):
        sample(project, run, 1500 + 37 * run)
    assert wh("build")[0] == 0
    for run, rows in ((20, 900), (21, 2500)):  # new runs, in files of their own
        sample(project, run, rows)
        assert "updated 3" in wh("build")[2]
        assert tables_unlike_from_nothing(project, tmp_path) == []
    sample(project, 7, 100)  # a file that is other than it was, and one that goes: no key of its rows is kept
    assert {model["name"]: model["action"] for model in planned(wh)}["main.fact"] == "build"
    assert wh("build")[0] == 0
    assert tables_unlike_from_nothing(project, tmp_path) == []
    (project.root / "samples" / "003.parquet").unlink()
    assert wh("build")[0] == 0
    assert tables_unlike_from_nothing(project, tmp_path) == []
    sample(project, 30, 10)
    assert "updated 3" in wh("build")[2]
    assert tables_unlike_from_nothing(project, tmp_path) == []


def test_a_small_table_is_built(project: Project, wh: Wh) -> None:
    write(project, MODELS)
    sample(project, 1, 400)
    sample(project, 2, 400)
    assert wh("build")[0] == 0
    sample(project, 3, 400)
    assert "updated" not in wh("build")[2]


def test_a_small_table_that_reads_much_is_updated(project: Project, wh: Wh, tmp_path: Path) -> None:
    write(project, {"models/fact.sql": MODELS["models/fact.sql"], "models/first.sql": "select run_id, watts from fact where i = 7"})
    for run in range(12):
        sample(project, run, 10_000)
    assert wh("build")[0] == 0
    sample(project, 12, 20)
    assert {model["name"]: model["action"] for model in planned(wh)} == {"main.fact": "update", "main.first": "maybe"}
    assert "updated 2 (2 keys)" in wh("build")[2]
    assert tables_unlike_from_nothing(project, tmp_path) == []


def test_what_reads_a_whole_table_follows_it_whichever_order_the_engine_makes_it_in(
    project: Project, wh: Wh, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build_plan, "LEAST_ROWS", 1)
    write(project, {
        "models/fact.sql": MODELS["models/fact.sql"],
        # Not local, and each run that comes turns its rows round.
        "models/turned.sql": (
            "/*\ngrain: [run_id]\n*/\nwith n as (select run_id, count(*) as n from fact group by run_id)\n"
            "select * from (select * from n order by n * if((select count(*) from n) % 2 = 0, 1, -1))"
        ),
        "models/reader.sql": "select run_id, n + 1 as more from turned",
    })
    for run in range(4):
        sample(project, run, 1500 + 37 * run)
    assert wh("build")[0] == 0
    for run in (4, 5):
        sample(project, run, 900)
        assert "updated 2 (2 keys)" in wh("build")[2]
        assert tables_unlike_from_nothing(project, tmp_path) == []


def planned(wh: Wh) -> list[dict[str, object]]:
    models: list[dict[str, object]] = json.loads(wh("plan", "--json")[1])["models"]
    return models


WHY_NOT = {
    "a window": ("select run_id, row_number() over (partition by run_id order by i) as n from fact", "a window numbers rows"),
    "over all": ("select run_id, rank() over (order by i) as n from fact", "partition by the key"),
    "no key": ("select i, count(*) as n from fact group by i", "it has no run_id"),
    "its own order": ("select run_id, i from fact order by i", "order of their own"),
    "a grain without the key": ("/*\ngrain: [i]\n*/\nselect run_id, i from fact where run_id = 'run-1'", "its grain leaves out run_id"),
    "joined": ("select f.run_id, sum(f.watts) as n from fact as f join host as h using (host) group by all", "order by in the aggregate"),
    "in pieces": ("select run_id, sum(watts) as n, list(i) as l from fact group by run_id", "in pieces"),
}


@pytest.mark.parametrize("case", few(WHY_NOT, 3))
def test_the_plan_says_why_a_table_is_built_whole(case: str, project: Project, wh: Wh) -> None:
    sql, told = WHY_NOT[case]
    write(project, {**MODELS, "models/m.sql": sql})
    sample(project, 1, 10)
    found = {str(model["name"]): model for model in planned(wh)}
    assert told in str(found["main.m"]["whole_because"]) and not found["main.m"]["key"]
    assert found["main.energy"]["key"] == ["run_id"] and not found["main.energy"]["whole_because"]


def test_a_table_is_updated_by_the_key_by_which_it_reads_nothing_whole(project: Project, wh: Wh) -> None:
    write(project, {
        "models/fact.sql": "select run_id, 'of-' || run_id as artifact_manifest_digest, i from read_parquet('samples/*.parquet')",
        "models/bundle.sql": "select artifact_manifest_digest, max(i) as last from fact group by all",
        "models/by_bundle.sql": "select f.run_id, f.artifact_manifest_digest, b.last from fact as f join bundle as b using (artifact_manifest_digest)",
        "models/by_run.sql": "select run_id, artifact_manifest_digest, count(*) as n from fact group by all",
    })
    sample(project, 1, 10)
    found = {str(model["name"]): model["key"] for model in planned(wh)}
    assert (found["main.by_bundle"], found["main.by_run"]) == (["artifact_manifest_digest"], ["run_id"])


def test_most_standard_tables_are_local(tmp_path: Path) -> None:
    material = gather_material(standard_project(tmp_path))
    checked = material.checked
    tables = [name for name, model in checked.models.items() if model.materialized != "view"]
    assert sum(name not in checked.whole_because for name in tables) >= 225
    assert all(checked.models[name].key and name in checked.key_plans for name in tables if name not in checked.whole_because)
    told = f"Of the standard project's {len(tables)} tables {len(partitioned_models(material))} run on partitions"
    assert told in (Path(__file__).parents[1] / "docs/scale.md").read_text()


def test_floats_of_joined_rows_are_added_as_a_full_build_adds_them(project: Project, wh: Wh, tmp_path: Path) -> None:
    """Of 300,000 rows: the engine gives the first matches of a vector of rows, then the second ones, and where it cuts vectors depends on
    all rows."""
    def part(number: int, more: int = 0) -> None:
        rows = f"select (i // 100 + 300 * {number})::bigint as run_id, i as t, (hash(i + {number}) % 1000000) / 997.0 as v from range({30_000 + more}) as r (i)"
        parquet(project.root / "samples" / f"{number}.parquet", rows)

    header = "/*\nmaterialized: incremental\nkey: [run_id]\n*/\n"
    write(project, {
        "models/fact.sql": f"{header}select run_id, t, v from read_parquet('samples/*.parquet')",
        "models/m.sql": f"{header}select a.run_id, sum(a.v * b.v) as x from fact as a join fact as b using (run_id) where a.t % 5 = 0 and b.t % 13 = 3 group by all",
    })
    for number in range(10):
        part(number)
    assert wh("build")[0] == 0
    part(4, 50)
    assert wh("build")[0] == 0
    assert tables_unlike_from_nothing(project, tmp_path) == []


ORDERS = {
    "select k, sum(x) from t group by k": False,
    "select k, sum(x) from t join u using (k) group by k": True,
    "select k, max(x), count(*), median(x) from t join u using (k) group by k": False,
    "select k, sum(x order by n) from t join u using (k) group by k": True,
    "select k, sum(x order by n, x) from t join u using (k) group by k": False,
    "select k, list(w order by n) from t join u using (k) group by k": True,
    "select k, string_agg(w, ', ' order by w) from t join u using (k) group by k": False,
    "select k, string_agg(if(n > 1, 'of ' || v.w, n::varchar), ', ' order by n, v.w) from t join v using (k) group by k": False,
    "select k, string_agg(w || n, ', ' order by w) from t join u using (k) group by k": True,
    "select k, list(list_transform(w, x -> x + n) order by w, n) from t join u using (k) group by k": True,
    "select k, first(x) from (select distinct k, x from t) group by k": True,
    "select k, avg(x) from (select k, x from t union select k, x from u) group by k": True,
    "select k, avg(x) from (select k, x from t union all select k, x from u) group by k": False,
    "with c as (select k, i, sum(x) as x from t group by all) select k, sum(x) from c group by k": True,
    "with c as (select k, i, sum(x) as x from t group by all) select k, sum(x) from (select * from c order by k, i) group by k": False,
    "with c as (select k, x from t), d as (select k, x, row_number() over (partition by k order by n) as r from c) select k, stddev_samp(x * r) from d group by k": True,
    "select k, sum(x) from t where k in (select k from u group by k) group by k": True,
    "select k, sum(x) from t where k in ('a', 'b') and exists (select 1 from u where u.k = t.k) group by k": True,
    "select k, sum(x) from t where k in ('a', 'b') and x > 7 group by k": False,
    "select k, sum(x) from t where x > (select min(x) from u where u.k = t.k) group by k": True,
    "select distinct on (k) k, x from t join u using (k)": True,
    "select k, sum(x) from some_view group by k": True,
    "select k, sum(x * (select w from u where u.k = t.k)) from t group by k": True,
    "select k, sum(x) from (select k, x, (select max(w) from u where u.k = t.k) as w from t) group by k": True,
    "select k, (select sum(x) from u where u.k = t.k) as x from t": True,
    "select k, sum(x) / (select count(*) from u) from t group by k": False,
    "select k, (select max(x) from u where u.k = t.k) as x from t": False,
    "select k, (select max(w) from u where u.k = t.k) as g, sum(x) from t group by all": True,
    "select k, (select max(w) from u where u.k = t.k) as g, sum(x) from t group by 1, 2": True,
    "select k, sum(x) / (select count(*) from u) as g from t group by all": False,
    "select k, (select max(w) from u where u.k = t.k) as g, sum(x) from t group by k, g": True,
    "select k, sum(a) from (select * from t pivot (max(x) for h in ('a', 'b') group by k)) group by k": True,
    "select * from (select * from t join u using (k)) pivot (sum(x) for h in ('a', 'b') group by k)": True,
    "select * from t pivot (sum(x) for h in ('a', 'b') group by k)": False,
    "select k, sum(x) from (select * from t unpivot (x for h in (a, b))) group by k": False,
    "with recursive c as (select k, x from t union select k, x / 2 from c where x > 1) select k, sum(x) from c group by k": True,
    "with recursive c as (select k, x from t union all select k, x / 2 from c where x > 1) select k, sum(x) from c group by k": False,
}


@pytest.mark.parametrize(("sql", "is_so"), ORDERS.items())
def test_what_takes_rows_in_an_order_that_depends_on_others(sql: str, is_so: bool) -> None:
    [(text,)] = duckdb.execute("select json_serialize_sql(?)", [sql]).fetchall()
    assert takes_disordered_rows(json.loads(text)["statements"][0]["node"], {"some_view"}) == is_so


@pytest.mark.parametrize("name", few([*sorted(AGGREGATES - STEADY_AGGREGATES - {"combine_aggr", "lttb"})], 2))
def test_which_aggregates_the_engine_takes_in_pieces(name: str) -> None:
    """Beside a list, of 4 million rows: those that come out otherwise over all groups than over a few are known to."""
    con = duckdb.connect()
    con.execute("set threads = 1; set memory_limit = '4GB'; set enable_caching_operators = false")
    con.execute("create table t as select hash(i) % 100000 as k, i, (hash(i) % 1000000) / 997.0 as v, (hash(i + 7) % 1000) / 7.0 as w from range(4000000) as r (i)")
    con.execute("create table few as select * from t where hash(k) % 23 = 1")
    for arguments in ("v", "v, w", "v, 0.5"):
        sql = f"select k, {name}({arguments}) as x, list(i)[1:2] as y from {{}} group by k"
        try:
            con.execute(sql.format("few limit 0"))
        except duckdb.Error:
            continue
        [(unlike,)] = con.execute(f"select count(*) from ({sql.format('t')}) as a join ({sql.format('few')}) as b using (k) where a.x is distinct from b.x").fetchall()
        [(text,)] = duckdb.execute("select json_serialize_sql(?)", [sql.format("t")]).fetchall()
        assert not unlike or adds_in_pieces(json.loads(text)["statements"][0]["node"])


# Of 300,000 rows of 300 keys.
UNLIKE_OVER_FEW = {
    "a query in a select list": "select k, sum(x * w) as s from (select k, x, (select max(w) from u where u.b = t.b) as w from {t} as t) group by k",
    "rows that an order does not tell apart": "select k, sum(x * w order by b % 3) as s from {t} as t join u using (b) group by k",
    "texts that an order does not tell apart": "select k, string_agg(w, ' ' order by b % 3) as s from {t} as t join u using (b) group by k",
    "a query that is grouped by": "select k, list(s order by s) as s from (select k, (select max(w) from u where u.b = t.b)::int % 3 as g, sum(x) as s from {t} as t group by all) group by k",
    "a query that adds": "select distinct k, (select sum(w) from u where u.b >= t.k * 10) as s from {t} as t",
}


@pytest.mark.parametrize("case", UNLIKE_OVER_FEW)
def test_what_comes_out_otherwise_over_fewer_keys_is_known_to(case: str) -> None:
    sql = UNLIKE_OVER_FEW[case]
    con = connect()
    con.execute("create table t as select i // 1000 as k, (hash(i) % 5000)::int as b, (hash(i + 1) % 1000000) / 997.0e0 as x from range(300000) as r (i)")
    con.execute("create table few as select * from t where k in (7, 100)")
    con.execute("create table u as select i::int as b, (hash(i + 7) % 1000) / 7.0e0 as w from range(5000) as r (i)")
    all_and_few = f"select count(*) from ({sql.format(t='t')}) as a join ({sql.format(t='few')}) as b using (k) where a.s is distinct from b.s"
    [(unlike,)] = con.execute(all_and_few).fetchall()
    [(text,)] = con.execute("select json_serialize_sql(?)", [sql.format(t="t")]).fetchall()
    con.close()
    assert not unlike or takes_disordered_rows(json.loads(text)["statements"][0]["node"])


@pytest.mark.parametrize(("sql", "is_so"), {"sum(x)": True, "avg(x) + 1": True, "sum(x order by x)": False, "avg(x order by i) filter (i % 3 = 0)": False}.items())
def test_what_sees_how_a_table_lies(sql: str, is_so: bool, tmp_path: Path) -> None:
    """A vector of one value in a table that is compressed is added as value x count; what is ordered before, one by one."""
    con = connect(tmp_path / "t.duckdb")
    con.execute("create table t as select i, 0.1e0 as x from range(6000) as r (i)")
    con.execute("checkpoint")
    con.execute("create temp table copy as from t")
    [stored], [copied] = (con.execute(f"select {sql} from {name}").fetchall() for name in ("t", "copy"))
    [(text,)] = con.execute("select json_serialize_sql(?)", [f"select {sql} from t"]).fetchall()
    con.close()
    assert sees_layout(json.loads(text)["statements"][0]["node"]) == is_so
    assert (stored != copied) == is_so
