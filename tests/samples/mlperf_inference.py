"""Writes small MLPerf Inference submissions that are true to the format, from values that the caller chooses.

`write_submission` makes a whole tree; `summary_log`, `detail_log` and the others give the text of one file, so that a
test can state what it expects without asking the parser.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

LLM = "llama2-70b-99"
VISION = "resnet50"
_RULE = "=" * 48
_PERCENTILES = ("50.00", "90.00", "95.00", "97.00", "99.00", "99.90")
_START = datetime(2025, 7, 28, 4, 22, 26, 87000, tzinfo=UTC)


@dataclass(frozen=True)
class Values:
    """The numbers of a submission. Throughputs are what detail logs say; summaries print two decimals of them."""

    server_tokens_per_s: float = 24593.768
    server_samples_per_s: float = 83.976
    offline_tokens_per_s: float = 26824.432
    interactive_tokens_per_s: float = 15012.349
    single_stream_ns: int = 513395  # the early stopping estimate, which is the published value
    multi_stream_ns: int = 1482812
    target_qps: float = 84.5
    ttft_p99_ns: int = 495036918
    watts: float = 10400.5
    watts_outside: float = 3000.0  # before and after the measured window
    power_samples: int = 20
    rouge1: float = 44.4551
    weight_data_types: str = "fp8"
    result: str = "VALID"


def write_submission(
    root: Path,
    round: str | None = "v5.1",
    submitter: str = "Acme",
    division: str = "closed",
    platform: str = "8xA900_2xCPU",
    edge_platform: str = "EdgeBox-1",
    values: Values = Values(),
    layout: str = "classic",
) -> Path:
    """Writes a submission below `root` and returns the folder above the division.

    The datacenter platform has an LLM in Server (detail and summary, accuracy, TEST01), Offline (detail, summary and
    power with its ranging run) and Interactive (summary only); the edge platform a vision model in SingleStream and
    MultiStream. `layout` is "classic" (up to v5.1) or "v6" (measurements and tests beside the results).
    """
    top = root / (f"inference_results_{round}" if round else "submission")
    home = top / division / submitter
    _write_json(home / "systems" / f"{platform}.json", system(submitter, division, "datacenter"))
    _write_json(home / "systems" / f"{edge_platform}.json", system(submitter, division, "edge"))
    _write_server(home, platform, values, layout)
    _write_offline(home, platform, values, layout)
    _write_interactive(home, platform, values, layout)
    _write_edge(home, edge_platform, values, layout)
    return top


def _write_server(home: Path, platform: str, values: Values, layout: str) -> None:
    folder = home / "results" / platform / LLM / "Server"
    run = folder / "performance" / "run_1"
    results = server_results(values)
    write(run / "mlperf_log_summary.txt", summary_log("Server", results, values))
    write(run / "mlperf_log_detail.txt", detail_log("Server", results, values))
    _write_accuracy(folder, values)
    tests = folder if layout == "v6" else home / "compliance" / platform / LLM / "Server"
    write(tests / "TEST01" / "performance" / "run_1" / "mlperf_log_summary.txt", summary_log("Server", results, values))
    write(tests / "TEST01" / "performance" / "run_1" / "mlperf_log_detail.txt", detail_log("Server", results, values))
    write(
        tests / "TEST01" / "verify_performance.txt",
        f"Verifying performance.\nreference score = {values.server_samples_per_s}\ntest score = 83.5\nTEST PASS\n",
    )
    _write_measurements(home, platform, LLM, "Server", values, layout)


def _write_offline(home: Path, platform: str, values: Values, layout: str) -> None:
    folder = home / "results" / platform / LLM / "Offline"
    for name in ("run_1", "ranging"):
        run = folder / "performance" / name
        write(run / "mlperf_log_summary.txt", summary_log("Offline", offline_results(values), values))
        write(run / "mlperf_log_detail.txt", detail_log("Offline", offline_results(values), values))
        write(run / "spl.txt", spl_log(values))
    for name in ("client", "server"):
        _write_json(folder / "performance" / "power" / f"{name}.json", power_session())
    _write_accuracy(folder, values)
    _write_measurements(home, platform, LLM, "Offline", values, layout)


def _write_interactive(home: Path, platform: str, values: Values, layout: str) -> None:
    folder = home / "results" / platform / LLM / "Interactive"
    results = {**server_results(values), "tokens_per_s": values.interactive_tokens_per_s}
    write(folder / "performance" / "run_1" / "mlperf_log_summary.txt", summary_log("Interactive", results, values))
    _write_accuracy(folder, values)
    _write_measurements(home, platform, LLM, "Interactive", values, layout)


def _write_edge(home: Path, platform: str, values: Values, layout: str) -> None:
    for scenario, estimate in (("SingleStream", values.single_stream_ns), ("MultiStream", values.multi_stream_ns)):
        folder = home / "results" / platform / VISION / scenario
        text = summary_log(scenario, {"early_stopping_ns": estimate}, values)
        write(folder / "performance" / "run_1" / "mlperf_log_summary.txt", text)
        write(folder / "accuracy" / "mlperf_log_summary.txt", accuracy_summary())
        report = f"accuracy=76.078%, good=38039, total=50000\nhash={'ab' * 32}\n"
        write(folder / "accuracy" / "accuracy.txt", report)
        _write_measurements(home, platform, VISION, scenario, values, layout)


def _write_accuracy(folder: Path, values: Values) -> None:
    write(folder / "accuracy" / "mlperf_log_summary.txt", accuracy_summary())
    write(folder / "accuracy" / "accuracy.txt", accuracy_report(values))


def _write_measurements(
    home: Path, platform: str, benchmark: str, scenario: str, values: Values, layout: str
) -> None:
    section = "results" if layout == "v6" else "measurements"
    folder = home / section / platform / benchmark / scenario
    name = "measurements.json" if layout == "v6" else f"{platform}_{scenario}.json"
    _write_json(folder / name, measurement(values))
    write(folder / "user.conf", f"# set by the harness\n*.{scenario}.target_qps = {values.target_qps}\n")


def server_results(values: Values) -> dict[str, Any]:
    return {
        "samples_per_s": values.server_samples_per_s,
        "tokens_per_s": values.server_tokens_per_s,
        "ttft_p99_ns": values.ttft_p99_ns,
    }


def offline_results(values: Values) -> dict[str, Any]:
    return {"samples_per_s": values.server_samples_per_s, "tokens_per_s": values.offline_tokens_per_s}


def summary_log(scenario: str, results: dict[str, Any], values: Values = Values()) -> str:
    """A performance run's summary. `results`: samples_per_s, tokens_per_s, early_stopping_ns, early_stopping_p99_ns (of a
    SingleStream run), ttft_p99_ns."""
    logged = "Server" if scenario == "Interactive" else scenario
    head = [_RULE, "MLPerf Results Summary", _RULE]
    head += ["SUT name : PySUT", f"Scenario : {logged}", "Mode     : PerformanceOnly"]
    head += _result_lines(logged, results)
    head += [f"Result is : {values.result}", "  Min duration satisfied : Yes", "  Early stopping satisfied: Yes"]
    head += _early_stopping_lines(logged, results)
    lines = [*head, "", _RULE, "Additional Stats", _RULE, *_latency_lines(logged, results)]
    lines += ["", _RULE, "Test Parameters Used", _RULE, *_parameter_lines(scenario, logged, results, values)]
    if "tokens_per_s" in results:
        lines += [
            "WARNING: sample_concatenate_permutation was set to true. ",
            "Generated samples per query might be different as the one in the setting.",
        ]
    return "\n".join([*lines, "", "No warnings encountered during test.", "", "No errors encountered during test.", ""])


def _result_lines(logged: str, results: dict[str, Any]) -> list[str]:
    if "early_stopping_ns" in results:
        percentile = "90.0th" if logged == "SingleStream" else "99.0th"
        return [f"{percentile} percentile latency (ns) : {results['early_stopping_ns'] - 15}"]
    word = "Completed " if logged == "Server" else ""
    lines = [f"{word}{'s' if word else 'S'}amples per second{'    ' if word else ''}: {results['samples_per_s']:.2f}"]
    if "tokens_per_s" in results:
        lines.append(f"{word}{'t' if word else 'T'}okens per second: {results['tokens_per_s']:.2f}")
    return lines


def _early_stopping_lines(logged: str, results: dict[str, Any]) -> list[str]:
    if "early_stopping_ns" in results:
        percentile = "90.0th" if logged == "SingleStream" else "99.0th"
        lines = [
            "Early Stopping Result:",
            " * Processed at least 64 queries (1167425).",
            f" * Early stopping {percentile} percentile estimate: {results['early_stopping_ns']}",
        ]
        if "early_stopping_p99_ns" in results:
            lines.append(f" * Early stopping 99.0th percentile estimate: {results['early_stopping_p99_ns']}")
        return lines
    if logged == "Server" and "tokens_per_s" in results:
        kinds = ("TTFT ", "TPOT ")
    else:
        kinds = ("",) if logged == "Server" else ()
    return [line for kind in kinds for line in (f"{kind}Early Stopping Result:", " * Run successful.")]


def _latency_lines(logged: str, results: dict[str, Any]) -> list[str]:
    lines = ["Per-query latency:  "] if logged == "MultiStream" else []
    if logged == "Server":
        lines.append(f"Scheduled samples per second : {results['samples_per_s'] + 1:.2f}")
    lines += [f"{'Mean latency (ns)':<32}: 7752921835"]
    for index, percentile in enumerate(_PERCENTILES):
        lines.append(f"{f'{percentile} percentile latency (ns)':<32}: {10**9 + index}")
    if "ttft_p99_ns" in results:
        lines += ["", f"{'Completed tokens per second':<44}: {results['tokens_per_s']:.2f}"]
        lines += [f"{'99.00 percentile first token latency (ns)':<44}: {results['ttft_p99_ns']}"]
        lines += [f"{'99.00 percentile time to output token (ns)':<45}: 186448225"]
    return lines


def _parameter_lines(scenario: str, logged: str, results: dict[str, Any], values: Values) -> list[str]:
    samples = {"Offline": 95040, "MultiStream": 8}.get(logged, 1)
    lines = [f"samples_per_query : {samples}", f"target_qps : {values.target_qps}"]
    if "tokens_per_s" in results:
        ttft, tpot = token_limits_ns(scenario)
        lines += [f"ttft_latency (ns): {ttft}", f"tpot_latency (ns): {tpot}"]
    else:
        lines.append("target_latency (ns): 0")
    return lines + [
        "min_duration (ms): 600000", "max_duration (ms): 0", "min_query_count : 100",
        "qsl_rng_seed : 3066443479025735752", "performance_sample_count : 24576",
    ]


def token_limits_ns(scenario: str) -> tuple[int, int]:
    """TTFT and TPOT limits of the LLM benchmark."""
    return (450_000_000, 40_000_000) if scenario == "Interactive" else (2_000_000_000, 200_000_000)


def detail_log(scenario: str, results: dict[str, Any], values: Values = Values()) -> str:
    """A performance run's detail log."""
    logged = "Server" if scenario == "Interactive" else scenario
    entries: list[tuple[str, Any, float]] = [
        ("loadgen_version", "5.1.0 @ b9ed3c7fec", 0.010344),
        ("loadgen_file_sha1", {f"/file_{index}.cc": "ab" * 20 for index in range(100)}, 0.010344),
        ("effective_scenario", logged, 0.033648),
        ("effective_test_mode", "PerformanceOnly", 0.033648),
        ("effective_samples_per_query", 95040 if logged == "Offline" else 1, 0.033648),
        ("effective_target_latency_ns", 0, 0.033648),
        ("effective_min_duration_ms", 600000, 0.033648),
        ("effective_min_query_count", 100, 0.033648),
        ("effective_performance_sample_count", 24576, 0.033648),
        ("power_begin", _logged_time(_START), 2464649.639963),
        ("power_end", _logged_time(_START + timedelta(seconds=values.power_samples)), 2464649.639963),
        ("result_validity", values.result, 2464700.5),
        ("result_min_duration_met", True, 2464700.5),
    ]
    if logged == "Server":
        ttft, tpot = token_limits_ns(scenario)
        entries += [("requested_server_ttft_latency", ttft, 0.03), ("requested_server_tpot_latency", tpot, 0.03)]
        entries += [("result_completed_samples_per_sec", results["samples_per_s"], 2464700.5)]
        entries += [("result_completed_tokens_per_second", results["tokens_per_s"], 2464700.5)]
    else:
        entries += [("result_samples_per_second", results["samples_per_s"], 2464700.5)]
        entries += [("result_tokens_per_second", results["tokens_per_s"], 2464700.5)]
    entries += [("num_errors", 0, 2464700.5)]
    return "".join(detail_line(key, value, time_ms) for key, value, time_ms in entries)


