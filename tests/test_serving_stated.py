"""What serving records state has its column: failures, load, precision, deployment."""

from __future__ import annotations

import json
from typing import Any

import pytest
from samples import bench_serving as sample
from samples import llm_d_report, llmperf
from standard import standard_project

from warehouse.api import Warehouse
from warehouse.evidence.objects.location import open_store
from warehouse.landing.ingest import ingest, plan_ingest
from warehouse.landing.registry import load_ingestors
from warehouse.transform.build.build import build


def vllm(**changes: Any) -> dict[str, Any]:
    record = sample.vllm_record(sample.requests(38), False, num_prompts=40, **changes)
    return {key: value for key, value in record.items() if key != "failed"}


ACCOUNTING = {"records_total": 520, "records_profiled": 480, "records_dropped_total": 40, "records_warmup_dropped": 30, "records_error_dropped": 12}
SWEEP = {  # a line of a script that keeps some of what vLLM's client says
    "completed": 320, "concurrency": 32, "failed": 0, "isl": 1024, "osl": 512, "mean_tpot_ms": 4.7280888, "mean_ttft_ms": 233.299298,
    "median_tpot_ms": 4.725601, "model": "openai/gpt-oss-120b", "num_prompts": 320, "output_throughput": 6460.85040720421,
    "request_throughput": 6.309424225785361, "total_token_throughput": 12921.70081440842, "tp": 4,
}


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    tree = tmp_path_factory.mktemp("tree")
    contents = {
        "random": vllm(dataset_name="random"), "unnamed": vllm(), "hf": vllm(dataset_name="hf"), "more": vllm() | {"num_prompts": 30},
        "whole": vllm(dataset_name="hf") | {"num_prompts": 38},
        "accounted": sample.inferencex_agentic_record(request_accounting=ACCOUNTING),
        "agentic": sample.inferencex_agentic_record(nested=False),
        "sglang": {**sample.sglang_record(sample.requests(9)), "concurrency": 7.0, "max_concurrency": None},
    }
    contents["speech_1xa100"] = sample.stt_record()
    contents["asr"] = vllm(rtfx=81.5)
    for name, content in contents.items():
        sample.write(tree / f"{name}.json", content)
    (tree / "vllm_serve_sweep.jsonl").write_text("\n".join(json.dumps(SWEEP | {"concurrency": load}) for load in (32, 64)))
    report = llm_d_report.old()
    report["scenario"]["model"]["quantization"] = "fp16"
    llm_d_report.write(tree / "llm-d", report, "yaml")
    llmperf.write(tree / "llmperf")
    warehouse = Warehouse(standard_project(tmp_path_factory.mktemp("project") / "p"))
    ingest(plan_ingest(tree, load_ingestors(warehouse.project).values()), open_store(warehouse.project), "evidence")
    assert not build(warehouse.project).damaged
    return warehouse


def rows(warehouse: Warehouse, name: str) -> list[dict[str, Any]]:
    return warehouse.sql(f"from serving_results where run_id like '%/{name}/%' order by concurrency_point").to_pylist()


@pytest.mark.parametrize(
    ("name", "failed", "error_rate"),
    [
        ("random", 2, 2 / 40), ("unnamed", None, None),  # which dataset nobody knows
             ("whole", 0, 0), ("agentic", 20, 20 / 500),
        ("accounted", 10, 10 / 490),  # of 12 with an error two were of the warm-up
        ("hf", None, None),  # a dataset may have fewer requests than were asked for
        ("more", None, None),
    ],
)
def test_failed_count_and_error_rate_where_totals_and_successes_are_stated(
    warehouse: Warehouse, name: str, failed: int | None, error_rate: float | None
) -> None:
    (row,) = rows(warehouse, name)
    assert (row["failed_count"], row["error_rate"]) == (failed, error_rate)


def test_concurrency_of_a_sweep_is_the_load_and_sglangs_is_measured(warehouse: Warehouse) -> None:
    assert [row["concurrency_point"] for row in rows(warehouse, "vllm_serve_sweep")] == [32, 64]
    assert [row["concurrency_point"] for row in rows(warehouse, "sglang")] == [None]


def test_precision_and_request_throughput_of_inferencex_records(warehouse: Warehouse) -> None:
    (row,) = rows(warehouse, "agentic")
    assert (row["precision"], row["request_throughput_per_s"]) == ("fp4", 480 / 600)
    (run,) = warehouse.sql("from workload_dim where model = 'acme/coder' limit 1").to_pylist()
    assert run["precision"] == "fp4"


def test_speech_to_text_benchmarks(warehouse: Warehouse) -> None:
    (row,) = warehouse.sql("from serving_outcome_fact where run_id like 'stt-bench/%'").to_pylist()
    assert (row["completed_count"], row["failed_count"], row["error_rate"], row["request_throughput_per_s"]) == (96, 4, 0.04, 24)
    assert (row["e2e_mean_ms"], row["e2e_p50_ms"], row["real_time_factor_mean"]) == (2260, 2370, 0.184)
    assert (row["audio_throughput_s_per_s"], row["concurrency_point"], row["ttft_mean_ms"]) == (12.5 * 96 / 4, 50, None)
    (asr,) = rows(warehouse, "asr")
    assert asr["audio_throughput_s_per_s"] == 81.5


def test_precision_and_deployment_of_an_llm_d_report(warehouse: Warehouse) -> None:
    (row,) = warehouse.sql("from serving_results where family = 'llm_d_report'").to_pylist()
    assert (row["precision"], row["deployment_model"]) == ("fp16", "prefill 1 x TP1, decode 1 x TP8 DP1 PP1 EP8")


def test_a_run_of_llmperf_began_before_its_summary_was_written(warehouse: Warehouse) -> None:
    (row,) = warehouse.sql("from benchmark_run_fact where family = 'llmperf'").to_pylist()
    assert (row["ended_at"] - row["started_at"]).total_seconds() == row["duration_s"] == 4
