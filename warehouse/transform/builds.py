"""Builds on disk: digest-named databases, the pointer that says which is current, and the lock of the one builder.

Readers follow the pointer to a file that never changes under its name; they never wait and never see half a build.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from warehouse.digest import file_digest
from warehouse.errors import ExitCode, WarehouseError
from warehouse.evidence.durable import fsync_folder, make_folder, replace_durably
from warehouse.project import Project

POINTER = "current.duckdb"
FAILURES = "failures.duckdb"  # the rows that broke tests of the last build
FAILURES_SCRATCH = ".failures-"
_SHADOW_PREFIX = ".shadow-"


@dataclass(frozen=True)
class Build:
    """One finished build: its digest, its database file, and the fingerprint of the inputs it was made from."""

    digest: str
    path: Path
    fingerprint: str
    sha256: str = ""  # of the database file, known once it is finished
    landing_files: tuple[str, ...] = ()  # what it was made from, relative to the landing folder

    def check(self) -> None:
        """Raise WH218 when the database file is not the one that was built: its numbers would be somebody else's."""
        if file_digest(self.path) != self.sha256:
            raise WarehouseError(
                "WH218", "its bytes have changed since it was built", str(self.path),
                "delete the builds folder, then run: wh build", ExitCode.TAMPERED,
            )


def current_build(project: Project) -> Build:
    """The build the pointer names. Raises WH211 when there is none."""
    build = find_current(project)
    if build is None:
        raise WarehouseError("WH211", "nothing has been built here yet", str(project.builds), "run: wh build")
    return build


def find_current(project: Project) -> Build | None:
    """The build the pointer names, or None."""
    try:
        path = project.builds / os.readlink(project.builds / POINTER)
        record = json.loads(path.with_suffix(".json").read_bytes())
        if path.stat().st_size != record["bytes"]:
            return None  # cut short or replaced: as if it were not there
        return Build(record["build_digest"], path, record["fingerprint"], record["sha256"], tuple(record["landing_files"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def finished_build(project: Project, digest: str) -> Build | None:
    """A build of that digest that is on disk and whole, current or not; None when there is none."""
    path = build_path(project, digest)
    try:
        record = json.loads(path.with_suffix(".json").read_bytes())
        build = Build(digest, path, record["fingerprint"], record["sha256"], tuple(record["landing_files"]))
        build.check()
        return build
    except (OSError, ValueError, KeyError, TypeError, WarehouseError):
        return None


def build_path(project: Project, digest: str) -> Path:
    return project.builds / f"wh-{digest[:32]}.duckdb"


def shadow_path(project: Project) -> Path:
    """A new name for a database under construction, in the builds folder."""
    return project.builds / f"{_SHADOW_PREFIX}{os.getpid()}.duckdb"


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
        _remove_leftovers(project)
        yield


def publish_build(project: Project, shadow: Path, build: Build) -> Build:
    """Give a finished shadow its digest's name, make it durable, and only then switch the pointer; prune old builds."""
    build = replace(build, sha256=file_digest(shadow))
    descriptor = os.open(shadow, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    os.replace(shadow, build.path)
    fsync_folder(project.builds)
    switch_to(project, build)
    return build


def switch_to(project: Project, build: Build) -> None:
    """Point at a finished build."""
    record = {
        "build_digest": build.digest,
        "fingerprint": build.fingerprint,
        "sha256": build.sha256,
        "bytes": build.path.stat().st_size,
        "landing_files": list(build.landing_files),
    }
    replace_durably(build.path.with_suffix(".json"), json.dumps(record).encode())
    scratch = project.builds / f".{POINTER}.{os.getpid()}"
    scratch.unlink(missing_ok=True)
    os.symlink(build.path.name, scratch)
    os.replace(scratch, project.builds / POINTER)
    fsync_folder(project.builds)
    _prune(project, build)


def _prune(project: Project, current: Build) -> None:
    builds = sorted(project.builds.glob("wh-*.duckdb"), key=lambda path: path.stat().st_mtime_ns, reverse=True)
    kept = [current.path, *(path for path in builds if path != current.path)][: project.kept_builds]
    for path in builds:
        if path not in kept:
            path.with_suffix(".json").unlink(missing_ok=True)  # first: a database alone is found again, a record not
            path.unlink(missing_ok=True)


def _remove_leftovers(project: Project) -> None:
    """Only the lock's holder calls this, so what has a name under construction is a dead builder's. A shadow may have a
    folder beside it: DuckDB spills there what does not fit into memory."""
    for pattern in (f"{_SHADOW_PREFIX}*", f"{FAILURES_SCRATCH}*", f".{POINTER}.*", ".wh-*.json.*"):
        for path in project.builds.glob(pattern):
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)
