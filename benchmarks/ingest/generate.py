"""Synthetic evidence in the real formats, of any size, streamed: numbers are drawn for every line, stated aggregates are
those of the requests, so that a parser's checks have their usual work. The same seed gives the same bytes."""

from __future__ import annotations

import json
import math
import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import accumulate, count
from pathlib import Path
from statistics import fmean, pstdev, stdev
from typing import Any

_MB = 10**6
_TRAINING_MB, _SERVING_MB, _FABRIC_MB = 33.2, 17.6, 2.0  # the archives of real evidence
_REQUESTS = 1000
_TOKENS = 128
_SECOND_NS = 10**9


@dataclass(frozen=True)
class Evidence:
    """A generator: `archive_mb` is the size of the archive of real evidence that has the format among others. JSON has `records`: the
    files with its records, as a pattern, and DuckDB's name of their format. The wanted speed is a fifth of `read_json`'s."""

    name: str
    archive_mb: float
    write: Callable[[Path, int, random.Random, int], None]  # folder, bytes at least, chance, how many times as large a file is
    records: tuple[str, str] | None = None


# -- MLPerf Training --------------------------------------------------------------------------------------------------

_RESULTS = 10  # a benchmark's runs
_RESULT_BYTES = 10 * _MB  # real ones have up to 0.6: here memory is measured, too


