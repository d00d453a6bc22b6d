"""The evidence store: bundles under `raw/sha256/<aa>/<artifact_manifest_digest>/`, manifest put last, in any `Objects`.

Promises: nothing under `raw/` is overwritten or deleted; a bundle is visible only when all its files and then its
manifest are durable; a crash leaves only what no reader sees. It never parses evidence.
"""

from __future__ import annotations

import errno
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import TypeVar

from warehouse.digest import bytes_digest, stream_digest
from warehouse.errors import ExitCode, WarehouseError, printable
from warehouse.evidence.durable import scratch_folder
from warehouse.evidence.incoming import Incoming, unwritable
from warehouse.evidence.manifest import Manifest, ManifestFile, parse_manifest
from warehouse.evidence.objects.base import NotAnObject, Objects, Removal, Staged, damage
from warehouse.evidence.objects.local import LocalObjects

CAMPAIGNS = "campaigns"  # the key of what runners of campaigns agree on: who works on what, and what is done. It is no evidence
_FETCHED_BYTES = 8 << 20
_THREADS = 8  # a bucket's answers are waited for together
MADE, COMPLETED, WAS_THERE = "made", "completed", "was there"  # what becomes of a bundle that is committed
Lock = TypeVar("Lock")


def bundle_key(digest: str) -> str:
    """The key that all of a bundle's objects begin with."""
    return f"raw/sha256/{digest[:2]}/{digest}"


def manifest_key(digest: str) -> str:
    """The key of a bundle's manifest, there or not."""
    return f"{bundle_key(digest)}/manifest.json"


def raw_key(digest: str, raw_path: str) -> str:
    """The key of a raw file, there or not. One that is called `manifest.json` is a file as any other."""
    return f"{bundle_key(digest)}/files/{raw_path}"


def proof_key(digest: str, raw_path: str, sha256: str) -> str:
    """The key of what a number names as its evidence: a raw file, or the manifest, whose sha256 is the bundle's digest (no file
    of the bundle can have that one)."""
    return manifest_key(digest) if sha256 == digest else raw_key(digest, raw_path)


