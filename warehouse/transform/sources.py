"""File sources: which files a pattern names, and what each holds, told by its digest without reading it every time.

A local file is its sha256. Like git's index, a stamp of what the file system says (size, times, inode) saves reading a file
again; a file that changed too recently for its stamp to tell is always read. An object in a remote store is its ETag.
"""

from __future__ import annotations

import glob
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warehouse.digest import domain_digest, file_digest
from warehouse.errors import WarehouseError
from warehouse.project import Project
from warehouse.transform.duck import text_literal
from warehouse.transform.model import Model

if TYPE_CHECKING:
    import duckdb

SOURCE_SCHEMA = "source"
# FAT keeps times to two seconds; nothing in use is coarser.
_RACY_NS = 2_000_000_000
_READERS = {
    ".parquet": "read_parquet", ".csv": "read_csv", ".tsv": "read_csv", ".json": "read_json", ".jsonl": "read_json",
    ".ndjson": "read_json",
}


@dataclass(frozen=True)
class FileState:
    """One file: its path from the project's root, or absolute where its pattern is; what it holds; and the stamp under
    which that was found ("": look again)."""

    path: str
    content: str
    stamp: str = ""


@dataclass(frozen=True)
class FileSet:
    """The files that some patterns name now, in the order the engine reads them."""

    patterns: tuple[str, ...]
    files: tuple[FileState, ...]

    @property
    def content(self) -> str:
        """A digest of what is read: names and bytes. A file that only moved in time is the same."""
        return domain_digest("wh/file-set/1", [[file.path, file.content] for file in self.files])


def source_models(project: Project) -> dict[str, Model]:
    """The project's named sources as views over their files. Raises WH220 for a name whose format is not known."""
    place = project.shown(project.root / "warehouse.toml")
    return {
        name: Model(
            name=name, schema=SOURCE_SCHEMA, place=f"{place} [sources] {name}", materialized="view",
            text=f"select * from {_call(name, patterns, place)}", description=f"Files: {', '.join(patterns)}",
        )
        for name, patterns in project.sources.items()
    }


def _call(name: str, patterns: Sequence[str], place: str) -> str:
    if len(patterns) == 1 and patterns[0].startswith("read_"):
        return patterns[0]
    suffixes = {Path(pattern.removesuffix(".gz").removesuffix(".zst")).suffix for pattern in patterns}
    reader = _READERS.get(suffixes.pop()) if len(suffixes) == 1 else None
    if reader is None:
        hint = f'{name} = "read_csv(\'data/*.txt\', delim = \'|\')"'
        raise WarehouseError("WH220", f"source {name}: the format does not show in the name", place, hint)
    return f"{reader}([{', '.join(map(text_literal, patterns))}])"


def has_match(pattern: str, root: Path) -> bool:
    """Whether a local pattern names any file."""
    return any(map(os.path.isfile, (root / path for path in _paths(pattern, root))))


def file_set(patterns: Sequence[str], root: Path, known: Mapping[str, FileState]) -> FileSet:
    """What `patterns` name now; relative ones from `root`. `known` are files as they were found before."""
    found = [_remote(pattern) if "://" in pattern else _local(pattern, root, known) for pattern in patterns]
    return FileSet(tuple(patterns), tuple(file for files in found for file in files))


def check_unchanged(sets: Sequence[FileSet], root: Path) -> None:
    """Raise WH222 when a file is not what it was when its set was made."""
    for before in sets:
        now = file_set(before.patterns, root, {file.path: file for file in before.files})
        if now.content != before.content:
            raise WarehouseError("WH222", "its files changed during the build", ", ".join(before.patterns), "build again")


def is_as_engine_finds(con: "duckdb.DuckDBPyConnection", files: FileSet, root: Path) -> bool:
    """Whether the engine finds the same files under the patterns as we do; it has the last word."""
    named = [row[0] for pattern in files.patterns for row in con.execute("from glob(?)", [pattern]).fetchall()]
    return named == [engine_path(file.path, root) for file in files.files]


def engine_path(path: str, root: Path) -> str:
    """A file's path as the engine reports it in `filename`: without `..`."""
    return path if "://" in path else os.path.normpath(os.path.join(root, path))


def open_remote(con: "duckdb.DuckDBPyConnection", patterns: Sequence[str]) -> None:
    """Let a session read the remote stores that patterns name."""
    for pattern in patterns:
        if "://" in pattern:
            system, _ = _filesystem(pattern)
            con.register_filesystem(system)


def _local(pattern: str, root: Path, known: Mapping[str, FileState]) -> list[FileState]:
    return [_state(path, root, known.get(path)) for path in _paths(pattern, root) if os.path.isfile(root / path)]


def _paths(pattern: str, root: Path) -> list[str]:
    pattern = pattern.removeprefix("./")
    if not glob.has_magic(pattern):
        return [pattern]
    return sorted(glob.glob(pattern, root_dir=root, recursive=True, include_hidden=True), key=os.fsencode)


def _state(path: str, root: Path, before: FileState | None) -> FileState:
    try:
        stamp = _stamp(root / path)
        if before and stamp and before.stamp == stamp:
            return before
        return FileState(path, file_digest(root / path), stamp)
    except OSError as error:
        raise WarehouseError("WH220", f"cannot be read: {error.strerror}", path) from error


def _stamp(path: Path) -> str:
    status = os.stat(path)
    # Written again in the same tick it would look the same.
    if max(status.st_mtime_ns, status.st_ctime_ns) > time.time_ns() - _RACY_NS:
        return ""
    return f"{status.st_size} {status.st_mtime_ns} {status.st_ctime_ns} {status.st_ino}"


def _remote(pattern: str) -> list[FileState]:
    system, path = _filesystem(pattern)
    scheme = pattern.partition("://")[0]
    try:
        found: dict[str, dict[str, Any]] = (
            system.glob(path, detail=True) if glob.has_magic(path) else {path: system.info(path)}
        )
    except OSError as error:
        raise WarehouseError("WH220", f"cannot be listed: {error}", pattern) from error
    return [FileState(f"{scheme}://{name}", _tag(pattern, found[name])) for name in sorted(found, key=str.encode)]


def _tag(pattern: str, info: Mapping[str, Any]) -> str:
    tag = info.get("ETag") or info.get("etag") or info.get("md5Hash")
    if not tag:
        raise WarehouseError("WH220", "the store gives no ETag: nobody can tell when a file changes", pattern)
    return f"{info.get('size')} {tag}"


def _filesystem(pattern: str) -> tuple[Any, str]:
    try:
        from fsspec.core import url_to_fs

        system, path = url_to_fs(pattern)
    except (ImportError, ValueError) as error:
        hint = "pip install 'perf-warehouse[s3]'"
        raise WarehouseError("WH220", f"no client for this store: {error}", pattern, hint) from error
    system.invalidate_cache()
    return system, path
