"""JSON lines, for ingestors: a document a line, each with its exact bytes, many read at a time where they are plain.

What breaks a line is reported and loses that line.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from warehouse.landing.readers import json_scan
from warehouse.landing.readers.json_records import Decoded, Records
from warehouse.landing.readers.json_text import whole_number
from warehouse.landing.readers.numbers_at import Ints
from warehouse.landing.readers.text import Data, Line, Piece, Report, decoded, lines, pieces

_RETURN, _BLANK = (ord(mark) for mark in "\r ")
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
    for piece in pieces(data, report):
        found = _at_once(data, piece)
        yield from [found] if found else _one_by_one(data, piece, report)


def _at_once(data: Data, piece: Piece) -> Lines | None:
    """The lines of a piece, if all of them are plain."""
    text, starts = piece.text, piece.starts
    stops = piece.ends - (text[piece.ends - 1] == _RETURN)
    if (starts >= stops).any() or (text[starts] <= _BLANK).any() or (text[stops - 1] == _RETURN).any():  # most likely blank
        return None
    if (text[starts] > _ASCII).any():  # a byte order mark, which the library steps over
        return None
    records = json_scan.line_records(piece.data, starts, stops)
    if records is None:
        return None
    numbers = np.arange(piece.number, piece.number + len(starts))
    return Lines(data, numbers, starts + piece.offset, stops - starts, records)


def _one_by_one(data: Data, piece: Piece, report: Report) -> Iterator[Lines]:
    for line in lines(piece.data, report, start=(piece.offset, piece.number)):
        try:
            text = _unmarked(decoded(line, report))
            value = json.loads(text, object_pairs_hook=partial(_object, report=report, line=line), parse_int=whole_number)
        except (ValueError, RecursionError) as error:
            report.at("malformed-json", str(error)[:200], line, "error")
            continue
        yield Lines(
            data, np.array([line.number]), np.array([line.offset]), np.array([len(line.data)]), Decoded([value])
        )


def _unmarked(text: str) -> str:
    """A line without a byte order mark, which RFC 8259, 8.1, lets a reader ignore: a file begins with it, and what it was joined of."""
    return text.removeprefix("\ufeff")


def _object(pairs: list[tuple[str, Any]], report: Report, line: Line) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        report.at("duplicate-json-key", ", ".join(sorted({name for name, _ in pairs}))[:120], line)
    return found
