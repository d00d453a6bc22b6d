"""The tables of a build without their rows: a session to bind SQL in, where no data is needed to know what it means."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warehouse.transform.check.project_check import create_schemas
from warehouse.transform.inputs.landing_tables import open_landing_table
from warehouse.transform.sql.duck import connect, quote, quoted

if TYPE_CHECKING:
    import duckdb

    from warehouse.trace.catalog import Catalog


def empty_tables(catalog: "Catalog") -> "duckdb.DuckDBPyConnection":
    """A session with an empty table for every landing table and model of a catalog, views among them."""
    con = connect()
    create_schemas(con)
    for table, types in catalog.landing_types.items():
        open_landing_table(con, table, types, ())
    for model in catalog.models.values():
        listed = ", ".join(f"{quote(name)} {kind}" for name, kind in catalog.types[model.qualified].items())
        con.execute(f"create table {quoted(model.qualified)} ({listed})")
    return con
