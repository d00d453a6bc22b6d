"""`wh impact`: which published numbers depend on a run, a bundle, a raw file or a model. Read from the publications alone."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from warehouse.claims.numbers.deciding import look_up_run
from warehouse.claims.numbers.search import FoundCell
from warehouse.claims.publish.publication import PublishedCell, PublishedRollup, PublishedRow, publications, whole_publications
from warehouse.claims.publish.specification import read_specification
from warehouse.claims.verify.verification import bundles_of
from warehouse.digest import file_digest
from warehouse.errors import ExitCode, WarehouseError, did_you_mean
from warehouse.evidence.objects.location import open_store
from warehouse.project.project import Project
from warehouse.transform.finished.builds import find_current
from warehouse.transform.finished.query import kept_open, read_query

# Whether a cell depends on what the user named.
_Rests = Callable[[PublishedRow, PublishedCell], bool]


@dataclass(frozen=True)
class Impact:
    """A published number that depends on it, and as what: run, bundle, file or model."""

    number_id: str
    key: str
    value: Any
    publication: str
    kind: str


@dataclass(frozen=True)
class Impacts:
    """The published numbers that depend on it; and which publications are damaged (WH307), so that theirs are not known."""

    numbers: tuple[Impact, ...]
    damaged: tuple[WarehouseError, ...]


def impact(project: Project, asked: str) -> Impacts:
    """The numbers that depend on what a person named: a run id, the digest of a manifest (or its beginning), a raw file by its
    path in the bundle, its sha256 or a copy of it on disk, or a model. None where it is a run or model of the current build, or a bundle, that
    no number depends on. Raises WH304 where nothing is called so."""
    numbers: list[Impact] = []
    whole, damaged = whole_publications(publications(project))
    for publication in whole:
        try:
            numbers += _resting(project, publication, asked)
        except WarehouseError as error:  # its spec, or a row that says what `publish` never wrote
            damaged.append(error)
    if not numbers and not _is_known(project, asked):
        raise WarehouseError(
            "WH304", "no published number depends on a file of this name, and no run, bundle or model has it", asked,
            did_you_mean(asked, _names(project, whole)) or "name a run_id, a manifest's digest, a raw path or file, or a model",
            ExitCode.NOT_FOUND, tuple(damaged),
        )
    return Impacts(tuple(numbers), tuple(damaged))


def _is_known(project: Project, asked: str) -> bool:
    """Whether it is a run or a model of the current build, or a bundle of the store."""
    if _is_beginning(asked) and any(digest.startswith(asked) for digest in open_store(project).digests()):
        return True
    if (build := find_current(project)) is None:
        return False
    with kept_open(build):
        with read_query(build.path, "select name, schema_name || '.' || name from catalog.model") as result:
            models = {name for both in result.fetchall() for name in both}
        return asked in models or look_up_run(build, asked)[0]


def _is_beginning(asked: str) -> bool:
    """Whether it is long enough to be how a digest begins."""
    return len(asked) >= 8


def _names(project: Project, publications: list[PublishedRollup]) -> set[str]:
    """The models, runs and raw files that any of these publications depends on, as far as they can be read."""
    names = set[str]()
    for publication in publications:
        with suppress(WarehouseError):
            names |= {name.partition(".")[2] for name, _ in read_specification(project, publication).models}
            for row in publication.rows():
                for cell in row.cells.values():
                    names |= {str(run["run_id"]) for run in cell.runs} | {str(file["raw_path"]) for file in cell.evidence}
    return names


def _resting(project: Project, publication: PublishedRollup, asked: str) -> list[Impact]:
    sha256 = file_digest(Path(asked)) if Path(asked).is_file() else asked
    ways: dict[str, _Rests] = {
        "run": lambda row, cell: any(run["run_id"] == asked for run in cell.runs),
        "bundle": lambda row, cell: _is_beginning(asked) and any(digest.startswith(asked) for digest in bundles_of(row, cell)),
        "file": lambda row, cell: any(asked == file["raw_path"] or sha256 == file["sha256"] for file in cell.evidence),
    }
    models = read_specification(project, publication).models
    is_model = any(asked in (name, name.partition(".")[2]) for name, _ in models)
    found = []
    for row in publication.rows():
        for cell in row.cells.values():
            kind = "model" if is_model else next((kind for kind, rests in ways.items() if rests(row, cell)), None)
            if cell.number_id and kind:
                key = FoundCell(str(publication.record["query"]), row, cell, publication, None).key
                found.append(Impact(cell.number_id, key, cell.value, publication.digest, kind))
    return found
