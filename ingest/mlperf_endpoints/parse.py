"""Turns a report into landing rows, key by key, and checks its rates and statistics against each other.

Only `Bundle.read` and `Bundle.map` may raise here (tampered or missing bytes); everything else becomes an issue.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa

from warehouse.landing.consistency import check_agrees, check_statistics, without_contradicted_zeros
from warehouse.landing.contract import Bundle
from warehouse.landing.readers.entries import Kind, check_total, document, element_entry, is_possible, land_entries, numeric, possible
from warehouse.landing.readers.json_text import Element, json_pairs
from warehouse.landing.readers.text import Entry, Report, clean, exact_number, whole
from warehouse.landing.readers.yaml_text import yaml_pairs
from warehouse.landing.rows import RowBuffer, workload_columns
from warehouse.landing.serving.path_names import named_columns
from warehouse.landing.serving.session_loads import load_unit

from .bundles import AUDIT, CONFIGURATION, REPORT, run_id

_ENTRY = "mlperf_endpoints_entry"
_NUMBERS = re.compile(
    r"n_samples_\w+|duration_ns|legacy_loadgen_window_duration_ns|qps|tps|e2e_avg_interactivity|finish_reason_counts/\w+"
    r"|(?:ttft|tpot|latency|(?:in|out)put_sequence_lengths)/(?:total|min|max|median|avg|std_dev|percentiles/[\d.]+)"
    r"|run_config/load_pattern/target_\w+|run_config/\w+_seed"
)
_HISTOGRAM = re.compile(r".*/histogram/.*", re.DOTALL)
_ADDRESS = "endpoint_config"  # it may hold a key
_DURATIONS = ("duration_ns", "legacy_loadgen_window_duration_ns")
_PATTERN = "load_pattern/"
_KINDS = {"target_concurrency": Kind.CONCURRENCY, "target_qps": Kind.REQUEST_RATE}
_LATENCIES = {"ttft": "ttft", "tpot": "tpot", "latency": "e2el"}  # by the names that `check_statistics` knows
_WORKLOAD = re.compile(
    r"model_params/(?:streaming|max_new_tokens|min_new_tokens|temperature|top_[kp])|settings/runtime/(?:min_duration_ms|n_samples_to_issue)"
    r"|settings/warmup/(?:enabled|n_requests)|type|benchmark_mode"
)

_Stated = Mapping[str, Entry]


def landed(bundle: Bundle, buffer: RowBuffer) -> Iterator[tuple[str, pa.RecordBatch]]:
    """Add all rows of a bundle; yields batches that are full."""
    files = {file.role: file for file in bundle.manifest.files}
    raw_path, run = files[REPORT].raw_path, run_id(files[REPORT].sha256)
    report = Report(buffer, raw_path, run)
    data = document(bundle, raw_path, report)
    pairs = (_entry(element, report) for element in json_pairs(data, report, depth=4) if not _HISTOGRAM.fullmatch(str(element.key)))
    stated = land_entries(buffer, _ENTRY, raw_path, run, "report", without_contradicted_zeros(pairs, report))
    if "n_samples_completed" not in stated:
        report("missing-key", "the report has no n_samples_completed", 0, len(data), severity="error")
    check_statistics(_by_statistic(stated), report)
    check_total(stated, "n_samples_issued", ("n_samples_completed",), report, are_all=False)
    check_total(stated, "n_samples_completed", ("n_samples_failed",), report, are_all=False)
    _check_rates(stated, report)
    yield from buffer.full()
    config = _configuration(bundle, buffer, run, files[CONFIGURATION].raw_path) if CONFIGURATION in files else {}
    pattern, concurrency, rate = _load(stated, config)
    model = _text(config, "model_params/name")
    buffer.add(
        "mlperf_endpoints_run", raw_path, 0, bundle.manifest.by_path[raw_path].bytes, run_id=run, load_pattern=pattern, concurrency=concurrency,
        request_rate_per_s=rate, audit_phase=bundle.manifest.identity.get(AUDIT),
        **named_columns(bundle.manifest.identity, raw_path), **workload_columns(_workload(config, model, pattern, concurrency, rate)),
    )
    yield from buffer.full()


def _configuration(bundle: Bundle, buffer: RowBuffer, run: str, raw_path: str) -> dict[str, Entry]:
    """What the run was configured with, without the address and key of the server."""
    report = Report(buffer, raw_path, run)
    data = document(bundle, raw_path, report)
    elements = (element for element in yaml_pairs(data, report, depth=4) if str(element.key).partition("/")[0] != _ADDRESS)
    config = {entry.key: entry for entry in (element_entry(element, report) for element in elements)}
    buffer.add("mlperf_endpoints_configuration", raw_path, 0, len(data), run_id=run, model=_text(config, "model_params/name"))
    return config


def _entry(element: Element, report: Report) -> Entry:
    entry = element_entry(element, report)
    if not _NUMBERS.fullmatch(entry.key):
        return entry
    entry = numeric(entry, report)
    if entry.key in _DURATIONS:
        if entry.number is not None and not is_possible(Kind.DURATION, entry.number / 1e9):
            report.at("impossible-duration", f"{entry.key}: {entry.value}"[:200], entry, "error")
            return entry._replace(number=None)
        return entry
    if entry.key.endswith("/total"):  # of all requests: no limit of one holds
        return entry
    kind = Kind.COUNT if entry.key.startswith(("n_samples_", "finish_reason_counts/")) else _KINDS.get(entry.key.rpartition("/")[2])
    return possible(entry, report, kind)


def _by_statistic(stated: _Stated) -> dict[str, Entry]:
    found = {}
    for key, entry in stated.items():
        of, _, name = key.partition("/")
        found[f"{_LATENCIES.get(of, of)}/{name.replace('percentiles/', 'p').removesuffix('.0')}" if name else key] = entry
    return found


def _number(stated: _Stated, key: str) -> float | None:
    return stated[key].number if key in stated else None


def _text(stated: _Stated, key: str) -> str | None:
    return clean(stated[key].value or "") or None if key in stated else None


def _check_rates(stated: _Stated, report: Report) -> None:
    """As `Report.from_snapshot` computes them: over the whole run, or over the window of LoadGen if the report states one."""
    took, window = (_number(stated, key) for key in _DURATIONS)
    completed, tokens = _number(stated, "n_samples_completed"), _number(stated, "output_sequence_lengths/total")
    seconds = (window or took or 0.0) / 1e9
    if not seconds:
        return
    of = "legacy_loadgen_window_duration_ns" if window else "duration_ns"
    if completed is not None and "qps" in stated:
        check_agrees(stated["qps"], (completed - 1 if window else completed) / seconds, f"n_samples_completed over {of}", report)
    if tokens is not None and "tps" in stated:
        check_agrees(stated["tps"], tokens / seconds, f"output_sequence_lengths/total over {of}", report)


def _load(stated: _Stated, config: _Stated) -> tuple[str | None, int | None, float | None]:
    """The load that was asked for, of the report, else of the configuration."""
    of, prefix = (stated, "run_config/") if f"run_config/{_PATTERN}type" in stated else (config, "settings/")
    pattern = _text(of, f"{prefix}{_PATTERN}type")
    concurrency, rate = (_number(of, f"{prefix}{_PATTERN}{key}") for key in _KINDS)
    is_closed = pattern in ("concurrency", "agentic_inference") and concurrency is not None and is_possible(Kind.CONCURRENCY, concurrency)
    is_open = pattern == "poisson" and rate is not None and is_possible(Kind.REQUEST_RATE, rate)
    return pattern, whole(concurrency) if is_closed else None, rate if is_open else None


def _workload(config: _Stated, model: str | None, pattern: str | None, concurrency: int | None, rate: float | None) -> dict[str, Any]:
    """What was asked of the server. Addresses and paths are not in it."""
    known = {"model": model, "load_pattern": pattern, "concurrency": concurrency, "request_rate": exact_number(rate) if rate is not None else None}
    workload: dict[str, Any] = {"tool": "mlperf-endpoints"} | {key: value for key, value in known.items() if value is not None}
    for key, entry in config.items():
        if _WORKLOAD.fullmatch(key) and entry.value is not None:
            workload[key] = exact_number(entry.number) if entry.number is not None else clean(entry.value)
    workload |= load_unit([("load_pattern", pattern), *((key, entry.value) for key, entry in config.items())])
    return workload
