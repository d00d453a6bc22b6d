"""The table of a report (`benchmarks.csv`): one row per benchmark, without requests. It is read only if the run has no JSON.

By vllm-project/guidellm: one header row in 0.2 and 0.3 (`src/guidellm/benchmark/output.py`), three in 0.4 and later
(`src/guidellm/benchmark/outputs/csv.py`): group, name or status with unit, unit or statistic. There the columns are those of the first
benchmark, and a benchmark leaves out statistics that sum up to 0: its cells may be below other names than their own. Entries have the
keys of the JSON.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

from warehouse.landing.readers.entries import Kind, possible
from warehouse.landing.readers.json_text import Element, json_number, json_pairs, json_text
from warehouse.landing.readers.records import ABSENT
from warehouse.landing.readers.text import Data, Entry, Line, Report, clean, decoded, is_non_finite, landed_text, lines, number_in

_NEW, _OLD = ["Run Info", "Run Info"], ["Type", "Run Id", "Id", "Name"]
_HEADER_ROWS = 3  # of 0.4 and later
_STATUSES = ("successful", "incomplete", "errored", "total")
_METRICS = {
    "Request Latency": {"Sec": "request_latency"}, "Time to First Token": {"ms": "time_to_first_token_ms"},
    "Time per Output Token": {"ms": "time_per_output_token_ms"}, "Inter Token Latency": {"ms": "inter_token_latency_ms"},
    "Server Throughput": {"Requests/Sec": "requests_per_second", "Concurrency": "request_concurrency"},
    "Token Metrics": {"Input Tokens": "prompt_token_count", "Output Tokens": "output_token_count", "Total Tokens": "total_token_count"},
    "Token Throughput": {
        "Input Tokens/Sec": "prompt_tokens_per_second", "Output Tokens/Sec": "output_tokens_per_second",
        "Total Tokens/Sec": "tokens_per_second",
    },
}
_STATISTICS = {"mean": "mean", "median": "median", "std dev": "std_dev"}
_PERCENTILES = ("min", *(f"percentiles/{name}" for name in ("p001", "p01", "p05", "p10", "p25", "p75", "p90", "p95", "p99")), "max")
_OLD_PERCENTILES = "[min, 0.1, 1, 5, 10, 25, 75, 90, 95, 99, max]"
_OLD_STATISTIC = re.compile(rf"(Total|Successful|Incomplete|Errored) (.+) (mean|median|std dev|{re.escape(_OLD_PERCENTILES)})")
_TEXTS = {
    ("Run Info", "Run ID"): "config/run_id", ("Benchmark", "Type"): "type_", ("Benchmark", "ID"): "config/id_",
    ("Benchmark", "Strategy"): "config/strategy/type_",
}
_DOCUMENTS = {
    ("Run Info", "Profile"): "config/profile", ("Run Info", "Backend"): "config/backend", ("Runtime Info", "Metadata"): "metadata",
    ("Runtime Info", "Arguments"): "args",
}
_OLD_COLUMNS = {
    "Type": "type_", "Run Id": "config/run_id", "Id": "config/id_", "Profile": "config/profile", "Backend": "config/backend",
    "Generator Data": "args/data",
}
OF_REPORT = ("metadata/", "args/")
_STRATEGY = re.compile(r"(\w+)(?:@(\d+(?:\.\d+)?))?")  # of 0.2 and 0.3: `concurrent@8`, `constant@2.00`
_LOADS = {"concurrent": "streams", "constant": "rate", "poisson": "rate", "async": "rate"}
_KINDS = {"streams": Kind.CONCURRENCY, "max_concurrency": Kind.CONCURRENCY, "rate": Kind.REQUEST_RATE}
_TIME_FORMAT = "%Y-%m-%d %H:%M:%S"


class _Column(NamedTuple):
    """A column: the key of its entries, what its cells hold, and of a statistic the status of its requests."""

    key: str
    holds: str  # text, document, time, number, count, percentiles or strategy
    status: str | None = None


class Benchmark(NamedTuple):
    """A row: its line and entries."""

    line: Line
    entries: list[Entry]


def is_table(head: bytes) -> bool:
    first = _cells(head.removeprefix(b"\xef\xbb\xbf").partition(b"\n")[0].decode(errors="replace"))
    return first[:2] == _NEW or first[:4] == _OLD


def run_of(head: bytes) -> str | None:
    """The run that the first row names."""
    rows = [_cells(line) for line in head.removeprefix(b"\xef\xbb\xbf").decode(errors="replace").splitlines()[: _HEADER_ROWS + 1]]
    if rows and rows[0][:2] == _NEW and len(rows) > _HEADER_ROWS and rows[1][:1] == ["Run ID"]:
        return rows[_HEADER_ROWS][0] if rows[_HEADER_ROWS] else None
    return rows[1][1] if len(rows) > 1 and rows[0][:4] == _OLD and len(rows[1]) > 1 else None


def benchmarks(data: Data, report: Report) -> Iterator[Benchmark]:
    """The benchmarks of a table. What cannot be read is reported."""
    header: list[list[str]] = []
    columns: list[_Column] | None = None
    for line in lines(data, report):
        cells = _cells(decoded(line, report).lstrip("\ufeff"))
        if not cells:
            report.at("malformed-csv", "the row cannot be read", line, "error")
            continue
        if columns is None:
            header.append(cells)
            if header[0][:2] != _NEW or len(header) == _HEADER_ROWS:
                columns = _columns(header, report, line)
            continue
        yield Benchmark(line, list(_entries(columns, cells, line, report)))
    if len(data) and data[len(data) - 1 :] != b"\n":
        report("truncated-row", "the file ends within a row", len(data), 0, severity="error")


def _cells(text: str) -> list[str]:
    try:
        return next(csv.reader([text]), [])
    except csv.Error:
        return []


def _columns(header: Sequence[Sequence[str]], report: Report, line: Line) -> list[_Column]:
    if len({len(row) for row in header}) > 1:
        report.at("malformed-csv", "the header's rows have different numbers of cells", line, "error")
    names = list(zip(*header, strict=False))
    columns = [_old_column(*each) if len(header) == 1 else _new_column(*each) for each in names]
    for group in sorted({each[0] for each, column in zip(names, columns, strict=True) if column is None}):
        report.at("unknown-metric", f"{clean(group)[:80]}: a statistic that is not known, or in an unknown unit; no column holds it", line)
    return [column or _Column("", "text") for column in columns]


def _new_column(group: str, name: str, detail: str) -> _Column | None:
    """The column below three names; None for a statistic that is not known, or in an unknown unit."""
    if detail in ("Mean", "Median", "Std Dev", "Percentiles"):
        status, _, unit = name.partition(" ")
        metric = _METRICS[group].get(unit) if group in _METRICS else _named(group, unit)
        key = f"metrics/{metric}/{status.casefold()}"
        if metric is None or status.casefold() not in _STATUSES:
            return None
        if detail == "Percentiles":
            return _Column(key, "percentiles", status.casefold())
        return _Column(f"{key}/{_STATISTICS[detail.casefold()]}", "number", status.casefold())
    if text := _TEXTS.get((group, name)):
        return _Column(text, "text")
    if document := _DOCUMENTS.get((group, name)):
        return _Column(document, "document")
    if group == "Request Counts" and name.casefold() in _STATUSES:
        return _Column(f"metrics/request_totals/{name.casefold()}", "count")
    if group == "Timings" and name in ("Start Time", "End Time"):
        return _Column(_named(name), "time")
    return _Column(_named(group, name, detail), "count" if (group, name) == ("Run Info", "Run Index") else "other")


def _old_column(name: str) -> _Column | None:
    if found := _OLD_STATISTIC.fullmatch(name):
        key, status = f"metrics/{_named(found[2])}/{found[1].casefold()}", found[1].casefold()
        is_list = found[3] == _OLD_PERCENTILES
        return _Column(key if is_list else f"{key}/{_STATISTICS[found[3]]}", "percentiles" if is_list else "number", status)
    status, _, rest = name.partition(" ")
    if rest == "Requests" and status.casefold() in _STATUSES:
        return _Column(f"request_totals/{status.casefold()}", "count")
    if status.casefold() in _STATUSES:
        return None
    if name in ("Start Time", "End Time"):
        return _Column(_named(name), "time")
    if name == "Name":
        return _Column("config/strategy", "strategy")
    is_document = name in ("Profile", "Backend")
    return _Column(_OLD_COLUMNS.get(name, _named(name)), "document" if is_document else "text" if name in _OLD_COLUMNS else "other")


def _named(*names: str) -> str:
    return "/".join(re.sub(r"\W+", "_", name.casefold()).strip("_")[:80] for name in names if name)


def _entries(columns: Sequence[_Column], cells: Sequence[str], line: Line, report: Report) -> Iterator[Entry]:
    found: list[Entry] = []
    for column, cell in zip(columns, cells, strict=False):
        if column.status is not None:
            break
        found += _cell_entries(column, cell, line, report)
    leading = {entry.key: entry for entry in found}
    shifted = _shifted(columns, cells, leading)
    if shifted:
        report.at("columns-shifted", shifted, line, "error")
        columns = []
    start = next((number for number, column in enumerate(columns) if column.status is not None), len(columns))
    for column, cell in zip(columns[start:], cells[start:], strict=False):
        found += _cell_entries(column, cell, line, report)
    yield from found
    yield from _load(found, line, report)


def _shifted(columns: Sequence[_Column], cells: Sequence[str], leading: dict[str, Entry]) -> str | None:
    """Why a row's statistics are not those that the header names: it has no cells for what sums up to 0."""
    if len(cells) != len(columns):
        return f"{len(cells)} cells below {len(columns)} names: no statistic of this benchmark is read"
    named = {column.status for column in columns if column.key.startswith("metrics/request_latency/")}
    for status in named & {"incomplete", "errored"}:
        count = leading.get(f"metrics/request_totals/{status}")
        if count is not None and count.number == 0:
            return f"the header has statistics of {status} requests, but the benchmark has none: no statistic of it is read"
    return None


