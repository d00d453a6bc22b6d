"""genai-perf, AIPerf and the raw export: what belongs together, units as stated, times to the last digit."""

from __future__ import annotations

import json
import math
import statistics
from pathlib import Path
from typing import Any

import pytest
from landed import ISSUE_TABLE, Subject, codes, place
from samples.genai_perf import (
    CSV,
    FOLDER,
    MEASURED,
    SENT,
    SYNTHETIC,
    WARM_UP,
    aiperf_of_phases,
    raw_request,
    summary,
    write,
    write_aiperf,
    write_repeats,
)
from standard import standard_project

from warehouse.api import Warehouse
from warehouse.evidence.objects.location import open_store
from warehouse.evidence.tree import list_tree
from warehouse.landing.contract import Unclaimed
from warehouse.landing.ingest import ingest, plan_ingest
from warehouse.landing.readers import json_records
from warehouse.landing.registry import load_ingestors
from warehouse.transform.build.build import build

GENAI_PERF = Subject("genai_perf")


def test_summary_csv_and_raw_export_are_one_run(tmp_path: Path) -> None:
    (draft,) = GENAI_PERF.drafts(write(tmp_path / "tree"))
    assert {file.raw_path: file.role for file in draft.files} == {
        f"{FOLDER}/200_50.json": "raw", f"{FOLDER}/profile_export_genai_perf.json": "summary",
        f"{FOLDER}/profile_export_genai_perf.csv": "csv",
    }


def test_first_content_and_last_response(tmp_path: Path) -> None:
    rows = GENAI_PERF.rows(write(tmp_path / "tree"), tmp_path / "stored")
    assert codes(rows) == {}
    for index, row in enumerate(rows["genai_perf_request"]):
        assert json.loads(place(row, tmp_path / "stored")) == raw_request(index)
        assert row["first_content_ns"] - row["timestamp_ns"] == 30_000_000 + index
        assert row["last_response_ns"] - row["timestamp_ns"] == 90_000_000 + index
        assert (row["response_gaps"], row["prompt_tokens"], row["completion_tokens"]) == (1, 11, 4)
    (point,) = rows["genai_perf_point"]
    assert (point["concurrency"], point["request_rate_per_s"], point["has_summary"]) == (2, None, True)
    (run,) = rows["genai_perf_run"]
    assert run["tool"] == "genai-perf" and json.loads(run["workload_document"]) == {
        "tool": "genai-perf", "model": "acme/7b", "endpoint_type": "chat", "streaming": "true", "isl": 200, "osl": 50,
        "concurrency": 2, "extra_inputs": {"ignore_eos": "true"},
    }


def test_the_csv_is_no_source_beside_the_json_and_is_one_alone(tmp_path: Path) -> None:
    tree = write(tmp_path / "tree")
    both = GENAI_PERF.rows(tree, tmp_path / "stored")
    assert all(row["raw_path"].endswith(".json") for row in both["genai_perf_entry"])
    (tree / FOLDER / "profile_export_genai_perf.json").unlink()
    (tree / FOLDER / "profile_export_genai_perf.csv").write_text(CSV)
    rows = GENAI_PERF.rows(tree, tmp_path / "alone")
    found = {row["key"]: row["value_number"] for row in rows["genai_perf_entry"] if not row["key"].endswith("/unit")}
    assert found == {
        "time_to_first_token/avg": 30.0, "time_to_first_token/p99": 31.5, "request_latency/avg": 1090.0,
        "request_latency/p99": None, "request_throughput/avg": 1.5,
    }
    assert codes(rows) == {"aggregate-disagrees": 2}  # 31.50 and 1,090.00 are not the 30 and 90 of the requests


def test_a_table_of_gpus_is_told_and_is_no_statistic_of_the_run(tmp_path: Path) -> None:
    gpus = "\n\nEndpoint,GPU_Index,GPU_Name,GPU_UUID,Metric,avg,p99\nhost:9400,0,H100,GPU-1,GPU Power Usage (W),612.50,700.00\n"
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "profile_export_aiperf.csv").write_text(CSV + gpus)
    rows = GENAI_PERF.rows(tmp_path / "tree", tmp_path / "stored")
    assert codes(rows) == {"table-not-read": 1} and rows[ISSUE_TABLE][0]["line_number"] == 9
    assert {row["key"].partition("/")[0] for row in rows["genai_perf_entry"]} == {
        "time_to_first_token", "request_latency", "request_throughput",
    }