def detail_line(key: str, value: Any, time_ms: float = 0.5) -> str:
    document = {
        "key": key, "value": value, "time_ms": time_ms, "namespace": "mlperf::logging", "event_type": "POINT_IN_TIME",
        "metadata": {"is_error": False, "is_warning": False, "file": "results.cc", "line_no": 674, "pid": 1, "tid": 1},
    }
    return f":::MLLOG {json.dumps(document)}\n"


def _logged_time(time: datetime) -> str:
    return f"{time:%m-%d-%Y %H:%M:%S}.{time.microsecond // 1000:03}"


def spl_log(values: Values = Values(), channels: int = 3) -> str:
    """The power daemon's log at 1 Hz: five seconds before the measured window, the window, five seconds after it."""
    lines = []
    for second in range(-5, values.power_samples + 5):
        time = _START + timedelta(seconds=second, milliseconds=500)
        watts = values.watts if 0 <= second < values.power_samples else values.watts_outside
        fields = ["Time", _logged_time(time), *_readings(watts), "Mark", "2025-07-28_03-30-24_testing"]
        for channel in range(1, channels + 1):
            fields += [f"Ch{channel}", *_readings(watts / channels)]
        lines.append(",".join(fields))
    return "\n".join(lines) + "\n"


def _readings(watts: float) -> list[str]:
    return ["Watts", f"{watts:.6f}", "Volts", "213.033333", "Amps", "4.603000", "PF", "0.981575"]


