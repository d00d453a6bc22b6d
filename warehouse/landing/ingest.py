"""`wh ingest`: list a tree, let the ingestors cut it into bundles, copy every file, commit, write the ledger.

Promises: nothing that was handed over is lost without a word. A file that several families know goes into a bundle of each; one
that no family knows, or from which two would read the same run, goes into an `unrecognised` bundle. A bundle of a known family is
committed whole or not at all; the same bundle again is a no-op that says so. An archive that no family knows is read as its contents: they
make the same bundles as unpacked by hand, and the ledger names the archive and member that each file came from.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, pairwise, product
from pathlib import Path

from warehouse.digest import file_digest
from warehouse.errors import ExitCode, WarehouseError, printable
from warehouse.evidence.archives import NotReadError, Room, is_archive, unpack
from warehouse.evidence.incoming import Incoming
from warehouse.evidence.ledger.arrivals import Unpacked, unpacked_from
from warehouse.evidence.ledger.events import History, Ledger
from warehouse.evidence.manifest import UNRECOGNISED, Manifest, ManifestFile, parse_manifest
from warehouse.evidence.objects.base import UNREACHABLE, Staged
from warehouse.evidence.signing.keys import SigningKey
from warehouse.evidence.signing.signatures import evidence_subject, sign
from warehouse.evidence.store import MADE, WAS_THERE, EvidenceStore
from warehouse.evidence.tree import Tree, TreeFile, list_tree
from warehouse.landing.contract import BundleDraft, DraftFile, Ingestor, Unclaimed
from warehouse.landing.declaration.placing import find_declarations, with_declarations
from warehouse.landing.described.beside import with_results_beside
from warehouse.landing.described.ingestor import DescribedIngestor
from warehouse.landing.described.layout import Description
from warehouse.landing.described.recognition import nearest
from warehouse.landing.family import Family
from warehouse.landing.restating import without_restatements
from warehouse.landing.strangers import reason_of
from warehouse.landing.twins import twins

ADDED = "added"
PRESENT = "present"
LEFT_OUT = "left out"
_ARCHIVE_ROUNDS = 2  # an archive in an archive is read, one in that is not
_RECORDS = (".json", ".jsonl", ".ndjson", ".csv", ".tsv")
_TEXTS = (".txt", ".log", ".out")
_DESCRIBE = "no ingestor knows these records: wh new ingestor NAME --from FILE describes them"
_BUNDLES_TOGETHER, _BYTES_TOGETHER = 250, 32 << 20  # that are put on the disk at once
_PATIENCE_S = 2.0  # that another process has between making a bundle and recording its arrival


@dataclass(frozen=True)
class IngestedBundle:
    """What became of one bundle. `digest` is None when it was left out; then `problems` say why."""

    family: str
    status: str
    digest: str | None
    runs: tuple[str, ...]
    files: int
    bytes: int
    problems: tuple[WarehouseError, ...] = ()


@dataclass(frozen=True)
class IngestReport:
    """The outcome of one `wh ingest`: bundles in order, and what was not copied and why."""

    bundles: tuple[IngestedBundle, ...] = ()
    problems: tuple[WarehouseError, ...] = field(default=())


@dataclass(frozen=True)
class Leftover:
    """A file that no ingestor's bundle takes, and why not, where that is known. `is_no_evidence`: whatever it should have been, its
    bytes are something else."""

    file: TreeFile
    reason: str | None
    is_no_evidence: bool = False


@dataclass(frozen=True)
class Plan:
    """What an ingest would copy: the bundles that are recognised as (family, draft) pairs, and the files that go into a
    bundle of their own, unrecognised; and what it would leave out."""

    recognised: tuple[tuple[str, BundleDraft], ...]
    leftovers: tuple[Leftover, ...]
    problems: tuple[WarehouseError, ...]
    withheld: tuple[Leftover, ...] = ()

    def without(self, why: Callable[[str], str | None], described: Container[str]) -> Plan:
        """The plan without the files that `why` has a reason to hold back, where a description takes them or nothing does. What an ingestor in
        code takes goes on: a description shares its files with it."""
        recognised: _Claims = []
        leftovers: list[Leftover] = []
        withheld: list[Leftover] = []
        for family, draft in self.recognised:
            reasons = [why(file.file.path) for file in draft.files] if family in described else []
            if reason := next(filter(None, reasons), None):
                withheld += [Leftover(file.file, reason) for file in draft.files]
            else:
                recognised.append((family, draft))
        for each in self.leftovers:
            reason = why(each.file.path)
            (withheld if reason else leftovers).append(replace(each, reason=reason) if reason else each)
        return replace(self, recognised=tuple(recognised), leftovers=tuple(leftovers), withheld=tuple(withheld))

    @property
    def drafts(self) -> tuple[tuple[str, BundleDraft], ...]:
        """All bundles."""
        if not self.leftovers:
            return self.recognised
        files = tuple(DraftFile(leftover.file.path, leftover.file) for leftover in self.leftovers)
        return (*self.recognised, (UNRECOGNISED, BundleDraft(files)))

    @property
    def bytes(self) -> int:
        return sum(_bytes(draft) for _, draft in self.drafts)


_Claims = list[tuple[str, BundleDraft]]
_Arrived = dict[str, tuple[str, Unpacked]]  # bundles by digest: their families, and where they came from
_Kept = list[tuple[DraftFile, Staged]]


@dataclass(frozen=True)
class _Copied:
    """A bundle of which files were copied: those, what is wrong with others, and the manifest of those."""

    kept: _Kept
    problems: list[WarehouseError]
    manifest: Manifest


@dataclass
class _Contents:
    """What was unpacked of a tree: the archives with the files that each held, why others are not read, and what was left out."""

    tree: Tree
    held: dict[str, list[TreeFile]] = field(default_factory=dict)
    archives: dict[str, TreeFile] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    left_out: list[WarehouseError] = field(default_factory=list)

    def unpack(self, room: Room, claimed: Container[str]) -> bool:
        """Read the archives that nothing claimed as their contents; whether there were any."""
        files, is_new = dict(self.tree.files), False
        for path, file in self.tree.files.items():
            if not is_archive(path) or path in claimed or path in self.refused:
                continue
            try:
                members, left_out = unpack(file, room, files.keys())
            except NotReadError as error:
                self.refused[path] = str(error)
                continue
            del files[path]
            files.update((member.path, member) for member in members)
            self.archives[path], self.held[path], is_new = file, members, True
            self.left_out += left_out
        self.tree = Tree(self.tree.root, dict(sorted(files.items())), self.tree.left_out)
        return is_new

    def put_back(self, taken: Container[str], why: Callable[[str], str | None]) -> None:
        """Those archives in which nothing is taken stand for what they held, with the reason of the first file that has one."""
        files = dict(self.tree.files)
        for path, members in [*self.held.items()][::-1]:  # the inner ones first
            if any(member.path in taken or member.path in self.held for member in members):
                continue
            reason = next((f"{member.origin}: {reason}" for member in members if (reason := why(member.path))), "")
            self.refused[path] = f"an archive, and no ingestor recognises a file in it{'; ' * bool(reason)}{printable(reason)}"
            for member in members:
                files.pop(member.path, None)
            files[path] = self.archives[path]
            del self.held[path]
        self.tree = Tree(self.tree.root, dict(sorted(files.items())), self.tree.left_out)


def plan_ingest(
    path: Path, ingestors: Iterable[Ingestor], store_root: Path | None = None, preferred: str | None = None, scratch: Path | None = None
) -> Plan:
    """Cut what lies under `path` into bundles. A file that several ingestors claim goes into a bundle of each or, where
    `preferred` is one of them, into its bundle alone. Two bundles from which the same run would be read are left out: their
    files are kept as unrecognised, and WH120 is one of the plan's problems. So is an ingestor that fails (WH121); the files
    that it did not claim go to the others. Archives are unpacked into the folder `scratch`, which the plan needs until it is ingested;
    without one they are files. Folders of a warehouse under `path` are left out. Raises WH004 (no such path, or one inside of a warehouse),
    WH101 (nothing there), WH122 (`preferred` claims nothing)."""
    tree = list_tree(path, store_root)
    if not tree.files:
        reasons = "\n".join(f"  {problem}" for problem in tree.left_out)
        raise WarehouseError(
            "WH101", "no files to ingest" + (f"; left out:\n{reasons}" if reasons else ""), printable(str(path)),
            exit_code=ExitCode.USAGE,
        )
    ingestors, contents = tuple(ingestors), _Contents(tree)
    claims, reasons_by_path, problems = _claimed(ingestors, tree)
    room = Room(scratch) if scratch else None
    for _ in range(_ARCHIVE_ROUNDS):
        if room is None or not contents.unpack(room, _claimants(claims)):
            break
        claims, reasons_by_path, problems = _claimed(ingestors, contents.tree)
    contents.put_back(_claimants(claims), lambda path: reasons_by_path.get(path) or reason_of(contents.tree, path))
    tree, problems = contents.tree, [*tree.left_out, *contents.left_out, *problems]
    if preferred is not None:
        claims = _preferring(preferred, claims, path)
    claims = without_restatements(claims, preferred)
    described: Iterable[object] = ingestors
    descriptions = [each.description for each in described if isinstance(each, DescribedIngestor)]
    drafts = _declared(_settled(claims, reasons_by_path, problems), tree, reasons_by_path)
    drafts = with_results_beside(drafts, frozenset(each.name for each in descriptions if each.is_of_telemetry_alone))
    taken = _claimants(drafts)
    drafts += twins(tree, drafts, [path for path in tree.files if path not in taken])
    taken = _claimants(drafts)
    in_code = {name: paths for each in described if isinstance(each, Family) for name, paths in each.like.items()}
    leftovers = tuple(
        Leftover(tree.files[path], contents.refused[path], True) if path in contents.refused
        else _leftover(tree, path, reasons_by_path.get(path), descriptions, in_code)
        for path in tree.files if path not in taken
    )
    return Plan(tuple(drafts), leftovers, tuple(problems))


def _claimed(ingestors: Iterable[Ingestor], tree: Tree) -> tuple[_Claims, dict[str, str], list[WarehouseError]]:
    """What the ingestors make of a tree: their claims, the reasons of what they know and do not take, and how they fail."""
    claims, reasons_by_path, problems = _Claims(), dict[str, str](), list[WarehouseError]()
    for ingestor in ingestors:
        for found in _cut(ingestor, tree, problems):
            if isinstance(found, Unclaimed):
                reasons_by_path[found.path] = f"{ingestor.name}: {printable(found.reason)}"
            else:
                claims.append((ingestor.name, found))
    return claims, reasons_by_path, problems


def _leftover(
    tree: Tree, path: str, reason: str | None, descriptions: Sequence[Description], in_code: Mapping[str, Sequence[str]]
) -> Leftover:
    if reason is None and (found := reason_of(tree, path)) is not None:
        return Leftover(tree.files[path], found, True)
    if reason is None and path.lower().endswith((*_RECORDS, *_TEXTS)):
        reason = nearest(tree, path, descriptions, in_code) or (_DESCRIBE if path.lower().endswith(_RECORDS) else None)
    return Leftover(tree.files[path], reason)


def _declared(claims: _Claims, tree: Tree, reasons_by_path: dict[str, str]) -> _Claims:
    """The claims with the run declarations that lie with their files; a declaration without files beside it is reported."""
    taken = _claimants(claims)
    declarations = find_declarations(tree, (path for path in tree.files if path not in taken))
    reasons_by_path.update(dict.fromkeys(declarations, "a run declaration in a folder without recognised evidence"))
    return [(family, with_declarations(draft, [tree.files[path] for path in declarations])) for family, draft in claims]


def _claimants(claims: _Claims) -> dict[str, list[str]]:
    """The families that claim each file, in the order of the claims; those that hold it for a restatement claim nothing."""
    found: dict[str, list[str]] = {}
    for family, draft in claims:
        for file in draft.files:
            names = found.setdefault(file.file.path, [])
            if family not in names and not file.is_restatement:
                names.append(family)
    return found


def _preferring(preferred: str, claims: _Claims, path: Path) -> _Claims:
    """The claims without those of others to a file that `preferred` claims."""
    wanted = {path for path, names in _claimants(claims).items() if preferred in names}
    if not wanted:
        raise WarehouseError(
            "WH122", f"{preferred} recognises nothing here", printable(str(path)), "wh ingest --dry-run shows which ingestors recognise it"
        )
    return [
        (family, draft) for family, draft in claims
        if family == preferred or not any(file.file.path in wanted and not file.is_restatement for file in draft.files)
    ]


def _settled(claims: _Claims, reasons_by_path: dict[str, str], problems: list[WarehouseError]) -> _Claims:
    """The claims without those that two families would read the same run from, which are reported. A file may hold several
    kinds of evidence (a training log that begins with an nccl-tests run): each family takes it into a bundle of its own."""
    rivals = _rivals(claims)
    disputed = {position for pair in rivals for position in pair}
    conflicts: dict[tuple[str, ...], list[str]] = {}
    for pair, path in rivals.items():
        names = tuple(claims[position][0] for position in pair)
        conflicts.setdefault(names, []).append(path)
        for position in pair:
            family, draft = claims[position]
            why_not = f"{family} would take it with {printable(path)}"
            reasons_by_path.update((file.file.path, why_not) for file in draft.files if file.file.path not in rivals.values())
        reasons_by_path[path] = f"claimed by {' and by '.join(names)} as the same run"
    problems += _ambiguities(conflicts)
    return [claim for position, claim in enumerate(claims) if position not in disputed]


def _rivals(claims: _Claims) -> dict[tuple[int, int], str]:
    """The pairs of claims, by their positions, that two families make to one run of one file; with the first such file."""
    by_run: dict[str, dict[str, list[int]]] = {}
    for position, (family, draft) in enumerate(claims):
        for run in draft.runs:
            by_run.setdefault(run, {}).setdefault(family, []).append(position)
    found: dict[tuple[int, int], str] = {}
    for by_family in by_run.values():
        for first, second in combinations(by_family.values(), 2):
            for pair in product(first, second):
                one, other = ({file.file.path for file in claims[position][1].files} for position in pair)
                if one & other:
                    found[pair] = min(one & other)
    return found


def _ambiguities(conflicts: Mapping[tuple[str, ...], Sequence[str]]) -> Iterator[WarehouseError]:
    """One problem for each two families that would state the same runs."""
    for names, paths in conflicts.items():
        more = f" (and {len(paths) - 1} more)" if len(paths) > 1 else ""
        yield WarehouseError(
            "WH120", f"claimed by {' and by '.join(names)} as the same run{more}; kept as {UNRECOGNISED}", printable(paths[0]),
            f"choose one of them: wh ingest --as {'|'.join(names)} PATH", ExitCode.AMBIGUOUS,
        )


def _cut(ingestor: Ingestor, tree: Tree, problems: list[WarehouseError]) -> Iterator[BundleDraft | Unclaimed]:
    """What an ingestor makes of a tree, until it ends or fails; drafts that cannot be stored are left out. Evidence is never
    refused for a plug-in's fault, and the fault names the plug-in."""
    place = f"ingestor {ingestor.name}"
    try:
        for found in ingestor.bundles(tree):
            fault = None if isinstance(found, Unclaimed) else _fault(ingestor.name, found)
            if fault:
                problems.append(WarehouseError("WH121", f"makes a bundle that cannot be stored: {fault}", place))
            else:
                yield found
    except Exception as error:
        reason = printable(f"{type(error).__name__}: {error}")
        problems.append(WarehouseError("WH121", f"fails on this tree: {reason}", place))


