"""The text of perftest (ib_write_bw, ib_read_lat, ib_send_bw and their kin): a parameter block, then a table of sizes.

The unit of bandwidth is the header's: `MB/sec` is 2^20 bytes a second, `MiB/sec` is what newer versions call the same,
`Gb/sec` is 10^9 bits (linux-rdma/perftest, src/perftest_parameters.c, format_factor). A peak of 0.00 is not measured:
tests that run for a time, and --noPeak, print it. Client and server of a loopback may share a log, line by line. After the sum
of both ways, --report-both prints a table of each side's own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from warehouse.landing.readers.text import Data, Report, clean, number_in

from .check import Check, Rows, at, end, entry, integer_in, is_row_like, point, table_integer, table_number, test
from .streams import Told, told_lines

MARK = re.compile(rb"(?:RDMA_Write|RDMA_Read|Send|Atomic)\b[^\n]{0,60}\b(?:BW|Latency)\b[^\n]{0,60}\bTest[^\S\n]*\n")

_TITLE = re.compile(r"(RDMA_Write|RDMA_Read|Send|Atomic)\b(.{0,60}?)\b(BW|Latency)\b(.{0,60}?)\bTest\b")
_VERBS = {"RDMA_Write": "write", "RDMA_Read": "read", "Send": "send", "Atomic": "atomic"}
_PARAMETER = re.compile(r"([A-Za-z][A-Za-z0-9*_./ -]{0,40}?)\s*:\s*(\S+)")
_LINE = re.compile("-{20,}")
_COLUMN = re.compile(r"#\w+|[A-Za-z0-9][\w.% ]*\[[^\]]*\]|tps average")
_ERROR = re.compile(r"Couldn't|Failed|Unable to|Completion with error|[Ee]rror|not found|Problems", re.ASCII)
_FROZEN = {
    "Number of qps": "qps", "Connection type": "connection", "Mtu": "mtu", "TX depth": "tx_depth",
    "CQ Moderation": "cq_moderation",
}
_ADDRESS = re.compile(r"(local|remote) address:.*?\bLID (\S+) QPN (\S+) PSN (\S+)")
_SIDE = re.compile(r"(Local|Remote) results:")
_BANDWIDTH_UNITS = frozenset({"MB/sec", "MiB/sec", "Gb/sec"})  # as models/staging/fabric_check/fabric_check_point_outcome.sql has them
_LATENCY_UNITS = frozenset({"usec"})  # --report-cycles has cycles, of a clock that is not stated
_MESSAGE_RATE_UNIT = "Mpps"
_LATENCIES = {
    "t_min": "latency_min", "t_max": "latency_max", "t_typical": "latency_p50", "t_avg": "latency_mean",
    "t_stdev": "latency_stdev", "99% percentile": "latency_p99", "99.9% percentile": "latency_p999",
}


@dataclass
class _Section:
    """A test under way."""

    check: Check
    title: str
    columns: list[tuple[str, str]] = field(default_factory=list)  # name and unit
    side: str | None = None
    points: int = 0
    sizes: list[int] = field(default_factory=list)
    is_waiting: bool = False
    error: str | None = None
    broke: str | None = None  # the error that came when the table had begun
    is_over: bool = False  # the line below the table has come: what follows is of others
    ends: dict[str, list[str]] = field(default_factory=lambda: {"local": [], "remote": []})  # addresses of both sides
    end: str = "local"  # whose address was stated last


def rows(data: Data, report: Report, file_name: str) -> Rows:
    """The checks of a log."""
    sections: dict[str, _Section] = {}  # of each process that a launcher tells apart
    waiting: set[str] = set()
    for told in told_lines(data, report):
        section = sections.get(told.tag)
        if title := _TITLE.search(told.text):
            # The other side of a loopback prints the same title before the table begins.
            if section is None or section.points or section.title != title[0]:
                if section is not None:
                    yield from _finished(section)
                sections[told.tag] = _Section(_check(title, told), title[0], is_waiting=told.tag in waiting)
                waiting.discard(told.tag)
        elif "Waiting for client" in told.text:
            waiting.add(told.tag)
        elif section is not None:
            yield from _line(section, told, report)
        elif sections and _ERROR.search(told.text):
            report.at("error-outside-of-a-test", told.text[:300], told.line)
    for section in sections.values():
        yield from _finished(section)


def _check(title: re.Match[str], told: Told) -> Check:
    name = f"ib_{_VERBS[title[1]]}_{'bw' if title[3] == 'BW' else 'lat'}"
    check = Check("perftest", name, told.line.offset)
    check.cover(*at(told.line))
    kind = " ".join(f"{title[2]} {title[4]}".split())
    if kind:
        check.parameters["kind"] = clean(kind)  # Bidirectional, Post List, - Multicast, FETCH_AND_ADD
    return check


def _line(section: _Section, told: Told, report: Report) -> Rows:
    text, check = told.text, section.check
    if text.startswith("#bytes"):
        section.columns = [_column(match[0]) for match in _COLUMN.finditer(text)]
        section.is_over = False
        check.cover(*at(told.line))
        if any(number_in(word) is not None for word in _COLUMN.sub("", text).split()):
            report.at("malformed-row", text[:200], told.line, "error")
        for name, unit in section.columns:
            if name.startswith("BW ") and unit not in _BANDWIDTH_UNITS:
                report.at("unknown-unit", f"{name}: {unit[:80]}", told.line, "error")
            elif name == "MsgRate" and unit != _MESSAGE_RATE_UNIT:
                report.at("unknown-unit", f"{name}: {unit[:80]}", told.line, "error")
        if any(name in _LATENCIES and unit not in _LATENCY_UNITS for name, unit in section.columns):
            report.at("unknown-unit", text[:200], told.line, "error")
        average = next((unit for name, unit in section.columns if name == "BW average"), None)
        if any(name == "BW peak" and unit != average for name, unit in section.columns):
            report.at("unit-contradicted", f"the peak is not in the average's unit, {(average or 'none')[:80]}: it is not used", told.line, "error")
    elif match := _SIDE.fullmatch(text):
        section.side = match[1].casefold()
        check.cover(*at(told.line))
    elif section.points and _LINE.fullmatch(text):
        section.is_over = True
    elif section.columns and text[:1].isdigit() and not section.is_over:
        check.cover(*at(told.line))
        yield from _table_row(section, told, report)
    elif match := _ADDRESS.search(text):
        section.end = match[1]
        section.ends[match[1]].append(" ".join(match.groups()[1:]))
    elif text.startswith("GID"):
        section.ends[section.end].append(text)
    elif "address:" in text:
        return
    elif section.is_over:
        return
    elif _ERROR.search(text):
        section.error = section.error or text
        if section.columns:
            section.broke = section.broke or text
        check.cover(*at(told.line))
    elif is_row_like(text) or section.columns and len(text.split()) == len(section.columns):
        report.at("malformed-row", text[:200], told.line, "error")
    elif not section.columns:
        matches = list(_PARAMETER.finditer(text))
        if not matches and text.strip("-"):
            report.at("unknown-line", text[:200], told.line)
        for match in matches:
            key = match[1].strip()
            check.cover(*at(told.line))
            yield entry(check, told.line, key, match[2])
            if key in _FROZEN:
                check.parameters[_FROZEN[key]] = clean(match[2])[:64]


def _column(text: str) -> tuple[str, str]:
    name, _, unit = text.partition("[")
    return name.strip(), unit.rstrip("]")


def _table_row(section: _Section, told: Told, report: Report) -> Rows:
    words = told.text.split()
    size = integer_in(words[0])
    if size is None or not 2 <= len(words) <= len(section.columns):
        report.at("malformed-row", told.text[:200], told.line, "error")
        return
    if len(words) < len([name for name, _ in section.columns if name != "CPU_Util"]):
        report.at("truncated-row", told.text[:200], told.line, "error")
    section.points += 1
    if size not in section.sizes and len(section.sizes) < 1000:
        section.sizes.append(size)
    columns: dict[str, Any] = {"message_bytes": size, "scope_name": section.side}
    for (name, unit), text in zip(section.columns, words, strict=False):
        if name == "#iterations":
            columns["iterations"] = table_integer(text, name, told.line, report)
        elif name == "#sl":
            columns["scope_name"] = f"service level {clean(text)}"[:256]
        elif name in _LATENCIES and unit in _LATENCY_UNITS:
            columns[_LATENCIES[name]] = table_number(text, name, told.line, report)
            columns["latency_unit"] = clean(unit)[:64]
        elif name == "BW average":
            columns["bandwidth"] = table_number(text, name, told.line, report)
            columns["bandwidth_unit"] = clean(unit)[:64]
        elif name == "BW peak" and ("BW average", unit) in section.columns:
            columns["bandwidth_peak"] = table_number(text, name, told.line, report) or None
        elif name == "MsgRate" and unit == _MESSAGE_RATE_UNIT:
            columns["message_rate_mpps"] = table_number(text, name, told.line, report)
        elif name == "tps average":  # of a latency test that runs for a time: transactions a second
            yield entry(section.check, told.line, name, text, 1)
    yield point(section.check, told.line, 1, section.points, **columns)


def _finished(section: _Section) -> Rows:
    check = section.check
    check.parameters["sizes"] = sorted(section.sizes)
    if all(section.ends.values()):  # the sides state the two the other way round
        local, remote = (" ".join(sorted(section.ends[side])) for side in ("local", "remote"))
        check.origin, check.is_origin_random, check.side = "; ".join(sorted((local, remote))), True, local
    reason: str | None = None
    if section.points and section.broke is None:
        check.status, status = "succeeded", "measured"
    elif section.error is not None or not section.is_waiting:
        reason = section.error or "the log has no results"
        check.fail(reason)
        status = "failed"
    else:
        status, reason = "unknown", "the side that waited printed no results"
        check.status_reason = reason
    yield test(check, check.offset, check.length, 1, check.test, status, reason)
    yield end(check)