def _cell_entries(column: _Column, cell: str, line: Line, report: Report) -> Iterator[Entry]:
    place = (line.offset, line.length, line.number)
    if column.holds == "document":
        if cell.strip() and cell.strip().casefold() not in ABSENT:
            for element in json_pairs(cell.encode(errors="surrogateescape"), report, depth=2, start=(line.offset, line.number)):
                yield _scalar(Element(*place, f"{column.key}/{element.key}", element.value))
    elif column.holds == "percentiles":
        values = cell.strip().removeprefix("[").removesuffix("]").split(",")
        if len(values) != len(_PERCENTILES):
            report.at("malformed-csv", f"{column.key}: {len(values)} values in place of {len(_PERCENTILES)}", line, "error")
            values = []
        for name, value in zip(_PERCENTILES, values, strict=False):
            yield _number(f"{column.key}/{name}", value.strip(), place, report)
    elif column.holds in ("number", "count"):
        yield _number(column.key, cell, place, report, Kind.COUNT if column.holds == "count" else None)
    elif column.holds == "strategy":
        strategy = _STRATEGY.fullmatch(cell.strip())
        yield Entry(*place, "config/strategy/type_", landed_text(strategy[1] if strategy else cell), None)
        if strategy and strategy[2] and (load := _LOADS.get(strategy[1])):
            yield _number(f"config/strategy/{load}", strategy[2], place, report, _KINDS[load])
        elif not strategy or strategy[2] is None and strategy[1] in _LOADS:  # the load is not stated
            report.at("not-a-number", f"Name: {clean(cell)[:80]}", line, "error")
    elif column.key:
        if column.holds == "time" and cell.strip().casefold() not in ABSENT and not _is_time(cell):
            report.at("not-a-time", f"{column.key}: {clean(cell)[:80]}", line, "error")
        if is_non_finite(cell.strip()):
            report.at("non-finite-number", f"{column.key}: {cell[:80]}", line, "error")
        yield Entry(*place, column.key, landed_text(cell) if cell else None, number_in(cell) if column.holds == "other" else None)


