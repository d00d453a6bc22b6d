"""Builds on disk: digest-named databases, the pointer that says which is current, and the lock of the one builder.

Readers follow the pointer to a file that never changes under its name; they never wait and never see half a build.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

from warehouse.digest import file_digest
from warehouse.errors import ExitCode, WarehouseError, printable
from warehouse.evidence.durable import fsync_folder, make_folder, replace_durably
from warehouse.evidence.finding import ALTERED, LEFTOVER, MISSING, Finding
from warehouse.project.project import Project
from warehouse.transform.inputs.sources import FileSet, FileState, file_stamp

POINTER = "current.duckdb"
FORM = 17  # of a build's database and of how its tables are made: raised with either, and then all is built anew
FAILURES = "failures.duckdb"  # the rows that broke tests of the last build
FAILURES_SCRATCH = ".failures-"
_SHADOW = ".shadow.duckdb"
_COPY_BYTES = 1 << 30
_PARTS = "parts"  # the folder of the parts that tables of builds stay in


def part_path(table: str, sha256: str) -> str:
    """Where a part lies, from the folder of the builds."""
    return f"{_PARTS}/{table}/{sha256}.parquet"


def part_pattern(table: str, sha256: str) -> str:
    """The same as SQL names it: the engine looks for a path without a pattern in the current folder first, whatever lies there."""
    return f"[{_PARTS[0]}]{part_path(table, sha256)[1:]}"


def part_stamp(path: Path, sha256: str, checked: Collection[tuple[str, str]]) -> str:
    """The stamp of a part, which is hashed unless it has one with which it was `checked` before. Raises WH218 for one that is altered or gone."""
    try:
        stamp = file_stamp(path)  # first: what changes the file from here on gives it another one
        if (sha256, stamp) not in checked and file_digest(path) != sha256:
            raise _altered(path, "remove it, then run: wh build")
    except OSError as error:
        raise WarehouseError("WH218", "a part of one of its tables is gone", str(path), "run: wh build", ExitCode.MISSING) from error
    return stamp


def is_whole(path: Path, sha256: str, checked: Collection[tuple[str, str]]) -> bool:
    """Whether a part is there and unaltered."""
    try:
        return bool(part_stamp(path, sha256, checked))
    except WarehouseError:
        return False


@dataclass(frozen=True)
class Build:
    """One finished build: its digest, its database file, and the fingerprint of the inputs it was made from."""

    digest: str
    path: Path
    fingerprint: str
    sha256: str = ""  # of the database file, known once it is finished
    files: tuple[FileSet, ...] = ()  # the files it read, one set for each call that reads them
    evidence: str = ""  # fingerprint of the evidence and of what parsed it
    landing: Mapping[str, Any] = field(default_factory=dict)  # the landing tables (`landing_tables.from_json`)
    stamp: str = ""  # of the database file, once it has its name
    tasks: tuple[str, ...] = ()  # the digests of the tasks whose parts it took, and of their SQL (`scale`)
    parts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # digests of the parts of each table that stays in parts
    part_stamps: Mapping[str, str] = field(default_factory=dict)  # of parts, by their paths, when they were last checked
    stands_until: str = ""  # when (UTC) detail in it will be past the warm tier's horizon; "": never

    def stands_at(self, now: datetime) -> bool:
        """Whether the same inputs still give it at a time (UTC)."""
        return not self.stands_until or now < datetime.fromisoformat(self.stands_until)

    def check(self) -> None:
        """Raise WH218 when the database file is not the one that was built, or a part of its tables is not: its numbers would be somebody
        else's. A part is hashed only where it was moved or touched since it was checked."""
        check_no_log(self.path)
        checked = self.checked_parts()
        for path, sha256 in self.part_files().items():
            part_stamp(path, sha256, checked)
        if file_digest(self.path) != self.sha256:
            raise _altered(self.path, "delete the builds folder, then run: wh build")

    def check_stamp(self) -> None:
        """The same at no cost, unless a file was moved or touched."""
        check_no_log(self.path)
        if not self.is_untouched():
            self.check()

    def is_untouched(self) -> bool:
        """Whether its files have the stamps that they had when they were last checked."""
        try:
            stamps = {self.name_of(path): file_stamp(path) for path in self.part_files()}
            return self.stamp == file_stamp(self.path) and stamps == self.part_stamps
        except OSError:
            return False

    def part_files(self) -> dict[Path, str]:
        """The parts of tables that stay in parts, with their digests: whoever reads one checks it against that. Two tables may have equal ones."""
        return {self.path.parent / part_path(table, sha256): sha256 for table, parts in self.parts.items() for sha256 in parts}

    def name_of(self, part: Path) -> str:
        """A part as `part_stamps` names it."""
        return part.relative_to(self.path.parent).as_posix()

    def checked_parts(self) -> set[tuple[str, str]]:
        """The digests of its parts, each with a stamp that such a part had when it was checked."""
        files = {self.name_of(path): sha256 for path, sha256 in self.part_files().items()}
        return {(files[name], stamp) for name, stamp in self.part_stamps.items() if name in files}

    def is_as_built(self) -> bool:
        """Whether the database is what was built, by `check_stamp`."""
        try:
            self.check_stamp()
        except (OSError, WarehouseError):
            return False
        return True


