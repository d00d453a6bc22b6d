"""What all objects have in common that lie behind a client and in no folder: copies on this machine, which are what is read of
them, and holds (`evidence.objects.holds`) in place of a kernel's lock.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property
from pathlib import Path
from typing import cast

from warehouse.evidence.objects.base import Entry, Objects
from warehouse.evidence.objects.cache import ObjectCache
from warehouse.evidence.objects.holds import Holds


class RemoteObjects(ABC):
    """The shared part of such `Objects`. Copies lie in the folder `cache`."""

    links_files = False

    def __init__(self, cache: Path) -> None:
        self._cache_folder = cache

    @abstractmethod
    def put(self, key: str, data: bytes) -> bool:
        """As `create`, of what nothing protects from removal."""

    @abstractmethod
    def delete(self, key: str) -> None:
        """Remove an object, there or not, without asking for anything."""

    @abstractmethod
    def create(self, key: str, data: bytes) -> bool: ...

    @abstractmethod
    def chunks(self, key: str) -> Iterator[bytes]: ...

    @abstractmethod
    def size(self, key: str) -> int: ...

    @abstractmethod
    def entries(self, prefix: str, after: str = "") -> Iterator[Entry]: ...

    def exists(self, key: str) -> bool:
        try:
            self.size(key)
        except FileNotFoundError:
            return False
        return True

    def folders(self, pattern: str) -> None:
        pass

    def folder_stamp(self, folder: str) -> str:
        return ""

    def check_writable(self) -> None:
        """Raise WH129 where the store can only be read."""

    @cached_property
    def _cache(self) -> ObjectCache:
        return ObjectCache(self._cache_folder)

    @cached_property
    def _holds(self) -> Holds:
        return Holds(cast(Objects, self), self.put, self.delete)  # as what inherits from here is

    def local_copy(self, key: str, sha256: str) -> Path:
        return self._cache.find(sha256) or self._cache.add(sha256, self.chunks(key), key)

    def create_in_order(self, objects: Mapping[str, bytes]) -> set[str]:
        return {key for key, data in objects.items() if self.create(key, data)}

    def remove(self, key: str) -> None:
        self.check_writable()
        self._holds.before_removal()
        self.delete(key)

    def remove_below(self, prefix: str) -> None:
        for entry in self.entries(prefix):
            self.remove(entry.key)

    def staging_in(self, folder: Path) -> AbstractContextManager[None]:
        return nullcontext()

    def keeping(self) -> AbstractContextManager[None]:
        self.check_writable()
        return self._holds.keeping()

    def check_kept(self, digest: str) -> None:
        self._holds.check(digest)

    def removing(self, *, waits: bool = True) -> AbstractContextManager[Holds]:
        self.check_writable()
        return self._holds.removing(waits=waits)
