"""`wh push` and `wh pull`: bundles and publications from one store to another, with all that belongs to them.

Promises: what arrives was hashed on the way and is what its digest says; nothing that is there is overwritten; what was cut short
is gone on with by the next one; the same again is a no-op. A bundle is there before the ledger says so, as in an ingest, and
a publication's record comes last, after all that it depends on. What cannot be copied does not stop the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from warehouse.claims.publish.publication import RECORD, PublishedRollup, publication_key, spec_key, stored_publications
from warehouse.claims.publish.signing import publication_subject
from warehouse.claims.publish.specification import parse_specification
from warehouse.digest import bytes_digest, canonical_json
from warehouse.errors import ExitCode, WarehouseError, printable
from warehouse.evidence.incoming import Incoming
from warehouse.evidence.ledger.chain import checkpoint_subject
from warehouse.evidence.ledger.events import BROUGHT, PUBLICATION, REMOVAL, SIGNATURE, Event, Ledger, name_digest
from warehouse.evidence.ledger.run_decisions import decision_subject
from warehouse.evidence.ledger.summary import read_ledgered
from warehouse.evidence.manifest import Manifest, ManifestFile
from warehouse.evidence.objects.base import UNREACHABLE, Staged
from warehouse.evidence.signing.signatures import TRUSTED, UNKNOWN_KEY, Subject, check_signature, evidence_subject, signature_keys
from warehouse.evidence.store import EvidenceStore, manifest_key, raw_key

BUNDLE = "bundle"
PUBLISHED = "publication"
_RESTORE = "restore the store from a copy; wh fsck lists all damage"
_OF_THE_STORE = ("WH109", UNREACHABLE, "WH129")  # nothing more comes there, or from there


@dataclass(frozen=True)
class Moved:
    """What became of one bundle or publication: whether it was not there before, and the bytes that it has."""

    kind: str
    digest: str
    is_new: bool
    bytes: int


@dataclass(frozen=True)
class Selection:
    """What is to be moved: digests of bundles, sorted, and publications."""

    bundles: tuple[str, ...]
    publications: tuple[PublishedRollup, ...]


def select(source: EvidenceStore, wanted: Sequence[str]) -> Selection:
    """All that a store has, or the bundles and publications whose digests begin so: with a publication the bundles that it rests
    on. Raises WH304 for a beginning that nothing has, WH305 for one that several have, WH307 for a damaged publication."""
    stored, published = source.digests(), stored_publications(source.objects)
    if not wanted:
        return Selection(tuple(stored), tuple(published))
    bundles: set[str] = set()
    publications: dict[str, PublishedRollup] = {}
    for beginning in wanted:
        found = [digest for digest in stored if digest.startswith(beginning)]
        rollups = [each for each in published if each.digest.startswith(beginning)]
        if len(found) + len(rollups) != 1:
            many = bool(found or rollups)
            message = "several bundles or publications have digests that begin so" if many else "no bundle and no publication has this digest"
            raise WarehouseError(
                "WH305" if many else "WH304", message, f"{source.objects.url}: {printable(beginning)}",
                exit_code=ExitCode.AMBIGUOUS if many else ExitCode.NOT_FOUND,
            )
        bundles.update(found)
        for rollup in rollups:
            rollup.check()
            publications[rollup.digest] = rollup
            bundles |= rollup.bundles()
    return Selection(tuple(sorted(bundles)), tuple(publications.values()))


def transfer(source: EvidenceStore, target: EvidenceStore, selection: Selection) -> Iterator[Moved]:
    """Copy what is selected into another store, one after another. What could not be copied is raised together when the rest
    is copied: WH128 where the other store has other bytes under a key, WH105 to WH107, WH113 and WH307 for what is damaged in the
    first store, WH103 and WH115 for what the other store does not take, WH116. Raises WH109, WH114, WH129 at once."""
    with target.incoming() as incoming:
        carrier = _Carrier(source, target, incoming)
        for digest in selection.bundles:
            yield from carrier.tried(digest, partial(carrier.bundle, digest))
        for publication in selection.publications:
            yield from carrier.tried(publication.digest, partial(carrier.publication, publication))
        for event in Ledger(source.objects).decisions():
            yield from carrier.tried(event.sha256, partial(carrier.decision, event))
        carrier.finish()
        if carrier.failed:
            first, *rest = carrier.failed.values()
            raise replace(first, also=(*first.also, *rest))


class _Carrier:
    """Copies from `source` to `target`. Both ledgers are read once, when it is made. `failed`: what could not be copied, by
    digest."""

    def __init__(self, source: EvidenceStore, target: EvidenceStore, incoming: Incoming) -> None:
        self._source = source
        self._target = target
        self._incoming = incoming
        self._events: dict[str, list[str]] = {}  # of the source, their keys by what they are of, without removals
        self._signatures: dict[tuple[str, str], str] = {}  # and what they say of signatures
        self._published: dict[str, list[Event]] = {}  # and those of publications
        for key, event in Ledger(source.objects).keyed_events():
            if event.kind != REMOVAL:  # that is the other store's own history
                self._events.setdefault(event.subject, []).append(key)
            if event.kind == SIGNATURE:
                self._signatures[event.subject, str(event.detail.get("key_id"))] = str(event.detail.get("sha256"))
            if event.kind == PUBLICATION:
                self._published.setdefault(event.subject, []).append(event)
        self._ledger = Ledger(target.objects)
        self._there = read_ledgered(target.objects)
        self._events_there = frozenset(self._ledger.keys())
        self._brought: dict[str, None] = {}  # events that are there now, by sha256
        self.failed: dict[str, WarehouseError] = {}

    def finish(self) -> None:
        """Record in the other ledger which events were copied, also those of a call that was cut short. Raises WH109."""
        known = {str(sha256) for event in self._ledger.events() if event.kind == BROUGHT for sha256 in event.detail.get("events", ())}
        if new := [sha256 for sha256 in self._brought if sha256 not in known]:
            self._ledger.brought(self._source.objects.url, new)

    def tried(self, digest: str, bring: Callable[[], Moved | None]) -> Iterator[Moved]:
        """What is moved by `bring`, if it can be. Raises WH109, WH114, WH129 with what failed before."""
        try:
            moved = bring()
        except WarehouseError as error:
            if error.code in _OF_THE_STORE:
                raise replace(error, also=(*error.also, *self.failed.values())) from error
            if error not in self.failed.values():  # one decision of a run may represent all
                self.failed[digest] = error
        else:
            if moved:
                yield moved

    def bundle(self, digest: str) -> Moved:
        manifest = self._source.manifest(digest)
        self._target.objects.check_kept(digest)
        is_new = not self._is_there(manifest)
        if is_new:
            self._copy_bundle(manifest)
        is_told = self._copy_events(digest)
        # What arrived before it was removed there has not arrived again: that is to be said now.
        if digest in self._there.removed or (digest not in self._there.arrivals and not is_told):
            self._ledger.arrived(digest, manifest.family, self._source.objects.url)
        self._copy_signatures(evidence_subject(digest))
        return Moved(BUNDLE, digest, is_new, sum(file.bytes for file in manifest.files))

    def _is_there(self, manifest: Manifest) -> bool:
        key = manifest_key(manifest.digest)
        try:
            there = self._target.objects.read(key)
        except FileNotFoundError:
            return False
        if there != manifest.canonical:
            raise self._conflict(key)
        return not self._target.lacking(manifest)

    def _copy_bundle(self, manifest: Manifest) -> None:
        digest = manifest.digest
        self._source.fetch(digest, manifest)
        sources = [self._local_file(digest, file) for file in manifest.files]
        copies = self._incoming.copy(sources)
        staged = [copy for copy in copies if isinstance(copy, Staged)]
        try:
            for file, copy in zip(manifest.files, copies, strict=True):
                if isinstance(copy, WarehouseError):
                    raise copy
                if copy.sha256 != file.sha256:
                    raise WarehouseError(
                        "WH105", f"sha256 is {copy.sha256}, the manifest says {file.sha256}",
                        f"{self._source.objects.url}/{raw_key(digest, file.raw_path)}", _RESTORE, ExitCode.TAMPERED,
                    )
            self._target.commit(manifest, staged)
        finally:
            self._incoming.discard(staged)

    def _local_file(self, digest: str, file: ManifestFile) -> Path:
        try:
            path = self._source.local_file(digest, file)
            path.lstat()
            return path
        except OSError as error:
            place = f"{self._source.objects.url}/{raw_key(digest, file.raw_path)}"
            raise WarehouseError("WH106", f"cannot be read: {error.strerror}", place, _RESTORE, ExitCode.MISSING) from error

    def publication(self, publication: PublishedRollup) -> Moved:
        publication.check()
        digest, objects = publication.digest, self._source.objects
        bundles = sorted(publication.bundles())
        if lost := [bundle for bundle in bundles if bundle in self.failed]:
            first, more = self.failed[lost[0]], f" and {len(lost) - 1} more" * (len(lost) > 1)
            message = f"not copied, because it depends on bundle {lost[0][:12]}{more}, and that cannot be"
            raise WarehouseError(first.code, message, f"{objects.url}/{publication_key(digest, RECORD)}", exit_code=first.exit_code)
        spec = spec_key(str(publication.record["query_spec_digest"]))
        data = self._read(spec)
        parse_specification(data, str(publication.record["query_spec_digest"]), f"{objects.url}/{spec}")
        self._create(spec, data)
        size = 0
        for name in publication.content:
            key = publication_key(digest, name)
            data = self._read(key)
            if bytes_digest(data) != publication.record["sha256"][name]:
                raise WarehouseError("WH105", "it differs from its digest", f"{objects.url}/{key}", _RESTORE, ExitCode.TAMPERED)
            self._create(key, data)
            size += len(data)
        for bundle in bundles:
            self._target.objects.check_kept(bundle)
        is_new = self._create(publication_key(digest, RECORD), canonical_json(dict(publication.record)))
        self._copy_events(digest)  # a publication of which no event tells here has none there either
        self._copy_signatures(publication_subject(digest, publication.sha256))
        for event in self._published.get(digest, ()):
            self._copy_events(event.sha256)  # that it was signed
            self._copy_signatures(checkpoint_subject(event))
        return Moved(PUBLISHED, digest, is_new, size)

    def decision(self, event: Event) -> None:
        """What was decided of a run or noted on it: whichever it is, for the ledger does not say of which bundle a run is."""
        self._copy_events(event.subject)
        self._copy_events(event.sha256)  # that it was signed
        self._copy_signatures(decision_subject(event))

    def _copy_events(self, subject: str) -> bool:
        """Copy the events of a bundle, publication or run; whether there are any."""
        source, keys = Ledger(self._source.objects), self._events.get(subject, [])
        for key in keys:
            sha256 = name_digest(key)
            if sha256 is None or key not in self._events_there:
                sha256 = source.event(key).sha256  # raises where it is not what its name says any more
                self._create(key, self._read(key))
            self._brought[sha256] = None
        return bool(keys)

    def _copy_signatures(self, subject: Subject) -> None:
        """Copy the signatures of a subject that fit it; a key that is not trusted here may be trusted there."""
        for key in signature_keys(self._source.objects, subject.digest):
            found = check_signature(self._source.objects, key, subject, {})
            data = self._read(key)
            sha256, signed = bytes_digest(data), (subject.digest, found.key_id)
            if found.finding not in (TRUSTED, UNKNOWN_KEY) or self._signatures.get(signed, sha256) != sha256:
                place = f"{self._source.objects.url}/{key}"
                raise WarehouseError("WH113", f"not copied: {found.reason}", place, _RESTORE, ExitCode.TAMPERED)
            if signed not in self._signatures and signed not in self._there.signatures:
                self._ledger.signed(*signed, data)
            self._create(key, data)

    def _read(self, key: str) -> bytes:
        try:
            return self._source.objects.read(key)
        except OSError as error:
            place = f"{self._source.objects.url}/{key}"
            raise WarehouseError("WH106", f"cannot be read: {error.strerror}", place, _RESTORE, ExitCode.MISSING) from error

    def _create(self, key: str, data: bytes) -> bool:
        """Make an object unless it is there; whether it was made. Raises WH128, WH109."""
        try:
            if self._target.objects.create(key, data):
                return True
            if self._target.objects.read(key) != data:
                raise self._conflict(key)
        except OSError as error:
            place = f"{self._target.objects.url}/{key}"
            raise WarehouseError("WH109", f"the store cannot be written: {error.strerror}", place) from error
        return False

    def _conflict(self, key: str) -> WarehouseError:
        return WarehouseError(
            "WH128", f"it has other bytes than {self._source.objects.url}/{key}", f"{self._target.objects.url}/{key}",
            "one of them was altered: wh fsck on either says which", ExitCode.TAMPERED,
        )
