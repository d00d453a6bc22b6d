"""Serving records that state what cannot be, or two things that cannot both be: what is published of them, and what is reported."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from landed import ISSUE_TABLE, Rows, landed, load
from samples import bench_serving, genai_perf, guidellm, inference_perf, llm_d_report, llmperf
from standard import standard_project

from warehouse.api import Warehouse
from warehouse.evidence.objects.location import open_store
from warehouse.landing.ingest import ingest, plan_ingest
from warehouse.landing.registry import load_ingestors
from warehouse.transform.build.build import build

REQUESTS = bench_serving.requests(20)
Write = Callable[[Path], object]


def record(**changes: Any) -> dict[str, Any]:
    """vLLM's, without the keys that are changed to `absent`."""
    return {key: value for key, value in bench_serving.vllm_record(REQUESTS, False, **changes).items() if value != "absent"}


def rows(name: str, tmp_path: Path, write: Write) -> Rows:
    write(tmp_path / "tree")
    return landed(load(name), tmp_path / "tree", tmp_path / "store")


def vllm(tmp_path: Path, path: str = "r.json", **changes: Any) -> Rows:
    return rows("bench_serving", tmp_path, lambda top: bench_serving.write(top / path, record(**changes)))


def issues(found: Rows) -> list[tuple[str, str]]:
    return sorted((row["code"], row["severity"]) for row in found[ISSUE_TABLE])


def run_of(found: Rows) -> dict[str, Any]:
    (run,) = found["bench_serving_run"]
    return run


# --- the outcome that is published


STATED: dict[str, dict[str, Any]] = {
    "random": record(failed="absent", num_prompts=30, dataset_name="random"),
    "sonnet": record(failed="absent", num_prompts=30, dataset_name="sonnet"),
    "unnamed": record(failed="absent", num_prompts=30),
    "sharegpt": record(failed="absent", num_prompts=30, dataset_name="sharegpt"),
    "prefixes": record(failed="absent", num_prompts=30, dataset_name="prefix_repetition"),
    "custom": record(failed="absent", num_prompts=30, dataset_name="custom"),
    "impossible": record(failed=-2, num_prompts=20),
    "embeddings": {
        key: value for key, value in bench_serving.pooling_record(REQUESTS, num_prompts=30, dataset_name="random").items()
        if key not in ("input_lens", "errors")
    },
    "equal": bench_serving.inferencex_agentic_record(num_requests_total=480),
    "micros": record(mean_ttft_ms="absent", mean_ttft_us=250_000.0, p99_ttft_ms="absent", p99_ttft_s=0.5, std_itl_ms="absent", std_itl_ns=5e6),
    "minutes": record(median_ttft_ms="absent", median_ttft_minutes=3.0),
    "twice": record(mean_ttft_s=9.0),
    "both_same": record(mean_ttft_s=bench_serving.vllm_record(REQUESTS, False)["mean_ttft_ms"] / 1000),
    "ended": record(duration=-12.5),
    "loadless": record(max_concurrency=-3, request_rate=-1.0),
    "two_names": record(hw="h100", gpu="NVIDIA B200", tensor_parallel_size=8),
    "two_counts": record(gpu="NVIDIA H100 80GB HBM3", num_gpus=8, tensor_parallel_size=4, data_parallel_size=1, pipeline_parallel_size=1),
}


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    tree = tmp_path_factory.mktemp("tree")
    for name, content in STATED.items():
        bench_serving.write(tree / f"{name}.json", content)
    report = llm_d_report.new()
    report["scenario"]["stack"][0]["standardized"]["replicas"] = "two"
    llm_d_report.write(tree / "llm-d", report, "json")
    manifests = inference_perf.write(tree / "inference-perf") / "batch-size" / "manifests.yaml"
    second = inference_perf.MANIFEST.partition("---")[0].replace("nvidia.com/gpu: 4", "nvidia.com/gpu: -4")
    manifests.write_text(f"{inference_perf.MANIFEST}---\n{second}")
    (tree / "prices.csv").write_text("accelerator,unit,price_usd_per_hour,effective_date,source\nH100 SXM 80GB,accelerator_hour,2.0,2020-01-01,list\n")
    warehouse = Warehouse(standard_project(tmp_path_factory.mktemp("project") / "p"))
    ingest(plan_ingest(tree, load_ingestors(warehouse.project).values()), open_store(warehouse.project), "evidence")
    assert not build(warehouse.project).damaged
    return warehouse