def _is_time(cell: str) -> bool:
    try:
        return bool(datetime.strptime(cell, _TIME_FORMAT))
    except ValueError:
        return False


def _number(key: str, cell: str, place: tuple[int, int, int], report: Report, kind: Kind | None = None) -> Entry:
    number = number_in(cell)
    entry = Entry(*place, key, landed_text(cell) if cell else None, number)
    if number is None and cell.strip().casefold() not in ABSENT - {"nan"}:
        code = "non-finite-number" if is_non_finite(cell.strip()) else "not-a-number"
        report.at(code, f"{key}: {clean(cell)[:80]}", entry, "error")
    return possible(entry, report, kind)


def _scalar(element: Element) -> Entry:
    text = None if element.value is None else json_text(element.value)
    return Entry(*element[:3], str(element.key), landed_text(text) if text is not None else None, json_number(element.value))


def _load(found: Sequence[Entry], line: Line, report: Report) -> Iterator[Entry]:
    """What drove a benchmark of 0.4 and later: the profile's value at the benchmark's place in the run, or for a sweep its strategy
    among those that were completed."""
    stated = {entry.key: entry for entry in found}
    strategy, index = stated.get("config/strategy/type_"), stated.get("run_info/run_index")
    if strategy is None or strategy.value is None or index is None or index.number is None:
        return
    name = _LOADS.get(strategy.value, "max_concurrency")
    values = stated.get(f"config/profile/{name}") or stated.get(f"config/profile/args/{name}")
    if values is None or values.value is None:
        return
    listed = values.value.strip().removeprefix("[").removesuffix("]").split(",")
    place = int(index.number) if name != "max_concurrency" else 0
    if place < len(listed) and listed[place].strip().casefold() not in ABSENT:
        yield _number(f"config/strategy/{name}", listed[place].strip(), (line.offset, line.length, line.number), report, _KINDS[name])
