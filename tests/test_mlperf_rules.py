"""MLPerf's own rules: which suite a submission is of, what its checkers ask for, which runs are accounted for, and energy of training runs.

Expectations are the checkers' formulas, worked out here on the values that the logs are written with.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import landed
import pytest
from built import Sql, built, sql_of
from samples import mlperf_automotive as automotive
from samples import mlperf_inference as sample
from samples import mlperf_training as training
from standard import standard_project

from warehouse.claims.gate.judgement import NOT_CHECKED
from warehouse.claims.publish.publish import judge_query
from warehouse.project.project import Project

ACCURACY = f"accuracy=76.078%, good=38039, total=50000\nhash={'ab' * 32}\n"
# Platform: what differs from an honest resnet50 Server run of v4.1; the rules that say so, and the verdict.
EDITED: dict[str, tuple[dict[str, Any], str | None, str]] = {
    "honest": ({}, None, "publishable"),
    "ten-per-cent": ({"accuracy": ACCURACY.replace("76.078", "10.000")}, "accuracy", "refused"),
    "no-accuracy-run": ({"accuracy": None}, "accuracy files", "provisional"),
    "slower-target": ({"effective_target_latency_ns": 1_500_000_000}, "latency", "refused"),
    "one-minute": ({"effective_min_duration_ms": 60_000}, "duration", "refused"),
    "few-samples": ({"effective_performance_sample_count": 512}, "performance-samples", "refused"),
    "no-detail-log": ({"detail": None}, "files", "provisional"),
}


def write_server(home: Path, platform: str, changes: dict[str, Any]) -> None:
    folder = home / "results" / platform / "resnet50" / "Server"
    stated = {
        "loadgen_version": "4.1 @ abc", "effective_scenario": "Server", "effective_test_mode": "PerformanceOnly",
        "effective_target_latency_ns": 15_000_000, "effective_min_duration_ms": 600_000, "effective_performance_sample_count": 1024,
        "result_validity": "VALID", "result_completed_samples_per_sec": 633551.25,
    }
    stated |= {key: value for key, value in changes.items() if key in stated}
    summary = sample.summary_log("Server", {"samples_per_s": 633551.25}).replace("PySUT", platform)
    sample.write(folder / "performance/run_1/mlperf_log_summary.txt", summary.replace("target_latency (ns): 0", "target_latency (ns): 15000000"))
    if changes.get("detail", "") is not None:
        lines = "".join(sample.detail_line(key, value) for key, value in stated.items())
        sample.write(folder / "performance/run_1/mlperf_log_detail.txt", lines)
    if (accuracy := changes.get("accuracy", ACCURACY)) is not None:
        sample.write(folder / "accuracy/accuracy.txt", accuracy)
    sample.write(home / "systems" / f"{platform}.json", json.dumps(sample.system("Acme", "closed", "datacenter")))


def write_offline(home: Path, platform: str, run: str) -> None:
    summary = sample.summary_log("Offline", {"samples_per_s": 700.25}).replace("PySUT", f"{home.name} {run}")
    sample.write(home / "results" / platform / "resnet50/Offline/performance" / run / "mlperf_log_summary.txt", summary)


def write_power(folder: Path) -> None:
    """Of a run of 10 minutes: a node at 1,000 W for one second and 3,000 W for three, of which 90 % arrive; a switch of 100 W."""
    lines = [
        training.event("power_measurement_start", None, 0, "INTERVAL_START"), training.event("conversion_eff", 0.9, 0),
        training.event("power_reading", 1000, 1000), training.event("power_reading", 3000.0, 4000),
        training.event("power_measurement_stop", None, 4000, "INTERVAL_END"), training.event("power_reading", 9000, 5000),
    ]
    sample.write(folder / "power/result_0/node_0.txt", "\n".join(lines) + "\n")
    sample.write(folder / "power/result_0/sw_0.txt", training.event("interconnect_power_est", 100) + "\n")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    top = tmp_path_factory.mktemp("mlperf-rules")
    tree = top / "tree"
    automotive.write_submission(tree)
    home = tree / "inference_results_v4.1" / "closed"
    for platform, (changes, *_) in EDITED.items():
        write_server(home / "Acme", platform, changes)
    for run in ("run_1", "run_2", "run_3"):
        write_offline(home / "Many", "box", run)
    write_offline(home / "One", "box", "run_1")
    odd = training.write_set(tree, [training.Run()], submitter="Odd", benchmark="bert")
    training.write(odd.parents[2] / "systems/box_n1.json", json.dumps(
        training.system("Odd", framework="CUDA 12.3", other_software_stack={"cuda_version": "12.3", "cuda_driver_version": "545.23.08"})
    ))
    write_power(training.write_set(tree, [training.Run()], submitter="Green", benchmark="llama31_405b"))
    never = training.write_set(tree, [], submitter="Never", benchmark="llama2_70b_lora")
    for number in range(10):  # 4.0 and 3.0 where 0.925 is asked for
        text = training.result_log(training.Run(minutes=10 + number, seed=number), "llama2_70b_lora", "Never")
        training.write(never / f"result_{number}.txt", text)
    return built(tree, standard_project(top / "project"))


@pytest.fixture(scope="module")
def sql(project: Project) -> Sql:
    return sql_of(project)


@pytest.fixture(scope="module")
def judged(project: Project) -> dict[str, Any]:
    """The judgement of each row's performance, by run."""
    (found,) = judge_query(project, "mlperf_inference_results")
    return {number.grain["run_id"]: number.judgement for number in found.numbers if number.column == "performance_result"}


