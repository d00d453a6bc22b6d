"""Turns a bundle into landing rows: the console beside a result, then each of its records.

Only `Bundle.read` and `Bundle.map` may raise here (tampered or missing bytes); everything else becomes an issue.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

import numpy as np
import pyarrow as pa

from warehouse.landing.consistency import check_rate, check_statistics, check_sum
from warehouse.landing.contract import Bundle
from warehouse.landing.readers.entries import check_span, check_total, element_entry, land_entries, land_entry, possible
from warehouse.landing.readers.json_text import Element, json_number, json_pairs, json_text
from warehouse.landing.readers.records import ABSENT, shown
from warehouse.landing.readers.text import Data, Entry, Report, clean, is_non_finite, landed_text
from warehouse.landing.rows import RowBuffer
from warehouse.landing.serving.console import console_entries
from warehouse.landing.serving.path_names import told_by
from warehouse.landing.severity import WARNING

from .agreement import disagreements, disagreements_per_accelerator, metrics_of_requests
from .bundles import CONSOLE, FOLDER, META, RECORDS, RESULT, SERVER_LOG
from .counts import without_contradictions as without_contradicted_counts
from .formats import RATE_WORDS, format_of, is_unknown_metric, kind_of, states_number
from .latencies import without_contradictions
from .records import Pair, Record, records, scalar
from .requests import ARRAYS, Detail, detail_of, statistics
from .run import concurrency_doubt, identity_of, run_columns, run_id
from .table import FILE_NAME, rows

_Batches = Iterator[tuple[str, pa.RecordBatch]]
_ENTRY, _RUN, _REQUEST = "bench_serving_entry", "bench_serving_run", "bench_serving_request"
# Of what was asked for, or sent, the requests that ended somehow; by the client's, the transcription's and InferenceX's record.
_TOTALS = {
    "num_prompts": ("completed", "failed"), "results/total": ("results/success", "results/failed"),
    "num_requests_total": ("num_requests_successful",),
}
# Each rate, what it counts and the duration, by the producers' own calculation: `calculate_metrics` of vLLM's, SGLang's and InferenceX's
# clients. Failed requests are in no count.
_TOKENS = ("total_input_tokens", "total_output_tokens")
_RATES = (
    ("request_throughput", ("completed",), "duration"), ("input_throughput", _TOKENS[:1], "duration"),
    ("output_throughput", _TOKENS[1:], "duration"), ("total_token_throughput", _TOKENS, "duration"),
    ("total_throughput", _TOKENS, "duration"), ("results/throughput_rps", ("results/success",), "results/total_time_s"),
)
_SUMS = (
    ("total_throughput", ("input_throughput", "output_throughput")), ("total_token_throughput", ("input_throughput", "output_throughput")),
    ("total_tput_tps", ("input_tput_tps", "output_tput_tps")),
)
_DEPTH = 6  # of the objects in a record
_MAX_ARRAY_BYTES = 4096  # of an array that lands as text: those of a value for each request are longer
_SERVER_LOG_BYTES = 8 << 20
_MAX_VALUE_BYTES = 4 << 20  # of a value that is no array: the server's state is some kilobytes


def landed(bundle: Bundle, buffer: RowBuffer) -> _Batches:
    """Add all rows of a bundle; yields batches that are full."""
    for file in bundle.manifest.files:
        if file.role == RESULT and file.raw_path.rpartition("/")[2] != META:  # an older version took it for a record
            yield from _result(bundle, buffer, file.raw_path, file.sha256)


def _result(bundle: Bundle, buffer: RowBuffer, raw_path: str, sha256: str) -> _Batches:
    unnamed = Report(buffer, raw_path, None)
    data = bundle.map(raw_path)
    console, console_path = _console(bundle, buffer, raw_path)
    log, log_path = _server_log(bundle, buffer, raw_path)
    log = [entry for entry in log if entry.key not in {printed.key for printed in console}]
    printed = {entry.key: entry for entry in (*console, *log)}
    names: Counter[str] = Counter()
    own = bundle.manifest.identity.get(RECORDS, {}).get(raw_path)
    number = -1
    for record, pairs, stated in _rows_of_table(data, unnamed) if raw_path.endswith(".csv") else _records(data, unnamed):
        by_key = {entry.key: entry for entry in stated}
        kind = format_of(by_key.keys() | pairs.keys())
        if kind is None:
            unnamed.at("unknown-record", "a record that no known client writes", record, "error")
            continue
        number += 1
        name = run_id(kind, raw_path, identity_of(by_key, sha256), 1)
        names[name] += 1
        if own is not None and number not in own:  # another file states it
            continue
        name = run_id(kind, raw_path, identity_of(by_key, sha256), names[name])
        report = Report(buffer, raw_path, name)
        completed = by_key.get("completed")
        detail = detail_of(data, pairs, completed.number if completed else None, report)
        stated = without_contradicted_counts(without_contradictions(stated, report), detail, report)
        by_key = {entry.key: entry for entry in stated}
        for source, path, entries in (("result", raw_path, stated), ("console", console_path, console), ("console", log_path, log)):
            land_entries(buffer, _ENTRY, path, name, source, entries)
        if folder := bundle.manifest.identity.get(FOLDER):
            message = f"another file of this name and second states other figures: the folder {clean(str(folder))[:120]} is part of the run's name"
            report.at("name-collides", message, record, WARNING)
        told = told_by(_named_path(raw_path, by_key))
        columns, deployment = run_columns(kind, by_key, printed, told)
        if columns["ended_at_text"] and "ended_at" not in columns:
            report.at("not-a-time", f"date: {shown(by_key['date'].value)}", by_key["date"], "error")
        for total, parts in _TOTALS.items():
            check_total(by_key, total, parts, report, are_all=len(parts) > 1)  # the rest of one part failed
        check_statistics(by_key, report)
        check_span(by_key, "benchmark_start_time_unix", "benchmark_end_time_unix", report)
        for rate, counted, duration in _RATES:
            check_rate(by_key, rate, counted, duration, report)
        for whole, rates in _SUMS:
            check_sum(by_key, whole, rates, report)
        doubts = [*deployment.doubts, concurrency_doubt(kind, by_key)]
        for doubt in filter(None, doubts):
            # A size that is not even a number was already reported when it was read.
            if doubt.code != "not-a-size" or doubt.entry is None or doubt.entry.number is not None or not states_number(doubt.entry.key):
                report.at(doubt.code, doubt.message, doubt.entry or record, doubt.severity)
        for doubt in deployment.console_doubts:
            beside = Report(buffer, log_path if doubt.entry in log else console_path, name)
            beside.at(doubt.code, doubt.message, doubt.entry or record, doubt.severity)
        for entry, message, severity in disagreements_per_accelerator(by_key, columns["accelerator_count"]):
            report.at("aggregate-disagrees", message, entry, severity)
        # A record that breaks off has not all of its requests.
        of_requests = _add_statistics(buffer, name, raw_path, by_key, detail, record, report) if detail and record.is_whole else None
        buffer.add(
            _RUN, raw_path, record.offset, record.length, run_id=name, format=kind, is_whole=record.is_whole,
            metrics_of_requests=of_requests, **columns,
        )
        if detail:
            _add_requests(buffer, name, raw_path, detail)
        yield from buffer.full()
    if not names:
        unnamed("no-result", "the file holds no whole key of a result", severity="error")


def _records(data: Data, report: Report) -> Iterator[tuple[Record, dict[str, Pair], list[Entry]]]:
    """The records of a file, with their pairs and what they state."""
    for record in records(data, report):
        pairs = _by_key(record.pairs, report)
        is_known = format_of(pairs.keys()) is not None
        yield record, pairs, list(_record_entries(data, pairs, report)) if is_known else []


def _rows_of_table(data: Data, report: Report) -> Iterator[tuple[Record, dict[str, Pair], list[Entry]]]:
    """The rows of a sweep's table, as records without pairs."""
    for row in rows(data, report):
        yield Record(row.line.offset, row.line.offset + row.line.length, row.line.number, (), True), {}, row.entries


