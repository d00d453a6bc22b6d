"""What `wh lineage` adds to its four steps: the rows, the columns, and the raw files opened."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from warehouse.cli.output import counted
from warehouse.errors import printable

if TYPE_CHECKING:
    from warehouse.claims.numbers.cell_rows import CellRows, ReadRow, ReadTable
    from warehouse.claims.numbers.lineage import Lineage
    from warehouse.claims.numbers.raw_bytes import OpenedFile, Window
    from warehouse.project.project import Project

_LISTED = 5  # rows of each table
_EXCERPT_BYTES = 160
_LINE_BYTES = 400  # of a line of text around the bytes
_HEX_BYTES = 16  # a line


@dataclass(frozen=True)
class Part:
    """What was asked for beside the steps: as JSON has it, as people read it, and what goes to stderr."""

    document: dict[str, Any] | None
    lines: list[str]
    notices: list[str] = field(default_factory=list)


# --- rows --------------------------------------------------------------------------------------------------------


def rows_part(project: "Project", number: "Lineage") -> Part:
    """The rows under a number: all in the document, null where they cannot be shown; a few of every table in the lines."""
    from warehouse.claims.numbers.cell_rows import cell_rows

    rows = cell_rows(project, number)
    return Part(asdict(rows) if rows else None, _rows_lines(number, rows))


def _rows_lines(number: "Lineage", rows: "CellRows | None") -> list[str]:
    if rows is None:
        return ["rows        cannot be shown: the current build does not hold this number, and its record keeps files and ranges only"]
    lines = [f"rows        in build {rows.build_digest[:12]}"]
    if rows.query_spec_digest != number.query_spec_digest:
        lines[0] += ", which has the same number by other models than its publication"
    for table in rows.tables:
        count = len(table.rows)
        lines.append(f"   {table.table}  {counted(count, 'row')}")
        lines += [f"      {_row_text(table, row)}" for row in table.rows[:_LISTED]]
        if count > _LISTED:
            lines.append(f"      and {count - _LISTED} more: --json lists all")
    return lines


def _row_text(table: "ReadTable", row: "ReadRow") -> str:
    read = ", ".join(f"{name} = {_shown(value)}" for name, value in row.values.items()) or "the row as such"
    if "raw_path" in row.key:
        start, length = row.key["raw_offset"], row.key["raw_length"]
        key = f"{row.key['raw_path']} [{start}, {start + length})" if start is not None else str(row.key["raw_path"])
    else:
        key = ", ".join(f"{name}={_shown(value)}" for name, value in row.key.items())
    return printable(f"{key}: {read}" if key else read)


def _shown(value: Any) -> str:
    return "NULL" if value is None else str(value)


# --- columns -----------------------------------------------------------------------------------------------------


def columns_part(project: "Project", number: "Lineage") -> Part:
    """The column lineage of a number's column, in the keys of `wh columns --json` and as its tree."""
    from warehouse.claims.numbers.recorded import recorded_columns
    from warehouse.cli.models.columns import column_tree, edge_document, not_understood

    graph, column = recorded_columns(project, number)
    edges = list(graph.walk(column))
    tables = {column.table, *(edge.target.table for edge in edges)}
    unknown = {model: reason for model, reason in graph.unknown.items() if model in tables}
    document = {"table": column.table, "column": column.column, "unknown": unknown, "edges": [edge_document(edge) for edge in edges]}
    tree = (f"   {line}" for line in column_tree(graph, column, down=False))
    return Part(document, ["columns     by the SQL that made the number", *tree], [not_understood(*item) for item in unknown.items()])


# --- raw files ---------------------------------------------------------------------------------------------------


def opened_document(opened: "OpenedFile") -> dict[str, Any]:
    """What was read of a raw file: text where all of a window is text, hexadecimal otherwise."""
    return {
        "state": opened.state,
        "windows": [_window_document(window) for window in opened.windows],
        "more_ranges": opened.more_ranges,
    }


def _window_document(window: "Window") -> dict[str, Any]:
    parts = {"before": window.before, "data": window.data, "after": window.after}
    return {
        "offset": window.offset,
        "length": window.length,
        "form": "text" if window.is_text else "hex",
        **{name: part.decode(errors="replace") if window.is_text else part.hex() for name, part in parts.items()},
    }


def excerpt_lines(opened: "OpenedFile") -> list[str]:
    """The first bytes of each range as text on one line."""
    if opened.state != "whole":
        return [_not_whole(opened)]
    return [
        printable(" ".join(window.data[:_EXCERPT_BYTES].decode("utf-8", errors="replace").split()))
        + "…" * (window.length > _EXCERPT_BYTES)
        for window in opened.windows
    ]


def window_lines(opened: "OpenedFile") -> list[str]:
    """Each range with the bytes around it: every line with the offset of its first byte, marked where it is of the range."""
    if opened.state != "whole":
        return [_not_whole(opened)]
    lines = []
    for window in opened.windows:
        lines += [f"[{window.offset}, {window.offset + window.length})", *(_text_lines(window) if window.is_text else _hex_lines(window))]
        if len(window.data) < window.length:
            lines.append(f"    and {window.length - len(window.data)} more bytes")
    if opened.more_ranges:
        lines.append(f"and {counted(opened.more_ranges, 'more range')}")
    return lines


def _not_whole(opened: "OpenedFile") -> str:
    why = "it is gone" if opened.state == "missing" else "its bytes are others"
    return f"(not shown: the file is not the one of the record, {why})"


def _text_lines(window: "Window") -> Iterator[str]:
    start = window.offset - len(window.before)
    for line in (window.before + window.data + window.after).splitlines(keepends=True):
        text = line.rstrip(b"\r\n")
        shown = printable(text[:_LINE_BYTES].decode(errors="replace")) + "…" * (len(text) > _LINE_BYTES)
        yield f"{_mark(window, start, len(text))} {start:>10}  {shown}"
        start += len(line)


def _hex_lines(window: "Window") -> Iterator[str]:
    before = window.before[-_HEX_BYTES:]
    start, data = window.offset - len(before), before + window.data + window.after[:_HEX_BYTES]
    for place in range(0, len(data), _HEX_BYTES):
        part = data[place : place + _HEX_BYTES]
        text = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in part)
        yield f"{_mark(window, start + place, len(part))} {start + place:>10}  {part.hex(' '):<{_HEX_BYTES * 3}} {text}"


def _mark(window: "Window", start: int, length: int) -> str:
    """Whether some of these bytes are of the range."""
    return ">" if start < window.offset + window.length and window.offset < start + max(length, 1) else " "
