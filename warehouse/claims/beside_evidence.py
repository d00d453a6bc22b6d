"""A published number is a function of evidence alone. Who signed it is not evidence: no replay has it, so no claim may use it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from warehouse.errors import WarehouseError

_TABLE = "evidence_signing"
_COLUMNS = frozenset(("signing_state", "key_id", "key_name", "reason"))


def refuse_signing_state(
    query: str, specification: Mapping[str, Any], landing_types: Mapping[str, Mapping[str, str]], place: str
) -> None:
    """Raise WH306 where a query's values or rows depend on what signatures were found to be; a model under it that merely
    shows it is no harm. Costs nothing where no model reads the signatures."""
    documents = [specification["document"], *specification["models"].values()]
    if not any(leaf["table"] == _TABLE for document in documents for leaf in document["landing"]):
        return
    from warehouse.claims.recorded import sound_project
    from warehouse.transform.columns import column_graph
    from warehouse.transform.derived import ROWS, ColumnRef

    table = f"rollup.{query}"
    graph = column_graph(sound_project(specification, landing_types), landing_types)
    for column in (*graph.columns[table], ROWS):
        for edge in graph.walk(ColumnRef(table, column)):
            if edge.source.table == _TABLE and edge.source.column in _COLUMNS:
                what = "which rows it has" if column == ROWS else column
                raise WarehouseError(
                    "WH306", f"{what} depends on {edge.source}, which is no evidence: no replay could give it", place,
                    "to publish signed evidence only, set [publication] require_signatures = true",
                )