def _fault(family: str, draft: BundleDraft) -> str | None:
    """Why no manifest can be written of a draft: found before anything is copied."""
    if not draft.files:
        return "it has no files"
    # With the separator sorted first, what lies in a folder comes right after a file of the folder's name.
    paths = sorted((file.raw_path for file in draft.files), key=lambda path: path.replace("/", "\0"))
    if any(path.startswith(f"{before}/") for before, path in pairwise(paths)):
        return "the same raw_path is a file and a folder"
    listed = (ManifestFile(file.raw_path, 0, "0" * 64, file.media_type, file.role) for file in draft.files)
    try:
        parse_manifest(Manifest(family, tuple(listed), draft.identity, draft.source).canonical, "the bundle")
    except (WarehouseError, ValueError, TypeError) as error:
        return printable(str(error))
    return None


def ingest(
    plan: Plan,
    store: EvidenceStore,
    source: str,
    on_bundle: Callable[[IngestedBundle], None] = lambda bundle: None,
    key: SigningKey | None = None,
) -> IngestReport:
    """Copy the planned bundles into the store, many at a time, each of which is committed and in the ledger before the next ones, and with
    `key` signed, also those that were there. Raises WH109, WH113."""
    ledger = Ledger(store.objects)
    bundles = []
    others: _Arrived = {}  # bundles that another ingest made
    with store.incoming() as incoming:
        for drafts in _together(plan.drafts):
            made: _Arrived = {}
            some = []
            for (_, draft), (bundle, is_made) in zip(drafts, _ingest_bundles(drafts, store, incoming), strict=True):
                unpacked = unpacked_from({file.raw_path: file.file.origin for file in draft.files if file.file.origin})
                if bundle.digest:
                    (made if is_made else others)[bundle.digest] = bundle.family, unpacked
                some.append(bundle)
            if made:
                ledger.all_arrived(made, source)
            for bundle in some:
                if bundle.digest and key:  # its bytes were hashed just now
                    sign(ledger, evidence_subject(bundle.digest), key)
                bundles.append(bundle)
                on_bundle(bundle)
        _complete_ledger(ledger, others, source)
    return IngestReport(tuple(bundles), plan.problems)


