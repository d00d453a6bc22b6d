"""The tables of a finished build that have a role for the engine (`role` in a model's header)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
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
    path = build.resolve()
    try:
        found = path.stat()
        stamp = found.st_mtime_ns, found.st_size
    except OSError:
        stamp = 0, 0  # opening it reports why
    return _role_tables(path, stamp).get(role)


@lru_cache(maxsize=16)  # a finished build never changes, and opening one takes 35 ms: a comparison asks for three roles
def _role_tables(build: Path, stamp: tuple[int, int]) -> Mapping[str, RoleTable]:
    """The tables of all roles."""
    import duckdb

    con = open_build(build)
    try:
        try:
            listed = con.execute("select role, schema_name || '.' || name from catalog.model where role is not null order by rowid").fetchall()
        except duckdb.BinderException:  # a build of an earlier version has no column `role`
            return {}
        found: dict[str, RoleTable] = {}
        for role, table in listed:
            if role not in found:
                try:
                    columns = con.execute(f"from {quoted(table)} limit 0").description
                except duckdb.CatalogException:
                    continue
                found[role] = RoleTable(table, frozenset(column[0] for column in columns))
        return found
    finally:
        con.close()