def mllog(folder: Path, size: int, chance: random.Random, larger: int) -> None:
    """Submissions' result files: bare `:::MLLOG` lines in one platform, behind task prefixes and in noise in the next."""
    home = folder / "training_results_v5.1" / "Acme"
    platforms = 2 * max(1, round(size / 2 / _RESULTS / _RESULT_BYTES / larger))
    results = min(_RESULTS, max(1, size // platforms // _RESULT_BYTES // larger))
    for number in range(platforms):
        platform = f"rack{number}_n8"
        _write_json(home / "systems" / f"{platform}.json", {
            "submitter": "Acme", "division": "closed", "status": "onprem", "system_name": platform, "number_of_nodes": "8",
            "accelerators_per_node": "4", "accelerator_model_name": "A900", "framework": "PyTorch 2.7.0, CUDA 12.9",
        })
        for result in range(results):
            path = home / "results" / platform / "llama2_70b_lora" / f"result_{result}.txt"
            each = min(_RESULT_BYTES * larger, size // platforms // results)
            _write_lines(path, _training_log(platform, each, chance, is_noisy=number % 2 == 1))


def _training_log(platform: str, size: int, chance: random.Random, *, is_noisy: bool) -> Iterator[str]:
    time_ms = 1_759_904_684_678
    callbacks = "/usr/local/lib/python3.12/dist-packages/mlperf_common/callbacks/logging.py"

    prefix = "  0: " if is_noisy else ""

    def line(event: str, key: str, value: Any, **metadata: Any) -> str:
        document = {
            "namespace": "", "time_ms": time_ms, "event_type": event, "key": key, "value": value,
            "metadata": {"file": callbacks, "lineno": 163, **metadata},
        }
        return f"{prefix}:::MLLOG {json.dumps(document)}\n"

    # Nearly all lines are of this kind: the encoder would take most of the time that writing takes.
    kind = line("POINT_IN_TIME", "tracked_stats", {"train_loss": "@loss"}, samples_count="@samples", lr="@lr", step="@step")
    before, *between, after = re.split(r'"@\w+"', kind.replace(str(time_ms), '"@time"'))
    assert len(between) == 4

    def step_line(step: int) -> str:
        values = (time_ms, 1 + chance.random(), step * 8, 0.0006 * chance.random(), step)
        return before + "".join(f"{value!r}{text}" for value, text in zip(values, [*between, after], strict=True))

    point, start, stop = "POINT_IN_TIME", "INTERVAL_START", "INTERVAL_END"
    yield line(point, "cache_clear", True)
    yield line(start, "init_start", None)
    for key, value in (
        ("submission_benchmark", "llama2_70b_lora"), ("submission_org", "Acme"), ("submission_division", "closed"),
        ("submission_status", "onprem"), ("submission_platform", platform), ("global_batch_size", 8),
        ("opt_base_learning_rate", 0.0006), ("gradient_accumulation_steps", 1), ("seed", chance.randrange(1 << 16)),
        ("train_samples", 3901), ("eval_samples", 173), ("target_accuracy", 0.925),
    ):
        yield line(point, key, value)
    time_ms += 120_000
    yield line(stop, "init_stop", None)
    yield line(start, "run_start", None)
    written, step = 0, 0
    while written < size:
        yield line(start, "block_start", None, samples_count=step * 8, step=step)
        for _ in range(40):
            step += 10
            time_ms += chance.randrange(7000, 7500)
            text = step_line(step)
            written += len(text)
            yield text
            if is_noisy:
                rank = chance.randrange(512)
                noise = f"{rank:>3}: WARNING: CUDA_ENABLE_LIGHTWEIGHT_COREDUMP is deprecated at {chance.random()}\n"
                written += len(noise)
                yield noise
        stats = {"throughput": 10 + chance.random(), "train_step_time": chance.random()}
        yield line(point, "tracked_stats", stats, step=step)
        yield line(stop, "block_stop", None, samples_count=step * 8, step=step)
        yield line(start, "eval_start", None, samples_count=step * 8, step=step)
        yield line(point, "eval_accuracy", 0.9 + chance.random() / 20, samples_count=step * 8, step=step)
        yield line(stop, "eval_stop", None, samples_count=step * 8, step=step)
    yield line(stop, "run_stop", None, samples_count=step * 8, step=step, status="success")


# -- serving ----------------------------------------------------------------------------------------------------------


def vllm_detailed(folder: Path, size: int, chance: random.Random, larger: int) -> None:
    """`vllm bench serve --save-detailed`: one object on one line, with each request's inter-token latencies."""
    written = 0
    for number in count():
        document = _vllm_document(chance, _REQUESTS * larger, 2 ** (number % 8))
        name = f"acme_7b_TP8_DP1_in128_out{_TOKENS}_p{_REQUESTS * larger}_c{2 ** (number % 8)}_{number:06x}.json"
        path = folder / "benchmarks" / "vllm" / "a900" / "Acme-7B" / name
        written += _write_lines(path, iter([json.dumps(document)]))
        if written >= size:
            return


def sglang(folder: Path, size: int, chance: random.Random, larger: int) -> None:
    """SGLang's `bench_serving --output-details`: an object a line, with the server's arguments."""
    written = 0
    for number in count():
        path = folder / "benchmarks" / "sglang" / "a900" / "Acme-7B" / f"tp4_dp2_Acme-7B_{number:06x}.jsonl"
        written += _write_lines(path, (json.dumps(_sglang_document(chance, _REQUESTS)) + "\n" for _ in range(4 * larger)))
        if written >= size:
            return


def _requests(chance: random.Random, request_count: int, prefill_s: float) -> dict[str, Any]:
    itls = [[0.0035 + chance.random() / 5000 for _ in range(_TOKENS - 1)] for _ in range(request_count)]
    return {
        "input_lens": [_TOKENS] * request_count,
        "output_lens": [_TOKENS] * request_count,
        "ttfts": [prefill_s * (1 + chance.random()) for _ in range(request_count)],
        "itls": itls,
        "start_times": [1585905.0 + number / 20 + chance.random() for number in range(request_count)],
        "generated_texts": [f" the {chance.random()} of \u00e9clairs" * 8 for _ in range(request_count)],
        "errors": [""] * request_count,
    }


def _latencies(requests: dict[str, Any]) -> dict[str, list[float]]:
    """In ms, by the metric's short name."""
    ends = [ttft + sum(itl) for ttft, itl in zip(requests["ttfts"], requests["itls"], strict=True)]
    return {
        "ttft": [1000 * ttft for ttft in requests["ttfts"]],
        "tpot": [1000 * sum(itl) / len(itl) for itl in requests["itls"]],
        "itl": [1000 * gap for itl in requests["itls"] for gap in itl],
        "e2el": [1000 * end for end in ends],
    }


def _vllm_document(chance: random.Random, request_count: int, concurrency: int) -> dict[str, Any]:
    requests = _requests(chance, request_count, 0.03)
    stated: dict[str, Any] = {}
    for metric, values in _latencies(requests).items():
        values.sort()
        stated |= {
            f"mean_{metric}_ms": fmean(values), f"median_{metric}_ms": _quantile(values, 0.5),
            f"std_{metric}_ms": pstdev(values), f"p99_{metric}_ms": _quantile(values, 0.99),
        }
    duration = 40 + 10 * chance.random()
    tokens = request_count * _TOKENS
    return {
        "date": "20260410-085715", "endpoint_type": "openai", "backend": "openai", "label": None,
        "model_id": "/models/Acme-7B", "tokenizer_id": "/models/Acme-7B", "num_prompts": request_count, "request_rate": "inf",
        "burstiness": 1.0, "max_concurrency": concurrency, "duration": duration, "completed": request_count, "failed": 0,
        "total_input_tokens": tokens, "total_output_tokens": tokens, "request_throughput": request_count / duration,
        "request_goodput": None, "output_throughput": tokens / duration, "total_token_throughput": 2 * tokens / duration,
        **requests, "max_output_tokens_per_s": 2630.0, "max_concurrent_requests": concurrency + 2, **stated,
    }


def _sglang_document(chance: random.Random, request_count: int) -> dict[str, Any]:
    requests = _requests(chance, request_count, 0.2)
    del requests["start_times"]
    stated: dict[str, Any] = {}
    for metric, values in _latencies(requests).items():
        values.sort()
        name = "e2e_latency" if metric == "e2el" else metric
        stated |= {
            f"mean_{name}_ms": fmean(values), f"median_{name}_ms": _quantile(values, 0.5),
            f"std_{name}_ms": pstdev(values), f"p99_{name}_ms": _quantile(values, 0.99),
        }
    duration = 20 + chance.random()
    tokens = request_count * _TOKENS
    return {
        "tag": None, "backend": "sglang", "dataset_name": "random", "request_rate": math.inf, "max_concurrency": 100,
        "sharegpt_output_len": None, "random_input_len": _TOKENS, "random_output_len": _TOKENS, "random_range_ratio": 1.0,
        "server_info": {"model_path": "/models/Acme-7B", "tp_size": 4, "dp_size": 2, "context_length": 12000,
                        "version": "0.5.9", **{f"argument_{number}": None for number in range(400)}},
        "duration": duration, "completed": request_count, "total_input_tokens": tokens, "total_output_tokens": tokens,
        "total_output_tokens_retokenized": tokens, "request_throughput": request_count / duration,
        "input_throughput": tokens / duration, "output_throughput": tokens / duration,
        "total_throughput": 2 * tokens / duration, **stated, "concurrency": 70.5, "accept_length": None, **requests,
    }


def llmperf(folder: Path, size: int, chance: random.Random, larger: int) -> None:
    """LLMPerf's leaderboard: `individual/*.json`, a list of requests, and `summary/*.json`."""
    written = 0
    for number in count():
        name = f"acme{number}_7b.json"
        requests = [_llmperf_request(chance) for _ in range(10_000 * larger)]
        written += _write_json(folder / "raw_data" / "individual" / name, requests)
        summary: dict[str, Any] = {
            "version": "2023-08-31", "name": f"acme{number}-7b_550_150_summary", "model": f"acme{number}/7b",
            "mean_input_tokens": 550, "stddev_input_tokens": 0, "mean_output_tokens": 150, "stddev_output_tokens": 0,
            "num_concurrent_requests": 5,
        }
        for key in ("inter_token_latency_s", "ttft_s", "end_to_end_latency_s", "request_output_throughput_token_per_s"):
            values = sorted(request[key] for request in requests)
            summary |= {f"results_{key}_quantiles_p{p}": _quantile(values, p / 100) for p in (25, 50, 75, 90, 95, 99)}
            summary |= {f"results_{key}_mean": fmean(values), f"results_{key}_stddev": stdev(values)}
            summary |= {f"results_{key}_min": values[0], f"results_{key}_max": values[-1]}
        summary |= {"results_num_requests_started": len(requests), "results_error_rate": 0.0, "results_number_errors": 0}
        written += _write_json(folder / "raw_data" / "summary" / name, summary)
        if written >= size:
            return


def _llmperf_request(chance: random.Random) -> dict[str, Any]:
    end = 1 + chance.random()
    return {
        "error_code": None, "error_msg": "", "inter_token_latency_s": end / 151, "ttft_s": end * chance.random() / 2,
        "end_to_end_latency_s": end, "request_output_throughput_token_per_s": 151 / end, "number_total_tokens": 701,
        "number_output_tokens": 151, "number_input_tokens": 550,
    }


def genai_raw(folder: Path, size: int, chance: random.Random, larger: int) -> None:
    """perf_analyzer's raw export, chat: each response an event with its own JSON, and its time."""
    written = 0
    for number in count(1):
        requests = [_raw_request(chance, 1_730_923_333_000_000_000 + index * _SECOND_NS) for index in range(200 * larger)]
        document = {
            "experiments": [{"experiment": {"mode": "concurrency", "value": number}, "requests": requests}],
            "version": "2.48.0", "service_kind": "openai", "endpoint": "v1/chat/completions",
        }
        path = folder / "artifacts" / f"acme-openai-chat-concurrency{number}" / "200_50.json"
        written += _write_lines(path, iter([json.dumps(document)]))
        if written >= size:
            return


def _raw_request(chance: random.Random, sent_ns: int) -> dict[str, Any]:
    def event(delta: dict[str, str]) -> dict[str, str]:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": None}
        chunk = {
            "id": "chatcmpl-0123456789abcdef", "object": "chat.completion.chunk", "created": 1730923333, "model": "acme/7b",
            "choices": [choice],
        }
        return {"response": f"data: {json.dumps(chunk)}\n\n"}

    events = [event({"role": "assistant", "content": ""}), *(event({"content": f" {chance.random()}"}) for _ in range(50))]
    outputs = [*events, {"response": "data: [DONE]\n\n"}]
    payload = json.dumps({"messages": [{"role": "user", "content": "What is the answer? " * 10}], "stream": True})
    times = [sent_ns + index * 10_000_000 + chance.randrange(1_000_000) for index in range(1, len(outputs) + 1)]
    sent = {"timestamp": sent_ns, "request_inputs": {"payload": payload}}
    return {**sent, "response_timestamps": times, "response_outputs": outputs}


def aiperf(folder: Path, size: int, chance: random.Random, larger: int) -> None:
    """AIPerf's records: a request a line, each metric with its unit."""
    written = 0
    for number in count(1):
        home = folder / "artifacts" / f"acme-openai-chat-concurrency{number}"
        lines = (json.dumps(_aiperf_record(chance, index)) + "\n" for index in range(10_000 * larger))
        written += _write_lines(home / "profile_export.jsonl", lines)
        stated = {"request_latency": {"unit": "ms", "avg": 500.0}, "aiperf_version": "0.3.0"}
        written += _write_json(home / "profile_export_aiperf.json", stated)
        if written >= size:
            return


def _aiperf_record(chance: random.Random, index: int) -> dict[str, Any]:
    start_ns = 1_730_923_333_000_000_000 + index * _SECOND_NS
    times = ("time_to_first_token", "time_to_second_token", "inter_token_latency", "request_latency")
    lengths = ("input_sequence_length", "output_sequence_length", "output_token_count")
    return {
        "metadata": {
            "session_num": index, "x_request_id": f"{index:032x}", "request_start_ns": start_ns,
            "request_end_ns": start_ns + _SECOND_NS, "worker_id": "worker_0", "benchmark_phase": "profiling",
            "was_cancelled": False,
        },
        "metrics": {
            **{name: {"value": 1000 * chance.random(), "unit": "ms"} for name in times},
            **{name: {"value": chance.randrange(1, 1000), "unit": "tokens"} for name in lengths},
        },
        "error": None,
    }


def inference_perf(folder: Path, size: int, chance: random.Random, larger: int) -> None:
    """inference-perf's per-request report, with the times of all tokens."""
    written = 0
    for number in count():
        requests = []
        for index in range(2000 * larger):
            start = 1000 + index + chance.random()
            times = list(accumulate((chance.random() / 100 for _ in range(_TOKENS)), initial=start))[1:]
            metrics = {"output_tokens": _TOKENS, "output_token_times": times}
            requests.append({
                "start_time": start, "end_time": times[-1],
                "request": json.dumps({"prompt": "What is the answer? " * 10, "max_tokens": _TOKENS}),
                "response": f"The answer is {chance.random()}. " * 20,
                "info": {"request_metrics": {"text": {"input_tokens": 50}}, "response_metrics": metrics}, "error": None,
            })
        path = folder / f"reports-20260101-{number:06}" / "per_request_lifecycle_metrics.json"
        written += _write_lines(path, iter([json.dumps(requests, indent=2)]))
        if written >= size:
            return


# -- fabric -----------------------------------------------------------------------------------------------------------


def nccl(folder: Path, size: int, chance: random.Random, larger: int) -> None:
    """Logs of nccl-tests, several tests in each."""
    written = 0
    for number in count():
        path = folder / "pairwise" / "logs" / f"nccl_N2_G4_node{number}_node{number + 1}.log"
        tests = (test for _ in range(50 * larger) for test in ("all_reduce", "alltoall", "sendrecv"))
        written += _write_lines(path, (line for test in tests for line in _nccl_section(test, number, chance)))
        if written >= size:
            return


def _nccl_section(test: str, number: int, chance: random.Random) -> Iterator[str]:
    yield "# nccl-tests version 2.17.8 nccl-headers=22902 nccl-library=22902\n"
    yield f"# Collective test starting: {test}_perf\n"
    yield (
        "# nThread 1 nGpus 1 minBytes 1024 maxBytes 34359738368 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1"
        " validation: 1 graph: 0\n#\n# Using devices\n"
    )
    for rank in range(8):
        yield (
            f"#  Rank {rank:>2} Group  0 Pid {1399784 + rank} on node{number + rank // 4} device {rank % 4:>2}"
            f" [0000:{0x9d + rank:02x}:00] NVIDIA H100 80GB HBM3\n"
        )
    places = f"{'out-of-place':>63}{'in-place':>39}"
    half = "time   algbw   busbw  #wrong "
    yield f"#\n#{places}\n#       size         count      type   redop    root     {half}    {half}\n"
    yield "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)             (us)  (GB/s)  (GB/s)\n"
    rates = []
    for power in range(10, 36):
        halves = []
        for _ in range(2):
            rate = 100 * chance.random()
            rates.append(round(rate * 0.875, 2))
            halves.append(f"{2**power / rate / 1000:>8.2f} {rate:>7.2f} {rates[-1]:>7.2f}")
        yield f"{2**power:>12}  {2**power // 8:>12}    double     sum      -1 {halves[0]}       0 {halves[1]}    N/A\n"
    yield f"# Out of bounds values : 0 OK\n# Avg bus bandwidth    : {fmean(rates):.6g} \n#\n"
    yield f"# Collective test concluded: {test}_perf\n#\n\n"


# -- shared -----------------------------------------------------------------------------------------------------------


def _quantile(ordered: list[float], part: float) -> float:
    """By linear interpolation, as numpy's."""
    place = part * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


def _write_json(path: Path, document: Any) -> int:
    return _write_lines(path, iter([json.dumps(document, indent=4)]))


def _write_lines(path: Path, lines: Iterator[str]) -> int:
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", encoding="utf-8") as stream:
        stream.writelines(lines)
        return stream.tell()


ALL = (
    Evidence("MLPerf Training, :::MLLOG text", _TRAINING_MB, mllog),
    Evidence("vLLM bench serve --save-detailed, JSON", _SERVING_MB, vllm_detailed, ("*.json", "unstructured")),
    Evidence("SGLang bench_serving, JSON lines", _SERVING_MB, sglang, ("*.jsonl", "newline_delimited")),
    Evidence("LLMPerf, JSON", _SERVING_MB, llmperf, ("individual/*.json", "array")),
    Evidence("perf_analyzer raw export, JSON", _SERVING_MB, genai_raw, ("*.json", "unstructured")),
    Evidence("AIPerf records, JSON lines", _SERVING_MB, aiperf, ("*.jsonl", "newline_delimited")),
    Evidence("inference-perf per request, JSON", _SERVING_MB, inference_perf, ("*.json", "array")),
    Evidence("nccl-tests, text", _FABRIC_MB, nccl),
)
