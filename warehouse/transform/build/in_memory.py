"""Models made for one session, in memory: who reads them there keeps nothing, and spares a database its file, its checkpoint and
a second session on it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from warehouse.errors import WarehouseError
from warehouse.transform.build.session import Session
from warehouse.transform.inputs.content import rows_of
from warehouse.transform.inputs.current_folder import inside
from warehouse.transform.sql.duck import SEARCH_PATH, connect, text_literal
from warehouse.transform.sql.engine_faults import message_of

if TYPE_CHECKING:
    import duckdb

    from warehouse.transform.build.material import Material

@contextmanager
def made_in_memory(material: "Material") -> "Iterator[duckdb.DuckDBPyConnection]":
    """A session in which every model of the material has its rows and bare table names work; what memory does not hold goes
    into the material's `root`, outside which no file is read. Raises WH209 at the place of what fails."""
    con = connect(files_root=material.root)
    try:
        _make(con, material)
        con.execute(f"set search_path = '{SEARCH_PATH}'")
        yield con
    finally:
        con.close()


def _make(con: "duckdb.DuckDBPyConnection", material: "Material") -> None:
    import duckdb

    try:
        con.execute(f"set temp_directory = {text_literal(str(material.root.resolve() / 'spilled'))}")
        # Its SQL may be a stranger's, as in an audit packet: it reaches the landing tables and nothing else.
        con.execute(f"set allowed_directories = [{text_literal(str(material.root.resolve()))}]")
        con.execute("set enable_external_access = false")
        # The models read the same files one after another: a third of what a small file takes is its footer.
        con.execute("set parquet_metadata_cache = true")
        # The engine looks for a path without a pattern in the current folder first.
        with inside(material.root):
            Session(con, material, {}, content_of=rows_of, keeps_landing=True).run()
    except duckdb.Error as error:
        raise WarehouseError("WH209", message_of(error), "in memory", "check that the disk has space") from error
