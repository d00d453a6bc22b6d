"""The text of GPCNeT's network_test and network_load_test: tables of tests with mean and 99 % tail.

A row's unit is its last cell; bandwidths are per rank. Source: netbench/GPCNET, network_test.c and utils.c.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from warehouse.landing.readers.text import Data, Report, clean

from .check import Check, Rows, at, end, entry, point, table_integer, table_number, test
from .streams import Told, told_lines

MARK = re.compile(
    rb"(?:Network(?:Load)? Tests v\d|ERROR: this (?:application|tester partition|Congestor partition) must be run on)"
)

_VERSION = re.compile(r"Network(Load)? Tests (v\S+)")
_SIZE = re.compile(r"Test with (\S+) MPI ranks \((\S+) nodes\)")
_BYTES = re.compile(r"\((\S+) B\)")
_ERROR = re.compile(r"ERROR: (.*)")
_FACTOR = re.compile(r"(\d+(?:\.\d+)?)X")


@dataclass
class _State:
    """A run under way: the table's title and columns, and the tests told."""

    check: Check
    title: str = ""
    columns: list[str] = field(default_factory=list)
    tests: int = 0
    names: list[str] = field(default_factory=list)


def rows(data: Data, report: Report, file_name: str) -> Rows:
    """The checks of a log."""
    state: _State | None = None
    for told in told_lines(data, report):
        version = _VERSION.match(told.text)
        if version or (state is None and _ERROR.match(told.text)):
            if state is not None:
                yield from _finished(state)
            name = None if version is None else "network_load_test" if version[1] else "network_test"
            state = _State(Check("gpcnet", name, told.line.offset))
            state.check.tool_version = clean(version[2])[:256] if version else None
        if state is not None:
            yield from _line(state, told, report)
        elif told.text.startswith("|"):
            report.at("row-outside-of-a-test", told.text[:200], told.line, "error")
    if state is not None:
        yield from _finished(state)


def _line(state: _State, told: Told, report: Report) -> Rows:
    text, check = told.text, state.check
    if size := _SIZE.search(text):
        check.rank_count = table_integer(size[1], "MPI ranks", told.line, report)
        check.node_count = table_integer(size[2], "nodes", told.line, report)
    elif error := _ERROR.match(text):
        check.fail(error[0])
    elif not text.startswith("|"):
        if text.count("|") > 1:
            report.at("malformed-row", text[:200], told.line, "error")
        return
    else:
        cells = [cell.strip() for cell in text.strip("|").split("|")]
        if len(cells) == 1:
            state.title, state.columns = cells[0], []
        elif cells[0] in ("Name", ""):  # the second header line of the key results names what the first one spans
            state.columns = cells
        else:
            yield from _table_row(state, cells, told, report)
    check.cover(*at(told.line))


def _table_row(state: _State, cells: list[str], told: Told, report: Report) -> Rows:
    if len(cells) != len(state.columns):
        report.at("malformed-row", told.text[:200], told.line, "error")
        return
    state.tests += 1
    name = clean(f"{state.title}: {cells[0]}")[:256]
    state.names.append(name)
    stated = dict(zip(state.columns[1:], cells[1:], strict=True))
    for key, cell in stated.items():
        factor = _FACTOR.fullmatch(cell)
        yield entry(state.check, told.line, key, factor[1] if factor else cell, state.tests)
    unit = stated.get("Units")
    if not stated.keys() >= ({"Avg", "99%", "Units"} if not any(map(_FACTOR.fullmatch, stated.values())) else {"Avg", "99%"}):
        report.at("unknown-column", ", ".join(state.columns)[:200], told.line, "error")
    if unit is not None:
        mean, tail = (table_number(stated.get(key, ""), key, told.line, report) for key in ("Avg", "99%"))
        message = _BYTES.search(cells[0])
        size = table_integer(message[1], "message size", told.line, report) if message else None
        if unit == "usec":
            measured: dict[str, Any] = {"latency_mean": mean, "latency_p99": tail, "latency_unit": unit}
        else:
            measured = {"bandwidth": mean, "bandwidth_p99": tail, "bandwidth_unit": clean(unit)[:64]}
        yield point(state.check, told.line, state.tests, 1, message_bytes=size, **measured)
    yield test(state.check, *at(told.line), state.tests, name, "measured")


def _finished(state: _State) -> Rows:
    check = state.check
    check.parameters["tests"] = state.names
    if not state.tests:
        check.fail("the log has no results")
        yield test(check, check.offset, check.length, 1, check.test, "failed", check.status_reason)
    elif check.status != "failed":
        check.status = "succeeded"
    yield end(check)
