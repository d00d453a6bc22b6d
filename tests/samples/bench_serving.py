"""Writes results of serving benchmarks that are true to their formats, from requests that the caller chooses.

The aggregates are computed as the clients do, by numpy, so that a test can state what it expects without asking the parser.
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Request:
    """One request: seconds and tokens. `error` is empty when it succeeded."""

    ttft: float
    gaps: tuple[float, ...]
    input_length: int
    start: float
    error: str = ""

    @property
    def output_length(self) -> int:
        return 0 if self.error else len(self.gaps) + 1

    @property
    def latency(self) -> float:
        return self.ttft + sum(self.gaps)


def requests(count: int, seed: int = 0) -> list[Request]:
    chance = random.Random(seed)
    return [
        Request(
            chance.uniform(0.05, 0.9), tuple(chance.uniform(0.005, 0.06) for _ in range(chance.randrange(1, 20))),
            chance.randrange(20, 200), 5e5 + index * 0.25,
        )
        for index in range(count)
    ]


FAILED = Request(0.0, (), 64, 5e5 + 1, "Connection refused")


def statistics(values: list[float], percentiles: tuple[int, ...] = (99,)) -> dict[str, float]:
    """Milliseconds, by the name the clients give each; zeros where there is nothing, as they write them."""
    known = np.array(values or [0.0])
    found = {"mean": float(np.mean(known)), "median": float(np.median(known)), "std": float(np.std(known))}
    found.update({f"p{rank}": float(np.percentile(known, rank)) for rank in percentiles})
    return {name: value * 1e3 for name, value in found.items()}


def measures(of: list[Request]) -> dict[str, list[float]]:
    good = [request for request in of if not request.error]
    return {
        "ttft": [request.ttft for request in good],
        "tpot": [sum(request.gaps) / (request.output_length - 1) for request in good if request.output_length > 1],
        "itl": [gap for request in good for gap in request.gaps],
        "e2el": [request.latency for request in good],
    }


def vllm_record(of: list[Request], detailed: bool = True, **changes: Any) -> dict[str, Any]:
    """A record of `vllm bench serve`, its keys in the client's order."""
    good = [request for request in of if not request.error]
    inputs, outputs = sum(request.input_length for request in good), sum(request.output_length for request in good)
    duration = 12.5
    record: dict[str, Any] = {
        "date": "20260410-085715", "endpoint_type": "vllm", "backend": "vllm", "label": None, "model_id": "Qwen/Qwen3-8B",
        "tokenizer_id": "Qwen/Qwen3-8B", "num_prompts": len(of), "request_rate": "inf", "burstiness": 1.0,
        "max_concurrency": 10, "duration": duration, "completed": len(good), "failed": len(of) - len(good),
        "total_input_tokens": inputs, "total_output_tokens": outputs, "request_throughput": len(good) / duration,
        "request_goodput": None, "output_throughput": outputs / duration, "total_token_throughput": (inputs + outputs) / duration,
    }
    if detailed:
        record |= arrays(of) | {"start_times": [request.start for request in of]}
    for metric, values in measures(of).items():
        record |= {f"{name}_{metric}_ms": value for name, value in statistics(values).items()}
    return record | changes


def sglang_record(of: list[Request], detailed: bool = True, **changes: Any) -> dict[str, Any]:
    """A record of SGLang's bench_serving: no date, no prompts, no failures, and the server's state in it."""
    good = [request for request in of if not request.error]
    inputs, outputs = sum(request.input_length for request in good), sum(request.output_length for request in good)
    duration = 1.3344381039496511
    server = {
        "model_path": "/workspace/qwen-3-14b", "dtype": "bfloat16", "quantization": None, "tp_size": 4, "dp_size": 2, "pp_size": 1,
        "ep_size": 1, "enable_dp_attention": False, "cuda_graph_bs": [1, 2, 4], "internal_states": [{"tp_size": 4}],
        "version": "0.5.9",
    }
    record: dict[str, Any] = {
        "tag": None, "backend": "sglang", "dataset_name": "random", "request_rate": float("inf"), "max_concurrency": 100,
        "sharegpt_output_len": None, "random_input_len": 1024, "random_output_len": 128, "random_range_ratio": 0.0,
        "server_info": server, "duration": duration, "completed": len(good), "total_input_tokens": inputs,
        "total_output_tokens": outputs, "total_output_tokens_retokenized": outputs, "request_throughput": len(good) / duration,
        "input_throughput": inputs / duration, "output_throughput": outputs / duration,
        "total_throughput": (inputs + outputs) / duration,
    }
    for metric, values in measures(of).items():
        name_of = "e2e_latency" if metric == "e2el" else metric
        ranks = {"e2el": (90, 99), "itl": (95, 99)}.get(metric, (99,))
        record |= {f"{name}_{name_of}_ms": value for name, value in statistics(values, ranks).items()}
    return record | {"concurrency": 70.5, "accept_length": None} | (arrays(of) if detailed else {}) | changes


