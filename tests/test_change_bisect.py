"""`wh changes --bisect`: the runs that would show what made a change."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from conftest import WhOn
from samples.measured import add_rows, measured_project
from test_changes import series

from warehouse.analysis.conditions import Difference
from warehouse.analysis.events.bisect import narrowed, plan
from warehouse.analysis.measurements import VARIABLES, Measurement
from warehouse.project.project import Project

_LAST = Measurement(
    "recorded_run/A/run-01", "i", "m", "", "ms", "lower", "s", "case", None, "k", "c", 100.0, None, dict.fromkeys(VARIABLES)
)
_FIRST = replace(_LAST, run_id="recorded_run/B/run-01", value=120.0)
_AGAIN = "wh record --repeats 5 --like recorded_run/B/run-01"


def _steps(*found: Difference, commits: Sequence[str] = ()) -> list[tuple[str, tuple[str, ...]]]:
    return [(each.what, each.commands) for each in plan(_LAST, _FIRST, found, commits).steps]


def test_nothing_differs_so_both_are_run_again() -> None:
    ((what, commands),) = _steps(Difference("host", "user_cpu_s", ("1",), ("2",), 2.0), Difference("evidence", "d", ("1",), ("2",)))
    assert what.startswith("both again on one machine") and commands == (_AGAIN.replace("B/", "A/"), _AGAIN)


def test_what_differs_is_put_back_one_at_a_time() -> None:
    assert _steps(
        Difference("machine", "host", ("a",), ("b",), is_move=True), Difference("package", "torch", ("2.6",), ("2.7",)), Difference("git", "branch", ("x",), ("y",)),
    ) == [
        ("on a, all else as after the change", (_AGAIN,)), ("with package torch 2.6, all else as after the change", (_AGAIN,)),
    ]


def test_what_was_not_there_is_left_out() -> None:
    """What cannot be left out, such as a driver, is named."""
    steps = _steps(
        Difference("package", "zzz", ("(not stated)",), ("1",)), Difference("software", "driver", ("(not stated)",), ("5",)),
    )
    assert [what for what, _ in steps] == [
        "without package zzz, all else as after the change",
        "with the software driver of recorded_run/A/run-01, which does not state it, all else as after the change",
    ]


@pytest.mark.parametrize(
    ("base", "what"), [("false", "without uncommitted changes"), ("true", "with the uncommitted changes of recorded_run/A/run-01")]
)
def test_uncommitted_changes_are_one_of_the_things_that_differ(base: str, what: str) -> None:
    head = "true" if base == "false" else "false"
    assert _steps(Difference("git", "is_dirty", (base,), (head,))) == [(f"{what}, all else as after the change", (_AGAIN,))]
    (step,) = _steps(Difference("git", "is_dirty", ("(not stated)",), ("false",)))
    assert step[0].startswith("both again")


def test_of_many_packages_half_are_put_back() -> None:
    (what, _), = _steps(*(Difference("package", f"p{number}", ("1",), ("2",)) for number in range(9)))
    assert what == "with half of the 9 packages put back: p0 1, p1 1, p2 1 and 2 more; all else as after the change"


def test_a_run_that_was_not_recorded_has_no_command() -> None:
    step = plan(_LAST, replace(_FIRST, run_id="vllm/x"), [Difference("package", "torch", ("2.6",), ("2.7",))]).steps[0]
    assert step.commands == ("# run what vllm/x ran, 5 times: wh record did not record it",)


@pytest.mark.parametrize(
    ("measured", "left"),
    [
        ({}, "abcdef"), ({"c": 100.0}, "def"), ({"c": 121.0}, "abc"), ({"b": 99.0, "c": 119.0}, "c"), ({"f": 118.0, "d": 101.0}, "ef"),
        ({"c": 100.0, "b": 120.0}, "ab"),  # the earliest that is bad counts
        ({"f": 100.0}, ""),  # no commit made it
    ],
)
def test_runs_at_commits_between_narrow_it_down(measured: dict[str, float], left: str) -> None:
    runs = [replace(_LAST, run_id=commit, value=value) for commit, value in measured.items()]
    conditions = {commit: {("git", "commit"): (commit, None)} for commit in measured}
    assert "".join(narrowed("abcdef", runs, conditions, 100.0, 120.0)) == left
    dirty = {commit: {**each, ("git", "is_dirty"): ("true", None)} for commit, each in conditions.items()}
    assert "".join(narrowed("abcdef", runs, dirty, 100.0, 120.0)) == "abcdef"


def _git(folder: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=n", "-c", "user.email=e")
    return subprocess.run(["git", "-C", str(folder), *identity, *arguments], check=True, capture_output=True, text=True).stdout.strip()


def _repository(folder: Path, commits: int) -> list[str]:
    """The commits of a new repository, oldest first."""
    folder.mkdir()
    _git(folder, "init", "-q")
    for number in range(commits):
        _git(folder, "commit", "-q", "--allow-empty", "-m", str(number))
    return _git(folder, "rev-list", "--reverse", "HEAD").split()


def _of_commits(root: Path, rows: list[dict[str, Any]], commits: Sequence[str]) -> Project:
    """A project whose runs state a commit, in the column `software` (the first of the commits before the step, the last after it), and with
    1 in `clock_hz` that there were uncommitted changes."""
    for row in rows:
        row["software"] = commits[0] if row["software"] == "1" else commits[-1]
    project = measured_project(root, rows)
    path = project.root / "models" / "condition.sql"
    text = path.read_text().replace("'software' as kind, 'framework_version' as name", "'git' as kind, 'commit' as name")
    path.write_text(text.replace("'reported', 'clock_hz', clock_hz, clock_hz::double", "'git', 'is_dirty', if(clock_hz = '1', 'true', 'false'), null"))
    add_rows(project, "none", [])
    return project


def _event(wh_on: WhOn, project: Project) -> str:
    return next(word for word in wh_on(project, "changes")[1].split() if word.startswith("e-"))


def test_the_commit_in_the_middle_and_then_the_one(tmp_path: Path, wh_on: WhOn, monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight commits between a good night and a bad one; runs at the third and the fourth show the fourth. One with uncommitted changes shows nothing."""
    commits = _repository(tmp_path / "repository", 9)
    project = _of_commits(tmp_path / "project", series("a", [100.0] * 30 + [120.0] * 20, 1), commits)
    monkeypatch.chdir(tmp_path / "repository")
    finding = _event(wh_on, project)
    lines = wh_on(project, "changes", "--bisect", finding)[1].splitlines()
    assert lines[1] == "# 8 commits may have made it: 3 measurements to the one" and f"git checkout {commits[4]}" in lines
    between = series("a", [100.0] * 2 + [120.0] * 2, 2, 50) + series("a", [120.0], 2, 54, clock_hz="1")
    for row, commit in zip(between, (commits[3], commits[3], commits[4], commits[4], commits[1]), strict=True):
        row["software"] = commit
    add_rows(project, "between", between)
    out = wh_on(project, "changes", "--bisect", finding)[1]
    assert f"by the runs at commits between, it is commit {commits[4]}" in out and "left out: 1 run with uncommitted changes" in out
    assert out.count("wh retract ") == 5 and "wh retract a-050 --reason bisect" in out


