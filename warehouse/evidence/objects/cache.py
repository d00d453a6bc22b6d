"""Local copies of a bucket's objects, each by its sha256: checked when it is made, and never more than so many bytes.

It is no part of the store and may be deleted at any time. Who reads a copy checks it again, like any raw file.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from warehouse.digest import file_hasher
from warehouse.errors import ExitCode, WarehouseError, printable
from warehouse.evidence.durable import make_folder, scratch_folder, write_new

_BYTES = 20 << 30  # of all copies; those in use stay beyond it
_IN_USE_S = 3600  # a copy that was asked for so recently is not removed: whoever asked is about to open it


class ObjectCache:
    """The copies under a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def path(self, sha256: str) -> Path:
        """Where a copy lies, there or not."""
        return self._folder / "sha256" / sha256[:2] / sha256

    def find(self, sha256: str) -> Path | None:
        """A copy that is there; it stays for a while."""
        path = self.path(sha256)
        try:
            os.utime(path)
        except FileNotFoundError:
            return None
        return path

    def add(self, sha256: str, chunks: Iterable[bytes], place: str) -> Path:
        """Make a copy. Raises WH105 when the bytes have another digest, WH109 when it cannot be written, and what reading them
        raises."""
        hasher = file_hasher()

        def hashed() -> Iterable[bytes]:
            for chunk in chunks:
                hasher.update(chunk)
                yield chunk

        path = self.path(sha256)
        try:
            with scratch_folder(self._folder / "incoming") as scratch:
                write_new(scratch / sha256, hashed())
                if hasher.hexdigest() != sha256:
                    message = f"sha256 is {hasher.hexdigest()}, the manifest says {sha256}"
                    raise WarehouseError("WH105", message, printable(place), exit_code=ExitCode.TAMPERED)
                self._make_room((scratch / sha256).stat().st_size)
                make_folder(path.parent)
                os.replace(scratch / sha256, path)
        except FileNotFoundError:
            raise
        except OSError as error:
            raise WarehouseError("WH109", f"no local copy can be made: {error.strerror}", str(self._folder), "free space there") from error
        return path

    def _make_room(self, size: int) -> None:
        """Remove the copies that were not used for the longest time, as long as there are too many."""
        copies = []
        for path in self._folder.glob("sha256/*/*"):
            with suppress(FileNotFoundError):
                info = path.stat()
                copies.append((info.st_mtime, info.st_size, path))
        total = size + sum(size for _, size, _ in copies)
        for modified, size, path in sorted(copies):
            if total <= _BYTES or modified > time.time() - _IN_USE_S:
                return
            path.unlink(missing_ok=True)
            total -= size
