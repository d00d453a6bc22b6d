"""The same floats must add up to the same last bits, however the table that holds them came to lie as it lies.

The engine adds a vector of one value as value x count, and whether such a vector comes depends on what is compressed
already and where vectors are cut: tables of stretches of one value show it.
"""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import pytest
from bare_project import project, write
from conftest import Wh
from from_nothing import tables_unlike_from_nothing

from warehouse.project.project import Project
from warehouse.transform.build.state import read_states
from warehouse.transform.finished.builds import current_build
from warehouse.transform.sql.aggregates import AGGREGATES, FLOAT_SUMS, adds_in_pieces

__all__ = ["project"]

ROWS = 6000  # three vectors, of which the last is not full
TABLE = f"select i as id, i % 7 as g, 1 as one, 0.1::double as x, i // 2500 * 0.1::double as steps from range({ROWS}) as r (i)"
SHAPES = (
    "select {} from t", "select {} from t where x < 1", "select x, {} from t group by x", "select g, {} from t group by g order by g",
    "select {} from t join (select distinct g from t) using (g)", "select {} over (partition by g) from t order by id",
    "select {} over (order by id rows between 2100 preceding and current row) from t where id < 2150 order by id",
)

# What gives all that it was given; of thousands of rows of a window that is much.
_OF_ALL = frozenset(("list", "array_agg", "histogram", "histogram_exact", "string_agg", "group_concat", "listagg", "approx_top_k"))


def test_the_aggregates_are_the_engines() -> None:
    found = duckdb.sql("select distinct function_name from duckdb_functions() where function_type = 'aggregate'").fetchall()
    assert {name for name, in found} == AGGREGATES
    macros = duckdb.sql(
        "select function_name, macro_definition from duckdb_functions() where function_type = 'macro'"
        " and regexp_matches(macro_definition, '\\b(' || ? || ')\\(')", params=["|".join(sorted(FLOAT_SUMS))]).fetchall()
    assert {name for name, _ in macros} <= FLOAT_SUMS and len(macros) > 2


def test_which_aggregates_see_how_floats_lie(tmp_path: Path) -> None:
    """Every aggregate of a float, over a table before it is compressed and after."""
    calls = [f"{name}({more})" for name in sorted(AGGREGATES | FLOAT_SUMS) for more in ("x", "x, id", "x, 0.5") if name not in _OF_ALL]
    scratch = duckdb.connect()
    scratch.execute(f"create table t as {TABLE}")
    queries = [(call, shape.format(call)) for call in calls for shape in SHAPES if runs(scratch, shape.format(call))]
    con = duckdb.connect(str(tmp_path / "t.duckdb"))
    con.execute("set threads = 1")
    con.execute("begin")
    con.execute(f"create table t as {TABLE}")
    before = [repr(con.execute(query).fetchall()) for _, query in queries]
    con.execute("commit")
    con.execute("checkpoint")
    after = [repr(con.execute(query).fetchall()) for _, query in queries]
    con.close()
    seen = {call.partition("(")[0] for (call, _), old, new in zip(queries, before, after, strict=True) if old != new}
    assert {"sum", "avg", "mean"} <= seen <= FLOAT_SUMS
    assert len({call for call, _ in queries}) > 50


def runs(con: duckdb.DuckDBPyConnection, query: str) -> bool:
    try:
        con.execute(query).fetchall()
    except duckdb.Error:
        return False
    return True


@pytest.mark.parametrize("shape", SHAPES[:5])
def test_a_sum_over_a_kept_table_is_that_over_a_new_one(shape: str, project: Project, wh: Wh, tmp_path: Path) -> None:
    write(project, {"models/t.sql": TABLE, "models/total.sql": shape.format("sum(x)")})
    assert wh("build")[0] == 0
    write(project, {"models/total.sql": shape.format("sum(x) as added, avg(steps)")})
    assert "built 1, kept 1" in wh("build")[2]
    assert tables_unlike_from_nothing(project, tmp_path) == []


def sample(project: Project, run: int, rows: int) -> None:
    """A file of one run's samples, all of one value."""
    path = project.root / "samples" / f"{run:03}.parquet"
    path.parent.mkdir(exist_ok=True)
    duckdb.sql(f"copy (select {run} as run_id, i, 0.1::double as watts, i % 3 as host from range({rows}) as r (i)) to '{path}'")


