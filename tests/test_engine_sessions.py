"""Sessions of the engine: each has the pinned settings; those in memory share an engine, and each has tables of its own and leaves nothing behind.
Folders above a file are no columns of it."""

from __future__ import annotations

import re
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import duckdb
import pytest
from samples.values import take_in, value_files, values_project

from warehouse.api import verify_all
from warehouse.claims.publish.publish import publish
from warehouse.errors import WarehouseError
from warehouse.transform.build.build import build
from warehouse.transform.finished.builds import current_build
from warehouse.transform.finished.query import read_query
from warehouse.transform.sql import duck
from warehouse.transform.sql.duck import PINNED_SETTINGS, asking, cursor, scratch


def databases() -> set[str]:
    with asking() as con:
        return {name for (name,) in con.execute("select database_name from duckdb_databases() where not internal").fetchall()}


def test_sessions_see_no_tables_of_each_other_and_leave_none() -> None:
    before = databases()
    with pytest.raises(ZeroDivisionError), scratch() as one, scratch() as other:
        one.execute("create schema staging; create table staging.t as select 1 as a; begin; insert into staging.t select 2")
        with pytest.raises(duckdb.CatalogException):
            other.execute("from staging.t")
        raise ZeroDivisionError  # while a transaction is open
    assert databases() == before


def settings(con: duckdb.DuckDBPyConnection) -> dict[str, object]:
    return {name: con.execute(f"select current_setting('{name}')").fetchall()[0][0] for name in PINNED_SETTINGS}


def test_a_session_begins_with_the_pinned_settings() -> None:
    with scratch() as con:
        con.execute("set integer_division = true; set default_null_order = 'NULLS_FIRST'; set search_path = 'temp'")
    with scratch() as con, cursor(con) as beside:
        assert settings(con) == settings(beside) == PINNED_SETTINGS


def test_threads_that_ask_at_once_have_one_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    def ask(number: int) -> int:
        with scratch() as con:
            con.execute("create table staging as select 1 as a")
            return number

    for _ in range(5):
        monkeypatch.setattr(duck, "_ENGINES", [])
        with ThreadPoolExecutor(8) as pool:
            assert list(pool.map(ask, range(8))) == list(range(8))


def test_folders_above_the_project_and_the_scratch_are_no_columns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "value=9").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "value=9"))
    project = values_project(tmp_path / "key=zzz" / "project", "select key, sum(value) as total from reading group by key")
    take_in(project, value_files(tmp_path / "results", "a=1\n", "b=5\n", "b=2\n"))
    build(project)
    with read_query(current_build(project).path, "select key, total from claim order by key") as result:
        assert result.fetchall() == [("a", 1.0), ("b", 7.0)]
    publish(project, "claim", as_provisional=True)
    assert {each.state for each in verify_all(project)} == {"verified"}


def test_a_file_that_a_model_reads_below_such_a_folder_must_say_what_it_means(tmp_path: Path) -> None:
    project = values_project(tmp_path / "value=9" / "project", "select key, value from reading")
    (project.root / "data.csv").write_text("key,value\na,1\n")
    model = project.root / "models" / "reading.sql"
    model.write_text("select * from read_csv('data.csv')")
    with pytest.raises(WarehouseError, match="below the folder value=9") as caught:
        build(project)
    assert caught.value.code == "WH220" and "hive_partitioning" in str(caught.value.hint)
    model.write_text("select * from read_csv('data.csv', hive_partitioning = false)")
    build(project)
    with read_query(current_build(project).path, "select key, value from claim") as result:
        assert result.fetchall() == [("a", 1)]


def test_every_parquet_file_is_read_by_one_spelling() -> None:
    sources = {path: path.read_text() for path in Path(duck.__file__).parents[2].rglob("*.py")}
    assert [path.name for path, text in sources.items() if re.search(r"read_parquet\(\[", text)] == ["duck.py"]
