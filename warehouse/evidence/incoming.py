"""Evidence on its way into a store: copied once, hashed on the way, before it is known whose bundle it is."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path

from warehouse.digest import CHUNK_BYTES, file_hasher
from warehouse.errors import WarehouseError, printable
from warehouse.evidence.durable import write_new
from warehouse.evidence.objects.base import Staged
from warehouse.evidence.objects.local import open_plain

_COPY_THREADS = 8  # hashing releases the interpreter lock
_HELD_FILE_BYTES = 1 << 20  # of the largest file that is held in memory until it is sent
_HELD_BYTES = 64 << 20  # of all such files together


class Incoming:
    """Copies files to where their bytes cannot change any more, hashing each in the same single pass: into `folder`, or, where the
    store sends what it is given (not `links_files`), small ones into memory. A crash may lose them: the store puts what it links on the disk."""

    def __init__(self, folder: Path, *, links_files: bool) -> None:
        self.folder = folder
        self._names = count()  # in a folder of its own: no other gives names there
        self._gate = threading.Lock()
        self._free = shutil.disk_usage(folder).free
        self._room = 0 if links_files else _HELD_BYTES

    def copy(self, sources: Sequence[Path]) -> list[Staged | WarehouseError]:
        """One result a source: the staged copy, or why it could not be read (WH102), is larger than what is free (WH115) or changed
        meanwhile (WH108). Raises WH109 when the store cannot be written. Memory: one chunk a thread, however large the files, and 64 MiB."""
        if len(sources) == 1:  # as in most bundles: a thread would take as long as the copy of a small file
            return [self._copy(sources[0])]
        with ThreadPoolExecutor(_COPY_THREADS) as threads:
            return list(threads.map(self._copy, sources))

    def discard(self, copies: Iterable[Staged]) -> None:
        """Forget copies that are not needed any more."""
        for copy in copies:
            if isinstance(copy.content, Path):
                copy.content.unlink(missing_ok=True)
            else:
                self._give_back(copy.bytes)

    def _takes(self, size: int) -> bool:
        """Whether a file of this size is to be held in memory; then there is room for it. The kernel's own files say 0 of any size."""
        with self._gate:
            is_taken = 0 < size <= min(self._room, _HELD_FILE_BYTES)
            self._room -= size * is_taken
        return is_taken

    def _give_back(self, size: int) -> None:
        with self._gate:
            self._room += size

    def _copy(self, source: Path) -> Staged | WarehouseError:
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
            if before.st_size > self._free:
                return _too_large(source, before, self._free)
            content: Path | bytes
            if self._takes(before.st_size):
                content = b"".join(chunks())
                self._give_back(before.st_size - copied)  # that of /sys is shorter than it says
            else:
                content = self.folder / str(next(self._names))
                try:
                    write_new(content, chunks())
                except OSError as error:
                    raise unwritable(error, self.folder) from error
            after = os.fstat(stream.fileno())
        staged = Staged(content, copied, hasher.hexdigest())
        is_changed = (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns)
        # The sizes of the kernel's own files mean nothing: 0 in /proc, 4096 in /sys.
        if failure or is_changed or copied > after.st_size > 0:
            self.discard([staged])
            if failure:
                return WarehouseError("WH102", failure[0].strerror or str(failure[0]), printable(str(source)))
            return WarehouseError("WH108", "changed while it was read", printable(str(source)), "ingest it when it is done")
        return staged


def _too_large(source: Path, info: os.stat_result, free: int) -> WarehouseError:
    """WH115, for a file that is larger than what is free: found before a byte is written."""
    on_disk = info.st_blocks * 512  # stat(2): always of this size
    sparse = f", of which {on_disk:,} are on disk: the holes of a sparse file are copied as zeros" * (on_disk < info.st_size)
    return WarehouseError(
        "WH115", f"it has {info.st_size:,} bytes{sparse}; {free:,} are free", printable(str(source)), "free space, then ingest it again"
    )


def unwritable(error: OSError, place: Path | str) -> WarehouseError:
    """WH109, for a store that does not take what it is given."""
    return WarehouseError(
        "WH109", f"the store cannot be written: {error.strerror or error}", str(place),
        "free space or fix the permissions, then ingest again: what is stored is kept",
    )
