"""When requests were meant to be sent, when they were, and how those ended whose answer nobody waited for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from samples import genai_perf, guidellm, inference_perf
from standard import standard_project

from warehouse.api import Warehouse
from warehouse.evidence.objects.location import open_store
from warehouse.landing.ingest import ingest, plan_ingest
from warehouse.landing.registry import load_ingestors
from warehouse.transform.build.build import build

_LOADS: dict[str, dict[str, Any]] = {
    "rate": {"loadgen": {"request_rate": 5.0}},
    "capped_rate": {"loadgen": {"request_rate": 5.0, "concurrency": 4}},
    "capped_prefill": {"loadgen": {"request_rate": 5.0, "prefill_concurrency": 2}},
    "closed_loop": {"loadgen": {"concurrency": 4}},
    "trace": {"input": {"fixed_schedule": True}},
    "no_trace": {"input": {"fixed_schedule": False}},
    "poisson": {"phases": [{"name": "profiling", "type": "poisson", "rate": 5.0}]},
    "users": {"phases": [{"name": "profiling", "type": "user_centric", "rate": 5.0}]},
    "phase_of_a_trace": {"phases": [{"name": "profiling", "type": "fixed_schedule"}]},
}


def _write(folder: Path, load: dict[str, Any]) -> None:
    genai_perf.write_aiperf(folder)
    stated = json.loads((folder / "profile_export_aiperf.json").read_text())
    stated["input_config"] = {"endpoint": {"model_names": [folder.name]}, **load}
    (folder / "profile_export_aiperf.json").write_text(json.dumps(stated))


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    tree = tmp_path_factory.mktemp("evidence")
    for version in (0, 2):
        text = json.dumps(guidellm.report(version)).replace(guidellm.RUN, f"{guidellm.RUN[:-1]}{version}")
        (tree / f"guidellm{version}").mkdir()
        (tree / f"guidellm{version}/benchmarks.json").write_text(text)
    for name, load in _LOADS.items():
        _write(tree / name, load)
    inference_perf.write(tree / "stages")
    project = standard_project(tmp_path_factory.mktemp("project") / "p")
    plan = plan_ingest(tree, load_ingestors(project).values(), project.store_root)
    assert not plan.problems
    ingest(plan, open_store(project), str(tree))
    build(project)
    return Warehouse(project)


def _requests(warehouse: Warehouse, where: str) -> list[tuple[Any, ...]]:
    sql = (
        "select request.status, request.error, request.scheduled_s, request.started_s from request_fact as request"
        f" inner join benchmark_run_fact as run using (run_id) where {where} order by request.request_index"
    )
    return [tuple(row.values()) for row in warehouse.sql(sql).to_pylist()]


@pytest.mark.parametrize("version", [0, 2])
def test_guidellm_states_when_a_request_was_targeted(version: int, warehouse: Warehouse) -> None:
    of_run = f"run.run_id like 'guidellm/%{version}'"
    # All four were sent together: one an eighth of a second before its time, the others a quarter after theirs.
    assert _requests(warehouse, f"{of_run} and request.request_rate_per_s = 2") == [
        ("succeeded", None, 0.125, 0.0), ("succeeded", None, -0.25, 0.0), ("failed", "refused", -0.25, 0.0), ("unfinished", None, -0.25, 0.0),
    ]
    assert [scheduled for _, _, scheduled, _ in _requests(warehouse, f"{of_run} and concurrency_point = 8")] == [None] * 4


@pytest.mark.parametrize(("name", "scheduled"), [
    ("rate", True), ("capped_rate", False), ("capped_prefill", False), ("closed_loop", False), ("trace", True), ("no_trace", False),
    ("poisson", True), ("users", False), ("phase_of_a_trace", True),
])
def test_aiperf_issues_a_request_on_schedule_if_no_limit_holds_it_back(name: str, scheduled: bool, warehouse: Warehouse) -> None:
    rows = _requests(warehouse, f"run.benchmark_case_id = 'aiperf/{name}'")
    assert [(status, error) for status, error, _, _ in rows] == [("succeeded", None), ("unfinished", "cancelled")]
    # Issued 2 ms before the first was sent, and 1 ms after.
    assert [moment for _, _, moment, _ in rows] == ([-0.002, 0.001] if scheduled else [None, None])
    assert [started for _, _, _, started in rows] == [0.0, 1e-9]


def test_aiperf_counts_a_request_that_it_cancelled_as_an_error(warehouse: Warehouse) -> None:
    sql = (
        "select failed_count, completed_count from serving_outcome_fact inner join benchmark_run_fact using (run_id)"
        " where benchmark_case_id = 'aiperf/rate'"
    )
    assert warehouse.sql(sql).to_pylist() == [{"failed_count": 1, "completed_count": 1}]


def test_requests_count_from_the_first_of_their_own_point(warehouse: Warehouse) -> None:
    sql = (
        "select min(started_s) as first from request_fact inner join benchmark_run_fact as run using (run_id) where family = 'inference_perf'"
        " group by workload_point"
    )
    assert {row["first"] for row in warehouse.sql(sql).to_pylist()} == {0.0}
