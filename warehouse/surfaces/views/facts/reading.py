"""Rows of a build's tables, by key. A project may lack any of the tables: then there are no rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from warehouse.analysis.metric_names import MetricNames, metric_names
from warehouse.surfaces.view import Visit
from warehouse.transform.finished.query import open_build
from warehouse.transform.finished.role_tables import RoleTable
from warehouse.transform.sql.duck import quoted

if TYPE_CHECKING:
    import duckdb


_METRIC_NAMES = "metric names"


@dataclass
class Reader:
    """A read-only session on the build of a visit."""

    con: "duckdb.DuckDBPyConnection"
    visit: Visit

    @cached_property
    def metric_names(self) -> MetricNames:
        return self.visit.of_build(_METRIC_NAMES, lambda: metric_names(self.con))

    def rows(self, sql: str, parameters: Sequence[Any] | Mapping[str, Any] = ()) -> list[dict[str, Any]]:
        found = self.con.execute(sql, parameters if isinstance(parameters, Mapping) else list(parameters))
        names = [column[0] for column in found.description]
        return [dict(zip(names, row, strict=True)) for row in found.fetchall()]

    def columns(self, table: str) -> frozenset[str]:
        """The columns of a table, as in `main.workload_dim`; empty where the build has no such table."""
        return self.visit.of_build("columns", self._all_columns).get(table, frozenset())

    def _all_columns(self) -> dict[str, frozenset[str]]:
        sql = "select schema_name || '.' || table_name, list(column_name) from duckdb_columns() where not internal group by 1"
        return {name: frozenset(columns) for name, columns in self.con.execute(sql).fetchall()}

    def role(self, role: str) -> RoleTable | None:
        if "role" not in self.columns("catalog.model"):  # a build of an earlier version
            return None
        found = self.con.execute("select schema_name || '.' || name from catalog.model where role = ?", [role]).fetchone()
        return RoleTable(found[0], self.columns(found[0])) if found and self.columns(found[0]) else None

    def by_key(self, table: str, column: str, value: Any, limit: int = 1000) -> list[dict[str, Any]]:
        """The rows of a table in which a column has a value; none where the build has no such table or column."""
        if column not in self.columns(table):
            return []
        return self.rows(f'select * from {quoted(table)} where "{column}" = ? order by all limit {limit}', [value])

    def grain(self, table: str) -> frozenset[str]:
        """The columns that identify a row of a table, as its model states them."""
        schema, _, name = table.rpartition(".")
        found = self.con.execute("select grain from catalog.model where schema_name = ? and name = ?", [schema, name]).fetchone()
        return frozenset(found[0] if found and found[0] else ())

    def described(self, table: str) -> Mapping[str, tuple[str | None, str]]:
        """Unit and description of each column of a table, as its model states them."""
        schema, _, name = table.rpartition(".")
        found = self.con.execute(
            "select column_name, unit, description from catalog.model_column where schema_name = ? and table_name = ?", [schema, name]
        ).fetchall()
        return {column: (unit, description or "") for column, unit, description in found}


def metric_names_of(visit: Visit) -> MetricNames:
    """The names of metrics in the build of a visit, which is opened only if nobody asked before; none without a build. Raises WH218."""
    if visit.build is None:
        return MetricNames()

    def read() -> MetricNames:
        with reader(visit) as found:
            return metric_names(found.con)

    return visit.of_build(_METRIC_NAMES, read)


@contextmanager
def reader(visit: Visit) -> Iterator[Reader]:
    """Raises WH218."""
    assert visit.build
    con = open_build(visit.build.path)
    try:
        yield Reader(con, visit)
    finally:
        con.close()