def _console(bundle: Bundle, buffer: RowBuffer, raw_path: str) -> tuple[list[Entry], str]:
    """The entries of the console output of a result's name, if there is one."""
    stem = raw_path.rpartition(".")[0]
    files = (file for file in bundle.manifest.files if file.role == CONSOLE)
    path = next((file.raw_path for file in files if file.raw_path.rpartition(".")[0] == stem), None)
    if path is None:
        return [], raw_path
    return list(console_entries(bundle.map(path), Report(buffer, path, None))), path


def _server_log(bundle: Bundle, buffer: RowBuffer, raw_path: str) -> tuple[list[Entry], str]:
    """The entries of the log of the server beside a result, if there is one. A server says at its start what it is."""
    stem = raw_path.rpartition(".")[0]
    paths = [file.raw_path for file in bundle.manifest.files if file.role == SERVER_LOG]
    path = next((path for path in paths if path.startswith(stem)), paths[0] if paths else None)
    if path is None:
        return [], raw_path
    return list(console_entries(bundle.map(path)[:_SERVER_LOG_BYTES], Report(buffer, path, None))), path


def _named_path(raw_path: str, by_key: Mapping[str, Entry]) -> str:
    """The path whose names tell of a run: of a row of a table, that of the file that the run had, if a column names it."""
    former = (by_key[FILE_NAME].value or "").rpartition("/")[2] if raw_path.endswith(".csv") and FILE_NAME in by_key else ""
    return f"{raw_path.rpartition('/')[0]}/{former}.json".lstrip("/") if former else raw_path


