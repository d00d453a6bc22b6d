"""What serving evidence does not prove is not stated: engines, systems, populations, tokens, loads of sessions, validity.

The files are made here in the formats of the clients; what a figure must be is worked out by hand from the requests.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import WhOn
from samples import bench_serving as sample
from samples import genai_perf, guidellm
from samples.bench_serving import Request
from standard import standard_project

from warehouse.api import Warehouse
from warehouse.evidence.objects.location import open_store
from warehouse.landing.ingest import ingest, plan_ingest
from warehouse.landing.registry import load_ingestors
from warehouse.landing.serving.session_loads import load_unit
from warehouse.transform.build.build import build

# Each second a request of 10 tokens with a first token after 100, 200, 300 and 400 ms, and two that are answered by nothing.
ANSWERED = [Request(0.1 * (index + 1), (0.01,) * 9, 10, 1000.0 + index) for index in range(4)]
EMPTY = [Request(0.0, (), 10, 1004.0 + index) for index in range(2)]
SERVER_LOG = "[2026-06-11 05:40:00] server_args=ServerArgs(model_path='/m/r1', tp_size=8, dp_size=1, disable_radix_cache=True)\n"
SETTINGS = "num-scheduler-step,qps,enable-chunked-prefill,filename"


def vllm(seed: int = 0, detailed: bool = False, **changes: Any) -> dict[str, Any]:
    return sample.vllm_record(sample.requests(20, seed), detailed, **changes)


def with_zeros() -> dict[str, Any]:
    """The client counts the empty answers as completed, and their missing times as zero."""
    record = sample.vllm_record([*ANSWERED, *EMPTY])
    ttfts = [request.ttft for request in (*ANSWERED, *EMPTY)]
    lengths = [10] * 4 + [0] * 2
    return record | {"output_lens": lengths} | {f"{name}_ttft_ms": value for name, value in sample.statistics(ttfts).items()}


def table(records: list[dict[str, Any]]) -> str:
    """A sweep's table as a spreadsheet saves it: rounded, empty where a record has null, with what was varied behind."""
    keys = [key for key in records[0] if key not in ("date", "backend", "endpoint_type", "label", "model_id", "tokenizer_id")]
    lines = [",".join([*keys, SETTINGS])]
    for number, record in enumerate(records):
        cells = ["" if record[key] is None else f"{record[key]:.10g}" if isinstance(record[key], float) else str(record[key]) for key in keys]
        name = f"vllm-{16 * (number + 1)}.0qps-Llama-3.1-405B-FP8-20241109-14{number}025"
        lines.append(",".join([*cells, str(8 * (number + 1)), str(16 * (number + 1)), "TRUE", name]))
    return "\n".join((*lines, ""))


def agent(session: int, turn: int, start_s: float, latency_s: float = 1.0) -> str:
    """AIPerf's record of a turn."""
    start = genai_perf.SENT + round(start_s * 1e9)
    record = {
        "metadata": {
            "x_correlation_id": f"s{session}", "turn_index": turn, "agent_depth": 0, "request_start_ns": start,
            "request_end_ns": start + round(latency_s * 1e9), "credit_issued_ns": start, "benchmark_phase": "profiling", "was_cancelled": False,
        },
        "metrics": {
            "request_latency": {"value": latency_s * 1e3, "unit": "ms"}, "time_to_first_token": {"value": 100.0, "unit": "ms"},
            "inter_token_latency": {"value": 10.0, "unit": "ms"}, "input_sequence_length": {"value": 10, "unit": "tokens"},
            "output_sequence_length": {"value": 91, "unit": "tokens"},
        },
    }
    return json.dumps(record) + "\n"


