"""The rows that a cell's value was computed from: table by table, from the query down to the landing rows and their bytes.

They are those of the current build. A publication keeps files and byte ranges only, so the rows of a published number can
be shown as long as the current build holds that very number.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from warehouse.claims.numbers.lineage import Lineage
from warehouse.claims.numbers.search import current_cell
from warehouse.project.project import Project
from warehouse.transform.sql.duck import quote, quoted, text_literal

if TYPE_CHECKING:
    import duckdb

    from warehouse.trace.catalog import Catalog

_WHOLE_ROW = "*"
# What names a landing row, as far as its table has these columns: its place in a raw file, or the event of a decision.
_LANDING_KEY = ("artifact_manifest_digest", "raw_path", "raw_offset", "raw_length", "event_key", "event_sha256")


@dataclass(frozen=True)
class ReadRow:
    """A row that was read: the values that name it (the table's grain, or its `run_id`; of a landing row the manifest digest,
    path, offset and length of its bytes, or the event of a decision), and those of its columns that the cell's value was computed from. None of these
    is in `values` when the row counts as such, as for `count(*)`."""

    key: Mapping[str, Any]
    values: Mapping[str, Any]


@dataclass(frozen=True)
class ReadTable:
    """A table (`schema.name`, or a landing table's name) and its rows that were read, in their order there."""

    table: str
    is_landing: bool
    rows: tuple[ReadRow, ...]


@dataclass(frozen=True)
class CellRows:
    """The tables on the way from a cell to the bytes, nearest to the query first, landing tables last; the build that holds
    them, and the `query_spec_digest` that its rollup has."""

    build_digest: str
    query_spec_digest: str
    tables: tuple[ReadTable, ...]


def cell_rows(project: Project, number: Lineage) -> CellRows | None:
    """The rows under a number in the current build; None when that does not hold it. Raises WH306 (it cannot be traced),
    WH218 and WH123 (the build or its landing is not what was made)."""
    from warehouse.trace.catalog import open_trace_session
    from warehouse.trace.tracing import trace
    from warehouse.transform.finished.builds import current_build

    now = current_cell(project, number.query, number.grain, number.column)
    if now is None or now.rowid is None or now.cell.number_id != number.number_id:
        return None
    build = current_build(project)
    con, catalog = open_trace_session(build, project.store_root, is_of_cell=True)
    try:
        traced = trace(con, catalog, number.query, [number.column], [now.rowid], keeps_landing_rows=True)
        found = [_model_rows(con, catalog, name) for name in reversed(list(catalog.models)) if name in traced.demanded]
        unread = catalog.landing.waiting if catalog.landing else ()
        found += [_landing_rows(con, catalog, name) for name in catalog.landing_types if name not in unread]
    finally:
        con.close()
    tables = tuple(table for table in found if table.rows)
    return CellRows(build.digest, catalog.models[f"rollup.{number.query}"].digest, tables)


def _model_rows(con: "duckdb.DuckDBPyConnection", catalog: "Catalog", name: str) -> ReadTable:
    from warehouse.trace.tracing import demand_table

    columns = catalog.columns[name]
    keys = catalog.models[name].grain or tuple(column for column in columns if column == "run_id")
    demanded = f"select rid, list(distinct c::varchar order by c::varchar) as read from {demand_table(name)} group by rid"
    rows = _rows(con, f"{quoted(name)} t join ({demanded}) d on t.rowid = d.rid", columns, "d.rid")
    return _table(name, False, keys, rows)


def _landing_rows(con: "duckdb.DuckDBPyConnection", catalog: "Catalog", name: str) -> ReadTable:
    from warehouse.trace.trace_step import content_of
    from warehouse.trace.tracing import LANDING_DEMAND

    columns = tuple(catalog.landing_types[name])
    key = tuple(column for column in _LANDING_KEY if column in columns)
    demanded = (
        f"select content, list(distinct c::varchar order by c::varchar) as read from {LANDING_DEMAND}"
        f" where tab = {text_literal(name)} group by content"
    )
    source = f"{quote(name)} t join ({demanded}) d on {content_of('t', columns)} = d.content"
    return _table(name, True, key, _rows(con, source, columns, ", ".join(f"t.{part}" for part in key)))


def _rows(
    con: "duckdb.DuckDBPyConnection", source: str, columns: tuple[str, ...], order: str
) -> list[tuple[list[str], dict[str, Any]]]:
    """The columns that were read of each row, and the row by column."""
    listed = ", ".join(f"t.{quote(column)}" for column in columns)
    found = con.execute(f"select d.read, {listed} from {source} order by {order}").fetchall()
    return [(read, dict(zip(columns, row, strict=True))) for read, *row in found]


def _table(name: str, is_landing: bool, keys: tuple[str, ...], rows: list[tuple[list[str], dict[str, Any]]]) -> ReadTable:
    found = (
        ReadRow({key: row[key] for key in keys}, {column: row[column] for column in read if column != _WHOLE_ROW})
        for read, row in rows
    )
    return ReadTable(name, is_landing, tuple(found))
