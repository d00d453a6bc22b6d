"""A build's file describes itself to any DuckDB client: comments, bare names, and metadata of what is exported from it."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from bare_project import project, write
from conftest import WhBytes, WhOn
from older_duckdb import read_by_1_4
from standard import standard_project

from warehouse.project.making import init_project
from warehouse.project.project import Project
from warehouse.transform.build.build import build
from warehouse.transform.finished.builds import current_build

__all__ = ["project"]
FACT = """\
/*
description: "One row per run: it's
  what a host drew."
grain: [run_id]
collects: reading
columns:
  run_id: {type: varchar, description: "The run"}
  power_w: {type: double, unit: W, description: "Mean power"}
  share: {type: double, unit: "%"}
*/
select * from feed.reading"""
FILES = {
    "models/staging/host.sql": "/*\nfeeds: reading\n*/ select 'r1' as run_id, 12.5::double as power_w",
    "models/facts/power_fact.sql": FACT,
    "models/marts/high.sql": "/*\ndescription: Above 10 W\nmaterialized: view\n*/ select run_id, power_w from power_fact where power_w > 10",
    "queries/mean_power.sql": """\
/*
description: Mean power over runs
grain: [unit]
columns:
  unit: {type: varchar, description: "Its unit"}
  mean_w: {type: double, unit: W, description: "Mean over runs"}
*/
select 'W' as unit, avg(power_w) as mean_w from power_fact""",
}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Tests leave it as it is."""
    made = init_project(tmp_path_factory.mktemp("clients") / "project", bare=True)
    write(made, FILES)
    build(made)
    return made


def ask(project: Project, sql: str) -> list[tuple[Any, ...]]:
    """What DuckDB answers without any setting of ours."""
    with duckdb.connect(str(current_build(project).path), read_only=True) as con:
        return con.execute(sql).fetchall()


def comments(project: Project) -> dict[str, str]:
    tables = "union all ".join(
        f"select schema_name || '.' || {kind}_name as name, comment from duckdb_{kind}s() where not internal " for kind in ("table", "view")
    )
    columns = "select schema_name || '.' || table_name || '.' || column_name, comment from duckdb_columns() where not internal"
    return dict(ask(project, f"from ({tables} union all {columns}) where comment is not null"))


def test_every_table_and_column_has_its_description_and_unit(built: Project) -> None:
    assert comments(built) == {
        "main.power_fact": "One row per run: it's what a host drew.",
        "main.power_fact.run_id": "The run",
        "main.power_fact.power_w": "Mean power [W]",
        "main.power_fact.share": "[%]",
        "feed.reading": "All rows that feed power_fact, from: staging.host.",
        "feed.reading.run_id": "The run",
        "feed.reading.power_w": "Mean power [W]",
        "feed.reading.share": "[%]",
        "staging.host.run_id": "The run",  # it joins the feed, whose contract says so
        "staging.host.power_w": "Mean power [W]",
        "main.host": "The rows of staging.host.",
        "mart.high": "Above 10 W",
        "main.high": "The rows of mart.high. Above 10 W",
        "rollup.mean_power": "Mean power over runs",
        "rollup.mean_power.unit": "Its unit",
        "rollup.mean_power.mean_w": "Mean over runs [W]",
        "rollup.mean_power.query_spec_digest": "sha256 of the query spec: its SQL, its contract and every model under it",
        "rollup.mean_power.number_ids": "The number id of each value in the row, which wh lineage and wh verify take",
        "main.mean_power": "The rows of rollup.mean_power. Mean power over runs",
    }


@pytest.mark.parametrize("name", ["power_fact", "high", "host", "mean_power", "feed.reading", "staging.host", "main.mean_power"])
def test_bare_names_work_in_any_client(name: str, built: Project) -> None:
    assert len(ask(built, f"select * from {name}")) == 1
    with duckdb.connect() as con:
        con.execute(f"attach '{current_build(built).path}' as elsewhere (read_only)")
        assert con.execute(f"select count(*) from elsewhere.{name}").fetchall() == [(1,)]


def test_a_query_pasted_into_any_client_gives_its_rollup(built: Project) -> None:
    assert ask(built, FILES["queries/mean_power.sql"]) == ask(built, "select unit, mean_w from mean_power") == [("W", 12.5)]


def test_a_build_is_written_for_older_engines(built: Project) -> None:
    ((tags,),) = ask(built, "select tags from duckdb_databases() where not internal")
    assert tags["storage_version"] == "v1.4.0+"


@pytest.mark.exhaustive
def test_duckdb_1_4_reads_every_table_and_view_of_the_standard_project(tmp_path: Path) -> None:
    path = current_build(standard_project(tmp_path / "project")).path
    version, read, failed = read_by_1_4(path, tmp_path)
    assert version.startswith("1.4.") and read > 300 and failed == []


def test_wh_shows_each_table_once(built: Project, wh_on: WhOn) -> None:
    shown = wh_on(built, "sql", "--format", "csv", "show tables")[1].split()
    assert shown == ["name", "high", "host", "mean_power", "power_fact"]
    names = [(table["schema"], table["table"]) for table in json.loads(wh_on(built, "tables", "--json", "--all")[1])]
    assert sorted(names) == [("feed", "reading"), ("main", "power_fact"), ("mart", "high"), ("rollup", "mean_power"), ("staging", "host")]


