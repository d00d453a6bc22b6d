"""The first build of a project begins with the standard project's build of no evidence, and a build of the same texts checks nothing
again: what they make is what a build from nothing makes, to every row, type, comment and word of the catalog."""

from __future__ import annotations

import os
import re
import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import pytest
from bare_project import write
from samples.bench_serving import requests, vllm_record
from samples.bench_serving import write as write_record

from warehouse.cli.main import main
from warehouse.project import project as projects
from warehouse.project.making import init_project
from warehouse.project.project import Project
from warehouse.transform.build import known_project
from warehouse.transform.build.build import BuildReport, build, gather_material
from warehouse.transform.check.project_check import check_project
from warehouse.transform.finished import standard_base
from warehouse.transform.finished.builds import current_build

STANDARD = {
    "models/staging/reading.sql": "/*\nfeeds: reading\n*/ select artifact_manifest_digest as run_id, bytes from evidence_bundle",
    "models/staging/unit.sql": "select 'W' as unit",
    "models/facts/reading_fact.sql": (
        "/*\ndescription: Readings\ngrain: [run_id]\ncollects: reading\ncolumns:\n  run_id: {type: varchar}\n"
        "  bytes: {type: bigint, description: Size, tests: [not_null]}\n*/ select * from feed.reading"
    ),
    "models/marts/big.sql": "/*\nmaterialized: view\n*/ select * from reading_fact where bytes > 10",
    "queries/readings.sql": "/*\ngrain: [run_id]\n*/ select run_id, bytes, unit from reading_fact, unit",
}
NOW = datetime.now(UTC)
DID = "select model, action, reason, rows, keys from catalog.model_result"


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A project over a standard one of a few models; the cache folder is its own."""
    for name, text in STANDARD.items():
        path = tmp_path / "standard" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    for module in (projects, standard_base):
        monkeypatch.setattr(module, "standard_folder", lambda: tmp_path / "standard")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return init_project(tmp_path / "project")


def everything(path: Path) -> dict[str, Any]:
    """All that a client of a build's file sees, but for how long it took."""
    with duckdb.connect(str(path), read_only=True) as con:
        tables = con.execute("select schema_name, table_name from duckdb_tables() where schema_name <> 'state' order by all").fetchall()
        found: dict[str, Any] = {
            f"{schema}.{name}": con.execute(f'from "{schema}"."{name}"').fetchall()
            for schema, name in tables if name not in ("model_result", "test_result")
        }
        for sql in (
            "select schema_name, table_name, comment, sql from duckdb_tables() where schema_name <> 'state' order by all",
            "select schema_name, view_name, comment, sql from duckdb_views() where not internal order by all",
            "select schema_name, table_name, column_name, data_type, comment from duckdb_columns() where not internal order by all",
            DID,
            "select test, status, failing_rows from catalog.test_result",
        ):
            found[sql] = [tuple(map(_same_at_every_load, row)) for row in con.execute(sql).fetchall()]
    return found


def _same_at_every_load(value: Any) -> Any:
    """The engine turns the names of EXCLUDE around each time that it loads a view."""
    return re.sub(r"EXCLUDE \((.*?)\)", lambda names: str(sorted(names[1].split(", "))), value) if isinstance(value, str) else value


