"""What a run was asked to do, out of the configurations that the tools and their versions write."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from warehouse.landing.records import ABSENT
from warehouse.landing.text import Entry, Report, is_non_finite

# Document key: where genai-perf, its later versions and AIPerf state it. The seed, hosts and folders are not in it.
_STATED = {
    "model": ("model", "model_names", "endpoint/model_names", "endpoint/model", "models", "models/items"),
    "endpoint_type": ("endpoint_type", "endpoint/type"),
    "streaming": ("streaming", "endpoint/streaming"),
    "isl": (
        "synthetic_input_tokens_mean", "input/prompt/input_tokens/mean", "input/synthetic_tokens/mean",
        "input/prompt/synthetic_tokens/mean",
    ),
    "isl_stddev": (
        "synthetic_input_tokens_stddev", "input/prompt/input_tokens/stddev", "input/synthetic_tokens/stddev",
    ),
    "osl": ("output_tokens_mean", "input/prompt/output_tokens/mean", "input/output_tokens/mean"),
    "osl_stddev": ("output_tokens_stddev", "input/prompt/output_tokens/stddev", "input/output_tokens/stddev"),
    "concurrency": ("concurrency", "loadgen/concurrency", "perf_analyzer/stimulus/concurrency"),
    "request_rate": ("request_rate", "loadgen/request_rate", "perf_analyzer/stimulus/request_rate"),
    "num_prompts": ("num_prompts", "num_dataset_entries", "input/num_dataset_entries", "input/conversation/num"),
    "request_count": ("request_count", "loadgen/request_count"),
    "dataset": ("input_dataset", "input/public_dataset", "input/file"),
}
_NUMBERS = frozenset({
    "isl", "isl_stddev", "osl", "osl_stddev", "concurrency", "request_rate", "num_prompts", "request_count",
})


def workload_document(tool: str, entries: Mapping[str, Entry], report: Report) -> dict[str, Any]:
    """The document; what no configuration states is absent. What stands for a number and is none is told."""
    document: dict[str, Any] = {"tool": tool}
    for name, keys in _STATED.items():
        entry = next((entries[key] for key in (f"input_config/{key}" for key in keys) if _is_stated(entries.get(key))), None)
        if entry is None:
            continue
        if name in _NUMBERS and entry.number is not None:
            number = entry.number
            document[name] = int(number) if number.is_integer() and abs(number) < 2**53 else number
        elif name in _NUMBERS:
            value = entry.value or ""
            if value.strip().casefold() not in ABSENT and not is_non_finite(value):
                report("not-a-number", f"{name}: {value[:120]}", entry.offset, entry.length, entry.line_number)
        else:
            document[name] = _names(entry.value or "") if name == "model" else entry.value
    prefix = "input_config/extra_inputs/"
    extra = {key.removeprefix(prefix): entry.value for key, entry in entries.items() if key.startswith(prefix)}
    return document | ({"extra_inputs": extra} if extra else {})


def _is_stated(entry: Entry | None) -> bool:
    return entry is not None and bool(entry.value)


def _names(text: str) -> str:
    """Models are a name, a list of names, or a list of objects that have a name."""
    try:
        found = json.loads(text) if text.startswith("[") else text
    except (ValueError, RecursionError):
        return text
    if not isinstance(found, list):
        return text
    return ",".join(str(item.get("name", "")) if isinstance(item, dict) else str(item) for item in found)
