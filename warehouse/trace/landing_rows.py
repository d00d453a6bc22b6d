"""Landing tables of a trace of one cell, each opened before the first hop that reads it: the way of a cell to its bytes leads through few of
them. Of a large table only those rows come in that have the keys of the rows which a hop follows, as long as all models on the way read it by
the same columns."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from warehouse.landing.parse.batches import LandingFile, check_landing_file
from warehouse.trace.key_rows import find_keys, have_keys, new_keys
from warehouse.transform.inputs.landing_tables import landing_order, landing_rows, open_landing_table
from warehouse.transform.sql.duck import quote

if TYPE_CHECKING:
    import duckdb

_LARGE = 100_000  # rows: a smaller table is read whole as fast as keys are looked for

Way = tuple[Sequence[str], Sequence[str]]  # columns of a model, and those of a landing table that are the same


class LandingRows:
    """`waiting` are the landing tables that nothing has read in a session so far. `ways` has, by qualified name of a model and landing table,
    by which columns the model reads it."""

    def __init__(
        self, con: "duckdb.DuckDBPyConnection", types: Mapping[str, Mapping[str, str]], files: Mapping[str, Sequence[LandingFile]],
        ways: Mapping[tuple[str, str], Way],
    ) -> None:
        self._con, self._types, self._files = con, types, files
        self._ways = {way: found for way, found in ways.items() if sum(file.rows for file in files.get(way[1], ())) >= _LARGE}
        self.waiting = set(files)
        self._by_key: dict[str, Sequence[str]] = {}  # tables of which some rows are there: by these columns

    def open(self, tables: Collection[str], reader: str = "", wanted: str = "") -> None:
        """Make those of the tables readable that are not: what the rows of a model were made of whose row ids are in table `wanted`.
        Raises WH123."""
        for table in sorted((self.waiting | self._by_key.keys()) & set(tables)):
            key, columns = self._ways.get((reader, table), ((), ()))
            if columns and self._by_key.get(table, columns) == columns:
                self._bring(table, columns, reader, key, wanted)
            else:
                open_landing_table(self._con, table, self._types[table], self._files[table])
                self._by_key.pop(table, None)
            self.waiting.discard(table)

    def _bring(self, table: str, columns: Sequence[str], reader: str, key: Sequence[str], wanted: str) -> None:
        types, files = self._types[table], self._files[table]
        if table not in self._by_key:
            for file in files:
                check_landing_file(file)
            open_landing_table(self._con, table, types, ())
            self._by_key[table] = columns
        find_keys(self._con, reader, key, wanted)
        with new_keys(self._con, table) as has_some:
            if has_some:
                self._con.execute(
                    f"insert into {quote(table)} select {', '.join(map(quote, types))} from ({landing_rows(files)}) t"
                    f" where {have_keys(self._con, key, columns)} order by {', '.join(landing_order(types))}"
                )
