"""A genai-perf run of two requests (summary, CSV, raw export), and AIPerf's records."""

from __future__ import annotations

import json
import random
import statistics
from pathlib import Path
from typing import Any

import numpy as np

FOLDER = "acme-openai-chat-concurrency2"
SENT = 1730923333000000000
# As it is alone: of all statistics, with the separators of thousands.
CSV = (
    'Metric,avg,p99\nTime To First Token (ms),30.00,31.50\nRequest Latency (ms),"1,090.00",N/A\n\nMetric,Value\n'
    "Request Throughput (per sec),1.50\n"
)


def _chunk(content: str | None, **more: Any) -> dict[str, str]:
    delta = {"role": "assistant"} if content is None else {"content": content}
    event = {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta}], **more}
    return {"response": f"data: {json.dumps(event)}\n\n"}


def raw_request(index: int) -> dict[str, Any]:
    """A role, an empty chunk, two with content, and the end; 30 ms to the first content, 90 ms to the last."""
    sent = SENT + index * 1_000_000_000
    usage = {"prompt_tokens": 11, "completion_tokens": 4, "total_tokens": 15}
    outputs = [_chunk(None), _chunk(""), _chunk("Hi"), _chunk(" you", usage=usage), {"response": "data: [DONE]\n\n"}]
    times = [sent + milliseconds * 1_000_000 + index for milliseconds in (10, 20, 30, 90, 91)]
    return {"timestamp": sent, "request_inputs": {"payload": "{}"}, "response_timestamps": times, "response_outputs": outputs}


def _statistic(unit: str, avg: float) -> dict[str, Any]:
    return {"unit": unit, "avg": avg, "p50": avg, "p99": avg * 2}


def summary(**changes: Any) -> dict[str, Any]:
    return {
        "request_throughput": {"unit": "requests/sec", "avg": 1.5},
        "time_to_first_token": {"unit": "ms", "avg": 30.0000005},  # of 30 and 30.000001 ms
        "request_latency": {"unit": "ms", "avg": 90.0000005},
        "inter_token_latency": _statistic("us", 11_000.0),
        "output_token_throughput": {"unit": "tokens/sec", "avg": 87.5},
        "input_config": {
            "model": ["acme/7b"], "endpoint_type": "chat", "streaming": True, "concurrency": 2, "random_seed": 7,
            "synthetic_input_tokens_mean": 200, "output_tokens_mean": 50, "request_rate": None,
            "profile_export_file": f"artifacts/{FOLDER}/200_50.json", "extra_inputs": {"ignore_eos": True},
        },
        **changes,
    }


def write(top: Path, stated: dict[str, Any] | None = None) -> Path:
    folder = top / FOLDER
    folder.mkdir(parents=True)
    (folder / "profile_export_genai_perf.json").write_text(json.dumps(stated or summary(), indent=2))
    (folder / "profile_export_genai_perf.csv").write_text("Metric,avg\nTime To First Token (ms),30.00\n")
    raw = {
        "experiments": [{"experiment": {"mode": "concurrency", "value": 2}, "requests": [raw_request(0), raw_request(1)]}],
        "version": "2.48.0", "service_kind": "openai", "endpoint": "v1/chat/completions",
    }
    (folder / "200_50.json").write_text(json.dumps(raw))
    return top


def _record(index: int, phase: str = "profiling", **changes: Any) -> dict[str, Any]:
    return {
        "metadata": {
            "session_num": index, "credit_issued_ns": SENT + (3 * index - 2) * 1_000_000, "request_start_ns": SENT + index,
            "request_end_ns": SENT + index + 5, "benchmark_phase": phase, "was_cancelled": bool(changes.get("error")),
        },
        "metrics": {
            "time_to_first_token": {"value": 0.25, "unit": "s"}, "request_latency": {"value": 300.5, "unit": "ms"},
            "inter_token_latency": {"value": 5.0, "unit": "ms"}, "output_sequence_length": {"value": 9, "unit": "tokens"},
        },
        "error": None, **changes,
    }


