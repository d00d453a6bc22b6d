"""The Python API: what the commands answer, as values; and the examples of its documentation."""

from __future__ import annotations

import doctest
import inspect
import os
import re
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from conftest import REPOSITORY
from samples.measured import measured_project
from samples.published import published_submission
from samples.values import take_in, value_files, values_project
from test_changes import stepped

import warehouse
from warehouse.api import Warehouse
from warehouse.claims.publish.publish import publish
from warehouse.errors import WarehouseError
from warehouse.project.project import Project
from warehouse.transform.build.build import build

SUMS = "select key, sum(value) as total, count(*) as n from reading group by key"
DOCS = (REPOSITORY / "docs" / "python.md").read_text()


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Published: a is 1.5 + 2.25 + 4 of two files, b is 7 of one. Tests leave it as it is."""
    root = tmp_path_factory.mktemp("api")
    project = values_project(root / "project", SUMS)
    take_in(project, value_files(root / "in", "a=1.5\na=2.25\n", "a=4\n", "b=7\n"))
    build(project)
    publish(project, "claim")
    return project


@pytest.fixture
def wh(project: Project) -> Warehouse:
    return warehouse.open(project.root / "models")  # a folder below the project's


def test_importing_the_package_imports_nothing_else() -> None:
    code = "import sys, warehouse; print([name for name in sys.modules if name.startswith(('warehouse.', 'duckdb', 'pyarrow'))])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "['warehouse.version']\n"


def test_which_project_is_opened(project: Project, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert warehouse.open(str(project.root)).project == project
    monkeypatch.chdir(project.root)
    assert warehouse.open().project == project
    monkeypatch.chdir(tmp_path)
    with pytest.raises(WarehouseError) as caught:
        warehouse.open()
    assert caught.value.code == "WH001"
    monkeypatch.setenv("WH_PROJECT", str(project.root))
    assert warehouse.open().project == project


def test_sql_gives_an_arrow_table(wh: Warehouse) -> None:
    found = wh.sql("select key, total, n from claim order by key")
    assert isinstance(found, pa.Table)
    assert found.to_pylist() == [{"key": "a", "total": 7.75, "n": 3}, {"key": "b", "total": 7.0, "n": 1}]
    (digest,) = wh.sql("select build_digest from catalog.build").column(0).to_pylist()
    assert wh.sql("select count(*) as n from reading", build=digest[:10]).to_pylist() == [{"n": 4}]
    assert wh.sql("select key from claim where false").schema == pa.schema([("key", pa.string())])


# SQL that must not do what it says: the code of the error.
REFUSED = {
    "select * from read_text('{outside}')": "WH213",
    "copy (select 1) to '{outside}'": "WH213",
    "attach '{outside}' as other": "WH213",
    "create table more as select 1": "WH213",
    "set enable_external_access = true": "WH213",
    "selec 1": "WH213",
}


@pytest.mark.parametrize("query", REFUSED)
def test_a_query_reads_the_build_and_nothing_else(query: str, wh: Warehouse, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("not for you")
    with pytest.raises(WarehouseError) as caught:
        wh.sql(query.format(outside=outside))
    assert caught.value.code == REFUSED[query]
    assert outside.read_text() == "not for you"


def test_pl_gives_a_polars_frame(wh: Warehouse) -> None:
    polars = pytest.importorskip("polars", reason="polars is an extra, and not installed here")
    found = wh.pl("select key, total, null::date as day from claim order by key")
    assert isinstance(found, polars.DataFrame)
    assert found.rows() == [("a", 7.75, None), ("b", 7.0, None)]


def test_without_polars_it_is_said_how_to_get_it(wh: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(WarehouseError) as caught:
        wh.pl("select 1")
    assert (caught.value.code, caught.value.hint) == ("WH006", "pip install 'perf-warehouse[polars]'")


def test_a_number_and_what_it_rests_on(wh: Warehouse) -> None:
    number = wh.number("claim[key=a].total")
    found = wh.lineage(str(number.cell.number_id))
    assert (number.cell.value, found.value, found.key) == (7.75, 7.75, "claim[key=a].total")
    assert found.publication == wh.publications()[0].digest
    rows = wh.rows("7.75")
    assert rows and [(each.table, len(each.rows)) for each in rows.tables] == [("main.reading", 3), ("value", 3)]
    assert sorted(window.data for opened in wh.raw_bytes("7.75") for window in opened.windows) == [b"a=1.5\na=2.25", b"a=4"]


def test_the_files_and_runs_of_several_numbers_are_tables(wh: Warehouse) -> None:
    files = wh.raw_files("claim[key=a].total", "claim[key=b].total")
    assert sorted(zip(*(files.column(name).to_pylist() for name in ("raw_path", "raw_offset", "raw_length")), strict=True)) == [
        ("r0.nv", 0, 12), ("r1.nv", 0, 3), ("r2.nv", 0, 3)
    ]
    assert len(set(files.column("number_id").to_pylist())) == 2
    assert wh.raw_files().schema == files.schema and wh.raw_files().num_rows == 0
    assert wh.runs("claim[key=a].total").num_rows == 0  # the project has no runs


def test_verify_and_impact(wh: Warehouse) -> None:
    assert wh.verify("7.75").state == "verified"
    assert sorted((each.key, each.state) for each in wh.verify_all()) == [
        (f"claim[key={key}].{column}", "verified") for key in "ab" for column in ("n", "total")
    ]
    found = wh.impact("r2.nv")
    assert (sorted(each.key for each in found.numbers), found.damaged) == (["claim[key=b].n", "claim[key=b].total"], ())


def test_the_examples_of_the_documentation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    published_submission(tmp_path)
    monkeypatch.chdir(tmp_path / "project")
    run_examples(DOCS[: DOCS.index("## What changed")], 10)


def test_the_examples_of_what_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(measured_project(tmp_path / "project", stepped("slow", 20)).root)
    run_examples(DOCS[DOCS.index("## What changed") : DOCS.index("## All methods")], 8)


def run_examples(text: str, least: int) -> None:
    """Run the examples of a part of the page in the current folder; there are more than `least`."""
    code = "\n".join(re.findall(r"```python\n(.*?)```", text, re.DOTALL))
    examples = doctest.DocTestParser().get_doctest(code, {"warehouse": warehouse}, "python.md", "docs/python.md", 0)
    assert len(examples.examples) > least
    said: list[str] = []
    assert doctest.DocTestRunner(verbose=False).run(examples, out=said.append).failed == 0, "".join(said)


def test_the_script_of_the_documentation_runs(wh: Warehouse) -> None:
    (script,) = (block for block in re.findall(r"```python\n(.*?)```", DOCS, re.DOTALL) if "__main__" in block)
    file = wh.project.root / "check.py"
    file.write_text(script)
    done = subprocess.run(
        [sys.executable, file.name], cwd=file.parent, env={**os.environ, "PYTHONPATH": str(REPOSITORY)}, capture_output=True, text=True, check=True
    )
    assert sorted(done.stdout.splitlines()) == [f"claim[key={key}].{column} verified" for key in "ab" for column in ("n", "total")]


def test_every_method_is_documented_and_no_other() -> None:
    methods = {name for name, _ in inspect.getmembers(Warehouse, inspect.isfunction) if not name.startswith("_")}
    table = DOCS[DOCS.index("| method |") :]
    assert set(re.findall(r"`(\w+)\(", table)) == methods
