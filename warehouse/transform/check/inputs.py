"""The part of the static check that looks at inputs: are the files there, and which columns have they."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from warehouse.errors import WarehouseError
from warehouse.transform.check.memory import key_of
from warehouse.transform.inputs.s3_sources import is_remote
from warehouse.transform.inputs.sources import file_stamps, has_match, open_remote
from warehouse.transform.project.model import Model
from warehouse.transform.sql.tree import FileRead, fault

if TYPE_CHECKING:
    import duckdb


def check_files(
    con: "duckdb.DuckDBPyConnection", model: Model, files: Sequence[FileRead], root: Path,
    refused: dict[str, WarehouseError],
) -> None:
    """Raise WH220 at the first read of a model that no file answers to, or that cannot be looked at. `refused` are buckets
    (as URLs) that could not be listed: they are not asked again, and more are added."""
    for read in files:
        for pattern in read.patterns:
            try:
                is_there = _is_there(pattern, root, refused)
            except WarehouseError as found:
                raise fault(found.code, f"{found.place}: {found.message}", model, read.offset, found.hint) from found
            if is_there and (named := _named_folder(root)) and not os.path.isabs(pattern) and "hive_partitioning" not in read.call.lower():
                told = f"the project is below the folder {named}, of which DuckDB makes a column of every file that is read"
                way = "state hive_partitioning in the call (false: it is no column), or keep the project in a folder without ="
                raise fault("WH220", told, model, read.offset, way)
            if not is_there:
                hint = None if is_remote(pattern) else f"paths are from the project's folder, {root.name or '.'}"
                raise fault("WH220", f"no file matches {pattern}", model, read.offset, hint)
        open_remote(con, read.patterns)


def _named_folder(root: Path) -> str | None:
    """The part of a path from which DuckDB would read `name=value`."""
    return next((part for part in root.resolve().parts if "=" in part), None)


def _is_there(pattern: str, root: Path, refused: dict[str, WarehouseError]) -> bool:
    bucket = "/".join(pattern.split("/")[:3])
    if bucket in refused:
        raise refused[bucket]
    try:
        return has_match(pattern, root)
    except WarehouseError as found:
        if found.place == bucket:
            refused[bucket] = found
        raise


def stamp_of(read: FileRead, root: Path) -> str:
    """What their file system or store says of the files that a call reads; empty where they may have changed without a
    trace."""
    return key_of(stamps) if (stamps := file_stamps(read.patterns, root)) else ""
