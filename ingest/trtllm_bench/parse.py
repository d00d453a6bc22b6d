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
from warehouse.landing.deployments import size_doubt, size_in, stated_text
from warehouse.landing.implied_accelerators import Implied, implied_by
from warehouse.landing.readers.entries import Kind, document, element_entry, land_entries, numeric, possible
from warehouse.landing.readers.json_text import Element, json_pairs
from warehouse.landing.readers.text import Entry, Report, exact_number
from warehouse.landing.rows import RowBuffer, workload_columns
from warehouse.landing.serving.path_names import named_columns
from warehouse.landing.severity import WARNING

from .bundles import REPORT, REQUESTS, run_id
from .requests import Detail, check, request_rows

_DEPTH = 5
_NUMBERS = re.compile(
    r"(?:performance|streaming_metrics|request_info|energy)/.*|decoding_stats/\w+_percentiles/\w+|world_info/(?!scheduling_policy)\w+"
    r"|dataset/(?!dataset_path)(?:\w+|\w+_stats/\w+)|engine/max_(?:input|sequence)_length|machine/(?:memory\.total|clocks\.mem)"
)
_KINDS = {
    "request_info/num_requests": Kind.COUNT, "dataset/num_requests": Kind.COUNT,
    "performance/total_latency_ms": Kind.DURATION,  # not longer than a duration in seconds may be
}
_SIZES = {"tensor_parallel": "tp_size", "pipeline_parallel": "pp_size", "expert_parallel": "ep_size"}
_WORLD = "world_info/world_size"
# The sections of statistics, by the name of what they are of that `check_statistics` knows.
_STATISTICS = {
    "performance/request_latency_percentiles_ms": "e2el_ms", "streaming_metrics/ttft_percentiles": "ttft_ms",
    "streaming_metrics/tpot_percentiles": "tpot_ms",
}
_NAMES = {"minimum": "min", "average": "mean", "maximum": "max"}


def landed(bundle: Bundle, buffer: RowBuffer) -> Iterator[tuple[str, pa.RecordBatch]]:
    """Add all rows of a bundle; yields batches that are full."""
    files = {file.role: file for file in bundle.manifest.files}
    raw_path = files[REPORT].raw_path
    run = run_id(files[REPORT].sha256)
    report = Report(buffer, raw_path, run)
    data = document(bundle, raw_path, report)
    stated = (_entry(element, report) for element in json_pairs(data, report, depth=_DEPTH))
    entries = land_entries(buffer, "trtllm_bench_entry", raw_path, run, "report", without_contradicted_zeros(stated, report))
    if "request_info/num_requests" not in entries:
        report("missing-key", "the report has no request_info/num_requests", 0, len(data), severity="error")
    check_statistics(_by_statistic(entries), report)
    _check_rates(entries, report)
    lengths = {which: _number(entries, f"dataset/{which}_stats/average") for which in ("isl", "osl")}
    is_known = None not in lengths.values()
    buffer.add(
        "trtllm_bench_run", raw_path, 0, bundle.manifest.by_path[raw_path].bytes, run_id=run,
        workload_point="/".join(f"{which}{length:.15g}" for which, length in lengths.items()) if is_known else "all",
        **_sizes(entries, report), **named_columns(bundle.manifest.identity, raw_path), **workload_columns(_workload(entries)),
    )
    if REQUESTS in files:
        detail, beside = Detail(), files[REQUESTS].raw_path
        rows = request_rows(bundle.map(beside), Report(buffer, beside, run), detail)
        yield from buffer.add_all("trtllm_bench_request", beside, rows, run_id=run)
        check(entries, detail, report)
    yield from buffer.full()


def _entry(element: Element, report: Report) -> Entry:
    entry = element_entry(element, report)
    if _NUMBERS.fullmatch(entry.key):
        entry = numeric(entry, report)
    return possible(entry, report, _KINDS.get(entry.key))


def _number(entries: Mapping[str, Entry], key: str) -> float | None:
    return entries[key].number if key in entries else None


