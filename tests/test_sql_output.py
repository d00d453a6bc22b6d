"""What `wh sql` writes: CSV for programs and for spreadsheets, and an end to every query."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import duckdb
import pytest
from bare_project import write
from conftest import WhOn

from warehouse.errors import ExitCode
from warehouse.project.making import init_project
from warehouse.project.project import Project
from warehouse.transform.build.build import build

REPOSITORY = Path(__file__).resolve().parents[1]
CELLS = "select '=1+1' as \"=x\", -3 as n, -2.5::double as d, '-x' as f, '+1' as p, '@a' as a, ['=1'] as l, 'a=1' as t"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    project = init_project(tmp_path_factory.mktemp("sql") / "project", bare=True)
    write(project, {"models/one.sql": "select 1 as a"})
    build(project)
    return project


def test_csv_has_texts_as_they_are_unless_it_is_for_a_spreadsheet(project: Project, wh_on: WhOn) -> None:
    assert wh_on(project, "sql", CELLS)[1] == '=x,n,d,f,p,a,l,t\n=1+1,-3,-2.5,-x,+1,@a,"[""=1""]",a=1\n'
    assert wh_on(project, "sql", CELLS, "--for-spreadsheet")[1] == "'=x,n,d,f,p,a,l,t\n'=1+1,-3,-2.5,'-x,'+1,'@a,\"[\"\"=1\"\"]\",a=1\n"
    _, out, _ = wh_on(project, "sql", "select 'a' || chr(13) || '=1+1' as x, '＝1' as y", "--for-spreadsheet")
    assert out == "x,y\n\"a\r=1+1\",'＝1\n"  # a carriage return ends no line
    assert wh_on(project, "sql", CELLS, "--for-spreadsheet", "--json")[0] == ExitCode.USAGE


def test_csv_tells_an_empty_text_from_null_as_the_engine_does(project: Project, wh_on: WhOn, tmp_path: Path) -> None:
    sql = "select '' as empty, null as nothing, 'a,\"b\"' as quoted, 1.5 as number union all select null, '', '', null"
    with duckdb.connect() as con:
        con.sql(sql).write_csv(str(tmp_path / "engine.csv"))
        con.sql("select null as alone").write_csv(str(tmp_path / "alone.csv"))
    assert wh_on(project, "sql", sql)[1] == (tmp_path / "engine.csv").read_text()
    assert wh_on(project, "sql", "select null as alone")[1] == (tmp_path / "alone.csv").read_text()


@pytest.mark.parametrize("sql", ["select sleep_ms(600000)", "select case when i > 9000 then sleep_ms(600000) end from range(10000) r (i)"])
def test_a_query_that_sleeps_ends_with_its_time_limit_and_leaves_nothing(sql: str, project: Project, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "warehouse.cli.main", "--project", str(project.root), "sql", "--timeout", "1", sql]
    began = time.monotonic()
    done = subprocess.run(
        command, env={**os.environ, "PYTHONPATH": str(REPOSITORY), "TMPDIR": str(tmp_path)}, capture_output=True, text=True, timeout=120
    )
    assert (done.returncode, "WH215 query: it took longer than 1 seconds" in done.stderr) == (ExitCode.FAILED, True)
    assert time.monotonic() - began < 100 and list(tmp_path.iterdir()) == []
