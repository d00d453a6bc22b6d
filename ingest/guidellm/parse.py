"""Turns a report, or its table, into landing rows, benchmark by benchmark, and checks their aggregates against their requests.

Only `Bundle.read` and `Bundle.map` may raise here (tampered or missing bytes); everything else becomes an issue.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from warehouse.landing.consistency import check_statistics, check_units, without_contradicted_zeros
from warehouse.landing.contract import Bundle
from warehouse.landing.readers.entries import (
    MAX_DOCUMENT_BYTES,
    Kind,
    check_computed,
    check_span,
    check_total,
    element_entry,
    land_entries,
    numeric,
    possible,
)
from warehouse.landing.readers.json_stream import JsonStream
from warehouse.landing.readers.json_text import Element, json_pairs
from warehouse.landing.readers.statistics import agrees, mean
from warehouse.landing.readers.text import Data, Entry, Report
from warehouse.landing.rows import RowBuffer, workload_columns
from warehouse.landing.serving.path_names import named_columns
from warehouse.landing.serving.session_loads import load_unit

from .bundles import RUN_ID, RUN_ID_BYTES, TABLE
from .requests import Detail, request_rows
from .strategy import Load, load_of
from .table import OF_REPORT, benchmarks, run_of

_RUN_ID = re.compile(r"[0-9A-Za-z-]{8,64}")
_DEPTH = 7
_TOTALS = re.compile(r"(?:metrics/)?request_totals/\w+")
_MOMENTS = frozenset({"start_time", "end_time"})
# What every version writes as a number, or null.
_NUMBERS = re.compile(
    r"metrics/\w+/(?:successful|errored|incomplete|total)/(?:mean|median|mode|variance|std_dev|min|max|count|total_sum|percentiles/p\d+)"
)
_LOAD = re.compile(r"(?:config|args)/strategy/\w+")
_LOADS = {"rate": Kind.REQUEST_RATE, "streams": Kind.CONCURRENCY, "max_concurrency": Kind.CONCURRENCY}
_NOT_LANDED = frozenset({"requests", "request_samples"})

_Batches = Iterator[tuple[str, pa.RecordBatch]]


@dataclass
class _Parse:
    bundle: Bundle
    buffer: RowBuffer
    raw_path: str
    run: str
    report: Report
    stated: dict[str, Entry] = field(default_factory=dict)  # of the report as a whole
    loads: list[Load] = field(default_factory=list)
    backend: dict[str, str] = field(default_factory=dict)


def landed(bundle: Bundle, buffer: RowBuffer) -> _Batches:
    """Add all rows of a bundle; yields batches that are full."""
    (file,) = bundle.manifest.files
    data = bundle.map(file.raw_path)
    run = f"guidellm/{_run_named(data[:RUN_ID_BYTES], file.role) or bundle.digest[:16]}"
    parse = _Parse(bundle, buffer, file.raw_path, run, Report(buffer, file.raw_path, run))
    yield from (_table if file.role == TABLE else _document)(parse, data)
    if not parse.loads:
        parse.report("missing-key", "the report has no benchmarks", 0, len(data), severity="error")
    _add_run(parse)


def _run_named(head: bytes, role: str | None) -> str | None:
    if role == TABLE:
        named = run_of(head)
        return named if named and _RUN_ID.fullmatch(named) else None
    match = RUN_ID.search(head)
    return match[1].decode() if match else None


def _table(parse: _Parse, data: Data) -> _Batches:
    for benchmark in benchmarks(data, parse.report):
        index = len(parse.loads)
        of_report = [entry for entry in benchmark.entries if entry.key.startswith(OF_REPORT)]
        if not index:  # every row repeats them
            parse.stated = land_entries(parse.buffer, "guidellm_entry", parse.raw_path, parse.run, TABLE, of_report, benchmark_index=None)
        own = [entry for entry in benchmark.entries if not entry.key.startswith(OF_REPORT)]
        own = without_contradicted_zeros(own, parse.report)
        entries = land_entries(parse.buffer, "guidellm_entry", parse.raw_path, parse.run, TABLE, own, benchmark_index=index)
        yield from _add_benchmark(parse, entries, Detail(), benchmark.line.offset, benchmark.line.length)


def _document(parse: _Parse, data: Data) -> _Batches:
    with JsonStream(data, parse.report) as stream:
        for pair in stream.pairs():
            if pair.key == "benchmarks":
                for offset in stream.elements():
                    yield from _benchmark(parse, data, stream, offset)
            else:
                parse.stated |= _land(parse, data, stream, pair.key, None)


def _benchmark(parse: _Parse, data: Data, stream: JsonStream, offset: int) -> _Batches:
    index = len(parse.loads)
    entries: dict[str, Entry] = {}
    detail = Detail()
    has_requests = False
    for pair in stream.pairs():
        has_requests = has_requests or pair.key == "requests"
        if pair.key == "requests":
            rows = request_rows(stream, parse.report, detail)
            yield from parse.buffer.add_all("guidellm_request", parse.raw_path, rows, run_id=parse.run, benchmark_index=index)
        elif pair.key not in _NOT_LANDED:
            entries |= _land(parse, data, stream, pair.key, index)
    if not has_requests:
        parse.report("missing-key", f"benchmark {index} has no requests", offset, 0, stream.line_number(offset))
    yield from _add_benchmark(parse, entries, detail, offset, stream.offset - offset)


def _add_benchmark(parse: _Parse, entries: Mapping[str, Entry], detail: Detail, offset: int, length: int) -> _Batches:
    load = load_of(entries, parse.report)
    index, same = len(parse.loads), Counter(parse.loads)[load]
    parse.loads.append(load)
    for name, keys in (("model", ("config/backend/model", "worker/backend_model")), ("kind", ("config/backend/kind",))):
        value = next((entries[key].value for key in keys if key in entries), None)
        if value:
            parse.backend.setdefault(name, value)
    parse.buffer.add(
        "guidellm_benchmark", parse.raw_path, offset, length,
        run_id=parse.run, benchmark_index=index,
        workload_point=(load.strategy or "unstated") + (f" {same + 1}" if same else ""),
        **load._asdict(),
    )
    for totals in ("metrics/request_totals", "request_totals"):
        parts = [f"{totals}/{status}" for status in ("successful", "errored", "incomplete")]
        check_total(entries, f"{totals}/total", parts, parse.report)
    check_statistics(entries, parse.report)
    check_units(entries, ("ms",), parse.report)
    check_span(entries, "start_time", "end_time", parse.report)
    _check(parse.report, entries, detail)
    yield from parse.buffer.full()


def _land(parse: _Parse, data: Data, stream: JsonStream, key: str, benchmark: int | None) -> dict[str, Entry]:
    """Land the value at the cursor: an object key by key, anything else as one entry."""
    is_object = stream.kind() == "{"
    found: Iterable[Element]
    start = stream.offset
    line = stream.line_number(start)
    if is_object:
        stream.skip()
        size = stream.offset - start
        if size > MAX_DOCUMENT_BYTES:
            parse.report("document-too-large", f"{key}: {size} bytes", start, size, line, "error")
            return {}
        within = json_pairs(bytes(data[start : stream.offset]), parse.report, depth=_DEPTH, start=(start, line))
        found = (element._replace(key=f"{key}/{element.key}") for element in within)
    else:
        value = stream.value()
        found = [Element(start, stream.offset - start, line, key, value)]
    entries = without_contradicted_zeros((_entry(element, parse.report) for element in found), parse.report)
    return land_entries(parse.buffer, "guidellm_entry", parse.raw_path, parse.run, "report", entries, benchmark_index=benchmark)


def _entry(element: Element, report: Report) -> Entry:
    entry = element_entry(element, report)
    is_count, is_moment = bool(_TOTALS.fullmatch(entry.key)), entry.key in _MOMENTS
    if is_count or is_moment or _NUMBERS.fullmatch(entry.key):
        entry = numeric(entry, report)
    kind = Kind.COUNT if is_count else Kind.MOMENT if is_moment else _LOADS.get(entry.key.rpartition("/")[2]) if _LOAD.fullmatch(entry.key) else None
    return possible(entry, report, kind)


def _check(report: Report, entries: Mapping[str, Entry], detail: Detail) -> None:
    """Tell where the counts or means disagree with the requests; a sample of the requests is no ground for that."""
    successful = detail.counts["successful"]
    total = next(
        (entries[key] for key in ("metrics/request_totals/successful", "request_totals/successful") if key in entries), None
    )
    if not successful or total is None or total.number != successful:
        return
    for name, values in (("request_latency", detail.latencies_s), ("time_to_first_token_ms", detail.first_tokens_ms)):
        stated = entries.get(f"metrics/{name}/successful/mean")
        if stated and stated.number is not None and len(values) == successful and not agrees(stated.number, mean(values)):
            check_computed(stated, mean(values), report)


def _add_run(parse: _Parse) -> None:
    version, schema = (parse.stated.get(f"metadata/{key}") for key in ("guidellm_version", "version"))
    parse.buffer.add(
        "guidellm_run", parse.raw_path, 0, parse.bundle.manifest.by_path[parse.raw_path].bytes,
        run_id=parse.run, guidellm_version=version.value if version else None, report_version=schema.value if schema else None,
        **named_columns(parse.bundle.manifest.identity, parse.raw_path), **workload_columns(_workload(parse)),
    )


def _workload(parse: _Parse) -> dict[str, Any]:
    """What was asked of the server: its model, the data, and the load of each benchmark."""
    workload: dict[str, Any] = {"tool": "guidellm"}
    model = parse.backend.get("model") or _first(parse, "config/spec/backend/model", "args/model", "args/backend_kwargs/model")
    if model:
        workload["model"] = model
    data = _first(parse, "config/spec/data", "args/data")
    if data:
        workload["data"] = data
    workload["loads"] = [
        {key: value for key, value in load._asdict().items() if value is not None} for load in parse.loads
    ]
    return workload | load_unit([("data", data)])


def _first(parse: _Parse, *keys: str) -> str | None:
    return next((parse.stated[key].value for key in keys if key in parse.stated and parse.stated[key].value), None)
