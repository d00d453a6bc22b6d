"""A space of immutable objects: what a store is kept in, be it a folder or a bucket, and what every kind of it promises.

A name once given is never given again: `create` and `create_files` make an object whole and durable, or find its name
taken. Nothing here knows of bundles, events or publications; these are keys with `/` between their parts.

What is not there raises `FileNotFoundError`, what lies there and is no object `NotAnObject`; other faults of a folder are
`OSError` too, as the system names them. Faults of reaching or using a bucket are WH114: they say nothing of its content.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, Protocol, TypeVar

from warehouse.errors import WarehouseError

UNREACHABLE = "WH114"
Item = TypeVar("Item")


def damage(error: WarehouseError) -> WarehouseError:
    """The error, for a caller that reports it and goes on without what is damaged. Raised again where the store could not be reached:
    that says nothing of its content."""
    if error.code == UNREACHABLE:
        raise error
    return error


class NotAnObject(OSError):
    """Something lies under a key that no `create` has put there: a link, a pipe."""


@dataclass(frozen=True)
class Entry:
    """One object in a listing: its size in bytes, when it was written (UTC), and `stamp`, which is another as soon as it was
    written again."""

    key: str
    bytes: int
    modified_at: datetime
    stamp: str


@dataclass(frozen=True)
class Staged:
    """Bytes that were hashed and wait for their name: in a file, or in memory. `bytes`: how many."""

    content: Path | bytes
    bytes: int
    sha256: str

    def read(self) -> builtins.bytes:
        """All of them: for few."""
        return self.content.read_bytes() if isinstance(self.content, Path) else self.content

    def opened(self) -> BinaryIO:
        """They as a stream."""
        return open(self.content, "rb") if isinstance(self.content, Path) else BytesIO(self.content)


class Removal(Protocol):
    """The right to remove evidence, for as long as it is open."""

    def agreed(self, find: Callable[[], Sequence[Item]], bundle_of: Callable[[Item], str | None]) -> Sequence[Item]:
        """Of what `find` says is to be removed, all that is not in use. `bundle_of` gives the digest of the bundle that goes with it, None
        for what no bundle uses. Raises WH116."""
        ...

    def done(self, digest: str) -> None:
        """Say that a bundle is gone."""
        ...


class Objects(Protocol):
    """The objects under one root. Made without asking anybody; to be sent to other processes."""

    @property
    def url(self) -> str:
        """The root, as a project's file names it."""
        ...

    @property
    def links_files(self) -> bool:
        """Whether `create_files` keeps the very files that it is given: they must be on the same file system."""
        ...

    @property
    def is_read_only(self) -> bool:
        """Whether everything that writes is refused (WH129)."""
        ...

    # -- reading ------------------------------------------------------------------------------------------------

    def read(self, key: str) -> bytes:
        """All bytes of an object: for small ones."""
        ...

    def chunks(self, key: str) -> Iterator[bytes]:
        """An object's bytes as a stream."""
        ...

    def exists(self, key: str) -> bool:
        """Whether anything lies under a key."""
        ...

    def size(self, key: str) -> int:
        """An object's bytes."""
        ...

    def local_copy(self, key: str, sha256: str) -> Path:
        """A file with an object's bytes: the object itself, or a copy that is kept by its digest and was checked against it
        when it was made. Whoever reads it checks it again. Raises WH105 for an object that has another digest."""
        ...

    def fetch(self, wanted: Mapping[str, str]) -> None:
        """Have local copies of objects (key to sha256) made together, where that is quicker than one by one. What cannot be
        had is left to `local_copy` to tell of."""
        ...

    def matching(self, pattern: str) -> list[str]:
        """The keys that match a pattern of as many parts, sorted; `*` stands for any name, `*.json` for one that ends so.
        Nothing is read, sizes are not asked for."""
        ...

    def entries(self, prefix: str, after: str = "") -> Iterator[Entry]:
        """Every object under a prefix of whole parts, in the order of their keys' bytes, as a stream; under a prefix that
        nothing has, none. Only those whose keys come `after` another one."""
        ...

    def folders(self, pattern: str) -> list[str] | None:
        """The folders that match a pattern of as many parts; None where objects lie in no folders."""
        ...

    def folder_stamp(self, folder: str) -> str:
        """What is another as soon as a name came into a folder or went; "" while that would not show, or where there is none."""
        ...

    def uri(self, key: str) -> str:
        """An object's address for other tools."""
        ...

    def protections(self) -> Mapping[str, str]:
        """What keeps objects from being changed or deleted by others than us, by name, in words."""
        ...

    # -- writing ------------------------------------------------------------------------------------------------

    def create(self, key: str, data: bytes) -> bool:
        """Make an object durable unless its name is taken; whether it was made here."""
        ...

    def create_files(self, files: Mapping[str, Staged]) -> set[str]:
        """Make objects durable unless their names are taken; the keys of those that were made here. Many at once where that is
        quicker. None of them counts as there before this is done."""
        ...

    def create_in_order(self, objects: Mapping[str, bytes]) -> set[str]:
        """Make small objects durable unless their names are taken, none before those ahead of it; the keys of those that were made here."""
        ...

    def move_aside(self, key: str) -> None:
        """Give a damaged object another name, `<key>.damaged-<ulid>`: its own is free then, its bytes stay. Quietly nothing
        where it is gone."""
        ...

    def remove(self, key: str) -> None:
        """Remove an object, durably: for retention and gc alone, under `removing`."""
        ...

    def remove_below(self, prefix: str) -> None:
        """Remove all objects under a prefix, likewise."""
        ...

    def staging_in(self, folder: Path) -> AbstractContextManager[None]:
        """While it is open, objects of this thread may be written to `folder` before they have their names: one of the caller's own, on the file
        system of the store. To make a folder for each takes a third as long again as the object."""
        ...

    def keeping(self) -> AbstractContextManager[None]:
        """While it is open, no process removes what is found here and passes `check_kept`. May wait."""
        ...

    def check_kept(self, digest: str) -> None:
        """Whether `keeping` holds a bundle: asked when it is added, and before what depends on it is committed. Raises WH116
        for one that is being removed."""
        ...

    def removing(self, *, waits: bool = True) -> AbstractContextManager[Removal]:
        """While it is open, no other process is in `removing`, and what it agrees to is removed. May wait, unless it must not. Raises
        WH116."""
        ...
