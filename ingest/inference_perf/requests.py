"""The per-request report: an array of requests with their token times. Stages are not named in it."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import Any

from warehouse.landing.readers.json_stream import JsonStream
from warehouse.landing.readers.json_text import json_number
from warehouse.landing.readers.records import Record
from warehouse.landing.readers.text import Data, Report
from warehouse.landing.rows import Row

_TIMES = "output_token_times"


def request_rows(data: Data, report: Report, starts: "array[float]") -> Iterator[Row]:
    """Each request, in their order; `starts` is filled with their start times."""
    with JsonStream(data, report) as stream:
        for index, (offset, length, record) in enumerate(stream.objects()):
            columns = _columns(record)
            if columns["start_time_s"] is not None:
                starts.append(columns["start_time_s"])
            yield Row(offset, length, {"request_index": index, **columns})


def _columns(record: Record) -> dict[str, Any]:
    info, response, error = record.within("info"), record.within("info", "response_metrics"), record.within("error")
    times = next((part.values[_TIMES] for part in (response, info) if _TIMES in part.values), None)
    first, last, count = _ends(times, record.flag)
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
        flag("not-a-number", _TIMES)
    return first, last, len(times)
