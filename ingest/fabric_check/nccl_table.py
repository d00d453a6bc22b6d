"""The table of one test of nccl-tests and rccl-tests: its columns, from its own header lines, and its rows."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from warehouse.landing.text import Line, Report, clean

from .check import Check, Row, Rows, integer_in, is_missing, point, table_integer, table_number
from .streams import Told

SAYS_NOTHING = re.compile(
    r"#\s*(?:Using devices|out-of-place\s+in-place|Collective test concluded:.*|Testing \d+ cycle\."
    r"|Errors with asterisks indicate errors that have exceeded the maximum threshold\.)?"
)
_IN_PLACE_ALONE = re.compile(r"#\s*in-place")  # rccl-tests -O 0
_DATE, _CLOCK = re.compile(r"\d{4}-\d\d-\d\d"), re.compile(r"\d\d:\d\d:\d\d")
_LEFT = ("size", "count", "type", "redop", "root")
_MEASURES = {
    "time": "time_us", "cputime": "time_us", "algbw": "alg_bandwidth_gb_per_s", "busbw": "bus_bandwidth_gb_per_s",
    "error": "max_error", "#wrong": "wrong_count", "i_min": "latency_min", "i_max": "latency_max", "i_p99": "latency_p99",
}
_BLANK_HALF = re.compile(r"\s{25,}")  # an out-of-place half that was not run
_BLANK_LEFT = re.compile(r"\s*(?:\S+\s+){2}\S+(?:\s+\S+)?\s{9,}\S")  # an operator or root that is blank: cells have six places


@dataclass
class Section:
    """A test under way: its check, the table's columns, and what decides how it ended."""

    check: Check
    left: list[str] = field(default_factory=list)
    measures: list[str] = field(default_factory=list)
    is_in_place_alone: bool = False
    has_timestamp: bool = False
    has_units: bool = True
    points: int = 0
    average: float | None = None
    average_text: str | None = None
    complaint: str | None = None  # the test's own verdict, where it is bad
    error: str | None = None
    reduced_to: str | None = None
    has_header: bool = False
    ranks: dict[int, str] = field(default_factory=dict)  # as the log states them
    is_concluded: bool = False
    waiting: list[Row] = field(default_factory=list)  # until the test's name is known
    kinds: dict[str, set[str]] = field(default_factory=lambda: {"type": set(), "redop": set(), "root": set()})


def read_columns(section: Section, line: Line, text: str, report: Report) -> None:
    """Take the table's columns from its two header lines."""
    words = text.lstrip("#").split()
    if words[:2] == ["size", "count"]:
        section.left = [word for word in words if word in _LEFT]
        section.has_timestamp = words[-1] == "timestamp"
        section.measures = words[len(section.left) : len(words) - section.has_timestamp]
        for name in section.measures:
            if name not in _MEASURES and not name.startswith("i_"):
                report.at("unknown-column", name[:80], line, "error")
        if "cputime" in words:
            section.check.parameters["report_cputime"] = True
    elif words[:2] == ["(B)", "(elements)"]:
        section.has_units = {"(us)", "(GB/s)"} <= set(words)
        if not section.has_units:
            report.at("unknown-unit", text[:200], line, "error")
    elif _IN_PLACE_ALONE.fullmatch(text):
        section.is_in_place_alone = True
    elif not SAYS_NOTHING.fullmatch(text):
        report.at("unknown-line", text[:200], line)


def table_row(section: Section, told: Told, report: Report) -> Rows:
    """The points of one row of the table: out of place and in place, or the one of them that was run."""
    words = told.text.split()
    if section.has_timestamp and len(words) > 2 and _DATE.fullmatch(words[-2]) and _CLOCK.fullmatch(words[-1]):
        _start(section.check, f"{words[-2]} {words[-1]}")
        words = words[:-2]
    whole, half = len(section.measures), len(section.measures) // 2
    most = len(section.left)
    if half and most + half < len(words) < most + whole and section.measures[:half] == section.measures[half:]:
        words = words[: most + half]  # cut within the second half: the first one is whole
    fewest = 3 if _BLANK_LEFT.match(told.text) else most  # else words that are missing are those of a cut row's end
    count = next((size for size in (whole, half) if size and fewest <= len(words) - size <= most), None)
    if count is None or integer_in(words[0]) is None:
        report.at("malformed-row", told.text[:200], told.line, "error")
        return
    stated = _left_columns(section, words[: len(words) - count], told.line, report)
    measures = words[len(words) - count :]
    section.points += 1
    if count == half and whole > half:
        # One half of a row: the other was not run, or the log was cut.
        gap = _BLANK_HALF.search(told.line.data.decode("ascii", "replace").strip())
        halves: dict[str, list[str]] = {"in_place" if gap else "out_of_place": measures}
        if not gap:
            report.at("truncated-row", told.text[:200], told.line)
    elif section.measures[:half] == section.measures[half:]:
        halves = {"out_of_place": measures[:half], "in_place": measures[half:]}
    else:
        halves = {"in_place" if section.is_in_place_alone else "out_of_place": measures}
    for placement, texts in halves.items():
        columns = _measured(section, texts, told, report)
        yield point(
            section.check, told.line, 1, section.points, placement=placement, **stated, **columns,
            status="failed" if columns.get("wrong_count") else "measured",
        )


def _left_columns(section: Section, words: list[str], line: Line, report: Report) -> dict[str, Any]:
    names = section.left
    if len(words) < len(names):  # a collective without operator or root leaves those columns blank
        rest = [("root" if integer_in(word) is not None else "redop", word) for word in words[3:]]
        found = dict([*zip(names[:3], words, strict=False), *rest])
    else:
        found = dict(zip(names, words, strict=False))
    for name, seen in section.kinds.items():
        if name in found and not is_missing(found[name]) and len(seen) < 100:
            seen.add(clean(found[name])[:64])
    redop = found.get("redop", "")
    return {
        "message_bytes": integer_in(found["size"]), "element_count": table_integer(found.get("count", ""), "count", line, report),
        "element_type": clean(found.get("type", ""))[:64] or None, "redop": None if is_missing(redop) else clean(redop)[:64],
        "root": root if (root := table_integer(found.get("root", ""), "root", line, report)) is not None and root >= 0 else None,
    }


def _measured(section: Section, texts: list[str], told: Told, report: Report) -> dict[str, Any]:
    if not section.has_units:
        return {"status_reason": "the table's units are not known"}
    columns: dict[str, Any] = {}
    for name, text in zip(section.measures, texts, strict=False):
        if (column := _MEASURES.get(name)) is None:
            continue
        number = table_number(text, name, told.line, report)
        if column == "wrong_count" and number is not None:
            columns[column] = table_integer(text, name, told.line, report)
        else:
            columns[column] = number
    if "i_min" in section.measures:
        columns["latency_unit"] = "us"
    return columns


def _start(check: Check, text: str) -> None:
    """The first timestamp; local time, whose zone nothing states."""
    if check.started_at_text is None:
        try:
            check.started_at = datetime.fromisoformat(text).replace(tzinfo=UTC)
        except ValueError:
            return
        check.started_at_text, check.is_zone_assumed = text, True
