"""Unit tests: a model's own SQL, untouched, on the rows that a case gives, compared with the rows that it expects.

Inputs are empty tables of the types that checking the project gave them, filled with the given rows; what lies under an
input is never asked. Needs no build, no evidence and no landing file.
"""

from __future__ import annotations

import difflib
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from warehouse.errors import WarehouseError
from warehouse.transform.check.checked_project import CheckedProject
from warehouse.transform.check.project_check import create_schemas
from warehouse.transform.project.model import model_names
from warehouse.transform.sql.duck import quote, quoted, scratch
from warehouse.transform.sql.engine_faults import translated
from warehouse.transform.sql.row_table import row_table
from warehouse.transform.testing.unit_cases import Rows, UnitCase
from warehouse.transform.testing.unit_values import is_float, typed_value

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

_SHOWN_ROWS = 20
_FOUND = "unit_test_found"
# A row as the engine writes its values as text, None for NULL: two values of one type are equal when their texts are.
TextRow = tuple[str | None, ...]


@dataclass(frozen=True)
class UnitResult:
    """What one case found: the expected rows that are not there, the rows that nothing expected, or why the model could
    not run. In an ordered case each row begins with its number."""

    name: str
    model: str
    place: str
    seconds: float
    columns: tuple[str, ...] = ()
    missing: tuple[TextRow, ...] = ()
    unexpected: tuple[TextRow, ...] = ()
    error: str | None = None

    @property
    def status(self) -> str:
        return "fail" if self.failures or self.error else "pass"

    @property
    def failures(self) -> int:
        """How many rows differ."""
        return len(self.missing) + len(self.unexpected)

    def told(self) -> str:
        """What differs, for people: both sets of rows as tables."""
        lines = [f"fail {self.model}: {self.name} ({self.place})"]
        if self.error:
            lines.append(self.error)
        for title, rows in (("expected, not found", self.missing), ("found, not expected", self.unexpected)):
            if rows:
                lines += [f"  {title}:", row_table(self.columns, rows[:_SHOWN_ROWS], "    ")]
            if len(rows) > _SHOWN_ROWS:
                lines.append(f"    and {len(rows) - _SHOWN_ROWS} more")
        return "\n".join(lines)


def run_unit_cases(
    cases: Iterable[UnitCase],
    checked: CheckedProject,
    landing: Mapping[str, "pa.Schema"],
    on_result: Callable[[UnitResult], None] = lambda result: None,
) -> tuple[UnitResult, ...]:
    """Run every case. Raises WH240 for one that names a model, input or column that is not there, or gives a value that
    its column cannot hold exactly."""
    names = model_names(checked.models)
    results: list[UnitResult] = []
    with scratch() as con:
        for case in cases:
            con.execute("begin")
            try:
                results.append(_run(con, case, checked, landing, names))
            finally:
                con.execute("rollback")
            on_result(results[-1])
    return tuple(results)


def _run(
    con: "duckdb.DuckDBPyConnection",
    case: UnitCase,
    checked: CheckedProject,
    landing: Mapping[str, "pa.Schema"],
    names: Mapping[str, str],
) -> UnitResult:
    import duckdb

    started = time.monotonic()
    key = names[_known(str(case.model.content), names, "no model, feed or query is named", case.model.place)]
    model = checked.models[key]
    create_schemas(con)
    _give_inputs(con, case, key, checked, landing)
    columns, expected = _expected(con, case, key, checked)
    prefix = f"create temp table {_FOUND} as "
    try:
        con.execute(prefix + model.text)
    except duckdb.Error as error:
        fault = translated(error, "WH209", model.text, model.place, prefix)
        return UnitResult(case.name, key, case.place, time.monotonic() - started, error=str(fault))
    listed = ", ".join(f"{quote(name)}::varchar" for name in columns)
    found = con.execute(f"select {listed} from {_FOUND}").fetchall()
    floats = {i for i, name in enumerate(columns) if case.tolerance and is_float(checked.columns[key][name])}
    difference = _difference_in_order if case.ordered else _difference
    missing, unexpected = difference(expected, found, floats, case.tolerance or 0)
    return UnitResult(
        case.name, key, case.place, time.monotonic() - started,
        (("row", *columns) if case.ordered else tuple(columns)), tuple(missing), tuple(unexpected),
    )