def write_aiperf(folder: Path) -> Path:
    """A summary, and the records of a request that succeeded, one that was cancelled, and one of the warm-up."""
    folder.mkdir(parents=True)
    error = {"code": 499, "type": "RequestCancellationError", "message": "cancelled"}
    records = [_record(0), _record(1, error=error, metrics={}), _record(2, "warmup")]
    (folder / "profile_export.jsonl").write_text("".join(f"{json.dumps(record)}\n" for record in records))
    stated = {
        "request_latency": _statistic("ms", 300.5), "request_count": {"unit": "requests", "avg": 1},
        "input_config": {"endpoint": {"model_names": ["acme"]}, "loadgen": {"concurrency": 4}}, "aiperf_version": "0.3.0",
    }
    (folder / "profile_export_aiperf.json").write_text(json.dumps(stated))
    return folder


def measured(count: int, seed: int = 0) -> dict[str, list[float]]:
    """What AIPerf measured of each request, in milliseconds and tokens."""
    chance = random.Random(seed)
    return {
        "time_to_first_token": [chance.uniform(100, 900) for _ in range(count)],
        "request_latency": [chance.uniform(2000, 9000) for _ in range(count)],
        "inter_token_latency": [chance.uniform(5, 40) for _ in range(count)],
        "input_sequence_length": [float(chance.randrange(1000, 9000)) for _ in range(count)],
        "output_sequence_length": [float(chance.randrange(10, 900)) for _ in range(count)],
    }


def aiperf_summary(of: dict[str, list[float]]) -> dict[str, Any]:
    """AIPerf's export, by numpy as it does."""
    stated: dict[str, Any] = {"schema_version": "1.1", "aiperf_version": "0.8.0", "benchmark_id": "845c4e97"}
    for name, values in of.items():
        percentiles = {f"p{rank}": float(np.percentile(values, rank)) for rank in (1, 25, 50, 75, 90, 95, 99)}
        unit = "tokens" if name.endswith("length") else "ms"
        stated[name] = {"unit": unit, "avg": float(np.mean(values)), **percentiles, "std": float(np.std(values)), "count": len(values)}
    return stated | {
        "request_count": {"unit": "requests", "avg": float(len(of["request_latency"]))},
        "request_throughput": {"unit": "requests/sec", "avg": len(of["request_latency"]) / 60},
        "benchmark_duration": {"unit": "sec", "avg": 60.0},
        "input_config": {"endpoint": {"model_names": ["acme/coder"], "type": "chat"}, "loadgen": {"concurrency": 16}},
        "was_cancelled": False, "error_summary": [], "start_time": "2026-06-03T17:44:44.293003", "end_time": "2026-06-03T17:45:44.293003",
    }


def time_slices(count: int) -> dict[str, Any]:
    """AIPerf's windows of a second each."""
    second = 1_000_000_000
    return {
        "timeslices": [
            {
                "start_ns": SENT + index * second, "end_ns": SENT + (index + 1) * second, "request_count": {"unit": "requests", "avg": index + 1.0},
                "time_to_first_token": {"unit": "ms", "avg": 30.5 + index, "p99": 90.0}, "request_latency": {"unit": "s", "avg": 2.5},
                "output_token_throughput": {"unit": "tokens/sec", "avg": 87.5},
            }
            for index in range(count)
        ],
        "input_config": {"loadgen": {"concurrency": 4}},
    }


SERVER_METRICS_CSV = """\
# AIPerf Server Metrics Export (CSV)
# aiperf_version: 0.8.0
#
Endpoint,Type,Metric,Unit,avg,min,max,std,p50,engine,model_name,Description
localhost:8000,gauge,vllm:num_requests_running,requests,5.8288,0.0000,8.0000,0.7639,6.0000,0,acme,"Requests, running"
localhost:8000,gauge,vllm:num_requests_waiting,requests,6.2714,0.0000,11.0000,1.2439,6.0000,0,acme,Waiting
localhost:8000,gauge,vllm:kv_cache_usage_perc,ratio,0.8265,0.2000,0.9900,0.0751,0.8100,0,acme,1 means 100 percent

Endpoint,Type,Metric,Unit,total,rate,rate_avg,engine,model_name,Description
localhost:8000,counter,vllm:generation_tokens,tokens,49773.0000,27.1968,27.2000,0,acme,Tokens
"""


