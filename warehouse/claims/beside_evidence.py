"""A published number is a function of evidence alone. Who signed it is not evidence: no replay has it, so no claim may use it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from warehouse.errors import WarehouseError

if TYPE_CHECKING:
    from warehouse.transform.columns import ColumnGraph

SIGNING_TABLE = "evidence_signing"
_COLUMNS = frozenset(("signing_state", "key_id", "key_name", "reason"))


def refuse_signing_state(
    query: str, specification: Mapping[str, Any], landing_types: Mapping[str, Mapping[str, str]], place: str
) -> None:
    """Raise WH306 where a query's values or rows depend on what signatures were found to be; a model under it that merely
    shows it is no harm. Costs nothing where no model reads the signatures."""
    documents = [specification["document"], *specification["models"].values()]
    if not any(leaf["table"] == SIGNING_TABLE for document in documents for leaf in document["landing"]):
        return
    from warehouse.claims.recorded import sound_project
    from warehouse.transform.columns import column_graph

    fault = signing_state_fault(query, column_graph(sound_project(specification, landing_types), landing_types), place)
    if fault:
        raise fault


def signing_state_fault(query: str, graph: "ColumnGraph", place: str) -> WarehouseError | None:
    """The WH306 of a query whose values or rows depend on signatures; None where they do not."""
    from warehouse.transform.derived import ROWS, ColumnRef

    table = f"rollup.{query}"
    for column in (*graph.columns[table], ROWS):
        for edge in graph.walk(ColumnRef(table, column)):
            if edge.source.table == SIGNING_TABLE and edge.source.column in _COLUMNS:
                what = "which rows it has" if column == ROWS else column
                return WarehouseError(
                    "WH306", f"{what} depends on {edge.source}, which is no evidence: no replay could give it", place,
                    "to publish signed evidence only, set [publication] require_signatures = true",
                )
    return None
