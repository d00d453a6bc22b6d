"""Rows that break a test of the standard project's tables: the build goes on without them, and says which and why."""

from __future__ import annotations

import shutil
from pathlib import Path

import duckdb
import pytest
from bare_project import project as project
from bare_project import write
from built import sql_of
from conftest import WhOn

from warehouse.project.making import init_project
from warehouse.project.project import Project
from warehouse.transform.build.build import BuildReport, build

HEADER = """/*
{how}
grain: [run_id, step]
columns:
  run_id: {{type: varchar, tests: [not_null]}}
  step: {{type: bigint}}
  phase: {{type: varchar, tests: [{{accepted_values: [train, eval]}}]}}
  seconds: {{type: double, tests: [{{range: {{min: 0}}}}]}}
  raw_path: {{type: varchar}}
  raw_offset: {{type: bigint}}
*/
select run_id, step, phase, seconds, raw_path, raw_offset from read_parquet('data/*.parquet')
"""
MODELS = {
    "models/step.sql": HEADER.format(how=""),
    "models/kept_step.sql": HEADER.format(how="materialized: incremental\nkey: [run_id]"),
    "models/total.sql": "select run_id, sum(seconds) as seconds from step group by run_id order by run_id",
    "models/issue.sql": "select table_name, code, row_count, run_id, raw_path, raw_offset, message from rejected_row",
}
TYPES = {"run_id": "varchar", "step": "bigint", "phase": "varchar", "seconds": "double", "raw_path": "varchar", "raw_offset": "bigint"}


@pytest.fixture(autouse=True)
def _own_models_are_standard(monkeypatch: pytest.MonkeyPatch, project: Project, odd_evidence: None) -> None:
    """The project of a test is its own standard project."""
    monkeypatch.setattr("warehouse.transform.project.model_files.standard_folder", lambda: project.root)


def wrote(project: Project, **files: str) -> None:
    write(project, {**MODELS, **{f"data/{name}.csv": rows for name, rows in files.items()}})
    for name in files:
        file = project.root / "data" / f"{name}.csv"
        duckdb.execute(f"copy (from read_csv('{file}', nullstr = 'NULL', columns = {TYPES})) to '{file.with_suffix('.parquet')}'")


def made(project: Project, **files: str) -> BuildReport:
    wrote(project, **files)
    return build(project)


def rows(project: Project, sql: str) -> list[tuple]:
    return sql_of(project)(sql)


HONEST = "a,1,train,0.5,a.log,0\na,2,train,0.25,a.log,9"


def test_rows_that_should_be_one_and_differ_are_all_left_out(project: Project) -> None:
    report = made(project, a=HONEST, odd="b,1,train,1,b.log,0\nb,1,train,2,b.log,20\nb,2,train,4,b.log,40")
    assert rows(project, "from step order by all") == rows(project, "from kept_step order by all")
    assert rows(project, "select run_id, step, seconds from step order by all") == [("a", 1, 0.5), ("a", 2, 0.25), ("b", 2, 4.0)]
    assert rows(project, "from total") == [("a", 0.75), ("b", 4.0)]
    [issue] = rows(project, "from issue where table_name = 'main.step'")
    assert issue[:6] == ("main.step", "row-left-out", 2, "b", "b.log", 0)
    assert "2 rows of main.step are left out: there must be one row per run_id, step, but seconds is 1.0 and 2.0; correct the file" in issue[6]
    assert [(found.table, found.rows) for found in report.rejected] == [("main.kept_step", 2), ("main.step", 2)]


def test_a_row_that_is_stated_again_is_kept_once(project: Project) -> None:
    report = made(project, a=HONEST, again="a,1,train,0.5,a-copy.log,7")
    assert rows(project, "select raw_path from step where step = 1") == [("a-copy.log",)]  # the first by its place
    assert rows(project, "select distinct code, row_count, raw_path from issue") == [("row-repeated", 1, "a.log")]
    assert report.rejected == ()


@pytest.mark.parametrize(
    ("odd", "why"),
    [
        ("NULL,1,train,1,b.log,0", "test run_id: not_null: the value is NULL"),
        ("b,1,warm-up,1,b.log,0", 'test phase: accepted_values [train, eval]: the value is "warm-up"'),
        ("b,1,train,-1,b.log,0", "test seconds: range min 0: the value is -1.0"),
        ("b,1,eval,-inf,b.log,0", "test seconds: range min 0"),
    ],
)
def test_a_row_that_breaks_a_test_is_left_out(odd: str, why: str, project: Project) -> None:
    made(project, a=HONEST, odd=odd)
    assert rows(project, "select count(*), count(distinct run_id) from step") == [(2, 1)]
    assert [why in message for (message,) in rows(project, "select message from issue")] == [True, True]


def test_an_update_leaves_out_what_a_build_from_nothing_does(project: Project, tmp_path: Path) -> None:
    many = "\n".join(f"r{number},1,train,0.1,r.log,{number}" for number in range(20))
    odd = "b,1,train,1,b.log,0\nb,1,train,2,b.log,20\nb,2,weird,1,b.log,40"
    everything = "select * from {} order by all"
    for files in (
        {"many": many, "a": HONEST},
        {"odd": odd},
        {"odd2": "r3,1,train,0.2,other.log,0"},  # contradicts a row that was there
        {"odd": "b,1,train,1,b.log,0"},  # corrected
    ):
        report = made(project, **files)
        fresh = init_project(tmp_path / f"fresh {'-'.join(files)} {len(list(tmp_path.iterdir()))}", bare=True)
        for folder in ("models", "data"):
            shutil.copytree(project.root / folder, fresh.root / folder, dirs_exist_ok=True)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("warehouse.transform.project.model_files.standard_folder", lambda fresh=fresh: fresh.root)
            build(fresh)
        for table in ("step", "kept_step", "total", "issue"):
            assert rows(project, everything.format(table)) == rows(fresh, everything.format(table))
        assert {model.name: model.action for model in report.models}["main.kept_step"] == ("build" if "many" in files else "update")
    assert rows(project, "select count(*) from kept_step where run_id in ('b', 'r3')") == [(1,)]
    assert rows(project, "select distinct run_id from issue") == [("r3",)]


def test_a_build_with_nothing_new_keeps_what_it_left_out(project: Project) -> None:
    made(project, a=HONEST, odd="b,1,warm-up,1,b.log,0")
    write(project, {"models/other.sql": "select 1 as one"})
    report = build(project)
    assert {model.name for model in report.models if model.action != "keep"} == {"main.other"}
    assert len(report.rejected) == 2


def test_the_command_reports_what_is_left_out_and_succeeds(project: Project, wh_on: WhOn) -> None:
    wrote(project, a=HONEST, odd="b,1,warm-up,1,b.log,0")
    status, _, err = wh_on(project, "build")
    assert status == 0
    assert (
        "2 rows break a test and are left out of main.kept_step (1), main.step (1); why: wh sql \"from ingest_issue where code = 'row-left-out'\""
    ) in err