def _altered(path: Path, hint: str) -> WarehouseError:
    return WarehouseError("WH218", "its bytes have changed since it was built", str(path), hint, ExitCode.TAMPERED)


def check_no_log(database: Path) -> None:
    """Raise WH218 when a write-ahead log lies beside a finished database: the engine would show what it says as if it had
    been built."""
    log = _log_of(database)
    if os.path.lexists(log):
        message = "there is a write-ahead log beside a finished database, whose content was not built"
        raise WarehouseError("WH218", message, str(log), "remove it, or run: wh build", ExitCode.TAMPERED)


def _log_of(database: Path) -> Path:
    return database.with_name(f"{database.name}.wal")


def current_build(project: Project) -> Build:
    """The build the pointer names. Raises WH211 when there is none, WH218 when it is altered."""
    build = find_current(project)
    if build is None:
        check_current(project)
        raise _nothing_built(project)
    return build


def check_current(project: Project) -> None:
    """Raise WH218 when the pointer names a build that is altered or cut short."""
    if find_current(project) or not os.path.lexists(project.builds / POINTER):
        return
    if altered := _pointed_at(project):
        altered.check_stamp()
    raise WarehouseError(
        "WH218", "the current build is not whole: altered, or cut short", str(project.builds), "run: wh build",
        ExitCode.TAMPERED,
    )


def _nothing_built(project: Project) -> WarehouseError:
    return WarehouseError("WH211", "nothing has been built here yet", str(project.builds), "run: wh build")


def find_current(project: Project) -> Build | None:
    """The build the pointer names, or None; one cut short, altered or replaced is as if it were not there."""
    build = _pointed_at(project)
    return build if build and build.is_as_built() else None


def _pointed_at(project: Project) -> Build | None:
    if project.pinned_build:
        return _read_record(build_path(project, project.pinned_build))
    try:
        return _read_record(project.builds / os.readlink(project.builds / POINTER))
    except OSError:
        return None


def finished_build(project: Project, digest: str) -> Build | None:
    """A build of that digest that is on disk and whole, current or not; None when there is none."""
    build = _read_record(build_path(project, digest))
    try:
        if build:
            build.check()
        return build
    except (OSError, WarehouseError):
        return None


def list_builds(project: Project) -> list[Build]:
    """The builds that are kept, the newest first."""
    paths = sorted(project.builds.glob("wh-*.duckdb"), key=lambda path: path.stat().st_mtime_ns, reverse=True)
    return [build for build in map(_read_record, paths) if build]


def checked_parts(project: Project) -> set[tuple[str, str]]:
    """The digests of parts of kept builds, each with a stamp that the part had when it was checked."""
    return {stamped for build in list_builds(project) for stamped in build.checked_parts()}


def find_build(project: Project, digest: str) -> Build:
    """The kept build whose digest begins so. Raises WH211 when none is kept at all, WH214 when none begins so, or several do, WH218 when it
    is altered."""
    kept = list_builds(project)
    if not kept:
        raise _nothing_built(project)
    found = [build for build in kept if build.digest.startswith(digest)]
    if len(found) != 1 or not digest:
        how_many = "several builds have" if found else "no build that is kept has"
        raise WarehouseError(
            "WH214", f"{how_many} a digest that begins with {printable(digest)!r}", str(project.builds),
            f"wh builds lists them: {', '.join(build.digest[:12] for build in kept)}",
            ExitCode.AMBIGUOUS if found else ExitCode.NOT_FOUND,
        )
    found[0].check_stamp()
    return found[0]


