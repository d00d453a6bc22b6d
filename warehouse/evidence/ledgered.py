"""What the ledger says, read once and whole, with what is wrong with its events: what a check holds the store against."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from warehouse.errors import WarehouseError
from warehouse.evidence.decisions import is_of_run
from warehouse.evidence.finding import ALTERED, RESTORE, UNLEDGERED, UNPROTECTED, Finding
from warehouse.evidence.ledger import PUBLICATION, REMOVAL, SIGNATURE, Event, History, Ledger, event_folder, name_digest
from warehouse.evidence.objects import UNREACHABLE, Objects


@dataclass(frozen=True)
class Ledgered:
    """The last word on bundles (digest to when they arrived, UTC; those that policy removed), on publications, and on
    signatures (subject and key id to the envelope's sha256); and the events of runs by their sha256. A few hundred bytes of memory an event."""

    arrivals: Mapping[str, str]
    removed: frozenset[str]
    published: frozenset[str]
    signatures: Mapping[tuple[str, str], str]
    decisions: Mapping[str, Event] = field(default_factory=dict)
    findings: tuple[Finding, ...] = field(default=())


def read_ledgered(objects: Objects) -> Ledgered:
    """Read and check every event. Raises WH114."""
    ledger = Ledger(objects)
    history = History()
    published: set[str] = set()
    signatures: dict[tuple[str, str], str] = {}
    decisions: dict[str, Event] = {}
    findings: list[Finding] = []
    for key in ledger.keys():
        try:
            event = ledger.event(key)
        except WarehouseError as error:
            if error.code == UNREACHABLE:
                raise
            findings.append(Finding(ALTERED, key, error.message, RESTORE))
            continue
        if name_digest(key) is None:
            findings.append(Finding(UNPROTECTED, key, "an event of an earlier version: its name commits to nothing"))
        if key.rpartition("/")[0] != event_folder(datetime.fromisoformat(event.at)):
            findings.append(Finding(ALTERED, key, f"it lies under another day than that of its event, {event.at}", RESTORE))
        history.add(event)
        if event.kind == REMOVAL and event.subject not in history.last_arrivals:
            findings.append(Finding(UNLEDGERED, key, "what it says is removed has never arrived: an event is gone", RESTORE))
        elif event.kind == PUBLICATION:
            published.add(event.subject)
        elif event.kind == SIGNATURE:
            signatures[event.subject, str(event.detail.get("key_id"))] = str(event.detail.get("sha256"))
        elif is_of_run(event):
            decisions[event.sha256] = event
    return Ledgered(history.arrivals, frozenset(history.removals), frozenset(published), signatures, decisions, tuple(findings))
