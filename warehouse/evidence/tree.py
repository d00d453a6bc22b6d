"""A read-only listing of what a user handed over, safe against what strangers put in folders.

Promises: every path is relative, normalised and inside the root; links, devices, sockets and pipes are never followed
or opened, only reported; listing order is sorted by path, so the same tree gives the same bundles everywhere.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from warehouse.errors import ExitCode, WarehouseError, printable
from warehouse.evidence.manifest import is_utf8

_NOT_HERE = "name the folder of the results; wh push and wh pull copy between stores"
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_HEAD_BYTES = 64 << 10  # of a file that is held while its tree is looked at: all of most
_HELD_BYTES = 128 << 20  # of all such files


@dataclass(frozen=True)
class Origin:
    """The archive that a file was unpacked from, by its name and sha256, and its path there; empty where the archive is one compressed
    file."""

    archive: str
    sha256: str
    member: str

    def __str__(self) -> str:
        return f"{self.archive}: {self.member}" if self.member else self.archive


@dataclass(frozen=True)
class TreeFile:
    """One regular file: `path` relative to the tree's root with `/`, `bytes` at listing time, `source` on disk, and the `origin` of one
    that was unpacked."""

    path: str
    bytes: int
    source: Path
    origin: Origin | None = None


@dataclass(frozen=True)
class Tree:
    """The files under `root`, keyed by relative path in sorted order, and what was left out and why."""

    root: Path
    files: Mapping[str, TreeFile]
    left_out: tuple[WarehouseError, ...] = field(default=())
    _heads: "_Heads" = field(default_factory=lambda: _Heads(), init=False, repr=False, compare=False)

    def full_parts(self, path: str) -> tuple[str, ...]:
        """The path's parts preceded by those of the root, so that a layout is recognised wherever the user cut in."""
        above = (part if is_utf8(part) else printable(part) for part in self.root.parts)
        return (*above, *path.split("/"))

    def head(self, path: str, limit: int = 4096) -> bytes:
        """The first `limit` bytes of a file, for recognition by content; none of a file that cannot be read, which the ingest reports
        when it copies the file."""
        return self._heads.of(self.files[path], limit)

    def tail(self, path: str, limit: int = 4096) -> bytes:
        """The last bytes of a file, as `head` reads the first."""
        try:
            with open(self.files[path].source, "rb") as stream:
                stream.seek(max(0, self.files[path].bytes - limit))
                return stream.read(limit)
        except OSError:
            return b""


class _Heads:
    """The first bytes of files. Each of 30 ingestors looks at them: to open a small file takes longer than to look at it."""

    def __init__(self) -> None:
        self._held: dict[Path, bytes] = {}
        self._room = _HELD_BYTES

    def of(self, file: TreeFile, limit: int) -> bytes:
        head = self._held.get(file.source)
        if head is None:
            head = _read(file.source, max(limit, _HEAD_BYTES) if file.bytes <= _HEAD_BYTES else limit)
            if file.bytes <= _HEAD_BYTES and self._room >= len(head):
                self._held[file.source] = head
                self._room -= len(head)
        return head[:limit]


def _read(source: Path, limit: int) -> bytes:
    try:
        with open(source, "rb") as stream:
            return stream.read(limit)
    except OSError:
        return b""


def warehouse_folder(place: Path) -> str | None:
    """What of a warehouse a folder is: its store, its builds, or the folder of both; None of another folder."""
    if os.path.isdir(place / "raw" / "sha256") and os.path.isdir(place / "ledger"):
        return "store"
    if os.path.islink(place / "current.duckdb"):
        return "builds"
    return "folder" if place.name == ".wh" and os.path.isdir(place) else None


def list_tree(path: Path, store_root: Path | None = None) -> Tree:
    """List a folder, or a single file as a tree of one.

    Raises `WarehouseError` WH004 when the path does not exist, or lies in the store or the builds of a warehouse. Unreadable folders, links
    and special files are in `left_out`, never silently gone; so are a warehouse's folders: it would else be filed in itself.
    """
    try:
        root = path.resolve(strict=True)
    except (OSError, RuntimeError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise WarehouseError("WH004", f"cannot be listed: {reason}", printable(str(path)), "correct the path", ExitCode.USAGE) from error
    if what := next((f"the {what} of a warehouse" for each in (root, *root.parents) if (what := _holds(each, root, store_root))), None):
        raise WarehouseError("WH004", f"not evidence: {what}", printable(str(path)), _NOT_HERE, ExitCode.USAGE)
    left_out: list[WarehouseError] = []
    if root.is_file():
        fault = name_fault(root.name, root.name)
        found = [TreeFile(root.name, root.stat().st_size, root)] if not fault else []
        left_out += [fault] if fault else []
        root = root.parent
    else:
        found = list(_walk(root, left_out, store_root.resolve() if store_root else None))
    files = {file.path: file for file in sorted(found, key=lambda file: file.path)}
    return Tree(root, files, tuple(left_out))


def _walk(root: Path, left_out: list[WarehouseError], store_root: Path | None) -> Iterator[TreeFile]:
    pending = [""]
    while pending:
        folder = pending.pop()
        try:
            entries = list(os.scandir(root / folder))
        except OSError as error:
            left_out.append(WarehouseError("WH102", error.strerror or str(error), printable(folder or str(root))))
            continue
        for entry in entries:
            path = f"{folder}/{entry.name}" if folder else entry.name
            if fault := name_fault(entry.name, path):
                left_out.append(fault)
                continue
            try:
                info = entry.stat(follow_symlinks=False)
            except OSError as error:
                left_out.append(WarehouseError("WH102", error.strerror or str(error), printable(path)))
                continue
            if stat.S_ISDIR(info.st_mode) and (what := "store" if root / path == store_root else warehouse_folder(root / path)):
                left_out.append(WarehouseError("WH104", f"not evidence: the {what} of a warehouse", printable(path)))
            elif stat.S_ISDIR(info.st_mode):
                pending.append(path)
            elif stat.S_ISREG(info.st_mode):
                yield TreeFile(path, info.st_size, root / path)
            else:
                kind = "a link" if stat.S_ISLNK(info.st_mode) else "a special file"
                left_out.append(WarehouseError("WH104", f"{kind} is not copied", printable(path)))


def _holds(above: Path, root: Path, store_root: Path | None) -> str | None:
    """What of a warehouse a folder is, that is the root or above it. A bundle's files in a store may be ingested again, as may what failed to
    be ingested and lies in the folder of the warehouse."""
    found = "store" if store_root and above == store_root.resolve() else warehouse_folder(above)
    if found == "store":
        return None if root.relative_to(above).parts[4:5] == ("files",) else found
    return found if found != "folder" or above == root else None


def name_fault(name: str, path: str) -> WarehouseError | None:
    """Why a name can be none in a store: in a folder neither, so that what was taken in there can go into a bucket."""
    if not is_utf8(name):
        return WarehouseError("WH103", "the name is not valid UTF-8", printable(path), "rename it")
    if _CONTROL.search(name):
        return WarehouseError("WH103", "the name has control characters, as no object in a bucket can", printable(path), "rename it")
    return None
