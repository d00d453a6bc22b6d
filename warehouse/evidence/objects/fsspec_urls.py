"""Objects under any URL that fsspec knows, to be read only.

fsspec promises nothing of a name that is taken: most of its file systems look for a name and then write. What is read for its
bytes is kept in a local cache by digest.
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
from typing import Any, NoReturn

from warehouse.address import shown, shown_beside
from warehouse.digest import CHUNK_BYTES
from warehouse.errors import ExitCode, WarehouseError
from warehouse.evidence.objects.base import UNREACHABLE, Entry, Staged
from warehouse.evidence.objects.remote import RemoteObjects

# What file systems call the time of a file's last change, and what changes with its bytes.
_TIMES = ("mtime", "LastModified", "last_modified", "updated", "modified", "created")
_STAMPS = ("ETag", "etag", "md5Hash", "generation", "version_id", *_TIMES)
_NEVER = datetime.fromtimestamp(0, UTC)


class FsspecObjects(RemoteObjects):
    """`Objects` under a URL; what writes raises WH129. Copies are in the folder `cache`."""

    is_read_only = True

    def __init__(self, url: str, cache: Path) -> None:
        super().__init__(cache)
        self._url = url.rstrip("/")

    def __reduce__(self) -> tuple[Any, ...]:
        # Clients do not travel to other processes.
        return FsspecObjects, (self._url, self._cache_folder)

    @property
    def url(self) -> str:
        return shown(self._url)

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

    def entries(self, prefix: str, after: str = "") -> Iterator[Entry]:
        path = self._path(prefix)
        with self._told(prefix):
            found = self._opened[0].find(path, detail=True)
        listed = ((name.removeprefix(self._opened[1]).lstrip("/"), info) for name, info in found.items() if name != path)
        for key, info in sorted((item for item in listed if item[0].encode() > after.encode()), key=lambda item: item[0].encode()):
            stamp = " ".join(str(info[name]) for name in _STAMPS if info.get(name) is not None)
            yield Entry(key, int(info["size"] or 0), _modified_at(info), f"{info['size']} {stamp}")

    def uri(self, key: str) -> str:
        return f"{self.url}/{key}"

    def protections(self) -> Mapping[str, str]:
        return {"read only": "wh writes nothing there; wh pull copies what is there into a store in a folder or in s3://"}

    # -- writing ------------------------------------------------------------------------------------------------

    def check_writable(self) -> NoReturn:
        raise WarehouseError(
            "WH129", "a store there can only be read", self.url,
            "keep evidence in a folder or in s3://; wh pull copies what is there into such a store", ExitCode.FAILED,
        )

    def create(self, key: str, data: bytes) -> bool:
        self.check_writable()

    def put(self, key: str, data: bytes) -> bool:
        self.check_writable()

    def create_files(self, files: Mapping[str, Staged]) -> set[str]:
        self.check_writable()

    def move_aside(self, key: str) -> None:
        self.check_writable()

    def delete(self, key: str) -> None:
        self.check_writable()


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
