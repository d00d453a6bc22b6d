"""The text of iperf3: of each test, the rows of its end report, which say `sender` or `receiver`, and their sums.

Rates are what people read: bits by thousands, bytes by 1024 (`-f K`). A test of one stream has no sum: its stream is the pair's.
Intervals do not land. A server does not know what the client sent. Source: esnet/iperf, src/iperf_locale.c and src/units.c.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from warehouse.landing.readers.text import Data, Line, Report, clean

from . import iperf3
from .check import Check, Rows, at, integer_in, one_test, point, table_integer, table_number
from .streams import Told, told_lines

# With its streams behind it: other programs, too, say that they connect.
MARK = re.compile(
    rb"(?:Connecting to host|Accepted connection from) \S+, port \d[^\n]*\n(?:[^\n]{0,200}\n){0,8}?[^\n]{0,60}\[ *\d+\](?:\[\w+-\w+\])? local "
    rb"|(?:^|\s)iperf3: (?:error|interrupt)"
)

_BEGIN = re.compile(r"(Connecting to host|Accepted connection from) (\S+), port \d+")
_CONNECTED = re.compile(r"\[\s*\d+\](?:\[\w+-\w+\])? local (\S+) port \d+ connected (?:to|with) (\S+) port \d+")
_SETUP = re.compile(r"Starting Test: protocol: (\w+), (\d+) streams, (\d+) byte blocks, omitting (\d+) seconds, (\d+) second test")
_VERSION = re.compile(r"iperf (3\.\S+)")
_ERROR = re.compile(r"iperf3: (?:error|interrupt)")
_END_ROW = re.compile(
    r"\[\s*(?P<id>\d+|SUM)\](?:\[(?P<role>[TR]X-[CS])\])?\s+\S+-\S+\s+sec\s+\S+ [KMGTP]?Bytes\s+(?P<rate>\S+) (?P<unit>[KMGT]?(?:bits|Bytes)/sec)"
    r"(?:\s+(?P<jitter>\S+) ms\s+\S+/\S+ \((?P<lost>\S+?)%\)|\s+(?P<retransmits>\S+))?\s+(?P<side>sender|receiver)"
)
_INTERVAL = re.compile(
    r"\[.*/sec(?:\s+\S+ ms\s+\S+/\S+ \(\S+%\)|\s+\d+(?:\s+\S+ [KMGTP]?Bytes)?)?(?:\s+\(omitted\))?"
)
_UNREAD_ROW = re.compile(r"/sec\b.*\b(?:sender|receiver)\b|\bsec\b.*\d.*\b(?:sender|receiver)\b|\]\s.*\dBytes|^\[.*\b(?:sender|receiver)$")


@dataclass
class _Section:
    """A test under way: its rows wait until it is known whether there are sums."""

    check: Check
    is_server: bool
    ends: tuple[str | None, str | None] = (None, None)
    is_reverse: bool = False
    rows: list[tuple[Line, bool, dict[str, Any]]] = field(default_factory=list)  # of a sum?
    error: str | None = None


def rows(data: Data, report: Report, file_name: str) -> Rows:
    """The checks of a log."""
    section: _Section | None = None
    version: str | None = None
    has_document = iperf3.MARK.search(data) is not None  # whose reader reports an error below it
    for told in told_lines(data, report):
        text = told.text
        if match := _BEGIN.match(text):
            if section is not None:
                yield from _finished(section)
            section = _begun(told, match, version)
        elif match := _VERSION.match(text):
            version = clean(match[1])[:64]
        elif section is None and not has_document and _ERROR.match(text):
            section = _Section(Check("iperf3", "iperf3", told.line.offset, tool_version=version), False)
        if section is not None:
            _line(section, told, report)
        elif _UNREAD_ROW.search(text):
            report.at("row-outside-of-a-test", text[:200], told.line, "error")
    if section is not None:
        yield from _finished(section)


def _begun(told: Told, match: re.Match[str], version: str | None) -> _Section:
    check = Check("iperf3", "iperf3", told.line.offset, tool_version=version)
    return _Section(check, is_server=match[1].startswith("Accepted"))


def _line(section: _Section, told: Told, report: Report) -> None:
    text, check = told.text, section.check
    check.cover(*at(told.line))
    if match := _CONNECTED.match(text):
        if section.ends == (None, None):
            section.ends = clean(match[1])[:256], clean(match[2])[:256]
            check.nodes = [name for name in section.ends if name]
    elif text.startswith("Reverse mode"):
        section.is_reverse = True
        check.parameters["reverse"] = "1"
    elif match := _SETUP.match(text):
        check.parameters |= {
            "protocol": clean(match[1]), "num_streams": match[2], "blksize": match[3], "omit": match[4], "duration": match[5],
        }
        check.duration_s = float(seconds) if (seconds := integer_in(match[5])) else None
    elif _ERROR.match(text):
        section.error = section.error or text
    elif match := _END_ROW.fullmatch(text):
        _end_row(section, told, match, report)
    elif _UNREAD_ROW.search(text) or text.startswith("[") and "/sec" in text and not _INTERVAL.fullmatch(text):
        report.at("malformed-row", text[:200], told.line, "error")


def _end_row(section: _Section, told: Told, match: re.Match[str], report: Report) -> None:
    line, role, is_sent = told.line, match["role"] or "", match["side"] == "sender"
    rate = table_number(match["rate"], "rate", line, report)
    if section.is_server and is_sent and rate == 0:
        return  # a substitute for the client's count
    is_from_here = role.startswith("TX") if role else is_sent if section.is_server else not section.is_reverse
    suffix = "_reverse" if role in ("RX-C", "TX-S") else ""
    source, target = section.ends if is_from_here else section.ends[::-1]
    retransmits = match["retransmits"]
    columns: dict[str, Any] = {
        "direction": ("sent" if is_sent else "received") + suffix, "source": source, "target": target,
        "bandwidth": rate, "bandwidth_unit": match["unit"],
    }
    if retransmits is not None:
        columns["retransmit_count"] = table_integer(retransmits, "retransmits", line, report)
    if match["jitter"] is not None and not is_sent:
        columns["jitter_ms"] = table_number(match["jitter"], "jitter", line, report)
        columns["lost_pct"] = table_number(match["lost"], "lost", line, report)
    is_sum = match["id"] == "SUM"
    if not is_sum:
        columns["scope_name"] = f"stream {match['id']}"[:64]
    section.rows.append((line, is_sum, columns))


def _finished(section: _Section) -> Rows:
    check = section.check
    streams = {columns["scope_name"] for _, is_sum, columns in section.rows if not is_sum}
    for index, (line, is_sum, columns) in enumerate(section.rows, 1):
        is_pair = is_sum or len(streams) == 1
        if is_pair:
            columns["scope_name"] = " -> ".join(filter(None, (columns["source"], columns["target"]))) or None
        yield point(check, line, 1, index, "pair" if is_pair else "stream", **columns)
    reason = section.error or (None if section.rows else "the log has no end report")
    yield from one_test(check, reason)
