"""A session of the engine that runs out of memory again and again, for tests of what is left when it does."""

from __future__ import annotations

import duckdb


class ShortOfMemory:
    """Every statement fails once, but for the one that undoes what was begun."""

    def __init__(self, con: duckdb.DuckDBPyConnection) -> None:
        self._con, self._failed = con, set[str]()

    def execute(self, sql: str, *parameters: object) -> duckdb.DuckDBPyConnection:
        if sql != "rollback" and sql not in self._failed:
            self._failed.add(sql)
            raise duckdb.OutOfMemoryException("no memory")
        return self._con.execute(sql, *parameters)