def result(warehouse: Warehouse, name: str) -> dict[str, Any]:
    (row,) = warehouse.sql(f"from serving_results where run_id like '%/{name}/%'").to_pylist()
    return row


@pytest.mark.parametrize(
    ("name", "failed", "error_rate"),
    [
        ("random", 10, 1 / 3), ("sonnet", 10, 1 / 3),  # vLLM makes exactly as many as are asked for
        ("unnamed", None, None), ("sharegpt", None, None), ("prefixes", None, None), ("custom", None, None),  # may be fewer
        ("impossible", None, None), ("embeddings", None, None),  # several go in one request
        ("equal", None, None),  # without request_accounting, InferenceX's counts leave failed requests out
    ],
)
def test_failures_are_inferred_only_where_the_producer_always_sends_what_was_asked_for(
    warehouse: Warehouse, name: str, failed: int | None, error_rate: float | None
) -> None:
    row = result(warehouse, name)
    assert (row["failed_count"], row["error_rate"]) == (failed, pytest.approx(error_rate) if error_rate else None)


def test_the_unit_of_a_latency_is_the_end_of_its_key(warehouse: Warehouse) -> None:
    row = result(warehouse, "micros")
    assert (row["ttft_mean_ms"], row["ttft_p99_ms"], row["jitter_ms"]) == (250, 500, 5)
    assert result(warehouse, "minutes")["ttft_p50_ms"] is None
    assert result(warehouse, "twice")["ttft_mean_ms"] is None and result(warehouse, "both_same")["ttft_mean_ms"] is not None
    found = warehouse.sql("select distinct raw_path, code from ingest_issue where code in ('unknown-metric', 'latency-stated-twice')").to_pylist()
    assert {(row["raw_path"], row["code"]) for row in found} == {("minutes.json", "unknown-metric"), ("twice.json", "latency-stated-twice")}


def test_an_impossible_duration_or_load_is_null(warehouse: Warehouse) -> None:
    (run,) = warehouse.sql("from benchmark_run_fact where run_id like '%/ended/%'").to_pylist()
    assert (run["duration_s"], run["started_at"]) == (None, None) and result(warehouse, "ended")["request_throughput_per_s"] == 1.6
    row = result(warehouse, "loadless")
    assert (row["concurrency_point"], row["request_rate_per_s"]) == (None, None)


def test_nothing_is_divided_by_a_number_of_accelerators_that_is_in_doubt(warehouse: Warehouse) -> None:
    keys = ("accelerator", "accelerator_count", "output_token_throughput_per_accelerator_per_s", "cost_per_request_usd", "cost_reason")
    assert [result(warehouse, "two_counts")[key] for key in keys[1:]] == [None, None, None, "accelerator-count-unknown"]
    row = result(warehouse, "two_names")
    assert (row["accelerator"], row["accelerator_count"], row["cost_per_request_usd"], row["cost_reason"]) == (None, 8, None, "accelerator-not-stated")
    for family in ("llm_d_report", "inference_perf"):
        found = warehouse.sql(f"select distinct accelerator_count, deployment_model from serving_results where family = '{family}'").to_pylist()
        assert found == [{"accelerator_count": None, "deployment_model": None}], family


# --- accelerators and their number


@pytest.mark.parametrize("size", [0, -8, 2.5, "eight", True, 1 << 40])
def test_an_impossible_size_leaves_the_accelerators_unknown_in_every_family(tmp_path: Path, size: object) -> None:
    vllm_rows = vllm(tmp_path / "vllm", tensor_parallel_size=size, hw="h100")
    assert (run_of(vllm_rows)["tensor_parallel"], run_of(vllm_rows)["accelerator_count"]) == (None, None)

    def aiperf(top: Path) -> None:
        of = genai_perf.measured(50)
        bench_serving.write(top / "profile_export_aiperf.json", genai_perf.aiperf_summary(of))
        bench_serving.write(top / "agg.json", genai_perf.inferencex_of(of) | {"tp": size, "pp": 2})

    aiperf_rows = rows("genai_perf", tmp_path / "aiperf", aiperf)
    (deployment,) = aiperf_rows["genai_perf_deployment"]
    assert (deployment["tensor_parallel"], deployment["accelerator_count"]) == (None, None)

    report = llm_d_report.new()
    report["scenario"]["stack"][0]["standardized"]["accelerator"]["count"] = size
    report["scenario"]["stack"][0]["standardized"]["accelerator"]["parallelism"] = {"tp": size}
    llm_d_rows = rows("llm_d_report", tmp_path / "llm-d", lambda top: llm_d_report.write(top, report, "json"))
    (engine,) = llm_d_rows["llm_d_report_engine"]
    assert (engine["tensor_parallel"], engine["accelerator_count"]) == (None, None)

    for found in (vllm_rows, aiperf_rows, llm_d_rows):
        assert {("not-a-size", "error"), ("not-a-number", "error")} & set(issues(found))


