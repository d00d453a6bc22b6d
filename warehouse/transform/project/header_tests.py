"""The tests that headers state: how each is written, and the values that reading them gives.

Knows the forms, not the tables: whether a column, an expression or another model is there is the check's business.
"""

from __future__ import annotations

import datetime
import difflib
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from warehouse.transform.project.header import Header, PathPart

SEVERITIES = ("error", "warn")
TEST_OPTIONS = ("severity", "where")
OF_SEVERAL = ("relationships", "row_count")  # what no row keeps or breaks by itself


@dataclass(frozen=True)
class HeaderTest:
    """One entry of a list of tests. `where` is SQL that picks the rows to test; `path` leads to the entry."""

    kind: str
    argument: Any = None
    severity: str = "error"
    where: str | None = None
    path: tuple[PathPart, ...] = ()


def _is_scalar(value: Any) -> bool:
    is_finite = not isinstance(value, float) or math.isfinite(value)
    return isinstance(value, str | int | float | datetime.date) and is_finite


def _are_values(values: Any) -> bool:
    return isinstance(values, list) and bool(values) and all(map(_is_scalar, values))


def _are_bounds(bounds: Any) -> bool:
    return (
        isinstance(bounds, dict) and bool(bounds) and bounds.keys() <= {"min", "max"}
        and all(_is_scalar(bound) and not isinstance(bound, bool) for bound in bounds.values())
    )


def _are_counts(bounds: Any) -> bool:
    return _are_bounds(bounds) and all(isinstance(bound, int) and bound >= 0 for bound in bounds.values())


def _is_key(key: Any) -> bool:
    return isinstance(key, str) and all(key.rpartition("."))


def _is_sql(text: Any) -> bool:
    return isinstance(text, str) and bool(text.strip())


# How each test is written, and what its argument must be.
_Forms = Mapping[str, tuple[str, Callable[[Any], bool]]]
COLUMN_TESTS: _Forms = {
    "not_null": ("not_null", lambda argument: argument is None),
    "unique": ("unique", lambda argument: argument is None),
    "accepted_values": ("accepted_values: [a, b]", _are_values),
    "relationships": ("relationships: model.column", _is_key),
    "range": ("range: {min: 0, max: 100}", _are_bounds),
}
TABLE_TESTS: _Forms = {
    "row_count": ("row_count: {min: 1, max: 100}", _are_counts),
    "expression": ('expression: "ended_at >= started_at"', _is_sql),
}


def column_tests(header: Header, *path: PathPart) -> tuple[HeaderTest, ...]:
    """The tests of the column that `path` leads to. Raises WH201 at the entry that is not a test."""
    return _read(header, COLUMN_TESTS, *path, "tests")


def table_tests(header: Header) -> tuple[HeaderTest, ...]:
    """The tests of the table as a whole. Raises WH201 at the entry that is not a test."""
    return _read(header, TABLE_TESTS, "tests")


def _read(header: Header, forms: _Forms, *path: PathPart) -> tuple[HeaderTest, ...]:
    entries = header.value(*path) or []
    if not isinstance(entries, list):
        raise header.fault("tests are a list", *path, hint=f"tests: [{next(iter(forms.values()))[0]}]")
    return tuple(_entry(header, forms, entry, *path, number) for number, entry in enumerate(entries))


def _entry(header: Header, forms: _Forms, entry: Any, *path: PathPart) -> HeaderTest:
    parts = {entry: None} if isinstance(entry, str) else entry if isinstance(entry, dict) else {}
    kinds = [key for key in parts if key not in TEST_OPTIONS]
    unknown = [kind for kind in kinds if kind not in forms]
    if unknown or not kinds:
        other = TABLE_TESTS if forms is COLUMN_TESTS else COLUMN_TESTS
        known = f"known: {', '.join(forms)}"
        if unknown and unknown[0] in other:
            owner = "the whole table, beside columns" if other is TABLE_TESTS else "a column"
            known = f"{unknown[0]} is a test of {owner}"
        elif unknown and (near := difflib.get_close_matches(str(unknown[0]), [*forms, *TEST_OPTIONS], n=1)):
            known = f"did you mean {near[0]}? {known}"
        raise header.fault(f"unknown test {unknown[0] if unknown else entry!r}", *path, hint=known)
    if len(kinds) > 1:
        raise header.fault(f"{' and '.join(kinds)} are two tests", *path, hint="write one entry for each: [not_null, unique]")
    form, is_right = forms[kinds[0]]
    if not is_right(parts[kinds[0]]):
        message = f"test {kinds[0]} is not written as it must be"
        raise header.fault(message, *path, kinds[0], hint=f"write it like this: {form}")
    severity = severity_of(header, *path) if "severity" in parts else "error"
    return HeaderTest(kinds[0], parts[kinds[0]], severity, _where(header, parts, *path), path)


def _where(header: Header, parts: Mapping[str, Any], *path: PathPart) -> str | None:
    if "where" in parts and not _is_sql(parts["where"]):
        raise header.fault("where is a condition in SQL", *path, "where", hint='where: "status = \'succeeded\'"')
    return parts.get("where")


def severity_of(header: Header, *path: PathPart) -> str:
    """The severity that a test's entry, or a test's own header, states. Raises WH201 for one that is not known."""
    severity: str = header.value(*path).get("severity", "error")
    if severity not in SEVERITIES:
        known = f"one of: {', '.join(SEVERITIES)}"
        raise header.fault(f"severity {severity!r} is not known", *path, "severity", hint=known)
    return severity
