"""Holds every bundle against its place, its manifest and the ledger, as a stream: memory is that of one bundle's listing.

It reads and tells; it mends nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from warehouse.errors import WarehouseError
from warehouse.evidence.finding import ALTERED, AWAY, LEFTOVER, MISSING, ORPHANED, RESTORE, UNLEDGERED, Finding
from warehouse.evidence.ledger.events import is_event_name
from warehouse.evidence.ledger.summary import Ledgered
from warehouse.evidence.manifest import Manifest, ManifestFile
from warehouse.evidence.objects.base import Entry, damage
from warehouse.evidence.store import EvidenceStore, bundle_key, manifest_key, raw_key

_THREADS = 8  # hashing releases the interpreter lock; a bucket answers many at once
_DIGEST = re.compile(r"[0-9a-f]{64}")
_ASIDE = re.compile(r"(.+)\.damaged-[0-9A-HJKMNP-TV-Z]{26}")
_AWAY_FIRST = "move it away, then ingest the evidence again, or restore the store from a copy"  # of its size nothing is read again
_AGAIN = "ingest the evidence again, or restore the store from a copy"


def bundle_of(key: str) -> str | None:
    """The digest of the bundle that an object under `raw/` lies with; None for one that lies with none."""
    parts = key.split("/")
    if len(parts) > 4 and parts[:3] == ["raw", "sha256", parts[3][:2]] and _DIGEST.fullmatch(parts[3]):
        return parts[3]
    return None


def set_aside_of(key: str) -> str | None:
    """The key that an object would have if it is a damaged one that was moved aside; None for any other."""
    found = _ASIDE.fullmatch(key)
    return found[1] if found else None


def inspect_bundle(store: EvidenceStore, digest: str, entries: Iterable[Entry], ledgered: Ledgered) -> Iterator[Finding]:
    """What is wrong with a bundle, of which these objects are there. Raises WH114."""
    own_key = manifest_key(digest)
    there = {entry.key for entry in entries}
    if own_key not in there:
        yield _without_manifest(digest, ledgered)
        return
    try:
        manifest = store.manifest(digest)
    except WarehouseError as error:
        yield Finding(ALTERED, own_key, damage(error).message, _AGAIN)
        return
    if digest in ledgered.removed:
        yield Finding(LEFTOVER, own_key, "the ledger says that policy removed it", "run: wh retention apply; to keep it, ingest the evidence again")
    elif digest not in ledgered.arrivals:
        yield Finding(UNLEDGERED, own_key, "no event says when it arrived", "ingest the evidence again, which records it in the ledger")
    files = {raw_key(digest, file.raw_path): file for file in manifest.files}
    for key in sorted(there - files.keys() - {own_key}):
        aside = set_aside_of(key)
        if aside == own_key or aside in files:
            yield Finding(LEFTOVER, key, "a damaged copy that was set aside", "wh gc --apply removes it")
        else:
            yield Finding(ORPHANED, key, "the bundle's manifest does not list it", AWAY)
    for key in sorted(files.keys() - there):
        yield Finding(MISSING, key, "the bundle's manifest lists it", _AGAIN)
    yield from _inspect_files(store, manifest, [file for key, file in files.items() if key in there])


def _without_manifest(digest: str, ledgered: Ledgered) -> Finding:
    if digest in ledgered.arrivals:
        return Finding(MISSING, manifest_key(digest), f"it arrived {ledgered.arrivals[digest]}", _AGAIN)
    if digest in ledgered.removed:
        return Finding(LEFTOVER, bundle_key(digest), "its removal by policy was interrupted", "run: wh retention apply")
    return Finding(LEFTOVER, bundle_key(digest), "files without a manifest", "ingest the evidence again, or wh gc --apply removes them")


def _inspect_files(store: EvidenceStore, manifest: Manifest, files: Sequence[ManifestFile]) -> Iterator[Finding]:
    problem = partial(store.file_problem, manifest.digest)
    with ThreadPoolExecutor(_THREADS) as threads:
        # Most bundles have one file: threads cost more than they give there.
        for file, error in zip(files, map(problem, files) if len(files) < 2 else threads.map(problem, files), strict=True):
            if error:
                state, way_out = (MISSING, _AGAIN) if error.code == "WH106" else (ALTERED, _AWAY_FIRST)
                yield Finding(state, raw_key(manifest.digest, file.raw_path), error.message, way_out)


def missing_bundles(ledgered: Ledgered, seen: Set[str], chosen: Callable[[str], bool]) -> Iterator[Finding]:
    """The chosen bundles that arrived, and of which nothing was seen."""
    for digest in sorted(ledgered.arrivals.keys() - seen):
        if chosen(digest):
            yield Finding(MISSING, manifest_key(digest), f"it arrived {ledgered.arrivals[digest]}", _AGAIN)


def inspect_event_names(entries: Iterable[Entry]) -> Iterator[Finding]:
    """Objects under `ledger/` that are no events; the events themselves are checked as they are read."""
    for entry in entries:
        parts = entry.key.split("/")
        if len(parts) != 5 or not is_event_name(parts[4]):
            yield Finding(ORPHANED, entry.key, "no event has such a name", RESTORE)
