"""The facts of serving benchmarks, built from real files: row counts and values, each read from the files by other means."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Any

import duckdb
import pytest
import yaml
from landed import Subject
from standard import standard_project

from warehouse.evidence.objects.location import open_store
from warehouse.landing.ingest import ingest, plan_ingest
from warehouse.landing.registry import load_ingestors
from warehouse.project.project import standard_folder
from warehouse.transform.build.build import build
from warehouse.transform.finished.builds import current_build

LLMPERF = "ray-project__llmperf-leaderboard"
GENAI_PERF = "cfregly__ai-performance-engineering"
INFERENCE_PERF = "kubernetes-sigs__inference-perf"
LLM_D = "llm-d__llm-d-benchmark"


@pytest.fixture(scope="module")
def facts(serving_evidence: Path, tmp_path_factory: pytest.TempPathFactory) -> duckdb.DuckDBPyConnection:
    """The tables that a build of the four collections makes."""
    project = standard_project(tmp_path_factory.mktemp("project") / "p")
    store = open_store(project)
    for folder in (LLMPERF, GENAI_PERF, INFERENCE_PERF, LLM_D):
        plan = plan_ingest(serving_evidence / folder, load_ingestors(project).values(), project.store_root)
        assert not plan.problems
        ingest(plan, store, folder)
    build(project)
    built = current_build(project)
    assert built is not None
    return duckdb.connect(str(built.path), read_only=True)


def _rows(facts: duckdb.DuckDBPyConnection, family: str, table: str = "serving_outcome_fact") -> list[dict[str, Any]]:
    """The rows of a fact table that are of one family's runs."""
    sql = (
        f"select fact.*, run.raw_folder, run.status as run_status from main.{table} as fact "
        f"inner join main.benchmark_run_fact as run using (run_id) where run.family = '{family}' order by all"
    )
    return facts.sql(sql).to_arrow_table().to_pylist()


def test_llmperf_facts_are_the_summaries(facts: duckdb.DuckDBPyConnection, serving_evidence: Path) -> None:
    rows = {Path(row["raw_folder"]).name: row for row in _rows(facts, "llmperf")}
    summaries = list((serving_evidence / LLMPERF).rglob("summary/*.json"))
    assert len(rows) == len(summaries) > 0
    for path in summaries:
        stated, row = json.loads(path.read_bytes()), rows[path.name]
        assert row["ttft_mean_ms"] == stated["results_ttft_s_mean"] * 1000
        assert row["ttft_p99_ms"] == stated["results_ttft_s_quantiles_p99"] * 1000
        assert row["e2e_p95_ms"] == stated["results_end_to_end_latency_s_quantiles_p95"] * 1000
        assert row["output_token_throughput_per_s"] == stated["results_mean_output_throughput_token_per_s"]
        assert (row["completed_count"], row["failed_count"]) == (
            stated["results_num_completed_requests"], stated["results_number_errors"],
        )
        assert row["error_rate"] == pytest.approx(stated["results_error_rate"]) and row["concurrency_point"] == 5
        assert row["itl_mean_ms"] is None  # what LLMPerf calls so is end-to-end latency / tokens


def test_llmperf_requests_have_the_throughput_of_tokens_and_time(
    facts: duckdb.DuckDBPyConnection, serving_evidence: Path
) -> None:
    rows = _rows(facts, "llmperf", "request_fact")
    files = list((serving_evidence / LLMPERF).rglob("individual/*.json"))
    assert len(rows) == sum(len(json.loads(path.read_bytes())) for path in files)
    for path in files:
        requests = json.loads(path.read_bytes())
        found = {row["request_index"]: row for row in rows if Path(row["raw_folder"]).name == path.name}
        for index, request in enumerate(requests):
            failed = request["error_code"] is not None
            assert found[index]["status"] == ("failed" if failed else "succeeded")
            if not failed:
                computed = request["number_output_tokens"] / request["end_to_end_latency_s"]
                assert found[index]["output_token_throughput_per_s"] == pytest.approx(computed, rel=1e-12)
                stated = request["request_output_throughput_token_per_s"]
                assert found[index]["stated_output_token_throughput_per_s"] == stated
    # The leaderboard's published rows for Replicate: 32 tokens/s of the 7b, 18 of the 13b, where the files' own field says 0.6.
    for size, published in (("7b", 32), ("13b", 18)):
        whole = [
            row["output_token_throughput_per_s"] for row in rows
            if Path(row["raw_folder"]).name == f"replicate_{size}.json" and row["status"] == "succeeded"
        ]
        assert round(sum(whole) / len(whole)) == published