def assert_alike(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert one.keys() == other.keys()
    assert [name for name in one if one[name] != other[name]] == []


def kept(tmp_path: Path) -> list[Path]:
    return sorted((tmp_path / "cache" / "wh" / "standard").iterdir())


def test_builds_of_the_standard_project_are_those_from_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first, of one sample, and the next, of one more, which has the tables that the first left; but for what they did."""
    project = init_project(tmp_path / "project")
    built: list[BuildReport] = []
    for load in (4, 16):
        record = vllm_record(requests(20, load), max_concurrency=load, date=f"20260131-0200{load:02}")
        write_record(tmp_path / f"r{load}" / f"h100_conc{load}.json", record)
        assert main(["--project", str(project.root), "ingest", str(tmp_path / f"r{load}")]) == 0
        built.append(build(project, now=NOW))
    shutil.copytree(project.root, tmp_path / "p", ignore=shutil.ignore_patterns("builds"))
    monkeypatch.setattr(standard_base, "_folder", lambda: Path("/dev/null/none"))
    plain = build(projects.read_project(tmp_path / "p"), now=NOW)
    assert plain.build.digest == built[-1].build.digest
    found, expected = everything(built[-1].build.path), everything(plain.build.path)
    for one in (found, expected):
        del one[DID]
    assert_alike(found, expected)
    actions = [model.action for model in built[0].models]
    assert actions.count("empty") > 200 and actions.count("build") < 170 and set(actions) == {"build", "empty"}


def test_own_models_are_laid_over_the_base(small: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(small, {
        "models/staging/more.sql": "/*\nfeeds: reading\n*/ select 'r1' as run_id, 12::bigint as bytes",
        "models/marts/big.sql": "/*\nmaterialized: view\n*/ select run_id from reading_fact where bytes > 5",
    })
    built = build(small, now=NOW)
    assert {model.name: (model.action, model.rows) for model in built.models} == {
        "staging.reading": ("empty", 0), "staging.more": ("build", 1), "staging.unit": ("build", 1), "feed.reading": ("build", None),
        "main.reading_fact": ("build", 1), "mart.big": ("build", None), "rollup.readings": ("build", 1),
    }
    assert {model.reason for model in built.models} == {"never built", "no evidence of its families"}
    with duckdb.connect(str(built.build.path), read_only=True) as con:
        assert con.execute("from big").fetchall() == [("r1",)]
    monkeypatch.setattr(standard_base, "_folder", lambda: Path("/dev/null/none"))
    shutil.copytree(small.root, tmp_path / "other", ignore=shutil.ignore_patterns("builds"))
    assert_alike(everything(built.build.path), everything(build(projects.read_project(tmp_path / "other"), now=NOW).build.path))


def test_a_base_that_is_damaged_or_another_user_s_is_not_used(small: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = everything(build(small, now=NOW).build.path)
    (base,) = kept(tmp_path)
    database = current_build(projects.read_project(base)).path
    status = database.stat()
    database.chmod(0o644)
    database.write_bytes(database.read_bytes()[:-1] + b"?")
    os.utime(database, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert_alike(everything(build(init_project(tmp_path / "second"), now=NOW).build.path), first)
    assert kept(tmp_path) == []
    assert_alike(everything(build(init_project(tmp_path / "third"), now=NOW).build.path), first)
    assert kept(tmp_path) == [base]
    (base / "warehouse.toml").unlink()
    assert build(init_project(tmp_path / "without its file"), now=NOW).is_new
    assert kept(tmp_path) == []
    build(init_project(tmp_path / "again"), now=NOW)
    monkeypatch.setattr(os, "geteuid", lambda: base.stat().st_uid + 1)
    project = init_project(tmp_path / "fourth")
    assert standard_base.standard_base(project, lambda empty: None) is None


def test_a_cache_folder_that_is_not_absolute_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would lie in whichever folder the command runs in."""
    monkeypatch.setenv("HOME", "/home/ana")
    for value in ("", "cache", "./cache"):
        monkeypatch.setenv("XDG_CACHE_HOME", value)
        assert standard_base._folder() == Path("/home/ana/.cache/wh/standard")


def test_bases_of_other_versions_go(small: Project, tmp_path: Path) -> None:
    for number in range(6):
        (tmp_path / "standard/models/staging/unit.sql").write_text(f"select 'W{number}' as unit")
        assert build(init_project(tmp_path / f"p{number}")).is_new
    assert len(kept(tmp_path)) == 3


def test_a_project_is_remembered_as_it_was_checked(small: Project) -> None:
    write(small, {"data_tests/positive.sql": "select * from reading_fact where bytes < 0"})
    build(small)
    remembered = gather_material(small)
    (small.builds / known_project.FILE).unlink()
    found = gather_material(small)
    assert (small.builds / known_project.FILE).exists()
    assert (remembered.checked.models, remembered.checked.tests, remembered.made, remembered.logic) == (
        found.checked.models, found.checked.tests, found.made, found.logic
    )
    assert (remembered.checked, dict(remembered.checked.graph.trees)) == (found.checked, found.checked.graph.trees)
    assert [remembered.checked.facts(name) for name in found.checked.graph.order] == [found.checked.facts(name) for name in found.checked.graph.order]


def test_the_standard_project_is_remembered_whole(tmp_path: Path) -> None:
    """Every kind of header, test, key plan and claim that it has: what is read is what was checked."""
    project = init_project(tmp_path / "project")
    build(project)
    remembered, checked = gather_material(project).checked, check_project(project, gather_material(project).landing.types).sound()
    assert remembered.known_facts and remembered == checked
    # The order of columns too, by which tables are made; of other mappings as well.
    assert repr([remembered.models, remembered.columns, remembered.file_columns]) == repr([checked.models, checked.columns, checked.file_columns])


def test_a_memory_that_is_damaged_is_not_used(small: Project) -> None:
    build(small)
    file = small.builds / known_project.FILE
    text = file.read_bytes()
    file.write_bytes(text.replace(b"select 'W' as unit", b"select 'V' as unit"))
    assert gather_material(small).checked.models["unit"].text == "select 'W' as unit"
    assert file.read_bytes() == text
