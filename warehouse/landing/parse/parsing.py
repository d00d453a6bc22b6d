"""Parses waiting bundles into batches, in this process or in several.

Which bundles make a batch depends on nothing but the bundles that wait: not on the number of processes, nor on which of
them is done first. So a rebuild on any machine makes the same files.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from warehouse.errors import WarehouseError
from warehouse.evidence.durable import scratch_folder
from warehouse.evidence.manifest import Manifest
from warehouse.evidence.objects.base import UNREACHABLE
from warehouse.evidence.store import EvidenceStore
from warehouse.landing.contract import Bundle, Ingestor
from warehouse.landing.parse.batches import Batch, batch_name, batch_parser, record

if TYPE_CHECKING:
    from warehouse.landing.registry import RegisteredIngestor, Source

_BUNDLES_A_BATCH = 10_000
BYTES_A_BATCH = 8 << 20  # of evidence, at least: smaller batches would make more files than they save time
_BATCHES_A_FAMILY = 32
# A process takes 0.3 s of CPU before it parses; ingestors parse 5 to 150 MB/s.
_BYTES_WORTH_PROCESSES = 16 << 20


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
        """Of evidence."""
        return sum(map(_size, self.manifests.values()))


@dataclass(frozen=True)
class Outcome:
    """The batch that a task made, None where all of its bundles are damaged, and the damage."""

    batch: Batch | None
    damaged: tuple[WarehouseError, ...]


def parse(
    store: EvidenceStore,
    waiting: Mapping[str, Mapping[str, Manifest]],
    arrivals: Mapping[str, str],
    ingestors: Mapping[str, "RegisteredIngestor"],
    on_bundle: Callable[[int, int], None],
) -> list[Outcome]:
    """Parse the waiting bundles of each family, by digest. Raises WH124."""
    total, done = sum(map(len, waiting.values())), 0

    def tick() -> None:
        nonlocal done
        done += 1
        on_bundle(done, total)

    tasks = [
        Task(
            store, family, some, {digest: arrivals[digest] for digest in some if digest in arrivals},
            batch_parser(ingestors.get(family)), ingestors[family].source if family in ingestors else None,
        )
        for family, manifests in sorted(waiting.items())
        for some in _batches(manifests)
    ]
    if (processes := _processes(tasks)) > 1:
        from warehouse.landing.parse.processes import run_in_processes

        return run_in_processes(tasks, processes, tick)
    return [run(task, ingestors[task.family].ingestor if task.source else None, tick) for task in tasks]


def _batches(manifests: Mapping[str, Manifest]) -> Iterator[dict[str, Manifest]]:
    """Bundles in the order of their digests, cut into batches of about the same bytes."""
    share = max(BYTES_A_BATCH, sum(map(_size, manifests.values())) // _BATCHES_A_FAMILY)
    batch: dict[str, Manifest] = {}
    filled = 0
    for digest in sorted(manifests):
        batch[digest] = manifests[digest]
        filled += _size(manifests[digest])
        if filled >= share or len(batch) == _BUNDLES_A_BATCH:
            yield batch
            batch, filled = {}, 0
    if batch:
        yield batch


def _size(manifest: Manifest) -> int:
    return sum(file.bytes for file in manifest.files)


def _processes(tasks: list[Task]) -> int:
    """How many processes are worth their start: what can be done beside the largest task must be enough."""
    sizes = [task.bytes for task in tasks]
    if sum(sizes) - max(sizes) < _BYTES_WORTH_PROCESSES:
        return 1
    return min(len(tasks), len(os.sched_getaffinity(0)))


def run(task: Task, ingestor: Ingestor | None, on_bundle: Callable[[], None]) -> Outcome:
    """Make one batch. A damaged bundle is dropped and the batch begun again without it: rare, and the rows of a bundle that
    turns out damaged half-way must not stay."""
    from warehouse.landing.parse.writer import BatchWriter

    store = task.store
    manifests = dict(task.manifests)
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
                    if error.code == UNREACHABLE:
                        raise
                    damaged.append(error)
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
