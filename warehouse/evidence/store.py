"""The local evidence store: bundles under `raw/sha256/<aa>/<artifact_manifest_digest>/`, manifest put last.

Promises: nothing under `raw/` is overwritten or deleted; a bundle is visible only when all its files and then its
manifest are durable; a crash leaves only what no reader sees. It never parses evidence.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path


from warehouse.digest import CHUNK_BYTES, bytes_digest, file_hasher, stream_digest
from warehouse.errors import ExitCode, WarehouseError, printable
from warehouse.evidence.durable import create_if_absent, fsync_folder, lock, make_folder, scratch_folder, unique_name, write_synced
from warehouse.evidence.manifest import Manifest, ManifestFile, parse_manifest

_REMOVAL_LOCK = ".removal.lock"
_COPY_THREADS = 8  # fsync waits overlap; hashing releases the interpreter lock


@dataclass(frozen=True)
class Staged:
    """A file copied and hashed, waiting in the store's `incoming/` for its bundle's digest."""

    path: Path
    bytes: int
    sha256: str


class LocalStore:
    """Evidence in a local folder. Opening it creates nothing."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._raw = root / "raw" / "sha256"

    # -- reading ------------------------------------------------------------------------------------------------

    def folder(self, digest: str) -> Path:
        """Where a bundle lies, there or not."""
        return self._raw / digest[:2] / digest

    def path(self, digest: str, raw_path: str) -> Path:
        """Where a raw file lies, there or not; the manifest itself counts as one."""
        return self.folder(digest) / raw_path if raw_path == "manifest.json" else self.folder(digest) / "files" / raw_path

    def uri(self, digest: str, raw_path: str) -> str:
        """The `file://` URI of a raw file."""
        return self.path(digest, raw_path).resolve().as_uri()

    def digests(self) -> list[str]:
        """The digests of all folders with a `manifest.json`, sorted; a cheap listing, nothing is read."""
        found = []
        for prefix in _listed(self._raw):
            found += [entry.name for entry in _listed(Path(prefix.path)) if os.path.exists(f"{entry.path}/manifest.json")]
        return sorted(found)

    def manifest(self, digest: str) -> Manifest:
        """The manifest of a bundle, checked against its digest. Raises WH106 (missing), WH107 (empty or not a
        manifest), WH105 (tampered)."""
        path = self.folder(digest) / "manifest.json"
        place = f"{digest[:12]}/manifest.json"
        try:
            data = path.read_bytes()
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
        """What is wrong with a bundle: its manifest, then each file that is missing or altered."""
        try:
            manifest = self.manifest(digest)
        except WarehouseError as error:
            yield error
            return
        for file in manifest.files:
            try:
                self.check_file(digest, file)
            except WarehouseError as error:
                yield error

    def check_file(self, digest: str, file: ManifestFile) -> None:
        """Re-hash one raw file. Raises WH106 (missing) or WH105 (tampered) with the file's place."""
        path = self.folder(digest) / "files" / file.raw_path
        place = f"{digest[:12]}/{printable(file.raw_path)}"
        try:
            # Not blocking: a pipe put in the file's place would be waited for without end.
            with open(path, "rb", opener=open_plain) as stream:
                if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
                    raise WarehouseError("WH105", "it is no file any more", place, exit_code=ExitCode.TAMPERED)
                found = stream_digest(iter(lambda: stream.read(CHUNK_BYTES), b""))
        except OSError as error:
            if error.errno == errno.ELOOP:
                raise WarehouseError("WH105", "it is a link now", place, exit_code=ExitCode.TAMPERED) from error
            raise WarehouseError(
                "WH106", f"cannot be read: {error.strerror}", place, exit_code=ExitCode.MISSING
            ) from error
        if found != file.sha256:
            raise WarehouseError(
                "WH105", f"sha256 is {found}, the manifest says {file.sha256}", place, exit_code=ExitCode.TAMPERED
            )

    # -- writing ------------------------------------------------------------------------------------------------

    @contextmanager
    def incoming(self) -> Iterator["Incoming"]:
        """A place to copy files to before their bundles are known. Gone afterwards; what a crash leaves is removed by
        the next ingest. Raises WH109."""
        with ExitStack() as stack:
            stack.enter_context(self.keeping())
            try:
                folder = stack.enter_context(scratch_folder(self.root / "incoming"))
            except OSError as error:
                raise _unwritable(error, self.root) from error
            yield Incoming(folder)

    def keeping(self) -> AbstractContextManager[None]:
        """While it is open no evidence is removed: what is found here stays until it is used. Raises WH109."""
        return self._locked(alone=False)

    def removing(self) -> AbstractContextManager[None]:
        """While it is open nobody takes evidence in or rests a publication on it. Raises WH109."""
        return self._locked(alone=True)

    @contextmanager
    def _locked(self, *, alone: bool) -> Iterator[None]:
        with ExitStack() as stack:
            try:
                stack.enter_context(lock(self.root / _REMOVAL_LOCK, alone=alone))
            except OSError as error:
                raise _unwritable(error, self.root) from error
            yield

    def commit(self, manifest: Manifest, staged: Sequence[Staged], scratch: Path) -> bool:
        """Make a bundle visible: link its files, then its manifest. False when it was there already.

        `staged[i]` is the copy of `manifest.files[i]`. A manifest that is there but does not hash to its name (left by
        a crash of another tool) is moved aside, kept, and replaced. Raises WH103 for a path that the store's file system
        has no room for, WH109 when the store cannot be written.
        """
        folder = self.folder(manifest.digest)
        try:
            if self._is_committed(manifest.digest):
                return False
            folders = {folder}
            for file, copy in zip(manifest.files, staged, strict=True):
                target = folder / "files" / file.raw_path
                make_folder(target.parent)
                _link_whole(copy, target)
                folders.add(target.parent)
            for path in folders:
                fsync_folder(path)
            while not create_if_absent(folder / "manifest.json", manifest.canonical, scratch / f"manifest-{unique_name()}"):
                if self._is_committed(manifest.digest):
                    return False  # by another ingest, meanwhile
                _move_aside(folder / "manifest.json")
            return True
        except OSError as error:
            if error.errno == errno.ENAMETOOLONG:
                place = printable(str(error.filename2 or error.filename))[-200:]
                raise WarehouseError("WH103", "too long for the store's file system", place, "ingest from a shorter path") from error
            raise _unwritable(error, folder) from error

    def _is_committed(self, digest: str) -> bool:
        try:
            self.manifest(digest)
        except WarehouseError:
            return False
        return True


