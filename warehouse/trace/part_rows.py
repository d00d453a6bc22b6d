"""Rows of tables that stay in parts, for a trace: those of the parts that have the keys which the trace asks for, not all.

Such tables, and landing tables that nothing else reads, are empty in the session at first. Before a hop reads them, the rows of the
partitions that have the keys of its rows come in. Row ids are those of the session: rows are only ever added.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count
from typing import TYPE_CHECKING
from weakref import finalize

from warehouse.landing.parse.batches import FILE_TABLE, LandingFile, check_landing_file
from warehouse.trace.key_rows import KEYS, find_keys, have_keys, new_keys
from warehouse.transform.finished.builds import Build
from warehouse.transform.inputs.landing_tables import landing_order, landing_rows, open_landing_table
from warehouse.transform.inputs.made_elsewhere import PartFile
from warehouse.transform.sql.duck import SEARCH_PATH, connect, parquet, quote, quoted

if TYPE_CHECKING:
    import duckdb

_NUMBERS = count()  # of sessions: those of one process on one build share an instance of the engine, and its databases


def _detach(other: "duckdb.DuckDBPyConnection", name: str) -> None:
    """The session that had the database is over; a server keeps the instance."""
    other.execute(f"detach {name}")
    other.close()


class PartRows:
    """The tables `in_parts` (qualified names) and landing tables (`landing`) of a session on a build, as far as they came in."""

    def __init__(
        self, con: "duckdb.DuckDBPyConnection", build: Build, types: Mapping[str, Mapping[str, str]],
        landing: Mapping[str, Sequence[LandingFile]], landing_types: Mapping[str, Mapping[str, str]],
    ) -> None:
        self._con, self._files = con, {sha256: path for path, sha256 in build.part_files().items()}
        self._types, self._landing, self._landing_types = types, landing, landing_types
        [(own,)] = con.execute("select current_database()").fetchall()
        held = con.execute("select distinct read from state.part").fetchall()
        self.in_parts = {name for (name,) in held if name in build.parts}
        self.landing = {name for (name,) in held if name in landing and name != FILE_TABLE}  # which lineage itself reads
        self._there: dict[str, set[str]] = {name: set() for name in self.in_parts | self.landing}
        self._intact = set[tuple[str, str]]()
        ways = con.execute("select read, list(distinct columns) from state.part_way group by read").fetchall()
        # What all models read by the same columns comes in key by key, else a row could come twice: then in whole files.
        self._filters = {read: tuple(columns[0]) for read, columns in ways if len(columns) == 1 and columns[0]}
        self._own = f"wh_parts_{next(_NUMBERS)}"  # a database, in memory, of such tables: a build's is not written
        con.execute(f"attach ':memory:' as {self._own} (read_write)")
        other = connect(build.path, read_only=True)  # a cursor would be closed with its session
        finalize(con, _detach, other, self._own).atexit = False
        for name in sorted(self.in_parts):
            columns = ", ".join(f"{quote(column)} {kind}" for column, kind in types[name].items())
            con.execute(f"create schema if not exists {self._own}.{quote(name.partition('.')[0])}")
            con.execute(f"create table {self._own}.{quoted(name)} ({columns})")
        schemas = sorted({name.partition(".")[0] for name in self.in_parts})
        others = con.execute("select schema_name from duckdb_schemas() where database_name = ? order by all", [own]).fetchall()
        found = [*SEARCH_PATH.split(","), *(schema for (schema,) in others)]  # a schema that is not listed would be looked for in the first database
        places = [*(f"{self._own}.{schema}" for schema in schemas), *(f'"{own}"."{schema}"' for schema in dict.fromkeys(found))]
        con.execute(f"set search_path = '{','.join(places)}'")
        for name in self.landing:
            open_landing_table(con, name, landing_types[name], ())

    def bring(self, reader: str, wanted: str) -> None:
        """Bring in what a model's rows, whose row ids are in table `wanted`, were made of. Raises WH105, WH123."""
        for path, read, key, columns in self._con.execute(
            "select path, read, key, columns from state.part_way where reader = ? order by all", [reader]
        ).fetchall():
            if read not in self._there:
                continue
            find_keys(self._con, reader, key, wanted)
            hashed = f"select hash({', '.join(map(quote, key))}) from {KEYS}"
            files = self._files_where(read, f"task in (select task from state.part_key where path = '{path}' and key in ({hashed}))")
            if tuple(columns) == self._filters.get(read):
                self._bring_keys(read, files, key, columns)
            else:
                self._bring_files(read, files)

    def bring_all(self) -> None:
        """Bring in every row."""
        for name in sorted(self._there):
            self._bring_files(name, self._files_where(name, "true"))

    def _files_where(self, name: str, condition: str) -> list[str]:
        found = self._con.execute(f"select distinct file from state.part where read = ? and {condition} order by file", [name]).fetchall()
        return [file for (file,) in found if file not in self._there[name]]

    def _bring_files(self, name: str, files: Sequence[str]) -> None:
        there = self._there[name].union(files)
        if name in self.landing:
            open_landing_table(self._con, name, self._landing_types[name], [file for file in self._landing[name] if file.sha256 in there])
        elif files:
            self._con.execute(f"insert into {self._own}.{quoted(name)} select {self._columns(name)} from {self._rows(name, files)}")
        self._there[name] = there  # not before: where memory runs out, a second try brings them in

    def _bring_keys(self, name: str, files: Sequence[str], key: Sequence[str], columns: Sequence[str]) -> None:
        """Bring in the rows of the keys in `KEYS`, which `files` have, but for those that are there."""
        to, order = (quote(name), f" order by {', '.join(landing_order(self._landing_types[name]))}") if name in self.landing else (
            f"{self._own}.{quoted(name)}", ""
        )
        with new_keys(self._con, name) as has_some:
            if has_some and files:
                self._con.execute(
                    f"insert into {to} select {self._columns(name)} from {self._rows(name, files)} t"
                    f" where {have_keys(self._con, key, columns)}{order}"
                )

    def _columns(self, name: str) -> str:
        types = self._landing_types[name] if name in self.landing else self._types[name]
        return ", ".join(f"{quote(column)}::{kind} as {quote(column)}" for column, kind in types.items())

    def _rows(self, name: str, files: Sequence[str]) -> str:
        """SQL for the rows of some files, each checked once."""
        new = [file for file in files if (name, file) not in self._intact]
        self._intact.update((name, file) for file in new)
        if name in self.landing:
            found = [file for file in self._landing[name] if file.sha256 in set(files)]
            for file in found:
                if file.sha256 in new:
                    check_landing_file(file)
            return f"({landing_rows(found)})"
        for sha256 in new:
            PartFile(self._files[sha256], sha256).check()
        return parquet(self._files[sha256] for sha256 in files)  # the files that were checked
