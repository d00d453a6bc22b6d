"""AIPerf's records: a JSON object a line, one a request; each metric states its unit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from warehouse.landing.json_lines import json_lines
from warehouse.landing.records import Record, shown
from warehouse.landing.text import Data, Line, Report

from .units import milliseconds

_TIMES = ("time_to_first_token", "inter_token_latency", "request_latency")
_LENGTHS = ("input_sequence_length", "output_sequence_length")


def record_rows(data: Data, report: Report) -> Iterator[tuple[Line, dict[str, Any]]]:
    """The line and the columns of each record of the measured phase; warm-up requests are no part of the result."""
    index = 0
    for line, found in json_lines(data, report):
        if not isinstance(found, dict):
            report.at("not-an-object", shown(found), line, "error")
            continue
        record = Record(found, lambda code, message: report.at(code, message, line, "error"))
        if record.within("metadata").text("benchmark_phase") != "warmup":
            yield line, {"request_index": index, **_columns(record)}
            index += 1


def _columns(record: Record) -> dict[str, Any]:
    metadata, error = record.within("metadata"), record.within("error")
    columns: dict[str, Any] = {key: metadata.count(key) for key in ("request_start_ns", "request_end_ns")}
    columns["error_type"] = error.text("type") or error.text("code") or ("error" if record.values.get("error") else None)
    columns["error_message"] = error.text("message")
    for key in _TIMES:
        metric = record.within("metrics", key)
        columns[f"{key}_ms"] = milliseconds(metric, "value", key)
    for key in _LENGTHS:
        columns[key] = record.within("metrics", key).count("value")
    return columns
