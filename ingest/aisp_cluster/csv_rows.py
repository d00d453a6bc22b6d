"""A CSV table of the suite: a line of names, then lines of cells. The scripts append to it, with one header."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from typing import NamedTuple

from warehouse.landing.readers.records import Record
from warehouse.landing.readers.text import Data, Line, Place, Report, clean, decoded, is_non_finite, lines
from warehouse.landing.severity import NOTE


class Cell(NamedTuple):
    """A cell's text and the bytes that state it; of a line with quotes, those of the line."""

    text: str
    place: Place


def csv_rows(data: Data, report: Report) -> Iterator[tuple[Line, dict[str, Cell]]]:
    """Each line with its cells by name. A line with other than the header's number of cells is reported and left out."""
    names: list[str] | None = None
    has_rows = False
    for line in lines(data, report):
        cells = _cells(line, report)
        if cells is None or cells == names:
            continue
        if names is None:
            names = cells
            if len(set(names)) < len(names):
                report.at("duplicate-column", ", ".join(names)[:120], line, "error")
        elif len(cells) != len(names):
            report.at("malformed-csv", f"{len(cells)} cells, the header has {len(names)}", line, "error")
        else:
            has_rows = True
            yield line, {name: Cell(cell, place) for name, cell, place in zip(names, cells, _places(line, cells), strict=True)}
    if len(data) and data[-1:] != b"\n":
        report("no-line-end", "the last line has no end, and may be a part of one", len(data), 0, severity=NOTE)
    if not has_rows:
        report("no-rows", "the table has no rows", 0, len(data), severity="error")


def record_of(cells: dict[str, Cell], line: Line, report: Report) -> Record:
    """The cells for their numbers."""
    for name, cell in cells.items():
        if is_non_finite(cell.text):
            report.at("non-finite-number", f"{name}: {cell.text[:80]}", cell.place, "error")
    return Record({name: cell.text for name, cell in cells.items()}, report.flag(line))


def _cells(line: Line, report: Report) -> list[str] | None:
    text = clean(decoded(line, report)).removeprefix("\ufeff")
    if '"' not in text:
        return [cell.strip() for cell in text.split(",")]
    try:
        return [cell.strip() for cell in next(csv.reader([text]))]
    except csv.Error as error:
        report.at("malformed-csv", str(error), line, "error")
        return None


def _places(line: Line, cells: list[str]) -> Iterator[Place]:
    parts = line.data.split(b",")
    if b'"' in line.data or len(parts) != len(cells):
        yield from (Place(line.offset, line.length, line.number) for _ in cells)
        return
    offset = line.offset
    for part in parts:
        yield Place(offset, len(part), line.number)
        offset += len(part) + 1
