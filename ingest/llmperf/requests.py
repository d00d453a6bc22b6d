"""The individual responses: an array of flat objects, one a request."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from warehouse.landing.json_stream import JsonStream
from warehouse.landing.records import Record, shown
from warehouse.landing.text import Data, Report

_NUMBERS = (
    "ttft_s", "inter_token_latency_s", "end_to_end_latency_s", "request_output_throughput_token_per_s",
)
_COUNTS = ("number_input_tokens", "number_output_tokens")
_NAMES_OF_STARTS = ("request_start_time", "start_time")  # of forks and later versions


@dataclass
class Detail:
    """What the responses state, for the check of the summary: values of the requests without an error, by key."""

    requests: int = 0
    failed: int = 0
    values: dict[str, list[float]] = field(default_factory=lambda: {key: [] for key in (*_NUMBERS, *_COUNTS)})
    computed_throughput: list[float] = field(default_factory=list)  # output tokens / end-to-end latency
    wrong_throughputs: int = 0


def request_rows(data: Data, report: Report, detail: Detail) -> Iterator[tuple[int, int, dict[str, Any]]]:
    """(offset, length, columns) of each request; `detail` is filled on the way."""
    with JsonStream(data, report) as stream:
        for offset in stream.elements():
            found = stream.value()
            length = stream.offset - offset
            if not isinstance(found, dict):
                report("not-an-object", shown(found), offset, length, stream.line_number(offset), "error")
                continue

            def flag(code: str, message: str, start: int = offset, size: int = length) -> None:
                report(code, message, start, size, stream.line_number(start), "error")

            yield offset, length, _columns(Record(found, flag), detail)


def _columns(record: Record, detail: Detail) -> dict[str, Any]:
    columns: dict[str, Any] = {key: record.number(key) for key in _NUMBERS}
    columns |= {key: record.count(key) for key in _COUNTS}
    start = next((name for name in _NAMES_OF_STARTS if name in record.values), None)
    columns["started_s"] = record.number(start) if start else None
    columns |= {"error_code": record.text("error_code"), "error_msg": record.text("error_msg")}
    columns["request_index"] = detail.requests
    detail.requests += 1
    if columns["error_code"] is not None:
        detail.failed += 1
        # A request that got no answer has zeros in all its fields: nothing was measured.
        if not columns["end_to_end_latency_s"]:
            columns |= dict.fromkeys((*_NUMBERS, "number_output_tokens"))
        return columns
    for key, values in detail.values.items():
        if columns[key] is not None:
            values.append(columns[key])
    _check_throughput(columns, detail)
    return columns


def _check_throughput(columns: dict[str, Any], detail: Detail) -> None:
    latency, tokens = columns["end_to_end_latency_s"], columns["number_output_tokens"]
    if not latency or tokens is None:
        return
    computed = tokens / latency
    stated = columns["request_output_throughput_token_per_s"]
    detail.computed_throughput.append(computed)
    detail.wrong_throughputs += stated is not None and abs(stated - computed) > 1e-9 * computed
