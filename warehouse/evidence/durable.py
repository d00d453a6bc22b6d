"""Writing files so that they are whole or absent, and stay: the local half of the store's commit protocol.

`create_if_absent`: temporary file, fsync, link(2), fsync of the folder. A name once given is never given again.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path


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


def write_synced(path: Path, chunks: Iterable[bytes]) -> None:
    """Write a new file and fsync it; its name is not durable yet. Raises `FileExistsError`."""
    with open(path, "xb") as stream:
        for chunk in chunks:
            stream.write(chunk)
        stream.flush()
        os.fsync(stream.fileno())


def create_if_absent(path: Path, data: bytes, scratch: Path) -> bool:
    """Give `path` the content `data` unless the name is taken; whether it was free. `scratch` is a name on the same
    file system that nobody else uses."""
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


def replace_durably(path: Path, data: bytes) -> None:
    """Give `path` new content atomically. Only for what is derived or points: never under `raw/`."""
    scratch = path.with_name(f".{path.name}.{os.getpid()}")
    scratch.unlink(missing_ok=True)
    write_synced(scratch, [data])
    os.replace(scratch, path)
    fsync_folder(path.parent)
