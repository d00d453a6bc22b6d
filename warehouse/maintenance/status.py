"""`wh status`: where a project stands. Reads the ledger, the current build and the publications; hashes and replays nothing."""

from __future__ import annotations

import json
import os
from collections.abc import Container, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from warehouse.claims.numbers.current import CurrentNumbers
from warehouse.claims.publish.admissibility import conflicted_runs
from warehouse.claims.publish.corrections import corrected
from warehouse.claims.publish.publication import PublishedRollup, publication_key, stored_publications
from warehouse.digest import memo_digest
from warehouse.errors import WarehouseError
from warehouse.evidence.ledger.events import CORRECTION, Event
from warehouse.evidence.ledger.run_decisions import standing
from warehouse.evidence.listing import Listing
from warehouse.evidence.manifest import UNRECOGNISED
from warehouse.evidence.objects.location import open_store
from warehouse.project.project import Project
from warehouse.transform.build.build import newer_than
from warehouse.transform.finished.builds import Build, find_current, is_unfinished
from warehouse.transform.finished.query import read_query
from warehouse.transform.finished.role_tables import role_table
from warehouse.transform.project.model import BUNDLE_COLUMN, RUNS
from warehouse.transform.sql.duck import text_literal

_RECORDED = "recorded_run"  # the family of what `wh record` keeps
_COUNTS = ".status.json"
_RUNS = "main.benchmark_run_fact"  # the table of runs of the standard project


@dataclass(frozen=True)
class BuildStatus:
    """The current build, and whether evidence or models have changed since it was made."""

    build_digest: str
    built_at: datetime
    is_evidence_newer: bool
    are_models_newer: bool


@dataclass(frozen=True)
class QueryStatus:
    """The last publication of a query that counts, or if all were corrected, the last one and its `correction`: `withdrawn` or `superseded`.
    `stale` numbers are not what the current build holds; `retracted` ones depend on a run that was
    withdrawn or replaced since. Both are None of a damaged publication, and `stale` where nothing is built."""

    query: str
    publication: str
    numbers: int | None
    stale: int | None
    retracted: int | None
    correction: str | None = None


@dataclass(frozen=True)
class Status:
    """Where a project stands: bundles by family, the current build, the last publication of each query, and what somebody has to
    decide: runs that bundles state differently, and what is damaged. `failed_runs` are those of the last bundle that arrived, if `wh record` or
    `wh matrix` made it and the build has it."""

    project: str
    name: str
    store: str
    bundles: Mapping[str, int]
    unrecognised: int
    build: BuildStatus | None
    is_build_unfinished: bool
    publications: tuple[QueryStatus, ...]
    conflicted_runs: tuple[str, ...]
    failed_runs: tuple[str, ...]
    damaged: tuple[WarehouseError, ...]


def project_status(project: Project) -> Status:
    """The status of a project. Raises WH114 when its store cannot be reached."""
    store = open_store(project)
    listing = Listing(store, project.builds)
    bundles, events = listing.families, listing.of_publications()
    damaged = [*listing.damaged]
    current = find_current(project)
    withdrawn = frozenset(standing(listing.decisions()).not_admitted)
    standing_corrections = corrected(events)
    published = [
        replace(_query_status(project, each, current, withdrawn, damaged), correction=_named(standing_corrections.get(each.digest)))
        for each in _last_of_each(stored_publications(store.objects, events), standing_corrections)
    ]
    return Status(
        str(project.root), project.name, store.objects.url,
        dict(sorted((family, count) for family, count in bundles.items() if family != UNRECOGNISED)), bundles[UNRECOGNISED],
        _build_status(project, current, listing) if current else None, is_unfinished(project),
        tuple(sorted(published, key=lambda each: each.query)),
        tuple(conflicted_runs(current)) if current else (), _failed_runs(current, listing.last_arrival()) if current else (), tuple(damaged),
    )


def _failed_runs(build: Build, last: Event | None) -> tuple[str, ...]:
    runs = role_table(build.path, RUNS)
    if last is None or last.detail.get("family") != _RECORDED or runs is None or runs.name != _RUNS:
        return ()
    sql = f"select run_id from {runs.sql} where {BUNDLE_COLUMN} = {text_literal(last.subject)} and status = 'failed' order by run_id"
    with read_query(build.path, sql) as result:
        return tuple(row[0] for row in result.fetchall())


def _build_status(project: Project, build: Build, listing: Listing) -> BuildStatus:
    newer = newer_than(project, build, listing)
    built_at = datetime.fromtimestamp(build.path.stat().st_mtime, UTC).replace(microsecond=0)
    return BuildStatus(build.digest, built_at, newer.evidence, newer.models)


def _named(correction: Event | None) -> str | None:
    return None if correction is None else "superseded" if correction.kind == CORRECTION else "withdrawn"


def _last_of_each(publications: Iterable[PublishedRollup], corrections: Container[str]) -> list[PublishedRollup]:
    """The last publication of each query, of those that come with the last one first; one that was corrected if there is no other."""
    last: dict[str | None, PublishedRollup] = {}
    for publication in sorted(publications, key=lambda each: each.digest in corrections):
        last.setdefault(publication.query, publication)
    return list(last.values())


def _query_status(
    project: Project, publication: PublishedRollup, current: Build | None, withdrawn: frozenset[str], damaged: list[WarehouseError]
) -> QueryStatus:
    query = publication.query or "unknown"
    memory = _Memory(project, publication, current, withdrawn)
    if counts := memory.counts():
        numbers, stale, retracted = counts
        return QueryStatus(query, publication.digest, numbers, stale if current else None, retracted)
    try:
        now = CurrentNumbers(project, publication)
        numbers = stale = retracted = 0
        for row in publication.rows():
            for cell in row.cells.values():
                if cell.number_id:
                    numbers += 1
                    stale += not now.hold(row, cell)
                    retracted += bool(withdrawn) and any(run["run_id"] in withdrawn for run in cell.runs)
    except WarehouseError as error:
        damaged.append(error)
        return QueryStatus(query, publication.digest, None, None, None)
    memory.keep(numbers, stale, retracted)
    return QueryStatus(query, publication.digest, numbers, stale if current else None, retracted)


class _Memory:
    """The counts of a publication's numbers, in a file beside the builds: they follow from the publication, whose files' stamps show that nobody
    touched it, the build and the runs that were withdrawn. To read 37,000 numbers takes three seconds."""

    def __init__(self, project: Project, publication: PublishedRollup, current: Build | None, withdrawn: frozenset[str]) -> None:
        self._path = project.builds / _COUNTS
        self._query = publication.query or ""
        stamps = [[entry.key, entry.stamp] for entry in publication.objects.entries(publication_key(publication.digest, "").rstrip("/"))]
        self._key = memo_digest("wh/status/1", [publication.digest, stamps, current.digest if current else "", sorted(withdrawn)])

    def counts(self) -> tuple[int, int, int] | None:
        key, *found = self._read().get(self._query, [""])
        return tuple(found) if key == self._key else None

    def keep(self, *counts: int) -> None:
        scratch = self._path.with_name(f"{_COUNTS}.{os.getpid()}")
        with suppress(OSError):  # of a folder that is not there, or that others own: it saves time alone
            scratch.write_text(json.dumps({**self._read(), self._query: [self._key, *counts]}))
            os.replace(scratch, self._path)

    def _read(self) -> dict[str, Any]:
        try:
            found = json.loads(self._path.read_bytes())
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}
