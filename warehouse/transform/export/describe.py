"""Reads a project, and its last build when there is one, into a `ProjectDescription`. It builds nothing."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from warehouse.project.project import Project
from warehouse.transform.export.description import (
    STATUS_OF_ACTION,
    BuildOutcome,
    ColumnLineage,
    ModelOutcome,
    ProjectDescription,
    PromiseOutcome,
    Sample,
    Table,
)
from warehouse.transform.finished.builds import Build, find_current
from warehouse.transform.project.model import RESERVED_COLUMNS
from warehouse.transform.sql.duck import quote, quoted

if TYPE_CHECKING:
    import duckdb

    from warehouse.transform.lineage.columns import ColumnGraph

_SAMPLE_ROWS = 3


def describe_project(project: Project) -> ProjectDescription:
    """The project as its files say it, without any build. Raises WH2xx where it does not check."""
    from warehouse.transform.check.project_check import check_project
    from warehouse.transform.inputs.landing_tables import project_landing_types
    from warehouse.transform.lineage.columns import column_graph

    landing = project_landing_types(project)
    checked = check_project(project, landing).sound()
    return ProjectDescription(project.name, checked, landing, _lineage(column_graph(checked, landing, project.root)))


def _lineage(graph: "ColumnGraph") -> ColumnLineage:
    """What each column itself is made of; what decides a table's rows is the same for all its columns and left out."""
    from warehouse.transform.lineage.columns import CONDITION
    from warehouse.transform.lineage.derived import ROWS

    return {
        (column.table, column.column): [
            (edge.source.table, edge.source.column, "condition" if edge.kind == CONDITION else "value")
            for edge in edges if edge.source.column != ROWS
        ]
        for column, edges in graph.sources.items() if column.column != ROWS
    }


def with_current_build(project: Project, description: ProjectDescription) -> ProjectDescription:
    """The description with the outcome of the current build and a few rows of its tables, if there is one. A model that has been edited
    since is left out: what is in the build is not what the project says now."""
    from warehouse.transform.finished.query import open_build

    build = find_current(project)
    if build is None:
        return description
    con = open_build(build.path)
    try:
        outcome = _outcome(con, build, description)
        return replace(description, last_build=outcome, samples=_samples(con, [description.tables[each.name] for each in outcome.models]))
    finally:
        con.close()


def _outcome(con: "duckdb.DuckDBPyConnection", build: Build, description: ProjectDescription) -> BuildOutcome:
    built = dict(con.execute("select schema_name || '.' || name, sql from catalog.model").fetchall())
    models = con.execute("select model, action, seconds, rows, reason from catalog.model_result").fetchall()
    tests = con.execute("select test, status, failing_rows, seconds from catalog.test_result").fetchall()
    same = {
        table.name for table in description.tables.values() if table.model and built.get(table.name) == table.model.text
    }
    promised = {promise.name: table.name for table in description.tables.values() for promise in table.promises}
    ended_at = datetime.fromtimestamp(build.path.stat().st_mtime, UTC)
    return BuildOutcome(
        build.digest, ended_at - timedelta(seconds=sum(row[2] for row in models) + sum(row[3] for row in tests)), ended_at,
        tuple(
            ModelOutcome(name, STATUS_OF_ACTION[action], seconds, rows, reason)
            for name, action, seconds, rows, reason in models if name in same
        ),
        tuple(
            PromiseOutcome(name, "error" if status == "fail" else status, failures)
            for name, status, failures, _ in tests if promised.get(name) in same
        ),
    )


def _samples(con: "duckdb.DuckDBPyConnection", tables: list[Table]) -> dict[str, Sample]:
    """The first rows of each table by its grain; as they lie, where none is declared and in a view, which would be read whole."""
    stored = {row[0] for row in con.execute("select schema_name || '.' || table_name from duckdb_tables()").fetchall()}
    viewed = {row[0] for row in con.execute("select schema_name || '.' || view_name from duckdb_views()").fetchall()}
    found = {}
    for table in tables:
        if table.name in stored | viewed:
            grain = ", ".join(map(quote, table.model.grain)) if table.model and table.name in stored else ""
            result = con.execute(f"from {quoted(table.name)} {f'order by {grain}' if grain else ''} limit {_SAMPLE_ROWS}")
            kept = [place for place, column in enumerate(result.description) if column[0] not in RESERVED_COLUMNS]
            found[table.name] = Sample(
                tuple(result.description[place][0] for place in kept),
                tuple(tuple(row[place] for place in kept) for row in result.fetchall()),
            )
    return found