def test_a_statistic_that_is_not_that_of_the_requests(tmp_path: Path) -> None:
    tree = write(tmp_path / "tree", summary(time_to_first_token={"unit": "ms", "avg": 10.5, "p50": 30.0000005}))
    (issue,) = GENAI_PERF.rows(tree, tmp_path / "stored")[ISSUE_TABLE]
    assert issue["code"] == "aggregate-disagrees" and "10.5" in issue["message"] and "30.0000005" in issue["message"]
    assert place(issue, tmp_path / "stored") == b'"avg": 10.5'


@pytest.mark.parametrize("statistic", [{"unit": "fortnights", "avg": 1.0}, {"avg": 1.0}])
def test_a_unit_that_is_not_known_is_told(tmp_path: Path, statistic: dict[str, Any]) -> None:
    rows = GENAI_PERF.rows(write(tmp_path / "tree", summary(request_latency=statistic)), tmp_path / "stored")
    assert codes(rows) == {"unknown-unit": 1}


def test_aiperf_records(tmp_path: Path) -> None:
    folder = write_aiperf(tmp_path / "tree")
    with (folder / "profile_export.jsonl").open("a") as file:
        file.write("{\n")
    (draft,) = GENAI_PERF.drafts(folder)
    rows = GENAI_PERF.parsed(GENAI_PERF.stored(draft, tmp_path / "stored"))
    whole, broken = rows["genai_perf_record"]
    assert (whole["time_to_first_token_ms"], whole["request_latency_ms"], whole["output_sequence_length"]) == (250.0, 300.5, 9)
    assert (broken["error_type"], broken["error_message"], broken["request_latency_ms"]) == ("RequestCancellationError", "cancelled", None)
    assert codes(rows) == {"malformed-json": 1} and rows[ISSUE_TABLE][0]["line_number"] == 4
    assert rows["genai_perf_run"][0]["tool"] == "aiperf" and rows["genai_perf_point"][0]["concurrency"] == 4


def test_a_failed_record_without_a_message_beside_the_warm_up(tmp_path: Path) -> None:
    folder = write_aiperf(tmp_path / "tree")
    path = folder / "profile_export.jsonl"
    path.write_text(path.read_text().replace('"message"', '"text"'))
    rows = GENAI_PERF.rows(folder, tmp_path / "stored")
    assert [(row["error_type"], row["error_message"]) for row in rows["genai_perf_record"]] == [
        (None, None), ("RequestCancellationError", None),
    ]


def test_exports_are_known_by_what_they_hold_whatever_they_are_named(tmp_path: Path) -> None:
    folder = write_aiperf(tmp_path / "tree")
    (folder / "profile_export_aiperf.json").rename(folder / "mine.json")
    (folder / "profile_export.jsonl").rename(folder / "mine.jsonl")
    (folder / "other.csv").write_text(CSV)
    (folder / "prices.csv").write_text("Metric,Value\nCost,1\n")
    raw = json.loads((folder / "mine.jsonl").read_text().splitlines()[0])
    raw |= {"payload": {"messages": []}, "responses": []}
    del raw["metrics"]
    (folder / "mine_raw.jsonl").write_text(json.dumps(raw) + "\n")
    (folder / "mine_timeslices.json").write_text(json.dumps({"timeslices": [summary()], "input_config": {}}))
    assert [{file.raw_path: file.role for file in draft.files} for draft in GENAI_PERF.drafts(folder)] == [
        {"mine.json": "summary", "mine.jsonl": "records", "mine_timeslices.json": "time_slices"}, {"other.csv": "csv"},
    ]
    found = list(GENAI_PERF.ingestor.bundles(list_tree(folder)))
    assert [item.path for item in found if isinstance(item, Unclaimed)] == ["mine_raw.jsonl"]


