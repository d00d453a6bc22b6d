"""`wh plan`: what a build would do and why, told before it is done, and then done."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path

import duckdb
import pytest
from conftest import Wh, WhOn
from exhaustive import few

from warehouse.project.making import init_project
from warehouse.project.project import Project
from warehouse.transform.build.build import build
from warehouse.transform.finished.builds import current_build

FILES = {
    "models/run.sql": "/*\ndescription: runs\ntags: [nightly]\n*/\n"
    "select i as run_id, i * 1.5 as speed from range(1, 5) as r (i)\n",
    "models/marts/fast.sql": "select run_id, speed from run where speed > 3\n",
    "models/marts/alone.sql": "select 1 as a\n",
    "models/log_total.sql": "/*\nmaterialized: incremental\nkey: [run_id]\n*/\n"
    "select run_id, sum(ms) as ms from read_parquet('data/*.parquet') group by run_id\n",
    "queries/fastest.sql": "/*\ngrain: [run_id]\n*/\nselect run_id, speed from fast\n",
    **{f"data/{number}.parquet": f"select {number} as run_id, 10 as ms" for number in range(1, 5)},
}
Plan = dict[str, tuple[str, str]]


def write(project: Project, files: Mapping[str, str | None]) -> None:
    for name, text in files.items():
        path = project.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if text is None:
            path.unlink()
        elif path.suffix == ".parquet":
            duckdb.sql(text).write_parquet(str(path))
        else:
            path.write_text(text, encoding="utf-8")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    project = init_project(tmp_path_factory.mktemp("plan") / "project", bare=True)
    write(project, FILES)
    build(project)
    return project.root


@pytest.fixture
def project(built: Path, tmp_path: Path) -> Project:
    """A built project. Its own copy: a test may edit it."""
    from warehouse.project.project import read_project

    shutil.copytree(built, tmp_path / "project", symlinks=True)
    return read_project(tmp_path / "project")


def planned(wh: Wh, *arguments: str) -> dict[str, dict[str, str]]:
    status, out, _ = wh("plan", "--json", *arguments)
    assert status == 0
    return {model["name"]: model for model in json.loads(out)["models"]}


KEPT = {"main.run", "mart.fast", "mart.alone", "main.log_total", "rollup.fastest"}
# An edit, and what is not kept for it: action and a part of the reason.
EDITS: dict[str, tuple[dict[str, str | None], Plan]] = {
    "nothing": ({}, {}),
    "layout and comments": (
        {"models/run.sql": FILES["models/run.sql"].replace("select i", "SELECT -- the id\n  i").replace("1.5", " 1.5 ")},
        {},
    ),
    "a description": ({"models/run.sql": FILES["models/run.sql"].replace("runs", "all runs")}, {}),
    "SQL": (
        {"models/marts/fast.sql": "select run_id, speed from run where speed > 5\n"},
        {"mart.fast": ("build", "its SQL changed"), "rollup.fastest": ("build", "a model under it")},
    ),
    "SQL at the bottom": (
        {"models/run.sql": FILES["models/run.sql"].replace("1.5", "2.5")},
        {
            "main.run": ("build", "its SQL changed"), "mart.fast": ("maybe", "downstream of run"),
            "rollup.fastest": ("build", "a model under it"),
        },
    ),
    "SQL that gives another type": (
        {"models/run.sql": FILES["models/run.sql"].replace("1.5", "1.25")},
        {
            "main.run": ("build", "its SQL changed"), "mart.fast": ("build", "the types of what it reads, changed"),
            "rollup.fastest": ("build", "a model under it"),
        },
    ),
    "a header": (
        {"models/marts/alone.sql": "/*\ngrain: [a]\n*/\nselect 1 as a\n"}, {"mart.alone": ("build", "its header")}
    ),
    "a new model": ({"models/more.sql": "select 1 as b\n"}, {"main.more": ("build", "never built")}),
    "a model less": ({"models/marts/alone.sql": None}, {"mart.alone": ("drop", "no model makes it any more")}),
    "a new file": ({"data/5.parquet": "select 5 as run_id, 10 as ms"}, {"main.log_total": ("update", ": 1 new")}),
    "files changed and removed": (
        {"data/1.parquet": "select 1 as run_id, 20 as ms", "data/2.parquet": None},
        {"main.log_total": ("update", ": 1 changed, 1 removed")},
    ),
}


@pytest.mark.parametrize("case", EDITS)
def test_what_is_planned_and_why(case: str, project: Project, wh: Wh) -> None:
    files, expected = EDITS[case]
    write(project, files)
    before = current_build(project)
    found = {name: model for name, model in planned(wh).items() if model["action"] != "keep"}
    assert found.keys() == expected.keys()
    for name, (action, reason) in expected.items():
        assert found[name]["action"] == action and reason in found[name]["reason"]
    assert current_build(project) == before


@pytest.mark.parametrize("case", few(EDITS, 4))
def test_a_build_does_what_is_planned(case: str, project: Project, wh: Wh) -> None:
    write(project, EDITS[case][0])
    plan = {name: model["action"] for name, model in planned(wh).items()}
    done = {model.name: model.action for model in build(project).models} or plan  # nothing to do: no models are told
    assert done.keys() == plan.keys()
    different = {name: (action, done[name]) for name, action in plan.items() if action not in ("maybe", done[name])}
    assert different == {}
    assert all(done[name] in ("build", "update", "keep") for name, action in plan.items() if action == "maybe")
    assert {model["action"] for model in planned(wh).values()} == {"keep"}


def test_before_the_first_build_all_is_to_build(project: Project, wh: Wh) -> None:
    shutil.rmtree(project.builds)
    assert {name: (model["action"], model["reason"]) for name, model in planned(wh).items()} == dict.fromkeys(
        KEPT, ("build", "never built")
    )
    assert not project.builds.exists()


def test_what_is_printed(project: Project, wh: Wh) -> None:
    write(project, EDITS["SQL at the bottom"][0])
    status, out, err = wh("plan")
    assert status == 0
    assert out == """\
