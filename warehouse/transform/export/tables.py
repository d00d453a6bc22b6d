"""`wh tables` and `wh describe`: what can be queried, from the current build; from the project's files where nothing is built yet."""

from __future__ import annotations

import re
from dataclasses import dataclass

from warehouse.errors import ExitCode, WarehouseError, did_you_mean
from warehouse.project.project import Project
from warehouse.transform.finished.builds import Build, find_current, not_in_build
from warehouse.transform.project.model import PUBLIC_SCHEMAS


@dataclass(frozen=True)
class TableSummary:
    """A table: its bare name, and how many rows it has; None for a view and where nothing is built."""

    schema: str
    table: str
    kind: str
    rows: int | None
    description: str

    @property
    def is_internal(self) -> bool:
        return self.schema not in PUBLIC_SCHEMAS


@dataclass(frozen=True)
class ColumnSummary:
    """A column with its type in SQL, and what its model's header states; empty where that states nothing."""

    name: str
    type: str
    unit: str | None
    description: str


@dataclass(frozen=True)
class TableDescription:
    """A table with its columns, the columns that identify a row, and its model's SQL without the header."""

    summary: TableSummary
    grain: tuple[str, ...]
    columns: tuple[ColumnSummary, ...]
    sql: str


def list_tables(project: Project) -> list[TableSummary]:
    """All tables, internal ones too, by schema and name. Raises WH2xx where nothing is built and the project does not check."""
    build = find_current(project)
    found = _built(build) if build else [each.summary for each in _written(project)]
    return sorted(found, key=lambda each: (each.is_internal, each.schema, each.table))


def describe_table(project: Project, name: str) -> TableDescription:
    """A table by its name, with or without its schema; case does not matter. Raises WH203 for an unknown one."""
    build = find_current(project)
    found = {} if build else {each.summary: each for each in _written(project)}
    summaries = _built(build) if build else list(found)
    wanted = name.lower()
    # If two have one bare name, such as a feed and its collector, the public one.
    for summary in sorted(summaries, key=lambda each: each.is_internal):
        if wanted in (summary.table.lower(), f"{summary.schema}.{summary.table}".lower()):
            return _described(build, summary) if build else found[summary]
    known = {each.table for each in summaries}
    hint = not_in_build(project, wanted.rpartition(".")[2]) or did_you_mean(wanted.rpartition(".")[2], sorted(known)) or "wh tables lists the tables"
    raise WarehouseError("WH203", "there is no such table", name, hint, ExitCode.NOT_FOUND)


def _built(build: Build) -> list[TableSummary]:
    from warehouse.transform.finished.query import open_build

    con = open_build(build.path)
    try:
        rows = con.execute(
            "select m.schema_name, m.name, m.materialized, r.rows, m.description from catalog.model as m"
            " left join catalog.model_result as r on r.model = m.schema_name || '.' || m.name"
        ).fetchall()
    finally:
        con.close()
    return [TableSummary(schema, table, kind, count, description or "") for schema, table, kind, count, description in rows]


def _described(build: Build, summary: TableSummary) -> TableDescription:
    from warehouse.transform.finished.query import open_build

    con = open_build(build.path)
    try:
        key = [summary.schema, summary.table]
        ((grain, sql),) = con.execute("select grain, sql from catalog.model where schema_name = ? and name = ?", key).fetchall()
        # Without what a build adds to a rollup.
        columns = con.execute(
            "select c.column_name, c.data_type, d.unit, d.description from duckdb_columns() as c"
            " join catalog.model_column as d using (schema_name, table_name, column_name)"
            " where c.schema_name = ? and c.table_name = ? order by c.column_index", key,
        )
        return TableDescription(summary, tuple(grain), tuple(ColumnSummary(*column) for column in columns.fetchall()), _body(sql))
    finally:
        con.close()


def _body(text: str) -> str:
    return re.sub(r"\A\s*/\*.*?\*/\s*", "", text, count=1, flags=re.DOTALL).rstrip()


def _written(project: Project) -> list[TableDescription]:
    """The tables that a build would make."""
    from warehouse.transform.export.describe import describe_project

    return [
        TableDescription(
            TableSummary(table.schema, table.bare_name, table.kind, None, table.description), table.model.grain,
            tuple(ColumnSummary(each.name, each.type, each.unit, each.description) for each in table.columns.values()), _body(table.model.text),
        )
        for table in describe_project(project).tables.values() if table.model
    ]
