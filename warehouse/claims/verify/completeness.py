"""Whether a publication is all that its query gave: no row left out, none added, every value that of all the evidence.

A number is replayed from what its publication lists. That does not find a publisher who leaves out rows, or in a row the runs that he does
not like: here the rows of a replay are compared with those that are frozen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from warehouse.claims.publish.publication import PublishedCell, PublishedRollup, PublishedRow
from warehouse.claims.publish.signing import publication_event
from warehouse.claims.verify.retrace import row_key
from warehouse.evidence.ledger.chain import ancestors, begun_by
from warehouse.evidence.ledger.events import ARRIVAL, WITHOUT, Event
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


def events_then(project: Project, publication: PublishedRollup, events: Sequence[Event]) -> frozenset[str] | None:
    """The sha256 of the ledger's events that were there when a publication was made; None where none is of that."""
    made = publication_event(project, publication.digest, events)
    return ancestors(events, begun_by(events, made)) if made else None


def evidence_then(project: Project, publication: PublishedRollup, events: Sequence[Event]) -> frozenset[str]:
    """The bundles of the store that the build of a publication could know: without those that arrived after it was made, and without
    those that its event, of the ledger's `events`, says its build had not seen. Without an event of it nobody knows: then all."""
    made = publication_event(project, publication.digest, events)
    there = frozenset(open_store(project).digests())
    if made is None:
        return there
    known, unseen = ancestors(events, begun_by(events, made)), set(map(str, made.detail.get(WITHOUT, ())))
    arrivals = [event for event in events if event.kind == ARRIVAL]
    before = {event.subject for event in arrivals if event.sha256 in known} - unseen
    after = unseen | {event.subject for event in arrivals if event.sha256 not in known}
    return there - (after - before)
