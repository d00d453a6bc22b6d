"""A report of `trtllm-bench throughput --streaming --report_json`, true to TensorRT-LLM's ReportUtility, of four requests written by hand.

Each has 100 input and 11 output tokens. They start together; the first token comes after 20, 30, 40 and 50 ms, the last one after 120,
180, 240 and 300 ms: 10, 15, 20 and 25 ms for each of ten further tokens.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

START = 812_345_678_901_234  # of time.perf_counter_ns
TTFT, TPOT, LATENCY = [20.0, 30.0, 40.0, 50.0], [10.0, 15.0, 20.0, 25.0], [120.0, 180.0, 240.0, 300.0]


def percentiles(values: list[float]) -> dict[str, float]:
    """As PercentileStats has them: of four values p50 is the third, and all above are the last."""
    third, last = sorted(values)[2:]
    return {
        "p50": third, "p90": last, "p95": last, "p99": last, "minimum": min(values), "maximum": max(values), "average": sum(values) / 4,
    }


def report(*, streaming: bool = True, **changes: dict[str, Any]) -> dict[str, Any]:
    """`changes` by section."""
    found: dict[str, Any] = {
        "engine": {
            "model": "acme/7b-FP8", "model_path": "None", "engine_dir": "None", "version": "1.1.0", "backend": "Pytorch",
            "dtype": "bfloat16", "kv_cache_dtype": "FP8", "quantization": "FP8",
        },
        "machine": {"name": "NVIDIA H100 80GB HBM3", "memory.total": 79.10906982421875, "clocks.mem": 2.619},
        "world_info": {
            "tp_size": 2, "pp_size": 1, "ep_size": 2, "world_size": 2, "max_batch_size": 512, "max_num_tokens": 8192,
            "scheduling_policy": "GUARANTEED_NO_EVICT", "kv_cache_percentage": 0.9, "issue_rate": 25000.0,
        },
        "request_info": {
            "num_requests": 4, "avg_num_concurrent_requests": 2.8, "avg_input_length": 100.0, "avg_output_length": 11.0,
        },
        "performance": {
            "total_latency_ms": 300.0, "avg_request_latency_ms": 210.0, "request_throughput_req_s": 13.333333333333334,
            "system_output_throughput_tok_s": 146.66666666666666, "system_total_throughput_tok_s": 1480.0,
            "output_throughput_per_user_tok_s": 58.819, "output_throughput_per_gpu_tok_s": 73.33333333333333,
            "request_latency_percentiles_ms": percentiles(LATENCY),
        },
        "streaming_metrics": {
            "token_output_speed_tok_s": 64.16666666666667, "avg_ttft_ms": 35.0, "avg_tpot_ms": 17.5, "tpot_percentiles": percentiles(TPOT),
            "ttft_percentiles": percentiles(TTFT), "gen_tps_percentiles": percentiles([100.0, 66.66666666666667, 50.0, 40.0]),
        },
        "dataset": {
            "isl_stats": percentiles([100.0] * 4), "osl_stats": percentiles([11.0] * 4), "seq_len_stats": percentiles([111.0] * 4),
            "num_requests": 4, "dataset_path": "/data/acme_100_11.txt", "max_isl": 100, "max_osl": 11, "max_sequence_length": 111,
            "avg_isl": 100, "avg_osl": 11, "avg_sequence_length": 111,
        },
    }
    if not streaming:
        del found["streaming_metrics"]
    return {section: found.get(section, {}) | changes.get(section, {}) for section in (*found, *(changes.keys() - found.keys()))}


def write(folder: Path, name: str = "report.json", **how: Any) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(json.dumps(report(**how), indent=4))
    return folder


def requests(*, streaming: bool = True, **changes: Any) -> list[dict[str, Any]]:
    """What `--request_json` writes of them: RequestRecord without its tokens, and the text. `changes` are of the last one."""
    found = []
    for index, (ttft, latency) in enumerate(zip(TTFT, LATENCY, strict=True)):
        end, first = START + int(latency * 1e6), START + int(ttft * 1e6) if streaming else -1
        generation = int((latency - ttft) * 1e6) if streaming else int(latency * 1e6)
        found.append({
            "id": index + 3, "num_input_tokens": 100, "error_tokens": 0, "start_timestamp": START, "first_token_timestamp": first,
            "end_timestamp": end, "decode_iteration": 10, "num_total_output_tokens": 11, "num_generated_tokens": 10,
            "generation_time": generation, "time_to_first_token": first - START if streaming else 0.0, "intertoken_latency": (end - first) / 10,
            "end_to_end_latency": end - START, "total_token_throughput": 11 / (end - START), "generation_token_throughput": 10 / generation,
            "output": 'He said: "start_timestamp": 7', "output_tokens": 11,
        })
    found[-1] |= changes
    return found


def write_requests(folder: Path, name: str = "requests.json", **how: Any) -> Path:
    (folder / name).write_text(json.dumps(requests(**how), indent=4))
    return folder


def write_all(folder: Path) -> None:
    write_requests(write(folder / "streaming"))
    write_requests(write(folder / "whole", streaming=False), streaming=False)
