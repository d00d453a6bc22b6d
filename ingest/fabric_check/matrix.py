"""What the title of an nvbandwidth matrix says of its cells: `memcpy CE CPU(row) -> GPU(column) bandwidth (GB/s)`, or, of copies
within a device, `memcpy local GPU(column) bandwidth (GB/s)`. Source: NVIDIA/nvbandwidth, testcases_ce.cpp."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from warehouse.landing.text import clean

_TITLE = re.compile(r".*?(?:(\w+)\s*\(row\)\s*(<->|->|<-)\s*|\blocal\s+)(\w+)\s*\(column\).*\(([^()]+)\)\s*", re.DOTALL)
_BANDWIDTHS, _LATENCIES = frozenset({"GB/s"}), frozenset({"ns", "us"})


class Matrix(NamedTuple):
    """What rows and columns are, which way data goes, and the cells' unit. `rows` None: a column's device to itself."""

    rows: str | None
    arrow: str
    columns: str
    unit: str


def matrix_of(title: str) -> Matrix | None:
    """None where the text is no matrix's title."""
    found = _TITLE.fullmatch(title) if len(title) <= 500 else None
    if not found:
        return None
    return Matrix(found[1] and clean(found[1]), found[2] or "->", clean(found[3]), clean(found[4]))


def is_cell_expected(matrix: Matrix, row: str, column: str) -> bool:
    """Whether a cell without a value says that a measurement is missing: a device is not measured against itself."""
    return matrix.rows != matrix.columns or row != column


def cell_columns(matrix: Matrix, row: str, column: str, number: float) -> dict[str, Any]:
    """A cell as a measurement between two ends. A unit that is not known leaves the value out."""
    far = f"{matrix.columns} {column}"
    ends = (far if matrix.rows is None else f"{matrix.rows} {row}", far)
    source, target = ends[::-1] if matrix.arrow == "<-" else ends
    columns: dict[str, Any] = {
        "scope_name": f"{ends[0]} {matrix.arrow} {ends[1]}", "source": source, "target": target,
        "direction": "bidirectional" if matrix.arrow == "<->" else None,
    }
    if matrix.unit in _BANDWIDTHS:
        return {**columns, "bandwidth": number, "bandwidth_unit": matrix.unit}
    if matrix.unit in _LATENCIES:
        return {**columns, "latency_mean": number, "latency_unit": matrix.unit}
    return {**columns, "status_reason": f"the unit {matrix.unit} is not known"}
