"""Holds publications, specs and signatures against their digests and the ledger.

It reads and tells; it mends nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import groupby

from warehouse.claims.publish.publication import CONTENT, RECORD, parse_record, publication_key, spec_key
from warehouse.claims.publish.specification import parse_specification
from warehouse.digest import bytes_digest, stream_digest
from warehouse.errors import WarehouseError
from warehouse.evidence.finding import ALTERED, AWAY, LEFTOVER, MISSING, ORPHANED, RESTORE, UNLEDGERED, Finding
from warehouse.evidence.ledger.chain import checkpoint_subject
from warehouse.evidence.ledger.run_decisions import decision_subject
from warehouse.evidence.ledger.summary import Ledgered
from warehouse.evidence.objects.base import Entry, Objects, damage
from warehouse.evidence.signing.signatures import (
    PUBLICATION,
    TRUSTED,
    UNKNOWN_KEY,
    Subject,
    check_signature,
    evidence_subject,
    signature_key,
)

_COMPLETED = "wh gc --apply, or the next wh publish or wh sign, completes it"
_REMOVED = "wh gc --apply, or the next wh publish or wh sign, removes it; if not, publish the query again"
_AGAIN = "publish the query again, or restore the store from a copy"
_PUBLICATION = re.compile(rf"publications/[0-9a-f]{{64}}/({'|'.join(map(re.escape, (*CONTENT, RECORD)))})")
_SPEC = re.compile(r"specs/[0-9a-f]{64}\.json")
_SIGNATURE = re.compile(r"signatures/[0-9a-f]{64}/[0-9a-f]{64}\.dsse\.json")


class ClaimInspector:
    """Inspects publications, then specs and signatures, which are of publications that were seen, then what is missing.
    `chosen` says of which bundles signatures are looked at."""

    def __init__(self, objects: Objects, ledgered: Ledgered, chosen: Callable[[str], bool]) -> None:
        self._objects = objects
        self._ledgered = ledgered
        self._chosen = chosen
        self._records: dict[str, str | None] = {}  # sha256 of the record of each publication that was seen, if it is whole
        self._needed_specs: set[str] = set()
        self._specs: set[str] = set()
        self._signatures: set[tuple[str, str]] = set()

    def publications(self, entries: Iterable[Entry]) -> Iterator[Finding]:
        """What is wrong with objects under `publications/`. Raises WH114."""
        for digest, group in groupby(entries, lambda entry: entry.key.split("/")[1]):
            there = {entry.key for entry in group}
            ours = {key for key in there if _PUBLICATION.fullmatch(key)}
            yield from map(_orphan, sorted(there - ours))
            if ours:
                self._records[digest] = None
                yield from self._publication(digest, ours)

    def _publication(self, digest: str, there: set[str]) -> Iterator[Finding]:
        record_key = publication_key(digest, RECORD)
        if record_key not in there:
            if digest in self._ledgered.published:
                yield Finding(MISSING, record_key, "the ledger says that it was published", _AGAIN)
            else:
                yield Finding(LEFTOVER, f"publications/{digest}", "a publication that was interrupted", _REMOVED)
            return
        try:
            data = self._objects.read(record_key)
            record = parse_record(data, digest)
            sha256: Mapping[str, str] = record["sha256"]
            wanted = [(publication_key(digest, name), sha256[name]) for name in sorted(sha256)]
            self._needed_specs.add(str(record["query_spec_digest"]))
        except (OSError, WarehouseError, KeyError, TypeError) as error:
            yield _unread(record_key, error)
            return
        self._records[digest] = bytes_digest(data)
        if digest in self._ledgered.publishing - self._ledgered.published:
            yield Finding(UNLEDGERED, record_key, "its publication was begun, and no event says that it was published", _COMPLETED)
        elif digest not in self._ledgered.published:
            yield Finding(UNLEDGERED, record_key, "no event says when it was published", "publish the query again, which records it in the ledger")
        for key, expected in wanted:
            if key not in there:
                yield Finding(MISSING, key, "the publication's record lists it", _AGAIN)
            else:
                yield from self._differing(key, expected)

    def specs(self, entries: Iterable[Entry]) -> Iterator[Finding]:
        """What is wrong with objects under `specs/`. Raises WH114."""
        for entry in entries:
            if not _SPEC.fullmatch(entry.key):
                yield _orphan(entry.key)
                continue
            digest = entry.key[len("specs/") : -len(".json")]
            self._specs.add(digest)
            try:
                parse_specification(self._objects.read(entry.key), digest, entry.key)
            except (OSError, WarehouseError) as error:
                yield _unread(entry.key, error)
                continue
            if digest not in self._needed_specs:
                yield Finding(LEFTOVER, entry.key, "the spec of a publication that was interrupted", _REMOVED)

    def signatures(self, entries: Iterable[Entry]) -> Iterator[Finding]:
        """What is wrong with objects under `signatures/`. Raises WH114."""
        for entry in entries:
            if not _SIGNATURE.fullmatch(entry.key):
                yield _orphan(entry.key)
                continue
            _, digest, name = entry.key.split("/")
            signed = digest, name.partition(".")[0]
            self._signatures.add(signed)
            if self._is_asked(digest):
                yield from self._signature(entry.key, signed)

    def missing(self) -> Iterator[Finding]:
        """What should be there and was not seen, when all there is was."""
        for digest in sorted(self._ledgered.published - self._records.keys()):
            yield Finding(MISSING, publication_key(digest, RECORD), "the ledger says that it was published", _AGAIN)
        for digest in sorted(self._needed_specs - self._specs):
            yield Finding(MISSING, spec_key(digest), "a publication names it", _AGAIN)
        for digest, key_id in sorted(self._ledgered.signatures.keys() - self._signatures):
            if self._is_asked(digest):
                way_out = f"{_COMPLETED}; if not, sign it again, or {RESTORE}"
                yield Finding(MISSING, signature_key(digest, key_id), "the ledger says that it was signed", way_out)

    def _signature(self, key: str, signed: tuple[str, str]) -> Iterator[Finding]:
        digest, _ = signed
        ledgered = self._ledgered
        expected = ledgered.signatures.get(signed)
        if expected is not None:
            altered = list(self._differing(key, expected))
            if altered:
                yield from altered
                return
        subject = self._subject(digest)
        if subject is None:
            return  # of a publication that is not whole, which is reported
        found = check_signature(self._objects, key, subject, {})
        if found.finding not in (TRUSTED, UNKNOWN_KEY):
            yield Finding(ALTERED, key, found.reason, RESTORE)
        elif not any(digest in known for known in (self._records, ledgered.arrivals, ledgered.removed, ledgered.decisions, ledgered.checkpoints)):
            yield Finding(ORPHANED, key, "the ledger has no bundle, publication or decision of this digest")
        elif expected is None:
            yield Finding(UNLEDGERED, key, "no event knows it", "sign it again with its key, which records it in the ledger")

    def _is_asked(self, digest: str) -> bool:
        return any(digest in known for known in (self._records, self._ledgered.decisions, self._ledgered.checkpoints)) or self._chosen(digest)

    def _subject(self, digest: str) -> Subject | None:
        if digest in self._ledgered.decisions:
            return decision_subject(self._ledgered.decisions[digest])
        if digest in self._ledgered.checkpoints:
            return checkpoint_subject(self._ledgered.checkpoints[digest])
        if digest not in self._records:
            return evidence_subject(digest)
        sha256 = self._records[digest]
        return Subject(digest, publication_key(digest, RECORD), sha256, PUBLICATION) if sha256 else None

    def _differing(self, key: str, expected: str) -> Iterator[Finding]:
        try:
            found = stream_digest(self._objects.chunks(key))
        except OSError as error:
            yield _unread(key, error)
            return
        if found != expected:
            yield Finding(ALTERED, key, f"sha256 is {found}, it should be {expected}", RESTORE)


def _orphan(key: str) -> Finding:
    return Finding(ORPHANED, key, "nothing of this name belongs here", AWAY)


def _unread(key: str, error: Exception) -> Finding:
    """What keeps an object that is there from being read. An unreachable store is not a fault of its objects: it is raised."""
    if isinstance(error, WarehouseError):
        return Finding(ALTERED, key, damage(error).message, RESTORE)
    if isinstance(error, FileNotFoundError):
        return Finding(MISSING, key, "it is gone since it was listed", RESTORE)
    return Finding(ALTERED, key, f"cannot be read: {getattr(error, 'strerror', None) or error}", RESTORE)