def write_agents(folder: Path) -> None:
    """Two sessions side by side, each of three turns of a second with pauses of four: two sessions are in flight, and 0.6 requests."""
    of = {name: [1000.0] * 6 if name == "request_latency" else values for name, values in genai_perf.measured(6).items()}
    summary = genai_perf.aiperf_summary(of) | {"request_throughput": {"unit": "requests/sec", "avg": 6 / 11}}
    summary["input_config"] = {"endpoint": {"model_names": ["acme/agent"]}, "loadgen": {"concurrency": 2}, "scenario": "agentic"}
    sample.write(folder / "profile_export_aiperf.json", summary)
    turns = [agent(session, turn, 5.0 * turn) for turn in range(3) for session in range(2)]
    (folder / "profile_export.jsonl").write_text("".join(turns))


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    tree = tmp_path_factory.mktemp("tree")
    sample.write(tree / "logged/served.json", vllm(1, backend="vllm"))
    sample.write(tree / "logged/server.log", SERVER_LOG)
    sample.write(tree / "unlogged/protocol.json", vllm(2, backend="vllm"))
    for number, load in enumerate((4, 8)):
        sample.write(tree / f"run_h200_conc{load}/r.json", vllm(3 + number, max_concurrency=load))
    for number, name in enumerate(("1p3d", "3p1d")):
        sample.write(tree / f"{name}_conc16.json", vllm(5 + number, max_concurrency=16))
        guidellm.write(tree / f"h100_{name}")
    for path, name in zip(sorted(tree.glob("h100_*/*.json")), ("a" * 8, "b" * 8), strict=True):
        path.write_text(path.read_text().replace(json.loads(path.read_text())["benchmarks"][0]["config"]["run_id"], name))
    rows = [vllm(7, request_rate=16), vllm(8, request_rate=32), vllm(9, request_rate=48)]
    sample.write(tree / "sweep/qps_output.csv", table(rows))
    sample.write(tree / "sweep/third.json", rows[2])
    sample.write(tree / "zeros.json", with_zeros())
    sample.write(tree / "retokenized.json", sample.sglang_record(sample.requests(10), False) | {
        "total_output_tokens": 10, "output_throughput": 10 / 1.3344381039496511, "total_output_tokens_retokenized": 10000,
    })
    sample.write(tree / "uncounted.json", vllm(11) | {"total_output_tokens": 0, "output_throughput": 0.0})
    sample.write(tree / "stripped.json", sample.sglang_record(sample.requests(12), False) | {"total_output_tokens_retokenized": 1})
    genai_perf.write(tree / "genai", genai_perf.summary(output_token_throughput={"unit": "tokens/sec", "avg": 0.0}))
    sample.write(tree / "agentic.json", sample.inferencex_agentic_record(nested=False))
    write_agents(tree / "agents")
    warehouse = Warehouse(standard_project(tmp_path_factory.mktemp("project") / "p"))
    ingest(plan_ingest(tree, load_ingestors(warehouse.project).values()), open_store(warehouse.project), "evidence")
    assert not build(warehouse.project).damaged
    return warehouse


def results(warehouse: Warehouse, name: str) -> list[dict[str, Any]]:
    return warehouse.sql(f"from serving_results where run_id like '%{name}%' order by run_id").to_pylist()


def issues(warehouse: Warehouse, name: str) -> list[tuple[str, str, str]]:
    found = warehouse.sql(f"select code, severity, message from ingest_issue where run_id like '%{name}%' order by all").to_pylist()
    return [(row["code"], row["severity"], row["message"]) for row in found]


def test_the_engine_is_what_the_server_says_and_the_backend_is_the_clients_protocol(warehouse: Warehouse) -> None:
    (logged,), (unlogged,) = results(warehouse, "served"), results(warehouse, "protocol")
    assert (logged["framework"], logged["tensor_parallel_size"], logged["is_prefix_caching_enabled"]) == ("sglang", 8, False)
    assert unlogged["framework"] is None
    (run,) = warehouse.sql("select workload_document from workload_dim where workload_spec_digest = "
                           "(select workload_spec_digest from benchmark_run_fact where run_id like '%protocol%')").to_pylist()
    assert json.loads(run["workload_document"])["protocol"] == "vllm"