def _together(drafts: Sequence[tuple[str, BundleDraft]]) -> Iterator[_Claims]:
    """The drafts in lists of so many, or of so many bytes, that waiting for the disk takes little of the time of copying them."""
    some: _Claims = []
    size = 0
    for family, draft in drafts:
        some.append((family, draft))
        size += _bytes(draft)
        if len(some) == _BUNDLES_TOGETHER or size >= _BYTES_TOGETHER:
            yield some
            some, size = [], 0
    if some:
        yield some


def _complete_ledger(ledger: Ledger, bundles: "_Arrived", source: str) -> None:
    """Record the arrival of those of the bundles that the ledger does not know. Whoever made a bundle may be
    about to write its arrival, so there is time for that first; a crash that came between leaves it to this call."""
    history, seen = History(), set[str]()
    deadline = time.monotonic() + _PATIENCE_S
    while bundles:
        for event in ledger.new_events(seen):
            history.add(event)
        bundles = {digest: known for digest, known in bundles.items() if digest not in history.arrivals}
        if time.monotonic() > deadline:
            break
        if bundles:  # at random, so that of several processes that wait one writes the event and the others see it
            time.sleep(random.uniform(0.1, 0.4))
    if bundles:
        ledger.all_arrived(bundles, source)


def planned_digests(plan: Plan) -> list[str]:
    """The digests that the planned bundles would have, found by hashing the files where they lie. Raises WH102 for a file
    that cannot be read."""
    return [_planned_digest(family, draft) for family, draft in plan.drafts]


