"""Data tests: promises about built tables, each a query that selects the rows that break it.

They come from headers (the grain, tests of columns and of the table) and from the SQL files of `data_tests/`. What is
tested is made here, from text alone; nothing is run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from warehouse.project.project import Project
from warehouse.transform.project.header import PathPart, place_of
from warehouse.transform.project.header_tests import OF_SEVERAL, HeaderTest, severity_of
from warehouse.transform.project.model import Model
from warehouse.transform.project.model_files import read_sql_file
from warehouse.transform.sql.duck import quote, quoted, text_literal
from warehouse.transform.sql.text import body

FOLDER = "data_tests"
SQL_TEST_KEYS = ("description", "severity")


@dataclass(frozen=True)
class SqlTest:
    """One SQL file whose query must return no rows."""

    name: str
    place: str
    text: str
    description: str = ""
    severity: str = "error"


@dataclass(frozen=True)
class DataTest:
    """One promise: `sql` selects the rows that break it. `path` leads to where the header of `source` states it;
    `reads` are the models it reads, all of them once it is bound; `telling` are the columns that tell one row from
    another. Of a promise about each row by itself, `breaks` is the condition that is true of a row that breaks it; of one that rows
    differ, `apart` are the columns in which they do."""

    name: str
    promise: str
    sql: str
    source: Model | SqlTest
    severity: str = "error"
    path: tuple[PathPart, ...] = ()
    stated: HeaderTest | None = None
    reads: frozenset[str] = frozenset()
    telling: tuple[str, ...] = ()
    breaks: str = ""
    apart: tuple[str, ...] = ()

    @property
    def is_kept(self) -> bool:
        """Whether the build keeps the promise itself, by leaving out the rows that break it (`testing.rejected_rows`)."""
        source = self.source
        is_table = isinstance(source, Model) and source.rejects and source.materialized != "view"
        return is_table and self.severity == "error" and bool(self.breaks or self.apart)

    @property
    def is_grain(self) -> bool:
        """Whether it promises that the grain tells a table's rows apart."""
        return isinstance(self.source, Model) and self.stated is None

    @property
    def is_of_rows(self) -> bool:
        """Whether nothing but a row of the model that states it can break it."""
        return isinstance(self.source, Model) and (self.stated is None or self.stated.kind != "row_count")

    @property
    def model(self) -> str | None:
        """The model whose header states it; None for a SQL file."""
        return self.source.name if isinstance(self.source, Model) else None

    @property
    def place(self) -> str:
        return place_of(self.source.text, self.source.place, self.path) if self.path else self.source.place


def load_sql_tests(project: Project) -> tuple[SqlTest, ...]:
    """The project's SQL tests; a file of a later layer replaces the one at the same path in an earlier layer. Raises
    WH201 for a bad name or header."""
    found: dict[str, SqlTest] = {}
    for layer in project.layers(FOLDER):
        for path in sorted(layer.rglob("*.sql")):
            parts = path.relative_to(layer).with_suffix("").parts
            if any(part.startswith((".", "_")) for part in parts):
                continue
            name = "/".join(parts)
            header = read_sql_file(path, project.shown(path), SQL_TEST_KEYS)
            description = (header.text("description") or "").strip()
            found[name] = SqlTest(name, header.place, header.file, description, severity_of(header))
    return tuple(found.values())


def data_tests(models: Mapping[str, Model], sql_tests: Iterable[SqlTest] = ()) -> tuple[DataTest, ...]:
    """Every test of every model, in the models' order, then the SQL files. Names are unique: `model.column_test`."""
    return (*(test for model in models.values() for test in _of_model(model)), *map(_of_file, sql_tests))


def _of_file(test: SqlTest) -> DataTest:
    return DataTest(test.name, test.description or "it must select no rows", body(test.text), test, test.severity)


def _of_model(model: Model) -> Iterator[DataTest]:
    taken: Counter[str] = Counter()
    for test in _unnamed(model):
        taken[test.name] += 1
        number = f"_{taken[test.name]}" if taken[test.name] > 1 else ""
        yield replace(test, name=f"{model.name}.{test.name}{number}", reads=frozenset({model.name}))