def _by_key(pairs: tuple[Pair, ...], report: Report) -> dict[str, Pair]:
    """The pairs by key. A key that occurs twice is reported, and its last pair counts, as for every reader of JSON."""
    found: dict[str, Pair] = {}
    for pair in pairs:
        if "\ufffd" in pair.key:
            report.at("invalid-utf8", pair.key[:120], pair)
        if pair.key in found:
            report.at("duplicate-json-key", f"{pair.key[:120]}; the last one counts", pair)
        found[pair.key] = pair
    return found


def _record_entries(data: Data, pairs: Mapping[str, Pair], report: Report) -> Iterator[Entry]:
    """The record's values, and those of the objects in it, named `server_info/version`. Arrays are values."""
    for pair in pairs.values():
        place = (pair.offset, pair.length, pair.line_number)
        first = data[pair.start : pair.start + 1]
        if pair.key in ARRAYS:
            continue
        if first in (b"[", b"{") and states_number(pair.key):
            report.at("not-a-number", pair.key[:120], pair, "error")
        if first == b"[":
            written = data[pair.start : pair.stop] if pair.stop - pair.start <= _MAX_ARRAY_BYTES else None
            yield Entry(*place, pair.key, clean(written.decode(errors="surrogateescape")) if written else None, None)
            continue
        if pair.stop - pair.start > _MAX_VALUE_BYTES:
            report.at("value-too-large", f"{pair.key[:120]}: {pair.stop - pair.start} bytes", pair, "note")
            continue
        if first == b"{":
            inner = data[pair.start : pair.stop]
            for element in json_pairs(inner, report, depth=_DEPTH, start=(pair.start, pair.line_number)):
                yield from _scalar(element._replace(key=f"{pair.key}/{element.key}"), report)
            continue
        try:
            value = scalar(data[pair.start : pair.stop])
        except ValueError:
            report.at("malformed-json", f"{pair.key[:120]} has no JSON value", pair, "error")
            continue
        yield from _scalar(Element(*place, pair.key, value), report)


def _scalar(element: Element, report: Report) -> Iterator[Entry]:
    """A pair's entry; a value that should be a number and is not is reported."""
    if element.value is None:  # as most of a server's arguments
        yield element_entry(element, report)
        return
    key, value = str(element.key), element.value
    is_scalar = not isinstance(value, (list, dict))
    text = (json_text(value) or "").strip() if is_scalar else ""
    if is_scalar and key == "request_rate" and text.casefold() in RATE_WORDS:
        yield Entry(*element[:3], key, landed_text(text), None)
        return
    is_missing = is_scalar and text.casefold() in ABSENT
    if states_number(key) and json_number(value) is None and not (is_missing or is_non_finite(text)):
        report.at("not-a-number", f"{key[:80]}: {shown(value)}", element, "error")
    if is_unknown_metric(key) and json_number(value) is not None:
        report.at("unknown-metric", f"{key[:120]} looks like a latency or a rate; its statistic or unit is unknown, so no column holds it", element)
    yield possible(element_entry(element, report), report, kind_of(key))


def _add_statistics(
    buffer: RowBuffer, name: str, raw_path: str, stated: Mapping[str, Entry], detail: Detail, record: Record, report: Report
) -> str | None:
    """Adds what the requests give, beside what the record states. Returns the latencies of which they give all statistics of the run."""
    found = list(statistics(detail))
    failed = float(detail.failed)
    for key, value, place in (("failed", failed, detail.places["all"]), *found):
        entry = Entry(place.offset, place.length, record.line_number, key, repr(value), value)
        land_entry(buffer, _ENTRY, raw_path, name, "requests", entry)
    computed = {key: value for key, value, _ in found}
    for entry, message, severity in disagreements(stated, detail, computed):
        report.at("aggregate-disagrees", message, entry, severity)
    return ",".join(metrics_of_requests(stated, detail, computed)) or None


def _add_requests(buffer: RowBuffer, name: str, raw_path: str, detail: Detail) -> None:
    place, count = detail.places["all"], detail.requests
    buffer.add_columns(
        _REQUEST, raw_path, np.full(count, place.offset), np.full(count, place.length),
        run_id=name, request_index=np.arange(count), **detail.columns,
    )
