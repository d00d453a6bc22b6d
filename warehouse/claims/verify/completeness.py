"""Whether a publication is all that its query gave: no row left out, none added, every value that of all the evidence.

A number is replayed from what its publication lists. That does not find a publisher who leaves out rows, or in a row the runs that he does
not like: here the rows of a replay are compared with those that are frozen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from warehouse.claims.publish.publication import PublishedCell, PublishedRollup, PublishedRow
from warehouse.claims.publish.signing import publication_event
from warehouse.claims.verify.retrace import row_key
from warehouse.evidence.ledger.chain import ancestors
from warehouse.evidence.ledger.events import ARRIVAL, WITHOUT, Ledger
from warehouse.evidence.objects.location import open_store
from warehouse.project.project import Project


def difference(
    frozen: Iterable[PublishedRow], replayed: Mapping[str, Mapping[str, Any]], is_same: Callable[[Any, PublishedCell], bool]
) -> str | None:
    """What a replay's rows (by `row_key`) have otherwise than the frozen ones, in words; None for nothing."""
    stated, fewer, others = set[str](), 0, 0
    for row in frozen:
        key = row_key(row.grain_forms)
        stated.add(key)
        if (given := replayed.get(key)) is None:
            fewer += 1
        else:
            others += sum(not is_same(given[cell.column], cell) for cell in row.cells.values())
    counts = {
        "rows that it leaves out": len(replayed.keys() - stated), "rows fewer than it states": fewer, "other values": others
    }
    return " and ".join(f"{count} {what}" for what, count in counts.items() if count) or None


def events_then(project: Project, publication: PublishedRollup) -> frozenset[str] | None:
    """The sha256 of the events that the ledger had when a publication was made; None where it has no event of that."""
    made = publication_event(project, publication.digest)
    return ancestors(list(Ledger(open_store(project).objects).events()), made) if made else None


def evidence_then(project: Project, publication: PublishedRollup) -> frozenset[str]:
    """The bundles of the store that the build of a publication could know: without those that arrived after it was made, and without
    those that its ledger event says its build had not seen."""
    store = open_store(project)
    events = list(Ledger(store.objects).events())
    made = publication_event(project, publication.digest)
    there = frozenset(store.digests())
    if made is None:
        return there
    known, unseen = ancestors(events, made), set(map(str, made.detail.get(WITHOUT, ())))
    arrivals = [event for event in events if event.kind == ARRIVAL]
    before = {event.subject for event in arrivals if event.sha256 in known} - unseen
    after = unseen | {event.subject for event in arrivals if event.sha256 not in known}
    return there - (after - before)
