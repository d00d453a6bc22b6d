"""A forger who can write into the store and makes every digest right."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from stored import folder_of

from warehouse.claims.publish.publication import PUBLICATION_DOMAIN, PublishedRollup, row_line
from warehouse.claims.publish.why_sets import Run, WhySetWriter, why_digest
from warehouse.digest import bytes_digest, canonical_json, domain_digest
from warehouse.evidence.ledger.events import PUBLICATION, Ledger


def forge(publication: PublishedRollup, name: str, data: bytes) -> Path:
    """Put another content in one of a publication's files: its record, its digest and its folder follow. The new folder."""
    record = {**publication.record, "sha256": {**publication.record["sha256"], name: bytes_digest(data)}}
    forged = _moved(publication, domain_digest(PUBLICATION_DOMAIN, record))
    for path, content in ((forged / name, data), (forged / "publication.json", canonical_json(record))):
        path.chmod(0o644)
        path.write_bytes(content)
    return forged


def _moved(publication: PublishedRollup, digest: str) -> Path:
    """A publication's new folder; the ledger has it in place of the last event."""
    forged = folder_of(publication).with_name(digest)
    shutil.move(folder_of(publication), forged)
    events = list(Ledger(publication.objects).events())
    for event in (each for each in events if each.kind == PUBLICATION and each.subject == publication.digest):
        (forged.parents[1] / event.key).unlink()
        Ledger(publication.objects).published(digest, event.detail["query"], event.detail["build_digest"], event.detail["without"])
    return forged


def encoded(sets: Iterable[Sequence[Run]]) -> tuple[bytes, bytes]:
    """The `runs.jsonl` and `why.jsonl` of a publication with these sets of runs."""
    found = list(sets)
    writer = WhySetWriter({run["run_id"]: run for runs in found for run in runs})
    for runs in found:
        writer.add(tuple(sorted(run["run_id"] for run in runs)))
    return writer.encoded()


def row_documents(publication: PublishedRollup) -> list[dict[str, Any]]:
    """The rows of a publication as `row_line` takes them."""
    return [
        {
            "grain": dict(row.grain_forms), "bundles": sorted(row.bundles),
            "cells": {
                name: {
                    "value": cell.form, "number_id": cell.number_id, "why_digest": cell.why_digest,
                    "evidence": [dict(file) for file in cell.evidence], "is_exact": cell.is_exact,
                }
                for name, cell in row.cells.items()
            },
        }
        for row in publication.rows()
    ]


def rows_content(rows: Iterable[dict[str, Any]]) -> bytes:
    """The `rows.jsonl` of such rows; a file that a cell names is of the row's bundles."""
    for row in rows:
        named = {file["artifact_manifest_digest"] for cell in row["cells"].values() for file in cell["evidence"]}
        row["bundles"] = sorted({*row["bundles"], *named})
    return b"".join(sorted(row_line(row) + b"\n" for row in rows))


class Forgery:
    """A publication's record, rows and why-sets (by digest) as plain documents, to be edited at will."""

    def __init__(self, publication: PublishedRollup) -> None:
        self.record: dict[str, Any] = json.loads((folder_of(publication) / "publication.json").read_bytes())
        self.rows = row_documents(publication)
        self.why_sets: dict[str, list[Run]] = {
            str(cell.why_digest): list(cell.runs) for row in publication.rows() for cell in row.cells.values()
        }

    def cell(self, key: str, column: str) -> dict[str, Any]:
        """The document of a cell by its row's `key`."""
        cell: dict[str, Any] = next(row for row in self.rows if row["grain"]["key"] == ["text", key])["cells"][column]
        return cell

    def name_runs(self, cell: dict[str, Any], runs: list[Run]) -> None:
        """Let a cell rest on other runs."""
        cell["why_digest"] = why_digest(runs)
        self.why_sets[cell["why_digest"]] = runs


def forge_record(publication: PublishedRollup, change: Callable[[Forgery], None]) -> Path:
    """Put another publication in the place of one, after `change`: every digest follows. The new folder."""
    forgery = Forgery(publication)
    change(forgery)
    runs, why = encoded(forgery.why_sets.values())
    judged = {name: (folder_of(publication) / name).read_bytes() for name in ("judgement.jsonl", "policy.json")}
    content = {"rows.jsonl": rows_content(forgery.rows), "runs.jsonl": runs, "why.jsonl": why, **judged}
    record = {**forgery.record, "sha256": {name: bytes_digest(data) for name, data in content.items()}}
    forged = _moved(publication, domain_digest(PUBLICATION_DOMAIN, record))
    for name, data in (content | {"publication.json": canonical_json(record)}).items():
        (forged / name).chmod(0o644)
        (forged / name).write_bytes(data)
    return forged
