"""The table of one test of nccl-tests and rccl-tests: its columns, from its own header lines, and its rows."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from warehouse.landing.readers.entries import is_count
from warehouse.landing.readers.text import Line, Report, clean, number_in

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
# Of a unit in the table's second header line, how many of the landing column's unit it is. The tools write (us) and (GB/s).
_UNITS = {
    "time_us": {"(us)": 1.0, "(ns)": 1e-3, "(ms)": 1e3, "(s)": 1e6},
    "bandwidth": {
        "(GB/s)": 1.0, "(MB/s)": 1e-3, "(TB/s)": 1e3, "(MiB/s)": 2**20 / 1e9, "(GiB/s)": 2**30 / 1e9, "(Mb/s)": 0.125e-3, "(Gb/s)": 0.125,
        "(Mbit/s)": 0.125e-3, "(Gbit/s)": 0.125,
    },
}
_UNITS_LINE = re.compile(r"#\s*(?:\([^\s()]+\)\s*)+")
_MAY_BE_BLANK = frozenset({"redop", "root", "error", "#wrong"})
_CELL, _BLANK = re.compile(r"\S+"), re.compile(r"\s")
_CUT_DECIMALS = re.compile(r"\.\d?\Z")
_NEAR = 2  # characters: cells end where their column's name does, and the next begins after two blanks
_LARGEST_ROOT = 9_999  # a time without decimals is 10000 or more


@dataclass
class Section:
    """A test under way: its check, the table's columns, and what decides how it ended."""

    check: Check
    left: list[str] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)  # where each column ends, counted from the end of the first
    is_aligned: bool = False  # whether its columns still are columns
    measures: list[str] = field(default_factory=list)
    is_in_place_alone: bool = False
    has_timestamp: bool = False
    units: list[float | None] = field(default_factory=list)  # what makes the landing column's unit of each measure; None: not known
    has_byte_sizes: bool = True
    points: int = 0
    average: float | None = None
    average_text: str | None = None
    complaint: str | None = None  # the test's own verdict, where it is bad
    error: str | None = None
    reduced_to: str | None = None
    has_header: bool = False
    is_named: bool = False  # whether the search for the test's name is over, with or without one
    ranks: dict[int, str] = field(default_factory=dict)  # as the log states them
    processes: list[str] = field(default_factory=list)  # that took part, each with its host and GPU
    is_concluded: bool = False
    is_over: bool = False  # whether rows that are not its own have followed
    rival_hosts: set[str] = field(default_factory=set)  # of the tests above it that have no table: the rows may be theirs
    waiting: list[Row] = field(default_factory=list)  # until the test's name is known
    kinds: dict[str, set[str]] = field(default_factory=lambda: {"type": set(), "redop": set(), "root": set()})

    @property
    def bus_unit(self) -> float | None:
        """What makes GB/s of the average, which is in the unit of the table's bus bandwidths; None: not known."""
        found = {unit for name, unit in zip(self.measures, self.units, strict=False) if name == "busbw"} or {1.0}
        return next(iter(found)) if len(found) == 1 else None


def read_columns(section: Section, line: Line, text: str, report: Report) -> None:
    """Take the table's columns from its two header lines."""
    words = text.lstrip("#").split()
    if words[:2] == ["size", "count"]:
        section.left = [word for word in words if word in _LEFT]
        section.has_timestamp = words[-1] == "timestamp"
        section.measures = words[len(section.left) : len(words) - section.has_timestamp]
        ends = [cell.end() for cell in _CELL.finditer(text.lstrip("#"))]
        section.ends = [end - ends[0] for end in ends[: len(ends) - section.has_timestamp]]
        section.units = [1.0] * len(section.measures)
        section.is_aligned = "  " in text.lstrip("# ")
        for name in section.measures:
            if name not in _MEASURES and not name.startswith("i_"):
                report.at("unknown-column", name[:80], line, "error")
        if "cputime" in words:
            section.check.parameters["report_cputime"] = True
    elif section.left and _UNITS_LINE.fullmatch(text):
        _read_units(section, words, line, report)
    elif _IN_PLACE_ALONE.fullmatch(text):
        section.is_in_place_alone = True
    elif not SAYS_NOTHING.fullmatch(text):
        report.at("unknown-line", text[:200], line)