def test_uncommitted_changes_may_be_the_cause(tmp_path: Path, wh_on: WhOn, monkeypatch: pytest.MonkeyPatch) -> None:
    """One commit lies between, and the first run after the change had uncommitted changes: no run shows that the commit made it, until one without
    them shows that it did not. The commands name the project where the question did."""
    commits = _repository(tmp_path / "repository", 2)
    rows = series("a", [100.0] * 30, 1, 0, clock_hz="0") + series("a", [120.0] * 20, 1, 30, clock_hz="1")
    for row in rows[30:]:
        row["software"] = "2"
    project = _of_commits(tmp_path / "project", rows, commits)
    monkeypatch.chdir(tmp_path / "repository")
    event = _event(wh_on, project)
    lines = wh_on(project, "changes", "--bisect", event)[1].splitlines()
    assert lines[1:4] == [
        "# a-030 had uncommitted changes, which may be the cause", f"# there is one between them: commit {commits[1]}",
        "# without uncommitted changes, all else as after the change",
    ]
    assert lines[-1] == f"wh build --project {project.root} && wh changes --bisect {event} --project {project.root}"
    add_rows(project, "clean", [{**row, "software": commits[1]} for row in series("a", [100.0] * 2, 2, 50, clock_hz="0")])
    lines = wh_on(project, "changes", "--bisect", event)[1].splitlines()
    assert lines[2] == f"# no commit made it: runs at {commits[1]} without uncommitted changes are as before" and commits[1] not in "".join(lines[3:])
