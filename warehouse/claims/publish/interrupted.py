"""What a crash left of publications and signatures: the next command that publishes, signs or collects leftovers finishes it, or takes it away.

The ledger says beforehand what is about to be written: a `publishing` event comes before the first file of a publication, and the event of a
signature holds its envelope. A publication is there as soon as its record is: then only its event is missing, and is written. Without the
record nothing of it was ever visible, and its files are removed, unless somebody is publishing at this time.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from warehouse.claims.publish.publication import RECORD, publication_key, spec_key, stored_publications
from warehouse.errors import WarehouseError
from warehouse.evidence.ledger.chain import ancestors
from warehouse.evidence.ledger.events import ARRIVAL, PUBLICATION, PUBLISHING, SPEC, WITHOUT, Event, Ledger
from warehouse.evidence.objects.base import Objects
from warehouse.evidence.signing.signatures import complete_signatures
from warehouse.evidence.store import EvidenceStore

_IN_USE = "WH116"


def finish_interrupted(store: EvidenceStore) -> list[str]:
    """Finish or remove what a crash left of publications and signatures. Returns the publications that were finished. Raises WH109, WH114."""
    objects, ledger = store.objects, Ledger(store.objects)
    events = list(ledger.events())
    complete_signatures(objects, events)
    published = {event.subject for event in events if event.kind == PUBLICATION}
    begun = {event.subject: event for event in events if event.kind == PUBLISHING and event.subject not in published}
    abandoned, finished = [], []
    for digest, intent in begun.items():
        if objects.exists(publication_key(digest, RECORD)):
            said = intent.detail
            without = {*map(str, said.get(WITHOUT, ())), *_arrived_after(events, intent)}
            ledger.published(digest, str(said.get("query")), str(said.get("build_digest")), without, intent)
            finished.append(digest)
        else:
            abandoned.append(intent)
    if _files(objects, abandoned):
        _remove(store, abandoned)
    return finished


def _arrived_after(events: Sequence[Event], intent: Event) -> Iterable[str]:
    """The bundles that arrived when a publication was begun already."""
    known = ancestors(events, intent)
    arrivals = [event for event in events if event.kind == ARRIVAL]
    before = {event.subject for event in arrivals if event.sha256 in known}
    return {event.subject for event in arrivals} - before


def _remove(store: EvidenceStore, abandoned: Sequence[Event]) -> None:
    try:
        with store.removing(waits=False) as removal:
            for key in removal.agreed(lambda: _files(store.objects, abandoned), lambda key: None):
                store.objects.remove(key)
    except OSError as error:
        raise WarehouseError("WH109", f"cannot be removed: {error.strerror}", str(error.filename or store.objects.url)) from error
    except WarehouseError as error:
        if error.code != _IN_USE:  # a later command does it
            raise


def _files(objects: Objects, abandoned: Iterable[Event]) -> list[str]:
    """What there is of publications without a record, and the specs of theirs that no publication names."""
    found, specs = [], set[str]()
    for intent in abandoned:
        keys = objects.matching(publication_key(intent.subject, "*"))
        if publication_key(intent.subject, RECORD) not in keys:
            found += keys
            specs.add(spec_key(str(intent.detail.get(SPEC))))
    if specs := {key for key in specs if objects.exists(key)}:
        others = stored_publications(objects)
        if not any(each.fault for each in others):  # or it is not known what it names
            found += sorted(specs - {spec_key(str(each.record["query_spec_digest"])) for each in others})
    return found
