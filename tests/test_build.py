"""`wh build` and `wh sql`: equal inputs give equal builds, a failed one changes nothing, results reach other tools."""

from __future__ import annotations

import csv
import datetime
import io
import json
import math
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from built import sql_of
from conftest import WhBytes
from exhaustive import few
from samples import mlperf_inference
from standard import standard_project

from warehouse.errors import WarehouseError
from warehouse.evidence.objects.location import open_store
from warehouse.evidence.store import local_store
from warehouse.landing.ingest import ingest, plan_ingest
from warehouse.landing.registry import load_ingestors
from warehouse.project.making import init_project
from warehouse.project.project import Project, read_project
from warehouse.transform.build.build import build
from warehouse.transform.finished.builds import builder_lock, current_build, find_current
from warehouse.transform.finished.query import open_build, run_query

REPOSITORY = Path(__file__).resolve().parents[1]


def write(project: Project, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        path = project.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def take_in(project: Project, evidence: Path) -> None:
    ingest(plan_ingest(evidence, load_ingestors(project).values()), open_store(project), "test")


def contents(project: Project) -> dict[str, tuple[list[str], list[str]]]:
    """Every table of a build: its columns with types, and its rows in an order of their own."""
    con = open_build(current_build(project).path)
    try:
        tables = con.execute(
            "select table_schema || '.' || table_name from information_schema.tables"
            " where table_schema in ('main', 'staging', 'mart', 'rollup', 'feed') order by 1"
        ).fetchall()
        found = {}
        for (table,) in tables:
            columns = [f"{row[0]} {row[1]}" for row in con.execute(f"describe {table}").fetchall()]
            found[table] = (columns, sorted(repr(row) for row in con.execute(f"select * from {table}").fetchall()))
        return found
    finally:
        con.close()


def rows(project: Project, sql: str) -> list[tuple[Any, ...]]:
    return sql_of(project)(sql)


TINY = {
    "models/run.sql": "select i as run_id, i * 1.5 as speed from range(1, 5) as r (i)",
    "queries/fastest.sql": "/*\ngrain: [run_id]\n*/\nselect run_id, speed from run where speed > 3",
}


@pytest.fixture
def tiny(tmp_path: Path) -> Project:
    """A bare project of one model and one query, built."""
    project = init_project(tmp_path / "tiny", bare=True)
    write(project, TINY)
    build(project)
    return project


@pytest.fixture(scope="module")
def mlperf(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A standard project with the MLPerf sample, built. Tests leave it as it is."""
    root = tmp_path_factory.mktemp("mlperf")
    project = standard_project(root / "project")
    take_in(project, mlperf_inference.write_submission(root / "evidence"))
    build(project)
    return project


# --- the same inputs give the same build -------------------------------------------------------------------------


def test_a_build_holds_the_models_and_the_rollups(tiny: Project) -> None:
    assert rows(tiny, "select * from run order by all") == [(1, 1.5), (2, 3.0), (3, 4.5), (4, 6.0)]
    assert rows(tiny, "select run_id, speed from rollup.fastest order by all") == [(3, 4.5), (4, 6.0)]


def test_equal_projects_have_equal_builds(tiny: Project, tmp_path: Path) -> None:
    other = init_project(tmp_path / "somewhere" / "else", bare=True)
    write(other, TINY)
    report = build(other)
    assert report.is_new
    assert report.build.digest == current_build(tiny).digest
    assert contents(other) == contents(tiny)


# What is changed, and whether that makes another build.
CHANGES = {
    "a model's SQL": ({"models/run.sql": TINY["models/run.sql"].replace("1.5", "1.25")}, True),
    "a query": ({"queries/fastest.sql": TINY["queries/fastest.sql"].replace("> 3", "> 4")}, True),
    "a new model": ({"models/more.sql": "select 1 as a"}, True),
    "a test": ({"models/run.sql": "/*\ngrain: [run_id]\n*/\n" + TINY["models/run.sql"]}, True),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_makes_another_build(change: str, tiny: Project) -> None:
    files, is_new = CHANGES[change]
    before = current_build(tiny).digest
    write(tiny, files)
    report = build(tiny)
    assert report.is_new == is_new
    assert (report.build.digest != before) == is_new


def test_nothing_changed_builds_nothing(tiny: Project) -> None:
    before = current_build(tiny)
    stamp = before.path.stat().st_mtime_ns
    report = build(tiny)
    assert (report.is_new, report.models, report.build) == (False, (), before)
    assert before.path.stat().st_mtime_ns == stamp


def test_a_build_with_nothing_to_do_imports_nothing_heavy(tiny: Project) -> None:
    code = (
        "import sys\nfrom warehouse.cli.main import main\nstatus = main(['build'])\n"
        "heavy = {'duckdb', 'fsspec', 'pyarrow', 'polars', 'numpy', 's3fs', 'yaml', 'sqlglot'} & set(sys.modules)\n"
        "print(status, sorted(heavy))"
    )
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    done = subprocess.run([sys.executable, "-c", code], cwd=tiny.root, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "0 []"
    assert done.stderr == "nothing changed\n"


def test_back_to_an_earlier_state_is_back_to_its_build(tiny: Project) -> None:
    first = current_build(tiny)
    write(tiny, {"models/run.sql": "select 1 as run_id, 7.0 as speed"})
    build(tiny)
    write(tiny, TINY)
    report = build(tiny)
    assert (report.is_new, report.build.path) == (False, first.path)
    assert rows(tiny, "select count(*) from run") == [(4,)]


# --- a failed build changes nothing ------------------------------------------------------------------------------

# Test as the header writes it, values that keep it, values that break it.
DATA_TESTS = {
    "not_null": ("[not_null]", "1, 2", "1, null"),
    "unique": ("[unique]", "1, 2, null, null", "1, 2, 2"),
    "accepted_values": ("[{accepted_values: [a, 'b']}]", "'a', 'b', null", "'a', 'c'"),
    "accepted_values of numbers": ("[{accepted_values: [1, 2]}]", "1, 2", "1, 3"),
    "accepted_values of truth": ("[{accepted_values: [true]}]", "true, true", "true, false"),
    "relationships": ("[{relationships: host.id}]", "1, 2, null", "1, 4"),
    "relationships of a schema": ("[{relationships: main.host.id}]", "1, 2, null", "1, 4"),
    "range": ("[{range: {min: 0, max: 10}}]", "0, 10, null", "0, 11"),
    "range from below": ("[{range: {min: 0}}]", "0, 11", "-1, 0"),
    "range from above": ("[{range: {max: 1.5}}]", "-1, 1", "1, 2"),
    "range of dates": ("[{range: {min: 2025-01-01}}]", "date '2025-01-01'", "date '2024-12-31'"),
    "range against NaN": ("[{range: {max: 1}}]", "1e0", "'NaN'::double"),
}


def with_tests(tests: str, values: str) -> str:
    listed = ", ".join(f"({value.strip()})" for value in values.split(","))
    kind = "varchar" if "'a'" in values else "boolean" if "true" in values else "date" if "date" in values else (
        "double" if "e0" in values or "NaN" in values else "integer"
    )
    header = f"/*\ncolumns:\n  a: {{type: {kind}, tests: {tests}}}\n*/"
    return f"{header}\nselect a::{kind} as a from (values {listed}) as v (a)"


def assert_refused(project: Project, files: Mapping[str, str], code: str) -> WarehouseError:
    """The build fails, the one before it stays current and whole, and only what --retry goes on from is left beside it."""
    before, tables = find_current(project), contents(project)
    write(project, files)
    with pytest.raises(WarehouseError) as caught:
        build(project)
    assert caught.value.code == code
    assert find_current(project) == before
    assert contents(project) == tables
    kept = {".lock", ".listing", "current.duckdb", ".shadow.duckdb", ".checked.json", ".project.json", ".text-facts.json", "failures.duckdb"}
    names = {path.name for path in project.builds.iterdir()} - kept
    assert before and names == {before.path.name, before.path.with_suffix(".json").name}
    return caught.value


@pytest.mark.parametrize("case", few(DATA_TESTS, 3))
def test_data_tests(case: str, tmp_path: Path) -> None:
    tests, good, bad = DATA_TESTS[case]
    project = init_project(tmp_path / "project", bare=True)
    hosts = "select unnest([1, 2, null]) as id"
    write(project, {"models/host.sql": hosts, "models/tested.sql": with_tests(tests, good)})
    assert build(project).is_new
    error = assert_refused(project, {"models/tested.sql": with_tests(tests, bad)}, "WH210")
    assert error.place and error.place.startswith("models/tested.sql:3:")
    assert f": a: {case.split()[0]}" in error.message


def test_the_grain_is_tested(tiny: Project) -> None:
    sql = "select * from (values (1, 'a', 0), (1, 'b', 0), (1, 'a', 1)) as v (run_id, host, speed)"
    error = assert_refused(tiny, {"models/run.sql": f"/*\ngrain: [run_id, host]\n*/\n{sql}"}, "WH210")
    assert "one row per run_id, host" in error.message
    assert error.message.endswith("run_id  host  rows\n  ------  ----  ----\n  1       a     2")


def test_a_model_that_fails_on_the_data(tmp_path: Path) -> None:
    project = init_project(tmp_path / "project", bare=True)
    take_in(project, mlperf_inference.write(tmp_path / "evidence" / "notes.txt", "some notes\n"))
    write(project, {"models/file.sql": "select raw_path from evidence_file"})
    build(project)
    assert rows(project, "select * from file") == [("notes.txt",)]
    broken = "select\n    cast(raw_path as integer) as number\nfrom evidence_file"
    error = assert_refused(project, {"models/file.sql": broken}, "WH209")
    assert error.place and error.place.startswith("models/file.sql")
    assert "notes.txt" in error.message


FAILURES = {
    "a header": ({"models/run.sql": "/*\ngrian: [a]\n*/ select 1 as run_id, 1 as speed"}, "WH201"),
    "syntax": ({"models/run.sql": "select 1 as run_id from"}, "WH202"),
    "a column": ({"queries/fastest.sql": "/*\ngrain: [run_id]\n*/\nselect run_id, sped from run"}, "WH204"),
    "a query's grain": ({"queries/fastest.sql": "/*\ngrain: [a]\n*/\nselect 1 as a, run_id from run"}, "WH302"),
    "a query's own column": ({"queries/fastest.sql": "/*\ngrain: [a]\n*/\nselect 1 as a, 2 as number_ids"}, "WH201"),
    "a query of keys alone": ({"queries/fastest.sql": "/*\ngrain: [run_id]\n*/\nselect run_id from run"}, "WH201"),
}


@pytest.mark.parametrize("case", FAILURES)
def test_a_failed_build_leaves_the_last_good_one(case: str, tiny: Project) -> None:
    assert_refused(tiny, *FAILURES[case])


def test_a_failed_build_is_mended(tiny: Project) -> None:
    assert_refused(tiny, {"models/run.sql": "select nonsense"}, "WH204")
    write(tiny, {"models/run.sql": "select 9 as run_id, 9.0 as speed"})
    assert build(tiny).is_new
    assert rows(tiny, "select run_id from run") == [(9,)]


def test_one_builder_at_a_time(tiny: Project) -> None:
    with builder_lock(tiny), pytest.raises(WarehouseError) as caught:
        build(tiny)
    assert caught.value.code == "WH212"
    assert str(os.getpid()) in caught.value.message


def test_a_dead_builder_s_shadow_is_removed(tiny: Project) -> None:
    for name in (".shadow.duckdb", ".shadow.duckdb.wal", ".shadow.duckdb.copy"):
        (tiny.builds / name).write_bytes(b"half")
    write(tiny, {"models/more.sql": "select 1 as a"})
    assert build(tiny).is_new
    assert not list(tiny.builds.glob(".shadow*"))


def test_old_builds_are_pruned(tiny: Project) -> None:
    file = tiny.root / "warehouse.toml"
    file.write_text(file.read_text().replace("keep = 3", "keep = 2"))
    project = read_project(tiny.root)
    made = []
    for number in range(3):
        write(project, {"models/more.sql": f"select {number} as a"})
        made.append(build(project).build.path)
    kept = {made[-1], made[-2]}
    assert set(project.builds.glob("wh-*")) == kept | {path.with_suffix(".json") for path in kept}
    assert current_build(project).path == made[-1]


def test_there_is_no_build_yet(tmp_path: Path) -> None:
    with pytest.raises(WarehouseError) as caught:
        current_build(init_project(tmp_path, bare=True))
    assert caught.value.code == "WH211"


# --- everything but the evidence can be made again ----------------------------------------------------------------


@pytest.mark.exhaustive
def test_the_sample_is_all_there(mlperf: Project) -> None:
    """The tables that the comparisons below compare are not empty."""
    sizes = {table: len(found) for table, (_, found) in contents(mlperf).items()}
    assert sizes["main.benchmark_run_fact"] == 12
    assert sizes["rollup.mlperf_inference_results"] == 6
    for table in ("main.serving_outcome_fact", "main.hardware_topology_dim", "main.workload_dim", "main.raw_artifact"):
        assert sizes[table] > 0
    ids = rows(mlperf, "select number_ids.performance_result from rollup.mlperf_inference_results")
    assert len(set(ids)) == 6


@pytest.mark.exhaustive  # test_standard_base.py builds the standard project from nothing in each run
def test_all_that_is_derived_comes_back(mlperf: Project, tmp_path: Path) -> None:
    """In another folder, built from nothing, where the other build was brought up to date."""
    project = _copied(mlperf, tmp_path / "deep" / "copy")
    digest, before = current_build(project).digest, contents(mlperf)
    shutil.rmtree(project.builds)
    for folder in project.store_root.iterdir():
        if folder.is_dir() and folder.name not in ("raw", "ledger", "specs"):
            shutil.rmtree(folder)
    report = build(project)
    assert report.is_new
    assert report.build.digest == digest
    assert contents(project) == before


@pytest.mark.exhaustive  # test_sceptic.py has orders of arrival in a small project
def test_evidence_that_arrives_again_has_the_same_numbers(mlperf: Project, tmp_path: Path) -> None:
    """Another day, another machine, another order of arrival: only the times of arrival may differ."""
    project = standard_project(tmp_path / "project")
    evidence = mlperf_inference.write_submission(tmp_path / "evidence")
    for part in ("results/EdgeBox-1", ""):
        take_in(project, evidence / "closed" / "Acme" / part if part else evidence)
    build(project)
    table = "rollup.mlperf_inference_results"
    assert contents(project)[table] == contents(mlperf)[table]


def _copied(project: Project, root: Path) -> Project:
    shutil.copytree(project.root, root, symlinks=True)
    return read_project(root)


# --- wh sql ------------------------------------------------------------------------------------------------------

KINDS = """
select * from (values
    (1, 0.1::double, 12345678901234567.891::decimal(20, 3), 'a,"b"
c', true, timestamp '2025-07-28 04:22:26.087', timestamptz '2025-07-28 04:22:26+02', date '2025-07-28',
     {'p': 0.5::double, 'q': 'x'}, [1, null], 'é'),
    (2, 'nan'::double, null, null, null, null, null, null, null, null, null),
    (3, 'inf'::double, null, '', false, null, null, null, {'p': '-inf'::double, 'q': null}, [], null)
) as v (id, number, exact, text, truth, local, utc, day, struct, list, "név")
order by id
"""
LOCAL = datetime.datetime(2025, 7, 28, 4, 22, 26, 87000)
UTC = datetime.datetime(2025, 7, 28, 2, 22, 26, tzinfo=datetime.UTC)
DAY = datetime.date(2025, 7, 28)
COLUMNS = ["id", "number", "exact", "text", "truth", "local", "utc", "day", "struct", "list", "név"]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A small build that tests only read."""
    project = init_project(tmp_path_factory.mktemp("built") / "project", bare=True)
    write(project, TINY)
    build(project)
    return project


@pytest.fixture
def wh(built: Project, wh_bytes: WhBytes) -> WhBytes:
    """Run `wh` on the small build: exit code, standard output (bytes), standard error."""
    return lambda *arguments: wh_bytes(built, *arguments)


def test_csv(wh: WhBytes) -> None:
    status, out, err = wh("sql", KINDS, "--format", "csv")
    header, first, second, third = csv.reader(io.StringIO(out.decode(), newline=""))
    assert (status, err, header) == (0, "", COLUMNS)
    assert first == [
        "1", "0.1", "12345678901234567.891", 'a,"b"\nc', "true", "2025-07-28T04:22:26.087000",
        "2025-07-28T02:22:26+00:00", "2025-07-28", '{"p": 0.5, "q": "x"}', "[1, null]", "é",
    ]
    assert second == ["2", "nan", *[""] * 9]
    assert (third[1], third[4], json.loads(third[8])) == ("inf", "false", {"p": "-Infinity", "q": None})


def test_json(wh: WhBytes) -> None:
    status, out, err = wh("sql", KINDS, "--format", "json")
    first, second, third = json.loads(out, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    assert (status, err, list(first)) == (0, "", COLUMNS)
    assert list(first.values()) == [
        1, 0.1, "12345678901234567.891", 'a,"b"\nc', True, "2025-07-28T04:22:26.087000", "2025-07-28T02:22:26+00:00",
        "2025-07-28", {"p": 0.5, "q": "x"}, [1, None], "é",
    ]
    assert list(second.values()) == [2, "NaN", *[None] * 9]
    assert (third["number"], third["text"], third["struct"], third["list"]) == (
        "Infinity", "", {"p": "-Infinity", "q": None}, [],
    )


def arrow_rows(table: pa.Table) -> None:
    """Both binary forms keep values and types."""
    assert table.column_names == COLUMNS
    kinds = dict(zip(COLUMNS, table.schema.types, strict=True))
    assert (kinds["number"], kinds["exact"], kinds["day"]) == (pa.float64(), pa.decimal128(20, 3), pa.date32())
    assert (kinds["local"], kinds["truth"]) == (pa.timestamp("us"), pa.bool_())
    first, second, third = table.to_pylist()
    assert list(first.values()) == [
        1, 0.1, Decimal("12345678901234567.891"), 'a,"b"\nc', True, LOCAL, UTC, DAY, {"p": 0.5, "q": "x"}, [1, None],
        "é",
    ]
    assert math.isnan(second["number"]) and set(list(second.values())[2:]) == {None}
    assert (third["number"], third["text"], third["struct"], third["list"]) == (
        math.inf, "", {"p": -math.inf, "q": None}, [],
    )


def test_parquet(wh: WhBytes) -> None:
    status, out, err = wh("sql", KINDS, "--format", "parquet")
    assert (status, err) == (0, "")
    arrow_rows(pq.read_table(io.BytesIO(out)))


def test_arrow(wh: WhBytes) -> None:
    status, out, err = wh("sql", KINDS, "--format", "arrow")
    assert (status, err) == (0, "")
    arrow_rows(pa.ipc.open_stream(out).read_all())


def test_table(wh: WhBytes) -> None:
    sql = "select run_id, speed, null as note from run order by all limit 2"
    status, out, err = wh("sql", sql, "--format", "table")
    assert (status, err) == (0, "")
    assert out.decode() == (
        "run_id  speed  note\n------  -----  ----\n1       1.5    NULL\n2       3.0    NULL\n"
    )


@pytest.mark.parametrize("form", ["csv", "json", "parquet", "arrow"])
def test_many_rows_come_whole_and_in_order(form: str, wh: WhBytes) -> None:
    sql = "select i, i * 0.5 as half from range(25000) as r (i) order by i"
    _, out, _ = wh("sql", sql, "--format", form)
    read = {
        "csv": lambda: [[int(i), float(half)] for i, half in list(csv.reader(io.StringIO(out.decode())))[1:]],
        "json": lambda: [list(row.values()) for row in json.loads(out)],
        "parquet": lambda: [list(row.values()) for row in pq.read_table(io.BytesIO(out)).to_pylist()],
        "arrow": lambda: [list(row.values()) for row in pa.ipc.open_stream(out).read_all().to_pylist()],
    }
    assert [[i, float(half)] for i, half in read[form]()] == [[i, i / 2] for i in range(25000)]


@pytest.mark.parametrize("form", ["csv", "json", "parquet", "arrow", "table"])
def test_no_rows(form: str, wh: WhBytes) -> None:
    status, out, _ = wh("sql", "select run_id from run where false", "--format", form)
    assert status == 0
    empty = {
        "csv": lambda: out == b"run_id\n",
        "json": lambda: json.loads(out) == [],
        "parquet": lambda: pq.read_table(io.BytesIO(out)).to_pydict() == {"run_id": []},
        "arrow": lambda: pa.ipc.open_stream(out).read_all().to_pydict() == {"run_id": []},
        "table": lambda: out.decode().split() == ["run_id", "------"],
    }
    assert empty[form]()


def test_odd_values_in_json(wh: WhBytes) -> None:
    sql = (
        "select 1 as a, 2 as a, map {date '2025-01-01': [0.5::decimal(3, 1)]} as m,"
        " 'ab'::blob as b, time '01:02:03' as t"
    )
    _, out, _ = wh("sql", sql, "--format", "json")
    assert json.loads(out) == [{"a": 1, "a_1": 2, "m": {"2025-01-01": ["0.5"]}, "b": "6162", "t": "01:02:03"}]


def test_what_parquet_cannot_hold(wh: WhBytes) -> None:
    status, _, err = wh("sql", "select interval 1 month as i", "--format", "parquet")
    assert status == 1
    assert err.startswith("WH213") and "hint: cast it" in err


BAD_QUERIES = {
    "select\n  run_id,\n  sped\nfrom run": (["WH213 query:3:3: ", "  sped", "  ^"], "speed"),
    "select 'é', * from rn": (["WH213 query:1:20: ", "select 'é', * from rn", " " * 19 + "^"], "run"),
    "select * fro run": (["WH213 query:1:14: ", "select * fro run", " " * 13 + "^"], ""),
    "create table run.x (a int)": (["WH213 query"], ""),
    "delete from run": (["WH213 query"], "read-only"),
    "": (["WH213 query: there is no statement"], ""),
    "-- nothing": (["WH213 query: there is no statement"], ""),
    "select cast(raw as int) from (select 'x' as raw)": (["WH213 query"], ""),
}


@pytest.mark.parametrize("sql", BAD_QUERIES)
def test_bad_queries(sql: str, wh: WhBytes) -> None:
    lines, word = BAD_QUERIES[sql]
    status, out, err = wh("sql", sql)
    assert (status, out) == (1, b"")
    shown = err.splitlines()
    assert shown[0].startswith(lines[0])
    assert shown[1 : len(lines)] == lines[1:]
    assert word in err


def test_a_query_from_standard_input(wh: WhBytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"select 7 as a")))
    assert wh("sql", "-", "--format", "csv")[1] == b"a\n7\n"


def test_bare_names_of_every_schema(mlperf: Project) -> None:
    main, staging, mart, rollup = (
        "benchmark_run_fact", "mlperf_inference_submission", "mlperf_inference_result", "mlperf_inference_results"
    )
    for table in (main, staging, mart, rollup):
        assert rows(mlperf, f"select count(*) > 0 from {table}") == [(True,)]


def test_any_client_reads_while_wh_sql_does(built: Project) -> None:
    code = (
        "import duckdb, sys\n"
        "print(duckdb.connect(sys.argv[1], read_only=True).execute('select count(*) from run').fetchall())"
    )
    path = built.builds / "current.duckdb"
    with run_query(current_build(built).path, "select * from run") as result:
        assert result.fetchone()
        done = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, check=True)
    assert done.stdout == "[(4,)]\n"


def test_a_build_goes_on_while_a_reader_reads(tiny: Project) -> None:
    with run_query(current_build(tiny).path, "select count(*) from run") as result:
        write(tiny, {"models/run.sql": "select 1 as run_id, 9.0 as speed"})
        assert build(tiny).is_new
        assert result.fetchall() == [(4,)]
    assert rows(tiny, "select count(*) from run") == [(1,)]


def test_a_client_without_the_warehouse_reads_the_views(mlperf: Project) -> None:
    con = duckdb.connect(str(mlperf.builds / "current.duckdb"), read_only=True)
    names = con.execute(
        "select table_schema, table_name from information_schema.tables where table_type = 'VIEW'"
    ).fetchall()
    assert names
    for schema, name in names:
        con.execute(f"select * from {schema}.{name} limit 1").fetchall()
    con.close()


def test_the_tables_of_no_evidence_are_those_that_a_refresh_finds(tmp_path: Path) -> None:
    from warehouse.landing.parse.refresh import refresh
    from warehouse.transform.inputs.landing_tables import landing_tables, no_evidence

    assert no_evidence() == landing_tables(refresh(local_store(tmp_path / "store"), {}))
