"""File sources: which files a pattern names, and the digest of each, without reading it every time.

A local file is its sha256. Like git's index, a stamp of what the file system says (size, times, inode) saves reading a file
again; a file that changed too recently for its stamp to tell is always read. An object in a remote store is its ETag.
"""

from __future__ import annotations

import glob
import os
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from warehouse.digest import domain_digest, file_digest
from warehouse.errors import WarehouseError
from warehouse.evidence.stamps import stamp_of, telling_stamp
from warehouse.project.file import PROJECT_FILE
from warehouse.project.project import Project, source_fault
from warehouse.transform.inputs.s3_sources import is_remote, object_tags, open_objects
from warehouse.transform.project.model import Model
from warehouse.transform.sql.duck import text_literal

if TYPE_CHECKING:
    import duckdb

SOURCE_SCHEMA = "source"
_PLACE = f"{PROJECT_FILE} [sources] "
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

    @cached_property
    def content(self) -> str:
        """A digest of what is read: names and bytes. A file that only moved in time is the same."""
        return domain_digest("wh/file-set/1", [[file.path, file.content] for file in self.files])


def source_models(project: Project) -> dict[str, Model]:
    """The project's named sources as views over their files. Raises WH220 for a name whose format is not known."""
    return {
        name: Model(
            name=name, schema=SOURCE_SCHEMA, place=f"{_PLACE}{name}", materialized="view",
            text=f"select * from {_call(name, patterns, project.root)}", description=f"Files: {', '.join(patterns)}",
        )
        for name, patterns in project.sources.items()
    }


def at_its_source(project: Project, fault: WarehouseError) -> WarehouseError:
    """A fault in the generated SQL of a source, at the source's line in the project's file; any other as it
    is."""
    if not (fault.place or "").startswith(_PLACE):
        return fault
    name = str(fault.place).removeprefix(_PLACE).partition(":")[0]
    # A hint to a syntax error counts columns of that SQL.
    hint = "write one call: read_csv('data/*.csv')" if fault.code == "WH202" else fault.hint
    return source_fault(project.root, name, fault.code, fault.message.partition("\n")[0], hint)


def _call(name: str, patterns: Sequence[str], root: Path) -> str:
    if len(patterns) == 1 and patterns[0].startswith("read_"):
        return patterns[0]
    suffixes = {Path(pattern.removesuffix(".gz").removesuffix(".zst")).suffix for pattern in patterns}
    reader = _READERS.get(suffixes.pop()) if len(suffixes) == 1 else None
    if reader is None:
        hint = f'name the function that reads it: {name} = "read_csv(\'data/*.txt\', delim = \'|\')"'
        raise source_fault(root, name, "WH220", f"source {name}: the format does not show in the name", hint)
    return f"{reader}([{', '.join(map(text_literal, patterns))}])"


def has_match(pattern: str, root: Path) -> bool:
    """Whether a pattern names any file. Raises WH220 when its store cannot be asked."""
    if is_remote(pattern):
        return bool(object_tags(pattern))
    return any(os.path.isfile(os.path.join(root, path)) for path in _paths(pattern, root))


def file_stamps(patterns: Sequence[str], root: Path) -> list[str]:
    """Paths and stamps of the files that patterns name, an object's as it was last listed; empty where one has none. Raises
    WH220."""
    found: list[tuple[str, str]] = []
    try:
        for pattern in patterns:
            if is_remote(pattern):
                found += object_tags(pattern, as_last_listed=True).items()
            else:
                found += [(path, _telling_stamp(os.path.join(root, path))) for path in _paths(pattern, root)]
    except OSError:
        return []
    return [f"{path} {stamp}" for path, stamp in found] if all(stamp for _, stamp in found) else []


def file_set(patterns: Sequence[str], root: Path, known: Mapping[str, FileState]) -> FileSet:
    """What `patterns` name now; relative ones from `root`. `known` are files as they were found before."""
    found = [_objects(pattern) if is_remote(pattern) else _local(pattern, root, known) for pattern in patterns]
    return FileSet(tuple(patterns), tuple(file for files in found for file in files))


def check_unchanged(sets: Sequence[FileSet], root: Path) -> None:
    """Raise WH222 when a file is not what it was when its set was made."""
    for before in sets:
        now = file_set(before.patterns, root, {file.path: file for file in before.files})
        if now.content != before.content:
            raise WarehouseError("WH222", "its files changed during the build", ", ".join(before.patterns), "build again")


def check_as_engine_finds(con: "duckdb.DuckDBPyConnection", files: FileSet, root: Path) -> None:
    """Raise WH220 when the engine finds other files under the patterns than were looked at: it has the last word."""
    found = [row[0] for pattern in files.patterns for row in con.execute("from glob(?)", [pattern]).fetchall()]
    if [engine_path(name, root) for name in found] != [engine_path(file.path, root) for file in files.files]:
        where = ", ".join(files.patterns)
        raise WarehouseError("WH220", "the files that DuckDB finds under it are not the tracked ones", where, "list the files")


def engine_path(path: str, root: Path) -> str:
    """A file's path as the engine reports it in `filename` where a pattern found it: without `..`."""
    return path if is_remote(path) else os.path.normpath(os.path.join(root, path))


def open_remote(con: "duckdb.DuckDBPyConnection", patterns: Sequence[str]) -> None:
    """Let a session read the remote stores that patterns name. Raises WH220."""
    for pattern in filter(is_remote, patterns):
        open_objects(con, pattern)


def _objects(pattern: str) -> list[FileState]:
    return [FileState(url, tag) for url, tag in object_tags(pattern).items()]


def _local(pattern: str, root: Path, known: Mapping[str, FileState]) -> list[FileState]:
    found = (_state(path, os.path.join(root, path), known.get(path)) for path in _paths(pattern, root))
    return [state for state in found if state]


def _paths(pattern: str, root: Path) -> list[str]:
    """The paths that a pattern names, those in the project from its folder."""
    pattern = pattern.removeprefix("./").removeprefix(f"{root}{os.sep}")
    if not glob.has_magic(pattern):
        return [pattern]
    return sorted(glob.glob(pattern, root_dir=root, recursive=True, include_hidden=True), key=os.fsencode)


def _state(path: str, whole: str, before: FileState | None) -> FileState | None:
    """One file as it is; None for a folder, or what is not there."""
    try:
        status = os.stat(whole)
        if not stat.S_ISREG(status.st_mode):
            return None
        stamp = telling_stamp(status)
        if before and stamp and before.stamp == stamp:
            return before
        return FileState(path, file_digest(Path(whole)), stamp)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise WarehouseError("WH220", f"cannot be read: {error.strerror}", path) from error


def file_stamp(path: Path) -> str:
    """What the file system says of a file: another stamp, maybe other bytes. Raises OSError."""
    return stamp_of(os.stat(path))


def _telling_stamp(path: str) -> str:
    return telling_stamp(os.stat(path))