def _by_statistic(entries: Mapping[str, Entry]) -> dict[str, Entry]:
    found = {}
    for key, entry in entries.items():
        section, _, name = key.rpartition("/")
        found[f"{_STATISTICS[section]}/{_NAMES.get(name, name)}" if section in _STATISTICS else key] = entry
    return found


def _check_rates(entries: Mapping[str, Entry], report: Report) -> None:
    """As `BenchmarkStatistics` computes them (`tensorrt_llm/bench/dataclasses/statistics.py`); the average latency occurs twice."""
    requests, took = _number(entries, "request_info/num_requests"), _number(entries, "performance/total_latency_ms")
    lengths = [_number(entries, f"request_info/avg_{which}_length") for which in ("input", "output")]
    expected: list[tuple[str, float, str]] = []
    if requests and took:
        expected.append(("request_throughput_req_s", requests / took * 1e3, "num_requests over total_latency_ms"))
        if lengths[1] is not None:
            of = "num_requests * avg_output_length over total_latency_ms"
            expected.append(("system_output_throughput_tok_s", requests * lengths[1] / took * 1e3, of))
            if lengths[0] is not None:
                of = "num_requests * (avg_input_length + avg_output_length) over total_latency_ms"
                expected.append(("system_total_throughput_tok_s", requests * (lengths[0] + lengths[1]) / took * 1e3, of))
    average = _number(entries, "performance/request_latency_percentiles_ms/average")
    if average is not None:
        expected.append(("avg_request_latency_ms", average, "request_latency_percentiles_ms/average"))
    for key, computed, of in expected:
        if entry := entries.get(f"performance/{key}"):
            check_agrees(entry, computed, of, report)


def _sizes(entries: Mapping[str, Entry], report: Report) -> dict[str, int | float | None]:
    """The columns of parallel sizes and of all accelerators: the product of sizes and, where there is one, of context parallelism."""
    columns: dict[str, int | None] = {}
    for column, key in (*_SIZES.items(), ("accelerator_count", "world_size")):
        entry = entries.get(f"world_info/{key}")
        columns[column] = size_in(entry.number) if entry else None
        if entry and entry.number is not None and (doubt := size_doubt(entry)):
            report.at(doubt.code, doubt.message, entry, doubt.severity)
    world, spread = columns["accelerator_count"], (columns["tensor_parallel"] or 1) * (columns["pipeline_parallel"] or 1)
    if world and world % spread:
        message = f"world_size is {world}, but tp_size and pp_size multiply to {spread}: the number of accelerators is taken as unknown"
        report.at("accelerator-count-disagrees", message, entries[_WORLD], WARNING)
        world = columns["accelerator_count"] = None
    # `statistics.py` divides by the world size.
    each, whole = (entries.get(f"performance/{key}") for key in ("output_throughput_per_gpu_tok_s", "system_output_throughput_tok_s"))
    implied = implied_by(each, whole, world) if each and whole else Implied()
    if implied.doubt:
        report.at(implied.doubt.code, implied.doubt.message, implied.doubt.entry or entries[_WORLD], implied.doubt.severity)
    if implied.is_contradicted:
        columns["accelerator_count"] = None
    return {**columns, "implied_accelerator_count": implied.accelerators, "accelerator_count_ratio": implied.ratio}


def _workload(entries: Mapping[str, Entry]) -> dict[str, Any]:
    """What was asked of the server: the model, and the requests of the dataset. Paths are not in it."""
    workload: dict[str, Any] = {"tool": "trtllm-bench", "streaming": any(key.startswith("streaming_metrics/") for key in entries)}
    if model := stated_text(entries, "engine/model"):
        workload["model"] = model
    for key in ("num_requests", *(f"{which}_stats/{name}" for which in ("isl", "osl") for name in ("minimum", "average", "maximum"))):
        if (number := _number(entries, f"dataset/{key}")) is not None:
            workload[key] = exact_number(number)
    return workload