def test_a_folder_that_names_a_load_names_no_system(warehouse: Warehouse) -> None:
    found = warehouse.sql("from mart.serving_curve where run_id like '%run_h200%' order by load").to_pylist()
    assert [(row["load"], row["accelerator"]) for row in found] == [(4, "H200"), (8, "H200")]
    assert len({row["curve_key"] for row in found}) == 1
    (hardware,) = warehouse.sql("from hardware_topology_dim where gpu_model = 'H200'").to_pylist()
    assert hardware["system_name"] is None


def test_topologies_in_names_keep_runs_apart_for_every_tool(warehouse: Warehouse) -> None:
    for name in ("conc16", "guidellm"):
        found = warehouse.sql(f"from mart.serving_curve where run_id like '%{name}%' order by deployment_model").to_pylist()
        assert {row["deployment_model"] for row in found} == {"1P3D", "3P1D"}, name
        keys = warehouse.sql(f"select comparable_key from mart.measurement where run_id like '%{name}%' and metric = 'ttft_mean_ms'").to_pylist()
        assert len({row["comparable_key"] for row in keys}) == len(keys) > 1
        assert {(row["accelerator"], row["accelerator_count"]) for row in found} == {("H100" if name == "guidellm" else None, None)}


def test_the_rows_of_a_sweeps_table_are_runs_unless_files_have_them(warehouse: Warehouse) -> None:
    found = results(warehouse, "qps_output")
    expected = [vllm(7), vllm(8)]  # the third row is a file
    assert [row["request_rate_per_s"] for row in found] == [16, 32]
    assert [row["model"] for row in found] == ["Llama-3.1-405B-FP8"] * 2
    for row, record in zip(found, expected, strict=True):
        assert row["ttft_p99_ms"] == pytest.approx(record["p99_ttft_ms"], rel=1e-9)
        assert row["output_token_throughput_per_s"] == pytest.approx(record["output_throughput"], rel=1e-9)
    assert [row["server_flags"] for row in found] == [f"--enable-chunked-prefill=true --num-scheduler-step={steps}" for steps in (8, 16)]
    assert len(results(warehouse, "third")) == 1


def test_the_statistics_of_a_row_are_of_the_same_requests(warehouse: Warehouse) -> None:
    (row,) = results(warehouse, "zeros")
    assert [row[f"ttft_{name}_ms"] for name in ("mean", "p50", "p90")] == pytest.approx([250, 250, 370])
    stated = json.loads(row["stated_latencies"])
    assert (stated["ttft_mean_ms"], stated["ttft_p50_ms"]) == (pytest.approx(1000 / 6), pytest.approx(150))
    (point,) = warehouse.sql("select contradiction_count from mart.serving_curve where run_id like '%zeros%'").to_pylist()
    assert point["contradiction_count"] > 0
    (honest,) = results(warehouse, "served")
    assert honest["stated_latencies"] is None


def test_tokens_counted_twice_and_zeros_that_are_contradicted_are_null(warehouse: Warehouse) -> None:
    for name, code, said in (
        ("retokenized", "count-stated-twice", ("total_output_tokens is 10,", "total_output_tokens_retokenized is 10000")),
        ("uncounted", "zero-contradicted", ("total_output_tokens is 0,", "mean_tpot_ms is")),
        ("genai-perf", "zero-contradicted", ("output_token_throughput/avg is 0.0,", "inter_token_latency/avg is 11000.0")),
    ):
        (row,) = [each for each in results(warehouse, name) if "agent" not in (each["model"] or "")]
        assert (row["output_token_throughput_per_s"], row["total_token_throughput_per_s"]) == (None, None), name
        assert row["ttft_mean_ms"] > 0
        (issue,) = [each for each in issues(warehouse, name) if each[0] == code]
        assert issue[1] == "error" and all(words in issue[2] for words in said), name


def test_a_text_without_special_tokens_takes_no_count_away(warehouse: Warehouse) -> None:
    (row,) = results(warehouse, "stripped")
    assert row["output_token_throughput_per_s"] > 0 and row["tpot_mean_ms"] > 0
    assert [(code, severity) for code, severity, _ in issues(warehouse, "stripped")] == [("count-stated-twice", "warning")]


