"""The one table of views: pages, the API and MCP tools are made from it."""

from __future__ import annotations

from warehouse.surfaces.view import View
from warehouse.surfaces.views import catalogue, changes, compare, dimensions, explore, frontier, number, publications, run, runs, serving, sql

VIEWS: tuple[View, ...] = (
    *changes.VIEWS,
    *explore.VIEWS,
    *compare.VIEWS,
    *runs.VIEWS,
    *run.VIEWS,
    *frontier.VIEWS,
    *serving.VIEWS,
    *number.VIEWS,
    *publications.VIEWS,
    *dimensions.VIEWS,
    *catalogue.VIEWS,
    *sql.VIEWS,
)


def view_named(name: str) -> View:
    """Raises KeyError for a name that no view has."""
    return {view.name: view for view in VIEWS}[name]
