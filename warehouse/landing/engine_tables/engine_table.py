"""Landing tables of the engine's own, of no bundle and no batch: made anew whenever what they say changed, each file named by
its own sha256."""

from __future__ import annotations

import os

import pyarrow as pa
import pyarrow.parquet as pq

from warehouse.digest import file_digest
from warehouse.errors import WarehouseError
from warehouse.evidence.durable import make_folder, scratch_folder
from warehouse.evidence.store import EvidenceStore
from warehouse.landing.parse.batches import LandingFile

OWN_NAME = "sha256-"  # and then that


def write_own_table(store: EvidenceStore, name: str, rows: pa.Table) -> LandingFile:
    """Keep the rows of a table. Raises WH109."""
    folder = store.landing / name
    try:
        with scratch_folder(store.scratch) as scratch:
            file = scratch / f"{name}.parquet"
            pq.write_table(rows, file, compression="zstd")
            sha256 = file_digest(file)
            path = folder / f"{OWN_NAME}{sha256}.parquet"
            make_folder(folder)
            os.replace(file, path)
    except OSError as error:
        raise WarehouseError("WH109", f"the store cannot be written: {error.strerror}", str(folder)) from error
    return LandingFile(name, path, sha256, rows.num_rows)
