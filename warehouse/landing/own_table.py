"""Landing tables of the engine's own, of no bundle and no batch: made anew whenever what they say changed, under its digest."""

from __future__ import annotations

import os

import pyarrow as pa
import pyarrow.parquet as pq

from warehouse.digest import file_digest
from warehouse.errors import WarehouseError
from warehouse.evidence.durable import make_folder, scratch_folder
from warehouse.evidence.store import EvidenceStore
from warehouse.landing.batches import LandingFile


def write_own_table(store: EvidenceStore, name: str, rows: pa.Table, digest: str) -> LandingFile:
    """Keep the rows of a table; `digest` is of what they say. Raises WH109."""
    path = store.landing / name / f"{digest}.parquet"
    try:
        with scratch_folder(store.scratch) as scratch:
            file = scratch / path.name
            pq.write_table(rows, file, compression="zstd")
            sha256 = file_digest(file)
            make_folder(path.parent)
            os.replace(file, path)
    except OSError as error:
        raise WarehouseError("WH109", f"the store cannot be written: {error.strerror}", str(path)) from error
    return LandingFile(name, path, sha256, rows.num_rows)
