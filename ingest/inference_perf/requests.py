"""The per-request report: an array of requests with their token times. Stages are not named in it."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import Any

from warehouse.landing.json_stream import JsonStream
from warehouse.landing.json_text import json_number
from warehouse.landing.records import Record, shown
from warehouse.landing.text import Data, Report


def request_rows(data: Data, report: Report, starts: "array[float]") -> Iterator[tuple[int, int, dict[str, Any]]]:
    """(offset, length, columns) of each request; `starts` is filled with their start times."""
    with JsonStream(data, report) as stream:
        index = 0
        for offset, length, found in stream.values():
            if not isinstance(found, dict):
                report("not-an-object", shown(found), offset, length, stream.line_number(offset), "error")
                continue

            def flag(code: str, message: str, start: int = offset, size: int = length) -> None:
                report(code, message, start, size, stream.line_number(start), "error")

            columns = _columns(Record(found, flag), flag)
            if columns["start_time_s"] is not None:
                starts.append(columns["start_time_s"])
            yield offset, length, {"request_index": index, **columns}
            index += 1


def _columns(record: Record, flag: Any) -> dict[str, Any]:
    info, response = record.within("info"), record.within("info", "response_metrics")
    times = next((part.values["output_token_times"] for part in (response, info) if "output_token_times" in part.values), None)
    first, last, count = _ends(times, flag)
    error = record.within("error")
    return {
        "start_time_s": record.number("start_time"),
        "end_time_s": record.number("end_time"),
        "error_type": error.text("error_type") or ("error" if record.values.get("error") else None),
        "error_msg": error.text("error_msg"),
        "input_tokens": _either(record.within("info", "request_metrics", "text"), info, "input_tokens"),
        "output_tokens": _either(response, info, "output_tokens"),
        "first_token_s": first,
        "last_token_s": last,
        "token_times": count,
    }


def _either(first: Record, second: Record, key: str) -> int | None:
    """As newer reports place it, else as older ones do."""
    return first.count(key) if key in first.values else second.count(key)


def _ends(times: Any, flag: Any) -> tuple[float | None, float | None, int | None]:
    if not isinstance(times, list) or not times:
        return None, None, 0 if isinstance(times, list) else None
    first, last = json_number(times[0]), json_number(times[-1])
    if first is None or last is None:
        flag("not-a-number", "output_token_times")
    return first, last, len(times)
