"""`wh fsck`: checks every object of a store against its name, its manifest, its batch and the ledger, and the project's builds
against their digests. It changes nothing.

Two listings of the store and one reading of each object; memory is a few hundred bytes a bundle, and one chunk a thread.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import asdict, dataclass
from datetime import datetime
from heapq import nsmallest
from itertools import groupby
from pathlib import Path

from warehouse.digest import bytes_digest
from warehouse.evidence.durable import dead_folders
from warehouse.evidence.finding import AWAY, LEFTOVER, ORPHANED, Finding
from warehouse.evidence.ledger.summary import Ledgered, read_ledgered
from warehouse.evidence.objects.base import Entry
from warehouse.evidence.objects.holds import FOLDER as HOLDS
from warehouse.evidence.objects.holds import inspect_holds
from warehouse.evidence.objects.local import WORK_NAMES
from warehouse.evidence.objects.location import open_store
from warehouse.evidence.store import CAMPAIGNS, EvidenceStore, bundle_key
from warehouse.maintenance.bundles import bundle_of, inspect_bundle, inspect_event_names, missing_bundles
from warehouse.maintenance.check_note import CheckNote, read_note
from warehouse.maintenance.claim_inspection import ClaimInspector
from warehouse.maintenance.landing import batch_keys, inspect_batch, inspect_other_files
from warehouse.maintenance.landing_rows import RowInspector
from warehouse.maintenance.task_work import TASK_WORK, TaskWork
from warehouse.project.project import Project
from warehouse.transform.finished.builds import find_current, inspect_kept
from warehouse.transform.finished.exchange import inspect_builds
from warehouse.transform.inputs.landing_tables import from_json

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Scope:
    """Which bundles are looked at: all; `sample` of them, the same ones for the same `seed`; those that arrived at `since`
    (ISO, UTC) or later, and those of unknown age. The ledger, publications and specs are looked at whole."""

    sample: int | None = None
    seed: int = 0
    since: str | None = None


@dataclass(frozen=True)
class Check:
    """A check: what it is of, the URL of a store that has neither evidence nor word of any, how many bundles and batches an interrupted
    check reached, and its findings as they come."""

    scope: Scope
    empty: str | None
    resumed: int
    findings: Generator[Finding, None, None]


def check_store(project: Project, scope: Scope, *, is_resumed: bool = False, on_bundle: Progress = lambda done, all: None) -> Check:
    """Check a project's store. A check that is interrupted leaves a note. When `is_resumed`, a check of the scope that it had begins with what
    that one had not reached, and looks at the others after it: a note proves nothing. `on_bundle` is called with how many bundles of how
    many are done. Raises WH127 when there is none to resume, WH114."""
    path = project.root / ".wh" / "fsck.jsonl"
    store = open_store(project)
    if is_resumed:
        note = read_note(path)
        scope = Scope(**note.scope)
    else:
        note = CheckNote(path, asdict(scope))
    return Check(scope, store.objects.url if store.is_empty() else None, len(note.earlier), _checked(project, store, scope, note, on_bundle))


def _checked(
    project: Project, store: EvidenceStore, scope: Scope, note: CheckNote, on_bundle: Progress
) -> Generator[Finding, None, None]:
    ledgered = read_ledgered(store.objects)
    chosen = _chooser(store, scope, ledgered)
    claims = ClaimInspector(store.objects, ledgered, chosen)
    rows = RowInspector(project, store, ledgered, chosen)
    task_work = TaskWork(store.objects)
    bundles = _Bundles(store, ledgered, chosen, note, on_bundle)
    with note:
        yield from ledgered.findings
        # In the order of keys, publications come before the specs and signatures that are theirs.
        for top, entries in groupby(store.objects.entries(""), lambda entry: entry.key.partition("/")[0]):
            if top == "raw":
                yield from bundles.inspect(entries, lambda key: key not in note.earlier)
            elif top == "ledger":
                yield from inspect_event_names(entries)
            elif top == "publications":
                yield from claims.publications(entries)
            elif top == "specs":
                yield from claims.specs(entries)
            elif top == "signatures":
                yield from claims.signatures(entries)
            elif top == HOLDS:
                yield from inspect_holds(entries)
            elif top == CAMPAIGNS:
                yield from _campaigns(entries)
            elif top in TASK_WORK:
                yield from task_work.inspect(top, entries)
            elif top == "builds":
                yield from inspect_builds(store.objects, entries)
            else:
                yield from _others(store, entries)
        yield from missing_bundles(ledgered, bundles.seen, chosen)
        yield from claims.missing()
        yield from _unfinished(store)
        for key in sorted(batch_keys(store.landing), key=note.earlier.__contains__):
            found = list(inspect_batch(store.landing, key, ledgered, chosen))
            yield from found or rows.inspect(key)
            note.add(key)
        yield from inspect_other_files(store.landing, _in_use(project, store))
        yield from inspect_kept(project)
        if note.earlier:
            yield from bundles.inspect(store.objects.entries("raw"), note.earlier.__contains__)
    note.finish()


def _chooser(store: EvidenceStore, scope: Scope, ledgered: Ledgered) -> Callable[[str], bool]:
    """Whether a bundle is looked at."""
    if scope.sample is None and scope.since is None:
        return lambda digest: True
    known = {*ledgered.arrivals, *store.digests()}
    if scope.since is not None:
        since = datetime.fromisoformat(scope.since)
        known = {each for each in known if each not in ledgered.arrivals or datetime.fromisoformat(ledgered.arrivals[each]) >= since}
    if scope.sample is not None:
        # By a digest of their own, so that a resumed check chooses alike although others have arrived since.
        known = set(nsmallest(scope.sample, known, key=lambda digest: bytes_digest(f"{scope.seed} {digest}".encode())))
    return known.__contains__


class _Bundles:
    """Inspects objects under `raw/`; `seen` are the bundles that they are of."""

    def __init__(
        self, store: EvidenceStore, ledgered: Ledgered, chosen: Callable[[str], bool], note: CheckNote, on_bundle: Progress
    ) -> None:
        self._store, self._ledgered, self._chosen = store, ledgered, chosen
        self._note, self._on_bundle = note, on_bundle
        self._total, self._done = sum(map(chosen, ledgered.arrivals)), 0
        self.seen: set[str] = set()

    def inspect(self, entries: Iterator[Entry], is_wanted: Callable[[str], bool]) -> Iterator[Finding]:
        """What is wrong with the bundles, by key, that are wanted now, and with what belongs to none."""
        for digest, group in groupby(entries, lambda entry: bundle_of(entry.key)):
            key = "" if digest is None else bundle_key(digest)
            if not is_wanted(key):
                self.seen.update([digest] if digest else [])
            elif digest is None:
                yield from (Finding(ORPHANED, entry.key, "it belongs to no bundle", AWAY) for entry in group)
            else:
                self.seen.add(digest)
                if self._chosen(digest):
                    yield from inspect_bundle(self._store, digest, group, self._ledgered)
                    self._note.add(key)
                    self._done += 1
                    self._on_bundle(self._done, max(self._done, self._total))


def _others(store: EvidenceStore, entries: Iterator[Entry]) -> Iterator[Finding]:
    """Objects that do not belong to the store; for a folder, also files of interrupted work."""
    for entry in entries:
        top = entry.key.partition("/")[0]
        if top == "probes":
            yield Finding(LEFTOVER, entry.key, "a probe of wh doctor", AWAY)
        elif not (store.objects.links_files and top in WORK_NAMES):
            yield Finding(ORPHANED, entry.key, "nothing of this name belongs in a store", AWAY)


def _campaigns(entries: Iterable[Entry]) -> Iterator[Finding]:
    """What runners of campaigns agree on: names of theirs alone."""
    for entry in entries:
        parts = entry.key.split("/")
        if not (len(parts) in (3, 4, 5) and entry.key.endswith(".json") and entry.bytes):
            yield Finding(ORPHANED, entry.key, "nothing of this name belongs to a campaign", AWAY)


def _unfinished(store: EvidenceStore) -> Iterator[Finding]:
    """What dead processes have left of their work."""
    for folder in dead_folders(store.scratch):
        yield Finding(LEFTOVER, f"incoming/{folder.name}", "left by a process that died", "the next ingest removes it, or wh gc --apply")


def _in_use(project: Project, store: EvidenceStore) -> set[Path]:
    """The landing files that the current build depends on."""
    build = find_current(project)
    tables = from_json(build.landing, store.landing).tables.values() if build else ()
    return {file.path for table in tables for file in table.files}
