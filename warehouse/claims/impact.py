"""`wh impact`: which published numbers rest on a run, a bundle, a raw file or a model. Read from the publications alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from warehouse.claims.publication import PublishedCell, PublishedRow, publications
from warehouse.claims.search import FoundCell
from warehouse.claims.specification import read_specification
from warehouse.claims.verification import bundles_of
from warehouse.digest import file_digest
from warehouse.errors import ExitCode, WarehouseError
from warehouse.project import Project

# Whether a cell rests on what was asked about.
_Rests = Callable[[PublishedRow, PublishedCell], bool]


@dataclass(frozen=True)
class Impact:
    """A published number that rests on it, and as what: run, bundle, file or model."""

    number_id: str
    key: str
    value: Any
    publication: str
    kind: str


def impact(project: Project, asked: str) -> list[Impact]:
    """The numbers that rest on what a person named: a run id, the digest of a manifest (or its beginning), a raw file by its
    path in the bundle, its sha256 or a copy of it on disk, or a model. Raises WH304 when no publication knows of it, and
    WH307."""
    found = list(_found(project, asked))
    if not found:
        raise WarehouseError(
            "WH304", "no published number rests on a run, bundle, file or model of this name", asked,
            "name a run_id, a manifest's digest, a raw path or file, or a model", ExitCode.NOT_FOUND,
        )
    return found


def _found(project: Project, asked: str) -> Iterator[Impact]:
    sha256 = file_digest(Path(asked)) if Path(asked).is_file() else asked
    ways: dict[str, _Rests] = {
        "run": lambda row, cell: any(run["run_id"] == asked for run in cell.runs),
        "bundle": lambda row, cell: len(asked) >= 8 and any(digest.startswith(asked) for digest in bundles_of(row, cell)),
        "file": lambda row, cell: any(asked == file["raw_path"] or sha256 == file["sha256"] for file in cell.evidence),
    }
    for publication in publications(project):
        publication.check()
        models = read_specification(project, publication).models
        is_model = any(asked in (name, name.partition(".")[2]) for name, _ in models)
        for row in publication.rows():
            for cell in row.cells.values():
                kind = "model" if is_model else next((kind for kind, rests in ways.items() if rests(row, cell)), None)
                if cell.number_id and kind:
                    found = FoundCell(str(publication.record["query"]), row, cell, publication, None)
                    yield Impact(cell.number_id, found.key, cell.value, publication.digest, kind)
