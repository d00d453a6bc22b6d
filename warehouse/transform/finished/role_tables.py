"""The tables of a finished build that have a role for the engine (`role` in a model's header)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from warehouse.transform.finished.query import read_query
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
    sql = (
        "select model.*, list(held.column_name) as columns from catalog.model as model inner join information_schema.columns as held"
        " on held.table_schema = model.schema_name and held.table_name = model.name group by all"
    )
    with read_query(build, sql) as result:
        names = [column[0] for column in result.description]
        models = [dict(zip(names, row, strict=True)) for row in result.fetchall()]
    # A build of an earlier version has no column `role`.
    found = next((model for model in models if model.get("role") == role), None)
    return RoleTable(f"{found['schema_name']}.{found['name']}", frozenset(found["columns"])) if found else None
