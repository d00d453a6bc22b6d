"""What a tool's parser tells: checks (one execution of the tool each) and the rows that belong to them, in the order of the
bytes. The parser knows the tool's format; run ids, buffers and the bundle are not its business."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from typing import Any, NamedTuple

from warehouse.landing.readers.entries import is_count
from warehouse.landing.readers.text import MAX_VALUE_CHARACTERS, Line, Report, clean, is_non_finite, landed_text, number_in

from .tables import ENDPOINT, ENTRY, POINT, TEST

_COUNTS = frozenset({"Out of bounds values", "Reducing maxBytes to", "nccl-library"})  # wrong values, bytes, a version's code
_MISSING = frozenset({"", "n/a", "na", "nan", "-nan", "null", "none", "unknown", "-"})


@dataclass(eq=False)
class Check:
    """One execution of one tool. `tool` and `test` are known when its first row is added, the rest at its end."""

    tool: str
    test: str | None
    offset: int
    length: int = 0
    is_test_stated: bool = True  # False: `test` is from a command line or the file's name, not from what the tool wrote
    tool_version: str | None = None
    status: str = "unknown"
    status_reason: str | None = None
    parameters: dict[str, Any] = field(default_factory=dict)  # what the workload is, for its document
    nodes: list[str] = field(default_factory=list)
    node_count: int | None = None  # where the nodes are not named
    rank_count: int | None = None
    are_ranks_one_group: bool = True  # False: nothing says how many ranks took part in one collective
    are_hosts_known: bool = True  # False: nothing says which of several processes wrote the figures
    gpu_models: list[str] = field(default_factory=list)
    gpus: dict[str, dict[int, str | None]] = field(default_factory=dict)  # node: device: bus id
    started_at_text: str | None = None
    started_at: datetime | None = None
    is_zone_assumed: bool | None = None
    ended_at: datetime | None = None
    duration_s: float | None = None
    origin: str | None = None  # what the report states that no other execution has; see `executions`
    is_origin_random: bool = False
    side: str | None = None  # which end of the execution reports
    agreed: str | None = None  # what both ends of a test report alike, where their figures differ

    def cover(self, offset: int, length: int) -> None:
        """Let the check's bytes reach to the end of these."""
        self.length = max(self.length, offset + length - self.offset)

    def fail(self, reason: str) -> None:
        """The check has failed; the first reason is kept."""
        if self.status != "failed":
            self.status, self.status_reason = "failed", clean(reason)[:500]

    def conclude(self, reason: str | None) -> None:
        """The check is over: it failed for a reason, or succeeded."""
        if reason:
            self.fail(reason)
        else:
            self.status = "succeeded"


class Row(NamedTuple):
    """A landing row of a check. `table` None: the check is over."""

    check: Check
    table: str | None
    offset: int = 0
    length: int = 0
    columns: Mapping[str, Any] = MappingProxyType({})
    issue: tuple[str, str] | None = None  # code and message of what its bytes state and no column holds

    @property
    def line_number(self) -> int | None:
        return self.columns.get("line_number")


Rows = Iterator[Row]


def end(check: Check) -> Row:
    """The last row of a check."""
    return Row(check, None)


def at(line: Line, start: int = 0, stop: int | None = None) -> tuple[int, int]:
    """Offset and length in the file of a part of a line, given in bytes of the line."""
    stop = len(line.data) if stop is None else stop
    return line.offset + start, stop - start


def entry(check: Check, line: Line, key: str, value: str | None, test_index: int | None = None) -> Row:
    """What a line states under a key; a value that says that there is none is NULL."""
    columns = {"test_index": test_index, "source": "log", **stated(key, value), "line_number": line.number}
    code = "non-finite-number" if value is not None and is_non_finite(value) else None
    if value is not None and len(value) > MAX_VALUE_CHARACTERS:
        code, value = "value-too-large", f"{len(value)} characters"
    if key in _COUNTS and columns["value_number"] is not None and not is_count(columns["value_number"]):
        code, columns["value_number"] = "impossible-count", None
    return Row(check, ENTRY, *at(line), columns, (code, f"{key}: {value}"[:120]) if code else None)


def stated(key: str, value: str | None) -> dict[str, Any]:
    """The columns of a key and its value."""
    value = None if value is None or is_missing(value) else value
    return {
        "key": clean(key)[:256], "value": None if value is None else landed_text(value),
        "value_number": None if value is None else number_in(value),
    }


def test(
    check: Check, offset: int, length: int, test_index: int, name: str | None, status: str, reason: str | None = None
) -> Row:
    """How a test of the check ended."""
    return Row(check, TEST, offset, length, {
        "test_index": test_index, "test": name, "status": status,
        "status_reason": None if reason is None else clean(reason)[:500],
    })


def one_test(check: Check, reason: str | None) -> Rows:
    """The last rows of a check that is one test."""
    check.conclude(reason)
    yield test(check, check.offset, check.length, 1, check.test, "failed" if reason else "measured", reason)
    yield end(check)


def point(check: Check, line: Line, test_index: int, point_index: int, scope: str = "point", **columns: Any) -> Row:
    """A measurement that a line states. The tools write -1 for a figure that they do not have."""
    columns = {key: None if value == -1 and key != "temperature_c" else value for key, value in columns.items()}
    columns.setdefault("status", "measured")
    return Row(check, POINT, *at(line), {
        "test_index": test_index, "point_index": point_index, "scope": scope, "line_number": line.number, **columns,
    })


def table_number(text: str, name: str, line: Line, report: Report) -> float | None:
    """The number in a table's cell; None where the tool says that there is none, or, reported as an issue, where it cannot be
    read."""
    number = number_in(text)
    if number is None and is_non_finite(text):
        report.at("non-finite-number", f"{name}: {text[:80]}", line, "error")
    elif number is None and not is_missing(text):
        report.at("not-a-number", f"{name}: {text[:80]}", line, "error")
    return number


def table_integer(text: str, name: str, line: Line, report: Report) -> int | None:
    """The whole number in a table's cell; as `table_number`."""
    number = integer_in(text)
    if number is None and table_number(text, name, line, report) is not None:
        report.at("not-an-integer", f"{name}: {text[:80]}", line, "error")
    return number


def is_row_like(text: str) -> bool:
    """Whether a line has the look of a table's row: six cells or more, half of them numbers."""
    words = text.split()
    numbers = sum(number_in(word) is not None or is_missing(word) for word in words[:64])
    return len(words) >= 6 and 2 * numbers >= min(len(words), 64)


def endpoint(check: Check, line: Line, kind: str, number: int, **columns: Any) -> Row:
    """A rank or GPU that takes part, as a line states it; it counts towards the check's hardware."""
    model, node = columns.get("model"), columns.get("node_name")
    if model and model not in check.gpu_models:
        check.gpu_models.append(model)
    if node and node not in check.nodes:
        check.nodes.append(node)
    check.gpus.setdefault(node or "", {})[columns.get("device", number)] = columns.get("bus_id")
    return Row(check, ENDPOINT, *at(line), {"kind": kind, "number": number, "line_number": line.number, **columns})


def is_missing(text: str) -> bool:
    return text.strip().casefold() in _MISSING


_LARGEST = 1 << 63


def integer_in(text: str) -> int | None:
    """The integer, if the text is exactly one that a 64-bit column holds."""
    number = int(text) if len(text) < 20 and re.fullmatch(r"[+-]?\d+", text, re.ASCII) else None
    return number if number is not None and -_LARGEST <= number < _LARGEST else None