def test_genai_perf_facts(facts: duckdb.DuckDBPyConnection, serving_evidence: Path) -> None:
    rows = {row["concurrency_point"]: row for row in _rows(facts, "genai_perf")}
    files = list((serving_evidence / GENAI_PERF).rglob("profile_export_genai_perf.json"))
    assert sorted(rows) == [1, 5, 50] and len(files) == 3
    for path in files:
        stated = json.loads(path.read_bytes())
        row = rows[stated["input_config"]["concurrency"]]
        assert row["ttft_mean_ms"] == stated["time_to_first_token"]["avg"]
        assert row["e2e_p99_ms"] == stated["request_latency"]["p99"]
        assert row["tpot_p90_ms"] == stated["inter_token_latency"]["p90"]
        assert row["output_token_throughput_per_s"] == stated["output_token_throughput"]["avg"]
        assert row["failed_count"] is None and row["error_rate"] is None and row["run_status"] == "succeeded"
    assert (rows[1]["ttft_mean_ms"], rows[1]["e2e_mean_ms"]) == (24.49146105660377, 667.3838553773584)
    assert (rows[1]["completed_count"], rows[5]["completed_count"]) == (53, None)  # only one run has its requests here
    assert len(_rows(facts, "genai_perf", "request_fact")) == 53


def test_inference_perf_facts(facts: duckdb.DuckDBPyConnection, serving_evidence: Path) -> None:
    files = sorted((serving_evidence / INFERENCE_PERF).rglob("stage_*_lifecycle_metrics.json"))
    rows = {(row["raw_folder"], row["workload_point"]): row for row in _rows(facts, "inference_perf")}
    assert len(files) == 28 and len(rows) == 29  # and the one in YAML
    for path in files:
        stated = json.loads(path.read_bytes())
        row = rows[f"{path.parents[1].name}/results/", path.name.removesuffix("_lifecycle_metrics.json")]
        latency = stated["successes"]["latency"]
        assert row["ttft_p50_ms"] == latency["time_to_first_token"]["median"] * 1000
        assert row["itl_p99_ms"] == latency["inter_token_latency"]["p99"] * 1000
        assert row["e2e_mean_ms"] == latency["request_latency"]["mean"] * 1000
        assert row["request_rate_per_s"] == stated["load_summary"]["requested_rate"]
        assert (row["completed_count"], row["failed_count"]) == (stated["successes"]["count"], stated["failures"]["count"])
        assert row["queueing_delay_ms"] is None  # schedule_delay is the client's
    stated = yaml.safe_load((serving_evidence / LLM_D / "tests/fixtures/inference_perf_lifecycle.yaml").read_text())
    (row,) = (row for (_, point), row in rows.items() if point == "lifecycle")
    assert row["tpot_p90_ms"] == stated["successes"]["latency"]["time_per_output_token"]["p90"] * 1000
    software = facts.sql("select distinct framework, framework_version from main.software_version_dim where framework = 'vllm'")
    assert {("vllm", "0.11.0"), ("vllm", "0.9.0")} <= set(software.fetchall())
    assert ("nvidia-h100-80gb", 1) in facts.sql("select gpu_model, gpu_count from main.hardware_topology_dim").fetchall()


def test_llm_d_facts(facts: duckdb.DuckDBPyConnection, serving_evidence: Path) -> None:
    rows = {row["raw_folder"]: row for row in _rows(facts, "llm_d_report")}
    folder = serving_evidence / LLM_D / "llmdbenchmark/analysis/benchmark_report"
    assert sorted(rows) == ["br_v0_1_example.yaml", "br_v0_2_1_example.yaml"]
    old, row = yaml.safe_load((folder / "br_v0_1_example.yaml").read_text())["metrics"], rows["br_v0_1_example.yaml"]
    assert row["ttft_mean_ms"] == old["latency"]["time_to_first_token"]["mean"]  # its units: ms
    assert row["itl_p90_ms"] == old["latency"]["inter_token_latency"]["p90"]
    assert row["output_token_throughput_per_s"] == old["throughput"]["output_tokens_per_sec"]
    assert (row["completed_count"], row["failed_count"], row["request_rate_per_s"]) == (31, 0, 1.34)  # one incomplete
    new, row = yaml.safe_load((folder / "br_v0_2_1_example.yaml").read_text()), rows["br_v0_2_1_example.yaml"]
    aggregate = new["results"]["request_performance"]["aggregate"]
    assert row["ttft_p99_ms"] == aggregate["latency"]["time_to_first_token"]["p99"] * 1000  # its units: s
    assert row["e2e_mean_ms"] == aggregate["latency"]["request_latency"]["mean"] * 1000
    assert row["request_throughput_per_s"] == aggregate["throughput"]["request_rate"]["mean"]
    assert (row["workload_point"], row["request_rate_per_s"], row["concurrency_point"]) == ("stage_3", 10.0, None)


def test_units_that_are_converted_are_those_that_are_not_flagged() -> None:
    """What an ingestor takes for a known unit is what the models convert, by the same factor."""
    sql = (standard_folder() / "models" / "reference" / "serving_unit.sql").read_text()
    known = {unit: (quantity, factor) for unit, quantity, factor in duckdb.sql(sql).fetchall()}
    for name in ("genai_perf", "llm_d_report"):
        Subject(name)
    units, report = import_module("landed_genai_perf.units"), import_module("landed_llm_d_report.parse")
    assert {unit: known[unit] for unit in units.MILLISECONDS} == {
        unit: ("time", factor) for unit, factor in units.MILLISECONDS.items()
    }
    assert all(known[unit][0] == "rate" for unit in units.RATES | report._KNOWN_UNITS["throughput"])
    assert all(known[unit][0] == "time" for unit in report._KNOWN_UNITS["latency"])
