"""`wh gc`: what crashes have left in a store: half-made bundles, damaged copies that were set aside, the work of dead processes; and
the work of tasks that no kept build took.

Promises: nothing goes that is younger than the grace time, that a process holds, or that the ledger has any word of.
"""

from __future__ import annotations

import stat
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from itertools import groupby
from pathlib import Path

from warehouse.claims.publish.interrupted import finish_interrupted
from warehouse.errors import WarehouseError
from warehouse.evidence.durable import dead_folders, remove_dead_folder
from warehouse.evidence.ledger.events import Ledger
from warehouse.evidence.objects.base import Entry, damage
from warehouse.evidence.store import EvidenceStore, bundle_key, manifest_key, raw_key
from warehouse.maintenance.bundles import bundle_of, set_aside_of
from warehouse.maintenance.task_work import unused_work

HALF_MADE = "half-made bundle"  # files without a manifest, of which the ledger does not know
SET_ASIDE = "damaged copy"  # moved aside by an ingest, which put a whole one in its place
SCRATCH = "work of a dead process"
UNUSED = "work of a task that no kept build took"
FINISHED = "interrupted publication, now in the ledger"  # nothing of it goes


@dataclass(frozen=True)
class Leftover:
    """What can go: which kind, the key or the prefix of its keys, its bytes, and when the last of it was written (UTC)."""

    kind: str
    key: str
    bytes: int
    modified_at: datetime


def find_leftovers(store: EvidenceStore, older_than: datetime, tasks: Collection[str] = ()) -> list[Leftover]:
    """What was left before a time; `tasks` are the digests of those that the kept builds took. Raises WH105 or WH107 for a ledger event that
    cannot be read: it may be of any bundle; WH114."""
    ledger = Ledger(store.objects)
    known = {event.subject for event in ledger.events()}
    for problem in ledger.damaged:
        raise problem
    found: list[Leftover] = []
    for digest, group in groupby(store.objects.entries("raw"), lambda entry: bundle_of(entry.key)):
        if digest is not None:
            found += _of_bundle(store, digest, list(group), is_known=digest in known)
    found += map(_of_scratch, dead_folders(store.scratch))
    found += [Leftover(UNUSED, entry.key, entry.bytes, entry.modified_at) for entry in unused_work(store.objects, tasks)]
    return [leftover for leftover in found if leftover.modified_at < older_than]


def remove_leftovers(store: EvidenceStore, older_than: datetime, tasks: Collection[str] = ()) -> Iterator[Leftover]:
    """Remove them, one after another, and give each as it is gone. What a crash left of publications and signatures is finished or removed
    first, whatever its age: publications that were finished come first (`FINISHED`). Raises what `find_leftovers` does, WH109, and WH116 while
    others use or remove evidence."""
    if store.is_empty() and not store.scratch.is_dir():
        return
    for digest in finish_interrupted(store):
        yield Leftover(FINISHED, f"publications/{digest}", 0, datetime.now(UTC))
    with store.removing() as removal:  # what is not held now cannot be taken up during the removal
        for leftover in removal.agreed(partial(find_leftovers, store, older_than, tasks), _bundle_that_goes):
            try:
                if leftover.kind == SCRATCH:
                    remove_dead_folder(store.scratch / leftover.key.rpartition("/")[2])
                elif leftover.kind == HALF_MADE:
                    store.objects.remove_below(leftover.key)
                    removal.done(leftover.key.rpartition("/")[2])
                else:
                    store.objects.remove(leftover.key)
            except OSError as error:
                raise WarehouseError("WH109", f"cannot be removed: {error.strerror}", leftover.key) from error
            yield leftover


def _bundle_that_goes(leftover: Leftover) -> str | None:
    return leftover.key.rpartition("/")[2] if leftover.kind == HALF_MADE else None


def _of_bundle(store: EvidenceStore, digest: str, entries: list[Entry], *, is_known: bool) -> Iterator[Leftover]:
    own_key = manifest_key(digest)
    there = {entry.key for entry in entries}
    if own_key not in there:
        if not is_known:
            size = sum(entry.bytes for entry in entries)
            yield Leftover(HALF_MADE, bundle_key(digest), size, max(entry.modified_at for entry in entries))
        return
    aside = [entry for entry in entries if set_aside_of(entry.key)]
    if not aside:
        return
    try:
        manifest = store.manifest(digest)
    except WarehouseError as error:
        damage(error)
        return  # what is left of it may be all there is
    files = {raw_key(digest, file.raw_path): file for file in manifest.files}
    for entry in aside:
        original = set_aside_of(entry.key)
        if entry.key not in files and original in there and (original == own_key or original in files):
            yield Leftover(SET_ASIDE, entry.key, entry.bytes, entry.modified_at)


def _of_scratch(folder: Path) -> Leftover:
    found = [path.lstat() for path in (folder, *folder.rglob("*"))]
    size = sum(info.st_size for info in found if not stat.S_ISDIR(info.st_mode))
    modified_at = datetime.fromtimestamp(max(info.st_mtime for info in found), UTC)
    return Leftover(SCRATCH, f"incoming/{folder.name}", size, modified_at)
