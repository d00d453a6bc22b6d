"""The static check: bind every model as an empty table, in order, in memory, before a byte moves.

DuckDB's own binder does the work, so there is no dialect gap: an unknown column or a wrong type is found at the
analyst's own line and column, and what a model yields is compared with what its header promises.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from warehouse.errors import WarehouseError
from warehouse.project import Project
from warehouse.transform.bind_tests import bind_tests
from warehouse.transform.data_tests import DataTest, SqlTest, data_tests, load_sql_tests
from warehouse.transform.duck import connect, quoted, translated
from warehouse.transform.feeds import FEED_SCHEMA, check_feeder, with_feeds
from warehouse.transform.graph import Graph, build_graph
from warehouse.transform.keys import KeyPlan, key_plan
from warehouse.transform.landing_tables import open_landing_table
from warehouse.transform.model import Column, Model, load_models, load_queries
from warehouse.transform.sources import SOURCE_SCHEMA, has_match, open_remote, source_models
from warehouse.transform.sql_tree import FileRead, fault

if TYPE_CHECKING:
    import duckdb

SCHEMAS = ("staging", FEED_SCHEMA, SOURCE_SCHEMA, "mart", "rollup")
# A view binds its SQL and runs nothing, also that of a model that reads no landing table.
_BIND = "create or replace temp view checked as "


@dataclass(frozen=True)
class CheckedProject:
    """Models with their feeds, sources and queries, in build order; the columns (name to type) that binding gave each and
    every call that reads files; how each incremental model's keys are found; and every test of their data."""

    models: Mapping[str, Model]
    graph: Graph
    columns: Mapping[str, Mapping[str, str]]
    file_columns: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    key_plans: Mapping[str, KeyPlan] = field(default_factory=dict)
    tests: tuple[DataTest, ...] = ()

    def is_stored(self, name: str) -> bool:
        """Whether a finished build holds it: all but views over files, which would change under the build."""
        return name not in self._over_files

    def place_of(self, name: str) -> int:
        """A model's place in build order."""
        return self._places[name]

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self.graph.order)}

    @cached_property
    def _over_files(self) -> frozenset[str]:
        found: set[str] = set()
        for name in self.graph.order:
            if self.models[name].materialized == "view" and (self.graph.files[name] or found & self.graph.models[name]):
                found.add(name)
        return frozenset(found)


def check_project(project: Project, landing: Mapping[str, Mapping[str, str]]) -> CheckedProject:
    """Check a project as it lies on disk. Raises as `check` does, and what reading its files raises."""
    models = _together(load_models(project), source_models(project), {})
    return check(models, load_queries(project), landing, project.root, load_sql_tests(project))


def check(
    models: Mapping[str, Model], queries: Mapping[str, Model], landing: Mapping[str, Mapping[str, str]],
    root: Path = Path(), sql_tests: Sequence[SqlTest] = (),
) -> CheckedProject:
    """Check a whole project. `landing` gives the landing tables' columns (name to type); file paths are from `root`. Raises
    the first fault: WH201 to WH208, WH220, WH221, WH226, each with file, line and column."""
    import duckdb

    everything = _together(with_feeds(models), queries, landing)
    con = connect(files_root=root)
    con.execute("begin")  # one transaction: each statement alone would cost a commit
    create_schemas(con)
    for table, types in landing.items():
        open_landing_table(con, table, types, ())
    graph = build_graph(con, everything, landing.keys())
    columns: dict[str, Mapping[str, str]] = {}
    known_types: dict[str, str] = {}
    for name in graph.order:
        model = everything[name]
        if model.materialized == "view":
            _check_view(model, graph, everything)
        _check_files(con, model, graph.files[name], root)
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
    calls = {read.call for files in graph.files.values() for read in files}
    file_columns = {call: _columns_of_call(con, call) for call in sorted(calls)}
    plans = _key_plans(con, everything, graph, {**columns, **file_columns}, landing)
    tests = bind_tests(con, data_tests(everything, sql_tests), everything, columns, landing)
    return CheckedProject(everything, graph, columns, file_columns, plans, tests)


def _check_files(con: "duckdb.DuckDBPyConnection", model: Model, files: Sequence[FileRead], root: Path) -> None:
    for read in files:
        open_remote(con, read.patterns)
        for pattern in read.patterns:
            if "://" not in pattern and not has_match(pattern, root):
                hint = f"paths are from the project's folder, {root.name or '.'}"
                raise fault("WH220", f"no file matches {pattern}", model, read.offset, hint)


def _columns_of_call(con: "duckdb.DuckDBPyConnection", call: str) -> dict[str, str]:
    return {row[0]: row[1] for row in con.execute(f"describe select * from {call}").fetchall()}


def _key_plans(
    con: "duckdb.DuckDBPyConnection", models: Mapping[str, Model], graph: Graph,
    columns: Mapping[str, Mapping[str, str]], landing: Mapping[str, Mapping[str, str]],
) -> dict[str, KeyPlan]:
    incremental = [name for name in graph.order if models[name].materialized == "incremental"]
    if not incremental:
        return {}
    for name in incremental:
        for column in models[name].key:
            if column not in columns[name]:
                raise WarehouseError("WH207", f"the key names column {column}, the SQL has none", models[name].place)
    aggregates = {
        row[0] for row in con.execute(
            "select distinct function_name from duckdb_functions() where function_type = 'aggregate'"
        ).fetchall()
    }
    qualified = {models[name].qualified: name for name in graph.order}

    def columns_of(written: str) -> Sequence[str] | None:
        name = written if "(" in written or "'" in written else written.replace('"', "").lower()
        found = columns.get(qualified.get(name, name)) or landing.get(name)
        return tuple(found) if found is not None else None

    return {name: key_plan(con, name, models, graph, columns_of, aggregates) for name in incremental}


def create_schemas(con: "duckdb.DuckDBPyConnection") -> None:
    """The schemas of a build, and the search path that lets models use bare names."""
    from warehouse.transform.duck import SEARCH_PATH

    for schema in SCHEMAS:
        con.execute(f"create schema if not exists {schema}")
    con.execute(f"set search_path = '{SEARCH_PATH}'")


def described(con: "duckdb.DuckDBPyConnection", qualified: str) -> dict[str, str]:
    """Column names and types of a table, in order."""
    return {row[0]: row[1] for row in con.execute(f"describe {quoted(qualified)}").fetchall()}


def _together(
    models: Mapping[str, Model], queries: Mapping[str, Model], landing: Mapping[str, Mapping[str, str]]
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