def _planned_digest(family: str, draft: BundleDraft) -> str:
    found = []
    for file in draft.files:
        try:
            found.append((file, Staged(file.file.source, file.file.source.stat().st_size, file_digest(file.file.source))))
        except OSError as error:
            raise WarehouseError("WH102", error.strerror or str(error), printable(str(file.file.source))) from error
    return _manifest(family, draft, found).digest


def _ingest_bundles(drafts: Sequence[tuple[str, BundleDraft]], store: EvidenceStore, incoming: Incoming) -> list[tuple[IngestedBundle, bool]]:
    """What became of bundles, and whether this call is the one that made each."""
    found: dict[int, tuple[IngestedBundle, bool]] = {}
    copied: dict[int, _Copied] = {}
    try:
        for number, (family, draft) in enumerate(drafts):
            kept: _Kept = []
            problems: list[WarehouseError] = []
            for file, copy in zip(draft.files, incoming.copy([file.file.source for file in draft.files]), strict=True):
                if isinstance(copy, WarehouseError):
                    problems.append(copy)
                else:
                    kept.append((file, copy))
            copied[number] = _Copied(kept, problems, _manifest(family, draft, kept))
            if not kept or (problems and family != UNRECOGNISED):
                found[number] = _left_out(family, draft, problems), False
        whole = {number: each for number, each in copied.items() if number not in found}
        for number, outcome in zip(whole, _committed(store, [*whole.values()]), strict=True):
            (family, draft), each = drafts[number], whole[number]
            if isinstance(outcome, WarehouseError):
                found[number] = _left_out(family, draft, [*each.problems, outcome]), False
                continue
            status = PRESENT if outcome == WAS_THERE else ADDED
            bundle = IngestedBundle(family, status, each.manifest.digest, draft.runs, len(each.kept), _bytes(draft), tuple(each.problems))
            found[number] = bundle, outcome == MADE
    finally:
        incoming.discard(copy for each in copied.values() for _, copy in each.kept)
    return [found[number] for number in range(len(drafts))]