def inferencex_record(**changes: Any) -> dict[str, Any]:
    """InferenceX's cut of vLLM's record: the same names without a suffix, in seconds."""
    return {
        "date": "20260214-142343", "model_id": "MiniMaxAI/MiniMax-M2.5", "tokenizer_id": "MiniMaxAI/MiniMax-M2.5",
        "num_prompts": 160, "request_rate": "inf", "burstiness": 1.0, "max_concurrency": 16, "duration": 40.0,
        "completed": 160, "good_completed": None, "total_input_tokens": 163840, "total_output_tokens": 20480,
        "request_throughput": 4.0, "request_goodput": None, "input_throughput": 4096.0, "output_throughput": 512.0,
        "median_ttft": 0.45, "p99_ttft": 1.1, "median_e2el": 3.9, "p99_e2el": 5.6, "median_tpot": 0.028, "p99_tpot": 0.039,
    } | changes


def inferencex_agg_record(**changes: Any) -> dict[str, Any]:
    """What InferenceX's process_result.py makes of a run."""
    return {
        "hw": "h200-nb_1", "conc": 64, "image": "vllm/vllm-openai:v0.11.0", "model": "openai/gpt-oss-120b",
        "framework": "vllm", "precision": "fp4", "spec_decoding": "none", "disagg": False, "isl": 1024, "osl": 8192,
        "is_multinode": False, "tp": 8, "ep": 1, "dp_attention": "false", "tput_per_gpu": 1500.0,
        "output_tput_per_gpu": 1300.0, "input_tput_per_gpu": 200.0, "mean_ttft": 0.25, "median_ttft": 0.2, "std_ttft": 0.1,
        "p99_ttft": 0.9, "mean_tpot": 0.012, "mean_intvty": 83.3, "median_itl": 0.011, "std_itl": 0.004, "p99_e2el": 99.5,
    } | changes


def inferencex_split_record(**changes: Any) -> dict[str, Any]:
    """The same of a deployment that splits prefill and decode, as of 2026: context-parallel sizes, power and energy of the boards.

    400 s, 32 accelerators of 500 W: 6.4 MJ, of which 3.2 MJ to prefill; 2,560,000 output tokens, 6,400 each second.
    """
    record = {key: value for key, value in inferencex_agg_record().items() if key not in ("tp", "ep", "dp_attention")}
    return record | {
        "hw": "gb200-nv_3", "framework": "dynamo-vllm", "disagg": True, "is_multinode": True, "router": {"name": "dynamo", "version": "0.8.0"},
        "kv_p2p_transfer": "nixl",
        "prefill_tp": 4, "prefill_pp": 1, "prefill_dcp_size": 1, "prefill_pcp_size": 2, "prefill_ep": 4, "prefill_dp_attention": "false",
        "prefill_num_workers": 2, "decode_tp": 16, "decode_pp": 1, "decode_dcp_size": 1, "decode_pcp_size": 1, "decode_ep": 16,
        "decode_dp_attention": "true", "decode_num_workers": 1, "num_prefill_gpu": 16, "num_decode_gpu": 16,
        "tput_per_gpu": 400.0, "output_tput_per_gpu": 400.0, "input_tput_per_gpu": 400.0,
        "power_metric_schema_version": 2, "power_valid": 1, "avg_power_w": 500.0, "avg_total_gpu_power_w": 16000.0,
        "total_gpu_energy_j": 6400000.0, "joules_per_successful_query": 20480.0, "joules_per_input_token": 2.5,
        "joules_per_output_token": 2.5, "joules_per_total_token": 1.25, "prefill_gpu_energy_j": 3200000.0, "decode_gpu_energy_j": 3200000.0,
        "prefill_avg_power_w": 500.0, "decode_avg_power_w": 500.0, "prefill_joules_per_input_token": 1.25,
        "decode_joules_per_output_token": 1.25,
    } | changes


