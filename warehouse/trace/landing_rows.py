"""Landing tables of a trace of one cell, each opened before the first hop that reads it: to open one takes as long as it has rows, and
the way of a cell to its bytes leads through few of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from warehouse.landing.parse.batches import LandingFile
from warehouse.transform.inputs.landing_tables import open_landing_table

if TYPE_CHECKING:
    import duckdb


class LandingRows:
    """`waiting` are the landing tables that nothing has read in a session so far."""

    def __init__(
        self, con: "duckdb.DuckDBPyConnection", types: Mapping[str, Mapping[str, str]], files: Mapping[str, Sequence[LandingFile]]
    ) -> None:
        self._con, self._types, self._files = con, types, files
        self.waiting = set(files)

    def open(self, tables: Collection[str]) -> None:
        """Make those of the tables readable that are not. Raises WH123."""
        for table in sorted(self.waiting.intersection(tables)):
            open_landing_table(self._con, table, self._types[table], self._files[table])
            self.waiting.discard(table)
