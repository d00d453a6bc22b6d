"""The bytes that a number was read from, as they lie in the store: each range with the bytes around it.

A file is hashed first. One that is not the file of the record is named as such, and none of its bytes is shown: they would
be no evidence.
"""

from __future__ import annotations

import errno
import os
import stat
from dataclasses import dataclass
from typing import BinaryIO

from warehouse.claims.numbers.lineage import RawFile
from warehouse.digest import CHUNK_BYTES, stream_digest
from warehouse.errors import WarehouseError
from warehouse.evidence.objects.base import damage
from warehouse.evidence.objects.location import open_store
from warehouse.evidence.store import proof_key
from warehouse.project.project import Project

WHOLE = "whole"  # the file of the record
ALTERED = "altered"  # another file lies there
MISSING = "missing"  # none does, or it cannot be read
RANGES = 4  # of each file are opened
RANGE_BYTES = 4096  # of each range are read
_CONTEXT_BYTES = 400  # at most, on each side
_CONTEXT_LINES = 2  # of text, on each side


@dataclass(frozen=True)
class Window:
    """The first bytes of one range, and those around them. Offset and length in bytes are those of the whole range; `after`
    is empty where the range itself was cut."""

    offset: int
    length: int
    before: bytes
    data: bytes
    after: bytes

    @property
    def is_text(self) -> bool:
        """Whether the bytes are UTF-8 without NUL, but for a character that was cut at an end."""
        everything = self.before + self.data + self.after
        try:
            everything.decode()
            return b"\0" not in everything
        except UnicodeDecodeError as error:
            return error.reason == "unexpected end of data" and b"\0" not in everything


@dataclass(frozen=True)
class OpenedFile:
    """A raw file of a lineage: its state (`WHOLE`, `ALTERED`, `MISSING`), the windows of its first ranges, and how many
    ranges more it has. A file that is not whole has none."""

    file: RawFile
    state: str
    windows: tuple[Window, ...]
    more_ranges: int


def open_file(project: Project, file: RawFile, most: int = RANGE_BYTES) -> OpenedFile:
    """Hash a raw file of a lineage and read the bytes of its first `RANGES` ranges, `most` of each."""
    key = proof_key(file.artifact_manifest_digest, file.raw_path, file.sha256)
    try:
        path = open_store(project).objects.local_copy(key, file.sha256)
        # Neither followed nor waited for: whatever was put in the file's place.
        with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as stream:
            is_file = stat.S_ISREG(os.fstat(stream.fileno()).st_mode)
            if not is_file or stream_digest(iter(lambda: stream.read(CHUNK_BYTES), b"")) != file.sha256:
                return OpenedFile(file, ALTERED, (), 0)
            windows = tuple(_window(stream, offset, length, most) for offset, length in file.ranges[:RANGES])
    except WarehouseError as error:
        damage(error)
        return OpenedFile(file, ALTERED, (), 0)
    except OSError as error:
        return OpenedFile(file, ALTERED if error.errno == errno.ELOOP else MISSING, (), 0)  # a link is no file of a record
    return OpenedFile(file, WHOLE, windows, max(0, len(file.ranges) - RANGES))


def _window(stream: BinaryIO, offset: int, length: int, most: int) -> Window:
    start = max(0, offset - _CONTEXT_BYTES)
    stream.seek(start)
    before, data = stream.read(offset - start), stream.read(min(length, most))
    after = stream.read(_CONTEXT_BYTES) if length <= most else b""
    return Window(
        offset, length, _last_lines(before, is_cut=start > 0), data, _first_lines(after, is_cut=len(after) == _CONTEXT_BYTES)
    )


def _last_lines(data: bytes, *, is_cut: bool) -> bytes:
    """The end of what precedes a range: the line that it begins in, and whole lines before that."""
    lines = data.split(b"\n")
    kept = b"\n".join(lines[is_cut and len(lines) > 1 :][-_CONTEXT_LINES - 1 :])
    while kept and kept[0] & 0xC0 == 0x80:  # the rest of a character that was cut
        kept = kept[1:]
    return kept


def _first_lines(data: bytes, *, is_cut: bool) -> bytes:
    """The beginning of what follows a range: the rest of the line that it ends in, and whole lines after that."""
    lines = data.split(b"\n")
    return b"\n".join(lines[: len(lines) - (is_cut and len(lines) > 1)][: _CONTEXT_LINES + 1])
