"""Holds the landing folder against its batches, and these against the ledger. All of it is derived: the way out is to delete it.

It reads and tells; it mends nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any

from warehouse.digest import canonical_document, file_digest
from warehouse.evidence.finding import ALTERED, MISSING, ORPHANED, UNLEDGERED, UNPROTECTED, Finding
from warehouse.evidence.ledger.summary import Ledgered
from warehouse.landing.engine_tables import NAME_PREFIX
from warehouse.landing.parse.batches import OWN_TABLES, batch_name

_AGAIN = "delete the landing folder: wh build makes it again"


def batch_keys(landing: Path) -> list[str]:
    """The keys of the records of all batches, sorted."""
    return [f"landing/batches/{path.name}" for path in sorted((landing / "batches").glob("*.json"))]


def inspect_batch(landing: Path, key: str, ledgered: Ledgered, chosen: Callable[[str], bool]) -> Iterator[Finding]:
    """What is wrong with a batch that holds a chosen bundle: its record, and the files that it lists. One whose record cannot be
    read may hold any."""
    try:
        document = _batch(landing, key)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        yield Finding(ALTERED, key, f"no record of a batch: {error}", _AGAIN)
        return
    if not any(map(chosen, document["bundles"])):
        return
    for digest in document["bundles"]:
        if digest not in ledgered.arrivals and digest not in ledgered.removed:
            yield Finding(UNLEDGERED, key, f"it contains bundle {digest}, which the ledger does not mention", "ingest the evidence again")
    for file in document["files"]:
        yield from _inspect_file(landing, file)


def _batch(landing: Path, key: str) -> dict[str, Any]:
    """The record of a batch. Raises `ValueError` and its like for one that is not what its name and form say."""
    name = key.rpartition("/")[2].removesuffix(".json")
    document: dict[str, Any] = canonical_document(landing.joinpath("batches", f"{name}.json").read_bytes())
    if document.keys() != {"batch", "ingestor", "parser", "bundles", "files"}:
        raise ValueError("it has other parts than a batch has")
    bundles = document["bundles"]
    if document["batch"] != name or batch_name(document["ingestor"], document["parser"], bundles) != name:
        raise ValueError("its name is not that of its bundles and ingestor")
    if bundles != sorted(bundles):
        raise ValueError("its bundles are not in order")
    for file in document["files"]:
        if file.keys() != {"table", "path", "sha256", "rows"} or file["path"] != f"{file['table']}/{name}.parquet":
            raise ValueError(f"it lists {file.get('path')!r}")
    return document


def _inspect_file(landing: Path, file: dict[str, Any]) -> Iterator[Finding]:
    import pyarrow.parquet as pq

    key, path = f"landing/{file['path']}", landing / file["path"]
    try:
        found = file_digest(path)
        if found != file["sha256"]:
            yield Finding(ALTERED, key, f"sha256 is {found}, its batch says {file['sha256']}", _AGAIN)
        elif pq.read_metadata(path).num_rows != file["rows"]:
            yield Finding(ALTERED, f"landing/batches/{path.stem}.json", f"{key} has another number of rows than it says", _AGAIN)
    except FileNotFoundError:
        yield Finding(MISSING, key, "its batch lists it", _AGAIN)
    except OSError as error:
        yield Finding(ALTERED, key, f"cannot be read: {error.strerror}", _AGAIN)


def inspect_other_files(landing: Path, in_use: Collection[Path]) -> Iterator[Finding]:
    """Files in the folder that belong to no batch: states of signatures, decisions on runs, and unknown files. `in_use` are the
    files that a build depends on: those that are not there are reported, unless all are gone: the folder may be deleted, and the build may be from
    elsewhere."""
    batches = {path.stem for path in (landing / "batches").glob("*.json")}
    for path in sorted(landing.glob("*/*")) + sorted(path for path in landing.glob("*") if not path.is_dir()):
        key = f"landing/{path.relative_to(landing).as_posix()}"
        table = path.parent.name
        if path.parent != landing and table == "batches" and path.suffix == ".json" and not path.name.startswith("."):
            continue
        if table in OWN_TABLES:
            yield from _inspect_engine_table(path, key)
        elif path.suffix != ".parquet" or path.stem not in batches:
            yield Finding(ORPHANED, key, "no batch lists it", _AGAIN)
    gone = sorted(path for path in in_use if not path.exists())
    if len(gone) < len(in_use):
        for path in gone:
            yield Finding(MISSING, f"landing/{path.relative_to(landing).as_posix()}", "the current build depends on it", _AGAIN)


def _inspect_engine_table(path: Path, key: str) -> Iterator[Finding]:
    if not path.name.startswith(NAME_PREFIX):
        yield Finding(UNPROTECTED, key, "written by an earlier version: its name does not commit to its bytes", _AGAIN)
        return
    try:
        found = file_digest(path)
    except OSError as error:
        yield Finding(ALTERED, key, f"cannot be read: {error.strerror}", _AGAIN)
        return
    if path.name != f"{NAME_PREFIX}{found}.parquet":
        yield Finding(ALTERED, key, f"sha256 is {found}", _AGAIN)