def power_session(timezone: int = 0) -> dict[str, Any]:
    return {
        "version": "1.0", "timezone": timezone, "sources": {"client.py": "ab" * 20},
        "messages": [{"cmd": "time", "cmd_time": 1753673424.9}], "session_name": "2025-07-28_03-30-24",
    }


def accuracy_summary() -> str:
    return "No warnings encountered during test.\n\nNo errors encountered during test.\n"


def accuracy_report(values: Values = Values()) -> str:
    metrics = {"rouge1": values.rouge1, "rouge2": 22.0172, "gen_len": 28124112, "tokens_per_sample": 294.5}
    return f"Loading checkpoint\n\nResults\n\n{metrics}\n\nhash={'cd' * 32}\n"


def system(submitter: str, division: str, system_type: str) -> dict[str, Any]:
    return {
        "accelerator_model_name": "A900", "accelerators_per_node": 8, "division": division,
        "framework": "vLLM 0.9.2, Pytorch 2.7.0, ROCm 6.4.1", "host_processor_core_count": "96", "hw_notes": "",
        "number_of_nodes": 1, "status": "available", "submitter": submitter, "system_type": system_type,
    }


def measurement(values: Values = Values()) -> dict[str, Any]:
    return {
        "input_data_types": "int32", "retraining": "No", "starting_weights_filename": "weights.bin",
        "weight_data_types": values.weight_data_types, "weight_transformations": "quantization",
    }


def write(path: Path, text: str | bytes) -> Path:
    """Writes a file, and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def _write_json(path: Path, document: dict[str, Any]) -> None:
    write(path, json.dumps(document, indent=4) + "\n")
