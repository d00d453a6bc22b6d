"""Parses waiting bundles into batches, in this process or in several.

Which bundles make a batch depends on nothing but the bundles that wait: not on the number of processes, nor on which of
them is done first. So a rebuild on any machine makes the same files.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from warehouse.evidence.manifest import Manifest
from warehouse.evidence.store import EvidenceStore
from warehouse.landing.parse.batches import batch_parser
from warehouse.landing.parse.task import Outcome, Task, bundle_bytes, run

if TYPE_CHECKING:
    from warehouse.landing.registry import RegisteredIngestor

_BUNDLES_A_BATCH = 10_000
BYTES_A_BATCH = 8 << 20  # of evidence, at least: smaller batches would make more files than they save time
_BATCHES_A_FAMILY = 32
# A process takes 0.3 s of CPU before it parses; ingestors parse 5 to 150 MB/s.
_BYTES_WORTH_PROCESSES = 16 << 20


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
        for some in batches(manifests)
    ]
    if (processes := _processes(tasks)) > 1:
        from warehouse.landing.parse.processes import run_in_processes  # multiprocessing: few builds need it

        return run_in_processes(tasks, processes, tick)
    return [run(task, ingestors[task.family].ingestor if task.source else None, tick) for task in tasks]


def batches(manifests: Mapping[str, Manifest]) -> Iterator[dict[str, Manifest]]:
    """Bundles in the order of their digests, cut into batches of about the same bytes."""
    share = max(BYTES_A_BATCH, sum(map(bundle_bytes, manifests.values())) // _BATCHES_A_FAMILY)
    batch: dict[str, Manifest] = {}
    filled = 0
    for digest in sorted(manifests):
        batch[digest] = manifests[digest]
        filled += bundle_bytes(manifests[digest])
        if filled >= share or len(batch) == _BUNDLES_A_BATCH:
            yield batch
            batch, filled = {}, 0
    if batch:
        yield batch


def _processes(tasks: list[Task]) -> int:
    """How many processes are worth their start: what can be done beside the largest task must be enough."""
    sizes = [task.bytes for task in tasks]
    if sum(sizes) - max(sizes) < _BYTES_WORTH_PROCESSES:
        return 1
    return min(len(tasks), len(os.sched_getaffinity(0)))
