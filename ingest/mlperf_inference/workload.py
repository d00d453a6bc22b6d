"""The workload document of a run: what was asked of any system, from what the logs and the measurement file state.

The summary is asked before the detail log, and zero limits are left out, so that a run with both logs and a run with
only its summary have the same document. A system's own parameters (target_qps, seeds, hosts) are not in it.
"""

from __future__ import annotations

from typing import Any

from warehouse.landing.readers.text import exact_number

from .text import first

Stated = dict[tuple[str, str], tuple[str | None, float | None]]  # (source, key): (value, number), first statement

# Document key: where it is stated. Loadgen prints either the token limits or target_latency, never both.
_LIMITS = {
    "target_latency_ns": (("summary", "target_latency (ns)"), ("detail", "effective_target_latency_ns")),
    "ttft_latency_ns": (("summary", "ttft_latency (ns)"), ("detail", "requested_server_ttft_latency")),
    "tpot_latency_ns": (("summary", "tpot_latency (ns)"), ("detail", "requested_server_tpot_latency")),
}
_COUNTS = {
    "performance_sample_count": (
        ("summary", "performance_sample_count"), ("detail", "effective_performance_sample_count"),
    ),
    "min_duration_ms": (("summary", "min_duration (ms)"), ("detail", "effective_min_duration_ms")),
    "min_query_count": (("summary", "min_query_count"), ("detail", "effective_min_query_count")),
    "samples_per_query": (("summary", "samples_per_query"), ("detail", "effective_samples_per_query")),
}
# Offline's one query is as long as target_qps x duration makes it: the system's parameter, not the workload's. The
# latency limits a summary prints there are loadgen's defaults: it applies none, and its detail log states none.
_NOT_OF_OFFLINE = frozenset({*_LIMITS, "samples_per_query"})
_ALL = {**_LIMITS, **_COUNTS}
OTHERS = frozenset({
    ("summary", "Scenario"), ("detail", "effective_scenario"), ("detail", "requested_scenario"),
    ("summary", "Mode"), ("detail", "effective_test_mode"), ("detail", "loadgen_version"),
})
STATED_KEYS = OTHERS | {name for names in _ALL.values() for name in names}


def workload_document(benchmark: str, scenario: str, weight_data_types: str | None, stated: Stated) -> dict[str, Any]:
    """The document; what no log states is absent."""
    document: dict[str, Any] = {"benchmark": benchmark, "scenario": scenario}
    if weight_data_types:
        document["weight_data_types"] = weight_data_types.casefold()  # submitters write int8 and INT8
    for key, names in _ALL.items():
        _, number = first(stated, *names) or (None, None)
        if number is None or (key in _LIMITS and number == 0) or (scenario == "Offline" and key in _NOT_OF_OFFLINE):
            continue
        document[key] = exact_number(number)
    return document