def inspect_kept(project: Project) -> Iterator[Finding]:
    """What is wrong with the builds that a project keeps, and with the rows that it keeps of failed tests: every database is
    read."""
    for path in sorted(project.builds.glob("*.duckdb.wal")):
        if not path.name.startswith("."):  # that is the builder's
            yield Finding(ALTERED, project.shown(path), "a write-ahead log beside a finished database", "remove it, or run: wh build")
    for path in sorted(project.builds.glob("wh-*.duckdb")):
        build = _read_record(path)
        if build is None and not path.with_suffix(".json").exists():
            yield Finding(LEFTOVER, project.shown(path), "a build without its record", "the next build removes it")
        elif build is None or file_digest(path) != build.sha256:
            yield Finding(ALTERED, project.shown(path), "its bytes have changed since it was built", "remove it, then run: wh build")
    kept = list_builds(project)
    for path, sha256 in sorted({found for build in kept for found in build.part_files().items()}):
        if not path.exists():
            yield Finding(MISSING, project.shown(path), "a table of a kept build stays in it", "run: wh build")
        elif file_digest(path) != sha256:
            yield Finding(ALTERED, project.shown(path), "it does not hash to its name", "remove it, then run: wh build")
    for path in _unused_parts(project, kept):
        yield Finding(LEFTOVER, project.shown(path), "no kept build has it", "the next build removes it")


def _read_record(path: Path) -> Build | None:
    try:
        record = _parsed(path.with_suffix(".json").read_bytes())
        if path.stat().st_size != record["bytes"]:
            return None
        return build_of(record, path)
    except (OSError, ValueError, KeyError, TypeError):
        return None


@lru_cache(maxsize=4)
def _parsed(record: bytes) -> Any:
    """One page or command reads the same record, of some 100 kB, several times."""
    return json.loads(record)


def build_of(record: Mapping[str, Any], path: Path) -> Build:
    """The build that a record describes, its database at `path`. Raises KeyError or TypeError for anything else."""
    files = tuple(FileSet(tuple(patterns), tuple(FileState(*file) for file in found)) for patterns, found in record["files"])
    return Build(
        record["build_digest"], path, record["fingerprint"], record["sha256"], files, record["evidence"], record["landing"],
        record.get("stamp", ""), tuple(record.get("tasks", ())), {table: tuple(parts) for table, parts in record.get("parts", {}).items()},
        record.get("part_stamps", {}), record.get("stands_until", ""),
    )


def record_of(build: Build) -> dict[str, Any]:
    """What is recorded of a build on every machine; its stamp is this one's alone."""
    tasks: dict[str, Any] = {"tasks": list(build.tasks)} if build.tasks else {}
    parts: dict[str, Any] = {"parts": dict(build.parts)} if build.parts else {}
    return tasks | parts | {
        "build_digest": build.digest,
        "fingerprint": build.fingerprint,
        "sha256": build.sha256,
        "bytes": build.path.stat().st_size,
        "evidence": build.evidence,
        "landing": build.landing,
        "stands_until": build.stands_until,
        "files": [
            [list(found.patterns), [[file.path, file.content, file.stamp] for file in found.files]]
            for found in build.files
        ],
    }


def build_path(project: Project, digest: str) -> Path:
    return project.builds / f"wh-{digest[:32]}.duckdb"


def open_shadow(project: Project, base: Build | None, *, is_retry: bool) -> Path:
    """The database to build in, which no reader sees: a copy of the last build; with `is_retry` the one that a
    failed or interrupted build left, if it got so far that it left one."""
    shadow = project.builds / _SHADOW
    if is_retry and is_unfinished(project):
        return shadow
    remove_leftovers(project)
    if base and base.is_as_built():
        scratch = shadow.with_name(f"{_SHADOW}.copy")
        copy_file(base.path, scratch)
        os.replace(scratch, shadow)  # half a copy must not look like something to go on from
    return shadow


def is_unfinished(project: Project) -> bool:
    """Whether a failed or interrupted build left something to go on from."""
    return (project.builds / _SHADOW).exists()