def pooling_record(of: list[Request], **changes: Any) -> dict[str, Any]:
    """vLLM's record of requests for embeddings: they have an end and no tokens, and the detail is their lengths and errors."""
    good = [request for request in of if not request.error]
    duration = 12.5
    return {
        "date": "20260801-101500", "endpoint_type": "openai-embeddings", "backend": "openai-embeddings", "label": None,
        "model_id": "acme/embed", "tokenizer_id": "acme/embed", "num_prompts": len(of), "request_rate": "inf", "burstiness": 1.0,
        "max_concurrency": 8, "duration": duration, "completed": len(good),
        "total_input_tokens": sum(request.input_length for request in good), "total_input_sequences": len(good),
        "request_throughput": len(good) / duration, "input_sequence_throughput": len(good) / duration,
        "total_token_throughput": sum(request.input_length for request in good) / duration,
        "input_lens": [request.input_length for request in of], "errors": [request.error for request in of],
    } | {f"{name}_e2el_ms": value for name, value in statistics(measures(of)["e2el"]).items()} | changes


def embedding_record(of: list[Request], **changes: Any) -> dict[str, Any]:
    """SGLang's of the same: the arrays of any run, with zeros for what there is not."""
    silent = {"output_lens": [0] * len(of), "ttfts": [0.0] * len(of), "itls": [[]] * len(of), "generated_texts": [""] * len(of)}
    zeros = {f"{name}_{metric}_ms": 0.0 for metric in ("ttft", "tpot", "itl") for name in ("mean", "median", "std", "p99")}
    return sglang_record(of) | {"backend": "sglang-embedding", "total_output_tokens": 0} | silent | zeros | changes


def inferencex_agentic_record(nested: bool = True, **changes: Any) -> dict[str, Any]:
    """What InferenceX makes of an agentic run of AIPerf: seconds, by statistic or flat. `itl` and `tpot` are one thing."""
    deployment = {
        "is_multinode": True, "tp": 12, "ep": 4, "dp_attention": "false", "prefill_num_workers": 2, "prefill_tp": 4, "prefill_ep": 4,
        "num_prefill_gpu": 8, "decode_num_workers": 1, "decode_tp": 8, "decode_pp": 1, "decode_ep": 1, "num_decode_gpu": 8,
    }
    latency = {
        "ttft": {"mean": 1.5, "p50": 1.25, "p90": 2.5, "p95": 3.0, "std": 0.5}, "e2el": {"mean": 30.0, "p90": 62.5, "std": 4.0},
        "itl": {"mean": 0.02, "p90": 0.03, "p95": 0.04, "std": 0.005}, "tpot": {"mean": 0.02, "p90": 0.03, "p95": 0.04, "std": 0.005},
    }
    record = {
        "hw": "gb200-nv", "conc": 48, "image": "lmsysorg/sglang:v0.5.9", "model": "acme/coder", "infmax_model_prefix": "coder",
        "framework": "sglang", "precision": "fp4", "spec_decoding": "mtp", "disagg": True, "scenario_type": "agentic-coding",
        **deployment, "num_requests_total": 500, "num_requests_successful": 480,
    }
    if not nested:
        flat = {f"{name}_{metric}": value for metric, stated in latency.items() for name, value in stated.items()}
        rates = {"input_tput_tps": 9000.0, "output_tput_tps": 300.0, "total_tput_tps": 9300.0, "duration_seconds": 600.0}
        return record | flat | rates | {"tput_per_gpu": 581.25, "output_tput_per_gpu": 18.75} | changes
    throughput = {
        "input": {"tokens_per_second": 9000.0}, "output": {"tokens_per_second": 300.0}, "total": {"tokens_per_second": 9300.0},
        "duration_seconds": 600.0, "per_gpu": {"total_tput_tps": 581.25},
    }
    return record | {"request_metrics": {"latency": latency, "throughput": throughput}, "warnings": ["no server log"]} | changes


def stt_record(**changes: Any) -> dict[str, Any]:
    """A transcription benchmark's summary: every key says its unit."""
    results = {
        "total": 100, "success": 96, "failed": 4, "success_rate": 96.0, "total_time_s": 4.0, "throughput_rps": 24.0,
        "processing_time": {"min_s": 1.25, "max_s": 3.0, "mean_s": 2.26, "median_s": 2.37}, "rtf": {"mean": 0.184, "min": 0.102, "max": 0.238},
    }
    return {
        "benchmark_name": "whisper-1xa100_c100", "model": "/workspace/whisper", "audio_file": "/data/test.wav", "audio_duration_s": 12.5,
        "num_requests": 100, "max_concurrency": 50, "request_rate": 100.0, "results": results, "sample_output": " Maybe.",
    } | changes


