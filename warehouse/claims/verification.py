"""`wh verify`: is a number still what its raw evidence gives? Its files are hashed again, and its query is replayed from them.

A replay has first the evidence of the number's own why-set and nothing else. That gives the number wherever removing other
runs cannot change it (guarantee G3 of the design). Otherwise there is added what its row's being there rests on, and then the
evidence of its whole publication, and the verdict says so. A replay of what was published is traced too, and
must rest on what the publication states (`claims.retrace`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isclose
from typing import TYPE_CHECKING, Any

from warehouse.claims.completeness import difference, evidence_then
from warehouse.claims.determinism import UNRECORDED, Determinism, recorded
from warehouse.claims.guarantees import YES
from warehouse.claims.lineage import lineage_of
from warehouse.claims.number import inexact, parse_argument
from warehouse.claims.publication import PublishedCell, PublishedRollup, PublishedRow, publications
from warehouse.claims.recorded import recorded_specification
from warehouse.claims.retrace import CellRecord, Doubt, Retraced, row_key
from warehouse.claims.search import FoundCell, current_numbers, find_cell
from warehouse.claims.signing import Signings, check_evidence_signatures, check_publication_signatures, trusted_keys
from warehouse.claims.specification import read_specification
from warehouse.errors import ExitCode, WarehouseError
from warehouse.evidence.removal import expired, removed_bundles
from warehouse.evidence.signatures import Signing
from warehouse.evidence.store import LocalStore
from warehouse.project import Project

if TYPE_CHECKING:
    from warehouse.claims.replay import Replayer, Row

VERIFIED = "verified"  # its files are whole, and replayed they give it
STALE = "stale"  # so it is, but the current build holds another number in its place, or none
TAMPERED = "tampered"  # a file, its publication or its spec differs from its digest
MISSING = "missing"  # one of these is gone
NOT_REPRODUCED = "not reproduced"  # all is whole, but replayed it gives another value
REFUSED = "refused"  # nobody can tell: it cannot be replayed here, or rests on no evidence
EXPIRED = "expired by policy"  # its evidence is gone, and the ledger says that retention policy removed it
STATES = (TAMPERED, MISSING, NOT_REPRODUCED, REFUSED, EXPIRED, STALE, VERIFIED)  # the worst first

STALE_BECAUSE = "; the current build holds another number, or none"
_EXIT_CODES = {
    TAMPERED: ExitCode.TAMPERED, MISSING: ExitCode.MISSING, EXPIRED: ExitCode.MISSING, VERIFIED: ExitCode.OK, STALE: ExitCode.OK
}


@dataclass(frozen=True)
class Claim:
    """A number as it is claimed: where it stands, its exact form, and the bundles that its runs and its value rest on.
    `is_read`: whether its value was read from any file; `is_current`: whether the current build holds it; `determinism`: how
    exactly a replay must give it; `record`: what a publication says of it beside, None when it has none."""

    number_id: str | None
    key: str
    column: str
    grain_forms: Mapping[str, Any]
    form: Any
    bundles: frozenset[str]
    is_read: bool
    is_current: bool
    determinism: Determinism
    record: CellRecord | None


@dataclass(frozen=True)
class Verdict:
    """The state of one number (one of `STATES`) and why; how many raw files were hashed, and what is wrong with which;
    where it was reproduced, the bundles that a replay needs; and what the signatures under it are, None where they were not
    checked."""

    number_id: str | None
    key: str
    value: Any
    state: str
    reason: str
    files_checked: int = 0
    problems: tuple[WarehouseError, ...] = ()
    evidence: frozenset[str] = frozenset()
    signings: Signings | None = None


def exit_code(verdicts: Sequence[Verdict]) -> ExitCode:
    """That of the worst state among them."""
    worst = min((STATES.index(verdict.state) for verdict in verdicts), default=STATES.index(VERIFIED))
    return _EXIT_CODES.get(STATES[worst], ExitCode.FAILED)


def verify_number(project: Project, argument: str) -> Verdict:
    """Verify what a person typed after `wh verify`, as `wh lineage` reads it. Raises WH304, WH305, WH306."""
    wanted = parse_argument(argument)
    try:
        found = find_cell(project, wanted)
    except WarehouseError as error:
        return _damaged(error, argument)
    try:
        number = lineage_of(project, found)
        specification = recorded_specification(project, number)
    except WarehouseError as error:
        return replace(_damaged(error, found.key), number_id=found.cell.number_id, value=found.cell.value)
    if found.publication:
        bundles, wider = bundles_of(found.row, found.cell), [found.row.bundles, _all_bundles(found.publication)]
    else:
        runs = {str(run["artifact_manifest_digest"]) for run in number.runs if "artifact_manifest_digest" in run}
        bundles, wider = frozenset(runs | {file.artifact_manifest_digest for file in number.raw_files}), []
    claim = _claim(found, bundles, bool(number.raw_files), number.now is None and not number.is_gone)
    traced = [claim.column] if claim.record else []
    return _Auditor(project, specification, traced, found.publication).verdict(claim, [bundles, *wider])


def verify_publication(project: Project, publication: PublishedRollup) -> Iterator[Verdict]:
    """Verify every number of a publication: replayed all together first, and by itself what that does not give. One that is
    damaged has one verdict."""
    query = publication.query or f"publication {publication.digest[:12]}"
    try:
        publication.check()
        specification = read_specification(project, publication)
        rows = list(publication.rows())
        for row in rows:
            for cell in row.cells.values():
                specification.check_number(row, cell)
    except WarehouseError as error:
        yield _damaged(error, query)
        return
    values = {cell.column for row in rows for cell in row.cells.values()}
    auditor, together = _Auditor(project, specification.document, values, publication), _all_bundles(publication)
    current, states = current_numbers(project, query), set[str]()
    for row in rows:
        for cell in row.cells.values():
            if cell.number_id:
                found = FoundCell(query, row, cell, publication, None)
                claim = _claim(found, bundles_of(row, cell), bool(cell.evidence), cell.number_id in current)
                verdict = auditor.verdict(claim, [together, claim.bundles, row.bundles])
                states.add(verdict.state)
                yield verdict
    if states <= {VERIFIED, STALE}:  # else it is found out already
        yield from _incomplete(project, publication, specification.document, rows, auditor, together)


def _incomplete(
    project: Project, publication: PublishedRollup, specification: Mapping[str, Any], rows: Sequence[PublishedRow],
    auditor: "_Auditor", together: frozenset[str],
) -> Iterator[Verdict]:
    """A verdict on the publication itself, if it is not all that its query gives: `tampered` where the very evidence that it
    names gives another, `refused` where other evidence that the store had then does. For it may have been made from a build
    before that arrived."""
    grain, then = specification["document"]["contract"]["grain"], evidence_then(project, publication)

    def differs(bundles: frozenset[str]) -> str | None:
        given = auditor.replayed(bundles, grain)
        return difference(rows, given.rows, lambda form, cell: _equal(form, cell.form, recorded(publication.record, cell.column)) is not None)

    if any(auditor.check(digest) for digest in sorted(then | together)):
        return  # damaged evidence does not tell what is left out; of the numbers that rest on it it is told that it is
    try:
        whole = auditor.replayed(together, grain).retraced if together else None
        is_certain = then <= together or (whole is not None and whole.guarantees["G3"]["holds"] == YES)
        if together and is_certain and (found := differs(together)):
            yield Verdict(None, publication.digest, None, TAMPERED, f"the evidence that it names gives {found}")
        elif not then <= together and (found := differs(then)):
            yield Verdict(None, publication.digest, None, REFUSED, f"all the evidence that was there when it was made gives {found}")
    except WarehouseError as error:
        yield Verdict(None, publication.digest, None, REFUSED, f"whether it is all that its query gives: {error.message}", 0, (error,))


def verify_all(project: Project) -> Iterator[Verdict]:
    """Verify every number of every publication."""
    for publication in publications(project):
        yield from verify_publication(project, publication)


def _claim(found: FoundCell, bundles: frozenset[str], is_read: bool, is_current: bool) -> Claim:
    cell, record, determinism = found.cell, None, UNRECORDED
    if found.publication:
        said = found.publication.record
        determinism = recorded(said, cell.column)
        record = CellRecord(
            cell.why_digest, list(cell.evidence), said.get("guarantees"), said.get("columns", {}).get(cell.column),
            said.get("ties_tried"), said.get("wh"),
        )
    return Claim(
        cell.number_id, found.key, cell.column, found.row.grain_forms, cell.form, bundles, is_read, is_current, determinism, record
    )


def bundles_of(row: PublishedRow, cell: PublishedCell) -> frozenset[str]:
    """The bundles of a published cell's why-set: those of its runs, and those that its value was read from. What rests on
    neither, as a constant does and a count of nothing, stands by its row: then those of the row."""
    own = {str(run["artifact_manifest_digest"]) for run in cell.runs if run.get("artifact_manifest_digest")}
    own |= {str(file["artifact_manifest_digest"]) for file in cell.evidence}
    return frozenset(own) or row.bundles


def _all_bundles(publication: PublishedRollup) -> frozenset[str]:
    return frozenset().union(*(row.bundles for row in publication.rows()))


def _damaged(error: WarehouseError, key: str) -> Verdict:
    """The verdict on a damaged record (WH307). Raises the error when it is another."""
    if error.code != "WH307":
        raise error
    return Verdict(None, key, None, _state_of([error]), error.message, 0, (error,))


def _state_of(problems: Sequence[WarehouseError]) -> str:
    """A bundle that policy removed is `expired by policy`, another missing file `missing`, any other difference `tampered`;
    the worst outweighs the others."""
    if any(problem.exit_code != ExitCode.MISSING for problem in problems):
        return TAMPERED
    return EXPIRED if all(problem.code == "WH112" for problem in problems) else MISSING


@dataclass(frozen=True)
class _Replay:
    """A replay's rows by `row_key`, and what it says of records."""

    rows: Mapping[str, Row]
    retraced: Retraced | None


