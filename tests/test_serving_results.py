"""From result files to serving_outcome_fact, request_fact and serving_results: units, failures, cost, and back to the bytes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from exhaustive import few
from samples import bench_serving as sample
from standard import standard_project

from warehouse.api import Warehouse
from warehouse.evidence.objects.location import open_store
from warehouse.landing.ingest import ingest, plan_ingest
from warehouse.landing.registry import load_ingestors
from warehouse.transform.build.build import build

GOOD = sample.requests(40)
PARTLY = [*sample.requests(30, 3), sample.FAILED, sample.FAILED]
PRICES = """\
accelerator,unit,price_usd_per_hour,effective_date,source,provider,accelerators
H100-SXM,accelerator_hour,2.5,2026-01-01,list,runpod,
H100-SXM,accelerator_hour,2.0,2026-04-01,list,runpod,
H100-SXM,accelerator_hour,9.0,2026-12-01,list,runpod,
nvidia b200,instance_hour,40,2026-01-01,list,x,8
A100,accelerator_hour,1,2026-01-01,list,x,
A100,accelerator_hour,2,2026-01-01,list,y,
L40S,accelerator_hour,0.7,2027-01-01,list,x,
H200,accelerator_hour,3.6,2020-01-01,list,x,
"""


# What vLLM states of speculative decoding: a rate in percent, and 1 + accepted / drafts.
DRAFTED = {
    "spec_decode_acceptance_rate": 60.0, "spec_decode_acceptance_length": 2.8, "spec_decode_num_drafts": 100, "spec_decode_draft_tokens": 300,
    "spec_decode_accepted_tokens": 180,
}
# As InferenceX's monitor writes it: from before the run, which took 12.5 s to 08:57:15, to after it.
GPU_METRICS = "timestamp, index, power.draw [W], temperature.gpu\n" + "".join(
    f"2026/04/10 08:{56 + second // 60}:{second % 60:02}.000, {gpu}, {300 + 10 * gpu if 61 < second <= 75 else 70}.00 W, 40\n"
    for second in range(50, 91) for gpu in (0, 1)
)


def add(warehouse: Warehouse, path: Path) -> None:
    report = ingest(
        plan_ingest(path, load_ingestors(warehouse.project).values()), open_store(warehouse.project), "test"
    )
    assert not report.problems and {bundle.family for bundle in report.bundles} <= {"bench_serving", "nvidia_smi_csv", "prices", "unrecognised"}
    assert not build(warehouse.project).damaged


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    """Runs first, prices later."""
    tree = tmp_path_factory.mktemp("tree")
    failed = sample.vllm_record([sample.FAILED] * 5, detailed=False)
    sample.write(tree / "pod_h100sxm/M/all_TP4_DP2_in100_out20.json", sample.vllm_record(GOOD))
    sample.write(tree / "pod_h100sxm/M/part_TP4_DP2.json", sample.vllm_record(PARTLY, request_rate=4.0, max_concurrency=None, **DRAFTED))
    sample.write(tree / "pod_b200/M/none_TP8.json", failed)
    sample.write(tree / "pod_b200/M/all_TP8.json", sample.vllm_record(GOOD, detailed=False))
    sample.write(tree / "pod_a100/M/ambiguous_tp2.json", sample.vllm_record(GOOD, detailed=False))
    (tree / "pod_a100/M/gpu_metrics.csv").write_text(GPU_METRICS)
    sample.write(tree / "pod_l40s/M/later_tp2.json", sample.vllm_record(GOOD, detailed=False))
    sample.write(tree / "no_model/M/unknown.json", sample.vllm_record(GOOD, detailed=False))
    sample.write(tree / "sgl_h100/a_tp4_dp2.jsonl", sample.sglang_record(GOOD, accept_length=2.5))
    sample.write(tree / "ix/ix_tep8_isl1024_osl128_conc16.json", sample.inferencex_record())
    sample.write(tree / "ix/agg_x.json", sample.inferencex_agg_record())
    sample.write(tree / "ix/agg_split.json", sample.inferencex_split_record())
    unlike = {"prefill_hw": "h200-nb_1", "decode_hw": "b200-dgxc_2"}
    invalid = {key: value for key, value in sample.inferencex_split_record(**unlike).items() if not key.endswith(("_w", "_j", "_token", "_query"))}
    sample.write(tree / "ix/agg_unlike.json", invalid | {"power_valid": 0})
    sample.write(tree / "ix/agg_averaged.json", sample.inferencex_agg_record(avg_power_w=600.0, joules_per_output_token=3.0))
    sample.write(tree / "ix/agentic_nested.json", sample.inferencex_agentic_record())
    sample.write(tree / "ix/agentic_flat.json", sample.inferencex_agentic_record(nested=False))
    sample.write(tree / "embed/pooling.json", sample.pooling_record(PARTLY))
    sample.write(tree / "embed/silent.jsonl", sample.embedding_record(GOOD))
    sample.write_sweep(tree / "sweep")
    warehouse = Warehouse(standard_project(tmp_path_factory.mktemp("project") / "p"))
    add(warehouse, tree)
    assert warehouse.sql("select count(cost_per_request_usd) as n from serving_outcome_fact").to_pylist() == [{"n": 0}]
    sample.write(tree.parent / f"{tree.name}-prices/prices.csv", PRICES)
    add(warehouse, tree.parent / f"{tree.name}-prices")
    return warehouse


def outcome(warehouse: Warehouse, name: str, table: str = "rollup.serving_results") -> dict[str, Any]:
    (row,) = warehouse.sql(f"from {table} where run_id like '%/{name}/%'").to_pylist()
    return row


def test_a_detailed_run(warehouse: Warehouse) -> None:
    row = outcome(warehouse, "all_TP4_DP2_in100_out20", "serving_outcome_fact")
    for metric, seconds in sample.measures(GOOD).items():
        name = {"e2el": "e2e"}.get(metric, metric)
        for statistic, value in sample.statistics(seconds, (90, 95, 99)).items():
            if statistic != "std":
                column = f"{name}_{'p50' if statistic == 'median' else statistic}_ms"
                assert row[column] == pytest.approx(value, rel=1e-12), column
    assert row["jitter_ms"] == pytest.approx(np.std(sample.measures(GOOD)["itl"]) * 1e3, rel=1e-12)
    assert (row["workload_point"], row["concurrency_point"], row["request_rate_per_s"]) == ("isl100/osl20", 10, None)
    assert (row["completed_count"], row["failed_count"], row["error_rate"]) == (40, 0, 0)
    assert (row["deployment_model"], row["request_throughput_per_s"]) == ("TP4 DP2", 40 / 12.5)


def test_some_requests_failed(warehouse: Warehouse) -> None:
    row = outcome(warehouse, "part_TP4_DP2")
    assert (row["completed_count"], row["failed_count"], row["error_rate"]) == (30, 2, 2 / 32)
    assert (row["concurrency_point"], row["request_rate_per_s"], row["status"]) == (None, 4.0, "succeeded")
    requests = warehouse.sql("from request_fact where run_id like '%part_TP4%' order by request_index").to_pylist()
    assert [request["status"] for request in requests] == ["succeeded"] * 30 + ["failed"] * 2
    assert requests[3]["ttft_ms"] == pytest.approx(PARTLY[3].ttft * 1e3)
    assert requests[31]["error"] == "Connection refused" and requests[31]["ttft_ms"] is None
    assert {request["request_rate_per_s"] for request in requests} == {4.0}


def test_all_requests_failed(warehouse: Warehouse) -> None:
    row = outcome(warehouse, "none_TP8", "serving_outcome_fact")
    measured = {name: value for name, value in row.items() if name.endswith(("_ms", "_per_s", "_usd")) and value is not None}
    assert measured == {}
    assert (row["completed_count"], row["failed_count"], row["error_rate"]) == (0, 5, 1.0)
    run = outcome(warehouse, "none_TP8", "benchmark_run_fact")
    assert (run["status"], run["status_reason"], run["is_zone_assumed"]) == ("failed", "completed 0, failed 5", True)


def test_what_failed_in_a_sweep_is_a_run_without_numbers(warehouse: Warehouse) -> None:
    run, row = (outcome(warehouse, "run=1.failure", table) for table in ("benchmark_run_fact", "serving_outcome_fact"))
    assert (run["status"], run["status_reason"], run["repeat_index"]) == ("failed", "RuntimeError: Benchmark exited with code 1", 2)
    assert (row["concurrency_point"], row["completed_count"], row["error_rate"], row["ttft_mean_ms"]) == (2, None, None, None)
    assert outcome(warehouse, "run=1.failure", "serving_configuration_fact")["server_flags"] == "--max-num-seqs=4"
    assert outcome(warehouse, "SERVE-max-num-seqs=4096-failure", "benchmark_run_fact")["status"] == "failed"
    measured = sample.measures(sample.requests(8, 2))["ttft"]
    assert outcome(warehouse, "run=2", "serving_outcome_fact")["ttft_mean_ms"] == pytest.approx(np.mean(measured) * 1e3)


def test_sglang_counts_no_failures_but_its_requests_do(warehouse: Warehouse) -> None:
    row = outcome(warehouse, "a_tp4_dp2")
    assert (row["failed_count"], row["error_rate"]) == (0, 0)
    assert (row["framework"], row["framework_version"], row["accelerator_count"]) == ("sglang", "0.5.9", 8)
    assert row["e2e_p90_ms"] == pytest.approx(np.percentile(sample.measures(GOOD)["e2el"], 90) * 1e3)


def test_telemetry_beside_a_run_is_joined_to_it_by_time(warehouse: Warehouse) -> None:
    (run,) = warehouse.sql("select run_id from benchmark_run_fact where run_id like '%/ambiguous_tp2/%'").to_pylist()
    rows = warehouse.sql("from telemetry_slice_fact where metric = 'gpu_power_w' and window_kind = 'run' order by scope_name").to_pylist()
    assert {row["run_id"] for row in rows} == {run["run_id"]}
    assert [(row["value_mean"], row["join_method"], row["join_confidence"], row["is_ambiguous"]) for row in rows] == [
        (300, "beside", "place", False), (310, "beside", "place", False),
    ]


def test_acceptance_of_speculative_decoding(warehouse: Warehouse) -> None:
    rows = [outcome(warehouse, name, "serving_outcome_fact") for name in ("part_TP4_DP2", "a_tp4_dp2", "all_TP8")]
    found = [(row["speculative_acceptance_pct"], row["speculative_acceptance_length"]) for row in rows]
    assert found == [(60, 2.8), (None, 2.5), (None, None)]


def test_inferencex_states_seconds(warehouse: Warehouse) -> None:
    row = outcome(warehouse, "ix_tep8_isl1024_osl128_conc16")
    assert (row["ttft_p50_ms"], row["ttft_p99_ms"], row["e2e_p99_ms"], row["tpot_p50_ms"]) == (450, 1100, 5600, 28)
    assert (row["ttft_mean_ms"], row["itl_p50_ms"], row["jitter_ms"], row["error_rate"]) == (None, None, None, 0)
    assert (row["total_token_throughput_per_s"], row["deployment_model"]) == (4608, "TP8 EP8")


def test_inferencex_own_record_states_throughput_per_accelerator(warehouse: Warehouse) -> None:
    row = outcome(warehouse, "agg_x")
    assert (row["total_token_throughput_per_s"], row["output_token_throughput_per_s"]) == (12000, 10400)
    assert (row["ttft_mean_ms"], row["ttft_p99_ms"], row["jitter_ms"], row["status"]) == (250, 900, 4, "succeeded")
    assert (row["accelerator"], row["accelerator_count"], row["framework_version"]) == ("h200", 8, "0.11.0")


def test_inferencex_states_the_power_of_its_accelerators(warehouse: Warehouse) -> None:
    row = outcome(warehouse, "agg_split", "serving_outcome_fact")
    assert (row["accelerator_power_w"], row["accelerator_energy_per_output_token_j"], row["power_w"]) == (16000, 2.5, None)
    assert row["deployment_model"] == "prefill 2 x TP4 PP1 EP4 PCP2, decode 1 x TP16 PP1 EP16"
    assert (row["output_token_throughput_per_s"], row["total_token_throughput_per_s"]) == (6400, 12800)
    assert outcome(warehouse, "agg_split")["accelerator_count"] == 32
    # Not valid, or of a version that averaged readings and did not say whether they are complete.
    for name in ("agg_unlike", "agg_averaged", "agg_x"):
        row = outcome(warehouse, name, "serving_outcome_fact")
        assert (row["accelerator_power_w"], row["accelerator_energy_per_output_token_j"]) == (None, None)
    measured = warehouse.sql("select metric, value, unit, better from mart.measurement where metric like 'accelerator_%' order by all").to_pylist()
    assert measured == [
        {"metric": "accelerator_energy_per_output_token_j", "value": 2.5, "unit": "J", "better": "lower"},
        {"metric": "accelerator_power_w", "value": 16000.0, "unit": "W", "better": "lower"},
    ]


def test_prefill_and_decode_on_different_accelerators(warehouse: Warehouse) -> None:
    row = outcome(warehouse, "agg_unlike")
    assert (row["accelerator"], row["accelerator_name"], row["accelerator_count"]) == ("h200, b200", None, 32)
    # The sum over roles: 16 H200 at 3.6 and 16 B200 at an eighth of 40, for 16 * 400 output tokens each second.
    assert row["cost_per_token_usd"] == pytest.approx((16 * 3.6 + 16 * 40 / 8) / 3600 / 6400)


@pytest.mark.parametrize("name", ["agentic_nested", "agentic_flat"])
def test_what_inferencex_calls_itl_of_an_agentic_run_is_one_value_a_request(warehouse: Warehouse, name: str) -> None:
    row = outcome(warehouse, name, "serving_outcome_fact")
    assert (row["ttft_mean_ms"], row["ttft_p95_ms"], row["e2e_p90_ms"], row["tpot_mean_ms"], row["tpot_p90_ms"]) == (1500, 3000, 62500, 20, 30)
    assert (row["itl_mean_ms"], row["itl_p95_ms"], row["jitter_ms"]) == (None, None, None)
    assert (row["completed_count"], row["failed_count"], row["workload_point"], row["concurrency_point"]) == (480, 20, "agentic-coding", 48)
    assert (row["output_token_throughput_per_s"], row["total_token_throughput_per_s"]) == (300, 9300)
    assert row["deployment_model"] == ("prefill 2 x TP4 EP4, decode 1 x TP8 PP1 EP1")
    assert outcome(warehouse, name)["accelerator_count"] == 16
    run = outcome(warehouse, name, "benchmark_run_fact")
    assert (run["status"], run["duration_s"]) == ("succeeded", 600)


@pytest.mark.parametrize(("name", "completed", "failed"), [("pooling", 30, 2), ("silent", 40, 0)])
def test_requests_that_bring_no_tokens_succeed_where_the_record_counts_them(
    warehouse: Warehouse, name: str, completed: int, failed: int
) -> None:
    row = outcome(warehouse, name, "serving_outcome_fact")
    assert (row["completed_count"], row["failed_count"], row["error_rate"]) == (completed, failed, failed / (completed + failed))
    assert (row["ttft_mean_ms"], row["tpot_mean_ms"], row["itl_p99_ms"], row["jitter_ms"]) == (None, None, None, None)
    of = PARTLY if failed else GOOD
    assert row["e2e_p99_ms"] == pytest.approx(np.percentile(sample.measures(of)["e2el"], 99) * 1e3)
    requests = warehouse.sql(f"from request_fact where run_id like '%/{name}/%' order by request_index").to_pylist()
    assert [request["status"] for request in requests] == ["succeeded"] * completed + ["failed"] * failed
    assert [request["input_token_count"] for request in requests] == [request.input_length for request in of]
    assert {request["ttft_ms"] for request in requests} == {request["e2e_ms"] for request in requests} == {None}


@pytest.mark.parametrize(
    ("name", "usd_per_hour", "reason"),
    [
        ("all_TP4_DP2_in100_out20", 8 * 2.0, None),  # the latest price on the day or before
        ("all_TP8", 8 * 40 / 8, None),  # eight parts of a machine of eight
        ("ambiguous_tp2", None, "prices-differ"),  # two providers, two prices
        ("later_tp2", None, "no-price-by-then"),
        ("unknown", None, "accelerator-not-stated"),
        ("none_TP8", None, "no-throughput"),  # nothing was completed
    ],
)
def test_cost(warehouse: Warehouse, name: str, usd_per_hour: float | None, reason: str | None) -> None:
    row = outcome(warehouse, name)
    assert row["cost_reason"] == reason
    if usd_per_hour is None:
        assert (row["cost_per_request_usd"], row["cost_per_token_usd"]) == (None, None)
    else:
        # The price of the measured time over what was completed in it, from the sample's own numbers.
        spent = usd_per_hour / 3600 * 12.5
        assert row["cost_per_request_usd"] == pytest.approx(spent / 40)
        assert row["cost_per_token_usd"] == pytest.approx(spent / sum(request.output_length for request in GOOD))


def test_the_only_price_is_that_of_a_run_without_a_date(warehouse: Warehouse) -> None:
    assert outcome(warehouse, "agg_x")["cost_per_token_usd"] == pytest.approx(8 * 3.6 / 3600 / 10400)
    assert outcome(warehouse, "agg_x")["cost_per_request_usd"] is None  # it states no requests
    assert outcome(warehouse, "agg_x")["cost_reason"] == "no-request-throughput"


def test_a_number_walks_back_to_the_bytes_that_state_it(warehouse: Warehouse) -> None:
    row = outcome(warehouse, "all_TP4_DP2_in100_out20")
    (file,) = warehouse.raw_bytes(row["number_ids"]["ttft_p99_ms"])
    (window,) = file.windows
    stated = sample.statistics(sample.measures(GOOD)["ttft"])["p99"]
    assert window.data == f'"p99_ttft_ms": {stated!r}'.encode()


def test_cost_walks_back_to_the_price(warehouse: Warehouse) -> None:
    row = outcome(warehouse, "all_TP4_DP2_in100_out20")
    found = warehouse.lineage(row["number_ids"]["cost_per_request_usd"])
    lines = PRICES.splitlines(keepends=True)
    priced = {file.raw_path: file.ranges for file in found.raw_files if file.raw_path == "prices.csv"}
    start = sum(map(len, lines[:2]))
    assert [tuple(place) for place in priced["prices.csv"]] == [(start, len(lines[2]) - 1)]
    assert warehouse.verify(row["number_ids"]["cost_per_request_usd"]).state == "verified"


@pytest.mark.parametrize("column", few(["accelerator_name", "accelerator_form_factor", "cost_reason"], 1))
def test_the_accelerator_rests_on_the_text_of_its_own_run(warehouse: Warehouse, column: str) -> None:
    row = outcome(warehouse, "part_TP4_DP2" if column != "cost_reason" else "later_tp2")
    found = warehouse.lineage(row["number_ids"][column])
    assert [run["run_id"] for run in found.runs] == [row["run_id"]]
    assert {file.raw_path.rpartition("/")[2] for file in found.raw_files} <= {row["run_id"].split("/")[-2] + ".json", "prices.csv"}
    assert warehouse.verify(row["number_ids"][column]).state == "verified"


def test_every_metric_of_serving_is_defined(warehouse: Warehouse) -> None:
    defined = {row["metric"] for row in warehouse.sql("select metric from metric_definition_dim").to_pylist()}
    assert {"ttft_*_ms", "tpot_*_ms", "itl_*_ms", "e2e_*_ms", "jitter_ms", "error_rate", "cost_per_token_usd"} <= defined
