"""The per-request report: an array of requests with their token times. Stages are not named in it.

Requests are read many at a time, by columns, where all that a batch states is of the kinds that the tool writes; one by one
where it is not.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import Any

import numpy as np

from warehouse.landing.readers.columns import Row, Rows, as_column, counts, never, numbers
from warehouse.landing.readers.json_records import Records
from warehouse.landing.readers.json_stream import JsonStream
from warehouse.landing.readers.json_text import json_number
from warehouse.landing.readers.records import Record, shown
from warehouse.landing.readers.text import Data, Report

_TIMES = "output_token_times"


def request_rows(data: Data, report: Report, starts: "array[float]") -> Iterator[Row | Rows]:
    """All requests, in their order; `starts` is filled with their start times."""
    with JsonStream(data, report) as stream:
        index = 0
        for several in stream.batches():
            together = _columns_of_all(several.records, starts)
            if together is not None:
                stop = index + len(several.records)
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


def _columns_of_all(records: Records, starts: "array[float]") -> dict[str, Any] | None:
    """What `_columns` gives for each of the records; None where one of them is to be looked at by itself."""
    if len(records) == 1:
        return None
    metrics = "info", "response_metrics"
    ends = _ends_of_all(records, (*metrics, _TIMES), ("info", _TIMES))
    begun, ended = records.numbers("start_time"), records.numbers("end_time")
    asked = _counts(records, ("info", "request_metrics", "text", "input_tokens"), ("info", "input_tokens"))
    answered = _counts(records, (*metrics, "output_tokens"), ("info", "output_tokens"))
    if ends is None or begun is None or ended is None or asked is None or answered is None:
        return None
    starts.frombytes(begun[~np.isnan(begun)].tobytes())
    told: dict[str, list[str | None]] = {}
    if any(records.column("error") or ()):
        errors = [_error(Record(value, never)) for value in records.values()]
        told = {key: [error[key] for error in errors] for key in _ERROR}
    return {
        "start_time_s": as_column(begun), "end_time_s": as_column(ended), **told,
        "input_tokens": asked, "output_tokens": answered, **ends,
    }


def _counts(records: Records, first: tuple[str, ...], second: tuple[str, ...]) -> Any | None:
    """As newer reports place them, else as older ones do; None where one is to be looked at by itself."""
    is_new = records.has(*first)
    if is_new.all() or not is_new.any():
        return records.counts(*(first if is_new.all() else second))
    return counts(_stated(records, first, second))


def _stated(records: Records, first: tuple[str, ...], second: tuple[str, ...]) -> list[Any] | None:
    """As newer reports place it, else as older ones do."""
    new, is_new = records.column(*first), records.has(*first)
    if new is None or is_new.all():
        return new
    old = records.column(*second) or ()
    return [one if is_one else other for one, is_one, other in zip(new, is_new.tolist(), old, strict=True)]


def _ends_of_all(records: Records, first_path: tuple[str, ...], second_path: tuple[str, ...]) -> dict[str, Any] | None:
    """What `_ends` gives of each; None where one is to be looked at by itself."""
    is_new = records.has(*first_path)
    ends = records.ends(*(first_path if is_new.all() else second_path)) if is_new.all() or not is_new.any() else None
    if ends is not None:
        return {"first_token_s": as_column(ends.first), "last_token_s": as_column(ends.last), "token_times": ends.counts}
    times = _stated(records, first_path, second_path)
    if times is None:
        return None
    parts = list(map(_ends_and_count, times))
    first, last = numbers([part[0] for part in parts]), numbers([part[1] for part in parts])
    if first is None or last is None:
        return None
    of_none = np.array([not count for _, _, count in parts], np.bool_)
    if (np.isnan(first) != of_none).any() or (np.isnan(last) != of_none).any():
        return None
    lengths = [count for _, _, count in parts]
    return {"first_token_s": as_column(first), "last_token_s": as_column(last), "token_times": lengths}


def _ends_and_count(times: Any) -> tuple[Any, Any, int | None]:
    """The first and the last element of an array, and how many it has; of anything else, none."""
    if not isinstance(times, list) or not times:
        return None, None, 0 if isinstance(times, list) else None
    return times[0], times[-1], len(times)


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


_ERROR = ("error_type", "error_msg")


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