def _unnamed(model: Model) -> Iterator[DataTest]:
    table = quoted(model.qualified)
    if model.grain:
        keys = ", ".join(quote(name) for name in model.grain)
        sql = f"select {keys}, count(*) as rows from {table} group by all having count(*) > 1"
        yield DataTest(
            "grain", f"one row per {', '.join(model.grain)}", sql, model, _severity(model, "error", "grain"), ("grain",), apart=model.grain
        )
    for column in model.columns.values():
        for test in column.tests:
            promise, sql, breaks = _of_column(_rows(table, test), quote(column.name), test)
            yield DataTest(
                f"{column.name}_{test.kind}", _said(f"{column.name}: {promise}", test), sql, model,
                _severity(model, test.severity, test.kind), test.path, test, telling=(*model.grain, column.name),
                breaks=_within(breaks, test), apart=(column.name,) if test.kind == "unique" and not test.where else (),
            )
    for test in model.tests:
        promise, sql, breaks = _of_table(_rows(table, test), test)
        yield DataTest(
            test.kind, _said(promise, test), sql, model, _severity(model, test.severity, test.kind), test.path, test,
            telling=model.grain, breaks=_within(breaks, test),
        )


def _severity(model: Model, stated: str, kind: str) -> str:
    """Of a model that leaves out what breaks its tests, a test that no row by itself breaks only warns: evidence never stops a build."""
    return "warn" if model.rejects and (model.materialized == "view" or kind in OF_SEVERAL) else stated


def _within(breaks: str, test: HeaderTest) -> str:
    return f"((\n{test.where}\n) and {breaks})" if test.where and breaks else breaks


def _said(promise: str, test: HeaderTest) -> str:
    return f"{promise}, where {' '.join(test.where.split())}" if test.where else promise


def _rows(table: str, test: HeaderTest) -> str:
    # The line end closes a comment that the condition may end with.
    return f"(select * from {table} where (\n{test.where}\n))" if test.where else table


def _of_column(rows: str, name: str, test: HeaderTest) -> tuple[str, str, str]:
    """What a column's test promises, the rows that break it, and the condition that is true of such a row."""
    match test.kind:
        case "unique":
            counted = f"select {name}, count(*) as rows from {rows} where {name} is not null"
            return "unique", f"{counted} group by 1 having count(*) > 1", ""
        case "relationships":
            other, _, key = test.argument.rpartition(".")
            # Not `not in`: one NULL among the keys would make it true of nothing.
            lone = f"select t.* from {rows} t anti join {quoted(other)} o on o.{quote(key)} = t.{name}"
            return f"relationships {test.argument}", f"{lone} where t.{name} is not null", ""
        case "not_null":
            promise, breaks = "not_null", f"{name} is null"
        case "accepted_values":
            texts = [as_varchar(value) for value in test.argument]
            values = ", ".join(map(text_literal, texts))
            promise, breaks = f"accepted_values [{', '.join(texts)}]", f"{name}::varchar not in ({values})"
        case _:
            bounds = {end: bound_literal(bound) for end, bound in test.argument.items()}
            promise, breaks = f"range {_said_bounds(test)}", f"({_beyond(name, bounds)})"
    return promise, f"select * from {rows} where {breaks}", breaks


def _of_table(rows: str, test: HeaderTest) -> tuple[str, str, str]:
    """What a test of the whole table promises, the rows that break it, and the condition that is true of such a row."""
    if test.kind == "expression":
        # As CHECK of standard SQL has it: what is neither true nor false breaks no promise.
        breaks = f"not (\n{test.argument}\n)"
        return f"expression {' '.join(test.argument.split())}", f"select * from {rows} where {breaks}", breaks
    counted = f"select count(*) as rows from {rows} having {_beyond('count(*)', test.argument)}"
    return f"row_count {_said_bounds(test)}", counted, ""


def _said_bounds(test: HeaderTest) -> str:
    return ", ".join(f"{end} {bound}" for end, bound in test.argument.items())


def _beyond(value: str, bounds: Mapping[str, Any]) -> str:
    """A condition that is true of a value that lies beyond one of the bounds."""
    return " or ".join(f"{value} {'<' if end == 'min' else '>'} {bound}" for end, bound in bounds.items())


def as_varchar(value: Any) -> str:
    """A value of a header as DuckDB casts it to text."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def bound_literal(value: Any) -> str:
    """A bound of a range as SQL: a number as such, since as text it would be rounded to the column's type; a date as
    text that takes that type."""
    return str(value) if isinstance(value, int | float) else text_literal(str(value))
