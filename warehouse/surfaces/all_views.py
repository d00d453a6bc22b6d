"""The one table of views: pages, the API and MCP tools are made from it."""

from __future__ import annotations

from warehouse.surfaces.view import View
from warehouse.surfaces.views import (
    audit,
    changes,
    compare,
    evidence,
    evidence_file,
    explore,
    ingest,
    number,
    numbers,
    publication,
    publications,
    run,
    runs,
    sql,
)

VIEWS: tuple[View, ...] = (
    *changes.VIEWS,
    *explore.VIEWS,
    *compare.VIEWS,
    *runs.VIEWS,
    *run.VIEWS,
    *numbers.VIEWS,
    *number.VIEWS,
    *publications.VIEWS,
    *publication.VIEWS,
    *evidence.VIEWS,
    *evidence_file.VIEWS,
    *ingest.VIEWS,
    *audit.VIEWS,
    *sql.VIEWS,
)


def view_named(name: str) -> View:
    """Raises KeyError for a name that no view has."""
    return {view.name: view for view in VIEWS}[name]
