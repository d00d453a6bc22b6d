"""Which project and which store a command works on: never another one without a word."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import REPOSITORY, WhOn
from samples.values import take_in, value_files, values_project

from warehouse.errors import ExitCode
from warehouse.project.making import init_project
from warehouse.project.project import Project
from warehouse.transform.build.build import build
from warehouse.transform.finished.builds import current_build


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = values_project(tmp_path / "project", "select key, sum(value) as total from reading group by key")
    take_in(project, value_files(tmp_path / "in", "a=1\n"))
    return project


def wh(folder: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "PYTHONPATH": str(REPOSITORY), **variables}
    command = [sys.executable, "-m", "warehouse.cli.main", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_the_project_of_the_environment_is_named_where_another_is_here(project: Project, tmp_path: Path) -> None:
    other = init_project(tmp_path / "other", bare=True)
    done = wh(other.root / "models", "ledger", WH_PROJECT=str(project.root))
    assert done.returncode == 0 and "arrival" in done.stdout
    assert done.stderr.splitlines()[0] == (
        f"using the project {project.root}, which WH_PROJECT names, not the one of the current folder, {other.root}"
    )


def test_there_is_nothing_to_say_where_no_other_project_could_be_meant(project: Project, tmp_path: Path) -> None:
    other = init_project(tmp_path / "other", bare=True)
    for folder, arguments, variables in (
        (project.root / "models", [], {"WH_PROJECT": str(project.root)}), (tmp_path, [], {"WH_PROJECT": str(project.root)}),
        (project.root, [], {}), (other.root, ["--project", str(project.root)], {"WH_PROJECT": str(other.root)}),
    ):
        done = wh(folder, *arguments, "ledger", **variables)
        assert (done.returncode, "using the project" in done.stderr) == (0, False)


def test_a_push_to_a_mistyped_folder_makes_no_store_there(project: Project, tmp_path: Path, wh_on: WhOn) -> None:
    typo = tmp_path / "stroe"
    status, out, err = wh_on(project, "push", str(typo))
    assert (status, out) == (ExitCode.USAGE, "")
    assert err.startswith(f"WH004 {typo}: there is no store, and no such folder") and "--create" in err
    assert not typo.exists()
    assert wh_on(project, "push", f"file://{typo}")[0] == ExitCode.USAGE and not typo.exists()
    assert wh_on(project, "push", str(typo), "--create")[0] == ExitCode.OK
    assert wh_on(project, "push", str(typo))[2].startswith("0 new")


def test_a_push_to_a_new_project_or_an_empty_folder_needs_no_word(project: Project, tmp_path: Path, wh_on: WhOn) -> None:
    other = init_project(tmp_path / "other", bare=True)
    (tmp_path / "empty").mkdir()
    for place in (other.root, tmp_path / "empty"):
        assert wh_on(project, "push", str(place))[2].startswith("1 new")


def test_a_build_that_another_process_holds_says_which_and_to_wait(project: Project, wh_on: WhOn) -> None:
    build(project)
    code = "import duckdb, sys; con = duckdb.connect(sys.argv[1]); print('open', flush=True); sys.stdin.read()"
    path = current_build(project).path
    with subprocess.Popen(
        [sys.executable, "-c", code, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout and holder.stdout.readline() == "open\n"
        status, _, err = wh_on(project, "sql", "select 1")
        holder.communicate()
    assert status == ExitCode.FAILED and "delete" not in err
    assert f"hint: process {holder.pid} holds its lock: wait until that has closed the file, or stop it" in err
    assert wh_on(project, "sql", "select count(*) from claim")[0] == ExitCode.OK
