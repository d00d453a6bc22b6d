"""Series that end on one machine and go on on another, and what is said to differ between two sides."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from conftest import WhOn
from samples.measured import measured_project
from test_changes import NOW, series

from warehouse.analysis.changes import changes
from warehouse.analysis.conditions import Difference, differences, in_lines
from warehouse.project.project import Project
from warehouse.transform.build.build import build


def _on_hosts(root: Path, rows: list[dict[str, Any]]) -> Project:
    """A project whose series are those of a host, as recordings are; the software is another every night."""
    project = measured_project(root, [{**row, "software": row["run_id"]} for row in rows])
    path = project.root / "models" / "measurement.sql"
    path.write_text(path.read_text().replace("'t' as testbed", "node as testbed").replace("'series ' || series as", "concat_ws(' ', series, node) as"))
    build(project)
    return project


def _moved(name: str, seed: int, ratio: float, first: int = 30, overlap: int = 0) -> list[dict[str, Any]]:
    old = series(name, [100.0] * (30 + overlap), seed, node="host-a", case_name=name)
    new = series(name, [100.0 * ratio] * 12, seed + 1000, first, node="host-b", case_name=name)
    return [*old, *({**row, "run_id": f"b-{row['run_id']}"} for row in new)]


def test_a_shift_at_a_move_to_another_machine_is_found_and_says_so(tmp_path: Path, wh_on: WhOn) -> None:
    """Each night has other software, so no variant has two runs; and a machine that takes over is a series of its own."""
    project = _on_hosts(tmp_path / "project", [row for number in range(12) for row in _moved(f"s{number}", number, 1.05 if number < 8 else 1.0)])
    found = changes(project, now=NOW)
    assert sorted(each.first.benchmark_case_id or "" for each in found.findings) == [f"s{number}" for number in range(8)]
    assert {(each.status, each.outcome, each.variables) for each in found.findings} == {("suspected", "worse", ("software", "machine"))}
    assert all(each.is_exploratory and str(each.differences[0]) == "moved from host host-a to host-b" for each in found.findings)
    assert "moved from host host-a to host-b" in wh_on(project, "changes", found.findings[0].finding_id)[1]


@pytest.mark.parametrize(("first", "overlap", "is_move"), [(30, 0, True), (28, 0, True), (20, 0, False), (1, 12, False)])
def test_machines_that_run_side_by_side_are_no_move(tmp_path: Path, first: int, overlap: int, is_move: bool) -> None:
    """A machine may be handed over in days: a tenth of the old runs may come after the first new one."""
    project = _on_hosts(tmp_path / "project", _moved("s", 1, 1.2, first, overlap))
    assert bool(changes(project, now=NOW + timedelta(days=1)).findings) is is_move


def test_one_session_on_the_new_machine_is_held_against_the_sessions_of_the_old(tmp_path: Path) -> None:
    """Sessions of the old machine differ by 5 %: ten runs of one session that lie 5 % off are nothing."""
    old = [{**row, "value": row["value"] * (1.05 if int(row["run_id"][-3:]) % 2 else 1.0)} for row in series("s", [100.0] * 30, 1, node="host-a")]
    new = [{**row, "run_id": f"b-{row['run_id']}", "session": "one"} for row in series("s", [106.0] * 10, 2, 30, node="host-b")]
    assert changes(_on_hosts(tmp_path / "project", [*old, *new]), now=NOW).findings == ()


def _runs(*stated: dict[tuple[str, str], str]) -> list[dict[tuple[str, str], tuple[str, float | None]]]:
    return [{key: (value, None) for key, value in each.items()} for each in stated]


def test_each_thing_that_differs_is_one_line_the_likeliest_first() -> None:
    packages = {("package", f"lib{number}"): "1" for number in range(43)}
    old = {
        **packages, ("package", "torch"): "2.6", ("machine", "host"): "a", ("declared", "node_name"): "a", ("testbed", "cluster"): "a",
        ("git", "commit"): "1" * 40, ("workload", "workload_spec_digest"): "w1", ("workload", "prompts"): "p1", ("software", "driver_version"): "570",
    }
    new = {
        **dict.fromkeys(packages, "2"), ("package", "torch"): "2.7", ("machine", "host"): "b", ("declared", "node_name"): "b", ("testbed", "cluster"): "b",
        ("git", "commit"): "2" * 40, ("workload", "workload_spec_digest"): "w2", ("workload", "prompts"): "p2", ("software", "driver_version"): "575",
    }
    assert str(differences(_runs(old), _runs(new))[0]) == "machine host: a -> b"  # sides that are not in time are no move
    found = differences(_runs(old), _runs(new), in_time=True)
    assert in_lines(found) == [
        "moved from host a to b", "git commit: 1111111111 -> 2222222222", "package torch: 2.6 -> 2.7", "package lib0: 1 -> 2",
        "package lib1: 1 -> 2", "and 41 more packages", "software driver_version: 570 -> 575", "workload prompts: p1 -> p2",
    ]
    assert len(in_lines(found, is_short=False)) == 48


def test_versions_of_every_night_are_those_of_the_last_run_before_and_the_first_after() -> None:
    commits = [_runs({("git", "commit"): f"{number}"}) for number in range(6)]
    before, after = [each[0] for each in commits[:3]], [each[0] for each in commits[3:]]
    assert differences(before, after, in_time=True) == (Difference("git", "commit", ("2",), ("3",)),)
    assert differences(before, [*after, before[0]], in_time=True) == (Difference("git", "commit", ("0", "1", "2"), ("0", "3", "4", "5")),)
