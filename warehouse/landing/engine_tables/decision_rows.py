"""The landing tables of decisions, with who said so, when and why: `run_decision`, one row for every run that is not admitted,
and `run_settlement`, for every run whose evidence was settled one row a bundle that was decided on.

They are no evidence: a replay is given the decisions that the number was made with.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa

from warehouse.evidence.ledger.run_decisions import Decision
from warehouse.evidence.store import EvidenceStore
from warehouse.landing.engine_tables.engine_table import write_own_table
from warehouse.landing.parse.batches import DECISION_TABLE, SETTLEMENT_TABLE, LandingFile
from warehouse.landing.rows import DECISION_SCHEMA, SETTLEMENT_SCHEMA, parse_utc


def write_decisions(store: EvidenceStore, decisions: Iterable[Decision]) -> list[LandingFile]:
    """Keep the decisions that stand; no file of a table without rows. Raises WH109."""
    ordered = sorted(decisions, key=lambda decision: decision.run_id)
    tables = {
        DECISION_TABLE: (DECISION_SCHEMA, [_state(decision) for decision in ordered if decision.bundle is None]),
        SETTLEMENT_TABLE: (SETTLEMENT_SCHEMA, [row for decision in ordered if decision.bundle is not None for row in _settlement(decision)]),
    }
    return [write_own_table(store, name, pa.Table.from_pylist(rows, schema)) for name, (schema, rows) in tables.items() if rows]


def _state(decision: Decision) -> dict[str, Any]:
    return {**_said(decision), "state": decision.state, "superseded_by": decision.superseded_by}


def _settlement(decision: Decision) -> Iterator[dict[str, Any]]:
    for bundle in sorted({*decision.set_aside, str(decision.bundle)}):
        yield {**_said(decision), "bundle_digest": bundle, "is_evidence": bundle == decision.bundle}


def _said(decision: Decision) -> dict[str, Any]:
    return {
        "run_id": decision.run_id,
        "reason": decision.reason,
        "decided_at": parse_utc(decision.event.at),
        "decided_by": decision.event.by,
        "artifact_manifest_digest": decision.event.sha256,
        "raw_path": decision.event.key,
        "raw_offset": 0,
        "raw_length": decision.event.bytes,
    }
