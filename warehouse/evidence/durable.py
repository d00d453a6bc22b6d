"""Writing files so that they are whole or absent, and stay: the local half of the store's commit protocol.

`create_if_absent`: temporary file, fsync, link(2), fsync of the folder. A name once given is never given again.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from warehouse.errors import naming

_LOCK = ".lock"


def fsync_folder(folder: Path) -> None:
    """Make the names in a folder durable."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def make_folder(folder: Path) -> None:
    """Make a folder and its missing parents, each name durable."""
    missing = []
    while not folder.is_dir():
        missing.append(folder)
        folder = folder.parent
    for path in reversed(missing):
        path.mkdir(exist_ok=True)
        fsync_folder(path.parent)


def write_new(path: Path, chunks: Iterable[bytes]) -> None:
    """Write a new file, which a crash may lose. Raises `FileExistsError`."""
    with naming(path), open(path, "xb") as stream:
        stream.writelines(chunks)


def write_synced(path: Path, chunks: Iterable[bytes]) -> None:
    """Write a new file and fsync it; its name is not durable yet. Raises `FileExistsError`."""
    with naming(path), open(path, "xb") as stream:
        stream.writelines(chunks)
        stream.flush()
        os.fsync(stream.fileno())


def create_if_absent(path: Path, data: bytes, scratch: Path) -> bool:
    """Give `path` the content `data` unless the name is taken; whether it was free. `scratch` is a name on the same
    file system that no other process uses."""
    make_folder(path.parent)
    make_folder(scratch.parent)
    write_synced(scratch, [data])
    try:
        os.link(scratch, path)
    except FileExistsError:
        return False
    finally:
        scratch.unlink()
    fsync_folder(path.parent)
    return True


def replace_durably(path: Path, data: bytes, scratch: Path | None = None) -> None:
    """Give `path` new content atomically. Only for what is derived or points: never under `raw/`. The bytes are first written
    to `scratch`, a new name on the same file system; by default beside `path`, where the caller removes what a crash leaves."""
    if scratch is None:
        scratch = path.with_name(f".{path.name}.{os.getpid()}")
        scratch.unlink(missing_ok=True)
    write_synced(scratch, [data])
    os.replace(scratch, path)
    fsync_folder(path.parent)


def unique_name() -> str:
    """A name that nothing else has."""
    from ulid import ULID  # imports importlib.metadata and more: 40 ms that a build with nothing to do need not pay

    return str(ULID())


@contextmanager
def scratch_folder(parent: Path) -> Iterator[Path]:
    """A folder of one's own below `parent`, gone afterwards. What a crash leaves is removed by the next caller.

    The kernel's lock on a file says whose owner lives, and frees it with the process: process ids come again after a
    restart, and mean nothing to another container on the same disk.
    """
    make_folder(parent)
    with open(parent / _LOCK, "a") as gate:  # no process removes a folder between its making and its locking
        fcntl.flock(gate, fcntl.LOCK_EX)
        for dead in dead_folders(parent):
            shutil.rmtree(dead, ignore_errors=True)
        folder = parent / unique_name()
        folder.mkdir()
        owner = open(folder / _LOCK, "x")
        fcntl.flock(owner, fcntl.LOCK_EX)
    with owner:
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def lock(path: Path, *, alone: bool, waits: bool = True) -> Iterator[None]:
    """Hold a lock together with others, or `alone`; `waits` for whoever excludes that, or raises BlockingIOError. The kernel frees it with
    the process."""
    make_folder(path.parent)
    with open(path, "a") as stream:
        fcntl.flock(stream, (fcntl.LOCK_EX if alone else fcntl.LOCK_SH) | (0 if waits else fcntl.LOCK_NB))
        yield


def dead_folders(parent: Path) -> Iterator[Path]:
    """The scratch folders below `parent` whose owners have died. One that is just being made may be among them: who removes
    them holds its gate."""
    for folder in sorted(parent.iterdir()) if parent.is_dir() else ():
        if not folder.is_dir() or folder.is_symlink():
            continue
        try:
            with open(folder / _LOCK, "r+") as owner:
                fcntl.flock(owner, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except FileNotFoundError:
            pass  # its removal was begun
        except OSError:
            continue  # it lives, or is another user's
        yield folder


def remove_dead_folder(folder: Path) -> None:
    """Remove one of the `dead_folders`, unless it is in use again."""
    with lock(folder.parent / _LOCK, alone=True):
        if folder in dead_folders(folder.parent):
            shutil.rmtree(folder)
