"""Turns a bundle into landing rows: each log's checks, then what a summary says of them.

Only `Bundle.read` and `Bundle.map` may raise here (tampered or missing bytes); everything else becomes an issue.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from warehouse.landing.contract import Bundle
from warehouse.landing.readers.text import Data, Report, clean, is_non_finite, lines, number_in
from warehouse.landing.rows import RowBuffer
from warehouse.landing.severity import NOTE

from . import collective, nccl_summary
from .bundles import SILENT_LOG, SUMMARY
from .check import Check, Row, Rows, end, stated, test
from .executions import Execution, Reports, executions
from .nccl_summary import Measured, Stated
from .nccl_text import ERROR, test_named
from .place import file_name
from .runs import run_columns, run_name
from .tables import ENDPOINT, ENTRY, POINT, RUN, TEST
from .tools import HEAD_BYTES, TOOLS, tools_of

_Batches = Iterator[tuple[str, pa.RecordBatch]]
_LOG_ROLES = {tool.role for tool in TOOLS} | {SILENT_LOG}


@dataclass
class _Run:
    """A run that has been added, and what a summary may say of it."""

    run_id: str
    index: int
    test: str | None
    nodes: tuple[str, ...] = ()
    average: float | None = None
    peak: float | None = None
    is_summarised: bool = False
    ends: set[tuple[str, int]] = field(default_factory=set)


@dataclass
class _Parse:
    """One bundle's parse: where rows go, and the runs of each log by the log's file name."""

    bundle: Bundle
    buffer: RowBuffer
    has_summary: bool
    runs: dict[str, list[_Run]] = field(default_factory=dict)
    reports: Reports = field(default_factory=Reports)
    landed: dict[Execution, _Run] = field(default_factory=dict)


def landed(bundle: Bundle, buffer: RowBuffer) -> _Batches:
    """Add all rows of a bundle; yields batches that are full."""
    files = sorted(bundle.manifest.by_path.items())
    has_summary = any(file.role == SUMMARY for _, file in files)
    parse = _Parse(bundle, buffer, has_summary)
    copies: set[tuple[str, str]] = set()
    for raw_path, file in files:
        # A log and its copy in the same place, as .log and .out, state the same runs.
        copy = (raw_path.rpartition(".")[0] or raw_path, file.sha256)
        if file.role in _LOG_ROLES and copy not in copies:
            copies.add(copy)
            yield from _log(parse, raw_path, file.role)
    for group in [group for group in parse.reports.groups if group[0].rows]:
        yield from _waiting(parse, group)
    _contradictions(parse)
    for raw_path, file in files:
        if file.role == SUMMARY:
            yield from _summary(parse, raw_path)


def _log(parse: _Parse, raw_path: str, role: str | None) -> _Batches:
    data = parse.bundle.map(raw_path)
    name = raw_path.rpartition("/")[2]
    report = Report(parse.buffer, raw_path, None)
    tools = tools_of(data[:HEAD_BYTES])
    tools += [tool for tool in TOOLS if tool.role == role and tool not in tools]
    sources = [tool.rows(data, report, name) for tool in tools] or [_silent(data, report, name)]
    has_checks = False
    unknown_units: set[str] = set()
    for execution, row in executions(sources, raw_path):
        has_checks = True
        if row.issue is not None:
            report.at(*row.issue, row, "error")
        if row.table == POINT and (reason := _unknown_unit(row)) is not None and reason not in unknown_units:
            unknown_units.add(reason)
            report.at("unknown-unit", reason, row, "error")
        if execution.is_held:
            execution.rows.append(row)
            if row.table is None:
                if execution.check.tool in collective.TOOLS:
                    execution.rows = collective.settled(execution.check, execution.rows, report)
                yield from _reported(parse, execution)
        else:
            yield from _land(parse, execution, row)
    if not has_checks:
        report("no-test", "no test of the log can be read", 0, len(data), 1, "error")
    _check_end(data, report)


def _unknown_unit(row: Row) -> str | None:
    """What is not known of the unit of a point of nvbandwidth or GPCNeT; the other tools' parsers report it at the header."""
    tool, unit = row.check.tool, row.columns.get("bandwidth_unit")
    if tool == "gpcnet" and unit not in (None, "MiB/s/rank"):
        return f"the unit {unit} is not known: it gives no value"
    return row.columns.get("status_reason") if tool == "nvbandwidth" and row.columns.get("status") == "measured" else None


