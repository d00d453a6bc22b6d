"""Writes a small MLPerf Automotive submission: the layout and load generator of MLPerf Inference, and rules of its own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from samples.mlperf_inference import detail_line, system, write

P90_NS, P99_9_NS, ESTIMATE_NS = 5_151_768, 5_319_681, 5_209_854


def summary_log(scenario: str) -> str:
    rule = "=" * 48
    figures = [f"99.9th percentile latency (ns) : {P99_9_NS}"]
    figures = ["Completed samples per second    : 12.00", *figures] if scenario == "ConstantStream" else figures
    return "\n".join([
        rule, "MLPerf Results Summary", rule, "SUT name : Car", f"Scenario : {scenario}", "Mode     : PerformanceOnly", *figures,
        "Scheduled groups per second: 0.297493", "Result is : VALID", "  Early stopping satisfied: Yes", "Early Stopping Result:",
        f" * Early stopping 99.9th percentile estimate: {ESTIMATE_NS}", " * Early stopping 99.0th percentile estimate: 5176944", "", rule,
        "Additional Stats", rule, f"90.00 percentile latency (ns)   : {P90_NS}", f"99.90 percentile latency (ns)   : {P99_9_NS}", "", rule,
        "Test Parameters Used", rule, "samples_per_query : 1", "target_qps : 12", "target_latency_percentile : 0.999", "min_duration (ms): 600000",
        "min_query_count : 6636", "performance_sample_count : 256", "", "No warnings encountered during test.", "",
        "No errors encountered during test.", "",
    ])


def detail_log(scenario: str) -> str:
    entries: dict[str, Any] = {
        "loadgen_version": "5.0.15 @ 14ef231b70", "requested_scenario": scenario, "effective_scenario": scenario,
        "effective_test_mode": "PerformanceOnly", "effective_min_duration_ms": 600000, "effective_performance_sample_count": 256,
        "result_validity": "VALID", "early_stopping_met": True, "result_completed_samples_per_sec": 12, "early_stopping_latency_ss": ESTIMATE_NS,
        "early_stopping_latency_ms": 5_176_944, "result_90.00_percentile_latency_ns": P90_NS, "result_99.90_percentile_latency_ns": P99_9_NS,
        "num_errors": 0,
    }
    return "".join(detail_line(key, value) for key, value in entries.items())


def write_submission(root: Path, round_name: str = "v0.5", *, is_described: bool = True, has_detail: bool = True) -> Path:
    """Two scenarios of one system; without a description only the logs say which suite they are of."""
    home = root / f"automotive_results_{round_name}" / "closed" / "Acme"
    if is_described:
        write(home / "systems" / "car.json", json.dumps(system("Acme", "closed", "adas"), indent=4))
    for scenario in ("SingleStream", "ConstantStream"):
        folder = home / "results" / "car" / "bevformer" / scenario
        run = folder / "performance" / "run_1"
        write(run / "mlperf_log_summary.txt", summary_log(scenario))
        if has_detail:
            write(run / "mlperf_log_detail.txt", detail_log(scenario))
        write(folder / "accuracy" / "accuracy.txt", f"mAP_3D:0.2672970244966856\n\nhash={'ab' * 32}\n")
    return home
