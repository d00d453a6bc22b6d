"""The static check: bind every model as an empty table, in order, in memory, before a byte moves.

DuckDB's own binder does the work, so there is no dialect gap: an unknown column or a wrong type is found at the
analyst's own line and column, and what a model yields is compared with what its header promises.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from warehouse.errors import WarehouseError
from warehouse.transform.bind_tests import bind_tests
from warehouse.transform.data_tests import DataTest, SqlTest, data_tests
from warehouse.transform.duck import connect, quoted, translated
from warehouse.transform.feeds import FEED_SCHEMA, check_feeder, with_feeds
from warehouse.transform.graph import Graph, build_graph
from warehouse.transform.landing_tables import open_landing_table
from warehouse.transform.model import Column, Model

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

SCHEMAS = ("staging", FEED_SCHEMA, "mart", "rollup")
# A view binds its SQL and runs nothing, also that of a model that reads no landing table.
_BIND = "create or replace temp view checked as "


@dataclass(frozen=True)
class CheckedProject:
    """Models with their feeds and queries, in build order, the columns (name to type) that binding gave each, and every
    test of their data."""

    models: Mapping[str, Model]
    graph: Graph
    columns: Mapping[str, Mapping[str, str]]
    tests: tuple[DataTest, ...] = ()


def check(
    models: Mapping[str, Model],
    queries: Mapping[str, Model],
    landing: Mapping[str, "pa.Schema"],
    sql_tests: Sequence[SqlTest] = (),
) -> CheckedProject:
    """Check a whole project. Raises the first fault: WH202 to WH208, each with file, line and column."""
    import duckdb

    everything = _together(with_feeds(models), queries, landing)
    con = connect()
    create_schemas(con)
    for table, schema in landing.items():
        open_landing_table(con, table, arrow_types(con, schema), ())
    graph = build_graph(con, everything, landing.keys())
    columns: dict[str, Mapping[str, str]] = {}
    known_types: dict[str, str] = {}
    for name in graph.order:
        model = everything[name]
        if model.materialized == "view":
            _check_view(model, graph, everything)
        try:
            con.execute(_BIND + model.text)
        except duckdb.Error as error:
            raise translated(error, "WH204", model.text, model.place, _BIND) from error
        if model.materialized == "view":
            con.execute(f"create view {quoted(model.qualified)} as {model.text}")
        else:
            con.execute(f"create table {quoted(model.qualified)} as select * from checked limit 0")
        columns[name] = described(con, model.qualified)
        if model.feeds:
            feed = everything[f"{FEED_SCHEMA}.{model.feeds}"]
            contract = {c.name: _canonical_type(con, known_types, c, feed) for c in feed.columns.values()}
            check_feeder(model, columns[name], contract)
        _check_contract(con, known_types, model, columns[name])
    tests = bind_tests(con, data_tests(everything, sql_tests), everything, columns, landing)
    return CheckedProject(everything, graph, columns, tests)


def create_schemas(con: "duckdb.DuckDBPyConnection") -> None:
    """The schemas of a build, and the search path that lets models use bare names."""
    from warehouse.transform.duck import SEARCH_PATH

    for schema in SCHEMAS:
        con.execute(f"create schema if not exists {schema}")
    con.execute(f"set search_path = '{SEARCH_PATH}'")


def arrow_types(con: "duckdb.DuckDBPyConnection", schema: "pa.Schema") -> dict[str, str]:
    """The engine's types of an Arrow schema's columns."""
    con.register("empty_landing", schema.empty_table())
    try:
        return described(con, "empty_landing")
    finally:
        con.unregister("empty_landing")


def described(con: "duckdb.DuckDBPyConnection", qualified: str) -> dict[str, str]:
    """Column names and types of a table, in order."""
    return {row[0]: row[1] for row in con.execute(f"describe {quoted(qualified)}").fetchall()}


def _together(
    models: Mapping[str, Model], queries: Mapping[str, Model], landing: Mapping[str, "pa.Schema"]
) -> dict[str, Model]:
    for name, model in [*models.items(), *queries.items()]:
        taken = models.get(name) if model is not models.get(name) else None
        if taken or name in landing:
            owner = taken.place if taken else "a landing table"
            raise WarehouseError("WH205", f"the name {name} is taken by {owner}", model.place, "rename the file")
    return {**models, **queries}


def _check_view(model: Model, graph: Graph, models: Mapping[str, Model]) -> None:
    # A view is opened by readers who have no landing tables.
    if graph.landing[model.qualified if model.schema == FEED_SCHEMA else model.name]:
        raise WarehouseError(
            "WH204", "a view cannot read a landing table", model.place, "drop `materialized: view` from the header"
        )


def _check_contract(
    con: "duckdb.DuckDBPyConnection", known_types: dict[str, str], model: Model, found: Mapping[str, str]
) -> None:
    if model.columns:
        for name, column in model.columns.items():
            if name not in found:
                near = difflib.get_close_matches(name, found, n=1)
                raise WarehouseError(
                    "WH207", f"the header promises column {name}, the SQL has none", model.place,
                    f"did you mean {near[0]}?" if near else None,
                )
            if found[name] != _canonical_type(con, known_types, column, model):
                raise WarehouseError(
                    "WH207", f"column {name} is {found[name]}, the header says {column.type}", model.place,
                    f"cast it: {name}::{column.type}",
                )
        for name in found:
            if name not in model.columns:
                raise WarehouseError("WH207", f"the SQL has column {name}, the header does not", model.place)
    if "rowid" in (name.lower() for name in found):
        raise WarehouseError("WH207", "rowid is the engine's own name for a row's place", model.place, "rename the column")
    for name in model.grain:
        if name not in found:
            raise WarehouseError("WH207", f"the grain names column {name}, the SQL has none", model.place)


def _canonical_type(
    con: "duckdb.DuckDBPyConnection", known_types: dict[str, str], column: Column, model: Model
) -> str:
    """A type as the engine writes it: `timestamptz` is TIMESTAMP WITH TIME ZONE. `known_types` remembers."""
    import duckdb

    if column.type not in known_types:
        try:
            found = con.execute(f"select typeof(cast(null as {column.type}))").fetchall()[0][0]
        except duckdb.Error as error:
            raise WarehouseError("WH201", f"column {column.name}: no type {column.type}", model.place) from error
        known_types[column.type] = str(found)
    return known_types[column.type]
