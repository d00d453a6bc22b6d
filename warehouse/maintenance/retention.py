"""`wh retention`: raw evidence past its age is removed, but never what an active publication needs.

Of the tiers only the cold one is here: raw evidence, by its arrival in the ledger. The ledger says what is removed and by
which policy before a byte goes; a removal that a crash cut short is completed by the next one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial

from warehouse.claims.publish.publication import PublishedRollup, publications
from warehouse.evidence.ledger.events import LAST_ARRIVAL, PUBLICATION, Event, Ledger
from warehouse.evidence.ledger.removal import remove_bundle
from warehouse.evidence.objects.location import open_store
from warehouse.evidence.store import bundle_key
from warehouse.project.project import Project

DUE = "due"  # past its age, and no active publication needs it
UNFINISHED = "unfinished"  # so it was, the ledger says that it is removed, and some of it is still there
NEEDED = "needed"  # past its age, but an active publication depends on it: it stays


@dataclass(frozen=True)
class Aged:
    """A bundle past its age: its digest, when it arrived first and last (UTC), what becomes of it (`DUE`, `UNFINISHED`, `NEEDED`), and the
    active publications that need it."""

    digest: str
    arrived_at: str
    last_arrived_at: str
    state: str
    needed_by: tuple[str, ...] = ()


def plan_retention(project: Project, now: datetime | None = None) -> list[Aged]:
    """The bundles that are older than the project's `cold_days`, the oldest first. One whose arrival the ledger does not know
    is never old. Raises WH107 for a ledger event and WH307 for a publication that cannot be read: nobody knows then what is
    needed."""
    store = open_store(project)
    ledger = Ledger(store.objects)
    events = list(ledger.events())
    for problem in ledger.damaged:
        raise problem
    limit = (now or datetime.now(UTC)) - timedelta(days=project.retention.cold_days)
    needed, history = _needed(project, events, limit), ledger.history()
    stored = frozenset(store.digests())
    arrived = dict(history.arrivals)
    arrived |= {digest: str(removal.detail.get("arrived_at", removal.at)) for digest, removal in history.removals.items()}
    found = []
    for digest, time in sorted(arrived.items(), key=lambda item: (item[1], item[0])):
        is_removed, last = digest in history.removals, history.last_arrivals.get(digest, time)
        if digest in stored:
            if datetime.fromisoformat(time) < limit:
                state = NEEDED if digest in needed else UNFINISHED if is_removed else DUE
                found.append(Aged(digest, time, last, state, needed.get(digest, ())))
        elif is_removed and any(True for _ in store.objects.entries(bundle_key(digest))):
            found.append(Aged(digest, time, last, UNFINISHED))
    return found


def apply_retention(project: Project, now: datetime | None = None) -> Iterator[Aged]:
    """Remove what is due, one bundle after another, and give each as it is gone. Raises what `plan_retention` does,
    WH109, and WH116 while others use or remove evidence."""
    store = open_store(project)
    ledger = Ledger(store.objects)
    if store.is_empty():
        return
    with store.removing() as removal:  # what is not needed now is not when it goes
        for aged in removal.agreed(partial(plan_retention, project, now), _bundle_that_goes):
            if aged.state == DUE:
                policy = {"policy": "retention", "tier": "cold", "days": project.retention.cold_days, "arrived_at": aged.arrived_at}
                policy[LAST_ARRIVAL] = aged.last_arrived_at
                ledger.removed(aged.digest, policy)
            if aged.state != NEEDED:
                remove_bundle(store, aged.digest)
                removal.done(aged.digest)
                yield aged


def _bundle_that_goes(aged: Aged) -> str | None:
    return None if aged.state == NEEDED else aged.digest


def _needed(project: Project, events: list[Event], limit: datetime) -> dict[str, tuple[str, ...]]:
    """The bundles that active publications need, each with these publications."""
    needed: dict[str, tuple[str, ...]] = {}
    published = {event.subject: event.at for event in events if event.kind == PUBLICATION}
    for publication in _active(publications(project), published, limit):
        publication.check()
        for digest in publication.bundles():
            needed[digest] = (*needed.get(digest, ()), publication.digest)
    return needed


def _active(found: list[PublishedRollup], published: Mapping[str, str], limit: datetime) -> Iterator[PublishedRollup]:
    """The last publication of every query, and each that is younger than the limit or of unknown age. Raises WH307 for one
    that is damaged: it may be any of these."""
    queries: set[str | None] = set()
    for publication in found:  # the last one first
        if publication.fault:
            raise publication.fault
        is_last = publication.query not in queries
        queries.add(publication.query)
        at = published.get(publication.digest)
        if is_last or at is None or datetime.fromisoformat(at) >= limit:
            yield publication