class Incoming:
    """Copies files into the store's `incoming/`, hashing each in the same single pass."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def copy(self, sources: Sequence[Path]) -> list[Staged | WarehouseError]:
        """One result a source: the staged copy, or why it could not be read (WH102) or changed meanwhile (WH108).
        Raises WH109 when the store cannot be written. Memory: one chunk a thread, however large the files."""
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(_COPY_THREADS) as threads:
            return list(threads.map(self._copy, sources))

    def _copy(self, source: Path) -> Staged | WarehouseError:
        target = self.folder / unique_name()
        hasher = file_hasher()
        copied = 0
        failure: list[OSError] = []

        def chunks() -> Iterator[bytes]:
            nonlocal copied
            try:
                while chunk := stream.read(CHUNK_BYTES):
                    hasher.update(chunk)
                    copied += len(chunk)
                    yield chunk
                    if copied > before.st_size > 0:
                        return  # it grows, perhaps faster than it can be read
            except OSError as error:  # the source's fault, not the store's
                failure.append(error)

        try:
            stream = open(source, "rb", buffering=0, opener=open_plain)
        except OSError as error:
            return WarehouseError("WH102", error.strerror or str(error), printable(str(source)))
        with stream:
            before = os.fstat(stream.fileno())
            try:
                write_synced(target, chunks())
            except OSError as error:
                raise _unwritable(error, self.folder) from error
            after = os.fstat(stream.fileno())
        if failure:
            target.unlink()
            return WarehouseError("WH102", failure[0].strerror or str(failure[0]), printable(str(source)))
        is_changed = (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns)
        # The sizes of the kernel's own files mean nothing: 0 in /proc, 4096 in /sys.
        if is_changed or copied > after.st_size > 0:
            target.unlink()
            return WarehouseError("WH108", "changed while it was read", printable(str(source)), "ingest it when it is done")
        return Staged(target, copied, hasher.hexdigest())


def open_plain(path: str, flags: int) -> int:
    """An opener for what should be a regular file: a link put in its place is not followed, a pipe not waited for."""
    return os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK)


def _link_whole(copy: Staged, target: Path) -> None:
    """Link a staged copy to its final name; a file already there from an unfinished ingest stays if it is the same."""
    while True:
        try:
            os.link(copy.path, target)
            return
        except FileExistsError:
            if _holds(target, copy.sha256):
                return
            _move_aside(target)


def _holds(path: Path, sha256: str) -> bool:
    try:
        with open(path, "rb") as stream:
            return stream_digest(iter(lambda: stream.read(CHUNK_BYTES), b"")) == sha256
    except FileNotFoundError:
        return False


def _move_aside(path: Path) -> None:
    with suppress(FileNotFoundError):  # another ingest was first
        path.rename(path.with_name(f"{path.name}.damaged-{unique_name()}"))


def _listed(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return [entry for entry in entries if entry.is_dir(follow_symlinks=False)]
    except FileNotFoundError:
        return []


def _unwritable(error: OSError, place: Path) -> WarehouseError:
    return WarehouseError(
        "WH109", f"the store cannot be written: {error.strerror or error}", str(place),
        "free space or fix the permissions, then ingest again: what is there already is kept",
    )
