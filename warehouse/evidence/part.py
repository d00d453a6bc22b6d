"""A part of a store: some of its bundles, with landing tables of their own, and nothing else that the store holds."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import NoReturn

from warehouse.evidence.objects.base import Entry, Objects, Removal, Staged
from warehouse.evidence.store import EvidenceStore, bundle_key, manifest_key


def part_of(store: EvidenceStore, digests: Iterable[str], work: Path) -> EvidenceStore:
    """A store of just these bundles, read from the whole one; its landing tables lie in `work`. Whoever reads a file there
    checks it against its manifest as in every store. It has no ledger, no signatures, and takes nothing in."""
    return EvidenceStore(PartObjects(store.objects, frozenset(digests)), work)


class PartObjects:
    """The objects of some bundles, to be read: what else the whole has is not there."""

    links_files = False
    is_read_only = True

    def __init__(self, whole: Objects, digests: frozenset[str]) -> None:
        self._whole = whole
        self._digests = sorted(digests)
        self._bundles = frozenset(map(bundle_key, digests))

    @property
    def url(self) -> str:
        return self._whole.url

    def read(self, key: str) -> bytes:
        return self._whole.read(self._own(key))

    def chunks(self, key: str) -> Iterator[bytes]:
        return self._whole.chunks(self._own(key))

    def exists(self, key: str) -> bool:
        return self._has(key) and self._whole.exists(key)

    def size(self, key: str) -> int:
        return self._whole.size(self._own(key))

    def local_copy(self, key: str, sha256: str) -> Path:
        return self._whole.local_copy(self._own(key), sha256)

    def fetch(self, wanted: Mapping[str, str]) -> None:
        self._whole.fetch({self._own(key): sha256 for key, sha256 in wanted.items()})

    def matching(self, pattern: str) -> list[str]:
        # Its bundles are known without a listing; one whose manifest is gone is reported when it is read.
        return [manifest_key(digest) for digest in self._digests] if pattern == manifest_key("*") else []

    def entries(self, prefix: str, after: str = "") -> Iterator[Entry]:
        for bundle in sorted(self._bundles):
            if bundle.startswith(prefix):
                yield from self._whole.entries(bundle, after)

    def folders(self, pattern: str) -> None:
        pass

    def folder_stamp(self, folder: str) -> str:
        return ""

    def uri(self, key: str) -> str:
        return self._whole.uri(self._own(key))

    def protections(self) -> Mapping[str, str]:
        return self._whole.protections()

    def create(self, key: str, data: bytes) -> bool:
        _refuse(key)

    def create_files(self, files: Mapping[str, Staged]) -> set[str]:
        _refuse(str(next(iter(files), "")))

    def create_in_order(self, objects: Mapping[str, bytes]) -> set[str]:
        _refuse(next(iter(objects), ""))

    def move_aside(self, key: str) -> None:
        _refuse(key)

    def remove(self, key: str) -> None:
        _refuse(key)

    def remove_below(self, prefix: str) -> None:
        _refuse(prefix)

    def staging_in(self, folder: Path) -> AbstractContextManager[None]:
        return nullcontext()

    def keeping(self) -> AbstractContextManager[None]:
        return self._whole.keeping()

    def check_kept(self, digest: str) -> None:
        self._whole.check_kept(digest)

    def removing(self, *, waits: bool = True) -> AbstractContextManager[Removal]:
        return self._whole.removing(waits=waits)

    def _has(self, key: str) -> bool:
        return "/".join(key.split("/")[:4]) in self._bundles

    def _own(self, key: str) -> str:
        if not self._has(key):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), key)
        return key


def _refuse(key: str) -> NoReturn:
    raise PermissionError(errno.EROFS, os.strerror(errno.EROFS), key)
