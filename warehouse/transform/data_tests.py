"""Tests on built tables, from the headers: the grain is unique and whole, columns keep their promises.

Each test is one query that must return no rows; the rows it does return are shown. A failed test blocks the switch.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from warehouse.errors import WarehouseError
from warehouse.transform.duck import quote, quoted, text_literal
from warehouse.transform.model import Model

if TYPE_CHECKING:
    import duckdb

_SHOWN_ROWS = 3


@dataclass(frozen=True)
class DataTest:
    """One promise of one model: `sql` selects the rows that break it."""

    model: Model
    promise: str
    sql: str


def data_tests(model: Model) -> Iterator[DataTest]:
    """The tests a model's header states."""
    table = quoted(model.qualified)
    if model.grain:
        keys = ", ".join(quote(name) for name in model.grain)
        yield DataTest(
            model, f"one row per {', '.join(model.grain)}",
            f"select {keys}, count(*) as rows from {table} group by all having count(*) > 1",
        )
    for column in model.columns.values():
        for name, argument in column.tests:
            yield DataTest(model, f"{column.name}: {name}", _sql(table, column.name, name, argument, model))


def _sql(table: str, column: str, test: str, argument: Any, model: Model) -> str:
    name = quote(column)
    if test == "not_null":
        return f"select * from {table} where {name} is null"
    if test == "unique":
        return f"select {name}, count(*) as rows from {table} where {name} is not null group by 1 having count(*) > 1"
    if test == "accepted_values":
        values = ", ".join(text_literal(_as_varchar(value)) for value in argument)
        return f"select distinct {name} from {table} where {name}::varchar not in ({values})"
    if test == "range":
        beyond = {"min": "<", "max": ">"}
        bounds = [f"{name} {beyond[bound]} {_bound(value)}" for bound, value in argument.items()]
        return f"select distinct {name} from {table} where {' or '.join(bounds)}"
    if test == "relationships":
        other, _, key = str(argument).rpartition(".")
        # Not `not in`: one NULL among the keys would make it true of nothing.
        return (
            f"select distinct t.{name} from {table} t anti join {quoted(other)} o on o.{quote(key)} = t.{name}"
            f" where t.{name} is not null"
        )
    raise WarehouseError("WH201", f"unknown test {test}", model.place)


def _as_varchar(value: Any) -> str:
    """A value of a header as DuckDB casts it to text."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _bound(value: Any) -> str:
    # A number as such: as text it would be rounded to the column's type. A date is text that takes that type.
    return str(value) if isinstance(value, int | float) else text_literal(str(value))


def run_tests(con: "duckdb.DuckDBPyConnection", models: Mapping[str, Model]) -> None:
    """Run every test of every model. Raises WH210 with the promise and the first rows that break it."""
    import duckdb

    for model in models.values():
        for test in data_tests(model):
            try:
                rows = con.execute(f"select * from ({test.sql}) limit {_SHOWN_ROWS}").fetchall()
            except duckdb.Error as error:
                raise WarehouseError("WH201", f"test {test.promise} cannot run: {error}", model.place) from error
            if rows:
                shown = "\n".join(f"  {row}"[:300] for row in rows)
                raise WarehouseError("WH210", f"{test.promise}: broken by\n{shown}", model.place)
