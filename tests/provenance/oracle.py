"""Reads the case files and checks an annotated query against the engine. It shares no code with the rewriter.

The engine runs the original query, on the whole data and on the data cut down to a row's why-sets; what the case
file expects is compared literally.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import duckdb

from warehouse.claims import provenance
from warehouse.claims.provenance import Annotated

HERE = Path(__file__).parent
FIXTURE = (HERE / "fixture.sql").read_text()
CATALOG = {
    "host": ["id", "name", "gpus"],
    "run": ["id", "host", "conc", "tput", "status"],
    "feed.sample": ["id", "run_id", "latency", "tags"],
    "untracked": ["a"],
}
TOKENS = {table: "{alias}.id" for table in CATALOG if table != "untracked"}


@dataclass
class Case:
    """One query of a case file with what it must yield."""

    name: str
    values: tuple[str, ...] = ()
    refuse: str | None = None
    expected: list[str] = field(default_factory=list)
    sql: str = ""


def read_cases(path: Path) -> list[Case]:
    """The cases of one file, in order; the format is in README.md."""
    cases: list[Case] = []
    for line in path.read_text().splitlines():
        header = re.match(r"-- (case|values|refuse|row): ?(.*)", line)
        if header is None:
            if cases:
                cases[-1].sql += line + "\n"
        elif header[1] == "case":
            cases.append(Case(header[2]))
        elif header[1] == "values":
            cases[-1].values = tuple(name.strip() for name in header[2].split(",") if name.strip())
        elif header[1] == "refuse":
            cases[-1].refuse = header[2]
        else:
            cases[-1].expected.append(header[2])
    return cases


def all_cases() -> list[Case]:
    return [case for path in sorted((HERE / "cases").glob("*.sql")) for case in read_cases(path)]


def database() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect(":memory:", config={"threads": 1})
    for setting in provenance.TRACE_SETTINGS:
        connection.execute(setting)
    connection.execute(FIXTURE)
    return connection


def faults(case: Case, connection: duckdb.DuckDBPyConnection) -> list[str]:
    """Everything that is wrong with the annotation of one case; empty when nothing is."""
    annotated = provenance.annotate(case.sql, CATALOG, TOKENS, case.values)
    original = connection.execute(case.sql).fetchall()
    cursor = connection.execute(annotated.sql)
    names = [description[0] for description in cursor.description]
    rows = cursor.fetchall()
    width = len(annotated.columns)
    columns = [description[:2] for description in cursor.description][:width]
    found = _identity(case.sql, original, [row[:width] for row in rows], columns, connection)
    traces = [_trace(annotated, case.values, dict(zip(names, row, strict=True))) for row in rows]
    for row, trace in zip(rows, traces, strict=True):
        found += _cells_in_why(row[:width], trace)
        found += _sufficiency(case.sql, row[:width], annotated, trace, connection)
    got = Counter(describe(row[:width], trace) for row, trace in zip(rows, traces, strict=True))
    for line in (got - Counter(case.expected)) | (Counter(case.expected) - got):
        found.append(f"expectation: {'unexpected' if got[line] else 'missing'}: {line}")
    return found


Trace = dict[tuple[str, int], list]  # ("why", n) -> tokens, (column, n) -> "column@token"


def _trace(annotated: Annotated, values: tuple[str, ...], row: dict) -> Trace:
    trace: Trace = {}
    for occurrence in annotated.occurrences:
        trace["why", occurrence.number] = sorted(row[f"__why_{occurrence.number}"])
    for i, value in enumerate(values):
        for occurrence in annotated.occurrences:
            cells = row[f"__cell_{i}_{occurrence.number}"]
            trace[value, occurrence.number] = sorted(f"{cell['c']}@{cell['t']}" for cell in cells)
    return trace


def describe(data: tuple, trace: Trace) -> str:
    """One output row as the case files write it."""
    shown = [" | ".join(str(value) for value in data)]
    shown += [f"{what} {n} = {', '.join(map(str, found))}" for (what, n), found in trace.items() if found]
    return " ; ".join(shown)


def _identity(
    sql: str, original: list, got: list, columns: list[tuple], connection: duckdb.DuckDBPyConnection
) -> list[str]:
    """G1: the same rows under the same names and types, and in the same order where the query fixes one."""
    expected = [description[:2] for description in connection.execute(sql).description]
    found = [] if columns == expected else [f"G1: columns {columns} are not {expected}"]
    is_ordered = re.search(r"order by [^()]*$", sql.strip(), re.IGNORECASE) is not None
    same = got == original if is_ordered else Counter(map(str, got)) == Counter(map(str, original))
    return found if same else [*found, f"G1: {got} is not {original}"]


def _cells_in_why(data: tuple, trace: Trace) -> list[str]:
    """A cell of a row that the why-set does not list would be evidence from nowhere."""
    return [
        f"cells: {cell} of {what} is outside why {n} of {data}"
        for (what, n), cells in trace.items()
        if what != "why"
        for cell in cells
        if cell.rsplit("@", 1)[1] not in map(str, trace["why", n])
    ]


def _sufficiency(
    sql: str, data: tuple, annotated: Annotated, trace: Trace, connection: duckdb.DuckDBPyConnection
) -> list[str]:
    """G2: with each table cut down to the traced rows, the output row is still there.

    A table that occurs several times is cut down to the union of its occurrences' why-sets.
    """
    kept: dict[str, set] = {}
    for occurrence in annotated.occurrences:
        kept.setdefault(occurrence.table, set()).update(trace["why", occurrence.number])
    connection.execute("begin")
    try:
        for table, tokens in kept.items():
            listed = ", ".join(map(str, tokens)) or "null"
            connection.execute(f"delete from {table} where (id in ({listed})) is not true")
        found = connection.execute(sql).fetchall()
    finally:
        connection.execute("rollback")
    return [] if str(data) in map(str, found) else [f"G2: {data} is lost when only its why-sets are kept"]
