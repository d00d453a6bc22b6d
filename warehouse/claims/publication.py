"""Publications: a rollup frozen in the store with its number ids, runs and evidence, under the digest of its content.

    publications/<digest>/rows.jsonl          one line a row: grain, and each cell's value, number id, why-set and evidence
    publications/<digest>/runs.jsonl          the runs that any cell rests on
    publications/<digest>/why.jsonl           the why-sets, bitmaps over these runs (`claims.why_sets`)
    publications/<digest>/publication.json    what it is of, and the digests of the three; put last: the commit point
    specs/<query_spec_digest>.json            the query and every model under it, whole, by their digests

Here is what a publication is and how it is read; `claims.publish` makes one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from warehouse.claims.number import inexact
from warehouse.claims.why_sets import Run, decoded
from warehouse.digest import bytes_digest, domain_digest
from warehouse.errors import ExitCode, WarehouseError
from warehouse.evidence.ledger import Ledger
from warehouse.project import Project

PUBLICATION_DOMAIN = "wh/publication/2"
# The files beside the record, each with its digest in it.
CONTENT = ("rows.jsonl", "runs.jsonl", "why.jsonl")


@dataclass(frozen=True)
class PublishedCell:
    """One cell of a publication. `runs` are those of its why-set; `evidence` is that of `RowTrace`, with each file's sha256."""

    column: str
    value: Any
    number_id: str | None
    evidence: tuple[Mapping[str, Any], ...]
    form: Any = None  # the value's exact form
    runs: tuple[Run, ...] = ()
    why_digest: str | None = None


@dataclass(frozen=True)
class PublishedRow:
    """One row: its grain, and its cells by column."""

    grain: Mapping[str, Any]
    cells: Mapping[str, PublishedCell]
    grain_forms: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class PublishedRollup:
    """A publication as it lies in the store. Opening one checks it against its digest (WH307)."""

    digest: str
    record: Mapping[str, Any]
    folder: Path

    def rows(self, carrying: str = "") -> Iterator[PublishedRow]:
        """Its rows, or those in whose text `carrying` stands. Raises WH307 when they cannot be read."""
        needle = carrying.encode()
        for line in self._read("rows.jsonl").splitlines():
            if needle in line:
                yield _row(line, self._why_sets)

    @cached_property
    def _why_sets(self) -> dict[str, tuple[Run, ...]]:
        try:
            return decoded(self._read("runs.jsonl"), self._read("why.jsonl"))
        except (ValueError, KeyError, TypeError, IndexError) as error:
            message = f"its why-sets cannot be read: {error}"
            raise WarehouseError("WH307", message, str(self.folder), exit_code=ExitCode.TAMPERED) from error

    def _read(self, name: str) -> bytes:
        try:
            return (self.folder / name).read_bytes()
        except OSError as error:
            raise WarehouseError(
                "WH307", f"cannot be read: {error.strerror}", str(self.folder / name), exit_code=ExitCode.MISSING
            ) from error

    def check(self) -> None:
        """Raise WH307 when its record or what lies beside it is not what its digest is of."""
        place = f"publication {self.digest[:12]}"
        if domain_digest(PUBLICATION_DOMAIN, dict(self.record)) != self.digest:
            raise WarehouseError("WH307", "publication.json differs from its digest", place, exit_code=ExitCode.TAMPERED)
        for name in CONTENT:
            if bytes_digest(self._read(name)) != self.record["sha256"][name]:
                raise WarehouseError("WH307", f"{name} differs from its digest", place, exit_code=ExitCode.TAMPERED)


def publications(project: Project) -> list[PublishedRollup]:
    """All publications, the last one published first. Raises WH307 for one that cannot be read."""
    from warehouse.evidence.ledger import PUBLICATION

    order = {
        event.subject: number
        for number, event in enumerate(Ledger(project.store_root).events())
        if event.kind == PUBLICATION
    }
    found = []
    for path in (project.store_root / "publications").glob("*/publication.json"):
        try:
            found.append(PublishedRollup(path.parent.name, json.loads(path.read_bytes()), path.parent))
        except (OSError, ValueError) as error:
            raise WarehouseError("WH307", f"cannot be read: {error}", str(path)) from error
    return sorted(found, key=lambda publication: (-order.get(publication.digest, -1), publication.digest))


def _row(line: bytes, why_sets: Mapping[str, tuple[Run, ...]]) -> PublishedRow:
    """One line of `rows.jsonl`. Raises WH307 for what `publish` never wrote."""
    try:
        document = json.loads(line)
        return PublishedRow(
            {name: inexact(form) for name, form in document["grain"].items()},
            {
                name: PublishedCell(
                    name, inexact(cell["value"]), cell["number_id"], tuple(cell["evidence"]), cell["value"],
                    why_sets[cell["why_digest"]], cell["why_digest"],
                )
                for name, cell in document["cells"].items()
            },
            document["grain"],
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise WarehouseError("WH307", f"a row cannot be read: {error}", exit_code=ExitCode.TAMPERED) from error
