"""The landing table `run_decision`: the runs that are not admitted, one row each, with who said so, when and why.

It is no evidence: a replay is given the decisions that the number was made with.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pyarrow as pa

from warehouse.evidence.decisions import Decision
from warehouse.evidence.store import EvidenceStore
from warehouse.landing.batches import DECISION_TABLE, LandingFile
from warehouse.landing.own_table import write_own_table
from warehouse.landing.rows import DECISION_SCHEMA, parse_utc


def write_decisions(store: EvidenceStore, decisions: Iterable[Decision]) -> LandingFile | None:
    """Keep the decisions that stand, one on each run; None without any. Raises WH109."""
    rows = [_row(decision) for decision in sorted(decisions, key=lambda decision: decision.run_id)]
    if not rows:
        return None
    table = pa.Table.from_pylist([row | {"decided_at": parse_utc(row["decided_at"])} for row in rows], DECISION_SCHEMA)
    return write_own_table(store, DECISION_TABLE, table)


def _row(decision: Decision) -> dict[str, Any]:
    return {
        "run_id": decision.run_id,
        "state": decision.state,
        "reason": decision.reason,
        "superseded_by": decision.superseded_by,
        "decided_at": decision.event.at,
        "decided_by": decision.event.by,
        "artifact_manifest_digest": decision.event.sha256,
        "raw_path": decision.event.key,
        "raw_offset": 0,
        "raw_length": decision.event.bytes,
    }
