"""The one table of views: pages, the API and MCP tools are made from it."""

from __future__ import annotations

from warehouse.surfaces.view import View
from warehouse.surfaces.views import sql
from warehouse.surfaces.views.analysis import campaigns, changes, compare, explain, explore, freshness, frontier, serving
from warehouse.surfaces.views.claims import number, numbers, publication, publications
from warehouse.surfaces.views.evidence import audit, bundles, file, ingest
from warehouse.surfaces.views.facts import catalogue, dimensions, run, runs
from warehouse.surfaces.views.overview import overview
from warehouse.surfaces.views.results import results

VIEWS: tuple[View, ...] = (
    *overview.VIEWS,
    *changes.VIEWS,
    *results.VIEWS,
    *explore.VIEWS,
    *compare.VIEWS,
    *explain.VIEWS,
    *freshness.VIEWS,
    *runs.VIEWS,
    *run.VIEWS,
    *frontier.VIEWS,
    *serving.VIEWS,
    *campaigns.VIEWS,
    *numbers.VIEWS,
    *number.VIEWS,
    *publications.VIEWS,
    *publication.VIEWS,
    *bundles.VIEWS,
    *file.VIEWS,
    *ingest.VIEWS,
    *audit.VIEWS,
    *dimensions.VIEWS,
    *catalogue.VIEWS,
    *sql.VIEWS,
)


def view_named(name: str) -> View:
    """Raises KeyError for a name that no view has."""
    return {view.name: view for view in VIEWS}[name]