class _Auditor:
    """Verdicts on numbers of one query, in `publication` if they are published, of the columns `traced` on what is stated of
    them beside. A bundle is hashed once, its signatures are checked once, and the same evidence is replayed once."""

    def __init__(
        self, project: Project, specification: Mapping[str, Any], traced: Collection[str], publication: PublishedRollup | None
    ) -> None:
        self._project = project
        self._published = check_publication_signatures(project, publication) if publication else None
        self._trusted = tuple(trusted_keys(project).values())
        self._traced = traced
        self._store = LocalStore(project.store_root)
        self._specification = specification
        self._replayer: Replayer | None = None
        self._problems: dict[str, tuple[WarehouseError, ...]] = {}
        self._signings: dict[str, Signing] = {}
        self._files: dict[str, int] = {}
        self._replays: dict[frozenset[str], _Replay] = {}

    def verdict(self, claim: Claim, evidence: Sequence[frozenset[str]]) -> Verdict:
        """The state of one number, replayed from each set of bundles in turn until one gives it."""
        value, files = inexact(claim.form), 0

        def told(state: str, reason: str, *problems: WarehouseError) -> Verdict:
            signings = Signings({digest: self._signings[digest] for digest in sorted(claim.bundles)}, self._published, self._trusted)
            return Verdict(claim.number_id, claim.key, value, state, reason, files, problems, signings=signings)

        problems = [problem for digest in sorted(claim.bundles) for problem in self.check(digest)]
        if self._published and (problem := self._published.problem("the publication's signature")):
            problems.append(problem)
        if problems:
            state, count = _state_of(problems), len(problems)
            reason = problems[0].message if state == EXPIRED else f"{count} problem{'s' * (count > 1)}"
            return told(state, reason, *problems)
        files = sum(self._files[digest] for digest in claim.bundles)
        if not claim.bundles:
            return told(REFUSED, "it rests on no evidence")
        gave: list[Any] = []
        doubts: list[Doubt] = []
        failed: list[WarehouseError] = []
        lost: dict[str, tuple[WarehouseError, ...]] = {}
        for bundles in dict.fromkeys(evidence):
            damaged = {digest: self.check(digest) for digest in sorted(bundles) if self.check(digest)}
            lost |= damaged
            if damaged:
                continue
            try:
                replayed = self.replayed(bundles, tuple(claim.grain_forms))
            except WarehouseError as error:  # over so few rows the SQL may fail where it did not
                failed.append(error)
                continue
            row = replayed.rows.get(row_key(claim.grain_forms))
            gave.append(row[claim.column] if row else None)
            if (how := _equal(gave[-1], claim.form, claim.determinism)) is not None:
                if row and claim.record and replayed.retraced:
                    if doubt := replayed.retraced.doubt(claim.record, claim.grain_forms, claim.column):
                        doubts.append(doubt)
                        continue
                reason = f"{files} raw files hashed, replayed from {_shown(bundles, claim.bundles)}: {how}"
                reason += "" if claim.is_read else "; no file states it, the query does"
                if not claim.is_current:
                    reason += STALE_BECAUSE
                return replace(told(VERIFIED if claim.is_current else STALE, reason), evidence=bundles | claim.bundles)
        if doubts:
            return told(TAMPERED if doubts[-1].is_certain else REFUSED, doubts[-1].message)
        if lost:
            problems = [problem for found in lost.values() for problem in found]
            reason = "its own evidence does not give it alone, and other of its publication is not whole"
            return told(_state_of(problems), reason, *problems)
        if failed and not gave:
            return told(REFUSED, failed[-1].message, *failed)
        values = " or ".join(str(inexact(form)) for form in gave)
        return told(NOT_REPRODUCED, f"replayed it is {values}")

    def check(self, digest: str) -> tuple[WarehouseError, ...]:
        """What is wrong with a bundle."""
        if digest not in self._problems:
            found = list(self._store.check_bundle(digest))
            removals = removed_bundles(self._store, [digest])
            self._signings[digest] = check_evidence_signatures(self._project, digest)
            invalid = self._signings[digest].problem(f"signatures/{digest[:12]}")
            if not found:
                self._files[digest] = len(self._store.manifest(digest).files)
            lost = [expired(removal) for removal in removals.values()] or found
            self._problems[digest] = (*lost, *([invalid] if invalid else ()))
        return self._problems[digest]

    def replayed(self, bundles: frozenset[str], grain: Sequence[str]) -> _Replay:
        """The query over these bundles. Raises what `Replayer.replay` raises."""
        if bundles not in self._replays:
            from warehouse.claims.replay import Replayer

            self._replayer = self._replayer or Replayer(self._project, self._specification)
            found = self._replayer.replay(bundles, self._traced)
            rows = {row_key({name: row[name] for name in grain}): row for row in found.rows}
            self._replays[bundles] = _Replay(rows, found.retraced)
        return self._replays[bundles]


def _equal(form: Any, claimed: Any, determinism: Determinism) -> str | None:
    """How a replayed value equals the one claimed; None when it does not."""
    known = "" if determinism is UNRECORDED else f" ({determinism})"
    if form == claimed:
        return f"equal{known}"
    if determinism.tolerance and _is_within(form, claimed, determinism.tolerance):
        return f"equal within {determinism.tolerance:g}, {inexact(form)!r}{known}"
    return None


def _is_within(form: Any, claimed: Any, tolerance: float) -> bool:
    """Whether floats, or lists of them, differ by no more than the tolerance allows."""
    if not form or not claimed or form[0] != claimed[0] or len(form) != len(claimed):
        return bool(form == claimed)
    if form[0] == "list":
        return all(_is_within(one, other, tolerance) for one, other in zip(form[1:], claimed[1:], strict=True))
    if form[0] != "double":
        return bool(form == claimed)
    return isclose(inexact(form), inexact(claimed), rel_tol=tolerance)


def _shown(bundles: frozenset[str], own: frozenset[str]) -> str:
    count = f"{len(bundles)} bundle{'s' * (len(bundles) != 1)}"
    return f"its own {count}" if bundles == own else f"{count} of its publication"
