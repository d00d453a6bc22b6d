"""`:::MLLOG {json}` lines read one by one. Nearly all are decoded straight into typed structures; those that are not what
mlperf_logging writes (other types, broken text, keys that occur twice) are taken as they are, with an issue for what is lost.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Annotated, Any, NamedTuple

import msgspec

from warehouse.landing.readers.json_text import Json, is_lost_number, json_number, json_text
from warehouse.landing.readers.records import Record, shown
from warehouse.landing.readers.text import MAX_KEY_CHARACTERS, MAX_VALUE_CHARACTERS, Line, Report, clean, decoded, landed_text

from .lines import MARKER, Marked

_NO_TIME = 2**53  # ms; from here on a float is not exact
_Key = Annotated[str, msgspec.Meta(max_length=MAX_KEY_CHARACTERS)]
_Text = Annotated[str, msgspec.Meta(max_length=MAX_VALUE_CHARACTERS)] | None


class _Metadata(msgspec.Struct, frozen=True, gc=False):
    samples_count: float | None = None
    step: float | None = None
    step_num: float | None = None
    epoch_num: float | None = None
    status: _Text = None
    metric: _Text = None
    lr: float | None = None
    file: _Text = None
    lineno: int | None = None


class _Line(msgspec.Struct, frozen=True, gc=False):
    key: _Key
    value: msgspec.Raw
    time_ms: Annotated[int, msgspec.Meta(gt=-_NO_TIME, lt=_NO_TIME)]
    event_type: _Text = None
    metadata: _Metadata = _Metadata()


class _Value(msgspec.Struct, frozen=True, gc=False):
    value: msgspec.Raw


_decode = msgspec.json.Decoder(_Line).decode
_decode_value = msgspec.json.Decoder().decode
_decode_stats = msgspec.json.Decoder(dict[_Key, msgspec.Raw]).decode
_decode_written = msgspec.json.Decoder(_Value).decode
_NUMBER_STARTS = frozenset("-0123456789")
_MANY_ZEROS = 200
_MAY_BE_TINY = re.compile(rb"[eE]-[0-9]{3}|\.0{%d}" % _MANY_ZEROS)
_KEY_WITH_DIGIT = re.compile(rb'\d[^"]*"\s*:')
_MOST_SHAPES = 10_000


# Lines without their digits, in which no key occurs twice. No key of theirs has digits, so a line of such a shape has just
# these keys.
Plain = set[bytes]


class Event(NamedTuple):
    """One line."""

    key: str
    value: str | None
    value_number: float | None
    time_ms: int | None
    status: str | None
    offset: int
    length: int
    line_number: int


class Events:
    """The events of some lines, as columns of equal length, and their statistics."""

    def __init__(self, lines: Marked) -> None:
        self.lines = lines
        self.rows: list[int] = []  # index of each event's line
        self.keys: list[str] = []
        self.values: list[str | None] = []
        self.numbers: list[float | None] = []
        self.times: list[int | None] = []
        self.types: list[str | None] = []
        self.metadata: list[_Metadata] = []
        self.stat_rows: list[int] = []  # index of each statistic's line
        self.stats: list[str] = []
        self.stat_values: list[str | None] = []
        self.stat_numbers: list[float | None] = []

    def wanted(self, is_wanted: Callable[[str], bool]) -> Iterator[Event]:
        """The lines with wanted keys."""
        wanted = {key for key in set(self.keys) if is_wanted(key)}
        for index in [index for index, key in enumerate(self.keys) if key in wanted]:
            row = self.rows[index]
            yield Event(
                self.keys[index], self.values[index], self.numbers[index], self.times[index], self.metadata[index].status,
                self.lines.offsets[row], self.lines.length(row), self.lines.numbers[row],
            )

    def event_columns(self) -> dict[str, list[Any]]:
        metadata = self.metadata
        return {
            **self._places(self.rows),
            "time_ms": self.times,
            "event_type": self.types,
            "key": self.keys,
            "value": self.values,
            "value_number": self.numbers,
            "samples_count": [one.samples_count for one in metadata],
            "step": [one.step_num if one.step is None else one.step for one in metadata],
            "epoch_num": [one.epoch_num for one in metadata],
            "status": [one.status for one in metadata],
            "metric": [one.metric for one in metadata],
            "learning_rate": [one.lr for one in metadata],
            "producer": [one.file for one in metadata],
        }

    def stat_columns(self) -> dict[str, list[Any]]:
        return {
            **self._places(self.stat_rows),
            "stat": self.stats,
            "value": self.stat_values,
            "value_number": self.stat_numbers,
        }

    def _places(self, rows: list[int]) -> dict[str, list[int]]:
        offsets, numbers, documents = self.lines
        return {
            "line_number": [numbers[row] for row in rows],
            "raw_offset": [offsets[row] for row in rows],
            "raw_length": [len(MARKER) + len(documents[row]) for row in rows],
        }


def read_events(lines: Marked, file_bytes: int, plain: Plain, report: Report) -> Events:
    """All events of marked lines. A line that lost something is reported with its place. `plain` is filled here: with one for
    a bundle, each kind of line is looked at once."""
    events = Events(lines)
    waiting = [(0, len(lines.documents))] if lines.documents else []
    while waiting:
        start, stop = waiting.pop()
        try:
            _read_quickly(events, start, stop, plain)
        except (msgspec.DecodeError, ValueError, RecursionError):
            if stop - start == 1:
                _read_slowly(events, start, file_bytes, report)
            else:  # until the odd line is alone, so that the others are read as if it were not there
                middle = (start + stop) // 2
                waiting += [(middle, stop), (start, middle)]
    return events


def _read_quickly(events: Events, start: int, stop: int, plain: Plain) -> None:
    """Lines that are what mlperf_logging writes. Raises `ValueError` (`msgspec.DecodeError` is one) and adds nothing where one
    is not."""
    documents = events.lines.documents[start:stop]
    found = [_decode(document) for document in documents]
    _refuse_tiny(documents)
    _refuse_duplicates(documents, plain)
    written = [str(line.value, "utf-8") for line in found]
    values, numbers = _scalars(written)
    stat_rows: list[int] = []
    stats: list[str] = []
    stat_written: list[str] = []
    for index, line in enumerate(found):
        if line.key == "tracked_stats" and written[index][0] == "{":
            tracked = _decode_stats(line.value)
            stat_rows += [start + index] * len(tracked)
            stats += tracked
            stat_written += [str(value, "utf-8") for value in tracked.values()]
    stat_values, stat_numbers = _scalars(stat_written)
    events.rows += range(start, stop)
    events.keys += [line.key for line in found]
    events.values += values
    events.numbers += numbers
    events.times += [line.time_ms for line in found]
    events.types += [line.event_type for line in found]
    events.metadata += [line.metadata for line in found]
    events.stat_rows += stat_rows
    events.stats += stats
    events.stat_values += stat_values
    events.stat_numbers += stat_numbers


def _scalars(written: list[str]) -> tuple[list[str | None], list[float | None]]:
    """JSON values as texts and numbers. Raises `ValueError` where a number is not finite."""
    texts = [_decode_value(one) if one[0] == '"' else None if one == "null" else one for one in written]
    if max(map(len, written), default=0) > MAX_VALUE_CHARACTERS:
        texts = [None if text is None or len(text) > MAX_VALUE_CHARACTERS else text for text in texts]
    numbers = [float(one) if one[0] in _NUMBER_STARTS else None for one in written]
    if not math.isfinite(sum(filter(None, numbers))):
        raise ValueError("not finite")  # one of them, or their sum: either way they are read one by one
    return texts, numbers


def _refuse_tiny(documents: list[bytes]) -> None:
    """Raises `ValueError` where a number may be too small for a float, which would be decoded as zero."""
    for document in documents:
        if (b"e-" in document or b"E-" in document or len(document) > _MANY_ZEROS) and _MAY_BE_TINY.search(document):
            raise ValueError("too small")


def _refuse_duplicates(documents: list[bytes], plain: Plain) -> None:
    """Raises `ValueError` where a line that could be decoded has a key twice."""
    for document in documents:
        shape = document.translate(None, b"0123456789")
        if shape not in plain:
            if not _is_plain(document):
                raise ValueError("a key occurs twice")
            if b"\\" not in document and not _KEY_WITH_DIGIT.search(document) and len(document) <= MAX_VALUE_CHARACTERS:
                if len(plain) >= _MOST_SHAPES:
                    plain.clear()
                plain.add(shape)


def _is_plain(document: bytes) -> bool:
    """Whether no key occurs twice in a line that could be decoded."""
    decoder = Json()
    decoder.value(document.decode().strip())
    return not decoder.duplicates


def _read_slowly(events: Events, row: int, file_bytes: int, report: Report) -> None:
    """One line, whatever is in it: what can be read is added, the rest reported."""
    lines = events.lines
    line = Line(lines.numbers[row], lines.offsets[row], MARKER + lines.documents[row])
    document = decoded(line, report)[len(MARKER) :].strip()
    decoder = Json()
    try:
        fields, end = decoder.value_at(document)
        key, value = fields["key"], fields["value"]
        if not isinstance(key, str) or len(key) > MAX_KEY_CHARACTERS:
            raise ValueError("the key is no text, or too long")
    except (ValueError, KeyError, TypeError, RecursionError):
        is_last = line.offset + len(line.data) >= file_bytes
        report.at("truncated-log-line" if is_last else "malformed-log-line", document[:120], line, "error")
        return
    document, behind = document[:end], document[end:].strip()
    if behind:
        report.at("text-behind-log-line", behind[:120], line, "error" if MARKER.decode() in behind else "warning")
    for name in decoder.duplicates:
        report.at("duplicate-json-key", name[:120], line)
    if key == "tracked_stats" and isinstance(value, dict):
        for stat, one in value.items():
            text, number = _tolerated(stat, one, None, line, report)
            events.stat_rows.append(row)
            events.stats.append(clean(stat)[:MAX_KEY_CHARACTERS])
            events.stat_values.append(text)
            events.stat_numbers.append(number)
    text, number = _tolerated(key, value, document, line, report)
    time_ms = json_number(fields.get("time_ms"))
    if time_ms is None or not abs(time_ms) < _NO_TIME:
        time_ms = None
        report.at("malformed-time", f"{key}: {json_text(fields.get('time_ms'))}"[:120], line, "error")
    elif not time_ms.is_integer():
        report.at("rounded-number", f"{key}: time_ms has a fraction", line, "note")
    events.rows.append(row)
    events.keys.append(clean(key))
    events.values.append(text)
    events.numbers.append(number)
    events.times.append(None if time_ms is None else round(time_ms))
    events.types.append(_text(fields, "event_type", line, report))
    events.metadata.append(_metadata(fields.get("metadata"), line, report))


def _tolerated(
    name: str, value: Any, document: str | None, line: Line, report: Report
) -> tuple[str | None, float | None]:
    """A value as text, as `document` has it under "value" where that is known, and as a number where it is one."""
    if is_lost_number(value):
        report.at("non-finite-number", f"{name[:80]}: {json_text(value)}"[:160], line, "error")
    text = json_text(value)
    if document is not None and isinstance(value, (dict, list)):
        with suppress(msgspec.DecodeError, UnicodeError):
            text = bytes(_decode_written(document).value).decode()
    return None if text is None else landed_text(text), None if isinstance(value, str) else json_number(value)


def _metadata(fields: Any, line: Line, report: Report) -> _Metadata:
    """A line's metadata, of whatever types."""
    if not isinstance(fields, dict):
        if fields is not None:
            report.at("malformed-metadata", shown(fields), line, "error")
        return _Metadata()
    number = Record(fields, lambda code, message: report.at(code, message, line)).number
    return _Metadata(
        samples_count=number("samples_count"), step=number("step"), step_num=number("step_num"), epoch_num=number("epoch_num"),
        lr=number("lr"), status=_text(fields, "status", line, report), metric=_text(fields, "metric", line, report),
        file=_text(fields, "file", line, report),
    )


def _text(fields: dict[str, Any], name: str, line: Line, report: Report) -> str | None:
    value = fields.get(name)
    if value is not None and not isinstance(value, str):
        report.at("not-a-text", f"{name}: {shown(value)}", line)
    return landed_text(value) if isinstance(value, str) else None
