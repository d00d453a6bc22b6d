"""The tables of a build without their rows: a session to bind SQL in, where no data is needed to know what it means."""

from __future__ import annotations

from contextlib import ExitStack
from functools import cached_property
from typing import TYPE_CHECKING

from warehouse.transform.check.project_check import create_schemas
from warehouse.transform.inputs.landing_tables import open_landing_table
from warehouse.transform.sql.duck import quote, quoted, scratch

if TYPE_CHECKING:
    import duckdb

    from warehouse.trace.catalog import BuiltModel, Catalog


class EmptyTables:
    """A session that has an empty table for each landing table and model of a catalog that was asked for, views among them."""

    def __init__(self, catalog: "Catalog") -> None:
        self._catalog = catalog
        self._made: set[str] = set()
        self._session = ExitStack()

    def reading(self, model: "BuiltModel") -> "duckdb.DuckDBPyConnection":
        """The session, with the tables that a model reads, also through views."""
        pending = [*model.reads]
        while pending:
            table = pending.pop()
            if table not in self._made:
                self._made.add(table)
                self._make(table)
                read = self._catalog.models.get(table)
                pending += read.reads if read and not read.has_rows else ()
        return self._con

    def close(self) -> None:
        """End the session, if anything was asked of it."""
        self._session.close()

    @cached_property
    def _con(self) -> "duckdb.DuckDBPyConnection":
        con = self._session.enter_context(scratch())
        create_schemas(con)
        return con

    def _make(self, table: str) -> None:
        if table in self._catalog.models:
            listed = ", ".join(f"{quote(name)} {kind}" for name, kind in self._catalog.types[table].items())
            self._con.execute(f"create table {quoted(table)} ({listed})")
        else:
            open_landing_table(self._con, table, self._catalog.landing_types[table], ())