def _reported(parse: _Parse, execution: Execution) -> _Batches:
    """Land a report, unless it is known from another one, or the other end of its test may have a fuller one."""
    group = parse.reports.add(execution)
    if not execution.has_two_ends:
        if group[0] is execution:
            yield from _waiting(parse, group)
        else:
            _summarised_too(parse, group[0], execution)
        execution.rows = []


def _waiting(parse: _Parse, group: list[Execution]) -> _Batches:
    for row in group[0].rows:
        yield from _land(parse, group[0], row)
    for other in group[1:]:
        _summarised_too(parse, group[0], other)


def _summarised_too(parse: _Parse, execution: Execution, other: Execution) -> None:
    """A summary may speak of a run by the name of any of its logs."""
    if parse.has_summary and other.raw_path != execution.raw_path:
        parse.runs.setdefault(other.raw_path.rpartition("/")[2], []).append(parse.landed[execution])


def _contradictions(parse: _Parse) -> None:
    for first, other in parse.reports.contradictory:
        parse.buffer.issue(
            "same-execution",
            f"it seems to be the execution of {parse.landed[first].run_id} and contradicts it: counted as a run of its own",
            other.raw_path, other.check.offset, other.check.length, run_id=parse.landed[other].run_id, severity="error",
        )


def _land(parse: _Parse, execution: Execution, row: Row) -> _Batches:
    run = parse.landed.get(execution)
    if run is None:
        is_named = parse.bundle.manifest.identity.get("is_named_by_path")
        owner = execution.raw_path if is_named else f"{_digest(parse, execution)[:12]}/{execution.raw_path}"
        run = parse.landed[execution] = _Run(run_name(owner, execution.index, execution.test), execution.index, execution.test)
    raw_path, columns = execution.raw_path, row.columns
    if row.table is None:
        _add_run(parse, raw_path, row.check, run)
    elif row.table == ENDPOINT and (end := (columns["kind"], columns["number"])) in run.ends:
        parse.buffer.issue(
            f"repeated-{end[0]}", f"{end[0]} {end[1]}", raw_path, row.offset, row.length, severity="error", line_number=columns["line_number"]
        )
    else:
        if row.table == TEST:
            columns = {**columns, "figures_digest": execution.figures_digest(columns["test_index"])}
        parse.buffer.add(row.table, raw_path, row.offset, row.length, run_id=run.run_id, **columns)
        _note(run, row)
    yield from parse.buffer.full()


def _digest(parse: _Parse, execution: Execution) -> str:
    """What names an execution whose path does not: the digest of its own bytes, which stay the same when later checks are appended to
    its log. The bundle's digest if its end is not known yet."""
    if not execution.is_held:
        return parse.bundle.digest
    check = execution.check
    own = bytes(parse.bundle.map(execution.raw_path)[check.offset : check.offset + check.length])
    return hashlib.sha256(own.strip()).hexdigest() if own.strip() else parse.bundle.digest


def _check_end(data: Data, report: Report) -> None:
    """Every tool ends its last line, but for JSON, which ends with its last bracket."""
    if len(data) and data[-1:] not in (b"\n", b"}"):
        report("unfinished-line", "the file ends within a line", len(data), 0)


def _silent(data: Data, report: Report, name: str) -> Rows:
    """A log that ended before any test began is a failed test, not a missing one."""
    check = Check("nccl-tests", test_named(name), 0, len(data), is_test_stated=False)
    if check.test is not None:
        report("test-from-file-name", f"the log has no test: {check.test} is from the file's name", 0, 0, None, NOTE)
    check.fail("the log is empty" if len(data) == 0 else "the log holds no test")
    for line in lines(data, report):
        text = line.data.decode(errors="replace")
        if ERROR.search(text):
            check.status_reason = clean(text.strip())[:500]
            break
    yield test(check, 0, len(data), 1, check.test, "failed", check.status_reason)
    yield end(check)


