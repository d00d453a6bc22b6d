"""What the ledger says, read once and whole, with what is wrong with its events: what a check holds the store against."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from warehouse.errors import WarehouseError, printable
from warehouse.evidence.finding import ALTERED, AWAY, MISSING, ORPHANED, RESTORE, UNLEDGERED, UNPROTECTED, Finding
from warehouse.evidence.ledger.chain import chain_findings
from warehouse.evidence.ledger.events import (
    AFTER,
    BROUGHT,
    PUBLICATION,
    PUBLISHING,
    REMOVAL,
    SIGNATURE,
    WITNESS,
    Event,
    History,
    Ledger,
    name_digest,
)
from warehouse.evidence.ledger.run_decisions import is_of_run
from warehouse.evidence.objects.base import Objects, damage


@dataclass(frozen=True)
class Ledgered:
    """The last word on bundles (digest to when they arrived, UTC; those that policy removed), on publications, and on signatures (subject and
    key id to the envelope's sha256); the publications that were begun; and by their sha256 the events of runs, and those of publications, which
    checkpoints of the ledger are signed of. A few hundred bytes of memory an event."""

    arrivals: Mapping[str, str]
    removed: frozenset[str]
    published: frozenset[str]
    signatures: Mapping[tuple[str, str], str]
    publishing: frozenset[str] = frozenset()
    decisions: Mapping[str, Event] = field(default_factory=dict)
    checkpoints: Mapping[str, Event] = field(default_factory=dict)
    findings: tuple[Finding, ...] = field(default=())


def read_ledgered(objects: Objects) -> Ledgered:
    """Read and check every event. Raises WH114."""
    ledger = Ledger(objects)
    history = History()
    published: set[str] = set()
    publishing: set[str] = set()
    signatures: dict[tuple[str, str], str] = {}
    decisions: dict[str, Event] = {}
    checkpoints: dict[str, Event] = {}
    witnesses: dict[str, Event] = {}
    findings: list[Finding] = []
    first_key: dict[str, str] = {}  # of each event, by sha256
    keys, events = ledger.keys(), []
    for key in keys:
        try:
            event = ledger.event(key)
        except WarehouseError as error:
            findings.append(Finding(ALTERED, key, damage(error).message, RESTORE))
            continue
        if name_digest(key) is None:
            findings.append(Finding(UNPROTECTED, key, "an event of an earlier version: its name does not commit to its content"))
        if (first := first_key.setdefault(event.sha256, key)) != key:
            findings.append(Finding(ORPHANED, key, f"a second copy of the event {first}", AWAY))
            continue
        history.add(event)
        events.append(replace(event, detail=event.detail if event.kind == BROUGHT else {}))
        if event.kind == REMOVAL and event.subject not in history.last_arrivals:
            findings.append(Finding(UNLEDGERED, key, "what it says is removed has never arrived: an event is gone", RESTORE))
        elif event.kind == PUBLICATION:
            published.add(event.subject)
            checkpoints[event.sha256] = event
        elif event.kind == PUBLISHING:
            publishing.add(event.subject)
        elif event.kind == SIGNATURE:
            signatures[event.subject, str(event.detail.get("key_id"))] = str(event.detail.get("sha256"))
        elif event.kind == WITNESS:
            witnesses[event.subject] = event
        elif is_of_run(event):
            decisions[event.sha256] = event
    named = {name_digest(key) for key in keys} | decisions.keys()
    findings += chain_findings(events, {*filter(None, named), *(event.sha256 for event in events)})
    for event in decisions.values():
        if (before := event.detail.get(AFTER)) is not None and before not in named:
            findings.append(Finding(MISSING, event.key, f"the decision that it follows is gone: {printable(str(before))}", RESTORE))
        if event.sha256 not in witnesses:
            findings.append(Finding(UNPROTECTED, event.key, "no event tells that this was decided: an earlier version wrote none, or it is gone"))
    for sha256 in witnesses.keys() - named:
        findings.append(Finding(MISSING, str(witnesses[sha256].detail.get("event")), "the ledger says that this was decided", RESTORE))
    return Ledgered(
        history.arrivals, frozenset(history.removals), frozenset(published), signatures, frozenset(publishing), decisions, checkpoints,
        tuple(findings),
    )
