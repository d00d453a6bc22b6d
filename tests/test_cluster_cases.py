"""`wh explain` on simulated clusters (`samples/clusters.py`): the one thing that slowed a run down comes first, and where nothing did, nothing is named."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from conftest import WhOn
from once import once
from samples import clusters
from samples.clusters import BOTH, CASES, Case
from standard import standard_project

from warehouse.analysis.explain.explanation import Answer, Explanation, explain
from warehouse.analysis.explain.unread import SAMPLED
from warehouse.cli.main import main
from warehouse.project.project import Project, read_project
from warehouse.record.unread import unread
from warehouse.transform.finished.builds import current_build
from warehouse.transform.finished.query import read_query

# Each kind of evidence, with a cause and without one; a neighbour; and two causes.
FEW = (*(each for each in CASES if each.name in ("throttled", "prepared", "all_loaders", "serving_narrow", "pod_beside", "recorded_noisy")), BOTH)
SCREEN = 40  # lines


def _maker(cases: tuple[Case, ...]) -> Callable[[Path], None]:
    def make(folder: Path) -> None:
        project = standard_project(folder / "project")
        (project.root / "models").mkdir(exist_ok=True)
        (project.root / "models/place.sql").write_text(clusters.PLACE)
        clusters.write(folder / "evidence", cases)
        for line in (["ingest", str(folder / "evidence")], ["build"]):
            assert main(["--quiet", "--project", str(project.root), *line]) == 0, line

    return make


def few() -> Project:
    return read_project(once("clusters_few", _maker(FEW)) / "project")


def every() -> Project:
    return read_project(once("clusters_all", _maker(CASES)) / "project")


def run_of(project: Project, case: Case) -> str:
    """The last run of a case; of a recording the last but one, which others lie before and after."""
    day = f"{clusters.day(case):%Y-%m-%d}"
    sql = f"select run_id from benchmark_run_fact where started_at::date = '{day}' order by started_at desc"
    with read_query(current_build(project).path, sql) as result:
        runs = [run for (run,) in result.fetchall()]
    return str(runs[1 if case.kind == "recorded" else 0])


@cache
def explained(name: str, *, is_all: bool = False) -> Explanation:
    project = every() if is_all else few()
    (case,) = [each for each in (*CASES, BOTH) if each.name == name]
    found = explain(project, run_of(project, case))
    assert [each.fault for each in found.answers if each.fault] == []
    return found


def named(found: Explanation) -> str | None:
    """The check that is named as the likeliest cause."""
    return found.causes()[0].check.name if found.has_suspected_cause() else None


def answer(found: Explanation, check: str) -> Answer:
    return next(each for each in found.answers if each.check.name == check)


@pytest.mark.parametrize("case", [each for each in FEW if each is not BOTH], ids=lambda case: case.name)
def test_the_cause_is_named_first_and_no_other_where_there_is_none(case: Case) -> None:
    assert named(explained(case.name)) == case.cause


@pytest.mark.exhaustive
def test_of_forty_cases_nineteen_of_twenty_are_right_and_no_healthy_one_has_a_cause() -> None:
    found = {case.name: named(explained(case.name, is_all=True)) for case in CASES}
    slow = [case for case in CASES if case.cause]
    assert (len(slow), len(CASES)) == (20, 40) == (len(slow), len(found))
    assert sum(found[case.name] == case.cause for case in slow) >= 19, {case.name: found[case.name] for case in slow}
    assert {case.name: found[case.name] for case in CASES if not case.cause and found[case.name]} == {}


def test_two_causes_add_up_within_their_intervals() -> None:
    found = explained(BOTH.name)
    causes = {each.check.name: each for each in found.causes() if found.is_suspected(each.check.playbook)}
    assert list(causes)[:2] == ["input_pipeline", "gpu_throttling"]
    # A step was 3.1 s: 0.04 of input, 3 of work, 0.06 of communication. It is 3.33 s of work and 1.54 of input now.
    least, most = causes["input_pipeline"].bounds
    assert least == pytest.approx(most, rel=0.05) and least < (1 - 0.04 / 3.1) / (1 - 1.54 / 4.93) * 1.02 and most > (1 - 0.04 / 3.1) / (1 - 1.54 / 4.93) * 0.98
    assert causes["gpu_throttling"].bounds == (1, pytest.approx(1900 / 1710, rel=0.02))
    together = found.together()
    assert together[0] <= found.effect * 1.02 and found.effect <= together[1] * 1.02
    assert found.left_over() is None
    assert sum(each.score for each in causes.values() if each.check.name in ("input_pipeline", "gpu_throttling")) == pytest.approx(1, abs=0.1)


def test_without_one_of_two_causes_something_is_left_over() -> None:
    from dataclasses import replace

    found = explained(BOTH.name)
    alone = replace(found, answers=tuple(each for each in found.answers if each.check.name != "input_pipeline"))
    assert alone.left_over() == pytest.approx(found.effect / alone.together()[1]) and found.effect / alone.together()[1] > 1.35


def test_a_pod_of_another_namespace_is_a_neighbour_and_called_one(wh_on: WhOn) -> None:
    found = explained("pod_beside")
    throttled = answer(found, "pod_cpu_throttling")
    assert throttled.is_of_neighbours and throttled.found[0].subject == "pod etl-pod_beside-1"
    assert not answer(explained("throttled"), "pod_cpu_throttling").is_of_neighbours
    out = wh_on(few(), "explain", found.run_id)[1]
    assert "possible influence of a neighbour: pod etl-pod_beside-1: " in out and "likeliest" not in out


def test_a_narrow_link_that_the_baseline_has_too_is_not_found() -> None:
    found = answer(explained("serving_narrow"), "pcie_link")
    assert found.state == "not found" and {(each.observed, each.expected) for each in found.findings if each.unit == "count"} >= {(8, 8)}


def test_the_baseline_is_of_other_sessions_at_the_same_place_and_says_so() -> None:
    found = explained("prepared")
    own = found.run_id.rsplit("/", 1)[0]
    assert len(found.baseline) == 6 and not any(each.startswith(own) for each in found.baseline)
    assert found.chosen_by == "the same case, workload, machine and place, nearest in time; 2 slower runs left out"


def test_what_the_recorder_could_not_read_is_said_of_the_check_that_needs_it(wh_on: WhOn) -> None:
    found = explained("prepared")
    why = "the recorder could not read infiniband: there is no adapter under /sys/class/infiniband"
    assert {each.check.name for each in found.answers if each.unread} == {"network_stalls", "nic_errors"}
    assert answer(found, "network_stalls").said.endswith(f"; {why}")
    lines = wh_on(few(), "explain", found.run_id)[1].splitlines()
    assert [line for line in lines if "could not read" in line] == [f"could not be checked: network_stalls (needs node exporter; {why})"]


def test_each_thing_that_the_recorder_names_as_unread_is_known(tmp_path: Path) -> None:
    assert unread(tmp_path, tmp_path).keys() <= SAMPLED.keys()


def test_an_answer_fits_a_screen(wh_on: WhOn) -> None:
    for case in FEW:
        status, out, err = wh_on(few(), "explain", run_of(few(), case))
        assert status == 0
        assert len((out + err).splitlines()) <= SCREEN, case.name


@pytest.mark.exhaustive
def test_the_longest_answers_fit_a_screen(wh_on: WhOn) -> None:
    lengths = {}
    for case in CASES:
        _, out, err = wh_on(every(), "explain", run_of(every(), case))
        lengths[case.name] = len((out + err).splitlines())
    assert max(lengths.values()) <= SCREEN, sorted(lengths.items(), key=lambda each: -each[1])[:10]
