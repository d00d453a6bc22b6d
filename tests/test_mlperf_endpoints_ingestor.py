"""Reports of MLPerf Endpoints: recognition, what lands and where, contradictions, and the facts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from landed import ISSUE_TABLE, Subject, codes, place
from samples import mlperf_endpoints as sample
from standard import standard_project

from warehouse.api import Warehouse
from warehouse.evidence.objects.location import open_store
from warehouse.landing.ingest import ingest, plan_ingest
from warehouse.landing.registry import load_ingestors
from warehouse.transform.build.build import build

ENDPOINTS = Subject("mlperf_endpoints")


def test_a_report_is_recognised_with_its_configuration(tmp_path: Path) -> None:
    sample.write(tmp_path / "a")
    sample.write(tmp_path / "a/audit/reference", None)
    sample.write(tmp_path / "b", "name: something else\n")
    (tmp_path / "other.json").write_text('{"version": "1", "n_samples_issued": 5}')
    summary = "performance/result_summary.json"
    found = sorted((len(draft.files), draft.identity.get("audit", "")) for draft in ENDPOINTS.drafts(tmp_path))
    assert found == [(1, ""), (1, "reference"), (2, "")]
    assert {file.raw_path for draft in ENDPOINTS.drafts(tmp_path) for file in draft.files} == {summary, "config.yaml"}


def test_rows_are_what_the_report_states(tmp_path: Path) -> None:
    rows = ENDPOINTS.rows(sample.write(tmp_path / "tree"), tmp_path / "stored")
    assert codes(rows) == {}
    stated = {row["key"]: row for row in rows["mlperf_endpoints_entry"]}
    entry = stated["ttft/percentiles/99.0"]
    assert (entry["value_number"], place(entry, tmp_path / "stored")) == (1e8, b'"99.0": 100000000.0')
    assert not any("histogram" in key for key in stated)
    (run,) = rows["mlperf_endpoints_run"]
    assert (run["load_pattern"], run["concurrency"], run["request_rate_per_s"], run["audit_phase"]) == ("concurrency", 32, None, None)
    assert '"model":"acme/7b"' in run["workload_document"] and "node7" not in run["workload_document"]


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"qps": 4.1}, "rate-disagrees"),
        ({"tps": 100.0}, "rate-disagrees"),
        ({"n_samples_failed": 201}, "impossible-count"),
        ({"n_samples_issued": 150}, "impossible-count"),
        ({"n_samples_completed": "all"}, "not-a-number"),
        ({"duration_ns": -1}, "impossible-duration"),
        ({"ttft": sample.statistics(2e7) | {"min": -5}}, "negative-measurement"),
        ({"tpot": sample.statistics(1e7) | {"percentiles": {"50.0": 9e7, "99.0": 2e7}}}, "percentiles-out-of-order"),
    ],
)
def test_what_cannot_be_is_told(tmp_path: Path, changes: dict[str, Any], code: str) -> None:
    rows = ENDPOINTS.rows(sample.write(tmp_path / "tree", **changes), tmp_path / "stored")
    assert code in codes(rows)


def test_a_report_that_breaks_off_keeps_what_it_states(tmp_path: Path) -> None:
    path = sample.write(tmp_path / "tree") / "performance/result_summary.json"
    path.write_text(path.read_text().partition('"output_sequence_lengths"')[0])
    rows = ENDPOINTS.rows(tmp_path / "tree", tmp_path / "stored")
    assert "error" in {row["severity"] for row in rows[ISSUE_TABLE]} and len(rows["mlperf_endpoints_run"]) == 1


def test_facts(tmp_path: Path) -> None:
    sample.write_all(tmp_path / "evidence")
    sample.write(tmp_path / "evidence/cut", state="interrupted", complete=False, n_samples_issued=300)
    project = standard_project(tmp_path / "p")
    ingest(plan_ingest(tmp_path / "evidence", load_ingestors(project).values(), project.store_root), open_store(project), "evidence")
    assert not build(project).damaged
    rows = Warehouse(project).sql(
        "select run.mode, run.status, workload.model, workload_point as point, outcome.concurrency_point as n, request_rate_per_s as rate,"
        " completed_count as completed, failed_count as failed, error_rate, ttft_mean_ms, ttft_p99_ms, tpot_p50_ms, e2e_p95_ms,"
        " request_throughput_per_s as qps, output_token_throughput_per_s as tps, duration_s"
        " from serving_outcome_fact as outcome inner join benchmark_run_fact as run using (run_id)"
        " inner join workload_dim as workload using (workload_spec_digest) order by mode, status, point"
    ).to_pylist()
    measured = (40.0, 100.0, 15.0, 4000.0)
    assert [tuple(row.values()) for row in rows] == [
        ("compliance", "succeeded", "acme/7b", "concurrency", 32, None, 200, 0, 0.0, *measured, 2.0, 400.0, 100.0),
        ("performance", "interrupted", "acme/7b", "concurrency", 32, None, 196, 4, 0.02, *measured, 2.0, 400.0, 100.0),
        ("performance", "succeeded", "acme/7b", "concurrency", 32, None, 196, 4, 0.02, *measured, 2.0, 400.0, 100.0),
        ("performance", "succeeded", None, "poisson", None, 2.5, 196, 4, 0.02, *measured, 1.99, 400.0, 100.0),
    ]
