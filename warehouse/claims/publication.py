"""Publications: a rollup frozen in the store with its number ids, runs and evidence, under the digest of its content.

    publications/<digest>/rows.jsonl          one line a row: grain, runs, and each cell's value, number id, evidence
    publications/<digest>/publication.json    what it is of; put last: the commit point
    specs/<query_spec_digest>.json            the query and every model under it, whole, by their digests

Here is what a publication is and how it is read; `claims.publish` makes one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from warehouse.claims.number import inexact
from warehouse.digest import domain_digest, stream_digest
from warehouse.errors import ExitCode, WarehouseError
from warehouse.evidence.ledger import Ledger
from warehouse.project import Project

PUBLICATION_DOMAIN = "wh/publication/1"


@dataclass(frozen=True)
class PublishedCell:
    """One cell of a publication. `evidence` is that of `RowTrace`, with each file's sha256."""

    column: str
    value: Any
    number_id: str | None
    evidence: tuple[Mapping[str, Any], ...]
    form: Any = None  # the value's exact form
    runs: tuple[str, ...] = ()  # of those of its row


@dataclass(frozen=True)
class PublishedRow:
    """One row: its grain, the runs of its why-set, and its cells by column."""

    grain: Mapping[str, Any]
    runs: tuple[Mapping[str, Any], ...]
    cells: Mapping[str, PublishedCell]
    grain_forms: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class PublishedRollup:
    """A publication as it lies in the store. Opening one checks it against its digest (WH307)."""

    digest: str
    record: Mapping[str, Any]
    folder: Path

    def lines(self) -> Iterator[bytes]:
        """The rows as they lie there. Raises WH307 when they cannot be read."""
        path = self.folder / "rows.jsonl"
        try:
            with open(path, "rb") as stream:
                yield from stream
        except OSError as error:
            raise WarehouseError(
                "WH307", f"cannot be read: {error.strerror}", str(path), exit_code=ExitCode.MISSING
            ) from error

    def check(self) -> None:
        """Raise WH307 when its record or rows are not those its digest is of."""
        place = f"publication {self.digest[:12]}"
        if domain_digest(PUBLICATION_DOMAIN, dict(self.record)) != self.digest:
            raise WarehouseError("WH307", "publication.json differs from its digest", place, exit_code=ExitCode.TAMPERED)
        if stream_digest(self.lines()) != self.record["rows_sha256"]:
            raise WarehouseError("WH307", "rows.jsonl differs from its digest", place, exit_code=ExitCode.TAMPERED)


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


def read_row(line: bytes) -> PublishedRow:
    """One line of `rows.jsonl`. Raises WH307 for what `publish` never wrote."""
    try:
        document = json.loads(line)
        return PublishedRow(
            {name: inexact(form) for name, form in document["grain"].items()},
            tuple(document["runs"]),
            {
                name: PublishedCell(
                    name, inexact(cell["value"]), cell["number_id"], tuple(cell["evidence"]), cell["value"],
                    tuple(cell["runs"]),
                )
                for name, cell in document["cells"].items()
            },
            document["grain"],
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise WarehouseError("WH307", f"a row cannot be read: {error}", exit_code=ExitCode.TAMPERED) from error
