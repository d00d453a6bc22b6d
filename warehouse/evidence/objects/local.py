"""Objects in a local folder: a file each, linked to its name when its bytes are durable."""

from __future__ import annotations

import errno
import os
import shutil
import stat
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, nullcontext, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from pathlib import Path
from typing import BinaryIO

from warehouse.digest import CHUNK_BYTES
from warehouse.errors import WarehouseError
from warehouse.evidence.barrier import Barrier, settle_each
from warehouse.evidence.durable import create_if_absent, fsync_folder, lock, scratch_folder, unique_name, write_new
from warehouse.evidence.objects.base import Entry, Item, NotAnObject, Staged
from warehouse.evidence.stamps import telling_stamp

_REMOVAL_LOCK = ".removal.lock"
_STAGING: ContextVar["_Staging | None"] = ContextVar("_STAGING", default=None)
WORK_NAMES = frozenset({_REMOVAL_LOCK, "incoming", "landing"})  # what a store's folder has beside its objects


@dataclass(frozen=True)
class _Staging:
    """The folder of `staging_in`, of the objects under a root."""

    root: Path
    folder: Path
    barrier: Barrier


class LocalObjects:
    """`Objects` under a folder. Opening it creates nothing."""

    links_files = True
    is_read_only = False

    def __init__(self, root: Path) -> None:
        self.root = root
        self._prefix = os.path.join(root, "")

    @property
    def url(self) -> str:
        return str(self.root)

    def path(self, key: str) -> Path:
        """Where an object lies, there or not."""
        return self.root / key

    def _named(self, key: str) -> str:
        """The same as text: of many objects a `Path` each is most of what reading them takes."""
        return f"{self._prefix}{key}"

    # -- reading ------------------------------------------------------------------------------------------------

    def read(self, key: str) -> bytes:
        with self._opened(key) as stream:
            return stream.read()

    def chunks(self, key: str) -> Iterator[bytes]:
        with self._opened(key) as stream:
            while chunk := stream.read(CHUNK_BYTES):
                yield chunk

    def _opened(self, key: str) -> BinaryIO:
        path = self._named(key)
        try:
            # Not blocking: a pipe put in the file's place would be waited for without end.
            stream = open(path, "rb", opener=open_plain)
        except OSError as error:
            if error.errno == errno.ELOOP:
                raise NotAnObject(errno.ELOOP, "it is a symbolic link now", path) from error
            raise
        if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
            stream.close()
            raise NotAnObject(errno.EINVAL, "it is not a file any more", path)
        return stream

    def exists(self, key: str) -> bool:
        return os.path.lexists(self._named(key))

    def size(self, key: str) -> int:
        return os.stat(self._named(key)).st_size

    def local_copy(self, key: str, sha256: str) -> Path:
        return self.path(key)

    def fetch(self, wanted: Mapping[str, str]) -> None:
        pass

    def matching(self, pattern: str) -> list[str]:
        folders, _, name = pattern.rpartition("/")
        found = self._below(folders)
        if "*" not in name:
            exists, prefix = os.path.exists, self._prefix
            return sorted([f"{above}{name}" for above in found if exists(f"{prefix}{above}{name}")])
        matches = _matcher(name)
        return sorted([
            f"{above}{entry.name}" for above in found for entry in self._listed(above)
            if matches(entry.name) and not entry.is_dir(follow_symlinks=False)
        ])

    def folders(self, pattern: str) -> list[str]:
        return [folder.removesuffix("/") for folder in self._below(pattern)]

    def folder_stamp(self, folder: str) -> str:
        try:
            return telling_stamp(os.stat(self._named(folder)))
        except FileNotFoundError:
            return ""

    def _below(self, pattern: str) -> list[str]:
        """The folders that match a pattern, each with a `/` at its end."""
        found = [""]
        for part in filter(None, pattern.split("/")):
            found = [f"{above}{below}/" for above in found for below in self._folders(above, part)]
        return found

    def _folders(self, above: str, part: str) -> list[str]:
        if "*" not in part:
            return [part]
        matches = _matcher(part)
        return [entry.name for entry in self._listed(above) if matches(entry.name) and entry.is_dir(follow_symlinks=False)]

    def _listed(self, folder: str) -> list[os.DirEntry[str]]:
        try:
            with os.scandir(self._named(folder)) as entries:
                return list(entries)
        except (FileNotFoundError, NotADirectoryError):
            return []

    def entries(self, prefix: str, after: str = "") -> Iterator[Entry]:
        return (entry for entry in self._entries(prefix) if not after or os.fsencode(entry.key) > os.fsencode(after))

    def _entries(self, prefix: str) -> Iterator[Entry]:
        folder = f"{prefix}/" if prefix else ""
        # A folder's name counts with the `/` after it, as it is in the keys below it.
        pending = [self._in_order(folder)]
        while pending:
            entry = next(pending[-1], None)
            if entry is None:
                pending.pop()
                continue
            key = os.path.relpath(entry.path, self.root)
            if entry.is_dir(follow_symlinks=False):
                pending.append(self._in_order(f"{key}/"))
                continue
            with suppress(FileNotFoundError):  # removed since it was listed
                info = entry.stat(follow_symlinks=False)
                modified_at = datetime.fromtimestamp(info.st_mtime, UTC)
                yield Entry(key, info.st_size, modified_at, f"{info.st_size} {info.st_mtime_ns} {info.st_ino}")

    def _in_order(self, folder: str) -> Iterator[os.DirEntry[str]]:
        def name(entry: os.DirEntry[str]) -> bytes:
            return os.fsencode(entry.name) + (b"/" if entry.is_dir(follow_symlinks=False) else b"")

        return iter(sorted(self._listed(folder), key=name))

    def uri(self, key: str) -> str:
        return self.path(key).resolve().as_uri()

    def protections(self) -> Mapping[str, str]:
        owner = self.root.stat()
        mode = f"folder of user {owner.st_uid}, mode {stat.S_IMODE(owner.st_mode):04o}: who may write there may change anything"
        return {"object lock": "none: a folder has none", "permissions": mode}

    # -- writing ------------------------------------------------------------------------------------------------

    def create(self, key: str, data: bytes) -> bool:
        with self._scratch() as scratch:
            return create_if_absent(self.path(key), data, scratch / _scratch_name("object"))

    def create_files(self, files: Mapping[str, Staged]) -> set[str]:
        with ExitStack() as stack:
            sources: dict[str, Path] = {}
            scratch: Path | None = None
            for key, staged in files.items():
                if isinstance(staged.content, Path):
                    sources[key] = staged.content
                    continue
                scratch = scratch or stack.enter_context(self._scratch())
                sources[key] = scratch / _scratch_name(f"object-{len(sources)}")
                stack.callback(sources[key].unlink, missing_ok=True)
                write_new(sources[key], [staged.content])
            return self._link(sources)

    def create_in_order(self, objects: Mapping[str, bytes]) -> set[str]:
        if len(objects) < 2:
            return {key for key, data in objects.items() if self.create(key, data)}
        # After a crash the disk holds a first part of them: a journal keeps the order of the names in a folder.
        return self.create_files({key: Staged(data, len(data), "") for key, data in objects.items()})

    def _link(self, files: Mapping[str, Path]) -> set[str]:
        """Give files their names. Their bytes are on the disk before any name is given, and the names when this returns: all of them
        together, because each file that is waited for by itself takes milliseconds."""
        self._settle([*files.values()])
        made: set[str] = set()
        folders: dict[str, None] = {}  # with the new names, and those above: another process may have made them and died
        for key, source in files.items():
            target = self._named(key)
            folder = os.path.dirname(target)
            if folder not in folders:
                os.makedirs(folder, exist_ok=True)
            while folder not in folders:
                folders[folder] = None
                if folder != str(self.root):
                    folder = os.path.dirname(folder)
            with suppress(FileExistsError):
                os.link(source, target)
                made.add(key)
        self._settle([Path(folder) for folder in folders])
        return made

    def _settle(self, places: Sequence[Path]) -> None:
        if staging := self._staging():
            staging.barrier.settle(places)
        else:
            settle_each(places)

    def _scratch(self) -> AbstractContextManager[Path]:
        """A folder for objects that have no names yet."""
        staging = self._staging()
        return nullcontext(staging.folder) if staging else scratch_folder(self.root / "incoming")

    def _staging(self) -> _Staging | None:
        found = _STAGING.get()
        return found if found and found.root == self.root else None

    def move_aside(self, key: str) -> None:
        path = self.path(key)
        with suppress(FileNotFoundError):  # another was first
            path.rename(path.with_name(f"{path.name}.damaged-{unique_name()}"))

    def remove(self, key: str) -> None:
        os.unlink(self.path(key))
        fsync_folder(self.path(key).parent)

    def remove_below(self, prefix: str) -> None:
        shutil.rmtree(self.path(prefix))
        fsync_folder(self.path(prefix).parent)

    @contextmanager
    def staging_in(self, folder: Path) -> Iterator[None]:
        with closing(Barrier(folder)) as barrier:
            before = _STAGING.set(_Staging(self.root, folder, barrier))
            try:
                yield
            finally:
                _STAGING.reset(before)

    def keeping(self) -> AbstractContextManager[None]:
        return lock(self.root / _REMOVAL_LOCK, alone=False)

    def check_kept(self, digest: str) -> None:
        pass  # no process is in `removing`

    @contextmanager
    def removing(self, *, waits: bool = True) -> Iterator["_Alone"]:
        with ExitStack() as stack:
            try:
                stack.enter_context(lock(self.root / _REMOVAL_LOCK, alone=True, waits=waits))
            except BlockingIOError as error:
                raise WarehouseError("WH116", "evidence is in use", self.url, "try again when that is done") from error
            yield _Alone()


class _Alone:
    """No process is in `keeping`: nothing has to be agreed on."""

    def agreed(self, find: Callable[[], Sequence[Item]], bundle_of: Callable[[Item], str | None]) -> Sequence[Item]:
        return find()

    def done(self, digest: str) -> None:
        pass


def _matcher(pattern: str) -> Callable[[str], bool]:
    """What a name must be for one part of a pattern. All bundles and events are listed by it."""
    if "*" not in pattern[1:]:
        suffix = pattern.removeprefix("*")
        return lambda name: name.endswith(suffix)
    return lambda name: fnmatchcase(name, pattern)


def _scratch_name(what: str) -> str:
    """A name in a folder that the threads of a process share."""
    return f"{what}-{os.getpid()}-{threading.get_ident()}"


def open_plain(path: str, flags: int) -> int:
    """An opener for what should be a regular file: a link put in its place is not followed, a pipe not waited for."""
    return os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK)