def _give_inputs(
    con: "duckdb.DuckDBPyConnection",
    case: UnitCase,
    key: str,
    checked: CheckedProject,
    landing: Mapping[str, "pa.Schema"],
) -> None:
    """Make a table of every input of the model, with the given rows."""
    models, tables = checked.graph.models[key], checked.graph.landing[key]
    ways = {**model_names({name: checked.models[name] for name in models}), **{table: table for table in tables}}
    given: dict[str, Rows] = {}
    for name, rows in case.given.items():
        if name not in ways:
            read = f"it reads {', '.join(sorted({*models, *tables}))}" if ways else "it reads no table"
            raise WarehouseError("WH240", f"{key} does not read {name}", rows.place, _near(name, ways) or read)
        if ways[name] in given:
            raise WarehouseError("WH240", f"{ways[name]} is given twice", rows.place)
        given[ways[name]] = rows
    for name in sorted(models):
        _give(con, "table", checked.models[name].qualified, checked.columns[name], given.get(name))
    for table in sorted(tables):
        _give(con, "temp table", table, landing[table], given.get(table))


def _give(
    con: "duckdb.DuckDBPyConnection", what: str, table: str, types: Mapping[str, str], given: Rows | None
) -> None:
    columns = ", ".join(f"{quote(name)} {kind}" for name, kind in types.items())
    con.execute(f"create {what} {quoted(table)} ({columns})")
    for row in given.rows if given else ():
        for name, value in row.cells.items():
            _known(name, types, f"{table} has no column", value.place)
        cells = {quote(name): typed_value(con, value, types[name]).sql for name, value in row.cells.items()}
        if cells:
            con.execute(f"insert into {quoted(table)} ({', '.join(cells)}) values ({', '.join(cells.values())})")
        else:
            con.execute(f"insert into {quoted(table)} default values")


def _expected(
    con: "duckdb.DuckDBPyConnection", case: UnitCase, key: str, checked: CheckedProject
) -> tuple[Sequence[str], list[TextRow]]:
    """The columns that are compared, in the model's order, and the expected rows. Without a row all columns are."""
    types, rows = checked.columns[key], case.expect.rows
    if not rows:
        return list(types), []
    for row in rows:
        for name, value in row.cells.items():
            _known(name, types, f"{key} has no column", value.place)
        if not row.cells:
            raise WarehouseError("WH240", "an expected row names no column", row.place)
        # A column that one row leaves out may be NULL there or of no interest: which is not known.
        for name in sorted(rows[0].cells.keys() ^ row.cells.keys()):
            raise WarehouseError(
                "WH240", f"not every expected row states {name}", row.place, f"where it is NULL, write {name}: null"
            )
    columns = [name for name in types if name in rows[0].cells]
    return columns, [tuple(typed_value(con, row.cells[name], types[name]).text for name in columns) for row in rows]


def _difference(
    expected: Sequence[TextRow], found: Sequence[TextRow], floats: Collection[int], tolerance: float
) -> tuple[list[TextRow], list[TextRow]]:
    """Expected rows that are not among the found, as often as they are missing, and the found rows that are left."""
    missing, left = Counter(expected) - Counter(found), Counter(found) - Counter(expected)
    for row in list(missing.elements()) if floats else ():
        # Each takes the first row that is near enough: where rows lie within the tolerance of each other, a pairing
        # may be missed, but none is invented.
        near = next((other for other in left.elements() if _equal(row, other, floats, tolerance)), None)
        if near is not None:
            missing[row] -= 1
            left[near] -= 1
    return list(missing.elements()), list(left.elements())


def _difference_in_order(
    expected: Sequence[TextRow], found: Sequence[TextRow], floats: Collection[int], tolerance: float
) -> tuple[list[TextRow], list[TextRow]]:
    """The rows of both that differ from the row at the same place in the other, with their numbers."""
    equal = [_equal(row, other, floats, tolerance) for row, other in zip(expected, found, strict=False)]

    def differing(rows: Sequence[TextRow]) -> list[TextRow]:
        return [(str(i + 1), *row) for i, row in enumerate(rows) if i >= len(equal) or not equal[i]]

    return differing(expected), differing(found)


def _equal(row: TextRow, other: TextRow, floats: Collection[int], tolerance: float) -> bool:
    return all(
        a == b or (i in floats and a is not None and b is not None and abs(float(a) - float(b)) <= tolerance)
        for i, (a, b) in enumerate(zip(row, other, strict=True))
    )


def _known(name: str, known: Mapping[str, object], message: str, place: str) -> str:
    if name not in known:
        raise WarehouseError("WH240", f"{message} {name}", place, _near(name, known))
    return name


def _near(name: str, known: Iterable[str]) -> str | None:
    near = difflib.get_close_matches(name, list(known), n=1)
    return f"did you mean {near[0]}?" if near else None
