"""Landing tables that are not evidence: what was decided about runs and findings, and what the signatures of bundles are.

`run_decision` has one row per run that is not admitted, `run_settlement` one per bundle of each settled run, `change_finding` one per
finding that somebody marked; all name the event of the ledger that says so. `evidence_signing` has one row per bundle. Signatures and
decisions arrive after a bundle was parsed, and which keys are trusted is the project's to say, so these tables belong to no batch: they
are made anew when they change, each file named by its own sha256. A replay is given the decisions that the number was made with, and no
signatures.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from warehouse.digest import file_digest
from warehouse.errors import WarehouseError
from warehouse.evidence.durable import make_folder, scratch_folder
from warehouse.evidence.ledger.events import Event
from warehouse.evidence.ledger.findings import Mark
from warehouse.evidence.ledger.run_decisions import Decision
from warehouse.evidence.signing.keys import PublicKey
from warehouse.evidence.signing.signatures import Signing, check_signatures, evidence_subject, signed_digests
from warehouse.evidence.store import EvidenceStore
from warehouse.landing.parse.batches import DECISION_TABLE, FINDING_TABLE, SETTLEMENT_TABLE, SIGNING_TABLE, LandingFile
from warehouse.landing.rows import DECISION_SCHEMA, FINDING_SCHEMA, SETTLEMENT_SCHEMA, SIGNING_SCHEMA, parse_utc

NAME_PREFIX = "sha256-"  # of a file, before that


def write_decisions(store: EvidenceStore, decisions: Iterable[Decision]) -> list[LandingFile]:
    """Keep the decisions in force. Raises WH109."""
    ordered = sorted(decisions, key=lambda decision: decision.run_id)
    return [
        *_write(store, DECISION_TABLE, DECISION_SCHEMA, [_state(decision) for decision in ordered if decision.bundle is None]),
        *_write(store, SETTLEMENT_TABLE, SETTLEMENT_SCHEMA, [row for decision in ordered for row in _settlement(decision)]),
    ]


def write_findings(store: EvidenceStore, marks: Iterable[Mark]) -> list[LandingFile]:
    """Keep the marks of findings in force. Raises WH109."""
    ordered = sorted(marks, key=lambda mark: mark.finding_id)
    return _write(store, FINDING_TABLE, FINDING_SCHEMA, [_mark(mark) for mark in ordered])


def write_signing(store: EvidenceStore, bundles: Iterable[str], trusted: Mapping[str, PublicKey]) -> list[LandingFile]:
    """Check the signatures of these bundles, and keep what was found. Raises WH109."""
    signed = signed_digests(store.objects)  # one listing, and not one a bundle
    unsigned = _signing(Signing(()))  # as nearly all are
    rows = [
        (_signing(check_signatures(store.objects, evidence_subject(digest), trusted)) if digest in signed else unsigned)
        | {"artifact_manifest_digest": digest}
        for digest in sorted(bundles)
    ]
    return _write(store, SIGNING_TABLE, SIGNING_SCHEMA, rows)


def _state(decision: Decision) -> dict[str, Any]:
    return {**_said(decision), "state": decision.state, "superseded_by": decision.superseded_by}


def _settlement(decision: Decision) -> Iterator[dict[str, Any]]:
    if decision.bundle is not None:
        for bundle in sorted({*decision.set_aside, decision.bundle}):
            yield {**_said(decision), "bundle_digest": bundle, "is_evidence": bundle == decision.bundle}


def _said(decision: Decision) -> dict[str, Any]:
    return {"run_id": decision.run_id, "reason": decision.reason, **_event(decision.event)}


def _event(event: Event) -> dict[str, Any]:
    return {"decided_at": parse_utc(event.at), "decided_by": event.by, "event_key": event.key, "event_sha256": event.sha256}


def _mark(mark: Mark) -> dict[str, Any]:
    """A mark with the finding as it was then; NULL where another version wrote something else."""
    row: dict[str, Any] = {"finding_id": mark.finding_id, "state": mark.state, "reason": mark.reason, **_event(mark.event)}
    for field in FINDING_SCHEMA:
        value = mark.finding.get(field.name)
        if field.name not in row and value is not None:
            with suppress(ValueError, TypeError):
                row[field.name] = _typed(field.type, value)
    return row


def _typed(kind: pa.DataType, value: Any) -> Any:
    if pa.types.is_timestamp(kind):
        return parse_utc(value)
    return float(value) if pa.types.is_floating(kind) else str(value)


def _signing(signing: Signing) -> dict[str, Any]:
    deciding = signing.deciding
    return {
        "signing_state": signing.state, "key_id": deciding.key_id if deciding else None, "key_name": deciding.key_name if deciding else None,
        "reason": signing.reason,
    }


def _write(store: EvidenceStore, name: str, schema: pa.Schema, rows: Sequence[Mapping[str, Any]]) -> list[LandingFile]:
    """The file of a table; none for a table without rows."""
    if not rows:
        return []
    folder = store.landing / name
    try:
        with scratch_folder(store.scratch) as scratch:
            file = scratch / f"{name}.parquet"
            pq.write_table(pa.Table.from_pylist(rows, schema), file, compression="zstd")
            sha256 = file_digest(file)
            path = folder / f"{NAME_PREFIX}{sha256}.parquet"
            make_folder(folder)
            os.replace(file, path)
    except OSError as error:
        raise WarehouseError("WH109", f"the store cannot be written: {error.strerror}", str(folder)) from error
    return [LandingFile(name, path, sha256, len(rows))]
