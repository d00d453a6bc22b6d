"""Objects under any URL that fsspec knows: to be read, and to be written where a proof says that a name is given once.

fsspec promises nothing of a name that is taken: what its file systems offer to create a file if absent is, in most, a look and
then a write. So nothing is created here without a proof (`evidence.objects.proof`), by one call for each object, and none larger than
those that it was found with: above some size many clients upload in parts, by other calls. What is read for its bytes is kept in
a local cache by digest.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import Any

from warehouse.address import shown, shown_beside
from warehouse.digest import CHUNK_BYTES
from warehouse.errors import ExitCode, WarehouseError
from warehouse.evidence.at_once import at_once
from warehouse.evidence.durable import unique_name
from warehouse.evidence.objects.base import UNREACHABLE, Entry, Staged
from warehouse.evidence.objects.proof import Proof, client_of, find_proof
from warehouse.evidence.objects.remote import RemoteObjects

# What file systems call the time of a file's last change, and what changes with its bytes.
_TIMES = ("mtime", "LastModified", "last_modified", "updated", "modified", "created")
_STAMPS = ("ETag", "etag", "md5Hash", "generation", "version_id", *_TIMES)
_NEVER = datetime.fromtimestamp(0, UTC)
_THREADS = 8
_SMALL_BYTES = 4 << 20  # of the largest object of which each thread may hold one in memory


class FsspecObjects(RemoteObjects):
    """`Objects` under a URL. Copies lie in the folder `cache`."""

    def __init__(self, url: str, cache: Path) -> None:
        super().__init__(cache)
        self._url = url.rstrip("/")
        self._found: Proof | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        # Clients do not travel to other processes.
        return FsspecObjects, (self._url, self._cache_folder)

    @property
    def url(self) -> str:
        return shown(self._url)

    @property
    def is_read_only(self) -> bool:
        try:
            return self.find_proof() is None
        except WarehouseError:  # told by whatever is done next
            return True

    @cached_property
    def client(self) -> dict[str, str]:
        """What the client is, as proofs name it."""
        return client_of(self._url, self._opened[0])

    def looks_before_it_writes(self) -> bool:
        """Whether the client is known to look for a name first and then to write: what fsspec's own `pipe_file` does."""
        from fsspec.spec import AbstractFileSystem

        call = self._opened[0].pipe_file  # asked of the object: a class of asynchronous methods gets this one as it is made
        return getattr(call, "__func__", None) is AbstractFileSystem.pipe_file

    def find_proof(self) -> Proof | None:
        """The proof by which objects are written here; None where there is none. Raises WH114."""
        if self._found is None:
            self._found = find_proof(self, self.client)
        return self._found

    def forget_proof(self) -> None:
        """Remove what counts as one: a new one is to be found. Raises WH114."""
        self._found = None
        while proof := find_proof(self, self.client):
            self.delete(proof.key)

    @cached_property
    def _opened(self) -> tuple[Any, str]:
        """The file system, and the path of the root in it."""
        from fsspec.core import url_to_fs

        with self._told(""):
            files, root = url_to_fs(self._url, use_listings_cache=False)
            return files, root.rstrip("/")

    def _path(self, key: str) -> str:
        return f"{self._opened[1]}/{key}".rstrip("/")

    @contextmanager
    def _told(self, key: str) -> Iterator[None]:
        """Raise what a client raises inside as what `Objects` promises."""
        try:
            yield
        except WarehouseError:
            raise
        except (FileNotFoundError, IsADirectoryError) as error:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), key) from error
        except Exception as error:  # each client has exceptions of its own: none of them says that an object is not there
            raise WarehouseError(
                UNREACHABLE, f"the store cannot be used: {type(error).__name__}: {shown_beside(self._url, str(error))}", self.url,
                "is it there, and may you list and read it? Its client's documentation says where it finds its keys",
            ) from error

    # -- reading ------------------------------------------------------------------------------------------------

    def read(self, key: str) -> bytes:
        path = self._path(key)
        with self._told(key):
            return bytes(self._opened[0].cat_file(path))

    def chunks(self, key: str) -> Iterator[bytes]:
        path = self._path(key)
        with self._told(key):
            with self._opened[0].open(path, "rb") as stream:
                while chunk := stream.read(CHUNK_BYTES):
                    yield chunk

    def exists(self, key: str) -> bool:
        try:
            self.size(key)
        except FileNotFoundError:
            return False
        return True

    def size(self, key: str) -> int:
        path = self._path(key)
        with self._told(key):
            found = self._opened[0].info(path)
            if found["type"] != "file":
                raise FileNotFoundError
            return int(found["size"])

    def fetch(self, wanted: Mapping[str, str]) -> None:
        pass  # one by one, as they are asked for

    def matching(self, pattern: str) -> list[str]:
        parts = pattern.split("/")
        stem = parts[: next((i for i, part in enumerate(parts) if "*" in part), len(parts))]
        if len(stem) == len(parts):
            return [pattern] if self.exists(pattern) else []
        found = ((entry.key, entry.key.split("/")) for entry in self.entries("/".join(stem)))
        return sorted(key for key, names in found if len(names) == len(parts) and all(map(fnmatchcase, names, parts)))

    def entries(self, prefix: str) -> Iterator[Entry]:
        path = self._path(prefix)
        with self._told(prefix):
            found = self._opened[0].find(path, detail=True)
        listed = ((name.removeprefix(self._opened[1]).lstrip("/"), info) for name, info in found.items() if name != path)
        for key, info in sorted(listed, key=lambda item: item[0].encode()):
            stamp = " ".join(str(info[name]) for name in _STAMPS if info.get(name) is not None)
            yield Entry(key, int(info["size"] or 0), _modified_at(info), f"{info['size']} {stamp}")

    def uri(self, key: str) -> str:
        return f"{self.url}/{key}"

    def protections(self) -> Mapping[str, str]:
        proof = self.find_proof()
        if proof is None:
            return {"read only": f"wh writes nothing there: it is not proven that a name is given once; wh init DIR --store {self.url} tries it"}
        return {"a name is given once": str(proof)}

    # -- writing ------------------------------------------------------------------------------------------------

    def create(self, key: str, data: bytes) -> bool:
        self._check_size(key, len(data))
        return self.put(key, data)

    def put(self, key: str, data: bytes) -> bool:
        """As `create`, whether it is proven or not: for what proves it, and for what asked before."""
        path = self._path(key)
        files = self._opened[0]
        with self._told(key):
            try:
                try:
                    files.pipe_file(path, data, mode="create")
                except FileNotFoundError:  # of file systems that have folders
                    files.makedirs(files._parent(path), exist_ok=True)
                    files.pipe_file(path, data, mode="create")
            except Exception:  # s3fs says EINVAL of a name that is taken, others something else: whether it is can be seen
                if self.exists(key):
                    return False
                raise
        return True

    def create_files(self, files: Mapping[str, Staged]) -> set[str]:
        for key, staged in files.items():
            self._check_size(key, staged.bytes)

        def is_made(key: str) -> bool:
            return self.put(key, files[key].read())

        small = [key for key, staged in files.items() if staged.bytes <= _SMALL_BYTES]
        made = {key for key, was_made in zip(small, at_once(_THREADS, is_made, small), strict=True) if was_made}
        return made | {key for key, staged in files.items() if staged.bytes > _SMALL_BYTES and is_made(key)}

    def move_aside(self, key: str) -> None:
        self._proof()
        path = self._path(key)
        with suppress(FileNotFoundError), self._told(key):  # another was first
            self._opened[0].cp_file(path, f"{path}.damaged-{unique_name()}")
            self.delete(key)

    def delete(self, key: str) -> None:
        """Remove an object, there or not, without asking for anything."""
        path = self._path(key)
        with suppress(FileNotFoundError), self._told(key):
            self._opened[0].rm_file(path)

    def check_writable(self) -> None:
        self._proof()

    def _check_size(self, key: str, size: int) -> None:
        largest = self._proof().largest_bytes
        if size > largest:
            message = f"{size} bytes, and that a name is given once there is proven up to {largest}"
            raise WarehouseError("WH115", message, key.partition("/files/")[2] or key, "split it, or take a store in a folder or in s3://")

    def _proof(self) -> Proof:
        proof = self.find_proof()
        if proof is None:
            raise WarehouseError(
                "WH129", "the store can only be read: nothing proves that a name is given once there", self.url,
                f"wh init DIR --store {self.url} tries it; or keep evidence in a folder or in s3://, wh pull brings what is there into"
                " such a store", ExitCode.FAILED,
            )
        return proof


def _modified_at(info: Mapping[str, Any]) -> datetime:
    """When a file was changed last (UTC), in whatever words its file system says it; long ago where it does not say."""
    for name in _TIMES:
        with suppress(ValueError, OverflowError, OSError):  # words of its own: no time
            match info.get(name):
                case datetime() as time:
                    return time.replace(tzinfo=time.tzinfo or UTC).astimezone(UTC)
                case int() | float() as seconds:
                    return datetime.fromtimestamp(seconds, UTC)
                case str() as text:
                    time = datetime.fromisoformat(text)
                    return time.replace(tzinfo=time.tzinfo or UTC).astimezone(UTC)
    return _NEVER