def arrays(of: list[Request]) -> dict[str, list[Any]]:
    return {
        "input_lens": [request.input_length for request in of], "output_lens": [request.output_length for request in of],
        "ttfts": [request.ttft for request in of], "itls": [list(request.gaps) for request in of],
        "generated_texts": ['He said "]}" and \\ left' for _ in of], "errors": [request.error for request in of],
    }


CONSOLE = """\
INFO 04-28 07:54:40 [api_server.py:1896] vLLM API server version 0.11.0
| NVIDIA-SMI 570.124.06   Driver Version: 570.124.06   CUDA Version: 12.8 |
Namespace(subparser='bench', seed=0, num_prompts=100, dataset_name='random', random_input_len=2048, random_output_len=256, \
random_range_ratio=0.0, random_mm_bucket_config={(256, 256, 1): 0.5, (720, 1280, 1): 0.5}, label=None, backend='vllm', \
model='/models/it\\'s, here', request_rate=inf, max_concurrency=7)
============ Serving Benchmark Result ============
"""


def write(path: Path, content: Any, **how: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content, **how))
    return path


def sweep_failure(run_number: int = 1, **changes: Any) -> dict[str, Any]:
    """What `vllm bench sweep serve --continue-on-error` writes of a benchmark that raised an error."""
    return {
        "run_number": run_number, "error_type": "RuntimeError", "error": "Benchmark exited with code 1", "serve_overrides": {"max-num-seqs": 4},
        "bench_overrides": {"max_concurrency": 2, "num_prompts": 8, "random_input_len": 128}, **changes,
    }


def write_sweep(folder: Path) -> Path:
    """A `vllm bench sweep serve` of one combination: a warm-up, two runs, one that failed, their lists, and a server that never came up."""
    base = folder / "20260410_085700" / "SERVE--max-num-seqs=4-BENCH--max_concurrency=2-num_prompts=8-random_input_len=128"
    swept = {"max-num-seqs": 4, "max_concurrency": 2, "num_prompts": 8, "random_input_len": 128}
    records = [vllm_record(requests(8, seed), False, run_number=seed, date=f"20260410-08571{seed}", **swept) for seed in (0, 2)]
    write(base / "warmup.json", vllm_record(requests(8, 9), False, run_number=-1, **swept), indent=4)
    for record in records:
        write(base / f"run={record['run_number']}.json", record, indent=4)
    write(base / "run=1.failure.json", json.dumps(sweep_failure(), indent=2) + "\n")
    write(base / "summary.json", records, indent=4)
    columns = ",".join(records[0])
    lines = (f"{number}," + ",".join("" if value is None else str(value) for value in record.values()) for number, record in enumerate(records))
    write(base.parent / "summary.csv", "\n".join((f",{columns}", *lines, "")))
    server = {"error_type": "TimeoutError", "error": "Server failed to become ready within 300 seconds", "serve_overrides": {"max-num-seqs": 4096}}
    write(base.parent / "SERVE-max-num-seqs=4096-failure.json", json.dumps(server, indent=2) + "\n")
    return folder


def write_results(folder: Path) -> None:
    """A result file of each client, two of them detailed, one with its console output beside it; a sweep."""
    of = [*requests(6, seed=1), FAILED]
    write(folder / "h100sxm" / "qwen_TP8_in128_out128_p7_c10.json", vllm_record(of))
    write(folder / "h100sxm" / "qwen_TP8_in128_out128_p7_c10.txt", CONSOLE)
    appended = [sglang_record(requests(4, seed=2)), sglang_record(requests(3, seed=3), detailed=False, duration=2.25)]
    write(folder / "sglang" / "tp4.jsonl", "".join(json.dumps(record) + "\n" for record in appended))
    write(folder / "inferencex" / "result.json", inferencex_record(), indent=2)
    write(folder / "inferencex" / "agg_result.json", inferencex_agg_record(), indent=2)
    write(folder / "inferencex" / "agentic.json", inferencex_agentic_record(), indent=2)
    write(folder / "inferencex" / "agg_split.json", inferencex_split_record(), indent=2)
    write_sweep(folder / "sweep")
