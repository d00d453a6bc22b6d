"""Serving statistics that contradict each other, that nothing can have, or that leave requests out, by one rule for all families."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from landed import drafts, load, parsed, stored
from samples import bench_serving, genai_perf, guidellm, inference_perf, llm_d_report, llmperf

from warehouse.landing.consistency import Statistic, check_statistics, impossible_measurement, statistic_of
from warehouse.landing.contract import ISSUE_TABLE
from warehouse.landing.readers.text import Entry, Report
from warehouse.landing.rows import RowBuffer

CODES = {
    "negative-measurement", "implausible-value", "throughput-contradicted", "percentiles-out-of-order", "mean-contradicted",
    "unaccounted-requests",
}


def vllm(folder: Path, **changes: Any) -> None:
    record = bench_serving.vllm_record(bench_serving.requests(20), False, **changes)
    bench_serving.write(folder / "result.json", {key: value for key, value in record.items() if value != "absent"})


def issues(name: str, folder: Path, store: Path) -> list[dict[str, Any]]:
    ingestor = load(name)
    found = [row for draft in drafts(ingestor, folder) for row in parsed(ingestor, stored(ingestor, draft, store))[ISSUE_TABLE]]
    return [row for row in found if row["code"] in CODES]


def found(entries: dict[str, float]) -> dict[str, str]:
    """The severities of the issues of these statistics, by code."""
    buffer = RowBuffer({}, "digest")
    stated = {key: Entry(0, 0, 1, key, str(number), number) for key, number in entries.items()}
    check_statistics(stated, Report(buffer, "file.json", None))
    return {row["code"]: row["severity"] for table, batch in buffer.rest() if table == ISSUE_TABLE for row in batch.to_pylist()}


@pytest.mark.parametrize(
    ("key", "statistic"),
    [
        ("mean_ttft_ms", ("ttft_ms", "mean")), ("p99.9_itl", ("itl", "p99.9")), ("time_to_first_token/avg", ("time_to_first_token", "avg")),
        ("successes/latency/request_latency/p0.1", ("successes/latency/request_latency", "p0.1")),
        ("metrics/latency/request_latency/p99p9", ("metrics/latency/request_latency", "p99p9")),
        ("metrics/request_latency/successful/percentiles/p95", ("metrics/request_latency/successful", "p95")),
        ("results_ttft_s_quantiles_p25", ("results_ttft_s", "p25")), ("results_ttft_s_stddev", ("results_ttft_s", "stddev")),
        ("request_metrics/latency/ttft/p90", ("request_metrics/latency/ttft", "p90")), ("max_concurrency", ("concurrency", "max")),
        ("output_throughput", None), ("num_prompts", None),
    ],
)
def test_every_family_names_a_statistic_in_one_of_two_ways(key: str, statistic: tuple[str, str] | None) -> None:
    assert statistic_of(key) == (statistic and Statistic(*statistic))


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        ({"output_throughput": 900.0, "total_token_throughput": 800.0}, {"throughput-contradicted": "error"}),
        ({"output_throughput": 900.0, "total_throughput": 800.0}, {"throughput-contradicted": "error"}),
        ({"output_tput_tps": 900.0, "total_tput_tps": 800.0}, {"throughput-contradicted": "error"}),
        ({"a/output_tokens_per_sec": 9.0, "a/total_tokens_per_sec": 8.0}, {"throughput-contradicted": "error"}),
        ({"a/output_token_rate/mean": 9.0, "a/total_token_rate/mean": 8.0}, {"throughput-contradicted": "error"}),
        ({"metrics/output_tokens_per_second/successful/mean": 9.0, "metrics/tokens_per_second/successful/mean": 8.0}, {"throughput-contradicted": "error"}),
        ({"p50_ttft_ms": 9.0, "p99_ttft_ms": 8.0}, {"percentiles-out-of-order": "error"}),
        ({"x/p99p9": 9.0, "x/p99": 8.0, "x/p100": 9.0}, {}),
        ({"x/min": 3.0, "x/p5": 2.0}, {"percentiles-out-of-order": "error"}),
        ({"mean_ttft_ms": 9.0, "p99_ttft_ms": 8.0}, {"mean-contradicted": "warning"}),
        ({"mean_ttft_ms": 9.0, "p50_ttft_ms": 8.0}, {}),
        ({"x/mean": 9.0, "x/max": 8.0}, {"mean-contradicted": "error"}),
        ({"x/avg": 1.0, "x/min": 2.0}, {"mean-contradicted": "error"}),
        # Nothing of these is a contradiction.
        ({"output_throughput": 0.0, "total_token_throughput": 800.0}, {}),
        ({"output_throughput": 800.0, "total_token_throughput": 800.0}, {}),
        ({"output_throughput": 800.0}, {}),
        ({"output_tput_per_gpu": 90.0, "tput_per_gpu": 80.0}, {}),  # of the accelerators that decode, and of all
        ({"time_to_first_output_token/avg": 90.0, "time_to_first_token/avg": 80.0}, {}),
        ({"p50_intvty": 90.0, "p99_intvty": 80.0}, {}),
        ({"p50_ttft_ms": 8.0, "median_ttft_ms": 8.0000001, "p99_ttft_ms": 8.0, "mean_ttft_ms": 8.0000001}, {}),
        ({"mean_itl_ms": 0.0, "p99_itl_ms": 0.0}, {}),
    ],
)
def test_statistics_are_in_order_and_output_is_within_the_total(entries: dict[str, float], expected: dict[str, str]) -> None:
    assert found(entries) == expected


@pytest.mark.parametrize(
    ("key", "number", "code"),
    [
        ("mean_ttft_ms", -1.0, "negative-measurement"), ("std_itl_ms", -1.0, "negative-measurement"), ("output_throughput", -1.0, "negative-measurement"),
        ("results_end_to_end_latency_s_mean", -1.0, "negative-measurement"), ("p99_e2el_ms", 1e300, "implausible-value"),
        ("time_to_first_token/avg", 1e16, "implausible-value"), ("a/output_tokens_per_sec", 1e300, "implausible-value"),
        ("mean_ttft_ms", 0.0, None), ("mean_ttft_ms", 1e9, None), ("load_summary/schedule_delay/min", -1e-4, None),
        ("min_request_timestamp/avg", 1.7e18, None), ("osl_mismatch_diff_pct/p50", -3.0, None), ("title_length", -1.0, None),
    ],
)
def test_a_latency_or_a_rate_is_not_below_zero_and_not_beyond_meaning(key: str, number: float, code: str | None) -> None:
    assert impossible_measurement(key, number) == code


@pytest.mark.parametrize(
    ("changes", "severity"),
    [
        ({"num_prompts": 1000, "failed": 0}, "error"), ({"num_prompts": 30, "failed": 0}, "warning"), ({"num_prompts": 21, "failed": 0}, "note"),
        ({"num_prompts": 1000, "failed": "absent"}, "note"),  # older clients count no failures
        ({"num_prompts": 25, "failed": 5}, None), ({"num_prompts": 20, "failed": 0}, None),
    ],
)
def test_requests_that_are_unaccounted_for_are_an_issue(changes: dict[str, Any], severity: str | None, tmp_path: Path) -> None:
    vllm(tmp_path / "tree", **changes)
    got = [(row["code"], row["severity"]) for row in issues("bench_serving", tmp_path / "tree", tmp_path / "store")]
    assert got == ([("unaccounted-requests", severity)] if severity else [])


def test_a_negative_latency_is_an_issue_and_no_number(tmp_path: Path) -> None:
    vllm(tmp_path / "tree", mean_ttft_ms=-12.5, p99_itl_ms=1e300)
    ingestor = load("bench_serving")
    (draft,) = drafts(ingestor, tmp_path / "tree")
    rows = parsed(ingestor, stored(ingestor, draft, tmp_path / "store"))
    stated = {row["key"]: (row["value"], row["value_number"]) for row in rows["bench_serving_entry"]}
    assert stated["mean_ttft_ms"] == ("-12.5", None) and stated["p99_itl_ms"][1] is None
    assert {row["code"]: row["severity"] for row in rows[ISSUE_TABLE]} == {"negative-measurement": "error", "implausible-value": "error"}


def test_no_family_accuses_an_honest_sample_and_each_finds_a_negative_latency(tmp_path: Path) -> None:
    negative = {
        "bench_serving": lambda top: vllm(top, mean_ttft_ms=-1.0),
        "genai_perf": lambda top: genai_perf.write(top, genai_perf.summary(time_to_first_token={"unit": "ms", "avg": -1.0})),
        "guidellm": lambda top: guidellm.write(top, request_latency=guidellm.distribution(-1.0)),
        "inference_perf": lambda top: inference_perf.write(top),
        "llm_d_report": lambda top: llm_d_report.write(top, llm_d_report.old(time_to_first_token={"units": "s", "mean": -1.0}), "json"),
        "llmperf": lambda top: llmperf.write(top, results_ttft_s_mean=-1.0),
    }
    honest = {
        "bench_serving": vllm, "genai_perf": genai_perf.write, "guidellm": guidellm.write, "inference_perf": inference_perf.write,
        "llm_d_report": lambda top: llm_d_report.write(top, llm_d_report.old(), "json"), "llmperf": llmperf.write,
    }
    for name, write in negative.items():
        honest[name](tmp_path / "honest" / name)
        assert issues(name, tmp_path / "honest" / name, tmp_path / "stored" / name) == [], name
        top = tmp_path / "negative" / name
        write(top)
        for report in top.rglob("stage_0_lifecycle_metrics.json"):
            report.write_text(report.read_text().replace('"mean": ', '"mean": -'))
        assert "negative-measurement" in {row["code"] for row in issues(name, top, tmp_path / "store" / name)}, name
