"""`wh build --select`: some models and what they read, for the next build; the last one stays current until the rest is done."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import WhOn

from warehouse.errors import ExitCode
from warehouse.project.making import init_project
from warehouse.project.project import Project
from warehouse.transform.finished.builds import current_build, find_current

MODELS = {
    "a": "/*\ncolumns:\n  x: {type: integer, tests: [unique]}\n*/\nselect 1 as x",
    "b": "select x + 1 as x from a", "c": "select x + 1 as x from b", "other": "select 5 as y",
}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = init_project(tmp_path / "project", bare=True)
    for name, text in MODELS.items():
        (project.root / "models" / f"{name}.sql").write_text(text)
    return project


def built(project: Project, wh_on: WhOn, *arguments: str) -> tuple[int, dict[str, str]]:
    status, out, _ = wh_on(project, "build", "--json", *arguments)
    return status, {model["name"]: model["action"] for model in json.loads(out)["models"]}


def test_only_the_selected_models_and_what_they_read_are_built_and_the_rest_by_a_retry(project: Project, wh_on: WhOn) -> None:
    status, models = built(project, wh_on, "--select", "b")
    assert (status, models) == (0, {"main.a": "build", "main.b": "build"})
    assert find_current(project) is None and wh_on(project, "sql", "select * from b")[0] == ExitCode.FAILED
    status, models = built(project, wh_on, "--retry")
    assert (status, models) == (0, {"main.a": "keep", "main.b": "keep", "main.c": "build", "main.other": "build"})
    assert wh_on(project, "sql", "select * from c")[1] == "x\n3\n"


def test_the_current_build_stays_whole_and_as_it_is(project: Project, wh_on: WhOn) -> None:
    wh_on(project, "build")
    before = current_build(project)
    (project.root / "models" / "a.sql").write_text(MODELS["a"].replace("select 1", "select 10"))
    (project.root / "models" / "other.sql").write_text("select 6 as y")
    status, _, err = wh_on(project, "build", "--select", "a", "other")
    assert status == 0 and err.startswith("built 2 in ") and err.endswith("; the last build stays current\n")
    assert current_build(project) == before and wh_on(project, "sql", "select x, y from c, other")[1] == "x,y\n3,5\n"
    assert built(project, wh_on)[0] == 0  # not a retry: begins from the last build
    assert wh_on(project, "sql", "select x, y from c, other")[1] == "x,y\n12,6\n"


def test_a_selection_means_what_it_means_to_plan(project: Project, wh_on: WhOn) -> None:
    wh_on(project, "build")
    assert wh_on(project, "build", "--select", "nosuch")[0] == ExitCode.NOT_FOUND  # though nothing changed
    (project.root / "models" / "b.sql").write_text("select x + 2 as x from a")
    assert built(project, wh_on, "--select", "changed+") == (0, {"main.a": "keep", "main.b": "build", "main.c": "build"})


def test_the_tests_of_the_selected_models_run(project: Project, wh_on: WhOn) -> None:
    (project.root / "models" / "a.sql").write_text(MODELS["a"].replace("select 1 as x", "select unnest([1, 1])::integer as x"))
    status, _, err = wh_on(project, "build", "--select", "a")
    assert status == ExitCode.FAILED and "WH210" in err and "1 of 1 test failed" in err
    assert built(project, wh_on, "--select", "other")[0] == 0
