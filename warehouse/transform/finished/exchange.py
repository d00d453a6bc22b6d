"""Builds in a store, for other machines: under `builds/<build digest>/`, each file by the sha256 of its bytes.

    <sha256>.duckdb    the database
    <sha256>.parquet   a part of a table that stays in parts
    <sha256>.json      what the build is, with the database's sha256; put last: the commit point

What a build was made from is the store's as well, and any machine can build it again: this saves the time.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from warehouse.digest import bytes_digest, canonical_document, canonical_json, file_digest, stream_digest
from warehouse.errors import ExitCode, WarehouseError, printable
from warehouse.evidence.durable import fsync_folder, make_folder, write_new
from warehouse.evidence.finding import ALTERED, AWAY, LEFTOVER, MISSING, ORPHANED, RESTORE, Finding
from warehouse.evidence.objects.base import Entry, Objects
from warehouse.evidence.store import EvidenceStore
from warehouse.project.project import Project
from warehouse.transform.finished.builds import (
    Build,
    build_of,
    build_path,
    builder_lock,
    checked_parts,
    finished_build,
    is_whole,
    publish_build,
    pulled_shadow,
    record_of,
    switch_to,
)

_KEY = re.compile(r"builds/(?P<build>[0-9a-f]{64})/(?P<sha256>[0-9a-f]{64})\.(?P<kind>duckdb|parquet|json)")


@dataclass(frozen=True)
class MovedBuild:
    """A build that was copied somewhere: its digest, the bytes of its database, and whether it was not there before."""

    digest: str
    bytes: int
    is_new: bool


def push_build(build: Build, store: EvidenceStore) -> MovedBuild:
    """Put a finished build into a store. Raises WH218 when it is not what was built, WH109, WH114, WH115."""
    build.check()
    database = f"builds/{build.digest}/{build.sha256}.duckdb"
    files = {f"builds/{build.digest}/{sha256}.parquet": (sha256, path) for path, sha256 in build.part_files().items()}
    record = canonical_json(record_of(build))
    try:
        for key, (sha256, path) in {**files, database: (build.sha256, build.path)}.items():
            if store.objects.exists(key):
                continue
            with store.incoming() as incoming:
                [copy] = incoming.copy([path])
                if isinstance(copy, WarehouseError):
                    raise copy
                if copy.sha256 != sha256:
                    raise WarehouseError("WH218", "it changed while it was read", str(path), exit_code=ExitCode.TAMPERED)
                store.objects.create_files({key: copy})
        is_new = store.objects.create(f"builds/{build.digest}/{bytes_digest(record)}.json", record)
    except OSError as error:
        raise WarehouseError("WH109", f"the store cannot be written: {error.strerror}", f"{store.objects.url}/{database}") from error
    return MovedBuild(build.digest, build.path.stat().st_size, is_new)


def pull_build(project: Project, objects: Objects, digest: str) -> MovedBuild:
    """Make the build whose digest begins so, or the last one pushed for "", the project's current one. Raises WH214 when the
    store has none or several, WH105 or WH106 when it is not whole, WH212, WH109, WH114."""
    key = _record_key(objects, digest)
    record = _record(objects, key)
    sha256, size = str(record["sha256"]), int(record["bytes"])
    with builder_lock(project):
        there = finished_build(project, str(record["build_digest"]))
        if there and there.sha256 == sha256:
            switch_to(project, there)
            return MovedBuild(there.digest, size, is_new=False)
        build = build_of(record, build_path(project, str(record["build_digest"])))
        shadow, folder = pulled_shadow(project), key.rpartition("/")[0]
        checked = checked_parts(project)
        for path, digest_of_part in build.part_files().items():
            if not is_whole(path, digest_of_part, checked):
                make_folder(path.parent)
                _pull(objects, f"{folder}/{digest_of_part}.parquet", digest_of_part, shadow)
                shadow.chmod(0o444)
                os.replace(shadow, path)
                fsync_folder(path.parent)
        _pull(objects, f"{folder}/{sha256}.duckdb", sha256, shadow)
        publish_build(project, shadow, build)
    return MovedBuild(build.digest, size, is_new=True)


def _pull(objects: Objects, key: str, sha256: str, to: Path) -> None:
    """Copy one object into a new file."""
    to.unlink(missing_ok=True)
    try:
        write_new(to, objects.chunks(key))
    except FileNotFoundError as error:
        raise WarehouseError("WH106", "a file of the build is not there", key, "push it again", ExitCode.MISSING) from error
    except OSError as error:
        raise WarehouseError("WH109", f"cannot be written: {error.strerror}", str(to), "free space there") from error
    if file_digest(to) != sha256:
        raise WarehouseError("WH105", "a file of the build differs from its digest", key, "push it again", ExitCode.TAMPERED)


def _record_key(objects: Objects, digest: str) -> str:
    """The key of the last record of a build."""
    newest: dict[str, Entry] = {}
    for entry in objects.entries("builds"):
        found = _KEY.fullmatch(entry.key)
        if found and found["kind"] == "json" and found["build"].startswith(digest):
            before = newest.get(found["build"])
            if before is None or entry.modified_at > before.modified_at:
                newest[found["build"]] = entry
    if not newest or (digest and len(newest) > 1):
        how_many = "several builds have" if newest else "no build has"
        status = ExitCode.AMBIGUOUS if newest else ExitCode.NOT_FOUND
        message = f"{how_many} a digest that begins with {printable(digest)!r}" if digest else "there is no build in this store"
        raise WarehouseError("WH214", message, f"{objects.url}/builds", "put one there with: wh push STORE --build", status)
    return max(newest.values(), key=lambda entry: entry.modified_at).key


def _record(objects: Objects, key: str) -> dict[str, Any]:
    data = objects.read(key)
    if bytes_digest(data) != key.rpartition("/")[2].removesuffix(".json"):
        message = "the build's record differs from the digest in its name"
        raise WarehouseError("WH105", message, f"{objects.url}/{key}", RESTORE, ExitCode.TAMPERED)
    document: dict[str, Any] = json.loads(data)
    return document


def inspect_builds(objects: Objects, entries: Iterable[Entry]) -> Iterator[Finding]:
    """What is wrong with objects under `builds/`. Raises WH114."""
    for build, group in groupby(entries, lambda entry: entry.key.split("/")[1]):
        needed: set[str] = set()
        files: set[str] = set()
        for entry in group:
            found = _KEY.fullmatch(entry.key)
            if not found:
                yield Finding(ORPHANED, entry.key, "nothing of this name belongs here", AWAY)
                continue
            try:
                sha256 = stream_digest(objects.chunks(entry.key))
                if found["kind"] != "json":
                    files.add(entry.key)
                elif sha256 == found["sha256"]:
                    record = canonical_document(objects.read(entry.key))
                    needed.add(f"builds/{build}/{record['sha256']}.duckdb")
                    needed.update(f"builds/{build}/{part}.parquet" for parts in record.get("parts", {}).values() for part in parts)
            except (OSError, ValueError, KeyError, TypeError) as error:
                yield Finding(ALTERED, entry.key, f"cannot be read: {error}", RESTORE)
                continue
            if sha256 != found["sha256"]:
                yield Finding(ALTERED, entry.key, f"sha256 is {sha256}", "move this away by hand, then push the build again")
        yield from (Finding(MISSING, key, "the build's record names it", "push the build again") for key in sorted(needed - files))
        yield from (
            Finding(LEFTOVER, key, "a build that was pushed only in part, or lost its record", "push the build again")
            for key in sorted(files - needed)
        )
