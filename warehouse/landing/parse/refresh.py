"""Brings the landing batches up to date: every stored bundle that no current batch holds is parsed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from itertools import chain

from warehouse.errors import ExitCode, WarehouseError
from warehouse.evidence.ledger.events import Ledger
from warehouse.evidence.ledger.findings import Mark
from warehouse.evidence.ledger.run_decisions import Decision
from warehouse.evidence.manifest import Manifest
from warehouse.evidence.objects.base import damage
from warehouse.evidence.signing.keys import PublicKey
from warehouse.evidence.store import EvidenceStore
from warehouse.landing.engine_tables import write_decisions, write_findings, write_signing
from warehouse.landing.logs.reader import LogReader
from warehouse.landing.parse.batches import Batch, Landing, parsers_of_tables, read_batches, schemas, usable_batches
from warehouse.landing.parse.parsing import parse
from warehouse.landing.parse.task import Outcome
from warehouse.landing.registry import RegisteredIngestor


def refresh(
    store: EvidenceStore,
    ingestors: Mapping[str, "RegisteredIngestor"],
    on_bundle: Callable[[int, int], None] = lambda done, all: None,
    trusted: Mapping[str, PublicKey] | None = None,
    decisions: Collection[Decision] = (),
    marks: Collection[Mark] = (),
    elsewhere: Callable[..., list[Outcome]] | None = None,
    ledger: tuple[Mapping[str, str], Collection[WarehouseError]] | None = None,
) -> Landing:
    """Parse every bundle that no current batch holds, and return all current batches. All cores are used where that is quicker;
    the batches are the same. The logs of bundles are in batches of their own.

    A bundle whose stored bytes are damaged, or that is in the ledger and missing in the store though no policy removed it,
    is left out and reported in `damaged`; the rest goes on. `trusted` are the keys that signatures are checked with; without
    them no signature is checked, as in a replay. `decisions` are those in force on runs, `marks` those on findings. `elsewhere`
    parses in place of this machine. `ledger` is when bundles arrived and what is wrong with events, where the caller knows. Raises WH124 when a
    parsing process is killed; what is parsed by then stays.
    """
    stored = store.digests()
    arrivals, unread = ledger or _arrivals(store)
    damaged = [*unread, *_missing(arrivals, stored)]
    readers = {name: found.ingestor for name, found in ingestors.items() if isinstance(found.ingestor, LogReader)}
    there = [*read_batches(store.landing, ingestors)]
    of_families = [*usable_batches((batch for batch in there if batch.ingestor not in readers), frozenset(stored))]
    of_logs = {name: [*usable_batches((batch for batch in there if batch.ingestor == name), frozenset(stored))] for name in readers}
    current = {batch.name: batch for batch in chain(of_families, *of_logs.values())}
    parsed, read = _bundles(of_families), {name: _bundles(batches) for name, batches in of_logs.items()}
    waiting: dict[str, dict[str, Manifest]] = {}
    for digest in stored:
        unread_by = [name for name in readers if digest not in read[name]]
        if digest not in parsed or unread_by:
            try:
                manifest = store.manifest(digest)
            except WarehouseError as error:
                damaged.append(damage(error))
                continue
            if digest not in parsed:
                waiting.setdefault(manifest.family, {})[digest] = manifest
            for name in unread_by:
                waiting.setdefault(name, {})[digest] = readers[name].logs_of(manifest)
    if waiting:
        for outcome in (elsewhere or parse)(store, waiting, arrivals, ingestors, on_bundle):
            known = {(error.code, error.place) for error in damaged}  # a damaged log is met twice
            damaged += (error for error in outcome.damaged if (error.code, error.place) not in known)
            if outcome.batch:
                current[outcome.batch.name] = outcome.batch
    batches = tuple(sorted(current.values(), key=lambda batch: batch.name))
    bundles = sorted(_bundles(batch for batch in batches if batch.ingestor not in readers))
    signing = write_signing(store, bundles, trusted) if trusted is not None else []
    own = (*signing, *write_decisions(store, decisions), *write_findings(store, marks))
    return Landing(batches, schemas(ingestors), parsers_of_tables(ingestors), tuple(damaged), own)


def _arrivals(store: EvidenceStore) -> tuple[Mapping[str, str], Collection[WarehouseError]]:
    ledger = Ledger(store.objects)
    return ledger.arrivals(), ledger.damaged


def _bundles(batches: Iterable[Batch]) -> set[str]:
    return {digest for batch in batches for digest in batch.bundles}


def _missing(arrivals: Mapping[str, str], stored: Iterable[str]) -> list[WarehouseError]:
    return [
        WarehouseError(
            "WH106", f"arrived {arrivals[digest]} and is not in the store any more", digest[:12],
            "restore the store from a copy, or ingest the evidence again", ExitCode.MISSING,
        )
        for digest in sorted(arrivals.keys() - set(stored))
    ]
