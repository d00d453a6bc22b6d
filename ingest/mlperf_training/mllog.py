"""`:::MLLOG {json}` lines as columns. Nearly all lines are decoded straight into typed structures; the few that are not what
mlperf_logging writes (other types, broken text, keys that stand twice) are read one by one, with an issue for what is lost.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import msgspec

from warehouse.landing.json_text import Json, is_lost_number, json_number, json_text
from warehouse.landing.text import MAX_KEY_CHARACTERS, MAX_VALUE_CHARACTERS, Line, Report, clean, decoded, landed_text

from .lines import MARKER, Marked


class _Metadata(msgspec.Struct, frozen=True, gc=False):
    samples_count: float | None = None
    step: float | None = None
    step_num: float | None = None
    epoch_num: float | None = None
    status: str | None = None
    metric: str | None = None
    lr: float | None = None
    file: str | None = None
    lineno: int | None = None


class _Line(msgspec.Struct, frozen=True, gc=False):
    key: str
    value: msgspec.Raw
    time_ms: int
    event_type: str | None = None
    metadata: _Metadata = _Metadata()


# Key, source line and number of keys of a line. A key that stands twice makes one more than that source line wrote before.
Shapes = set[tuple[str, int | None, int]]

_decode = msgspec.json.Decoder(_Line).decode
_decode_value = msgspec.json.Decoder().decode
_decode_stats = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_NUMBER_STARTS = frozenset(b"-0123456789")


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


class Stat(NamedTuple):
    """One statistic of a tracked_stats line."""

    index: int  # of its event in the block
    stat: str
    value: str | None
    value_number: float | None


class Block:
    """The events of a block, as columns of equal length, and their statistics."""

    def __init__(self, lines: Marked) -> None:
        self._lines = lines
        self._rows: list[int] = []  # index of each event's line
        self.keys: list[str] = []
        self.stats: list[Stat] = []
        self._values: list[str | None] = []
        self._numbers: list[float | None] = []
        self._times: list[int | None] = []
        self._types: list[str | None] = []
        self._metadata: list[_Metadata] = []

    def add(
        self, row: int, key: str, value: tuple[str | None, float | None], time_ms: int | None, event_type: str | None,
        metadata: _Metadata,
    ) -> None:
        self._rows.append(row)
        self.keys.append(key)
        self._values.append(value[0])
        self._numbers.append(value[1])
        self._times.append(time_ms)
        self._types.append(event_type)
        self._metadata.append(metadata)

    def event(self, index: int) -> Event:
        row = self._rows[index]
        return Event(
            self.keys[index], self._values[index], self._numbers[index], self._times[index], self._metadata[index].status,
            self._lines.offsets[row], len(self._lines.texts[row]), self._lines.numbers[row],
        )

    def event_columns(self) -> dict[str, list[Any]]:
        metadata = self._metadata
        return {
            **self._places(self._rows),
            "time_ms": self._times,
            "event_type": self._types,
            "key": self.keys,
            "value": self._values,
            "value_number": self._numbers,
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
            **self._places([self._rows[stat.index] for stat in self.stats]),
            "stat": [stat.stat for stat in self.stats],
            "value": [stat.value for stat in self.stats],
            "value_number": [stat.value_number for stat in self.stats],
        }

    def _places(self, rows: list[int]) -> dict[str, list[int]]:
        offsets, numbers, texts = self._lines
        return {
            "line_number": [numbers[row] for row in rows],
            "raw_offset": [offsets[row] for row in rows],
            "raw_length": [len(texts[row]) for row in rows],
        }


def read_block(lines: Marked, file_bytes: int, shapes: Shapes, report: Report) -> Block:
    """All events of a block. A line that lost something is reported with its place. `shapes` are those known to be plain: it
    is filled here, and one of a bundle saves looking at every shape again in each of its files."""
    block = Block(lines)
    for row, text in enumerate(lines.texts):
        document = text[len(MARKER) :]
        try:
            line = _decode(document)
            value = _scalar(line.value)
        except (msgspec.DecodeError, ValueError, RecursionError):
            _read_slowly(block, row, file_bytes, report)
            continue
        shape = (line.key, line.metadata.lineno, document.count(b'":'))
        if shape not in shapes:
            if not _is_plain(document):
                _read_slowly(block, row, file_bytes, report)
                continue
            shapes.add(shape)
        if value is None:
            if line.key == "tracked_stats" and not _add_stats(block, line.value):
                _read_slowly(block, row, file_bytes, report)
                continue
            value = (_long_text(line.value), None)
        block.add(row, line.key, value, line.time_ms, line.event_type, line.metadata)
    return block


def _scalar(raw: msgspec.Raw) -> tuple[str | None, float | None] | None:
    """Text and number of a value that is no object and no array. Raises `ValueError` where it is not a plain one."""
    data = bytes(raw)
    first = data[0]
    if first in _NUMBER_STARTS:
        number = float(data)
        if not math.isfinite(number):
            raise ValueError("not finite")
        return data.decode(), number
    if first == 0x6E:  # null
        return None, None
    if first == 0x22:
        text = _decode_value(data)
        return landed_text(text), None
    return None if first in b"{[" else (data.decode(), None)


def _long_text(raw: msgspec.Raw) -> str | None:
    data = bytes(raw)
    return data.decode() if len(data) <= MAX_VALUE_CHARACTERS else None


def _add_stats(block: Block, raw: msgspec.Raw) -> bool:
    """Add the statistics of a tracked_stats line, if all of them are plain values."""
    index = len(block.keys)
    found = []
    try:
        for stat, one in _decode_stats(raw).items():
            value = _scalar(one)
            found.append(Stat(index, stat, *(value or (_long_text(one), None))))
    except (msgspec.DecodeError, ValueError):
        return False
    block.stats += found
    return True


def _is_plain(document: bytes) -> bool:
    """Whether the line is one whole standard document in which no key stands twice, with text that needs no cleaning."""
    decoder = Json()
    try:
        fields = decoder.value(document.decode().strip())
    except (ValueError, RecursionError):
        return False
    return not decoder.duplicates and isinstance(fields, dict) and len(fields["key"]) <= MAX_KEY_CHARACTERS


def _read_slowly(block: Block, row: int, file_bytes: int, report: Report) -> None:
    """One line, whatever is in it: what can be read is added, the rest reported."""
    lines = block._lines
    line = Line(lines.numbers[row], lines.offsets[row], lines.texts[row])
    document = decoded(line, report)[len(MARKER) :].strip()
    decoder = Json()
    try:
        fields = decoder.value(document)
        key, value = fields["key"], fields["value"]
        if not isinstance(key, str) or len(key) > MAX_KEY_CHARACTERS:
            raise ValueError("the key is no text, or too long")
    except (ValueError, KeyError, TypeError, RecursionError):
        is_last = line.offset + len(line.data) >= file_bytes
        report.at("truncated-log-line" if is_last else "malformed-log-line", document[:120], line, "error")
        return
    for name in decoder.duplicates:
        report.at("duplicate-json-key", name[:120], line)
    metadata = fields.get("metadata")
    read = _Reader(metadata if isinstance(metadata, dict) else {}, line, report)
    index = len(block.keys)
    if key == "tracked_stats" and isinstance(value, dict):
        block.stats += [
            Stat(index, clean(stat)[:MAX_KEY_CHARACTERS], *_tolerated(stat, one, line, report)) for stat, one in value.items()
        ]
    text = _tolerated(key, value, line, report)
    event_type = fields.get("event_type")
    time_ms = json_number(fields.get("time_ms"))
    if time_ms is None or not abs(time_ms) < 2**53:
        time_ms = None
        report.at("malformed-time", f"{key}: {json_text(fields.get('time_ms'))}"[:120], line, "error")
    elif not time_ms.is_integer():
        report.at("rounded-number", f"{key}: time_ms has a fraction", line)
    block.add(
        row, clean(key), text, None if time_ms is None else round(time_ms),
        clean(event_type) if isinstance(event_type, str) else None, read.metadata(),
    )


def _tolerated(name: str, value: Any, line: Line, report: Report) -> tuple[str | None, float | None]:
    if is_lost_number(value):
        report.at("non-finite-number", f"{name[:80]}: {json_text(value)}"[:160], line)
    text = json_text(value)
    return None if text is None else landed_text(text), json_number(value)


class _Reader:
    """A line's metadata, of whatever types."""

    def __init__(self, fields: dict[str, Any], line: Line, report: Report) -> None:
        self._fields, self._line, self._report = fields, line, report

    def metadata(self) -> _Metadata:
        return _Metadata(
            samples_count=self._number("samples_count"), step=self._number("step"), step_num=self._number("step_num"),
            epoch_num=self._number("epoch_num"), lr=self._number("lr"), status=self._text("status"),
            metric=self._text("metric"), file=self._text("file"),
        )

    def _number(self, name: str) -> float | None:
        return _tolerated(name, self._fields.get(name), self._line, self._report)[1]

    def _text(self, name: str) -> str | None:
        value = self._fields.get(name)
        return landed_text(value) if isinstance(value, str) else None
