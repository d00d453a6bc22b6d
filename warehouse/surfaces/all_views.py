"""The one table of views: pages, the API and MCP tools are made from it."""

from __future__ import annotations

from warehouse.surfaces.view import View
from warehouse.surfaces.views import changes, compare, explore, number, publications, run, runs, sql

VIEWS: tuple[View, ...] = (
    *changes.VIEWS,
    *explore.VIEWS,
    *compare.VIEWS,
    *runs.VIEWS,
    *run.VIEWS,
    *number.VIEWS,
    *publications.VIEWS,
    *sql.VIEWS,
)


def view_named(name: str) -> View:
    """Raises KeyError for a name that no view has."""
    return {view.name: view for view in VIEWS}[name]