def test_a_load_of_sessions_is_measured_in_sessions(warehouse: Warehouse) -> None:
    """Each session takes 11 s of 11: two are in flight, although only 6/11 requests are."""
    found = warehouse.sql("from mart.serving_curve where load_unit = 'sessions' order by load").to_pylist()
    assert [row["load"] for row in found] == [2, 48]
    assert [row["littles_law_residual"] for row in found] == [pytest.approx(0), None]
    points = {point.load: point for point in warehouse.validity("load_unit=sessions").points}
    assert not {"in-flight", "littles-law"} & {each.rule.id for point in points.values() for each in point.against}
    assert {"in-flight", "littles-law"} <= {each.rule.id for each in points[2].holding}
    assert {"in-flight", "littles-law"} <= {each.rule.id for each in points[48].silent}


@pytest.mark.parametrize(("key", "value", "is_session"), [
    ("input/conversation/turn/mean", 3, True), ("input/conversation/turn/mean", 1, False), ("data", "prompt_tokens=256,turns=4", True),
    ("data/shared_prefix/enable_multi_turn_chat", "true", True), ("load_pattern", "agentic_inference", True), ("gsp_num_turns", "2", True),
    ("dataset_name", "random", False), ("data", "prompt_tokens=256,output_tokens=3", False), ("turn_delay_mean", 5, False),
])
def test_which_configurations_ask_for_sessions(key: str, value: Any, is_session: bool) -> None:
    assert bool(load_unit([(key, value)])) is is_session


def test_accuracy_is_no_verdict_on_speed_and_each_rule_says_what_would_prove_it(warehouse: Warehouse, wh_on: WhOn) -> None:
    status, out, _ = wh_on(warehouse.project, "validity", "--where", "run_id=*protocol*", "--json")
    (point,) = json.loads(out)["points"]
    rules = {rule["id"]: rule for rule in point["rules"]}
    assert status == 0 and point["verdict"] == "invalid" and {rule["state"] for rule in rules.values()} == {"holds", "fails", "no evidence"}
    assert (rules["accuracy"]["subject"], rules["accuracy"]["state"]) == ("accuracy", "no evidence")
    assert rules["steady"]["state"] == "no evidence" and "--save-detailed" in rules["steady"]["record"]
    assert rules["contradictions"]["state"] == "no evidence"  # a summary has no requests that could contradict it
    _, _, err = wh_on(warehouse.project, "validity")
    assert "accuracy was not measured" in err and "that is no verdict on speed" in err


def test_publish_and_lineage_show_the_validity_of_each_run(warehouse: Warehouse, wh_on: WhOn) -> None:
    status, out, err = wh_on(warehouse.project, "publish", "serving_results", "-v")
    assert status == 0 and "runs and loads by policy serving 3" in err and "record for" in err and "fails in-flight" in err
    (run,) = [row["run_id"] for row in results(warehouse, "protocol")]
    status, out, _ = wh_on(warehouse.project, "lineage", f"serving_results[run_id={run}].ttft_p50_ms", "--json")
    (point,) = json.loads(out)["validity"]["points"]
    assert status == 0 and (point["run_id"], point["verdict"], json.loads(out)["publication"] is not None) == (run, "invalid", True)
    _, out, _ = wh_on(warehouse.project, "lineage", f"serving_results[run_id={run}].ttft_p50_ms", "--full")
    assert f"invalid  concurrency 10  {run}: fails in-flight" in out and "no evidence for" in out


def test_the_latencies_of_each_turn_of_a_session(warehouse: Warehouse) -> None:
    turns = warehouse.sql(
        "select turn_index, count(distinct session) as sessions, median(e2e_ms) as e2e_ms from request_fact where turn_index is not null group by all order by all"
    ).to_pylist()
    assert [(row["turn_index"], row["sessions"], row["e2e_ms"]) for row in turns] == [(turn, 2, 1000) for turn in range(3)]
