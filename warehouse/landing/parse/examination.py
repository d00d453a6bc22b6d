"""What the ingestors find odd in bundles that were just copied, so that `wh ingest` says at once what `wh build` files.

A family's bundles that fill a batch, or are many, are landed, as a build lands them, and the next build finds them there. If there are
fewer, only the issues are kept, and the build parses them again together with others: a batch for each small ingest would leave a
warehouse of many small files. Two processes that land the same bundles at the same time do no harm: a reader takes one of the batches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from warehouse.evidence.ledger.events import Ledger
from warehouse.evidence.manifest import Manifest
from warehouse.evidence.store import EvidenceStore
from warehouse.landing.contract import ISSUE_TABLE, Bundle, Ingestor
from warehouse.landing.parse.parsing import BYTES_A_BATCH, parse
from warehouse.landing.parse.writer import BundleWriter
from warehouse.landing.severity import SEVERITIES

if TYPE_CHECKING:
    from warehouse.landing.registry import RegisteredIngestor

_MANY = 1_000  # bundles that are landed however small they are: to parse each of them again takes longer


@dataclass(frozen=True)
class Issue:
    """A row of `evidence_issue`: how serious it is, what was found, and where."""

    artifact_manifest_digest: str
    severity: str
    code: str
    message: str
    raw_path: str
    line_number: int | None
    run_id: str | None


class _Issues(BundleWriter):
    """Keeps the issues of bundles, and writes nothing."""

    def __init__(self) -> None:
        self.batches: list[pa.RecordBatch] = []

    def _write_manifest_rows(self, bundle: Bundle, ingestor: Ingestor | None, arrived_at: str | None) -> None:
        pass

    def _write(self, table: str, rows: pa.RecordBatch) -> None:
        if table == ISSUE_TABLE:
            self.batches.append(rows)


def issues_of(
    store: EvidenceStore, digests: Iterable[str], found: "Mapping[str, RegisteredIngestor]",
    on_bundle: Callable[[int, int], None] = lambda done, total: None,
) -> list[Issue]:
    """The issues of these bundles, the serious ones first, then by bundle and file. Raises what parsing raises: WH105, WH106,
    WH114 and WH124."""
    waiting: dict[str, dict[str, Manifest]] = {}
    for digest in dict.fromkeys(digests):
        manifest = store.manifest(digest)
        if manifest.family in found:
            waiting.setdefault(manifest.family, {})[digest] = manifest
    large = {family: some for family, some in waiting.items() if _bytes(some) >= BYTES_A_BATCH or len(some) >= _MANY}
    small = {family: some for family, some in waiting.items() if family not in large}
    rows = [*_landed(store, large, found, on_bundle), *_looked_at(store, small, found)]
    issues = [Issue(**{name: row[name] for name in Issue.__dataclass_fields__}) for row in rows]
    return sorted(issues, key=lambda issue: (SEVERITIES.index(issue.severity), issue.artifact_manifest_digest, issue.raw_path))


def _bytes(manifests: Mapping[str, Manifest]) -> int:
    return sum(file.bytes for manifest in manifests.values() for file in manifest.files)


def _landed(
    store: EvidenceStore, waiting: Mapping[str, Mapping[str, Manifest]], found: "Mapping[str, RegisteredIngestor]",
    on_bundle: Callable[[int, int], None],
) -> Iterator[dict[str, Any]]:
    if not waiting:
        return
    for outcome in parse(store, waiting, Ledger(store.objects).arrivals(), found, on_bundle):
        if outcome.damaged:
            raise outcome.damaged[0]
        for file in outcome.batch.files if outcome.batch else ():
            if file.table == ISSUE_TABLE:
                yield from pq.read_table(file.path).to_pylist()


def _looked_at(
    store: EvidenceStore, waiting: Mapping[str, Mapping[str, Manifest]], found: "Mapping[str, RegisteredIngestor]"
) -> Iterator[dict[str, Any]]:
    for family, manifests in waiting.items():
        for digest, manifest in manifests.items():
            store.fetch(digest, manifest)
            issues = _Issues()
            issues.add_bundle(Bundle(digest, manifest, partial(store.local_file, digest)), found[family].ingestor, None)
            for batch in issues.batches:
                yield from batch.to_pylist()
