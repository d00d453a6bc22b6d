"""Putting many files and folders on the disk at once, before anything refers to them.

A file that is synced by itself waits for the disk by itself: 500 small files take seconds one after another, and a tenth of that together.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from warehouse.errors import naming

_FEW = 16  # places, for which a file system that others use as well is not flushed
_THREADS = 8  # the waits for the disk overlap
_REPORTS_LOSSES = (5, 8)  # Linux: from this version on, syncfs(2) fails where something could not be written
# statfs(2): ext4, XFS and Btrfs, whose syncfs is as good as an fsync of each file. That of FUSE does not reach its server's disk.
_WHOLE = frozenset({0xEF53, 0x58465342, 0x9123683E})
_STATFS_BYTES = 256  # more than any architecture's structure, which begins with the type


class Barrier:
    """A barrier on the file system of `folder`, opened before what it is asked to put on the disk is written: so no earlier fault is overlooked."""

    def __init__(self, folder: Path) -> None:
        self._descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        self._is_whole: bool | None = None

    def close(self) -> None:
        os.close(self._descriptor)

    def settle(self, places: Sequence[Path]) -> None:
        """Return when these files and folders are on the disk: the bytes of files, the names in folders. Raises `OSError`."""
        if len(places) > _FEW and self._can_sync_all():
            libc = ctypes.CDLL(None, use_errno=True)
            if libc.syncfs(self._descriptor):
                raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), str(places[0]))
        else:
            settle_each(places)

    def _can_sync_all(self) -> bool:
        if self._is_whole is None:
            self._is_whole = _is_linux_that_reports_losses() and _type_of(self._descriptor) in _WHOLE
        return self._is_whole


def settle_each(places: Sequence[Path]) -> None:
    """The same, each by itself. Raises `OSError`."""
    if len(places) < 2:
        for place in places:
            _fsync(place)
        return
    with ThreadPoolExecutor(_THREADS) as threads:
        list(threads.map(_fsync, places))


def _fsync(place: Path) -> None:
    descriptor = os.open(place, os.O_RDONLY)
    try:
        with naming(place):
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _is_linux_that_reports_losses() -> bool:
    if sys.platform != "linux":
        return False
    major, minor, *_ = (*os.uname().release.split("."), "0")
    return major.isdigit() and minor.isdigit() and (int(major), int(minor)) >= _REPORTS_LOSSES


def _type_of(descriptor: int) -> int | None:
    """What statfs(2) calls the type of a file system."""
    found = ctypes.create_string_buffer(_STATFS_BYTES)
    if ctypes.CDLL(None).fstatfs(descriptor, found):
        return None
    return ctypes.c_long.from_buffer(found).value & 0xFFFFFFFF
