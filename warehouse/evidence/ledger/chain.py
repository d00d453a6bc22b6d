"""The chain of the ledger: each event names, by sha256, the events that it follows. So an event commits to all that the ledger
held when it was written: whatever was put in afterwards is not among its ancestors, whatever time it states.

Several processes write at once, so the chain branches and joins again: an event may follow several others.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime, timedelta

from warehouse.evidence.finding import INSERTED, MISSING, RESTORE, UNPROTECTED, Finding
from warehouse.evidence.ledger.events import BROUGHT, INTENT, PUBLICATION, Event
from warehouse.evidence.signing.signatures import CHECKPOINT, Subject

CLOCKS_DIFFER = timedelta(minutes=5)  # between machines that write to one store: no accusation within it


def ancestors(events: Sequence[Event], event: Event) -> frozenset[str]:
    """The sha256 of the events that one commits to. `events` are those of the ledger, the oldest first. Where an event that is
    named is not here, as in a store that holds a part of another, those of earlier names count too; likewise where the event is of a
    version that named none."""
    known = {each.sha256: each for each in events}
    found, pending, is_whole = set[str](), [event], event.follows is not None
    while pending:
        for sha256 in pending.pop().follows or ():
            if sha256 not in known:
                is_whole = False
            elif sha256 not in found:
                found.add(sha256)
                pending.append(known[sha256])
    if not is_whole:
        found.update(each.sha256 for each in events if _name(each) < _name(event))
    return frozenset(found)


def begun_by(events: Iterable[Event], made: Event) -> Event:
    """The event that a publication's event followed, of before its first file was written: what the ledger held then, the publisher knew.
    The event itself where it names none, or that is not here."""
    return next((event for event in events if event.sha256 == made.detail.get(INTENT)), made)


def checkpoint_subject(event: Event) -> Subject:
    """An event as checkpoints of the ledger are made of it: whoever signs it signs all that the ledger held then."""
    return Subject(event.sha256, event.key, event.sha256, CHECKPOINT)


def chain_findings(events: Sequence[Event], named: Collection[str]) -> Iterator[Finding]:
    """What is wrong with the chain of these events, the oldest first. `named` are the sha256 that names of events in the store
    commit to, also of those that cannot be read."""
    brought = {str(sha256) for event in events if event.kind == BROUGHT for sha256 in event.detail.get("events", ())}
    chained = [event for event in events if event.follows is not None and event.sha256 not in brought]
    for event in chained:
        for sha256 in event.follows or ():
            if sha256 not in named:
                yield Finding(MISSING, event.key, f"the event that it follows is gone: {sha256}", RESTORE)
    accounted = brought.union(*(event.follows or () for event in events))
    if chained:
        first = min(chained, key=_name)
        for event in events:
            if event.follows is None and event.sha256 not in accounted and _name(event) > _name(first):
                yield Finding(UNPROTECTED, event.key, "an event of an earlier version: it does not name the event before it")
    yield from _inserted([event for event in events if event.sha256 not in brought])


def _inserted(events: Sequence[Event]) -> Iterator[Finding]:
    """Events that say they are older than a publication that does not know them."""
    known = {event.sha256: event for event in events}
    publications = (event for event in events if event.kind == PUBLICATION and event.follows is not None)
    published = sorted(publications, key=lambda event: datetime.fromisoformat(event.at))
    first_known: dict[str, int] = {}  # by sha256, which of the published is the first that knows an event
    for number, event in enumerate(published):
        pending = [event]
        while pending:
            for sha256 in pending.pop().follows or ():
                if sha256 in known and sha256 not in first_known:
                    first_known[sha256] = number
                    pending.append(known[sha256])
    times = [datetime.fromisoformat(event.at) for event in published]
    for event in events:
        later = bisect_right(times, datetime.fromisoformat(event.at) + CLOCKS_DIFFER)
        if later < first_known.get(event.sha256, len(published)):
            message = f"it says it is of {event.at}, and was not there when {published[later].key} was written, {published[later].at}"
            yield Finding(INSERTED, event.key, message, "ask who wrote it: only what the later event names is of before")


def _name(event: Event) -> str:
    return event.key.rpartition("/")[2]