def test_the_statistics_that_aiperf_nests_are_those_of_the_run(tmp_path: Path) -> None:
    stated = {"request_latency": {"unit": "fortnights", "avg": 1.5}, "request_throughput": {"unit": "requests/sec", "avg": 2.0}}
    document = {"input_config": {"loadgen": {"concurrency": 3}}, "records": stated, "was_cancelled": False}
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "mine.json").write_text(json.dumps(document))
    rows = GENAI_PERF.rows(tmp_path / "tree", tmp_path / "stored")
    assert codes(rows) == {"unknown-unit": 1} and rows["genai_perf_run"][0]["tool"] == "aiperf"
    assert rows["genai_perf_point"][0]["concurrency"] == 3
    found = {row["key"]: row["value_number"] for row in rows["genai_perf_entry"]}
    assert found["records/request_throughput/avg"] == 2.0


@pytest.mark.parametrize(
    ("phases", "load"),
    [
        ([WARM_UP, MEASURED], {"concurrency": 16, "request_count": 96, "arrival": "concurrency"}),
        ([{**WARM_UP, "exclude_from_results": False}, MEASURED], {"concurrency": 16, "request_count": 96, "arrival": "concurrency"}),
        ([{"name": "load", "kind": "profiling", "type": "poisson", "rate": 2.5}], {"request_rate": 2.5, "arrival": "poisson"}),
    ],
)
def test_the_load_is_that_of_the_phase_that_is_measured(tmp_path: Path, phases: list[dict[str, Any]], load: dict[str, Any]) -> None:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "mine.json").write_text(json.dumps(aiperf_of_phases(phases, [SYNTHETIC])))
    rows = GENAI_PERF.rows(tmp_path / "tree", tmp_path / "stored")
    (point,), (run,) = rows["genai_perf_point"], rows["genai_perf_run"]
    assert (point["concurrency"], point["request_rate_per_s"]) == (load.get("concurrency"), load.get("request_rate"))
    assert codes(rows) == {} and json.loads(run["workload_document"]) == {
        "tool": "aiperf", "model": "acme/7b", "endpoint_type": "chat", "streaming": "true", "isl": 512, "isl_stddev": 8, "osl": 128,
        "num_prompts": 100, "dataset": "synthetic", **load,
    }


def test_of_several_measured_phases_none_is_the_load(tmp_path: Path) -> None:
    two = [MEASURED, {**MEASURED, "name": "more", "kind": "profiling", "concurrency": 32}]
    digests = set()
    for index, phases in enumerate((two, two[:1], [two[0], {**two[1], "concurrency": 64}])):
        (tmp_path / f"{index}").mkdir()
        (tmp_path / f"{index}" / "mine.json").write_text(json.dumps(aiperf_of_phases(phases, [SYNTHETIC])))
        rows = GENAI_PERF.rows(tmp_path / f"{index}", tmp_path / f"stored{index}")
        assert rows["genai_perf_point"][0]["concurrency"] == (16 if len(phases) == 1 else None)
        digests.add(rows["genai_perf_run"][0]["workload_spec_digest"])
    assert len(digests) == 3


def test_the_csv_of_aiperf_counts_without_a_unit(tmp_path: Path) -> None:
    text = (
        "Metric,avg,p99\nOutput Sequence Length,12.50,20.00\nRequest Latency (ms),300.50,601.00\n\nMetric,Value\n"
        "Error Request Count,3.00\nRequest Count,96.00\nRequest Throughput (requests/sec),2.16\n"
    )
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "profile_export_aiperf.csv").write_text(text)
    rows = GENAI_PERF.rows(tmp_path / "tree", tmp_path / "stored")
    units = {row["key"]: row["value"] for row in rows["genai_perf_entry"] if row["key"].endswith("/unit")}
    assert codes(rows) == {} and units == {
        "request_latency/unit": "ms", "error_request_count/unit": "count", "request_count/unit": "count",
        "request_throughput/unit": "requests/sec",
    }


