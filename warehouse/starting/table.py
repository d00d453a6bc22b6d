"""A text as a table with a header: what is between its cells, which lines are comments, and the mark of a fraction, as the text itself shows."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from dataclasses import dataclass
from io import StringIO
from typing import Any

from warehouse.errors import ExitCode, WarehouseError

_DELIMITERS = (",", ";", "\t", "|")
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
_COMMA = re.compile(r"([+-]?(?:\d{1,3}(?:\.\d{3})+|\d+),\d+(?:[eE][+-]?\d+)?)(\s*[^\s\d.,][^\d,]*)?")  # alone, or with a unit

_STATED = re.compile(r".*[:=]\s*[+-]?\d")


@dataclass(frozen=True)
class Table:
    """The rows of a table, and how its cells are written, as `[csv]` of a description states it. Numbers have a point."""

    rows: list[dict[str, str]]
    dialect: Mapping[str, str]


def table_of(text: str, place: str) -> Table | None:
    """The text as a table; None if it is none with any delimiter. Raises WH007 where two columns have one name."""
    found = (_table(text, delimiter, place) for delimiter in _DELIMITERS)
    return next((table for table in found if table is not None), None)


def _table(text: str, delimiter: str, place: str) -> Table | None:
    lines = text.splitlines(keepends=True)
    first = next((line for line in lines if not line.startswith("#")), "")
    is_header = bool(lines) and lines[0].count(delimiter) == first.count(delimiter) and bool(lines[0][1:2].strip())  # `#name,ms`
    has_comments = bool(lines) and lines[0].startswith("#") and not is_header
    kept = "".join(line for line in lines if not line.startswith("#")) if has_comments else text
    header, *rows = [row for row in csv.reader(StringIO(kept), delimiter=delimiter) if row] or [[]]
    if len(header) > 2 and not header[-1].strip():  # a delimiter at the end of each line
        header, rows = header[:-1], [row[:-1] if len(row) == len(header) and not row[-1].strip() else row for row in rows]
    if len(header) < 2 or not all(each.strip() for each in header) or not rows:
        return None
    if 10 * sum(len(row) != len(header) for row in rows[:20]) > len(rows[:20]):  # a row of another length may be, which is told when it is read
        return None
    if delimiter != "," and any(map(is_number, header)) or any(map(_STATED.match, header)):  # lines such as `Total:<tab>14.9`, `Score: 12,345`
        return None
    if any(map(is_number, header)) and [*map(is_number, header)] == [*map(is_number, rows[0])]:  # a row as the others are
        return None
    names = [each.strip() for each in header]
    if len(set(names)) < len(names):
        raise WarehouseError("WH007", "two of its columns have one name", place, exit_code=ExitCode.USAGE)
    cells = [[cell.strip() for cell in row] for row in rows if len(row) == len(names)]
    is_with_comma = delimiter != "," and any(_COMMA.fullmatch(cell) for row in cells for cell in row)
    if is_with_comma:
        cells = [[_with_point(cell) for cell in row] for row in cells]
    dialect = {"delimiter": delimiter} if delimiter != "," else {}
    dialect |= ({"comment": "#"} if has_comments else {}) | ({"decimal": ","} if is_with_comma else {})
    return Table([dict(zip(names, row, strict=True)) for row in cells], dialect)


def _with_point(cell: str) -> str:
    found = _COMMA.fullmatch(cell)
    return found[1].replace(".", "").replace(",", ".") + (found[2] or "") if found else cell


def is_number(value: Any) -> bool:
    """Whether a value is a number, or a text that is one."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) or isinstance(value, str) and bool(_NUMBER.fullmatch(value.strip()))