def _committed(store: EvidenceStore, copied: Sequence[_Copied]) -> list[str | WarehouseError]:
    """What became of bundles that are committed together; each by itself, if one of them cannot be."""
    if not copied:
        return []
    try:
        return [*store.commit_all([(each.manifest, _in_manifest_order(each.manifest, each.kept)) for each in copied])]
    except WarehouseError as error:
        if error.code in ("WH109", UNREACHABLE):  # the store itself: nothing more can go in
            raise
        return [error] if len(copied) == 1 else [outcome for each in copied for outcome in _committed(store, [each])]


def _left_out(family: str, draft: BundleDraft, problems: Sequence[WarehouseError]) -> IngestedBundle:
    return IngestedBundle(family, LEFT_OUT, None, draft.runs, len(draft.files), _bytes(draft), tuple(problems))


def _bytes(draft: BundleDraft) -> int:
    return sum(file.file.bytes for file in draft.files)


def _manifest(family: str, draft: BundleDraft, kept: _Kept) -> Manifest:
    files = tuple(
        ManifestFile(file.raw_path, copy.bytes, copy.sha256, file.media_type, file.role)
        for file, copy in kept
    )
    return Manifest(family, files, draft.identity, draft.source)


def _in_manifest_order(manifest: Manifest, kept: _Kept) -> list[Staged]:
    copies = {file.raw_path: copy for file, copy in kept}
    return [copies[file.raw_path] for file in manifest.files]
