"""Reads the case files and compares what an annotated query yields with what the file expects, literally.

What holds without any expectation (G1, G2) is decided in `guarantees`, which shares no code with the rewriter.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import duckdb
from provenance import guarantees
from provenance.subject import Database, Row, Subject

from warehouse.transform.sql import duck

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
    at: str | None = None
    expected: list[str] = field(default_factory=list)
    sql: str = ""


def read_cases(path: Path) -> list[Case]:
    """The cases of one file, in order; the format is in README.md."""
    cases: list[Case] = []
    for line in path.read_text().splitlines():
        header = re.match(r"-- (case|values|refuse|at|row): ?(.*)", line)
        if header is None:
            if cases:
                cases[-1].sql += line + "\n"
        elif header[1] == "case":
            cases.append(Case(header[2]))
        elif header[1] == "values":
            cases[-1].values = tuple(name.strip() for name in header[2].split(",") if name.strip())
        elif header[1] == "refuse":
            cases[-1].refuse = header[2]
        elif header[1] == "at":
            cases[-1].at = header[2]
        else:
            cases[-1].expected.append(header[2])
    return cases


def all_cases() -> list[Case]:
    return [case for path in sorted((HERE / "cases").glob("*.sql")) for case in read_cases(path)]


def connect() -> duckdb.DuckDBPyConnection:
    connection = duck.connect()
    connection.execute(FIXTURE)
    return connection


def faults(case: Case, database: Database) -> list[str]:
    """Everything that is wrong with the annotation of one case; empty when nothing is."""
    subject = Subject(case.sql, database, case.values)
    rows = subject.rows()
    found = guarantees.identity(subject, rows)
    for row in rows:
        found += cells_in_why(row)
        found += guarantees.sufficiency(subject, row)
    got = Counter(map(describe, rows))
    for line in (got - Counter(case.expected)) | (Counter(case.expected) - got):
        found.append(f"expectation: {'unexpected' if got[line] else 'missing'}: {line}")
    return found


def describe(row: Row) -> str:
    """One output row as the case files write it."""
    listed = {("why", n): map(str, tokens) for n, tokens in row.why.items()}
    listed |= {what: sorted(f"{name}@{token}" for name, token in cells) for what, cells in row.cells.items()}
    evidence = {what: ", ".join(found) for what, found in listed.items()}
    shown = [f"{what} {n} = {found}" for (what, n), found in evidence.items() if found]
    return " ; ".join([" | ".join(map(str, row.data)), *shown])


def cells_in_why(row: Row) -> list[str]:
    """A cell of a row that the why-set does not list would be evidence from nowhere."""
    return [
        f"cells: {name}@{token} of {value} is outside why {n} of {row.data}"
        for (value, n), cells in row.cells.items()
        for name, token in cells
        if token not in row.why[n]
    ]
