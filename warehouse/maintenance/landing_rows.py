"""Holds the rows of landing tables against their evidence: it is parsed again, by today's ingestors, and gives the same rows.

The digest of a landing file is in a record beside it: whoever writes one can write the other. Batches of other ingestors are not read by
builds any more, and not compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory

from warehouse.errors import WarehouseError, counted
from warehouse.evidence.finding import ALTERED, UNPROTECTED, Finding
from warehouse.evidence.ledger.summary import Ledgered
from warehouse.evidence.manifest import Manifest
from warehouse.evidence.objects.base import damage
from warehouse.evidence.part import part_of
from warehouse.evidence.store import EvidenceStore
from warehouse.landing.parse.batches import Batch, LandingFile, read_batches
from warehouse.landing.parse.task import Task, run
from warehouse.landing.registry import RegisteredIngestor, find_ingestors
from warehouse.project.project import Project
from warehouse.transform.sql.duck import parquet

_AGAIN = "delete the landing folder: wh build makes it again"
_ARRIVAL = "arrived_at"  # of the ledger, not of the evidence: a bundle that was removed and came again has another


class RowInspector:
    """Inspects batches that are whole, as far as they hold `chosen` bundles."""

    def __init__(self, project: Project, store: EvidenceStore, ledgered: Ledgered, chosen: Callable[[str], bool]) -> None:
        self._project, self._store = project, store
        self._arrivals, self._chosen = ledgered.arrivals, chosen
        self._has_told = False

    @cached_property
    def _ingestors(self) -> Mapping[str, RegisteredIngestor]:
        return find_ingestors(self._project)

    @cached_property
    def _batches(self) -> Mapping[str, Batch]:
        return {batch.name: batch for batch in read_batches(self._store.landing, self._ingestors)}

    def inspect(self, key: str) -> Iterator[Finding]:
        """What differs between the batch of this key and what its evidence gives."""
        try:
            batch = self._batches.get(key.rpartition("/")[2].removesuffix(".json"))
        except WarehouseError as error:
            if not self._has_told:
                yield Finding(UNPROTECTED, "landing", f"it was not compared with its evidence: {error.message}", "run: wh ingestors")
            self._has_told = True
            return
        if batch:
            yield from self._differing(batch)

    def _differing(self, batch: Batch) -> Iterator[Finding]:
        manifests: dict[str, Manifest] = {}
        for digest in filter(self._chosen, batch.bundles):
            try:
                manifests[digest] = self._store.manifest(digest)
            except WarehouseError as error:
                damage(error)  # it is reported with its bundle
        found = self._ingestors.get(batch.ingestor)
        arrivals = {digest: self._arrivals[digest] for digest in manifests if digest in self._arrivals}
        with TemporaryDirectory(prefix="wh-fsck-") as folder:
            part = part_of(self._store, manifests, Path(folder) / "store")
            task = Task(part, batch.ingestor, manifests, arrivals, batch.parser, found.source if found else None)
            made = run(task, found.ingestor if found else None, lambda: None).batch
            if made is None:
                return
            there, again = ({file.table: file for file in each.files} for each in (batch, made))
            for table in sorted(there.keys() | again.keys()):
                if count := _rows_that_differ(there.get(table), again.get(table), made.bundles, folder):
                    message = f"{counted(count, 'row is', 'rows are')} not what parsing the evidence again gives"
                    yield Finding(ALTERED, f"landing/{table}/{batch.name}.parquet", message, _AGAIN)


def _rows_that_differ(there: LandingFile | None, again: LandingFile | None, bundles: tuple[str, ...], scratch: str) -> int:
    """How many rows of these bundles one of two files of a table has and the other has not."""
    if there and again and there.sha256 == again.sha256:
        return 0
    import duckdb

    with duckdb.connect(config={"memory_limit": "1GB", "threads": 1, "temp_directory": scratch}) as con:
        con.execute("create table bundle as select unnest(?::varchar[]) as artifact_manifest_digest", [list(bundles)])
        rows = [
            f"(select columns(lambda c: c <> '{_ARRIVAL}') from {parquet([file.path])}"
            " where artifact_manifest_digest in (from bundle))"
            for file in (there, again) if file
        ]
        differing = [f"{one} except all {other}" for one, other in (rows, rows[::-1])] if len(rows) > 1 else rows
        return max(int(con.execute(f"select count(*) from ({each})").fetchall()[0][0]) for each in differing)
