"""Turns a run into landing rows, and checks the statistics that it states against its own requests.

Only `Bundle.read` and `Bundle.map` may raise here (tampered or missing bytes); everything else becomes an issue.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import pyarrow as pa

from warehouse.landing.consistency import check_rate, check_statistics, check_units, without_contradicted_zeros
from warehouse.landing.contract import Bundle
from warehouse.landing.readers.entries import Kind, check_computed, check_span, check_total, document, element_entry, land_entries, numeric, possible
from warehouse.landing.readers.json_text import Element, json_pairs
from warehouse.landing.readers.statistics import agrees, mean, percentile
from warehouse.landing.readers.text import Data, Entry, Report, whole
from warehouse.landing.rows import Row, RowBuffer, Rows, workload_columns
from warehouse.landing.serving.path_names import named_columns

from .bundles import RECORDS, SCRAPES, SERVER_METRICS, SERVER_METRICS_CSV, SLICES, run_id
from .csv_text import csv_entries
from .deployment import deployment_row
from .failed import AGGREGATE, FAILED, landed_failures
from .raw_export import Experiment, request_rows
from .records import record_rows
from .server_metrics import csv_rows, json_rows, scrape_rows
from .slices import slice_rows
from .units import COUNTED, MILLISECONDS, RATES, is_known
from .workload import load_kind, workload_document

_DEPTH = 7
_AIPERF_KEYS = frozenset({"aiperf_version", "was_cancelled", "error_summary"})
_RECORDS = "records/"  # AIPerf 0.1 nests its statistics, which are at the top before and after
_COUNTS = re.compile(rf"(?:{_RECORDS})?(?:(?:error_)?request_count|total_(?:isl|osl))/avg")
_DURATION = re.compile(rf"(?:{_RECORDS})?benchmark_duration/avg")
_NUMBERS = re.compile(rf"(?:{_RECORDS})?\w+/(?:avg|min|max|std|sum|count|p\d+(?:\.\d+)?)")
# What was asked for; 0, or none, where the run went on for some time instead.
_ASKED_FOR = ("input_config/request_count", "input_config/loadgen/request_count")
# AIPerf's derived metrics (its metrics reference), each over the benchmark's duration, which genai-perf does not state.
_RATES = {
    "request_throughput": ("request_count/avg",), "output_token_throughput": ("total_osl/avg",),
    "total_token_throughput": ("total_isl/avg", "total_osl/avg"),
}
_SECONDS = frozenset({"s", "sec", "seconds"})
_PERCENTILES = (25, 50, 75, 90, 95, 99)

_Batches = Iterator[tuple[str, pa.RecordBatch]]


def landed(bundle: Bundle, buffer: RowBuffer) -> _Batches:
    """Add all rows of a bundle; yields batches that are full."""
    paths = {file.role or "": file.raw_path for file in bundle.manifest.files}
    if AGGREGATE in paths:
        landed_failures(bundle, buffer, paths[AGGREGATE], bundle.manifest.identity[FAILED])
        return
    lead = next(paths[role] for role in ("summary", "csv", "records", "raw") if role in paths)
    run = run_id(bundle.manifest.identity, bundle.manifest.by_path[lead].sha256)
    entries = _summary(bundle, buffer, run, paths)
    experiments: list[Experiment] = []
    if "raw" in paths:
        yield from _rows(bundle, buffer, run, "genai_perf_request", paths["raw"], partial(request_rows, experiments=experiments))
    if "records" in paths:
        yield from _rows(bundle, buffer, run, "genai_perf_record", paths["records"], record_rows)
    if SLICES in paths:
        yield from _rows(bundle, buffer, run, "genai_perf_slice", paths[SLICES], slice_rows)
    # The CSV is rounded, and of the scrapes the others are statistics.
    for role, read in ((SERVER_METRICS, json_rows), (SERVER_METRICS_CSV, csv_rows), (SCRAPES, scrape_rows)):
        if role in paths:
            yield from _rows(bundle, buffer, run, "genai_perf_server_metric", paths[role], read)
            break
    tool = _tool(entries, paths)
    workload = workload_document(tool, entries, Report(buffer, lead, run))
    if precision := _deployment(bundle, buffer, run):
        workload["precision"] = precision
    _add_points(bundle, buffer, run, paths, workload, experiments)
    if len(experiments) == 1:
        _check(entries, experiments[0], Report(buffer, lead, run))
    buffer.add(
        "genai_perf_run", lead, 0, bundle.manifest.by_path[lead].bytes,
        run_id=run, tool=tool, **named_columns(bundle.manifest.identity, lead), **workload_columns(workload),
    )


def _rows(
    bundle: Bundle, buffer: RowBuffer, run: str, table: str, raw_path: str, read: Callable[[Data, Report], Iterable[Row | Rows]]
) -> _Batches:
    return buffer.add_all(table, raw_path, read(bundle.map(raw_path), Report(buffer, raw_path, run)), run_id=run)


def _deployment(bundle: Bundle, buffer: RowBuffer, run: str) -> str | None:
    """Add the deployment that the first of the records states that restate the run; the precision of the model."""
    numbers = bundle.manifest.identity.get(RECORDS, {})
    for raw_path in sorted(numbers):
        row = deployment_row(bundle, raw_path, numbers[raw_path][0], Report(buffer, raw_path, run))
        if row:
            buffer.add_read("genai_perf_deployment", raw_path, row, run_id=run)
            precision: str | None = row.columns["precision"]
            return precision
    return None


def _tool(entries: Mapping[str, Entry], paths: Mapping[str, str]) -> str:
    name = (paths.get("summary") or paths.get("csv") or "").casefold()
    if "records" in paths or "_aiperf." in name or not _AIPERF_KEYS.isdisjoint(entries):
        return "aiperf"
    return "genai-perf" if name else "perf_analyzer"


def _summary(bundle: Bundle, buffer: RowBuffer, run: str, paths: Mapping[str, str]) -> dict[str, Entry]:
    """The statistics by key. The CSV is rounded, and no source where the JSON is there."""
    role = next((role for role in ("summary", "csv") if role in paths), None)
    if role is None:
        return {}
    report = Report(buffer, paths[role], run)
    data = document(bundle, paths[role], report)
    found: Iterator[Entry] = csv_entries(data, report)
    if role == "summary":
        found = (_entry(element, report) for element in json_pairs(data, report, depth=_DEPTH))
    found = (possible(entry, report, _kind(entry.key)) for entry in found)
    stated = land_entries(buffer, "genai_perf_entry", paths[role], run, "summary", without_contradicted_zeros(found, report))
    entries = {key.removeprefix(_RECORDS): entry for key, entry in stated.items()}
    for total in _ASKED_FOR:
        if total in entries and entries[total].number:  # no published number is made of it
            check_total(entries, total, ("request_count/avg", "error_request_count/avg"), report, "warning")
    check_statistics(entries, report)
    check_units(entries, (), report)
    check_span(entries, "start_time", "end_time", report)
    units = {name: entry.value for name in ("benchmark_duration", *_RATES) if (entry := entries.get(f"{name}/unit"))}
    for rate, counted in _RATES.items() if units.get("benchmark_duration") in _SECONDS else ():
        if units.get(rate) in RATES:
            check_rate(entries, f"{rate}/avg", counted, "benchmark_duration/avg", report)
    for key, entry in entries.items():
        name, _, statistic = key.rpartition("/")
        if statistic == "unit" and not is_known(name, entry.value):
            report.at("unknown-unit", f"{name}: {entry.value}", entry, "error")
        elif statistic == "avg" and f"{name}/unit" not in entries and not (role == "csv" and COUNTED.fullmatch(name)):
            report.at("unknown-unit", f"{name} states none", entry, "error")
    return entries


def _kind(key: str) -> Kind | None:
    if _COUNTS.fullmatch(key):
        return Kind.COUNT
    if _DURATION.fullmatch(key):
        return Kind.DURATION
    return load_kind(key)


def _entry(element: Element, report: Report) -> Entry:
    entry = element_entry(element, report)
    return numeric(entry, report) if _NUMBERS.fullmatch(entry.key) else entry


def _add_points(
    bundle: Bundle, buffer: RowBuffer, run: str, paths: Mapping[str, str], workload: Mapping[str, Any],
    experiments: Sequence[Experiment],
) -> None:
    """A point for each experiment of the raw export, or the one that the summary or the records are of."""
    summary = paths.get("summary") or paths.get("csv")
    concurrency, rate = workload.get("concurrency"), workload.get("request_rate")
    concurrency = concurrency if isinstance(concurrency, int) else None
    if not experiments:
        lead = summary or paths.get("records") or paths["raw"]
        buffer.add(
            "genai_perf_point", lead, 0, bundle.manifest.by_path[lead].bytes,
            run_id=run, point_index=0, concurrency=concurrency, request_rate_per_s=rate, has_summary=summary is not None,
        )
    for index, experiment in enumerate(experiments):
        is_concurrency = experiment.mode == "concurrency"
        is_asked_for = experiment.value == (concurrency if is_concurrency else rate)
        buffer.add(
            "genai_perf_point", paths["raw"], experiment.offset, experiment.length, run_id=run, point_index=index,
            concurrency=whole(experiment.value) if is_concurrency else None,
            request_rate_per_s=experiment.value if experiment.mode == "request_rate" else None,
            has_summary=summary is not None and (len(experiments) == 1 or is_asked_for),
        )


def _check(entries: Mapping[str, Entry], experiment: Experiment, report: Report) -> None:
    """Tell where a stated time disagrees with the requests'."""
    for name, values in (
        ("time_to_first_token", experiment.first_tokens_ns), ("request_latency", experiment.latencies_ns)
    ):
        unit = entries.get(f"{name}/unit")
        factor = MILLISECONDS.get(unit.value or "") if unit else None
        if not values or factor is None:
            continue
        ordered = sorted(values)
        computed = {"avg": mean(ordered), "min": ordered[0], "max": ordered[-1]}
        computed |= {f"p{percent}": percentile(ordered, percent) for percent in _PERCENTILES}
        for statistic, nanoseconds in computed.items():
            entry = entries.get(f"{name}/{statistic}")
            here = nanoseconds / 1e6 / factor
            # A CSV has two decimals, a JSON all.
            if entry is None or entry.number is None or agrees(entry.number, here) or agrees(entry.number, round(here, 2)):
                continue
            if unit is not None:
                check_computed(entry._replace(key=f"{name}/{statistic}"), here, report, f" {unit.value}")
