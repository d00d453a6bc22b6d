"""What a run was asked to do, out of the configurations that the tools and their versions write."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from warehouse.landing.readers.entries import Kind, possible
from warehouse.landing.readers.json_text import is_lost_number, json_number, json_text
from warehouse.landing.readers.records import ABSENT
from warehouse.landing.readers.text import Entry, Report, exact_number, is_non_finite, number_in
from warehouse.landing.serving.session_loads import load_unit

# Document key: where genai-perf, its later versions and AIPerf state it. The seed, hosts and folders are not in it. AIPerf
# since 0.10 lists phases and datasets: `phase/` and `dataset/` are what the one that is measured states.
_STATED = {
    "model": ("model", "model_names", "endpoint/model_names", "endpoint/model", "models", "models/items"),
    "endpoint_type": ("endpoint_type", "endpoint/type"),
    "streaming": ("streaming", "endpoint/streaming"),
    "isl": (
        "synthetic_input_tokens_mean", "input/prompt/input_tokens/mean", "input/synthetic_tokens/mean",
        "input/prompt/synthetic_tokens/mean", "dataset/prompts/isl", "dataset/prompts/isl/mean",
    ),
    "isl_stddev": (
        "synthetic_input_tokens_stddev", "input/prompt/input_tokens/stddev", "input/synthetic_tokens/stddev",
        "dataset/prompts/isl/stddev",
    ),
    "osl": (
        "output_tokens_mean", "input/prompt/output_tokens/mean", "input/output_tokens/mean", "dataset/prompts/osl",
        "dataset/prompts/osl/mean",
    ),
    "osl_stddev": (
        "output_tokens_stddev", "input/prompt/output_tokens/stddev", "input/output_tokens/stddev", "dataset/prompts/osl/stddev",
    ),
    "concurrency": ("concurrency", "loadgen/concurrency", "perf_analyzer/stimulus/concurrency", "phase/concurrency"),
    "request_rate": ("request_rate", "loadgen/request_rate", "perf_analyzer/stimulus/request_rate", "phase/rate"),
    "arrival": ("phase/type",),
    "fixed_schedule": ("input/fixed_schedule",),
    "prefill_concurrency": ("loadgen/prefill_concurrency", "phase/prefill_concurrency"),
    "num_prompts": (
        "num_prompts", "num_dataset_entries", "input/num_dataset_entries", "input/conversation/num", "dataset/entries",
    ),
    "request_count": ("request_count", "loadgen/request_count", "phase/requests"),
    "dataset": ("input_dataset", "input/public_dataset", "input/file", "dataset/path", "dataset/type"),
    "phases": ("phases",),
    "datasets": ("datasets",),
}
_CONFIG = "input_config/"
_LOADS = {"concurrency": Kind.CONCURRENCY, "request_rate": Kind.REQUEST_RATE}
_MAX_LEVELS = 4  # of a phase or a dataset
_NUMBERS = frozenset({
    "isl", "isl_stddev", "osl", "osl_stddev", "concurrency", "prefill_concurrency", "request_rate", "num_prompts", "request_count",
})


def workload_document(tool: str, entries: Mapping[str, Entry], report: Report) -> dict[str, Any]:
    """The document; what no configuration states is absent. Values that should be numbers and are not are reported."""
    document: dict[str, Any] = {"tool": tool}
    entries = _with_what_is_measured(entries, report)
    for name, keys in _STATED.items():
        entry = next((entries[key] for key in (_CONFIG + key for key in keys) if _is_stated(entries.get(key))), None)
        if entry is None:
            continue
        if name in _NUMBERS and entry.number is not None:
            document[name] = exact_number(entry.number)
        elif name in _NUMBERS:
            value = (entry.value or "").strip()
            if number_in(value) is None and value.casefold() not in ABSENT and not is_non_finite(value):
                report.at("not-a-number", f"{name}: {value[:120]}", entry, "error")
        else:
            document[name] = _names(entry.value or "") if name == "model" else entry.value
    prefix = f"{_CONFIG}extra_inputs/"
    extra = {key.removeprefix(prefix): entry.value for key, entry in entries.items() if key.startswith(prefix)}
    asked = ((key.removeprefix(_CONFIG), entry.value) for key, entry in entries.items() if key.startswith(_CONFIG) and not key.startswith(prefix))
    return document | ({"extra_inputs": extra} if extra else {}) | load_unit(asked)


def load_kind(key: str) -> Kind | None:
    """What a key of a configuration states of the load."""
    name = key.removeprefix(_CONFIG) if key.startswith(_CONFIG) else None
    return next((kind for load, kind in _LOADS.items() if name in _STATED[load]), None)


def _with_what_is_measured(entries: Mapping[str, Entry], report: Report) -> dict[str, Entry]:
    """The entries, and those of the phase and the dataset of the results, in place of their lists. Where there are several of
    them, the lists stay: nothing tells which one a statistic is of."""
    found = dict(entries)
    for name, one in (("phases", "phase"), ("datasets", "dataset")):
        stated = entries.get(_CONFIG + name)
        listed = _listed(stated.value or "") if stated else []
        counted = [item for item in listed if not _is_warm_up(item)]
        if stated and len(counted) == 1:
            del found[_CONFIG + name]
            for path, value in _scalars(counted[0], one):
                key = _CONFIG + path
                if is_lost_number(value):
                    report.at("non-finite-number", key[:120], stated, "error")
                entry = stated._replace(key=key, value=json_text(value), number=json_number(value))
                found[key] = possible(entry, report, load_kind(key))
    return found


def _listed(text: str) -> list[dict[str, Any]]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return []
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []


def _is_warm_up(phase: dict[str, Any]) -> bool:
    """AIPerf infers a phase's kind from its name where it states none."""
    return phase.get("exclude_from_results") is True or phase.get("kind", phase.get("name")) == "warmup"


def _scalars(found: dict[str, Any], path: str, levels: int = _MAX_LEVELS) -> Iterator[tuple[str, Any]]:
    for key, value in found.items():
        if isinstance(value, dict) and levels:
            yield from _scalars(value, f"{path}/{key}", levels - 1)
        elif not isinstance(value, (dict, list)):
            yield f"{path}/{key}", value


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
