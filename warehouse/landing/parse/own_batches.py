"""Landing batches that this machine parsed itself: the digests of their files, in the cache folder of the user.

A batch and its record lie in the store, so whoever can write there can change both. The digests lie outside of it. A publication takes
such a batch as it is, and parses everything else again; a verification takes none.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from warehouse.digest import canonical_json, file_digest, memo_digest
from warehouse.evidence.durable import make_folder
from warehouse.evidence.store import EvidenceStore
from warehouse.landing.parse.batches import BUNDLE_TABLE, Batch, LandingFile, read_batches, record
from warehouse.project.user_cache import user_cache

if TYPE_CHECKING:
    from warehouse.landing.registry import RegisteredIngestor

_KEPT = 2_000


def note_parsed(batch: Batch) -> None:
    """Note the digests of a batch that was parsed just now. Without a usable cache folder nothing is noted."""
    try:
        note = _note(batch.name)
        note.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        _remove_old(note.parent)
        number, scratch = tempfile.mkstemp(dir=note.parent, suffix=".new")
        with open(number, "wb") as stream:
            stream.write(canonical_json({file.table: file.sha256 for file in batch.files}))
        os.replace(scratch, note)
    except (OSError, RuntimeError):
        pass


def take_own(
    store: EvidenceStore, part: EvidenceStore, bundles: Collection[str], ingestors: Mapping[str, "RegisteredIngestor"],
    checked: Collection[str],
) -> None:
    """Put into a part of a store, which has these bundles, the batches of the store that this machine parsed itself. The bytes of each bundle
    are checked, except of those that were `checked`; a batch with a damaged bundle is not taken."""
    for batch in read_batches(store.landing, ingestors):
        if set(batch.bundles) <= {*bundles} and _is_own(batch) and not any(
            True for digest in batch.bundles if digest not in checked for _ in store.check_bundle(digest)
        ):
            files = tuple(_taken(file, part.landing) for file in batch.files)
            scratch = part.landing / "taken"
            make_folder(scratch)
            record(part.landing, replace(batch, files=files), scratch)


def _is_own(batch: Batch) -> bool:
    try:
        note = _note(batch.name)
        is_ours = note.stat().st_uid == os.geteuid()
        return is_ours and json.loads(note.read_bytes()) == {file.table: file.sha256 for file in batch.files}
    except (OSError, RuntimeError, ValueError):
        return False


def _taken(file: LandingFile, landing: Path) -> LandingFile:
    """A file of a batch in other landing tables. Whoever reads it checks its digest."""
    path = landing / file.table / file.path.name
    make_folder(path.parent)
    if file.table == BUNDLE_TABLE:
        return _without_arrivals(file, path)
    try:
        os.link(file.path, path)
    except OSError:  # another file system
        shutil.copyfile(file.path, path)
    return replace(file, path=path)


def _without_arrivals(file: LandingFile, path: Path) -> LandingFile:
    """The table of bundles as it is parsed without a ledger: when they arrived is no evidence."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = pq.read_table(file.path)
    place = rows.schema.get_field_index("arrived_at")
    field = rows.schema.field(place)
    pq.write_table(rows.set_column(place, field, pa.nulls(rows.num_rows, field.type)), path, compression="zstd", store_schema=False)
    return replace(file, path=path, sha256=file_digest(path))


def _note(name: str) -> Path:
    return user_cache("parsed") / memo_digest("wh/own-batch/1", [name, *_parsing()])


@cache
def _parsing() -> tuple[str, ...]:
    """What parses beside the ingestor, whose code the name of a batch has."""
    package = Path(__file__).parents[2]
    paths = sorted(path for folder in ("landing", "evidence") for path in (package / folder).rglob("*.py"))
    code = memo_digest("wh/parsing-code/1", {str(path.relative_to(package)): file_digest(path) for path in paths})
    return code, version("pyarrow"), version("numpy")


def _remove_old(folder: Path) -> None:
    notes = [entry for entry in os.scandir(folder) if entry.is_file()]
    for note in sorted(notes, key=lambda entry: entry.stat().st_mtime_ns)[:-_KEPT]:
        os.unlink(note.path)
