"""Reads a project, and its last build when there is one, into a `ProjectDescription`. It builds nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from warehouse.project import Project
from warehouse.transform.builds import Build, find_current
from warehouse.transform.description import BuildOutcome, ModelOutcome, ProjectDescription, PromiseOutcome

if TYPE_CHECKING:
    import pyarrow as pa



def describe_project(project: Project) -> ProjectDescription:
    """The project as its files say it, without any build. Raises WH2xx where it does not check."""
    from warehouse.landing.batches import schemas
    from warehouse.landing.registry import load_ingestors
    from warehouse.transform.check import check
    from warehouse.transform.model import load_models, load_queries

    landing = schemas(load_ingestors(project))
    checked = check(load_models(project), load_queries(project), landing)
    return ProjectDescription(project.name, checked, landing_columns(landing))


def with_current_build(project: Project, description: ProjectDescription) -> ProjectDescription:
    """The description with the outcome of the current build, if there is one."""
    build = find_current(project)
    return replace(description, last_build=outcome_of(build, description)) if build else description


def landing_columns(schemas: Mapping[str, "pa.Schema"]) -> dict[str, dict[str, str]]:
    """The engine's types of every landing table's columns."""
    from warehouse.transform.check import arrow_types
    from warehouse.transform.duck import connect

    con = connect()
    try:
        return {table: arrow_types(con, schema) for table, schema in schemas.items()}
    finally:
        con.close()


def outcome_of(build: Build, description: ProjectDescription) -> BuildOutcome:
    """What a finished build says of itself: its tables' rows, and that every test held, for else it would not stand.
    A model that has been edited since is left out: what is in the build is not what the project says now."""
    from warehouse.transform.duck import quoted
    from warehouse.transform.query import open_build

    con = open_build(build.path)
    try:
        built = dict(con.execute("select schema_name || '.' || name, sql from catalog.model").fetchall())
        same = [
            table
            for table in description.tables.values()
            if table.model and built.get(table.name) == table.model.text
        ]
        rows = {
            table.name: con.execute(f"select count(*) from {quoted(table.name)}").fetchall()[0][0]
            for table in same
            if table.kind != "view"  # a view is counted by running it
        }
    finally:
        con.close()
    ended_at = datetime.fromtimestamp(build.path.stat().st_mtime, UTC)
    return BuildOutcome(
        build.digest,
        ended_at,
        ended_at,
        tuple(ModelOutcome(table.name, "built", rows=rows.get(table.name)) for table in same),
        tuple(PromiseOutcome(table.name, promise.text, "pass") for table in same for promise in table.promises),
    )