@pytest.mark.parametrize(
    ("stated", "accelerator", "code"),
    [
        ({"hw": "h100", "gpu": "NVIDIA B200"}, None, "accelerator-contradicted"),
        ({"gpu": "Foo 9000", "accelerator": "Bar 1"}, None, "accelerator-contradicted"),
        ({"gpu": "Foo 9000", "accelerator": "H100"}, None, "accelerator-contradicted"),
        ({"hw": "h100-cr_1", "gpu": "NVIDIA H100 80GB HBM3"}, "h100", None),
        ({"gpu": "H100 SXM", "accelerator": "h100"}, "H100 SXM", None),
        ({"gpu": "H100", "hardware": "PowerEdge XE9680"}, "H100", None),
        ({"gpu": "cuda", "accelerator": "H100"}, "H100", None),
        ({"gpu": "Foo-9000", "accelerator": "foo 9000"}, "Foo-9000", None),
    ],
)
def test_a_record_that_names_two_accelerators(tmp_path: Path, stated: dict[str, str], accelerator: str | None, code: str | None) -> None:
    found = vllm(tmp_path, **stated)
    assert run_of(found)["accelerator"] == accelerator
    assert issues(found) == ([(code, "warning")] if code else [])
    if code:
        assert all(name in found[ISSUE_TABLE][0]["message"] for name in stated.values())


@pytest.mark.parametrize(
    ("stated", "count", "severity"),
    [
        ({"num_gpus": 8, "tensor_parallel_size": 4, "data_parallel_size": 1, "pipeline_parallel_size": 1}, None, "warning"),
        ({"num_gpus": 8, "tensor_parallel_size": 3}, None, "warning"),
        ({"num_gpus": 8, "tensor_parallel_size": 4}, None, "note"),  # two replicas, or four that are idle
        ({"num_gpus": 8, "gpu": "4xH100"}, None, "warning"),
        ({"num_gpus": 8, "tensor_parallel_size": 4, "data_parallel_size": 2}, 8, None),
        ({"num_gpus": 8}, 8, None),
        ({"num_gpus": 8, "tp": 8, "dp": 8, "dp_attention": "true"}, 8, None),
    ],
)
def test_a_stated_number_of_accelerators_and_sizes(tmp_path: Path, stated: dict[str, Any], count: int | None, severity: str | None) -> None:
    found = vllm(tmp_path, **stated)
    assert run_of(found)["accelerator_count"] == count
    assert issues(found) == ([("accelerator-count-disagrees", severity)] if severity else [])


@pytest.mark.parametrize("number", [7.5, "eight", -1])
def test_an_impossible_number_of_accelerators(tmp_path: Path, number: object) -> None:
    found = vllm(tmp_path, num_gpus=number, tensor_parallel_size=4)
    assert run_of(found)["accelerator_count"] is None and issues(found) == [("not-a-size", "error")]


def test_a_size_that_two_keys_state_differently(tmp_path: Path) -> None:
    found = vllm(tmp_path, tp=4, tensor_parallel_size=8)
    assert (run_of(found)["tensor_parallel"], run_of(found)["accelerator_count"]) == (None, None)
    assert issues(found) == [("size-contradicted", "warning")]


def test_a_split_deployment(tmp_path: Path) -> None:
    for name, changes, code in (
        ("negative", {"num_decode_gpu": -8}, "not-a-size"), ("text", {"num_prefill_gpu": "eight"}, "not-a-number"),
        ("all", {"num_gpus": 12}, "accelerator-count-disagrees"),
    ):
        content = bench_serving.inferencex_agentic_record(**changes)
        found = rows("bench_serving", tmp_path / name, lambda top, content=content: bench_serving.write(top / "r.json", content))
        assert run_of(found)["accelerator_count"] is None and [issue for issue, _ in issues(found)] == [code], name
    content = bench_serving.inferencex_agentic_record(num_gpus=16)
    found = rows("bench_serving", tmp_path / "same", lambda top: bench_serving.write(top / "r.json", content))
    assert run_of(found)["accelerator_count"] == 16 and not issues(found)


