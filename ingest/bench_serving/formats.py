"""The formats of this family, told by the keys that open a file and by the keys of a record.

vLLM's benchmark client (`benchmarks/benchmark_serving.py`, since 0.10 `vllm bench serve`) has been forked by SGLang and by
InferenceMAX/InferenceX; each has its own keys and units:

- vllm: latencies end in `_ms`; detailed arrays are in seconds.
- sglang: the same, with `e2e_latency` for `e2el`; the arguments and the server's state are in the record; it appends.
- vllm_failure: what `vllm bench sweep` writes where a benchmark, or a server of the sweep, failed (vllm `vllm/benchmarks/sweep/serve.py`):
  the error, and what the sweep had set.
- inferencex: vLLM's record without the suffix, then in seconds.
- inferencex_agg: InferenceX's own record made of vLLM's (`utils/process_result.py`): seconds, throughputs per accelerator; since 2026
  also the power and energy of the accelerators' boards, in W and J, where `power_valid` is 1.
- stt: a transcription benchmark's summary (llm-benchmaq): `results`, whose keys say their unit; `rtf` is a request's processing time
  over the duration of its audio.
- inferencex_agentic: the same made of AIPerf's (`process_agentic_result.py`), flat or by `request_metrics`. What it calls itl is
  AIPerf's inter_token_latency: one value a request, the time per output token.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache

from warehouse.landing.readers.entries import Kind

from .records import first_keys, list_within

HEAD_BYTES = 16_384

CLIENT_KEYS = frozenset({
    "date", "backend", "endpoint_type", "model_id", "num_prompts", "request_rate", "burstiness", "max_concurrency",
    "completed", "duration", "request_throughput", "request_inthroughput", "output_throughput", "total_input_tokens",
    "total_input", "dataset_name", "concurrency", "server_info", "random_range_ratio", "failed", "mean_ttft_ms", "mean_tpot_ms",
})
_FAILURE_KEYS = frozenset({"error_type", "error", "serve_overrides"})
_OVERRIDES = re.compile(r"(?:serve|bench)_overrides/")
_STT_KEYS = frozenset({"audio_duration_s", "num_requests", "results"})
_SECONDS_KEY = re.compile(r"(?:mean|median|std|p[0-9.]+)_(?:ttft|tpot|itl|e2el|intvty)")
_ENOUGH_CLIENT_KEYS = 5
# A latency whose unit its key ends in: the client's `_ms`, or what a fork writes. InferenceX's keys have none, and are in seconds.
_UNITS = {"ms": 1.0, "msec": 1.0, "us": 1e-3, "usec": 1e-3, "ns": 1e-6, "s": 1e3, "sec": 1e3, "secs": 1e3, "seconds": 1e3}  # in ms
_LATENCY_KEY = re.compile(rf"((?:mean|median|std|min|max|p[0-9.]+)_(?:ttft|tpot|itl|e2e))(?:l|_latency)?_({'|'.join(_UNITS)})")
_LOOKS_LIKE_LATENCY = re.compile(r"(?!\w*full_response)(?:\w+_)?(?:ttft|tpot|itl|e2el?|e2e_latency)(?:_\w+)?")
_LOOKS_LIKE_RATE = re.compile(r"(?:request|input|output|total|total_token)_throughput_\w+")  # the clients' have no unit: per second
# What all versions of these tools write as a number, or null. Others may add keys of any type (`--metadata`).
_NUMBER_KEY = re.compile(
    r"(?:mean|median|std|min|max|p[0-9.]+)_(?:ttft|tpot|itl|e2el?|e2e_latency)"
    rf"(?:_(?:{'|'.join(_UNITS)}))?|(?:mean|median|std|min|max|p[0-9.]+)_intvty"
    r"|(?:(?:request|input|output|total|total_token)_)?(?:in)?(?:throughput|goodput):?(?:_retokenized)?"
    r"|(?:(?:input|output)_)?tput_per_gpu|total_(?:input|output)(?:_tokens|_text_tokens|_vision_tokens)?(?:_retokenized)?"
    r"|(?:random_)?(?:input|output)_len|sharegpt_output_len|isl|osl|random_range_ratio|num_prompts|request_rate|burstiness"
    r"|conc|concurrency|max_concurrency|max_concurrent_requests|max_output_tokens_per_s|duration|completed|good_completed|failed"
    r"|accept_length|spec_decode_(?:acceptance_(?:rate|length)|num_drafts|(?:draft|accepted)_tokens)|run_number|num_(?:prefill|decode)_gpu|(?:prefill|decode)_num_workers|(?:(?:prefill|decode)_)?[tdpe]p"
    r"|(?:(?:prefill|decode)_)?[pd]cp_size|(?:server_info/)?[tdpe]p_size"
    # Of the accelerators' boards, by InferenceX `utils/aggregate_power.py` and `utils/aggregate_power_multinode.py`.
    r"|power_valid|avg_power_w|avg_total_gpu_power_w|total_gpu_energy_j|joules_per_(?:successful_query|(?:input|output|total)_token)"
    r"|(?:prefill|decode)_(?:gpu_energy_j|avg_power_w|joules_per_(?:input|output)_token)"
    r"|(?:tensor|data|pipeline|expert)_parallel_size|benchmark_(?:start|end)_time_unix"
    r"|num_requests_(?:total|successful)|(?:input|output|total)_tput_tps|duration_seconds"
    r"|num_requests|audio_duration_s|results/(?:total|success|failed|success_rate|total_time_s|throughput_rps|rtf/\w+)"
    r"|results/processing_time/\w+_s|rtfx"
    r"|request_metrics/(?:latency/\w+/(?:mean|std|p[0-9.]+)|throughput/(?:\w+/tokens_per_second|duration_seconds))"
)
_DURATION_KEY = re.compile(r"duration|duration_seconds|results/total_time_s|request_metrics/throughput/duration_seconds|audio_duration_s")
_COUNT_KEY = re.compile(
    r"completed|good_completed|failed|num_prompts|num_requests|results/(?:total|success|failed)|num_requests_(?:total|successful)"
    r"|total_(?:input|output)(?:_tokens|_text_tokens|_vision_tokens)?(?:_retokenized)?"
    r"|(?:random_)?(?:input|output)_len|sharegpt_output_len|isl|osl"
)
_KEYS = 4096  # whose meaning is remembered: files of one tool have the same
# Words in place of a request rate: all at once, or as recorded.
RATE_WORDS = frozenset({"inf", "infinity", "trace"})


def looks_like_results(head: bytes) -> bool:
    """Whether a file's first bytes are those of a result file of this family."""
    return format_of(first_keys(head)) is not None