def _note(run: _Run, row: Row) -> None:
    """Remember what may occur once in a run, and what a summary repeats."""
    if row.table == ENDPOINT:
        run.ends.add((row.columns["kind"], row.columns["number"]))
    elif row.table == ENTRY and row.columns["key"] == collective.AVERAGE:
        run.average = number_in(row.columns["value"] or "")
    elif row.table == POINT and (number := row.columns.get("bus_bandwidth_gb_per_s")) is not None:
        run.peak = number if run.peak is None else max(run.peak, number)


def _add_run(parse: _Parse, raw_path: str, check: Check, run: _Run) -> None:
    _check_nodes(parse, raw_path, check, run)
    if parse.has_summary:
        run.nodes = tuple(check.nodes)
        parse.runs.setdefault(raw_path.rpartition("/")[2], []).append(run)
    parse.buffer.add(
        RUN, raw_path, check.offset, check.length,
        run_id=run.run_id, run_index=run.index, cluster=parse.bundle.manifest.identity.get("cluster"), **run_columns(check),
    )


def _check_nodes(parse: _Parse, raw_path: str, check: Check, run: _Run) -> None:
    """A campaign's file name says which nodes were to be measured; it is used where the log does not say."""
    named = file_name(raw_path.rpartition("/")[2])
    if named is None:
        return
    if not check.nodes:
        check.nodes = list(named.nodes)
        if check.nodes:
            message = f"the log names no nodes: {','.join(check.nodes)[:200]} are from the file's name"
            parse.buffer.issue("nodes-from-file-name", clean(message), raw_path, check.offset, 0, severity=NOTE, run_id=run.run_id)
    elif (named.nodes and set(named.nodes) != set(check.nodes)) or named.node_count != len(check.nodes):
        message = f"the log has {','.join(check.nodes)[:200]}, its name {','.join(named.nodes)[:200] or named.node_count}"
        parse.buffer.issue(
            "nodes-mismatch", clean(message), raw_path, check.offset, check.length, run_id=run.run_id
        )


def _summary(parse: _Parse, raw_path: str) -> _Batches:
    report = Report(parse.buffer, raw_path, None)
    data = parse.bundle.map(raw_path)
    _check_end(data, report)
    for statement in nccl_summary.statements(data, report):
        run = _summarised(parse, statement)
        _add_statement(parse, raw_path, statement, run, report)
        if run is None:
            report.at("summary-without-log", f"{statement.cells.get('file')}: {statement.cells.get('test')}"[:300], statement.line)
        else:
            for message, severity in nccl_summary.disagreements(statement, Measured(run.nodes, run.average, run.peak)):
                parse.buffer.issue(
                    "summary-disagrees", clean(message), raw_path, statement.line.offset, len(statement.line.data),
                    severity=severity, line_number=statement.line.number, run_id=run.run_id,
                )
        yield from parse.buffer.full()


def _summarised(parse: _Parse, statement: Stated) -> _Run | None:
    """The run that a line summarises: of its log, the next of its test."""
    for run in parse.runs.get(statement.cells.get("file") or "", ()):
        if run.test == statement.cells.get("test") and not run.is_summarised:
            run.is_summarised = True
            return run
    return None


def _add_statement(parse: _Parse, raw_path: str, statement: Stated, run: _Run | None, report: Report) -> None:
    columns: dict[str, Any] = {"run_id": run.run_id if run else None, "test_index": 1 if run else None, "source": "summary"}
    line = statement.line
    for key, value in statement.cells.items():
        if value is not None and is_non_finite(value):
            report.at("non-finite-number", f"{key}: {value}"[:120], line, "error")
        parse.buffer.add(
            ENTRY, raw_path, line.offset, len(line.data), **stated(key, value), line_number=line.number, **columns
        )
