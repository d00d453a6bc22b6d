"""One batch to be made: its bundles, and the work of parsing them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from warehouse.errors import WarehouseError
from warehouse.evidence.durable import scratch_folder
from warehouse.evidence.manifest import Manifest
from warehouse.evidence.objects.base import damage
from warehouse.evidence.store import EvidenceStore
from warehouse.landing.contract import Bundle, Ingestor
from warehouse.landing.logs.reader import LogReader
from warehouse.landing.parse.batches import Batch, batch_name, record

if TYPE_CHECKING:
    from warehouse.landing.registry import Source


@dataclass(frozen=True)
class Task:
    """The bundles of one batch to be made, and what parses them (`batch_parser`). `source` is None where no ingestor knows the
    family."""

    store: EvidenceStore
    family: str
    manifests: Mapping[str, Manifest]
    arrivals: Mapping[str, str]
    parser: str
    source: "Source | None"

    @property
    def bytes(self) -> int:
        """A task that parses evidence."""
        return sum(map(bundle_bytes, self.manifests.values()))


@dataclass(frozen=True)
class Outcome:
    """The batch that a task made, None where all of its bundles are damaged, and the damage."""

    batch: Batch | None
    damaged: tuple[WarehouseError, ...]


def bundle_bytes(manifest: Manifest) -> int:
    """The bytes of a bundle's files."""
    return sum(file.bytes for file in manifest.files)


def run(task: Task, ingestor: Ingestor | None, on_bundle: Callable[[], None]) -> Outcome:
    """Make one batch. A damaged bundle is dropped and the batch begun again without it: rare, and the rows of a bundle that
    turns out damaged half-way must not stay."""
    from warehouse.landing.parse.writer import BatchWriter

    store = task.store
    manifests = dict(task.manifests)
    if isinstance(ingestor, LogReader):
        manifests = {digest: ingestor.logs_of(manifest) for digest, manifest in manifests.items()}
    damaged: list[WarehouseError] = []
    told: set[str] = set()
    while manifests:
        name = batch_name(task.family, task.parser, manifests)
        with (
            scratch_folder(store.scratch) as scratch,
            BatchWriter(store.landing, name, scratch) as writer,
        ):
            is_whole = True
            for digest, manifest in manifests.items():
                try:
                    store.fetch(digest, manifest)
                    bundle = Bundle(digest, manifest, partial(store.local_file, digest))
                    writer.add_bundle(bundle, ingestor, task.arrivals.get(digest))
                except WarehouseError as error:
                    damaged.append(damage(error))
                    is_whole = False
                if digest not in told:
                    told.add(digest)
                    on_bundle()
                if not is_whole:
                    manifests = {other: kept for other, kept in manifests.items() if other != digest}
                    break
            if is_whole:
                batch = Batch(name, task.family, task.parser, tuple(manifests), writer.finish())
                return Outcome(record(store.landing, batch, scratch), tuple(damaged))
    return Outcome(None, tuple(damaged))