def _read_units(section: Section, words: list[str], line: Line, report: Report) -> None:
    """Take the units of the measures, in the order of their columns; those of each iteration have none in some versions."""
    section.has_byte_sizes = words[0] == "(B)"
    stated = words[2:]
    bearing = [index for index, name in enumerate(section.measures) if name.startswith("i_") or _kind(name) is not None]
    if len(stated) < len(bearing):
        bearing = [index for index in bearing if not section.measures[index].startswith("i_")]
    if 2 * len(stated) == len(bearing):  # of both halves
        stated *= 2
    units: dict[int, str] = dict(zip(bearing, stated, strict=True)) if len(stated) == len(bearing) else {}
    unknown = [] if section.has_byte_sizes else [f"size {words[0]}"]
    for index, name in enumerate(section.measures):
        if (kind := _kind(name)) is not None:
            section.units[index] = _UNITS[kind].get(units.get(index, ""))
            if section.units[index] is None:
                unknown.append(f"{name} {units.get(index, '')}".rstrip())
    if unknown:
        message = f"the unit of {', '.join(dict.fromkeys(unknown))} is not known: no value is taken from there"
        report.at("unknown-unit", message[:300], line, "error")


def _kind(name: str) -> str | None:
    """What kind of unit a measure has, where it has one."""
    column = _MEASURES.get(name, "")
    return "bandwidth" if "bandwidth" in column else column if column in _UNITS else None


def table_row(section: Section, told: Told, report: Report) -> Rows:
    """The points of one row of the table: out of place and in place, or the one of them that was run."""
    text, cells = told.text, list(_CELL.finditer(told.text))
    if section.has_timestamp and len(cells) > 2 and _DATE.fullmatch(cells[-2][0]) and _CLOCK.fullmatch(cells[-1][0]):
        _start(section.check, f"{cells[-2][0]} {cells[-1][0]}")
        text = text[: cells[-2].start()].rstrip(" ").removesuffix("\t")
        cells = cells[:-2]
    row, are_blanks_known = _placed(section, text, cells)
    if row is None:
        report.at("malformed-row", told.text[:200], told.line, "error")
        return
    is_cut = _is_cut(section, told, row, cells)
    stated, measures = row[: len(section.left)], row[len(section.left) :]
    last = max((index for index, text in enumerate(measures) if text is not None), default=-1)
    half = len(measures) // 2
    is_twofold = half > 0 and section.measures[:half] == section.measures[half:]
    if is_twofold:
        halves = {"out_of_place": range(half), "in_place": range(half, 2 * half)}
    else:
        halves = {"in_place" if section.is_in_place_alone else "out_of_place": range(len(measures))}
    blank = {
        index for index, name in enumerate(section.measures)
        if measures[index] is None and (name not in _MAY_BE_BLANK or is_cut and index > last)
    }
    whole = {placement: places for placement, places in halves.items() if not blank & set(places)}
    # A half that was not run is blank. In a row that was cut, the half within which it was cut is lost; in one whose blanks are
    # in their columns, the rest of a half stays.
    partial = {
        placement: places for placement, places in halves.items()
        if blank & set(places) and any(measures[index] is not None for index in places)
    }
    if are_blanks_known and not is_cut:
        whole |= partial
    elif not (is_cut and all(places.stop > last for places in partial.values())) and partial:
        whole = {}
    if not whole:
        report.at("malformed-row", told.text[:200], told.line, "error")
        return
    if is_cut:
        report.at("truncated-row", told.text[:200], told.line, "error")
    elif partial:
        names = ", ".join(section.measures[index] for places in partial.values() for index in places if index in blank)
        report.at("blank-cell", f"{names}: {told.text}"[:200], told.line)
    columns = _left_columns(section, dict(zip(section.left, stated, strict=True)), told.line, report)
    section.points += 1
    for placement, places in whole.items():
        texts = measures[places.start : places.stop]
        measured = _measured(section, texts, section.units[places.start : places.stop], told, report)
        is_wrong = measured.get("wrong_count") not in (None, 0, -1) or any(text is not None and text.endswith("*") for text in texts)
        yield point(
            section.check, told.line, 1, section.points, placement=placement, **columns, **measured,
            status="failed" if is_wrong else "measured",
        )


def _is_cut(section: Section, told: Told, row: list[str | None], cells: list[re.Match[str]]) -> bool:
    """Whether a row ends before its columns do: cells that are blank are padded. A last number that ends before its column
    does is cut too, and taken out."""
    if row[-1] is not None:
        return False
    line = told.line.data.decode(errors="replace")
    first = line.rfind(told.text) + cells[0].end()
    filled = [index for index, text in enumerate(row) if text is not None]
    if "\t" in told.text:
        if not told.is_cut and line.count("\t", first) >= len(row) - 1:
            return False
        if not told.is_cut and not line.rstrip(" ").endswith("\t"):
            row[filled[-1]] = None
        return True
    before, behind = (cell.end() - cells[0].end() - section.ends[index] for cell, index in zip(cells[-2:], filled[-2:], strict=True))
    if not told.is_cut and len(line) - first >= section.ends[-1] + behind:
        return False
    # `10000.` of a 10000.50 that is too wide ends where its column does: the tools write two decimals.
    if 0 <= before > behind or _CUT_DECIMALS.search(line.rstrip("\r\n")):
        row[filled[-1]] = None
    return True


