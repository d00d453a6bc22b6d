"""Views of a build are read by any client of the engine: no search path, no project, whatever name the file is attached by."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest
from bare_project import project, write

from warehouse.project.project import Project
from warehouse.transform.build.build import build
from warehouse.transform.finished.builds import current_build

__all__ = ["project"]
VIEW = "/*\nmaterialized: view\ndescription: é\n*/ "
# Tables of other schemas than the view's, and one in main whose name they must not be taken for.
TABLES = {
    "models/staging/stg.sql": "select i as k, {'f': i * 2} as s from range(4) as r (i)",
    "models/marts/top.sql": "select 2::bigint as k",
    "models/staging/main.sql": "select 7::bigint as k",
}
# A view's SQL and the sum of its column k, by hand: stg has 0, 1, 2 and 3, top has 2, staging.main has 7.
VIEWS = {
    "bare": ("select k from stg", 6),
    "a column qualified by the table": ("select stg.k from stg where stg.s.f > 2", 5),
    "a column qualified by schema and table": ("select staging.stg.k from stg", 6),
    "the name in quotes and in another case": ('select "Stg".k from "STG"', 6),
    "an alias": ("select a.k from stg as a, top as b where a.k = b.k", 2),
    "an alias that is another table's name": ("select top.k from stg as top semi join top as stg using (k)", 2),
    "an alias first": ("select stg.k from stg: stg", 6),
    "a CTE that hides its table": ("with stg as (select k + 1 as k from stg) select k from stg", 10),
    "a CTE of a subquery hides nothing outside": (
        "select k from stg where k in (with stg as (select 3 as k) select k from stg)", 3),
    "a recursive CTE": (
        "with recursive stg as (select k from top union all select k + 1 from stg where k < 3) select k from stg", 5),
    "a subquery of the select list": ("select (select max(stg.k) from stg) as k from top", 3),
    "after letters beyond ASCII and a comment": ("select 'é — from stg' as é, k /* from stg */ from stg -- stg", 6),
    "a set operation by from first": ("(from top) union all by name (from stg select k)", 8),
    "a join in brackets": ("select k from (stg join top using (k))", 2),
    "a pivot": ("select \"2\" as k from (select k, k as n from stg) pivot (sum(n) for k in (2))", 2),
    "a pivot of the table": ("select sum(\"3\") as k from (select k from stg) pivot (sum(k) for k in (3))", 3),
    "the row as a struct": ("select stg.k as k, stg as whole from stg", 6),
    "a table statement": ("from (table stg) as t select k", 6),
    "a summary": ("select count::bigint as k from (summarize stg) where column_name = 'k'", 4),
    "its schema is written": ("select k from staging.stg", 6),
    "a table named as a schema": ("select main.k from main", 7),
}


def sums(database: Path, view: str) -> list[int]:
    """The sum of a view's column k: opened as the database, and attached under another name."""
    found = []
    with duckdb.connect(str(database), read_only=True) as con:
        found += con.execute(f"select sum(k)::bigint from {view}").fetchall()[0]
    with duckdb.connect() as con:
        con.execute(f"attach '{database}' as elsewhere (read_only)")
        found += con.execute(f"select sum(k)::bigint from elsewhere.{view}").fetchall()[0]
    return found


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One build with all the views, each in main and in mart."""
    from warehouse.project.making import init_project

    made = init_project(tmp_path_factory.mktemp("views") / "project", bare=True)
    names = {f"v{number}": sql for number, (sql, _) in enumerate(VIEWS.values())}
    write(made, TABLES)
    write(made, {f"models/{name}.sql": VIEW + sql for name, sql in names.items()})
    write(made, {f"models/marts/m{name}.sql": VIEW + f"select k from {name}" for name in names})
    return build(made).build.path


@pytest.mark.parametrize("case", VIEWS)
def test_a_plain_client_reads_it(case: str, database: Path) -> None:
    number, expected = [*VIEWS].index(case), VIEWS[case][1]
    assert sums(database, f"main.v{number}") == [expected] * 2
    assert sums(database, f"mart.mv{number}") == [expected] * 2


def test_a_view_follows_a_table_into_another_schema(project: Project) -> None:
    write(project, {"models/staging/a.sql": "select 1 as k", "models/v.sql": VIEW + "select k from a"})
    build(project)
    (project.root / "models" / "marts").mkdir()
    (project.root / "models" / "staging" / "a.sql").rename(project.root / "models" / "marts" / "a.sql")
    assert {model.name: model.action for model in build(project).models}["main.v"] == "build"
    assert sums(current_build(project).path, "main.v") == [1, 1]
