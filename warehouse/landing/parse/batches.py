"""Landing batches: immutable Parquet files with the parsed rows of some bundles, and a record of what is in them.

Derived, so it may be deleted: it comes back from the evidence. A batch's name is the digest of its parser (an ingestor's name,
version and code) and its bundles, so the same evidence parsed by the same code has the same name everywhere.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warehouse.digest import canonical_json, domain_digest, file_digest
from warehouse.errors import ExitCode, WarehouseError
from warehouse.evidence.durable import make_folder, replace_durably
from warehouse.landing.contract import ISSUE_TABLE

if TYPE_CHECKING:
    import pyarrow as pa

    from warehouse.landing.registry import RegisteredIngestor

BUNDLE_TABLE = "evidence_bundle"
FILE_TABLE = "evidence_file"
DECLARATION_TABLE = "evidence_declaration"
SIGNING_TABLE = "evidence_signing"
DECISION_TABLE = "run_decision"
SETTLEMENT_TABLE = "run_settlement"
DECIDED_TABLES = (DECISION_TABLE, SETTLEMENT_TABLE)  # of the ledger, and no evidence
FINDING_TABLE = "change_finding"  # the same, of no run
REJECTED_TABLE = "rejected_row"  # what a build leaves out; no file has it
OWN_TABLES = (SIGNING_TABLE, *DECIDED_TABLES, FINDING_TABLE, REJECTED_TABLE)  # of no batch
_ENGINE_VERSION = 2  # of the tables above; raised when their rows change
ENGINE_PARSER = f"warehouse {_ENGINE_VERSION}"


@dataclass(frozen=True)
class LandingFile:
    """One Parquet file of one landing table."""

    table: str
    path: Path
    sha256: str
    rows: int


@dataclass(frozen=True)
class Batch:
    """The parsed rows of some bundles of one family, or those of the logs in bundles of any (`LogReader`)."""

    name: str
    ingestor: str
    parser: str  # `batch_parser`
    bundles: tuple[str, ...]
    files: tuple[LandingFile, ...]


@dataclass(frozen=True)
class Landing:
    """The batches that hold today's rows, the schema of every landing table, and bundles that could not be read."""

    batches: tuple[Batch, ...]
    schemas: Mapping[str, "pa.Schema"]
    parsers: Mapping[str, str]  # landing table to the ingestors that fill it, each as `Found.parser`
    damaged: tuple[WarehouseError, ...]
    own: tuple[LandingFile, ...] = ()  # of no batch: what the bundles' signatures are now, and which runs are not admitted

    def files(self, table: str) -> list[LandingFile]:
        """The Parquet files of a table, in an order that does not depend on when they were made."""
        files = [*(file for batch in self.batches for file in batch.files), *self.own]
        return [file for file in files if file.table == table]


def usable_batches(batches: Iterable[Batch], stored: frozenset[str]) -> Iterable[Batch]:
    """Batches whose bundles are all in the store, the largest first, none with a bundle that another has already."""
    covered: set[str] = set()
    for batch in sorted(batches, key=lambda batch: (-len(batch.bundles), batch.name)):
        if stored.issuperset(batch.bundles) and covered.isdisjoint(batch.bundles):
            covered.update(batch.bundles)
            yield batch


def schemas(ingestors: Mapping[str, "RegisteredIngestor"]) -> dict[str, "pa.Schema"]:
    """The schema of every landing table by name. Raises WH121 when two ingestors give one name two schemas."""
    from warehouse.landing.rows import (
        BUNDLE_SCHEMA,
        DECISION_SCHEMA,
        DECLARATION_SCHEMA,
        FILE_SCHEMA,
        FINDING_SCHEMA,
        ISSUE_SCHEMA,
        REJECTED_SCHEMA,
        SETTLEMENT_SCHEMA,
        SIGNING_SCHEMA,
    )

    found = {
        BUNDLE_TABLE: BUNDLE_SCHEMA, FILE_TABLE: FILE_SCHEMA, DECLARATION_TABLE: DECLARATION_SCHEMA,
        ISSUE_TABLE: ISSUE_SCHEMA, SIGNING_TABLE: SIGNING_SCHEMA, DECISION_TABLE: DECISION_SCHEMA,
        SETTLEMENT_TABLE: SETTLEMENT_SCHEMA, FINDING_TABLE: FINDING_SCHEMA, REJECTED_TABLE: REJECTED_SCHEMA,
    }
    for ingestor in (each.ingestor for each in ingestors.values()):
        for table, schema in ingestor.tables.items():
            if not found.setdefault(table, schema).equals(schema):
                raise WarehouseError("WH121", f"landing table {table} has two schemas", f"ingestor {ingestor.name}")
    return found