def test_statistics_of_a_window_are_no_run(tmp_path: Path) -> None:
    folder = write_aiperf(tmp_path / "tree")
    window = {"window_metadata": {"total_requests": 9}, "metrics": {"request_latency": {"unit": "ms", "avg": 1.5}}}
    (folder / "profile_export_aiperf_steady_state.json").write_text(json.dumps(window))
    assert [sorted(file.raw_path for file in draft.files) for draft in GENAI_PERF.drafts(folder)] == [
        ["profile_export.jsonl", "profile_export_aiperf.json"],
    ]


def test_records_of_the_first_versions(tmp_path: Path) -> None:
    def record(index: int, phase: str, metrics: dict[str, Any], error: dict[str, Any] | None = None) -> dict[str, Any]:
        return {"metadata": {"turn_index": 0, "timestamp_ns": SENT + index, "credit_phase": phase}, "metrics": metrics, "error": error}

    measured = {
        "ttft": {"value": 1680.5, "unit": "ms"}, "request_latency": {"value": 7936.25, "unit": "ms"},
        "max_response_timestamp": {"value": SENT + 7_936_250_000, "unit": "ns"}, "inter_token_latency": {"value": 32.5, "unit": "ms"},
        "input_sequence_length": {"value": 550, "unit": "tokens"}, "output_sequence_length": {"value": 193, "unit": "tokens"},
        "inter_chunk_latency": {"value": [134.5, 141.25], "unit": "ms"},
    }
    cancelled = {"code": 499, "type": "RequestCancellationError", "message": "cancelled"}
    records = [record(0, "profiling", measured), record(1, "profiling", {}, cancelled), record(2, "warmup", measured)]
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "profile_export.jsonl").write_text("".join(json.dumps(item) + "\n" for item in records))
    rows = GENAI_PERF.rows(tmp_path / "tree", tmp_path / "stored")
    first, second = rows["genai_perf_record"]
    assert (first["request_start_ns"], first["request_end_ns"], first["time_to_first_token_ms"]) == (SENT, SENT + 7_936_250_000, 1680.5)
    assert (first["inter_token_latency_ms"], first["output_sequence_length"], first["error_type"]) == (32.5, 193, None)
    assert (second["request_start_ns"], second["error_type"], second["time_to_first_token_ms"]) == (SENT + 1, "RequestCancellationError", None)


def test_the_stated_times_are_recomputed_to_the_last_digit(serving_evidence: Path, tmp_path: Path) -> None:
    drafts = GENAI_PERF.drafts(serving_evidence / "cfregly__ai-performance-engineering")
    assert [len(draft.files) for draft in drafts] == [3, 2, 2]
    with_raw = GENAI_PERF.parsed(GENAI_PERF.stored(drafts[0], tmp_path / "stored"))
    assert codes(with_raw) == {}
    requests = with_raw["genai_perf_request"]
    first = [row["first_content_ns"] - row["timestamp_ns"] for row in requests]
    last = [row["last_response_ns"] - row["timestamp_ns"] for row in requests]
    # As the tool states them, which scales its means of nanoseconds by 1e-6.
    assert statistics.mean(first) * 1e-6 == 24.49146105660377 and statistics.mean(last) * 1e-6 == 667.3838553773584
    assert len(requests) == 53


@pytest.mark.parametrize(
    ("name", "then"),
    [
        ('"time_to_first_token"', '"ttft"'), ('"request_start_ns"', '"timestamp_ns"'),
        ('"benchmark_phase": "warmup"', '"benchmark_phase": null, "credit_phase": "warmup"'),
    ],
)
def test_a_name_of_the_first_versions_among_those_of_today(
    tmp_path: Path, name: str, then: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_aiperf(tmp_path / "tree")
    path = folder / "profile_export.jsonl"
    contents = {path.name: path.read_text().replace(name, then).encode()}
    bundle = GENAI_PERF.stored(GENAI_PERF.drafts(folder)[0], tmp_path / "stored", contents)
    rows = GENAI_PERF.parsed(bundle)["genai_perf_record"]
    monkeypatch.setattr(json_records, "plain", lambda _: None)
    assert rows == GENAI_PERF.parsed(bundle)["genai_perf_record"]
    first = rows[0]
    assert len(rows) == 2 and first["time_to_first_token_ms"] == 250.0 and first["request_start_ns"] == SENT


def test_a_number_of_a_phase_that_is_none(tmp_path: Path) -> None:
    document = aiperf_of_phases([{"name": "profiling", "type": "concurrency", "concurrency": math.inf}], [])
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "profile_export_aiperf.json").write_text(json.dumps(document))
    rows = GENAI_PERF.rows(tmp_path / "tree", tmp_path / "stored")
    assert rows["genai_perf_point"][0]["concurrency"] is None and codes(rows)["non-finite-number"] == 1


