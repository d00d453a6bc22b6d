"""Rows of tables that stay in parts, for a trace: those of the parts that have the keys which the trace asks for, not all.

Such tables, and landing tables that nothing else reads, are empty in the session at first. Before a hop reads them, the rows of the
partitions that have the keys of its rows come in. Row ids are those of the session: rows are only ever added.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from warehouse.landing.parse.batches import LandingFile
from warehouse.transform.build.part_tables import rows_of
from warehouse.transform.finished.builds import Build
from warehouse.transform.inputs.landing_tables import open_landing_table
from warehouse.transform.inputs.made_elsewhere import PartFile
from warehouse.transform.sql.duck import SEARCH_PATH, quote, quoted

if TYPE_CHECKING:
    import duckdb

_OWN = "wh_parts"  # the database, in memory, of such tables: a build's is not written


class PartRows:
    """The tables `in_parts` (qualified names) and landing tables (`landing`) of a session on a build, as far as they came in."""

    def __init__(
        self, con: "duckdb.DuckDBPyConnection", build: Build, types: Mapping[str, Mapping[str, str]],
        landing: Mapping[str, Sequence[LandingFile]], landing_types: Mapping[str, Mapping[str, str]],
    ) -> None:
        self._con, self._files = con, build.part_files()
        self._types, self._landing, self._landing_types = types, landing, landing_types
        [(own,)] = con.execute("select current_database()").fetchall()
        held = con.execute("select distinct read from state.part").fetchall()
        self.in_parts = {name for (name,) in held if name in build.parts}
        self.landing = {name for (name,) in held if name in landing}
        self._there: dict[str, set[str]] = {name: set() for name in self.in_parts | self.landing}
        con.execute(f"attach ':memory:' as {_OWN} (read_write)")
        for name in sorted(self.in_parts):
            columns = ", ".join(f"{quote(column)} {kind}" for column, kind in types[name].items())
            con.execute(f"create schema if not exists {_OWN}.{quote(name.partition('.')[0])}; create table {_OWN}.{quoted(name)} ({columns})")
        schemas = sorted({name.partition(".")[0] for name in self.in_parts})
        places = [*(f"{_OWN}.{schema}" for schema in schemas), *(f'"{own}".{schema}' for schema in SEARCH_PATH.split(","))]
        con.execute(f"set search_path = '{','.join(places)}'")
        for name in self.landing:
            open_landing_table(con, name, landing_types[name], ())

    def bring(self, reader: str, wanted: str) -> None:
        """Bring in what a model's rows, whose row ids are in table `wanted`, were made of. Raises WH105, WH123."""
        ways = self._con.execute("select path, read, key from state.part_way where reader = ?", [reader]).fetchall()
        for path, read, key in ways:
            if read in self._there:
                keys = f"select hash({', '.join(f't.{quote(name)}' for name in key)}) from {quoted(reader)} t semi join {wanted} w on w.rid = t.rowid"
                self._bring(read, f"task in (select task from state.part_key where path = '{path}' and key in ({keys}))")

    def bring_all(self) -> None:
        """Bring in every row."""
        for name in sorted(self._there):
            self._bring(name, "true")

    def _bring(self, name: str, condition: str) -> None:
        found = self._con.execute(f"select distinct file from state.part where read = ? and {condition} order by file", [name]).fetchall()
        come = [file for (file,) in found if file not in self._there[name]]
        if not come:
            return
        self._there[name].update(come)
        if name in self.landing:
            files = [file for file in self._landing[name] if file.sha256 in self._there[name]]
            self._con.execute(f"drop table if exists temp.{quote(name)}; drop view if exists temp.{quote(name)}")
            open_landing_table(self._con, name, self._landing_types[name], files)
            return
        for sha256 in come:
            PartFile(self._files[sha256], sha256).check()
        listed = ", ".join(f"{quote(column)}::{kind}" for column, kind in self._types[name].items())
        self._con.execute(f"insert into {_OWN}.{quoted(name)} select {listed} from {rows_of(name, come)}")