INCREMENTAL = "/*\nmaterialized: incremental\nkey: [run_id]\ngrain: [run_id, i]\n*/\n"
BY_RUN = "/*\nmaterialized: incremental\nkey: [run_id]\n*/\n"
OVER_SAMPLES = {
    "models/fact.sql": f"{INCREMENTAL}select run_id, i, watts, host from read_parquet('samples/*.parquet')",
    "models/energy.sql": f"{BY_RUN}select run_id, sum(watts) as total, avg(watts) as mean from fact group by run_id",
    "models/host.sql": "select i as host, 'h' || i as name from range(3) as r (i)",
    "models/counted.sql": "select h.name, count(*) as n, max(f.i) as last from fact as f join host as h using (host) group by all",
}


def layout(project: Project, table: str) -> str:
    with duckdb.connect(str(current_build(project).path), read_only=True) as con:
        return read_states(con)[table].layout


def test_sums_by_key_are_those_of_a_full_build(project: Project, wh: Wh, tmp_path: Path) -> None:
    write(project, {**OVER_SAMPLES, "models/total.sql": "select sum(watts) as total from fact"})
    for run in range(0, 40, 2):
        sample(project, run, 1500 + 37 * run)
    assert wh("build")[0] == 0
    for run, rows in ((41, 3000), (7, 2500), (4, 2200), (44, 5000)):  # at the end, between, changed, at the end
        sample(project, run, rows)
        assert "updated 2" in wh("build")[2]
        assert tables_unlike_from_nothing(project, tmp_path) == []
        assert layout(project, "fact") == "whole"  # total may tell


def test_a_table_that_only_grew_is_written_again_for_who_can_tell(project: Project, wh: Wh, tmp_path: Path) -> None:
    write(project, OVER_SAMPLES)
    for run in range(20):
        sample(project, run, 1500)
    assert wh("build")[0] == 0
    for run in (20, 21):
        sample(project, run, 1500)
        assert "updated 2" in wh("build")[2]
        assert (layout(project, "fact"), layout(project, "energy")) == ("grown", "grown")
        assert tables_unlike_from_nothing(project, tmp_path) == []
    write(project, {"models/total.sql": "select sum(watts) as total from fact"})
    assert wh("build")[0] == 0
    assert (layout(project, "fact"), layout(project, "energy")) == ("whole", "grown")
    assert tables_unlike_from_nothing(project, tmp_path) == []
    sample(project, 3, 1400)
    assert "updated 2" in wh("build")[2]
    assert (layout(project, "fact"), layout(project, "energy")) == ("whole", "patched")
    assert tables_unlike_from_nothing(project, tmp_path) == []


@pytest.mark.parametrize(
    ("sql", "is_so"),
    [
        ("select a, sum(x), list(x order by t) from t group by a", True), ("select a, avg(x) from t group by a having len(list(y)) > 1", True),
        ("select a, string_agg(n, ',' order by n) || sum(x)::varchar from t group by a", True), ("select a, sum(x), median(x) from t group by a", False),
        ("select a, sum(x order by x), list(x) from t group by a", False), ("select a, list(x) from t group by a", False),
        ("select a, s, l from (select a, sum(x) as s from t group by a) join (select a, list(x) as l from t group by a) using (a)", False),
    ],
)
def test_where_the_engine_adds_floats_in_pieces(sql: str, is_so: bool) -> None:
    [(text,)] = duckdb.execute("select json_serialize_sql(?)", [sql]).fetchall()
    assert adds_in_pieces(json.loads(text)["statements"][0]["node"]) == is_so


def test_sums_beside_lists_are_not_made_anew_for_some_keys_alone(project: Project, wh: Wh, tmp_path: Path) -> None:
    """Of millions of rows DuckDB 2.0.0 adds them in pieces, which depend on all groups."""
    sums = f"{BY_RUN}select run_id, sum(watts) as total, list(watts order by i)[1:3] as first from fact group by run_id"
    write(project, {**OVER_SAMPLES, "models/energy.sql": sums})
    for run in range(20):
        sample(project, run, 1500)
    assert wh("build")[0] == 0
    sample(project, 3, 1400)
    assert "built 2, updated 1 (1 key)" in wh("build")[2]  # counted, which reads all rows, and energy
    assert tables_unlike_from_nothing(project, tmp_path) == []


def test_a_view_that_adds_up_a_table_is_no_way_to_a_key(project: Project, wh: Wh, tmp_path: Path) -> None:
    """Over some rows of it a sum can have other last bits than over all: its reader is built whole."""
    by_run = "/*\nmaterialized: view\n*/\nselect run_id, sum(watts) as total from fact group by run_id"
    write(project, {**OVER_SAMPLES, "models/by_run.sql": by_run, "models/cost.sql": f"{BY_RUN}select run_id, total from by_run"})
    for run in range(20):
        sample(project, run, 1500 + run)
    assert wh("build")[0] == 0
    sample(project, 20, 1500)
    assert "updated 2" in wh("build")[2]
    assert tables_unlike_from_nothing(project, tmp_path) == []
