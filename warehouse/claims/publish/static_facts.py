"""What a query's SQL alone establishes: its guarantees, the clauses at which ties are tried, and how exactly each column is
determined. Every verification works it out again: a remembered answer would not be authenticated.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from warehouse.claims.publish.guarantees import guarantees
from warehouse.claims.publish.operations import determinism_of
from warehouse.claims.publish.tie_probe import tied_clauses

if TYPE_CHECKING:
    from warehouse.trace.catalog import Catalog


@dataclass(frozen=True)
class Established:
    """The documents that a publication has of its query: its guarantees, the clauses tried for ties by table, and the
    exactness of some columns."""

    guarantees: Mapping[str, Any]
    ties_tried: Mapping[str, int]
    columns: Mapping[str, Any]


def establish(catalog: "Catalog", query: str, tolerances: Mapping[str, float], columns: Collection[str]) -> Established:
    """What the SQL of a query, and of every table under it, tells of these columns. Reads no data."""
    exactness = determinism_of(catalog, query, tolerances, columns)
    return Established(
        guarantees(catalog, catalog.models[f"rollup.{query}"]), tied_clauses(catalog, query),
        {name: column.document() for name, column in exactness.items()},
    )
