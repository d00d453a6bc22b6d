"""JSON lines, for ingestors: a document a line, each with its exact bytes, many decoded at a time where they are plain.

What breaks a line is reported and loses that line.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from warehouse.landing.json_elements import line_records
from warehouse.landing.json_records import Decoded, Expected, Records
from warehouse.landing.text import Data, Line, Report, decoded, lines

_PIECE_BYTES = 32 << 10  # that is looked at first: the file may end soon
_LARGEST_PIECE_BYTES = 256 << 10


@dataclass(frozen=True)
class Lines:
    """Lines that follow one another, and what they are. Iterating gives each with its value."""

    lines: list[Line]
    records: Records

    def __iter__(self) -> Iterator[tuple[Line, Any]]:
        return zip(self.lines, self.records.values(), strict=True)


def json_lines(data: Data, report: Report) -> Iterator[Lines]:
    """The lines that are not blank, with their values: some at a time where they are plain, else one, whose NaN and
    infinities are floats."""
    expected = Expected()
    waiting: list[Line] = []
    size, wanted = 0, _PIECE_BYTES
    for line in lines(data, report):
        waiting.append(line)
        size += len(line.data)
        if size >= wanted:
            yield from _values(waiting, expected, report)
            waiting, size, wanted = [], 0, min(2 * wanted, _LARGEST_PIECE_BYTES)
    yield from _values(waiting, expected, report)


def _values(waiting: list[Line], expected: Expected, report: Report) -> Iterator[Lines]:
    records = line_records([line.data for line in waiting], expected)
    if records is not None:
        yield Lines(waiting, records)
        return
    for line in waiting:  # with care
        try:
            value = json.loads(decoded(line, report), object_pairs_hook=lambda pairs: _object(pairs, report, line))
        except (ValueError, RecursionError) as error:
            report.at("malformed-json", str(error)[:200], line, "error")
            continue
        yield Lines([line], Decoded([value]))


def _object(pairs: list[tuple[str, Any]], report: Report, line: Line) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        report.at("duplicate-json-key", ", ".join(sorted({name for name, _ in pairs}))[:120], line)
    return found
