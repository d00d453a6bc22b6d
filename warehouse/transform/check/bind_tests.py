"""The static check of data tests: each is bound against the project's tables, empty, before a byte moves.

Faults are reported at the header's own line and column, and where SQL is written in a header, inside that text. No test is
run here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from warehouse.errors import WarehouseError, did_you_mean
from warehouse.transform.check.checked_project import CheckedProject
from warehouse.transform.project.data_tests import DataTest, SqlTest, as_varchar, bound_literal
from warehouse.transform.project.header import Header, PathPart, text_offset
from warehouse.transform.project.header_tests import HeaderTest
from warehouse.transform.project.model import Model, model_names
from warehouse.transform.sql.duck import quote, quoted, text_literal
from warehouse.transform.sql.engine_faults import message_of, translated, translated_within
from warehouse.transform.sql.tree import fault, parsed, readings, statement

if TYPE_CHECKING:
    import duckdb

# Explaining binds and runs nothing.
_BIND = "explain "


def bind_tests(
    con: "duckdb.DuckDBPyConnection", tests: Iterable[DataTest], checked: CheckedProject, landing: Iterable[str]
) -> tuple[tuple[DataTest, ...], list[WarehouseError]]:
    """The tests, each with all models that it reads, and what is wrong with the others: WH202 to WH204 for SQL that does
    not parse or bind, for a table or column that is not there, or not when tests run; WH220 and WH226 for what is no
    function of tables. `con` holds every table of the project, empty."""
    names = model_names(checked.models)
    bound, faults = [], []
    for test in tests:
        try:
            found = _bound(con, test, names, checked.columns, frozenset(landing))
            _refuse_unstored(found, checked)
            bound.append(found)
        except WarehouseError as fault:
            faults.append(fault)
    return tuple(bound), faults


def _refuse_unstored(test: DataTest, checked: CheckedProject) -> None:
    for name in sorted(test.reads):
        if not checked.is_stored(name):
            message = f"a test cannot read {checked.models[name].qualified}: it is a view over files, no build holds it"
            raise _fault(test, "WH203", message, "test a table that reads it")


def _bound(
    con: "duckdb.DuckDBPyConnection",
    test: DataTest,
    names: Mapping[str, str],
    columns: Mapping[str, Mapping[str, str]],
    landing: frozenset[str],
) -> DataTest:
    stated, reads = test.stated, set[str]()
    if isinstance(test.source, SqlTest):
        reads |= _reads(con, test, test.source.text, names, landing)  # first: it lets only one query pass
        _bind_file(con, test.source)
    elif stated:
        conditions: list[tuple[PathPart, str | None]] = [("where", stated.where)]
        if stated.kind == "expression":
            conditions.append(("expression", stated.argument))
        for key, sql in conditions:
            if sql:
                reads |= _bind_condition(con, test, test.source, sql, (*stated.path, key), names, landing)
        if stated.kind == "relationships":
            reads.add(_related(test, stated.argument, names, columns))
        if stated.kind == "accepted_values":
            _check_values(con, test, stated, columns[test.source.name][test.telling[-1]])
        if stated.kind in ("range", "relationships"):
            _bind_argument(con, test, stated, columns[test.source.name][test.telling[-1]])
    return replace(test, reads=test.reads | reads)


def _bind_file(con: "duckdb.DuckDBPyConnection", test: SqlTest) -> None:
    import duckdb

    try:
        con.execute(_BIND + test.text)
    except duckdb.Error as error:
        raise translated(error, _code(error), test.text, test.place, _BIND) from error


def _bind_condition(
    con: "duckdb.DuckDBPyConnection", test: DataTest, source: Model, sql: str, path: tuple[PathPart, ...],
    names: Mapping[str, str], landing: frozenset[str],
) -> set[str]:
    """Bind a condition on the test's model by itself, so that an error's place lies in its own text; the models that it reads."""
    import duckdb

    table = quoted(source.qualified)
    rows = f"select * from {table} where ("
    prefix = f"{_BIND}{rows}\n"
    bound = f"{prefix}{sql}\n)"
    try:
        if len(con.extract_statements(bound)) != 1:
            raise WarehouseError("WH202", "not one condition", test.place, "write no semicolon")
        reads = _condition_reads(con, test, f"{rows}\n{sql}\n)", names, landing, path)
        con.execute(bound)
        kind = con.execute(f"describe select (\n{sql}\n) from {table}").fetchall()[0][1]
    except duckdb.Error as error:
        offset = text_offset(source.text, path)
        if offset is not None:
            raise translated_within(
                error, _code(error), bound, source.text, source.place, offset - len(prefix)
            ) from error
        fault = translated(error, _code(error), sql, test.place, prefix)
        raise replace(fault, place=test.place) from error
    if kind not in ("BOOLEAN", '"NULL"'):
        raise _fault(test, "WH204", f"a condition is true or false, this is {kind}", "compare it: n > 0", path)
    return reads


def _check_values(con: "duckdb.DuckDBPyConnection", test: DataTest, stated: HeaderTest, kind: str) -> None:
    """Refuse values that a column of type `kind` cannot hold: a row with one would never come."""
    import duckdb

    for value in stated.argument:
        if isinstance(value, bool) and kind != "BOOLEAN":
            said = f"YAML reads yes, no, on, off, true and false as booleans, and the column is {kind}"
            raise _fault(test, "WH204", said, "put text in quotes: ['yes', 'no']")
        try:
            con.execute(f"select {text_literal(as_varchar(value))}::{kind}")
        except duckdb.Error as error:
            raise _fault(test, "WH204", message_of(error)) from error


def _bind_argument(con: "duckdb.DuckDBPyConnection", test: DataTest, stated: HeaderTest, kind: str) -> None:
    """Bind what a column of type `kind` is compared with."""
    import duckdb

    if stated.kind == "range":
        # A text that is no value of that type would show only at the first row.
        texts = [f"select {bound_literal(bound)}::{kind}" for bound in stated.argument.values()]
        statements = [_BIND + test.sql, *texts]
    else:
        other, _, key = stated.argument.rpartition(".")
        # `in`, not the test's own join: a join compares a date with a number as text.
        statements = [f"{_BIND}select null::{kind} in (select {quote(key)} from {quoted(other)})"]
    try:
        for statement in statements:
            con.execute(statement)
    except duckdb.Error as error:
        raise _fault(test, "WH204", message_of(error)) from error


def _related(
    test: DataTest, target: str, names: Mapping[str, str], columns: Mapping[str, Mapping[str, str]]
) -> str:
    """The model that a relationship leads to."""
    table, _, key = target.rpartition(".")
    if table not in names:
        hint = did_you_mean(table, names) or "write it like this: relationships: model.column"
        raise _fault(test, "WH203", f"relationships: no model or feed is named {table}", hint)
    found = columns[names[table]]
    if key not in found:
        hint = did_you_mean(key, found) or f"columns are: {', '.join(found)}"
        raise _fault(test, "WH204", f"relationships: {table} has no column {key}", hint)
    return names[table]


def _fault(
    test: DataTest, code: str, message: str, hint: str | None = None, path: tuple[PathPart, ...] = ()
) -> WarehouseError:
    """A fault at `path` in the header, or where it states the test."""
    stated = (*test.path, *([test.stated.kind] if test.stated else []))
    return Header({}, test.source.text, test.source.place).fault(message, *(path or stated), hint=hint, code=code)


def _condition_reads(
    con: "duckdb.DuckDBPyConnection", test: DataTest, sql: str, names: Mapping[str, str], landing: frozenset[str],
    path: tuple[PathPart, ...],
) -> set[str]:
    """The models that a condition reads, of the header's entry that `path` leads to."""
    try:
        return _reads(con, test, sql, names, landing)
    except WarehouseError as error:  # placed in a generated statement
        message = error.message.partition("\n")[0]
        raise _fault(test, error.code, message, error.hint, path) from error


def _reads(
    con: "duckdb.DuckDBPyConnection", test: DataTest, sql: str, names: Mapping[str, str], landing: frozenset[str]
) -> set[str]:
    """The models that SQL reads. A test may read no landing table and no file: `wh test` runs it on a build, which has
    none, and what passed once is not asked again of the same tables."""
    model = Model(test.name, "", test.source.place, sql)
    (document,) = parsed(con, [sql])
    found = readings(statement(document, model), model)
    for file in found.files:
        raise fault("WH220", "a test cannot read files", model, file.offset, "test a model that reads them")
    read = {reference.name for reference in found.tables}
    for name in sorted(read - names.keys()):
        if name in landing:
            raise WarehouseError(
                "WH203", f"a test cannot read landing table {name}", test.place, "test a staging model that reads it"
            )
    return {names[name] for name in read & names.keys()}


def _code(error: Exception) -> str:
    import duckdb

    if isinstance(error, duckdb.ParserException):
        return "WH202"
    return "WH203" if isinstance(error, duckdb.CatalogException) and '"type":"Table"' in str(error) else "WH204"
