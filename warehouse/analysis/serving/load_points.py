"""The points of load curves in a finished build: the table that has the role, and which of its rows a person means."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from warehouse.analysis.sides import conditions
from warehouse.errors import ExitCode, WarehouseError, printable
from warehouse.transform.finished.builds import Build
from warehouse.transform.finished.role_tables import RoleTable, role_table
from warehouse.transform.project.model import LOAD_POINTS
from warehouse.transform.sql.duck import quote, text_literal

if TYPE_CHECKING:
    import duckdb

# Points compete, and curves are compared, where these are equal, as far as a table has them.
SCOPE = ("model", "input_length", "output_length", "precision")
_OFFERED = 8  # values of a column
_COUNTED = ("succeeded", "unknown")  # the statuses of a run that has a result
_LABELS = ("framework", "framework_version", "accelerator", "accelerator_count", "deployment_model")


def load_points(build: Build) -> RoleTable:
    """The table of a build that has them. Raises WH521 where none has, WH218."""
    if table := role_table(build.path, LOAD_POINTS):
        return table
    hint = f"give a model of one row per run and load `role: {LOAD_POINTS}` (docs/models.md)"
    raise WarehouseError("WH521", "no table has the points of load curves", build.path.name, hint)


def column_of(table: RoleTable, name: str) -> str:
    """The name of a column that a person typed. Raises WH522 where the table has none of that name."""
    if name not in table.columns:
        similar = get_close_matches(name, sorted(table.columns), 3)
        hint = f"did you mean {' or '.join(similar)}?" if similar else f"wh describe {table.name} lists its columns"
        raise WarehouseError("WH522", f"{table.name} has no column {printable(name)}", printable(name), hint, ExitCode.NOT_FOUND)
    return name


def chosen(table: RoleTable, where: str | None) -> str:
    """`name=value,name!=value`, with * in values, as SQL on a row `p`. Raises WH502, WH522."""
    clauses = [
        f"coalesce(p.{quote(column_of(table, name))}::varchar glob {text_literal(value)}, false) is {'false' if is_negated else 'true'}"
        for name, is_negated, value in (conditions(where) if where else ())
    ]
    return " and ".join(clauses) or "true"


def no_point(
    con: "duckdb.DuckDBPyConnection", table: RoleTable, where: str | None, slo: str | None = None, models: str | None = None
) -> WarehouseError:
    """The error (WH522) of a question that no point matches, with the way out: other values, or how to get points at all. `models`: the
    pattern of those that an `slo` is for."""
    hint = f"the SLO is for models like {printable(models)}" if models else "name fewer conditions, or other ones"
    if not con.execute(f"select 1 from {table.sql} limit 1").fetchall():
        hint = "this build has no run of a served model; to bring results: wh ingest PATH; wh build"
    for name, _, _ in conditions(where) if where else ():
        column = quote(column_of(table, name))
        found = con.execute(f"select {column}::varchar from {table.sql} where {column} is not null group by 1 order by count(*) desc, 1").fetchall()
        if found:
            values = "; ".join(printable(value) for (value,) in found[:_OFFERED])
            hint = f"{name} has the values: {values}" + (f" and {len(found) - _OFFERED} more" if len(found) > _OFFERED else "")
            break
    return WarehouseError("WH522", "no point matches", printable(where or slo or table.name), hint, ExitCode.NOT_FOUND)


def uncounted(row: Mapping[str, Any]) -> str | None:
    """Why a row does not count as a point, whatever is asked of it. Returns None if it counts."""
    if row["status"] not in _COUNTED:
        return str(row["status"])
    return "the same measurement as another run" if row.get("copy_of") else None


def has_result() -> str:
    """Whether a row `p` is of a run that has a result, as SQL."""
    return f"p.status in ({', '.join(map(text_literal, _COUNTED))})"


def labels(row: Mapping[str, Any]) -> dict[str, Any]:
    """What says which configuration a row is of, for people."""
    return {name: row[name] for name in _LABELS if row.get(name) is not None}