def _placed(section: Section, text: str, cells: list[re.Match[str]]) -> tuple[list[str | None] | None, bool]:
    """The cells of a row by its columns, None for one that is blank, and whether each blank is known to be in its column; None
    where no column is known."""
    count, found = len(section.ends), len(cells)
    if section.has_timestamp and len(cells) > count:  # the row was cut within the time
        del cells[count:]
    row: list[str | None] | None = [cell[0] for cell in cells]
    are_known = True
    if len(cells) != count:
        row = _by_tabs(section, text) if "\t" in text else _by_position(section, cells) if section.is_aligned else None
        are_known = row is not None and len(cells) == found
        row = row or _by_type(section, [cell[0] for cell in cells])
    return (row if row is not None and _is_possible(section, row) else None), are_known


def _by_tabs(section: Section, text: str) -> list[str | None] | None:
    """The cells between tabs; None where they are more than the columns, or tabs only replace blanks."""
    texts = [cell.strip() for cell in text.split("\t")]
    missing = len(section.ends) - len(texts)
    if missing < 0 or any(_BLANK.search(cell) for cell in texts):
        return None
    blanks: list[str | None] = [None] * missing
    return [*(cell or None for cell in texts), *blanks]


def _by_position(section: Section, cells: list[re.Match[str]]) -> list[str | None] | None:
    """Cells end where the names of their columns do. A cell that is too wide for its column moves those after it. What is
    left of a last cell that was cut is taken out; None where a row keeps to no columns."""
    row: list[str | None] = [None] * len(section.ends)
    first, moved = 0, cells[0].end()
    for cell in cells:
        place = cell.end() - moved
        index = min(range(first, len(row)), key=lambda column: abs(section.ends[column] - place), default=None)
        if index is None or abs(section.ends[index] - place) > _NEAR:
            if cell is not cells[-1]:
                return None
            cells.pop()
            break
        row[index], first = cell[0], index + 1
        moved += place - section.ends[index]
    return row


def _by_type(section: Section, texts: list[str]) -> list[str | None] | None:
    """Of a table that lost its blanks: an operator is a word, a root a small integer, all measures are numbers or N/A."""
    row: list[str | None] = []
    rest = texts
    for name in section.left:
        is_there = bool(rest)
        if is_there and name == "redop":
            is_there = number_in(rest[0]) is None and not is_missing(rest[0]) or rest[0].casefold() == "none"
        elif is_there and name == "root":
            root = integer_in(rest[0])
            is_there = root is not None and root <= _LARGEST_ROOT
        row.append(rest[0] if is_there else None)
        rest = rest[is_there:]
    missing = len(section.measures) - len(rest)
    if missing < 0:
        return None
    blanks: list[str | None] = [None] * missing
    return [*row, *rest, *blanks]


def _is_possible(section: Section, row: list[str | None]) -> bool:
    """Whether the columns that describe a row hold what they can."""
    found = dict(zip(section.left, row, strict=False))
    size, count, kind, root = (found.get(name) for name in ("size", "count", "type", "root"))
    return (
        size is not None and integer_in(size) is not None and count is not None and kind is not None and number_in(kind) is None
        and (root is None or integer_in(root) is not None) and number_in(found.get("redop") or "") is None
    )


def _left_columns(section: Section, found: dict[str, str | None], line: Line, report: Report) -> dict[str, Any]:
    for name, seen in section.kinds.items():
        text = found.get(name)
        if text is not None and not is_missing(text) and len(seen) < 100:
            seen.add(clean(text)[:64])
    redop = found.get("redop") or ""
    return {
        "message_bytes": integer_in(found["size"] or "") if section.has_byte_sizes else None,
        "element_count": table_integer(found.get("count") or "", "count", line, report),
        "element_type": clean(found.get("type") or "")[:64] or None, "redop": None if is_missing(redop) else clean(redop)[:64],
        "root": root if (root := table_integer(found.get("root") or "", "root", line, report)) is not None and root >= 0 else None,
    }


def _measured(section: Section, texts: list[str | None], units: list[float | None], told: Told, report: Report) -> dict[str, Any]:
    columns: dict[str, Any] = {"status_reason": "a unit of the table is not known"} if None in units else {}
    for name, text, unit in zip(section.measures, texts, units, strict=False):
        if (column := _MEASURES.get(name)) is None or text is None:
            continue
        text = text.removesuffix("*")  # an error above the threshold
        number = table_number(text, name, told.line, report)
        if column == "wrong_count" and number is not None:  # printed by %g: a million is 1e+06
            columns[column] = int(number) if is_count(number) else table_integer(text, name, told.line, report)
        else:
            columns[column] = None if number is None or unit is None else number * unit
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