def not_in_build(project: Project, name: str) -> str | None:
    """Why the current build has no table of this name, and what to do, where a file of the project makes one; None where no file does."""
    written = (path for kind in ("queries", "models") for path in project.files(kind, ".sql") if path.stem == name)
    if (path := next(written, None)) is None:
        return None
    newer = f"{project.shown(path)} is newer than the current build"
    if is_unfinished(project):
        return f"{newer}, and the last build failed or was stopped; to continue it, or see which model fails: wh build --retry"
    return f"{newer}; to build it, or see why it cannot be built: wh build"


def copy_file(source: Path, target: Path) -> None:
    """Copy a file inside the kernel; a file system that can share the blocks does."""
    with open(source, "rb") as reader, open(target, "wb") as writer:
        left = os.fstat(reader.fileno()).st_size
        while left:
            done = os.copy_file_range(reader.fileno(), writer.fileno(), min(left, _COPY_BYTES))
            if not done:
                raise OSError(f"{source} ended early")
            left -= done


@contextmanager
def builder_lock(project: Project) -> Iterator[None]:
    """Be the only builder. The kernel holds the lock and frees it with the process, so none is ever stale. Raises WH212
    with the holder's process id."""
    make_folder(project.builds)
    with open(project.builds / ".lock", "a+") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            stream.seek(0)
            raise WarehouseError(
                "WH212", f"process {stream.read().strip() or '?'} is building", str(project.builds), "wait for it to end"
            ) from error
        stream.truncate(0)
        stream.write(str(os.getpid()))
        stream.flush()
        yield


def pulled_shadow(project: Project) -> Path:
    """Where a build that comes from elsewhere waits for its name."""
    return project.builds / f"{_SHADOW}.pulled"


def publish_build(project: Project, shadow: Path, build: Build) -> Build:
    """Give a finished shadow its digest's name, make it durable, and only then switch the pointer; prune old builds."""
    build = replace(build, sha256=file_digest(shadow))
    descriptor = os.open(shadow, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    _log_of(build.path).unlink(missing_ok=True)  # of an altered build that this one replaces
    os.replace(shadow, build.path)
    build.path.chmod(0o444)  # after it has its name: a build that is retried writes into the shadow
    fsync_folder(project.builds)
    build = switch_to(project, build)
    remove_leftovers(project)
    return build


def switch_to(project: Project, build: Build) -> Build:
    """Point at a finished build, whose database was checked. Returns it with the stamps of its files. Raises WH218 for a part that is altered."""
    checked = checked_parts(project) if build.parts else ()
    stamps = {build.name_of(path): part_stamp(path, sha256, checked) for path, sha256 in build.part_files().items()}
    build = replace(build, stamp=file_stamp(build.path), part_stamps=stamps)
    record: dict[str, Any] = {**record_of(build), "stamp": build.stamp} | ({"part_stamps": stamps} if stamps else {})
    replace_durably(build.path.with_suffix(".json"), json.dumps(record).encode())
    scratch = project.builds / f".{POINTER}.{os.getpid()}"
    scratch.unlink(missing_ok=True)
    os.symlink(build.path.name, scratch)
    os.replace(scratch, project.builds / POINTER)
    fsync_folder(project.builds)
    _prune(project, build)
    return build


def _prune(project: Project, current: Build) -> None:
    builds = sorted(project.builds.glob("wh-*.duckdb"), key=lambda path: path.stat().st_mtime_ns, reverse=True)
    kept = [current.path, *(path for path in builds if path != current.path)][: project.kept_builds]
    for path in builds:
        if path not in kept:
            path.with_suffix(".json").unlink(missing_ok=True)  # first: a database alone is found again, a record not
            _log_of(path).unlink(missing_ok=True)
            path.unlink(missing_ok=True)
    for path in _unused_parts(project, list_builds(project)):
        path.unlink(missing_ok=True)


def _unused_parts(project: Project, kept: Iterable[Build]) -> list[Path]:
    """The parts that no kept build has."""
    there = sorted((project.builds / _PARTS).glob("*/*"))
    used = {path for build in kept for path in build.part_files()} if there else set()
    return [path for path in there if path not in used]


def remove_leftovers(project: Project) -> None:
    """Remove what a dead or failed builder left. Only the lock's holder calls this. A shadow may have a log and a folder
    beside it: DuckDB spills there what does not fit into memory."""
    for pattern in (f"{_SHADOW}*", f"{FAILURES_SCRATCH}*", f".{POINTER}.*", ".wh-*.json.*"):
        for path in project.builds.glob(pattern):
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)