def server_metrics(windows: bool = True) -> dict[str, Any]:
    """AIPerf's JSON of what a server said of itself."""
    second = 1_000_000_000

    def series(*means: float) -> dict[str, Any]:
        slices = [{"start_ns": SENT + n * second, "end_ns": SENT + (n + 1) * second, "avg": mean} for n, mean in enumerate(means)]
        stated = {"endpoint_url": "http://localhost:8000/metrics", "labels": {"engine": "0"}, "stats": {"avg": sum(means) / len(means)}}
        return stated | ({"timeslices": slices} if windows else {})

    return {
        "schema_version": "1.0", "aiperf_version": "0.10.0", "benchmark_id": "845c4e97",
        "summary": {
            "endpoints_configured": ["http://localhost:8000/metrics"],
            "endpoint_info": {"http://localhost:8000/metrics": {"first_fetch_ns": SENT - second, "last_fetch_ns": SENT + 4 * second}},
        },
        "metrics": {
            "vllm:num_requests_running": {"type": "gauge", "unit": "requests", "series": [series(4.0, 6.0)]},
            "vllm:kv_cache_usage_perc": {"type": "gauge", "unit": "ratio", "series": [series(0.5, 0.75)]},
        },
    }


def inferencex_of(of: dict[str, list[float]], nested: bool = False, digits: int | None = None) -> dict[str, Any]:
    """What InferenceX makes of the same requests: seconds, by Python's statistics, rounded in its later versions."""
    names = {
        "ttft": "time_to_first_token", "e2el": "request_latency", "itl": "inter_token_latency", "tpot": "inter_token_latency",
        "input_tokens": "input_sequence_length", "output_tokens_actual": "output_sequence_length",
    }
    found: dict[str, dict[str, float]] = {}
    for short, name in names.items():
        values = [value if "tokens" in short else value / 1000 for value in of[name]]
        stated = {"mean": statistics.mean(values), "std": statistics.pstdev(values)}
        stated |= {f"p{rank}": float(np.percentile(values, rank)) for rank in (75, 90, 95)}
        found[short] = {key: value if digits is None else round(value, digits) for key, value in stated.items()}
    count = len(of["request_latency"])
    record = {
        "hw": "mi355x", "conc": 16, "image": "lmsysorg/sglang-rocm:v0.5.12.post1-rocm720-mi35x", "model": "acme/coder",
        "framework": "sglang", "precision": "fp4", "spec_decoding": "none", "disagg": False, "scenario_type": "agentic-coding",
        "is_multinode": False, "tp": 2, "ep": 1, "dp_attention": "false", "offloading": "hicache",
        "num_requests_total": count, "num_requests_successful": count,
    }
    if not nested:
        flat = {f"{statistic}_{short}": value for short, stated in found.items() for statistic, value in stated.items()}
        return record | flat | {"duration_seconds": 60.0001}
    latency = {short: stated for short, stated in found.items() if "tokens" not in short}
    tokens = {"input": found["input_tokens"], "output_actual": found["output_tokens_actual"]}
    return record | {"request_metrics": {"latency": latency, "tokens": tokens, "throughput": {"duration_seconds": 60.0001}}}


