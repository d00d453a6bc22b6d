"""Rows that SQL inserts, as a list of objects: `INSERT INTO t (a, b) VALUES ('x', 1);`. No other statement states anything."""

from __future__ import annotations

import re

from warehouse.landing.described.forms.nodes import Node, Number
from warehouse.landing.readers.text import Report, clean

_BEGIN = re.compile(rb"\bINSERT\s++INTO\b", re.IGNORECASE)
_INSERT = re.compile(rb"INSERT\s++INTO\s++[^\s(]++\s*+\((?P<columns>[^()]++)\)\s*+VALUES\s*+", re.IGNORECASE)
_NUMBER = rb"[-+]?(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][-+]?\d++)?"
_VALUE = re.compile(rb"\s*+(?:'(?P<text>(?:[^']|'')*+)'|(?P<number>" + _NUMBER + rb")|(?P<none>NULL))\s*+(?P<mark>[,)])", re.IGNORECASE)
_NEXT = re.compile(rb"\s*+(?P<mark>[,;])\s*+\(?")


def sql_tree(data: bytes, report: Report) -> Node:
    """The rows of all insertions. One that cannot be read, or has another number of values than columns, is reported, and what follows in it
    is left out."""
    rows: list[Node] = []
    position, last, line = 0, 0, 1
    while begin := _BEGIN.search(data, position):
        position, is_whole = begin.end(), False
        line, last = line + data.count(b"\n", last, begin.start()), begin.start()
        if insert := _INSERT.match(data, begin.start()):
            columns = [name.strip(b" \t\r\n\"`[]").decode(errors="replace") for name in insert["columns"].split(b",")]
            position, is_whole = _rows(data, insert.end(), columns, rows)
        if not is_whole:
            report("malformed-sql", "the insertion cannot be read to its end", begin.start(), position - begin.start(), line, "error")
    return Node(rows, 0, len(data))


def _rows(data: bytes, position: int, columns: list[str], rows: list[Node]) -> tuple[int, bool]:
    """Add the rows of an insertion; where it ends, and whether it was read to its end."""
    while data[position : position + 1] == b"(":
        row, position = _row(data, position, columns)
        if row is None:
            return position, False
        rows.append(row)
        following = _NEXT.match(data, position)
        if following is None or following["mark"] == b";":
            return position, following is not None
        position = following.end() - 1
    return position, False


def _row(data: bytes, start: int, columns: list[str]) -> tuple[Node | None, int]:
    values: list[Node] = []
    position = start + 1
    while found := _VALUE.match(data, position):
        what = next(name for name in ("text", "number", "none") if found[name] is not None)
        text = found[what].decode(errors="replace")
        value = clean(text.replace("''", "'")) if what == "text" else Number(text) if what == "number" else None
        values.append(Node(value, *found.span(what)))
        position = found.end()
        if found["mark"] == b")":
            is_whole = len(values) == len(columns) and len(set(columns)) == len(columns)
            return (Node(dict(zip(columns, values, strict=True)), start, position) if is_whole else None), position
    return None, position
