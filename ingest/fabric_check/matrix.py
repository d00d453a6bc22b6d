"""What the title of an nvbandwidth matrix says of its cells: `memcpy CE CPU(row) -> GPU(column) bandwidth (GB/s)`; of copies within
a device, `memcpy local GPU(column) bandwidth (GB/s)`; of one against all, `memcpy CE All Gpus -> GPU(column) total bandwidth
(GB/s)`. A bidirectional test has three matrices: each stream's and the total's. Ends are named as the title's arrow has them.
Source: NVIDIA/nvbandwidth, testcases_ce.cpp, testcases_sm.cpp, multinode_testcases.cpp of versions 0.2 to 0.8.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from warehouse.landing.readers.text import clean

_END = r"(?:(?P<{0}>\w+)\s*\((?P<{0}_by>row|column)\)|All\b(?:\s+\w+)?)"
_TITLE = re.compile(
    rf".*?(?:{_END.format('left')}\s*(?P<arrow><->|->|<-)\s*{_END.format('right')}|\blocal\s+(?P<local>\w+)\s*\(column\))"
    r"\s*(?:(?P<part>(?:Read|Write)\d|Total)\b)?.*\((?P<unit>[^()]+)\)\s*",
    re.DOTALL,
)
_BANDWIDTHS, _LATENCIES = frozenset({"GB/s"}), frozenset({"ns", "us"})
_ALL = "all GPUs"


class End(NamedTuple):
    """One end of a cell. `by` is what numbers it: row, column, or None where it is all of them."""

    kind: str
    by: str | None

    def named(self, row: str, column: str) -> str:
        return self.kind if self.by is None else f"{self.kind} {row if self.by == 'row' else column}"


class Matrix(NamedTuple):
    """Both ends, which way data goes, the cells' unit, and which of a bidirectional test's matrices it is."""

    left: End
    arrow: str
    right: End
    unit: str
    part: str | None = None


def matrix_of(title: str, test: str | None) -> Matrix | None:
    """None where the text is no matrix's title. `test` is the name of the test, which is right where a title is not: some
    versions say CPU of copies between devices, and GPU of the row for all of them."""
    found = _TITLE.fullmatch(title) if len(title) <= 500 else None
    if not found:
        return None
    unit = clean(found["unit"])
    if found["local"]:
        device = End(clean(found["local"]), "column")
        return Matrix(device, "->", device, unit)
    left, right = (End(clean(found[side]), found[f"{side}_by"]) if found[side] else End(_ALL, None) for side in ("left", "right"))
    if left.by == "row" and re.search("all_to_one|one_to_all|all_from_one", test or ""):
        left = End(_ALL, None)
    elif left.by == "row" and "device_to_device" in (test or ""):
        left = End(right.kind, "row")
    return Matrix(left, found["arrow"], right, unit, found["part"])


def parts_of(matrix: Matrix, test: str | None, row_count: int, column_count: int) -> list[str | None]:
    """The parts of a JSON document's matrix, which has the rows of a bidirectional test's three matrices one behind the other
    and the last one's title. One, where it has its own rows alone."""
    is_square = matrix.left.kind == matrix.right.kind and {matrix.left.by, matrix.right.by} == {"row", "column"}
    if not is_square or row_count != 3 * column_count:
        return [matrix.part]
    stream = "Write" if "write" in (test or "") else "Read"
    return [f"{stream}1", f"{stream}2", matrix.part or "Total"]


def is_cell_expected(matrix: Matrix, row: str, column: str) -> bool:
    """Whether a cell without a value says that a measurement is missing: a device is not measured against itself."""
    return matrix.left == matrix.right or matrix.left.named(row, column) != matrix.right.named(row, column)


def cell_columns(matrix: Matrix, row: str, column: str, number: float) -> dict[str, Any]:
    """A cell as a measurement between two ends. A unit that is not known leaves the value out."""
    ends = matrix.left.named(row, column), matrix.right.named(row, column)
    source, target = ends[::-1] if matrix.arrow == "<-" else ends
    part = f" {matrix.part}" if matrix.part else ""
    columns: dict[str, Any] = {
        "scope_name": f"{ends[0]} {matrix.arrow} {ends[1]}{part}", "source": source, "target": target,
        "direction": "bidirectional" if matrix.arrow == "<->" else None,
    }
    if matrix.unit in _BANDWIDTHS:
        return {**columns, "bandwidth": number, "bandwidth_unit": matrix.unit}
    if matrix.unit in _LATENCIES:
        return {**columns, "latency_mean": number, "latency_unit": matrix.unit}
    return {**columns, "status_reason": f"the unit {matrix.unit} is not known"}
