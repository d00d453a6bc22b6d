"""A published number is a function of evidence alone. Who signed a bundle, when it arrived and what was said of a finding are not
evidence: no replay has them, so no claim may use them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from warehouse.errors import WarehouseError
from warehouse.landing.parse.batches import BUNDLE_TABLE, FINDING_TABLE, REJECTED_TABLE, SIGNING_TABLE
from warehouse.transform.inputs.landing_tables import no_evidence

if TYPE_CHECKING:
    from warehouse.transform.lineage.columns import ColumnGraph

BESIDE_EVIDENCE = {  # of landing tables, and what to do instead
    SIGNING_TABLE: (
        frozenset(("signing_state", "key_id", "key_name", "reason")),
        "to publish signed evidence only, set [publication] require_signatures = true",
    ),
    FINDING_TABLE: (
        frozenset(name for name, *_ in no_evidence().tables[FINDING_TABLE].columns),
        "publish the measurements themselves: findings are decisions about them",
    ),
    REJECTED_TABLE: (
        frozenset(name for name, *_ in no_evidence().tables[REJECTED_TABLE].columns),
        "publish the measurements themselves: what is left out of them follows from the rows that break a test",
    ),
    BUNDLE_TABLE: (frozenset(("arrived_at",)), "use a time that the evidence states, such as the start of the run"),
}


def refuse_beside_evidence(
    query: str, specification: Mapping[str, Any], landing_types: Mapping[str, Mapping[str, str]], place: str
) -> None:
    """Raise WH306 where a query's values or rows depend on signatures or on when evidence arrived; a model under it that merely
    shows it is no harm. Costs nothing where no model reads these."""
    documents = [specification["document"], *specification["models"].values()]
    if not any(leaf["table"] in BESIDE_EVIDENCE for document in documents for leaf in document["landing"]):
        return
    from warehouse.claims.numbers.recorded import sound_project
    from warehouse.transform.lineage.columns import column_graph

    fault = beside_evidence_fault(query, column_graph(sound_project(specification, landing_types), landing_types), place)
    if fault:
        raise fault


def beside_evidence_fault(query: str, graph: "ColumnGraph", place: str) -> WarehouseError | None:
    """The WH306 of a query whose values or rows depend on what is no evidence; None where they do not."""
    from warehouse.transform.lineage.derived import ROWS, ColumnRef

    table = f"rollup.{query}"
    for what, (columns, way_out) in BESIDE_EVIDENCE.items():
        starts = [ColumnRef(what, column) for column in sorted(columns)]
        reached = {edge.target for edge in graph.walk(*starts, down=True)}
        for column in (*graph.columns[table], ROWS):
            if ColumnRef(table, column) in reached:
                [source, *_] = sorted({edge.source for edge in graph.walk(ColumnRef(table, column))} & set(starts))
                dependent = "which rows it has" if column == ROWS else column
                return WarehouseError(
                    "WH306", f"{dependent} depends on {source}, which is not evidence, so no replay could reproduce it", place, way_out
                )
    return None