def aiperf_of_phases(phases: list[dict[str, Any]], datasets: list[dict[str, Any]]) -> dict[str, Any]:
    """A summary of AIPerf 0.10, whose configuration lists phases and datasets."""
    return {
        "schema_version": "1.3", "aiperf_version": "0.10.0", "benchmark_id": "108f93f90b09",
        "request_latency": {**_statistic("ms", 300.5), "count": 96, "sum": 28848.0}, "request_count": {"unit": "requests", "avg": 96.0},
        "benchmark_duration": {"unit": "sec", "avg": 44.5},
        "input_config": {
            "models": {"items": [{"name": "acme/7b"}]}, "endpoint": {"urls": ["http://localhost:8000"], "type": "chat", "streaming": True},
            "datasets": datasets, "phases": phases,
        },
        "was_cancelled": False, "error_summary": [], "start_time": "2026-07-03T05:21:36.274997", "end_time": "2026-07-03T05:22:20.808822",
    }


WARM_UP = {"name": "warmup", "type": "concurrency", "exclude_from_results": True, "requests": 16, "concurrency": 99}
MEASURED = {"name": "profiling", "type": "concurrency", "requests": 96, "concurrency": 16}
SYNTHETIC = {"name": "main", "type": "synthetic", "entries": 100, "random_seed": 42, "prompts": {"isl": {"mean": 512, "stddev": 8}, "osl": 128}}


def _aggregate(kind: str, metrics: dict[str, Any], **more: Any) -> dict[str, Any]:
    metadata = {"aggregation_type": kind, "num_profile_runs": 3, "num_successful_runs": 2, "failed_runs": [
        {"label": "run_0003", "error": "No requests completed successfully"},
    ]}
    return {"schema_version": "1.0", "aiperf_version": "0.10.0", **more, "metadata": metadata | {"confidence_level": 0.95}, "metrics": metrics}


def write_repeats(top: Path) -> Path:
    """`aiperf profile --num-profile-runs 3`: two runs in folders of their own, a third that failed, and AIPerf's statistics of them."""
    for number in (1, 2):
        folder = top / FOLDER / "profile_runs" / f"run_000{number}"
        folder.mkdir(parents=True)
        (folder / "profile_export_aiperf.json").write_text(json.dumps(aiperf_summary(measured(20, seed=number)), indent=2))
    (top / FOLDER / "profile_runs/run_0003").mkdir()
    throughput = {
        "mean": 1.5, "std": 0.1, "min": 1.4, "max": 1.6, "cv": 0.07, "se": 0.07, "ci_low": 0.6, "ci_high": 2.4, "t_critical": 12.706,
        "unit": "requests/sec",
    }
    pooled = {"combined": {"mean": 12.5, "std": 1.0, "p50": 12.0, "p90": 14.0, "p95": 14.5, "p99": 14.9, "count": 40}, "per_run": []}
    folder = top / FOLDER / "aggregate"
    folder.mkdir()
    files = {
        "aggregate": _aggregate("confidence", {"request_throughput_avg": throughput}),
        "collated": _aggregate("detailed", {"request_latency": pooled}, description="Collated per-request metrics across all \"runs\"."),
        "sweep": {"aggregation_type": "sweep", "num_profile_runs": 3, "metadata": {}, "per_combination_metrics": [
            {"parameters": {"concurrency": 2}, "metrics": {"request_throughput": throughput}},
        ]},
    }
    for name, content in files.items():
        (folder / f"profile_export_aiperf_{name}.json").write_text(json.dumps(content, indent=2))
    columns = ",".join(throughput)
    values = ",".join(str(value) for value in throughput.values())
    (folder / "profile_export_aiperf_aggregate.csv").write_text(f"metric,{columns}\nrequest_throughput_avg,{values}\n\nTotal Runs,3\n")
    return top


def write_all(top: Path) -> None:
    """A run of each tool and version, one of which only the CSV is left, and repeats of which one failed."""
    (top / "phases").mkdir(parents=True)
    (top / "phases" / "profile_export_aiperf.json").write_text(json.dumps(aiperf_of_phases([WARM_UP, MEASURED], [SYNTHETIC])))
    write(top / "whole")
    write_aiperf(top / "aiperf")
    write_repeats(top / "repeats")
    (top / "alone").mkdir()
    (top / "alone" / "profile_export_genai_perf.csv").write_text(CSV)
