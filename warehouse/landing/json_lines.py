"""JSON lines, for ingestors: a document a line, each with its exact bytes, many read at a time where they are plain.

What breaks a line is reported and loses that line.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from warehouse.landing.json_elements import line_records
from warehouse.landing.json_records import Decoded, Records
from warehouse.landing.json_templates import Templates
from warehouse.landing.numbers_at import Ints
from warehouse.landing.text import MAX_LINE_BYTES, Data, Line, Report, decoded, lines

_PIECE_BYTES = 32 << 10  # that is looked at first: the file may end soon
_LARGEST_PIECE_BYTES = 2 << 20
_NEWLINE, _RETURN, _BLANK = (ord(mark) for mark in "\n\r ")
_ASCII = 0x7F


@dataclass(frozen=True)
class Lines:
    """Lines that follow one another, and what they are: numbers from 1, and offsets and lengths in bytes. Iterating gives
    each with its value."""

    data: Data
    numbers: Ints
    offsets: Ints
    lengths: Ints
    records: Records

    def __iter__(self) -> Iterator[tuple[Line, Any]]:
        places = zip(self.numbers.tolist(), self.offsets.tolist(), self.lengths.tolist(), strict=True)
        for (number, offset, length), value in zip(places, self.records.values(), strict=True):
            yield Line(number, offset, bytes(self.data[offset : offset + length])), value


def json_lines(data: Data, report: Report) -> Iterator[Lines]:
    """The lines that are not blank, with their values: some at a time where they are plain, else one, whose NaN and
    infinities are floats."""
    templates = Templates()
    position, number, size = 0, 1, _PIECE_BYTES
    while position < len(data):
        stop = len(data) if len(data) - position <= size else data.rfind(b"\n", position, position + size) + 1
        if not stop:  # a line longer than the piece
            end = data.find(b"\n", position + size)
            stop = end + 1 or len(data)
            if (length := (stop if end < 0 else end) - position) > MAX_LINE_BYTES:
                report("line-too-long", f"{length} bytes", position, length, number, "error")
                position, number = stop, number + 1
                continue
        piece = bytes(data[position:stop])
        ends = np.flatnonzero(np.frombuffer(piece, np.uint8) == _NEWLINE)
        if piece[-1] != _NEWLINE:
            ends = np.append(ends, len(piece))
        found = _at_once(data, piece, position, number, ends, templates)
        yield from [found] if found else _one_by_one(data, piece, position, number, report)
        position, number, size = stop, number + len(ends), min(4 * size, _LARGEST_PIECE_BYTES)


def _at_once(data: Data, piece: bytes, position: int, number: int, ends: Ints, templates: Templates) -> Lines | None:
    """The lines of a piece, if all of them are plain."""
    text = np.frombuffer(piece, np.uint8)
    starts = np.append(0, ends[:-1] + 1)
    stops = ends - (text[ends - 1] == _RETURN)
    if (starts >= stops).any() or (text[starts] <= _BLANK).any() or (text[stops - 1] == _RETURN).any():  # most likely blank
        return None
    if (text[starts] > _ASCII).any():  # a byte order mark, which the library steps over
        return None
    records = line_records(piece, starts, stops, templates)
    if records is None:
        return None
    return Lines(data, np.arange(number, number + len(ends)), starts + position, stops - starts, records)


def _one_by_one(data: Data, piece: bytes, position: int, number: int, report: Report) -> Iterator[Lines]:
    for line in lines(piece, report):
        place = Line(line.number + number - 1, line.offset + position, line.data)
        try:
            value = json.loads(_unmarked(decoded(place, report)), object_pairs_hook=lambda pairs: _object(pairs, report, place))
        except (ValueError, RecursionError) as error:
            report.at("malformed-json", str(error)[:200], place, "error")
            continue
        yield Lines(
            data, np.array([place.number]), np.array([place.offset]), np.array([len(place.data)]), Decoded([value])
        )


def _unmarked(text: str) -> str:
    """A line without a byte order mark, which RFC 8259, 8.1, lets a reader ignore: a file begins with it, and what it was joined of."""
    return text.removeprefix("\ufeff")


def _object(pairs: list[tuple[str, Any]], report: Report, line: Line) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        report.at("duplicate-json-key", ", ".join(sorted({name for name, _ in pairs}))[:120], line)
    return found
