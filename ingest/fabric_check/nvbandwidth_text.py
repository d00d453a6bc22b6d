"""The text of nvbandwidth: the machine, then test by test a matrix with its unit, or several, and a sum of each.

A test that the machine cannot run says `Waived:`, mostly without a name. Source: NVIDIA/nvbandwidth, output.cpp.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from warehouse.landing.readers.text import Data, Report, clean, number_in

from .check import Check, Rows, at, end, endpoint, entry, is_missing, point, table_number, test
from .matrix import cell_columns, is_cell_expected, matrix_of
from .streams import Told, told_lines

MARK = re.compile(rb"nvbandwidth Version:")

_STATED = re.compile(
    r"(Built from Git version|CUDA Runtime Version|CUDA Driver Version(?: \(API\))?|Driver Version|MPI version):\s*(.*)"
)
_DEVICE = re.compile(r"Device (\d{1,6}): ([^:]*?)(?: \(([0-9a-fA-F:.]+)\))?")
_PROCESS = re.compile(r"Process\s+(\d{1,6})\s+\(([^)]*)\): device (\d{1,6}): ([^:]*?)(?: \(([0-9a-fA-F:.]+)\))?")
_RUNNING = re.compile(r"Running (\S+?)\.?")
_ENDED = re.compile(r"(Waived|Error|ERROR|Not Found):\s*(.*)")
_HOST = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]*")  # versions from 0.6 write it on a line before the devices
_FIGURE = re.compile(r"([A-Z][A-Z_]+) (\S+) (\S+)")
_ERROR = re.compile(r"CUDA_ERROR_\w+|NVML_ERROR\w*|Invalid value when checking|ERROR", re.ASCII)


@dataclass
class _Test:
    """A test under way, from the line that begins it."""

    index: int
    name: str | None
    offset: int
    length: int
    title: str | None = None
    columns: list[str] = field(default_factory=list)
    points: int = 0
    has_sum: bool = False
    error: str | None = None

    def cover(self, offset: int, length: int) -> None:
        self.length = offset + length - self.offset


@dataclass
class _State:
    """A run under way."""

    check: Check
    current: _Test | None = None
    tests: int = 0
    failures: list[str] = field(default_factory=list)
    names: set[str] = field(default_factory=set)
    host: str | None = None


def rows(data: Data, report: Report, file_name: str) -> Rows:
    """The checks of a log: one an execution of nvbandwidth."""
    states: dict[str, _State] = {}  # of each process that a launcher tells apart
    for told in told_lines(data, report):
        state = states.get(told.tag)
        if told.text.startswith("nvbandwidth Version:"):
            if state is not None:
                yield from _finished(state)
            state = states[told.tag] = _State(Check("nvbandwidth", "nvbandwidth", told.line.offset))
            state.check.tool_version = clean(told.text.partition(":")[2].strip())[:256] or None
            state.check.cover(*at(told.line))
        elif state is not None:
            yield from _line(state, told, report)
        elif states and _ERROR.search(told.text):
            report.at("error-outside-of-a-test", told.text[:300], told.line)
    for state in states.values():
        yield from _finished(state)


def _line(state: _State, told: Told, report: Report) -> Rows:
    text, check, current = told.text, state.check, state.current
    check.cover(*at(told.line))
    if match := _STATED.fullmatch(text):
        yield entry(check, told.line, match[1], match[2].strip())
    elif match := _DEVICE.fullmatch(text):
        bus = match[3] and clean(match[3])
        yield endpoint(
            check, told.line, "gpu", int(match[1]), node_name=state.host, device=int(match[1]), model=clean(match[2])[:256],
            bus_id=bus,
        )
    elif match := _PROCESS.fullmatch(text):
        check.rank_count = (check.rank_count or 0) + 1
        yield endpoint(
            check, told.line, "rank", int(match[1]), node_name=clean(match[2]).strip("\0 ")[:256] or None, device=int(match[3]),
            model=clean(match[4])[:256], bus_id=match[5] and clean(match[5]),
        )
    elif match := _RUNNING.fullmatch(text):
        yield from _ended(state)
        state.tests += 1
        state.current = _Test(state.tests, clean(match[1])[:256], *at(told.line))
        state.names.add(clean(match[1])[:256])
    elif match := _ENDED.fullmatch(text):
        yield from _stopped(state, told, match)
    elif current is not None:
        current.cover(*at(told.line))
        yield from _of_test(state, current, told, report)
    elif not state.tests and not check.gpus and _HOST.fullmatch(text):
        state.host = text[:256]
    elif not text.startswith("NOTE") and (":" in text or "_" in text):
        report.at("unknown-line", text[:200], told.line)


def _of_test(state: _State, current: _Test, told: Told, report: Report) -> Rows:
    text, words = told.text, told.text.split()
    if not words:  # all that it had was a number that is cut
        return
    if (match := _FIGURE.fullmatch(text)) and current.name and match[2].startswith(current.name):
        part = match[2].removeprefix(current.name).removeprefix("_").removesuffix("total")
        current.has_sum = current.has_sum or match[1] == "SUM"
        yield entry(state.check, told.line, f"{match[1]} {part}".strip(), match[3], current.index)
    elif matrix_of(text, current.name) is not None:
        current.title, current.columns = text, []
    elif current.title is not None and not current.columns and all(word.isdigit() for word in words):
        current.columns = words
    elif current.columns and words[0].isdigit():
        if len(words) != len(current.columns) + 1:
            report.at("malformed-row", text[:200], told.line, "error")
            return
        matrix = matrix_of(current.title or "", current.name)
        assert matrix
        for column, cell in zip(current.columns, words[1:], strict=True):
            number = table_number(cell, current.name or "", told.line, report)
            if number is not None:
                current.points += 1
                yield point(
                    state.check, told.line, current.index, current.points, "pair",
                    **cell_columns(matrix, words[0], column, number),
                )
            elif is_missing(cell) and is_cell_expected(matrix, words[0], column):
                report.at("cell-not-measured", f"{current.name}: {words[0]}, {column}", told.line, "note")
    elif _ERROR.search(text):
        current.error = current.error or text
    elif not text.startswith("NOTE") and (": " in text or any(number_in(word) is not None for word in words)):
        report.at("unknown-line", text[:200], told.line)


def _stopped(state: _State, told: Told, match: re.Match[str]) -> Rows:
    """`Waived:` is about the test that has just begun, or, after a finished one, about one without a name."""
    if state.current is not None and state.current.title is not None:
        yield from _ended(state)
    if state.current is None:
        state.tests += 1
        state.current = _Test(state.tests, None, *at(told.line))
    state.current.cover(*at(told.line))
    current, state.current = state.current, None
    status = "waived" if match[1] == "Waived" else "failed"
    reason = match[2].strip() or None
    if status == "failed":
        state.failures.append(f"{current.name or 'a test'}: {reason or match[1]}")
    yield test(state.check, current.offset, current.length, current.index, current.name, status, reason)


def _ended(state: _State) -> Rows:
    """The test under way is over: measured if its matrix, or at least its sum, was printed."""
    current, state.current = state.current, None
    if current is None:
        return
    status, reason = ("measured", None) if (current.points or current.has_sum) and current.error is None else (
        "failed", current.error or "the log has no result for it"
    )
    if reason is not None:
        state.failures.append(f"{current.name}: {reason}")
    yield test(state.check, current.offset, current.length, current.index, current.name, status, reason)


def _finished(state: _State) -> Rows:
    yield from _ended(state)
    check = state.check
    check.parameters["tests"] = sorted(state.names)
    check.conclude(state.failures[0] if state.failures else None if state.tests else "the log has no tests")
    yield end(check)