table           action  why                                                             updated by
--------------  ------  --------------------------------------------------------------  --------------------------------------------------
main.run        build   its SQL changed                                                 none: no input carries run_id (models/run.sql:1:1)
mart.fast       maybe   downstream of run: kept if that comes out the same              run_id
rollup.fastest  build   its query_spec_digest changed: its header, or a model under it  none: a rollup is made whole, with its number ids

--- main.run (last build)
+++ models/run.sql
@@ -2,4 +2,4 @@
 description: runs
 tags: [nightly]
 */
-select i as run_id, i * 1.5 as speed from range(1, 5) as r (i)
+select i as run_id, i * 2.5 as speed from range(1, 5) as r (i)
"""
    assert err == "2 to build, 1 maybe, 2 kept\n"


def test_nothing_to_do(project: Project, wh: Wh) -> None:
    write(project, EDITS["layout and comments"][0])
    assert wh("plan") == (0, "", "nothing to do: 5 kept\n")
    assert [model["diff"] for model in planned(wh).values()] == [""] * 5


def test_a_test_that_is_new_is_to_run(project: Project, wh: Wh) -> None:
    lone = "select run_id from run where speed > 100"
    write(project, {"data_tests/lone.sql": lone, "data_tests/other.sql": "select a from alone where a > 1"})
    assert wh("plan") == (0, "", "5 kept; 2 tests to run on tables that are kept: lone, other\n")
    assert wh("plan", "--select", "fast")[2] == "nothing to do: 1 kept\n"
    assert json.loads(wh("plan", "--json")[1])["tests"] == ["lone", "other"]
    build(project)
    assert wh("plan")[2] == "nothing to do: 5 kept\n"
    write(project, {"data_tests/lone.sql": lone.replace("100", "99"), **EDITS["SQL at the bottom"][0]})
    # What is tested may be other rows by then, so whether these tests are run is not known.
    assert json.loads(wh("plan", "--json")[1])["tests"] == []
    write(project, {"models/run.sql": FILES["models/run.sql"]})
    assert wh("plan")[2] == "5 kept; 1 test to run on tables that are kept: lone\n"


def test_a_project_without_models_is_told_what_to_do(tmp_path: Path, wh_on: WhOn) -> None:
    empty = init_project(tmp_path / "empty", bare=True)
    for command in ("check", "plan", "build", "docs", "plan"):
        status, _, err = wh_on(empty, command)
        assert status == 0 and "there are no models yet: write a select into models/NAME.sql" in err, command


# What is selected after the SQL of run changed, and the models told.
SELECTED = {
    "changed": {"main.run"},
    "changed+": {"main.run", "mart.fast", "rollup.fastest"},
    "+fast": {"main.run", "mart.fast"},
    "tag:nightly": {"main.run"},
    "path:models/marts": {"mart.fast", "mart.alone"},
    "rollup.* alone": {"rollup.fastest", "mart.alone"},
    "tag:nightly,alone": set(),
}


@pytest.mark.parametrize("typed", SELECTED)
def test_selections(typed: str, project: Project, wh: Wh) -> None:
    write(project, EDITS["SQL at the bottom"][0])
    assert planned(wh, "--select", *typed.split()).keys() == SELECTED[typed]


# Edits that make a model changed, whether or not it must be built again.
CHANGED = {
    "layout and comments": set(), "a description": {"main.run"}, "a header": {"mart.alone"},
    "a new model": {"main.more"}, "a new file": set(), "a model less": set(),
}


@pytest.mark.parametrize("case", CHANGED)
def test_what_counts_as_changed(case: str, project: Project, wh: Wh) -> None:
    write(project, EDITS[case][0])
    assert planned(wh, "--select", "changed").keys() == CHANGED[case]


def test_slips(project: Project, wh: Wh) -> None:
    assert wh("plan", "--select", "fsat") == (5, "", "WH225 no model is named fsat\n  hint: did you mean fast?\n")
    write(project, {"models/run.sql": "select nonsense"})
    status, out, err = wh("plan")
    assert (status, out) == (1, "") and err.startswith("WH204 models/run.sql:1:8:")
