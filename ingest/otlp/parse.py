"""Turns traces into rows of spans.

Only `Bundle.read` and `Bundle.map` may raise here (tampered or missing bytes); everything else becomes an issue.
"""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa

from warehouse.landing.contract import Bundle, canonical_json
from warehouse.landing.readers.json_stream import JsonStream
from warehouse.landing.readers.json_text import json_text
from warehouse.landing.readers.records import Record
from warehouse.landing.readers.text import MAX_KEY_CHARACTERS, MAX_VALUE_CHARACTERS, Data, Report, clean, lines
from warehouse.landing.rows import RowBuffer

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LAST_NS = 253_402_300_800 * 10**9  # the year 10000
_HEXADECIMAL = re.compile(r"[0-9a-f]+")
_SCALARS = ("stringValue", "intValue", "doubleValue", "boolValue")


def landed(bundle: Bundle, buffer: RowBuffer) -> Iterator[tuple[str, pa.RecordBatch]]:
    """Add all rows of a bundle; yields batches that are full."""
    for file in bundle.manifest.files:
        report = Report(buffer, file.raw_path, None)
        data = bundle.map(file.raw_path)
        for start, document in _documents(data, report):
            for offset, length, columns in _spans(document, report):
                buffer.add("otlp_span", file.raw_path, start + offset, length, **columns)
                yield from buffer.full()


def _documents(data: Data, report: Report) -> Iterator[tuple[int, Data]]:
    """The documents of a file, each with its offset: one a line, if the first line is a whole one."""
    newline = data.find(b"\n")
    first = b"" if newline in (-1, len(data) - 1) else bytes(data[:newline]).rstrip()
    if first.startswith(b"{") and first.endswith(b"}") and first.count(b"{") == first.count(b"}"):
        yield from ((line.offset, line.data) for line in lines(data, report))
    else:
        yield 0, data


def _spans(document: Data, report: Report) -> Iterator[tuple[int, int, dict[str, Any]]]:
    with JsonStream(document, report) as stream:
        for pair in stream.pairs():
            if pair.key == "resourceSpans":
                for _ in stream.elements():
                    yield from _of_resource(stream)


def _of_resource(stream: JsonStream) -> Iterator[tuple[int, int, dict[str, Any]]]:
    resource = "{}"
    for pair in stream.pairs():
        if pair.key == "resource":
            resource = _attributes(stream.value())
        elif pair.key in ("scopeSpans", "instrumentationLibrarySpans"):  # the older name, before 1.0
            for _ in stream.elements():
                yield from _of_scope(stream, resource)


def _of_scope(stream: JsonStream, resource: str) -> Iterator[tuple[int, int, dict[str, Any]]]:
    scope: str | None = None
    for pair in stream.pairs():
        if pair.key in ("scope", "instrumentationLibrary"):
            found = stream.value()
            scope = found.get("name") if isinstance(found, dict) and isinstance(found.get("name"), str) else None
        elif pair.key == "spans":
            for offset, length, record in stream.objects():
                trace, span = _identifier(record, "traceId", 16), _identifier(record, "spanId", 8)
                if trace is None or span is None:
                    record.flag("missing-key", "a span without its traceId or spanId")
                    continue
                yield offset, length, {**_columns(record, trace, span), "resource": resource, "scope": clean(scope) if scope else None}


def _columns(record: Record, trace: str, span: str) -> dict[str, Any]:
    start, end = record.count("startTimeUnixNano"), record.count("endTimeUnixNano")
    if start and end and end < start:
        record.flag("impossible-duration", f"a span ends before its start: {start} to {end}")
    status = record.within("status")
    return {
        "trace_id": trace, "span_id": span, "parent_span_id": _identifier(record, "parentSpanId", 8),
        "name": record.text("name"), "kind": record.text("kind"), "status": status.text("code"), "status_message": status.text("message"),
        "started_at": _moment(record, start, "startTimeUnixNano"), "ended_at": _moment(record, end, "endTimeUnixNano"),
        "duration_ns": end - start if start and end and end >= start else None, "attributes": _attributes(record.values),
    }


def _identifier(record: Record, key: str, size: int) -> str | None:
    """An identifier of `size` bytes as hexadecimal digits in lower case. OTLP writes these; a tool that turns protobuf into JSON by itself
    writes Base64 (https://protobuf.dev/programming-guides/json/). Zeros are none."""
    text = record.text(key)
    if text is None:
        return None
    found = text.lower()
    if not (len(text) == 2 * size and _HEXADECIMAL.fullmatch(found)):
        try:
            raw = b64decode(text, validate=True)
        except ValueError:
            raw = b""
        if len(raw) != size:
            record.flag("malformed-identifier", f"{key}: {text[:80]}")
            return text
        found = raw.hex()
    return found if found.strip("0") else None


def _moment(record: Record, nanoseconds: int | None, key: str) -> datetime | None:
    if not nanoseconds:  # zero means that it is not known
        return None
    if not 0 < nanoseconds < _LAST_NS:
        record.flag("impossible-time", f"{key}: {nanoseconds}")
        return None
    return _EPOCH + timedelta(microseconds=nanoseconds // 1000)


def _attributes(holder: Any) -> str:
    """The attributes of an object that has some, as a JSON object."""
    listed = holder.get("attributes") if isinstance(holder, Mapping) else None
    found: dict[str, Any] = {}
    for each in listed if isinstance(listed, list) else []:
        if isinstance(each, dict) and isinstance(each.get("key"), str) and isinstance(each.get("value"), dict):
            value = each["value"]
            scalar = next((value[kind] for kind in _SCALARS if kind in value), None)
            text = scalar if isinstance(scalar, str) else json_text(value if scalar is None else scalar)
            found[clean(each["key"])[:MAX_KEY_CHARACTERS]] = clean(text or "")[:MAX_VALUE_CHARACTERS]
    return canonical_json(found).decode()
