"""Turns a run into landing rows, and checks the statistics that it states against its own requests.

Only `Bundle.read` and `Bundle.map` may raise here (tampered or missing bytes); everything else becomes an issue.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from warehouse.landing.consistency import check_statistics
from warehouse.landing.contract import Bundle, canonical_json, workload_spec_digest
from warehouse.landing.readers.columns import Rows
from warehouse.landing.readers.entries import check_total, document, element_entry, landed_entries, numeric, possible
from warehouse.landing.readers.json_text import Element, json_pairs
from warehouse.landing.readers.statistics import agrees, mean, percentile
from warehouse.landing.readers.text import Entry, Report
from warehouse.landing.rows import RowBuffer
from warehouse.landing.severity import disagreement

from .bundles import RECORDS, SCRAPES, SERVER_METRICS, SERVER_METRICS_CSV, SLICES, run_id
from .csv_text import csv_entries
from .deployment import deployment_row
from .raw_export import Experiment, request_rows
from .records import record_rows
from .server_metrics import csv_rows, json_rows, scrape_rows
from .slices import slice_rows
from .units import COUNTED, MILLISECONDS, is_known
from .workload import workload_document

_DEPTH = 7
_AIPERF_KEYS = frozenset({"aiperf_version", "was_cancelled", "error_summary"})
_RECORDS = "records/"  # AIPerf 0.1 nests its statistics, which stand at the top before and after
_ROWS_BETWEEN_BATCHES = 5_000
_REQUESTS = re.compile(rf"(?:{_RECORDS})?(?:error_)?request_count/avg")
_NUMBERS = re.compile(rf"(?:{_RECORDS})?\w+/(?:avg|min|max|std|sum|count|p\d+(?:\.\d+)?)")
# What was asked for; 0, or none, where the run went on for some time instead.
_ASKED_FOR = ("input_config/request_count", "input_config/loadgen/request_count")
_PERCENTILES = (25, 50, 75, 90, 95, 99)

_Batches = Iterator[tuple[str, pa.RecordBatch]]


def landed(bundle: Bundle, tables: Mapping[str, pa.Schema]) -> _Batches:
    """All landing rows of a bundle, in batches."""
    buffer = RowBuffer(dict(tables), bundle.digest)
    paths = {file.role or "": file.raw_path for file in bundle.manifest.files}
    lead = next(paths[role] for role in ("summary", "csv", "records", "raw") if role in paths)
    run = run_id(bundle.manifest.identity, bundle.manifest.by_path[lead].sha256)
    entries = _summary(bundle, buffer, run, paths)
    experiments: list[Experiment] = []
    if "raw" in paths:
        yield from _raw(bundle, buffer, run, paths["raw"], experiments)
    if "records" in paths:
        yield from _records(bundle, buffer, run, paths["records"])
    if SLICES in paths:
        data, report = bundle.map(paths[SLICES]), Report(buffer, paths[SLICES], run)
        for offset, length, columns in slice_rows(data, report):
            buffer.add("genai_perf_slice", paths[SLICES], offset, length, run_id=run, **columns)
        yield from buffer.full()
    # The CSV is rounded, and of the scrapes the others are statistics.
    for role, read in ((SERVER_METRICS, json_rows), (SERVER_METRICS_CSV, csv_rows), (SCRAPES, scrape_rows)):
        if role in paths:
            for offset, length, columns in read(bundle.map(paths[role]), Report(buffer, paths[role], run)):
                buffer.add("genai_perf_server_metric", paths[role], offset, length, run_id=run, **columns)
                yield from buffer.full()
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
        run_id=run, tool=tool,
        workload_document=canonical_json(workload).decode(), workload_spec_digest=workload_spec_digest(workload),
    )
    yield from buffer.rest()


def _deployment(bundle: Bundle, buffer: RowBuffer, run: str) -> str | None:
    """Add the deployment that the first of the records states that restate the run; the precision of the model."""
    numbers = bundle.manifest.identity.get(RECORDS, {})
    for raw_path in sorted(numbers):
        row = deployment_row(bundle, raw_path, numbers[raw_path][0], Report(buffer, raw_path, run))
        if row:
            offset, length, columns = row
            buffer.add("genai_perf_deployment", raw_path, offset, length, run_id=run, **columns)
            precision: str | None = columns["precision"]
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
    found = (possible(entry, report, counts=bool(_REQUESTS.fullmatch(entry.key))) for entry in found)
    landed_rows = landed_entries(buffer, "genai_perf_entry", paths[role], run, "summary", found)
    entries = {entry.key.removeprefix(_RECORDS): entry for entry in landed_rows}
    for total in _ASKED_FOR:
        if total in entries and entries[total].number:  # no published number is made of it
            check_total(entries, total, ("request_count/avg", "error_request_count/avg"), report, "warning")
    check_statistics(entries, report)
    for key, entry in entries.items():
        name, _, statistic = key.rpartition("/")
        if statistic == "unit" and not is_known(name, entry.value):
            report("unknown-unit", f"{name}: {entry.value}", entry.offset, entry.length, entry.line_number, "error")
        elif statistic == "avg" and f"{name}/unit" not in entries and not (role == "csv" and COUNTED.fullmatch(name)):
            report("unknown-unit", f"{name} states none", entry.offset, entry.length, entry.line_number, "error")
    return entries


def _entry(element: Element, report: Report) -> Entry:
    entry = element_entry(element, report)
    return numeric(entry, report) if _NUMBERS.fullmatch(entry.key) else entry


def _raw(bundle: Bundle, buffer: RowBuffer, run: str, raw_path: str, experiments: list[Experiment]) -> _Batches:
    report = Report(buffer, raw_path, run)
    data = bundle.map(raw_path)
    for count, row in enumerate(request_rows(data, report, experiments), 1):
        buffer.add(
            "genai_perf_request", raw_path, row.offset, row.length, run_id=run, point_index=row.experiment, **row.columns
        )
        if count % _ROWS_BETWEEN_BATCHES == 0:
            yield from buffer.full()


def _records(bundle: Bundle, buffer: RowBuffer, run: str, raw_path: str) -> _Batches:
    report = Report(buffer, raw_path, run)
    data = bundle.map(raw_path)
    for found in record_rows(data, report):
        if isinstance(found, Rows):
            points = np.zeros(len(found.offsets), np.int64)
            buffer.add_columns(
                "genai_perf_record", raw_path, found.offsets, found.lengths, run_id=run, point_index=points, **found.columns
            )
        else:
            line, columns = found
            buffer.add("genai_perf_record", raw_path, line.offset, len(line.data), run_id=run, point_index=0, **columns)
        yield from buffer.full()


def _add_points(
    bundle: Bundle, buffer: RowBuffer, run: str, paths: Mapping[str, str], workload: Mapping[str, Any],
    experiments: Sequence[Experiment],
) -> None:
    """A point for each experiment of the raw export, or the one that the summary or the records are of."""
    summary = paths.get("summary") or paths.get("csv")
    concurrency, rate = _integer(workload.get("concurrency")), workload.get("request_rate")
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
            concurrency=_integer(experiment.value) if is_concurrency else None,
            request_rate_per_s=experiment.value if experiment.mode == "request_rate" else None,
            has_summary=summary is not None and (len(experiments) == 1 or is_asked_for),
        )


def _integer(number: Any) -> int | None:
    return int(number) if isinstance(number, (int, float)) and float(number).is_integer() and abs(number) < 2**53 else None


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
                severity, apart = disagreement(entry.number, here)
                message = f"{name}/{statistic} is {entry.value} {unit.value}, of the requests {here!r}: {apart}"
                report("aggregate-disagrees", message, entry.offset, entry.length, entry.line_number, severity)