@pytest.mark.parametrize(("disagg", "expected"), [(False, "2 x TP4 EP4"), (True, "prefill 2 x TP4 EP4"), (None, "prefill 2 x TP4 EP4")])
def test_servers_on_several_nodes_that_are_not_split(tmp_path: Path, disagg: bool | None, expected: str) -> None:
    """InferenceX names them prefill."""
    whole = {"decode_num_workers": 0, "decode_tp": 0, "decode_ep": 0, "decode_pp": 0, "num_decode_gpu": 0, "tp": 4}
    content = bench_serving.inferencex_agentic_record(nested=False, disagg=disagg, tput_per_gpu=1162.5, output_tput_per_gpu=37.5, **whole)
    found = rows("bench_serving", tmp_path, lambda top: bench_serving.write(top / "r.json", content))
    assert (run_of(found)["split_deployment"], run_of(found)["accelerator_count"]) == (expected, 8)
    assert not issues(found)


def test_the_accelerator_of_the_path_counts_and_a_size_of_the_record(tmp_path: Path) -> None:
    found = vllm(tmp_path, "h100_tp8/r.json", hw="b200", tp=4)
    run = run_of(found)
    assert (run["accelerator"], run["tensor_parallel"], run["accelerator_count"]) == ("H100", 4, 4)
    assert issues(found) == [("accelerator-mismatch", "warning"), ("size-mismatch", "warning")]
    assert not issues(vllm(tmp_path / "same", "h100_sxm_tp4/r.json", hw="h100", tp=4))


# --- rates, durations, loads


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"request_throughput": 16.0}, "error"), ({"request_throughput": 2.0}, "warning"), ({"request_throughput": 1.65}, "note"),
        ({"total_token_throughput": 1e6}, "error"),
        ({"request_throughput": 1.604}, None),  # 20 / 12.5 s, of which the last digit may be rounded
        ({"duration": "absent"}, None),
    ],
)
def test_a_rate_that_is_not_its_count_over_the_duration(tmp_path: Path, changes: dict[str, Any], expected: str | None) -> None:
    found = vllm(tmp_path, **changes)
    assert issues(found) == ([("rate-disagrees", expected)] if expected else [])
    (key,) = changes
    stated = {row["key"]: row["value_number"] for row in found["bench_serving_entry"]}
    assert changes[key] in ("absent", stated.get(key)), "what is stated stays"


def test_rates_of_the_other_families(tmp_path: Path) -> None:
    of = genai_perf.measured(20)

    def aiperf(**changes: Any) -> Write:
        content = genai_perf.aiperf_summary(of) | {"total_osl": {"unit": "tokens", "avg": 6000.0}, **changes}
        return lambda top: bench_serving.write(top / "profile_export_aiperf.json", content)

    def stage(**changes: Any) -> Write:
        def write(top: Path) -> None:
            path = inference_perf.write(top) / "batch-size/results/stage_0_lifecycle_metrics.json"
            path.write_text(json.dumps(json.loads(path.read_text()) | changes))

        return write

    cases: list[tuple[str, Write, bool]] = [
        ("genai_perf", aiperf(output_token_throughput={"unit": "tokens/sec", "avg": 100.0}), False),
        ("genai_perf", aiperf(output_token_throughput={"unit": "tokens/sec", "avg": 1.0}), True),
        ("genai_perf", aiperf(request_throughput={"unit": "requests/sec", "avg": 900.0}), True),
        ("inference_perf", stage(benchmark_time_seconds=1.6), False), ("inference_perf", stage(benchmark_time_seconds=100.0), True),
        ("llmperf", lambda top: llmperf.write(top, results_number_output_tokens_mean=70.0), False),
        ("llmperf", lambda top: llmperf.write(top, results_number_output_tokens_mean=700.0), True),
    ]
    for number, (name, write, is_issue) in enumerate(cases):
        found = rows(name, tmp_path / str(number), write)
        assert ("rate-disagrees" in {code for code, _ in issues(found)}) == is_issue, (number, name)


def test_a_total_is_the_sum_of_its_rates(tmp_path: Path) -> None:
    content = bench_serving.inferencex_agentic_record(nested=False, total_tput_tps=18_000.0, tput_per_gpu=1125.0)
    found = rows("bench_serving", tmp_path, lambda top: bench_serving.write(top / "r.json", content))
    assert issues(found) == [("rate-disagrees", "warning")]


