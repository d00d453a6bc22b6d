"""Archives and compressed files that a user handed over, read as their contents: .zip, .tar, .tar.gz, .tar.zst, .gz and .zst.

Promises: no member's name becomes a path on this machine (members lie under numbers in a folder of the caller's); links, devices and names
that leave the archive are reported and never read; what is unpacked is bounded in bytes and members. An archive is read whole or not at all.
"""

from __future__ import annotations

import gzip
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Collection, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import IO, Any

from warehouse.digest import CHUNK_BYTES, file_digest
from warehouse.errors import WarehouseError, printable
from warehouse.evidence.tree import Origin, TreeFile, name_fault

_TARS = (".tar", ".tar.gz", ".tgz", ".tar.zst")
_PACKED = (".gz", ".zst")
_MEMBERS = 200_000  # a round of MLPerf Inference has some 50,000 files
_BYTES = 16 << 30
_HEADER_BYTES = 1 << 20  # of a tar's extended header, which is read into memory
_EXTENDED = (tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE, tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK)
_DAMAGE = (EOFError, OSError, tarfile.TarError, zipfile.BadZipFile, zlib.error, struct.error, ValueError)  # pyarrow's is a ValueError
_BY_HAND = "unpack it and ingest the folder"

_Entries = Iterator[tuple[str, IO[bytes] | None]]  # names in the archive with their bytes, None of what is no plain file


class NotReadError(Exception):
    """Why an archive is not read, in a few words with the way out."""


@dataclass
class Room:
    """What one ingest may still unpack, and where to."""

    folder: Path
    members_left: int = _MEMBERS
    bytes_left: int = _BYTES
    _names: Iterator[int] = field(default_factory=count)

    def write(self, stream: IO[bytes]) -> tuple[Path, int]:
        """A member's bytes in a file of their own, and how many there are. Raises NotReadError."""
        self.members_left -= 1
        if self.members_left < 0:
            raise NotReadError(f"more than {_MEMBERS:,} files would be unpacked: {_BY_HAND}")
        target, size = self.folder / str(next(self._names)), 0
        with target.open("xb") as file:
            while chunk := stream.read(CHUNK_BYTES):
                size += len(chunk)
                if size > self.bytes_left:
                    raise NotReadError(f"more than {_BYTES >> 30} GiB would be unpacked: {_BY_HAND}")
                try:
                    file.write(chunk)
                except OSError as error:
                    raise NotReadError(f"it cannot be unpacked in {self.folder.parent}: {error.strerror}: set TMPDIR, or {_BY_HAND}") from error
        self.bytes_left -= size
        return target, size


def is_archive(path: str) -> bool:
    """Whether a file of this name is opened. Other zip files, such as .npz, .pt and .whl, are one thing."""
    return path.casefold().endswith((".zip", *_TARS, *_PACKED))


def unpack(file: TreeFile, room: Room, taken: Collection[str]) -> tuple[list[TreeFile], list[WarehouseError]]:
    """The files in an archive, with paths in a folder that is named as the archive is, or of a compressed file the one that it holds; and
    what was left out of them. No path is one of those `taken`, or below one. Raises NotReadError."""
    above, found, left_out = _free(file.path, taken), dict[str, TreeFile](), list[WarehouseError]()
    try:
        digest = file.origin.sha256 if file.origin else file_digest(file.source)
        with ExitStack() as stack:
            for name, stream in _entries(file, stack):
                member, place = name.removeprefix("./"), printable(f"{file.path}: {name}" if name else file.path)
                if fault := _fault(member, place, is_plain=stream is not None):
                    left_out.append(fault)
                    continue
                assert stream
                source, size = room.write(stream)
                path = f"{above}/{member}" if member else above
                if path in found:
                    left_out.append(WarehouseError("WH104", "the archive has this name twice: the last one is read", place))
                found[path] = TreeFile(path, size, source, _origin(file, digest, member))
    except _DAMAGE as error:
        raise NotReadError(f"it breaks off or is damaged ({printable(str(error))}): copy the whole file") from error
    except RuntimeError as error:  # zipfile's, for passwords and methods
        raise NotReadError(f"it is encrypted, or packed by a method that is not read: {_BY_HAND}") from error
    return [found[path] for path in sorted(found)], left_out


def _free(path: str, taken: Collection[str]) -> str:
    """Where the contents go: the archive's path without its suffix, as unpacking by hand has it, or one below its own path."""
    suffix = next(suffix for suffix in (".zip", *sorted(_TARS, key=len, reverse=True), *_PACKED) if path.casefold().endswith(suffix))
    bare = path[: -len(suffix)] or path
    if bare.endswith("/") or any(other == bare or other.startswith(f"{bare}/") for other in taken):
        return f"{path}/{bare.rpartition('/')[2]}" if suffix in _PACKED else path
    return bare


def _origin(file: TreeFile, digest: str, member: str) -> Origin:
    """Where a member came from; of an archive in an archive, from the outer one."""
    if file.origin:
        return Origin(file.origin.archive, digest, "/".join(filter(None, (file.origin.member, member))))
    return Origin(file.path.rpartition("/")[2], digest, member)


def _entries(file: TreeFile, stack: ExitStack) -> _Entries:
    low = file.path.casefold()
    if low.endswith(".zip"):
        return _zip_entries(stack.enter_context(zipfile.ZipFile(file.source)))
    stream = stack.enter_context(_decompressed(low, file.source))
    if low.endswith(_TARS):
        return _tar_entries(stack.enter_context(tarfile.open(fileobj=stream, mode="r|", tarinfo=_Header)))
    return iter([("", stream)])


def _decompressed(low: str, source: Path) -> Any:
    if low.endswith((".gz", ".tgz")):
        return gzip.open(source, "rb")
    if low.endswith(".zst"):
        import pyarrow as pa

        return pa.CompressedInputStream(pa.OSFile(str(source)), "zstd")  # its window is bounded, 128 MiB
    return source.open("rb")


def _zip_entries(archive: zipfile.ZipFile) -> _Entries:
    for info in archive.infolist():
        if info.is_dir():
            continue
        if stat.S_IFMT(info.external_attr >> 16) not in (0, stat.S_IFREG):
            yield info.filename, None
            continue
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):  # LZMA's window may take gigabytes
            raise NotImplementedError  # what zipfile raises for a method that it does not know
        with archive.open(info) as stream:
            yield info.filename, stream


class _Header(tarfile.TarInfo):
    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> "_Header":
        found = super().frombuf(buf, encoding, errors)
        if found.type in _EXTENDED and found.size > _HEADER_BYTES:
            raise tarfile.ReadError("an extended header is too long")
        return found


def _tar_entries(archive: tarfile.TarFile) -> _Entries:
    for info in archive:
        if not info.isdir():
            yield info.name, archive.extractfile(info) if info.isreg() else None


def _fault(member: str, place: str, *, is_plain: bool) -> WarehouseError | None:
    """Why a member is not read: it is no plain file, its name leaves the archive, or no store takes the name."""
    if not is_plain:
        return WarehouseError("WH104", "a link or special file in an archive is not read", place)
    if member and any(part in ("", ".", "..") for part in member.split("/")):
        return WarehouseError("WH103", "the name leaves the archive or is not normalised", place)
    return name_fault(member, place)