def parsers_of_tables(ingestors: Mapping[str, "RegisteredIngestor"]) -> dict[str, str]:
    """What parses each table: the parsers of all ingestors that give it, sorted."""
    found = {table: [ENGINE_PARSER] for table in (BUNDLE_TABLE, FILE_TABLE, DECLARATION_TABLE, ISSUE_TABLE, *OWN_TABLES)}
    for ingestor in ingestors.values():
        for table in ingestor.ingestor.tables:
            found.setdefault(table, []).append(ingestor.parser)
    return {table: ", ".join(sorted(parsers)) for table, parsers in found.items()}


def batch_parser(found: "RegisteredIngestor | None") -> str:
    """What the rows of a batch are parsed by: the engine's own tables by the engine, the others by an ingestor."""
    return f"{ENGINE_PARSER}, {found.parser}" if found else ENGINE_PARSER


def batch_name(ingestor: str, parser: str, bundles: Iterable[str]) -> str:
    """The name of the batch of these bundles, by their digests."""
    return domain_digest("wh/landing-batch/2", [ingestor, parser, sorted(bundles)])


def read_batches(landing: Path, ingestors: Mapping[str, "RegisteredIngestor"]) -> Iterable[Batch]:
    """The batches made by today's parsers whose files are all there; the others are ignored."""
    parsers = {family: batch_parser(found) for family, found in ingestors.items()}
    for path in sorted((landing / "batches").glob("*.json")):
        try:
            document = json.loads(path.read_bytes())
            batch = Batch(
                document["batch"], document["ingestor"], str(document.get("parser")), tuple(document["bundles"]),
                tuple(
                    LandingFile(item["table"], landing / item["path"], item["sha256"], item["rows"])
                    for item in document["files"]
                ),
            )
        except (ValueError, KeyError, TypeError) as error:
            raise WarehouseError(
                "WH123", f"cannot be read: {error}", str(path), "delete the landing folder: wh build makes it again"
            ) from error
        if batch.parser == parsers.get(batch.ingestor, ENGINE_PARSER) and all(file.path.exists() for file in batch.files):
            yield batch


def record_path(landing: Path, name: str) -> Path:
    """The file that makes the batch of this name visible."""
    return landing / "batches" / f"{name}.json"


def record(landing: Path, batch: Batch, scratch: Path) -> Batch:
    """Make a batch visible whose files are all there. `scratch` is a folder on the same file system that a crash cannot leave
    for good."""
    path = record_path(landing, batch.name)
    make_folder(path.parent)
    document: dict[str, Any] = {
        "batch": batch.name,
        "ingestor": batch.ingestor,
        "parser": batch.parser,
        "bundles": list(batch.bundles),
        "files": [
            {
                "table": file.table,
                "path": file.path.relative_to(landing).as_posix(),
                "sha256": file.sha256,
                "rows": file.rows,
            }
            for file in batch.files
        ],
    }
    replace_durably(path, canonical_json(document), scratch / path.name)
    return batch


def check_landing_file(file: LandingFile) -> None:
    """Re-hash a landing file. Raises WH123 when it is not what its batch says."""
    try:
        found = file_digest(file.path)
    except OSError as error:
        raise WarehouseError("WH123", f"cannot be read: {error.strerror}", str(file.path)) from error
    if found != file.sha256:
        raise WarehouseError(
            "WH123", "the file differs from its batch record", str(file.path),
            "delete the landing folder: wh build makes it again", ExitCode.TAMPERED,
        )
