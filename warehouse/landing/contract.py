"""What an ingestor is: code that recognises one evidence family, cuts a tree into bundles, parses a bundle into rows.

An ingestor imports only this package (`warehouse.landing`) and libraries. It never hashes, never writes, and never
raises for bad evidence: what it cannot parse it yields as rows of `ingest_issue` and goes on.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from io import BufferedReader
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from warehouse.digest import bytes_digest
from warehouse.digest import canonical_json as canonical_json  # for ingestors
from warehouse.digest import workload_spec_digest as workload_spec_digest  # for ingestors
from warehouse.errors import ExitCode, WarehouseError, printable
from warehouse.evidence.manifest import Manifest, ManifestFile
from warehouse.evidence.tree import Tree as Tree  # for ingestors
from warehouse.evidence.tree import TreeFile as TreeFile

if TYPE_CHECKING:
    import pyarrow as pa

ISSUE_TABLE = "evidence_issue"
_READ_BYTES = 16 << 10  # of a file that is read sooner than it is mapped


@dataclass(frozen=True)
class DraftFile:
    """A file an ingestor wants in a bundle, under `raw_path`. `media_type` and `role` say what it is, if known.

    Of a file that holds several records, `records` are the numbers, from 0, of those that the bundle is about. `is_restatement`:
    the file, or these records of it, only restate the bundle's own measurement. No other family makes a run of them. `is_sole`: the file
    is a part of the bundle's measurement and of no other. Other families make no bundle of such files alone."""

    raw_path: str
    file: TreeFile
    media_type: str | None = None
    role: str | None = None
    records: tuple[int, ...] | None = None
    is_restatement: bool = False
    is_sole: bool = False


@dataclass(frozen=True)
class BundleDraft:
    """A bundle as cut, before its files were read. `identity` and `source` go into the manifest: JSON values only, no
    local paths, so that the same evidence has the same digest wherever it lay. `runs` are the runs it seems to hold: where the
    files say which of their records they are about, one a record."""

    files: tuple[DraftFile, ...]
    identity: Mapping[str, Any] = field(default_factory=dict)
    source: Mapping[str, Any] = field(default_factory=dict)
    runs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Unclaimed:
    """A file of the tree, by its path there, that an ingestor knows and takes into no bundle: `wh ingest --dry-run` says
    the reason, a few words in lower case."""

    path: str
    reason: str


@dataclass(frozen=True)
class Bundle:
    """Stored evidence, ready to be parsed. Every read is checked against the manifest's digest first."""

    digest: str
    manifest: Manifest
    locate: Callable[[ManifestFile], Path]  # a local file with the bytes of a raw file, or what should be that
    # raw_path to what the file system said of the file when it was hashed to be mapped.
    _mapped: dict[str, tuple[int, ...]] = field(default_factory=dict, init=False, repr=False, compare=False)

    def read(self, raw_path: str) -> bytes:
        """All bytes of a file. Raises `WarehouseError` WH105 (tampered) or WH106 (missing)."""
        with self._opened(raw_path) as stream:
            data = stream.read()
        self._verify(raw_path, bytes_digest(data))
        return data

    def map(self, raw_path: str) -> "mmap.mmap | bytes":
        """The file as a memory map, for files too large to hold; `bytes` when it is small. Raises as `read` does. Mapped
        again, a file that has not changed since is not hashed again."""
        if self.manifest.by_path[raw_path].bytes <= _READ_BYTES:
            return self.read(raw_path)
        with self._opened(raw_path) as stream:
            state = _state(stream)
            is_empty = os.fstat(stream.fileno()).st_size == 0
            mapped = b"" if is_empty else mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
        if self._mapped.get(raw_path) != state:
            self._verify(raw_path, bytes_digest(mapped))  # of the very pages that are parsed
            self._mapped[raw_path] = state
        return mapped

    def _opened(self, raw_path: str) -> BufferedReader:
        try:
            return open(self.locate(self.manifest.by_path[raw_path]), "rb")
        except OSError as error:
            raise WarehouseError(
                "WH106", f"cannot be read from the store: {error.strerror}", self._place(raw_path),
                "restore the store from a copy", ExitCode.MISSING,
            ) from error

    def _verify(self, raw_path: str, digest: str) -> None:
        if digest != self.manifest.by_path[raw_path].sha256:
            raise WarehouseError(
                "WH105", "the stored bytes differ from the manifest", self._place(raw_path),
                "restore the store from a copy", ExitCode.TAMPERED,
            )

    def _place(self, raw_path: str) -> str:
        return f"{self.digest[:12]}/{printable(raw_path)}"


def _state(stream: BufferedReader) -> tuple[int, ...]:
    """What changes when somebody writes to an open file or puts another in its place."""
    info = os.fstat(stream.fileno())
    return info.st_dev, info.st_ino, info.st_size, info.st_mtime_ns, info.st_ctime_ns


class Ingestor(Protocol):
    """One evidence family. A module in `ingest/` exposes an instance named `INGESTOR`. Every command loads it, few call
    it: what only a method needs is best imported there."""

    name: str  # without a comma
    version: int  # raised when parsing changes: landing rows are parsed again
    formats: tuple[str, ...]  # one line each: a format that it reads, and the versions of the tool that writes it
    tables: Mapping[str, "pa.Schema"]  # made with `landing_schema`; without `ingest_issue`, which all may fill

    def bundles(self, tree: Tree) -> Iterator[BundleDraft | Unclaimed]:
        """The bundles in a tree that are of this family. Files left over are nobody's; of one that looks like this
        family's and is not taken, an `Unclaimed` tells the user why."""
        ...

    def parse(self, bundle: Bundle) -> Iterator[tuple[str, "pa.RecordBatch"]]:
        """The landing rows of one bundle: table name and a batch of its schema, whose texts may be coded (`rows.coded`)."""
        ...
