"""Where things lie in a store that is a folder: for tests that look at its files, or damage them."""

from __future__ import annotations

import json
import shutil
from datetime import datetime
from pathlib import Path

from warehouse.claims.publish.publication import PublishedRollup, publication_key
from warehouse.evidence.ledger.events import PUBLICATION, Ledger, event_folder
from warehouse.evidence.objects.base import Objects
from warehouse.evidence.objects.local import LocalObjects
from warehouse.evidence.store import EvidenceStore, bundle_key


def path_of(objects: Objects, key: str) -> Path:
    """The file of an object."""
    assert isinstance(objects, LocalObjects)
    return objects.path(key)


def root_of(store: EvidenceStore) -> Path:
    """The folder of a store."""
    return path_of(store.objects, "")


def bundle_folder(store: EvidenceStore, digest: str) -> Path:
    """The folder of a bundle."""
    return path_of(store.objects, bundle_key(digest))


def folder_of(publication: PublishedRollup) -> Path:
    """The folder of a publication."""
    return path_of(publication.objects, publication_key(publication.digest, "x")).parent


def unpublish(store: EvidenceStore) -> None:
    """Take all publications away, and the ledger's word of them, as if nothing had ever been published."""
    for event in list(Ledger(store.objects).events()):
        if event.kind == PUBLICATION:
            path_of(store.objects, event.key).unlink()
    shutil.rmtree(path_of(store.objects, "publications"))


def date_event(store: EvidenceStore, path: Path, at: datetime) -> None:
    """Let an event of the ledger be of another time, under a name as of before names had digests."""
    document = json.loads(path.read_bytes())
    path.unlink()
    dated = path_of(store.objects, f"{event_folder(at)}/{path.name[:26]}.json")
    dated.parent.mkdir(parents=True, exist_ok=True)
    dated.write_text(json.dumps(document | {"at": at.isoformat()}))