def test_the_csv_beside_the_json_is_known_wherever_its_statistics_stand(tmp_path: Path) -> None:
    """AIPerf lists them by name: there are kilobytes before the first that every run has."""
    folder = write_aiperf(tmp_path / "tree")
    rows = [f"Active Throughput {number} (tokens/sec),1.00" for number in range(200)]
    (folder / "profile_export_aiperf.csv").write_text("\n".join(["Metric,avg", *rows, "Request Latency (ms),300.50", ""]))
    (draft,) = GENAI_PERF.drafts(folder)
    assert sorted(file.role or "" for file in draft.files) == ["csv", "records", "summary"]


def test_the_statistics_of_several_runs_are_no_run(tmp_path: Path) -> None:
    found = list(GENAI_PERF.ingestor.bundles(list_tree(write_repeats(tmp_path))))
    assert sorted(item.path.rpartition("/")[2] for item in found if isinstance(item, Unclaimed)) == [
        "profile_export_aiperf_aggregate.csv", "profile_export_aiperf_collated.json", "profile_export_aiperf_sweep.json",
    ]
    drafts = [item for item in found if not isinstance(item, Unclaimed)]
    assert sorted([file.role for file in draft.files] for draft in drafts) == [["aggregate"], ["summary"], ["summary"]]
    rows = [GENAI_PERF.parsed(GENAI_PERF.stored(draft, tmp_path / f"stored{number}")) for number, draft in enumerate(drafts)]
    runs = [row for each in rows for row in each["genai_perf_run"] if row["failure"] is None]
    assert len({run["run_id"] for run in runs}) == 2 and len({run["workload_spec_digest"] for run in runs}) == 1


def test_a_failed_run_without_an_export_is_known_from_the_statistics(tmp_path: Path) -> None:
    folder = write_repeats(tmp_path / "tree") / FOLDER
    (draft,) = [draft for draft in GENAI_PERF.drafts(folder) if draft.files[0].role == "aggregate"]
    rows = GENAI_PERF.parsed(GENAI_PERF.stored(draft, tmp_path / "stored"))
    (run,) = rows["genai_perf_run"]
    assert (run["run_id"][:20], run["failure"]) == ("genai-perf/run_0003/", "No requests completed successfully") and codes(rows) == {}
    assert json.loads(place(run, tmp_path / "stored").partition(b":")[2])[0]["label"] == "run_0003"
    # With an export of its own it is that run.
    (folder / "profile_runs/run_0003/profile_export_aiperf.json").write_text((folder / "profile_runs/run_0001/profile_export_aiperf.json").read_text())
    assert {draft.files[0].role for draft in GENAI_PERF.drafts(folder)} == {"summary"}


def test_a_failed_run_has_a_status(tmp_path: Path) -> None:
    warehouse = Warehouse(standard_project(tmp_path / "p"))
    tree = write_repeats(tmp_path / "tree")
    ingest(plan_ingest(tree, load_ingestors(warehouse.project).values()), open_store(warehouse.project), "test")
    assert not build(warehouse.project).damaged
    runs = warehouse.sql("select status, status_reason from benchmark_run_fact order by all").to_pylist()
    assert [(run["status"], run["status_reason"]) for run in runs] == [
        ("failed", "No requests completed successfully"), ("succeeded", None), ("succeeded", None),
    ]
    assert warehouse.sql("select count(*) as n from serving_outcome_fact").to_pylist() == [{"n": 2}]