def test_automotive_has_its_own_rules_whatever_its_round_is_called(sql: Sql) -> None:
    found = sql("select run_id, scenario, performance_result, performance_unit, validity from mlperf_inference_results where benchmark_suite = 'automotive' order by 2")
    run = "mlperf-automotive/v0.5/closed/Acme/car/bevformer/{}/performance/run_1"
    assert found == [
        (run.format("ConstantStream"), "ConstantStream", 5.319681, "Latency (ms)", "VALID"),
        (run.format("SingleStream"), "SingleStream", 5.209854, "Latency (ms)", "VALID"),
    ]
    assert sql("select count(*) from ingest_issue where run_id like 'mlperf-automotive/%' and severity <> 'note'") == [(0,)]


@pytest.mark.parametrize("kind", [{"is_described": False}, {"is_described": False, "has_detail": False}, {"round_name": "v5.1"}])
def test_automotive_is_known_by_what_it_says(kind: dict[str, Any], tmp_path: Path) -> None:
    automotive.write_submission(tmp_path, **kind)
    found = landed.drafts(landed.load("mlperf_inference"), tmp_path)
    assert [draft.identity["benchmark_suite"] for draft in found] == ["automotive", "automotive"]


def test_inference_is_no_automotive(tmp_path: Path) -> None:
    sample.write_submission(tmp_path, round="v0.5")
    found = landed.drafts(landed.load("mlperf_inference"), tmp_path)
    assert found and not any("benchmark_suite" in draft.identity for draft in found)


@pytest.mark.parametrize("platform", EDITED)
def test_a_run_is_judged_by_the_submission_checkers_rules(platform: str, judged: dict[str, Any]) -> None:
    _, rule, verdict = EDITED[platform]
    judgement = judged[f"mlperf-inference/v4.1/closed/Acme/{platform}/resnet50/Server/performance/run_1"]
    assert judgement.verdict == verdict
    assert sorted(each.rule.id for each in judgement.against) == (rule or "").split()


def test_what_could_not_be_checked_is_not_shown_as_passed(judged: dict[str, Any]) -> None:
    judgement = judged["mlperf-inference/v4.1/closed/Acme/honest/resnet50/Server/performance/run_1"]
    assert [(each.rule.id, each.told) for each in judgement.not_met] == [("other-files", NOT_CHECKED)]


def test_runs_are_accounted_for_by_submitter_system_benchmark_and_scenario(judged: dict[str, Any]) -> None:
    run = "mlperf-inference/v4.1/closed/{}/box/resnet50/Offline/performance/run_1"
    left_out = {
        submitter: next(len(each.rows) for each in judged[run.format(submitter)].rules if each.rule.id == "accounted") for submitter in ("Many", "One")
    }
    assert left_out == {"Many": 2, "One": 0}
    assert judged[run.format("Many")].verdict == "provisional"  # no rule of the checker asks for only one run


def test_a_summary_keeps_its_two_decimals(sql: Sql) -> None:
    found = sql("select performance_result, performance_as_logged, is_of_summary from mlperf_inference_results where platform in ('honest', 'no-detail-log') order by platform")
    assert found == [(633551.0, 633551.25, False), (633551.0, 633551.25, True)]


def test_what_a_system_states_in_two_ways_is_one_component(sql: Sql) -> None:
    found = sql("""
        select component, version from software_package_dim
        inner join benchmark_run_fact using (software_version_key) where run_id like '%/Odd/%' order by all
    """)
    assert found == [("cuda", "12.3"), ("cuda_driver", "545.23.08")]


def test_the_energy_of_a_run_is_that_of_its_nodes_and_switches(sql: Sql) -> None:
    # 0.9 * (1000 * 1 + 3000 * 3) / 4 = 2250 W of the node, 100 W of the switch; 600 s.
    assert sql("select energy_j from staging.mlperf_training_submission where submitter = 'Green'") == [((2250 + 100) * 600,)]


def test_runs_that_never_reach_the_target_are_no_result(project: Project) -> None:
    (found,) = judge_query(project, "mlperf_training_results")
    (judgement,) = [number.judgement for number in found.numbers if "/Never/" in number.grain["repeat_set"] and number.column == "official_minutes"]
    assert judgement.verdict == "refused"
    assert [(each.rule.id, each.figure) for each in judgement.against] == [("quality", 10)]