@pytest.mark.parametrize(
    ("changes", "codes"),
    [
        ({"duration": 0}, ["impossible-duration"]), ({"duration": -1.5}, ["impossible-duration"]), ({"duration": float("nan")}, ["non-finite-number"]),
        ({"max_concurrency": -3}, ["impossible-concurrency"]), ({"max_concurrency": 2.5}, ["impossible-concurrency"]),
        ({"request_rate": 0}, ["impossible-request-rate"]), ({"total_output_tokens": -5}, ["impossible-count"]),
        ({"input_len": -5}, ["impossible-count"]), ({"conc": 4}, ["load-contradicted"]),
        ({"mean_e2el_ms": 1.0}, ["latency-contradicted"]),
        ({"p99_ttft_ms": float("inf")}, ["non-finite-number"]), ({"mean_itl_ms": -1.0}, ["negative-measurement"]),
        ({"ttft_p99_ms": 3.0}, ["unknown-metric"]), ({"output_throughput_per_min": 3.0}, ["unknown-metric"]),
    ],
)
def test_what_cannot_be_is_an_issue_and_no_number(tmp_path: Path, changes: dict[str, Any], codes: list[str]) -> None:
    found = vllm(tmp_path, **changes)
    assert [code for code, _ in issues(found)] == codes
    (key,) = changes
    if codes[0].startswith(("impossible", "non-finite", "negative")):
        (row,) = (row for row in found["bench_serving_entry"] if row["key"] == key and row["source"] == "result")
        assert row["value"] is not None and row["value_number"] is None
    if key in ("max_concurrency", "conc"):
        assert run_of(found)["max_concurrency"] is None


def test_loads_and_times_of_the_other_families(tmp_path: Path) -> None:
    def benchmarks(change: Callable[[dict[str, Any]], object]) -> Write:
        report = guidellm.report(2)
        change(report["benchmarks"][0])
        return lambda top: bench_serving.write(top / "any_name.json", report)

    def llm_d(report: dict[str, Any], path: tuple[str, ...], value: Any) -> Write:
        within = report
        for key in path[:-1]:
            within = within[key]
        within[path[-1]] = value
        return lambda top: llm_d_report.write(top, report, "json")

    def load(**stated: Any) -> Write:
        content = genai_perf.aiperf_summary(genai_perf.measured(9)) | {"input_config": {"endpoint": {"model_names": ["a"]}, "loadgen": stated}}
        return lambda top: bench_serving.write(top / "profile_export_aiperf.json", content)

    standardized = ("scenario", "load", "standardized")
    cases: list[tuple[str, str, Write]] = [
        ("guidellm", "impossible-request-rate", benchmarks(lambda one: one["config"]["strategy"].update(rate=0))),
        ("guidellm", "impossible-duration", benchmarks(lambda one: one.update(end_time=1.6e9))),
        ("guidellm", "unknown-metric", benchmarks(lambda one: one["metrics"].update(time_to_first_token_s=guidellm.distribution(1.0)))),
        ("llm_d_report", "impossible-concurrency", llm_d(llm_d_report.new(), (*standardized, "concurrency"), -1)),
        ("llm_d_report", "impossible-request-rate", llm_d(llm_d_report.new(), (*standardized, "rate_qps"), -1)),
        ("llm_d_report", "impossible-duration", llm_d(llm_d_report.old(), ("metrics", "time", "duration"), -1)),
        ("llm_d_report", "impossible-duration", llm_d(llm_d_report.old(), ("metrics", "time", "stop"), 1749570000.0)),
        ("genai_perf", "impossible-concurrency", load(concurrency=-4)), ("genai_perf", "impossible-request-rate", load(request_rate=0)),
        ("llmperf", "impossible-concurrency", lambda top: llmperf.write(top, num_concurrent_requests=-2)),
        ("llmperf", "unknown-metric", lambda top: llmperf.write(top, results_ttft_ms_mean=375.0)),
        ("llmperf", "latency-contradicted", lambda top: llmperf.write(top, [], results_end_to_end_latency_s_mean=0.01)),
    ]
    for number, (name, code, write) in enumerate(cases):
        found = rows(name, tmp_path / str(number), write)
        assert code in {issue for issue, _ in issues(found)}, (number, name, code)
        table, keys = {
            "guidellm": ("guidellm_benchmark", ("concurrency", "request_rate_per_s")), "genai_perf": ("genai_perf_point", ("concurrency", "request_rate_per_s")),
        }.get(name, ("", ()))
        assert all((row[key] or 1) > 0 for row in found.get(table, ()) for key in keys)
