"""What people call what was measured: *Llama-3.3-70B · 8×H100 · vLLM 0.12 · 64 in flight*, from the dimensions of a run."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any

SEPARATOR = " · "
_CACHED_MODEL = re.compile(r"models--(?:[^/]+?--)?([^/]+?)/snapshots/[0-9a-f]+/?")  # the folder of a model in the Hugging Face cache
_VERSION = re.compile(r":[0-9a-f]{32,}$")  # of a model, as a digest behind its name
# As their projects write their names.
_ENGINES = {"vllm": "vLLM", "sglang": "SGLang", "trtllm": "TensorRT-LLM", "tensorrt-llm": "TensorRT-LLM", "tensorrt_llm": "TensorRT-LLM"}
# The columns that state each part of a name, in tables of runs and results: the first that has a value.
SUBJECT = ("model", "benchmark", "test", "indicator", "component", "benchmark_case_id", "study", "node_name")
GPU = ("accelerator_family", "accelerator_name", "accelerator", "gpu_model", "hardware", "cpu_model", "system")
GPU_COUNT = ("accelerator_count", "gpu_count")
ENGINE, ENGINE_VERSION = ("framework",), ("framework_version", "server_version")
_LOAD = ("load_kind", "load", "concurrency_point", "request_rate_per_s", "input_length", "output_length")
NAMED = frozenset((*SUBJECT, *GPU, *GPU_COUNT, *ENGINE, *ENGINE_VERSION, *_LOAD))  # what a name says


@dataclass(frozen=True)
class Name:
    """The parts of a name, each None where the evidence does not state it."""

    subject: str | None = None
    gpu: str | None = None
    engine: str | None = None
    load: str | None = None

    def __str__(self) -> str:
        return SEPARATOR.join(filter(None, (self.subject, self.gpu, self.engine, self.load)))


def name_of(row: Mapping[str, Any]) -> Name:
    """The name of a row, by those of the known columns that it has."""
    model, subject = row.get("model"), _first(row, SUBJECT)
    version = _first(row, ENGINE_VERSION)
    return Name(
        model_name(str(model)) if model else subject, gpu_name(_first(row, GPU), _gpus(row)),
        engine_name(_first(row, ENGINE), version), load_words(row),
    )


def _gpus(row: Mapping[str, Any]) -> int | None:
    if row.get("accelerators_per_node") and row.get("node_count"):
        return int(row["accelerators_per_node"] * row["node_count"])
    count = _first(row, GPU_COUNT)
    return None if count is None else int(count)


def _first(row: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    return next((row[name] for name in names if row.get(name) not in (None, "")), None)


def model_name(name: str) -> str:
    """A model without its owner, its folder and the digest of its version. Hugging Face allows no `--` in a name: it separates the owner in
    names of folders."""
    if cached := _CACHED_MODEL.search(name):
        return cached[1]
    name = _VERSION.sub("", name)
    return name.rstrip("/").rpartition("/")[2].rpartition("--")[2] or name


def gpu_name(gpu: str | None, count: int | None) -> str | None:
    """GPUs with their number: 8×H100. Of those that the evidence does not name, the number."""
    if gpu is None:
        return f"{count} accelerator{'' if count == 1 else 's'}" if count else None
    return f"{count}×{gpu}" if count else gpu


def engine_name(engine: str | None, version: Any) -> str | None:
    """An engine with its version, without what a build adds to it."""
    if engine is None:
        return None
    return " ".join(filter(None, (_ENGINES.get(engine.lower(), engine), str(version).partition("+")[0] if version else None)))


def load_words(row: Mapping[str, Any]) -> str | None:
    """How hard it was driven: requests in flight or a second, and how long they are."""
    words = []
    kind, load = row.get("load_kind"), row.get("load")
    in_flight = row.get("concurrency_point") if kind is None else load if kind == "concurrency" else None
    rate = row.get("request_rate_per_s") if kind is None else load if kind and "rate" in str(kind) else None
    if in_flight is not None:
        words.append(f"{in_flight:g} in flight")
    if rate is not None and isfinite(rate):
        words.append(f"{rate:.3g} requests/s" if rate < 1000 else f"{rate:,.0f} requests/s")
    if row.get("input_length") is not None and row.get("output_length") is not None:
        words.append(f"{tokens(row['input_length'])} in / {tokens(row['output_length'])} out")
    return SEPARATOR.join(words) or None


def tokens(count: int) -> str:
    """A length as people write it: 8k of 8,192 and of 8,000."""
    for unit in (1024, 1000):
        if count >= 1000 and count % unit == 0:
            return f"{count // unit}k"
    return f"{count}"
