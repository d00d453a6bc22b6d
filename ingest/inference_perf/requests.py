"""The per-request report: an array of requests with their token times. Stages are not named in it.

Requests are read many at a time, by columns, where all that a batch states is of the kinds that the tool writes; one by one
where it is not.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import Any

import numpy as np

from warehouse.landing.columns import Row, Rows, as_column, counts, never, numbers
from warehouse.landing.json_stream import JsonStream
from warehouse.landing.json_text import json_number
from warehouse.landing.records import Record, shown
from warehouse.landing.text import Data, Report

_TIMES = "output_token_times"


def request_rows(data: Data, report: Report, starts: "array[float]") -> Iterator[Row | Rows]:
    """All requests, in their order; `starts` is filled with their start times."""
    with JsonStream(data, report) as stream:
        index = 0
        for several in stream.batches():
            together = _columns_of_all(several.values, starts)
            if together is not None:
                stop = index + len(several.values)
                yield Rows(several.offsets, several.lengths, {"request_index": np.arange(index, stop), **together})
                index = stop
                continue
            for offset, length, found in several:
                if not isinstance(found, dict):
                    report("not-an-object", shown(found), offset, length, stream.line_number(offset), "error")
                    continue

                def flag(code: str, message: str, start: int = offset, size: int = length) -> None:
                    report(code, message, start, size, stream.line_number(start), "error")

                columns = _columns(Record(found, flag), flag)
                if columns["start_time_s"] is not None:
                    starts.append(columns["start_time_s"])
                yield Row(offset, length, {"request_index": index, **columns})
                index += 1


def _columns_of_all(records: list[Any], starts: "array[float]") -> dict[str, Any] | None:
    """What `_columns` gives for each of the records; None where one of them is to be looked at by itself."""
    if len(records) == 1 or set(map(type, records)) != {dict}:
        return None
    info = [_within(record, "info") for record in records]
    response = [_within(each, "response_metrics") for each in info]
    request = [_within(_within(each, "request_metrics"), "text") for each in info]
    ends = _ends_of_all(_stated(response, info, _TIMES))
    begun, ended = (numbers([record.get(key) for record in records]) for key in ("start_time", "end_time"))
    asked, answered = counts(_stated(request, info, "input_tokens")), counts(_stated(response, info, "output_tokens"))
    if ends is None or begun is None or ended is None or asked is None or answered is None:
        return None
    starts.frombytes(begun[~np.isnan(begun)].tobytes())
    errors = [_error(Record(record, never)) if record.get("error") else _NO_ERROR for record in records]
    return {
        "start_time_s": as_column(begun), "end_time_s": as_column(ended),
        **{key: [error[key] for error in errors] for key in _NO_ERROR},
        "input_tokens": asked, "output_tokens": answered, **ends,
    }


def _within(found: dict[str, Any], key: str) -> dict[str, Any]:
    within = found.get(key)
    return within if isinstance(within, dict) else {}


def _stated(first: list[dict[str, Any]], second: list[dict[str, Any]], key: str) -> list[Any]:
    """As newer reports place it, else as older ones do."""
    return [new[key] if key in new else old.get(key) for new, old in zip(first, second, strict=True)]


def _ends_of_all(times: list[Any]) -> dict[str, Any] | None:
    """What `_ends` gives of each; None where one is to be looked at by itself."""
    whole = [each if isinstance(each, list) and each else (None,) for each in times]
    first, last = numbers([each[0] for each in whole]), numbers([each[-1] for each in whole])
    if first is None or last is None:
        return None
    of_none = np.array([type(each) is tuple for each in whole], np.bool_)
    if (np.isnan(first) != of_none).any() or (np.isnan(last) != of_none).any():
        return None
    lengths = [len(each) if isinstance(each, list) else None for each in times]
    return {"first_token_s": as_column(first), "last_token_s": as_column(last), "token_times": lengths}


def _columns(record: Record, flag: Any) -> dict[str, Any]:
    info, response = record.within("info"), record.within("info", "response_metrics")
    times = next((part.values[_TIMES] for part in (response, info) if _TIMES in part.values), None)
    first, last, count = _ends(times, flag)
    return {
        "start_time_s": record.number("start_time"),
        "end_time_s": record.number("end_time"),
        **_error(record),
        "input_tokens": _either(record.within("info", "request_metrics", "text"), info, "input_tokens"),
        "output_tokens": _either(response, info, "output_tokens"),
        "first_token_s": first,
        "last_token_s": last,
        "token_times": count,
    }


_NO_ERROR = {"error_type": None, "error_msg": None}


def _error(record: Record) -> dict[str, str | None]:
    error = record.within("error")
    kind = error.text("error_type") or ("error" if record.values.get("error") else None)
    return {"error_type": kind, "error_msg": error.text("error_msg")}


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
