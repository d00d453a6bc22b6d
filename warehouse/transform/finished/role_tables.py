"""The tables of a finished build that have a role for the engine (`role` in a model's header)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from warehouse.transform.finished.query import open_build
from warehouse.transform.sql.duck import quoted


@dataclass(frozen=True)
class RoleTable:
    """A table by its qualified name, and its columns."""

    name: str
    columns: frozenset[str]

    @property
    def sql(self) -> str:
        return quoted(self.name)


def role_table(build: Path, role: str) -> RoleTable | None:
    """The table of a build's database that has a role. None where none has, or the build holds no rows of it, as of a view over files.
    Raises WH218."""
    import duckdb

    con = open_build(build)
    try:
        try:
            tables = con.execute("select schema_name || '.' || name from catalog.model where role = ? order by rowid", [role]).fetchall()
        except duckdb.BinderException:  # a build of an earlier version has no column `role`
            return None
        for (table,) in tables:
            try:
                columns = con.execute(f"from {quoted(table)} limit 0").description
            except duckdb.CatalogException:
                continue
            return RoleTable(table, frozenset(column[0] for column in columns))
        return None
    finally:
        con.close()
