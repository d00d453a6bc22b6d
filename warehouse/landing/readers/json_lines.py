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
from numpy.typing import NDArray

from warehouse.landing.readers import json_records
from warehouse.landing.readers.json_records import Records
from warehouse.landing.readers.json_text import Written, whole_number
from warehouse.landing.readers.records import Record, shown
from warehouse.landing.readers.text import Data, Line, Piece, Report, decoded, lines, pieces

_Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Lines:
    """Lines that follow one another, and their values: numbers from 1, and offsets and lengths in bytes. Iterating gives each
    line with its value."""

    data: Data
    numbers: _Ints
    offsets: _Ints
    lengths: _Ints
    records: Records

    def __iter__(self) -> Iterator[tuple[Line, Any]]:
        places = zip(self.numbers.tolist(), self.offsets.tolist(), self.lengths.tolist(), strict=True)
        for (number, offset, length), value in zip(places, self.records.values, strict=True):
            yield Line(number, offset, bytes(self.data[offset : offset + length])), value

    def objects(self, report: Report) -> Iterator[tuple[Line, Record]]:
        """Each line that is an object, and what it states; any other is reported."""
        for line, value in self:
            if isinstance(value, dict):
                yield line, Record(value, report.flag(line))
            else:
                report.at("not-an-object", shown(value), line, "error")


def json_lines(data: Data, report: Report) -> Iterator[Lines]:
    """The lines that are not blank, with their values: many at a time where they are plain, else one by one, whose NaN and
    infinities are floats."""
    for piece in pieces(data, report):
        found = _at_once(data, piece)
        yield from [found] if found else _one_by_one(data, piece, report)


def _at_once(data: Data, piece: Piece) -> Lines | None:
    """The lines of a piece, if all of them are plain, and none is blank or has blanks at its ends."""
    if (piece.text[piece.starts] <= ord(" ")).any():
        return None
    found = json_records.plain(b"[%b]" % piece.data.rstrip().replace(b"\n", b","))
    lengths = piece.ends - piece.starts - (piece.text[piece.ends - 1] == ord("\r"))
    # The first element begins where the first line does, and is as long; so does the next one, and so on.
    if found is None or not np.array_equal(found.lengths, lengths):
        return None
    numbers = np.arange(piece.number, piece.number + len(lengths))
    return Lines(data, numbers, piece.starts + piece.offset, lengths, found.records)


def _one_by_one(data: Data, piece: Piece, report: Report) -> Iterator[Lines]:
    for line in lines(piece.data, report, start=(piece.offset, piece.number)):
        try:
            text = _unmarked(decoded(line, report))
            value = json.loads(text, object_pairs_hook=partial(_object, report=report, line=line), parse_int=whole_number, parse_float=Written)
        except (ValueError, RecursionError) as error:
            report.at("malformed-json", str(error)[:200], line, "error")
            continue
        yield Lines(
            data, np.array([line.number]), np.array([line.offset]), np.array([len(line.data)]), Records([value])
        )


def _unmarked(text: str) -> str:
    """A line without a byte order mark, which RFC 8259, 8.1, lets a reader ignore: a file begins with it, and what it was joined of."""
    return text.removeprefix("\ufeff")


def _object(pairs: list[tuple[str, Any]], report: Report, line: Line) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        report.at("duplicate-json-key", ", ".join(sorted({name for name, _ in pairs}))[:120], line)
    return found