class EvidenceStore:
    """Evidence in `objects`. `work` is a local folder for what is no evidence: landing tables, which are made from it, and
    what is not finished. Where the store is a folder, it is the same one. Opening it creates nothing."""

    def __init__(self, objects: Objects, work: Path) -> None:
        self.objects = objects
        self._work = work

    @property
    def landing(self) -> Path:
        """The folder of the landing tables."""
        return self._work / "landing"

    @property
    def scratch(self) -> Path:
        """Where `scratch_folder`s of work on this store lie: on the file system of its landing."""
        return self._work / "incoming"

    # -- reading ------------------------------------------------------------------------------------------------

    def is_empty(self) -> bool:
        """Whether there is neither evidence nor word of any."""
        return not any(True for top in ("raw", "ledger") for _ in self.objects.entries(top))

    def digests(self) -> list[str]:
        """The digests of all bundles with a `manifest.json`, sorted; a listing, nothing is read."""
        return sorted(key.split("/")[3] for key in self.objects.matching(manifest_key("*")))

    def has(self, digest: str) -> bool:
        """Whether a bundle's manifest lies there, whatever is in it."""
        return self.objects.exists(manifest_key(digest))

    def manifest(self, digest: str) -> Manifest:
        """The manifest of a bundle, checked against its digest. Raises WH106 (missing), WH107 (empty or not a
        manifest), WH105 (tampered)."""
        place = f"{digest[:12]}/manifest.json"
        try:
            data = self.objects.read(manifest_key(digest))
        except OSError as error:
            raise WarehouseError(
                "WH106", f"cannot be read: {error.strerror}", place, "ingest the evidence again", ExitCode.MISSING
            ) from error
        if not data:
            raise WarehouseError("WH107", "the manifest is empty", place, "ingest the evidence again")
        if bytes_digest(data) != digest:
            raise WarehouseError(
                "WH105", "the manifest does not hash to its name", place, "ingest the evidence again", ExitCode.TAMPERED
            )
        return parse_manifest(data, place)

    def check_bundle(self, digest: str) -> Iterator[WarehouseError]:
        """What is wrong with a bundle: its manifest, then each file that is missing or altered. Raises WH114."""
        try:
            manifest = self.manifest(digest)
        except WarehouseError as error:
            yield damage(error)
            return
        if len(manifest.files) < 2:  # as most bundles have: threads cost more than they give there
            yield from filter(None, map(partial(self.file_problem, digest), manifest.files))
            return
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(_THREADS) as threads:
            yield from filter(None, threads.map(partial(self.file_problem, digest), manifest.files))

    def file_problem(self, digest: str, file: ManifestFile) -> WarehouseError | None:
        """What `check_file` raises of damage; None where the file is whole. Raises WH114."""
        try:
            self.check_file(digest, file)
        except WarehouseError as error:
            return damage(error)
        return None

    def check_file(self, digest: str, file: ManifestFile) -> None:
        """Re-hash one raw file. Raises WH106 (missing) or WH105 (tampered) with the file's place, WH114."""
        place = f"{digest[:12]}/{printable(file.raw_path)}"
        try:
            found = stream_digest(self.objects.chunks(raw_key(digest, file.raw_path)))
        except NotAnObject as error:
            raise WarehouseError("WH105", str(error.strerror), place, exit_code=ExitCode.TAMPERED) from error
        except OSError as error:
            raise WarehouseError(
                "WH106", f"cannot be read: {error.strerror}", place, exit_code=ExitCode.MISSING
            ) from error
        if found != file.sha256:
            raise WarehouseError(
                "WH105", f"sha256 is {found}, the manifest says {file.sha256}", place, exit_code=ExitCode.TAMPERED
            )

    def local_file(self, digest: str, file: ManifestFile) -> Path:
        """A local file with the bytes of a raw file, which whoever reads it checks. Raises WH105 for one that is altered in a
        bucket, WH114, `OSError`."""
        return self.objects.local_copy(raw_key(digest, file.raw_path), file.sha256)

    def fetch(self, digest: str, manifest: Manifest) -> None:
        """Have local files of a bundle's small files made at once, where that is quicker: of a large one nobody knows yet
        whether it is wanted. Raises WH114."""
        small = [file for file in manifest.files if file.bytes <= _FETCHED_BYTES]
        self.objects.fetch({raw_key(digest, file.raw_path): file.sha256 for file in small})

    # -- writing ------------------------------------------------------------------------------------------------

    @contextmanager
    def incoming(self) -> Iterator[Incoming]:
        """A place to copy files to before their bundles are known. Gone afterwards; what a crash leaves is removed by
        the next ingest. Raises WH109."""
        with ExitStack() as stack:
            stack.enter_context(self.keeping())
            try:
                folder = stack.enter_context(scratch_folder(self.scratch))
            except OSError as error:
                raise unwritable(error, self.scratch.parent) from error
            stack.enter_context(self.objects.staging_in(folder))
            yield Incoming(folder, links_files=self.objects.links_files)

    def keeping(self) -> AbstractContextManager[None]:
        """While it is open no evidence is removed that `objects.check_kept` has found to be held. Raises WH109, WH114."""
        return self._locked(self.objects.keeping())

    def removing(self, *, waits: bool = True) -> AbstractContextManager[Removal]:
        """While it is open, of what it agrees to remove nobody takes anything in or rests a publication on it. Raises WH109,
        WH116."""
        return self._locked(self.objects.removing(waits=waits))

    @contextmanager
    def _locked(self, lock: AbstractContextManager[Lock]) -> Iterator[Lock]:
        with ExitStack() as stack:
            try:
                held = stack.enter_context(lock)
            except OSError as error:
                raise unwritable(error, self.objects.url) from error
            yield held

    def commit(self, manifest: Manifest, staged: Sequence[Staged]) -> str:
        """`commit_all` of one bundle."""
        return self.commit_all([(manifest, staged)])[0]

    def commit_all(self, bundles: Sequence[tuple[Manifest, Sequence[Staged]]]) -> list[str]:
        """Make bundles visible: the files of all of them, then their manifests. Of each, `MADE` for the one caller that made the manifest;
        `COMPLETED` where the bundle was there and lacked files; else `WAS_THERE`.

        `staged[i]` is the copy of `manifest.files[i]`. A file or manifest that is there but has another digest (left by
        a crash of another tool) is moved aside, kept, and replaced. Files that a stored bundle lacks are put
        back; the others are not read again. Raises WH103 for a path that the store has no room for,
        WH109 when the store cannot be written, WH114, WH116 for a bundle that is being removed; the same again goes on with them.
        """
        outcomes = dict.fromkeys((manifest.digest for manifest, _ in bundles), MADE)
        new: dict[str, Manifest] = {}
        copies: dict[str, Staged] = {}
        try:
            for manifest, staged in bundles:
                self.objects.check_kept(manifest.digest)
                own = {raw_key(manifest.digest, file.raw_path): copy for file, copy in zip(manifest.files, staged, strict=True)}
                if self._is_committed(manifest.digest):
                    lacking = self.lacking(manifest)
                    outcomes[manifest.digest] = COMPLETED if lacking else WAS_THERE
                    own = {key: own[key] for key in lacking}
                else:
                    new[manifest_key(manifest.digest)] = manifest
                copies |= own
            self._put(copies)
            for manifest in self._committed_by_others(new):
                outcomes[manifest.digest] = WAS_THERE
        except OSError as error:
            if error.errno == errno.ENAMETOOLONG:
                place = printable(str(error.filename2 or error.filename))[-200:]
                raise WarehouseError("WH103", "too long for the store's file system", place, "ingest from a shorter path") from error
            raise unwritable(error, f"{self.objects.url}/{bundle_key(bundles[0][0].digest)}") from error
        # The same bundle twice: what the first one made was there for the second.
        return [outcomes.pop(manifest.digest, WAS_THERE) for manifest, _ in bundles]

    def _committed_by_others(self, new: Mapping[str, Manifest]) -> Iterator[Manifest]:
        """Make the manifests under these keys; those that another ingest made meanwhile."""
        while new:
            made = self.objects.create_files({
                key: Staged(manifest.canonical, len(manifest.canonical), manifest.digest) for key, manifest in new.items()
            })
            there = {key: manifest for key, manifest in new.items() if key not in made}
            whole = {key for key, manifest in there.items() if self._is_committed(manifest.digest)}
            yield from (there[key] for key in whole)
            new = {key: manifest for key, manifest in there.items() if key not in whole}
            for key in new:
                self.objects.move_aside(key)

    def lacking(self, manifest: Manifest) -> list[str]:
        """The keys of the files that a bundle should have, and that are not there or of another size: a listing, nothing is
        read. Raises WH114."""
        there = {entry.key: entry.bytes for entry in self.objects.entries(bundle_key(manifest.digest))}
        wanted = {raw_key(manifest.digest, file.raw_path): file.bytes for file in manifest.files}
        return [key for key, size in wanted.items() if there.get(key) != size]

    def _put(self, copies: dict[str, Staged]) -> None:
        """Make the files under these keys, and move aside what lies there and is another."""
        while copies:
            made = self.objects.create_files(copies)
            copies = self._damaged({key: copy for key, copy in copies.items() if key not in made})
            for key in copies:
                self.objects.move_aside(key)

    def _damaged(self, there: dict[str, Staged]) -> dict[str, Staged]:
        """Those under whose keys other bytes lie than the staged ones, or none any more."""
        with ThreadPoolExecutor(_THREADS) as threads:
            whole = threads.map(lambda key: self._holds(key, there[key].sha256), there)
            return {key: copy for (key, copy), is_whole in zip(there.items(), whole, strict=True) if not is_whole}

    def _holds(self, key: str, sha256: str) -> bool:
        try:
            return stream_digest(self.objects.chunks(key)) == sha256
        except (FileNotFoundError, NotAnObject):
            return False

    def _is_committed(self, digest: str) -> bool:
        try:
            self.manifest(digest)
        except WarehouseError as error:
            damage(error)
            return False
        return True


def local_store(root: Path) -> EvidenceStore:
    """The store in a folder."""
    return EvidenceStore(LocalObjects(root), root)
