"""trtllm-bench reports: recognition, what lands and where, contradictions, and the facts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from landed import ISSUE_TABLE, Subject, codes, place
from samples import trtllm_bench as sample
from standard import standard_project

from warehouse.api import Warehouse
from warehouse.evidence.objects.location import open_store
from warehouse.evidence.tree import list_tree
from warehouse.landing.contract import Unclaimed
from warehouse.landing.ingest import ingest, plan_ingest
from warehouse.landing.registry import load_ingestors
from warehouse.transform.build.build import build

TRTLLM = Subject("trtllm_bench")


def test_a_report_is_recognised_by_its_sections(tmp_path: Path) -> None:
    folder = sample.write(tmp_path, "any name.json")
    (folder / "other.json").write_text(json.dumps({"engine": {"model": "x"}, "performance": {"request_throughput_req_s": 1.0}}))
    (folder / "notes.txt").write_text((folder / "any name.json").read_text())
    assert [[file.raw_path for file in draft.files] for draft in TRTLLM.drafts(tmp_path)] == [["any name.json"]]


def test_rows_are_what_the_report_states(tmp_path: Path) -> None:
    rows = TRTLLM.rows(sample.write(tmp_path / "tree"), tmp_path / "stored")
    assert codes(rows) == {}
    stated = {row["key"]: row for row in rows["trtllm_bench_entry"]}
    entry = stated["streaming_metrics/tpot_percentiles/p90"]
    assert (entry["value_number"], place(entry, tmp_path / "stored")) == (25.0, b'"p90": 25.0')
    (run,) = rows["trtllm_bench_run"]
    sizes = ("tensor_parallel", "pipeline_parallel", "expert_parallel", "accelerator_count")
    assert [run[size] for size in sizes] == [2, 1, 2, 2]
    document = json.loads(run["workload_document"])
    assert (document["model"], document["num_requests"], document["isl_stats/average"], document["streaming"]) == ("acme/7b-FP8", 4, 100, True)
    assert "/data" not in run["workload_document"]


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"world_info": {"world_size": 3}, "performance": {"output_throughput_per_gpu_tok_s": 146.66666666666666 / 3}}, "accelerator-count-disagrees"),
        ({"world_info": {"tp_size": 2.5}}, "not-a-size"),
        ({"performance": {"request_throughput_req_s": 26.7}}, "rate-disagrees"),
        ({"performance": {"output_throughput_per_gpu_tok_s": 146.7}}, "accelerator-count-disagrees"),  # that of one GPU, not of two
        ({"performance": {"output_throughput_per_gpu_tok_s": 74.0}}, "aggregate-disagrees"),
        ({"performance": {"avg_request_latency_ms": 0.21}}, "rate-disagrees"),
        ({"streaming_metrics": {"ttft_percentiles": sample.percentiles([400.0, 410.0, 420.0, 430.0])}}, "latency-contradicted"),
        ({"streaming_metrics": {"tpot_percentiles": sample.percentiles(sample.TPOT) | {"p50": 250.0}}}, "percentiles-out-of-order"),
        ({"request_info": {"num_requests": "many"}}, "not-a-number"),
        ({"performance": {"total_latency_ms": -300.0}}, "impossible-duration"),
    ],
)
def test_what_cannot_be_is_told(tmp_path: Path, changes: dict[str, Any], code: str) -> None:
    rows = TRTLLM.rows(sample.write(tmp_path / "tree", **changes), tmp_path / "stored")
    assert codes(rows) == {code: 1}


def test_a_report_that_breaks_off_keeps_what_it_states(tmp_path: Path) -> None:
    path = sample.write(tmp_path / "tree") / "report.json"
    path.write_text(path.read_text().partition('"streaming_metrics"')[0])
    rows = TRTLLM.rows(tmp_path / "tree", tmp_path / "stored")
    assert "error" in {row["severity"] for row in rows[ISSUE_TABLE]} and len(rows["trtllm_bench_run"]) == 1
    assert {row["key"]: row["value_number"] for row in rows["trtllm_bench_entry"]}["performance/total_latency_ms"] == 300.0


def test_requests_are_of_the_report_that_states_their_number_and_time(tmp_path: Path) -> None:
    folder = sample.write_requests(sample.write(tmp_path / "tree"))
    sample.write(folder, "slower.json", performance={"total_latency_ms": 310.0})
    sample.write_requests(folder, "slower_requests.json", end_timestamp=sample.START + 310_000_000)
    sample.write_requests(folder, "of_another_run.json", end_timestamp=sample.START + 320_000_000)
    (folder / "records.json").write_text(json.dumps([{"id": 1, "num_input_tokens": 3}]))
    assert [[file.raw_path for file in draft.files] for draft in TRTLLM.drafts(folder)] == [
        ["report.json", "requests.json"], ["slower.json", "slower_requests.json"],
    ]
    unclaimed = [found for found in TRTLLM.ingestor.bundles(list_tree(folder)) if isinstance(found, Unclaimed)]
    assert [(found.path, found.reason) for found in unclaimed] == [
        ("of_another_run.json", "requests of trtllm-bench without the one report of their run"),
    ]


def test_requests_that_are_there_twice_are_of_no_run(tmp_path: Path) -> None:
    folder = sample.write_requests(sample.write_requests(sample.write(tmp_path / "tree")), "copy.json")
    (draft,) = TRTLLM.drafts(folder)
    assert [file.raw_path for file in draft.files] == ["report.json"]


def test_a_run_has_its_name_with_and_without_its_requests(tmp_path: Path) -> None:
    alone = TRTLLM.rows(sample.write(tmp_path / "alone"), tmp_path / "stored")
    beside = TRTLLM.rows(sample.write_requests(sample.write(tmp_path / "beside")), tmp_path / "stored too")
    assert codes(beside) == {}
    assert alone["trtllm_bench_run"][0]["run_id"] == beside["trtllm_bench_run"][0]["run_id"] == beside["trtllm_bench_request"][3]["run_id"]
    assert alone["trtllm_bench_request"] == [] and len(beside["trtllm_bench_request"]) == 4


@pytest.mark.parametrize(("section", "name", "stated", "computed"), [
    ("streaming_metrics", "ttft_percentiles", {"p90": 45.0}, 50.0), ("streaming_metrics", "tpot_percentiles", {"average": 18.0}, 17.5),
    ("performance", "request_latency_percentiles_ms", {"minimum": 119.0}, 120.0),
])
def test_a_report_that_its_requests_contradict(
    section: str, name: str, stated: dict[str, float], computed: float, tmp_path: Path
) -> None:
    changes = {section: {name: sample.report()[section][name] | stated}}
    folder = sample.write_requests(sample.write(tmp_path / "tree", **changes))
    rows = TRTLLM.rows(folder, tmp_path / "stored")
    assert codes(rows)["aggregate-disagrees"] == 1
    (issue,) = (row for row in rows[ISSUE_TABLE] if row["code"] == "aggregate-disagrees")
    key, value = next(iter(stated.items()))
    assert f"{section}/{name}/{key} is {value} ms, of the requests {computed}" in issue["message"]


def test_older_names_of_what_a_request_states(tmp_path: Path) -> None:
    folder = sample.write(tmp_path / "tree")
    stated = [{"num_output_tokens" if key == "output_tokens" else key: value for key, value in request.items()} for request in sample.requests()]
    for request in stated:
        del request["num_total_output_tokens"]
    (folder / "requests.json").write_text(json.dumps(stated))
    rows = TRTLLM.rows(folder, tmp_path / "stored")
    assert codes(rows) == {} and [row["output_tokens"] for row in rows["trtllm_bench_request"]] == [11] * 4


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    tree = tmp_path_factory.mktemp("tree")
    sample.write_requests(sample.write(tree, "streaming.json"), error_tokens=1)
    sample.write(tree, "whole.json", streaming=False, engine={"quantization": None}, performance={"total_latency_ms": 240.0})
    sample.write_requests(tree, "whole_requests.json", streaming=False, end_timestamp=-1)
    sample.write(
        tree, "one_token.json", streaming_metrics={"tpot_percentiles": sample.percentiles([0.0] * 4), "avg_tpot_ms": 0.0},
        performance={"total_latency_ms": 301.0},
    )
    warehouse = Warehouse(standard_project(tmp_path_factory.mktemp("project") / "p"))
    ingest(plan_ingest(tree, load_ingestors(warehouse.project).values()), open_store(warehouse.project), "test")
    assert not build(warehouse.project).damaged
    return warehouse


def row_of(warehouse: Warehouse, name: str, table: str = "serving_outcome_fact") -> dict[str, Any]:
    sql = f"select fact.* from {table} as fact inner join benchmark_run_fact as run using (run_id) where run.raw_folder = '{name}.json'"
    (row,) = warehouse.sql(sql).to_pylist()
    return row


def test_the_facts(warehouse: Warehouse) -> None:
    row = row_of(warehouse, "streaming")
    expected = {
        "workload_point": "isl100/osl11", "deployment_model": "TP2 PP1 EP2", "completed_count": 4, "failed_count": None, "error_rate": None,
        "concurrency_point": None, "ttft_mean_ms": 35, "ttft_p50_ms": 40, "ttft_p99_ms": 50, "tpot_mean_ms": 17.5, "tpot_p90_ms": 25,
        "e2e_mean_ms": 210, "e2e_p50_ms": 240, "e2e_p95_ms": 300, "itl_mean_ms": None, "jitter_ms": None, "power_w": None,
        "request_throughput_per_s": 4 / 0.3, "output_token_throughput_per_s": 44 / 0.3, "total_token_throughput_per_s": 444 / 0.3,
    }
    assert {name: row[name] for name in expected} == pytest.approx(expected)
    run = row_of(warehouse, "streaming", "benchmark_run_fact")
    assert (run["status"], run["duration_s"], run["started_at"]) == ("succeeded", 0.3, None)


def test_the_requests(warehouse: Warehouse) -> None:
    sql = (
        "select request.status, started_s, ttft_ms, tpot_ms, e2e_ms, itl_mean_ms, scheduled_s, input_token_count, output_token_count,"
        " workload_point, concurrency_point from request_fact as request inner join benchmark_run_fact as run using (run_id)"
        " where run.raw_folder = '{}.json' order by request_index"
    )
    found = [tuple(row.values()) for row in warehouse.sql(sql.format("streaming")).to_pylist()]
    assert found[0] == ("succeeded", 0, 20, 10, 120, None, None, 100, 11, "isl100/osl11", None)
    assert found[3] == ("failed", 0, 50, 25, 300, None, None, 100, 11, "isl100/osl11", None)
    whole = warehouse.sql(sql.format("whole")).to_pylist()
    assert [(row["status"], row["ttft_ms"], row["tpot_ms"], row["e2e_ms"]) for row in whole] == [
        ("succeeded", None, None, 120), ("succeeded", None, None, 180), ("succeeded", None, None, 240), ("unfinished", None, None, None),
    ]


def test_what_was_not_measured_is_missing(warehouse: Warehouse) -> None:
    assert [row_of(warehouse, "whole")[name] for name in ("ttft_mean_ms", "tpot_p50_ms", "e2e_mean_ms")] == [None, None, 210]
    assert [row_of(warehouse, "one_token")[name] for name in ("ttft_mean_ms", "tpot_mean_ms", "tpot_p99_ms")] == [35, None, None]


def test_how_the_model_was_served(warehouse: Warehouse) -> None:
    row = row_of(warehouse, "streaming", "rollup.serving_results")
    assert (row["model"], row["accelerator"], row["accelerator_name"], row["accelerator_count"]) == (
        "acme/7b-FP8", "NVIDIA H100 80GB HBM3", "H100 SXM 80GB", 2,
    )
    assert (row["framework"], row["framework_version"], row["precision"], row["input_length"], row["output_length"]) == (
        "tensorrt-llm", "1.1.0", "fp8", 100, 11,
    )
    assert "--max-batch-size=512" in row["server_flags"] and row_of(warehouse, "whole", "rollup.serving_results")["precision"] == "bfloat16"