def test_another_description_reaches_tables_that_are_kept(project: Project) -> None:
    write(project, FILES)
    build(project)
    write(project, {"models/facts/power_fact.sql": FACT.replace("Mean power", "Power over the run").replace(', description: "The run"', "")})
    done = build(project)
    assert {model.action for model in done.models} == {"keep"}
    found = comments(project)
    assert found["main.power_fact.power_w"] == found["feed.reading.power_w"] == found["staging.host.power_w"] == "Power over the run [W]"
    assert "main.power_fact.run_id" not in found and "staging.host.run_id" not in found


def test_a_bare_name_follows_its_table(project: Project) -> None:
    reader = "models/reader.sql"
    write(project, {"models/staging/a.sql": "select 1 as k", reader: "select k from a"})
    build(project)
    (project.root / "models/staging/a.sql").rename(project.root / "models/a.sql")
    build(project)  # into main, where the view of its bare name was
    assert ask(project, "select table_name from duckdb_tables() where schema_name = 'main' order by 1") == [("a",), ("reader",)]
    write(project, {"models/marts/a.sql": "select 2 as k, 3 as l"})
    (project.root / "models/a.sql").unlink()
    build(project)
    assert ask(project, "from a") == [(2, 3)] and ask(project, "from reader") == [(2,)]
    (project.root / "models/marts/a.sql").unlink()
    write(project, {reader: "select 4 as k"})
    build(project)
    assert ask(project, "select view_name from duckdb_views() where not internal") == []


def test_a_build_is_read_only_on_disk(built: Project) -> None:
    assert stat.S_IMODE(current_build(built).path.stat().st_mode) == 0o444
    with duckdb.connect(str(current_build(built).path), read_only=True) as con, pytest.raises(duckdb.InvalidInputException):
        con.execute("create table main.more as select 1")


# --- metadata of results -----------------------------------------------------------------------------------------


def exported(project: Project, sql: str, wh_bytes: WhBytes, form: str = "parquet") -> pa.Schema:
    status, out, err = wh_bytes(project, "sql", "--format", form, sql)
    assert status == 0, err
    source = pa.BufferReader(out)
    return pq.read_schema(source) if form == "parquet" else pa.ipc.open_stream(source).schema


# SQL, and what is stated of its columns: their description, unit and source.
RESULTS: dict[str, dict[str, dict[str, str]]] = {
    "select run_id, power_w as p from power_fact;": {
        "run_id": {"description": "The run", "source": "main.power_fact.run_id"},
        "p": {"description": "Mean power", "unit": "W", "source": "main.power_fact.power_w"},
    },
    "select power_w * 2 as power_w, max(power_w) as most from power_fact group by all": {},
    "from high": {  # a view's columns are those of what it reads
        "run_id": {"description": "The run", "source": "main.power_fact.run_id"},
        "power_w": {"description": "Mean power", "unit": "W", "source": "main.power_fact.power_w"},
    },
    "select mean_w as w from mean_power union all select power_w from power_fact": {"w": {"unit": "W"}},
    "select share from power_fact": {"share": {"unit": "%", "source": "main.power_fact.share"}},
    "select number_ids.mean_w as id from mean_power": {},
    "select a.power_w as x, a.power_w as x from power_fact as a": {
        "x": {"description": "Mean power", "unit": "W", "source": "main.power_fact.power_w"},
    },
    "from range(3)": {},
}


@pytest.mark.parametrize("form", ["parquet", "arrow"])
@pytest.mark.parametrize("sql", RESULTS)
def test_columns_that_are_copied_keep_description_and_unit(sql: str, form: str, built: Project, wh_bytes: WhBytes) -> None:
    schema = exported(built, sql, wh_bytes, form)
    metadata = {key.decode(): value.decode() for key, value in schema.metadata.items()}
    assert metadata["wh.build_digest"] == current_build(built).digest
    assert json.loads(metadata["wh.columns"]) == RESULTS[sql]
    for field in schema:
        stated = {key: value for key, value in RESULTS[sql].get(field.name, {}).items() if key != "source"}
        assert {key.decode(): value.decode() for key, value in (field.metadata or {}).items() if key != b"PARQUET:field_id"} == stated


def test_a_rollup_is_exported_with_its_query_spec(built: Project, wh_bytes: WhBytes, tmp_path: Path) -> None:
    (digest,) = ask(built, "select distinct query_spec_digest from mean_power")[0]
    schema = exported(built, "from mean_power", wh_bytes)
    assert json.loads(schema.metadata[b"wh.tables"]) == {
        "rollup.mean_power": {"description": "Mean power over runs", "query_spec_digest": digest}
    }
    assert json.loads(exported(built, "from high", wh_bytes).metadata[b"wh.tables"]) == {
        "main.power_fact": {"description": "One row per run: it's what a host drew."}
    }


@pytest.mark.parametrize("sql", ["show tables", "pivot power_fact on run_id using sum(power_w)"])
def test_what_is_not_understood_has_its_build_alone(sql: str, built: Project, wh_bytes: WhBytes) -> None:
    assert exported(built, sql, wh_bytes).metadata == {b"wh.build_digest": current_build(built).digest.encode()}


def test_rows_of_failed_tests_are_of_no_build(project: Project, wh_bytes: WhBytes) -> None:
    write(project, {"models/a.sql": "/*\ncolumns: {k: {type: integer, tests: [unique]}}\n*/ select 1 as k from range(2)"})
    assert wh_bytes(project, "build")[0] == 1
    status, out, err = wh_bytes(project, "sql", "--failures", "--format", "parquet", 'from "a.k_unique"')
    assert (status, err) == (0, "") and pq.read_schema(pa.BufferReader(out)).metadata is None
