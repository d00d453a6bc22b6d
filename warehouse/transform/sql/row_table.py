"""A few rows as a small plain table for a message: as many columns as fit, cells cut, control characters escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from warehouse.errors import printable

_LINE_WIDTH = 110
_CELL_WIDTH = 40


def row_table(columns: Sequence[str], rows: Iterable[Sequence[Any]], indent: str = "") -> str:
    """The rows under their column names. Columns that do not fit are named in a last line."""
    texts = [list(map(_cell, row)) for row in ([*columns], *rows)]
    widths = [max(len(row[i]) for row in texts) for i in range(len(columns))]
    shown, left = 0, _LINE_WIDTH - len(indent)
    while shown < len(widths) and (widths[shown] <= left or shown == 0):
        left -= widths[shown] + 2
        shown += 1
    texts.insert(1, ["-" * width for width in widths])
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row[:shown], widths[:shown], strict=True)).rstrip() for row in texts]
    if shown < len(columns):
        left_out = ", ".join(map(printable, columns[shown:]))
        lines.append(f"and {len(columns) - shown} more columns: {left_out}"[: _LINE_WIDTH - len(indent)])
    return "\n".join(indent + line for line in lines)


def _cell(value: Any) -> str:
    text = "NULL" if value is None else str(value).lower() if isinstance(value, bool) else printable(str(value))
    return text if len(text) <= _CELL_WIDTH else text[: _CELL_WIDTH - 3] + "..."