def is_list(head: bytes) -> bool:
    return head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"[") or list_within(head) is not None


def set_by_sweep(key: str) -> str:
    """A setting's name, of a key that a sweep writes as its user did, with hyphens or underscores; a failure's below `serve_overrides`
    or `bench_overrides`."""
    return _OVERRIDES.sub("", key, count=1).replace("-", "_")


@lru_cache(_KEYS)
def states_number(key: str) -> bool:
    """Whether a record's key states a number, whatever its format; of an object's key, named `server_info/tp_size`, too."""
    return _NUMBER_KEY.fullmatch(_OVERRIDES.sub("", key, count=1)) is not None


@lru_cache(_KEYS)
def kind_of(key: str) -> Kind | None:
    """What a record's key states, where not every number can be it. `concurrency` is SGLang's mean of requests in flight, too."""
    key = _OVERRIDES.sub("", key, count=1)
    if _COUNT_KEY.fullmatch(key):
        return Kind.COUNT
    if _DURATION_KEY.fullmatch(key):
        return Kind.DURATION
    return {"max_concurrency": Kind.CONCURRENCY, "conc": Kind.CONCURRENCY, "request_rate": Kind.REQUEST_RATE}.get(key)


def latency_of(key: str) -> tuple[str, float] | None:
    """(the latency's statistic, such as `p99_ttft`, and its unit in milliseconds) of a record's key that states one and its unit."""
    found = _LATENCY_KEY.fullmatch(key)
    return (found[1], _UNITS[found[2]]) if found else None


@lru_cache(_KEYS)
def is_unknown_metric(key: str) -> bool:
    """Whether a key looks like a latency or rate, and is not read by this ingestor: its unit or statistic is not known."""
    return not states_number(key) and bool(_LOOKS_LIKE_LATENCY.fullmatch(key) or _LOOKS_LIKE_RATE.fullmatch(key))


def format_of(keys: Collection[str]) -> str | None:
    """The format of a record with these keys, or of one that begins with them; None when it is none of ours."""
    if {"hw", "framework", "conc", "num_requests_successful"} <= set(keys):
        return "inferencex_agentic"
    if {"hw", "tput_per_gpu", "framework"} <= set(keys) or {"hw", "framework", "conc", "precision"} <= set(keys):
        return "inferencex_agg"
    if set(keys) >= _FAILURE_KEYS:
        return "vllm_failure"
    if set(keys) >= _STT_KEYS:
        return "stt"
    if len(CLIENT_KEYS.intersection(keys)) < _ENOUGH_CLIENT_KEYS:
        return None
    # The server's state, tens of kilobytes, may precede what was measured.
    if "server_info" in keys or "sharegpt_output_len" in keys or any("e2e_latency" in key for key in keys):
        return "sglang"
    if not {"duration", "completed"} & set(keys):
        return None
    return "inferencex" if any(_SECONDS_KEY.fullmatch(key) for key in keys) else "vllm"
