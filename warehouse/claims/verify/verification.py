"""`wh verify`: whether a number, or every number of a publication, is still what its raw evidence gives (`claims.verify.auditor`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from warehouse.claims.numbers.current import CurrentNumbers
from warehouse.claims.numbers.lineage import Lineage, lineage_of
from warehouse.claims.numbers.recorded import recorded_specification
from warehouse.claims.numbers.search import FoundCell, asked_number, find_cell, published_cell, published_number
from warehouse.claims.publish.admissibility import decisions_then, made_with, reads_decisions
from warehouse.claims.publish.guarantees import YES, as_recorded
from warehouse.claims.publish.publication import PublishedCell, PublishedRollup, PublishedRow, publications, whole_publications
from warehouse.claims.publish.signing import publication_event
from warehouse.claims.publish.specification import read_specification
from warehouse.claims.verify.auditor import Auditor
from warehouse.claims.verify.completeness import difference, events_then, evidence_then
from warehouse.claims.verify.last_checks import remember_number, remember_publication
from warehouse.claims.verify.retrace import CellRecord
from warehouse.claims.verify.store_now import StoreNow
from warehouse.claims.verify.verdict import (
    MISSING,
    NO_BUILD,
    REFUSED,
    RETRACTED,
    STALE,
    STALE_BECAUSE,
    VERIFIED,
    CellNumber,
    Claim,
    Code,
    Verdict,
    state_of,
)
from warehouse.errors import ExitCode, WarehouseError
from warehouse.evidence.finding import MISSING as GONE
from warehouse.evidence.ledger.chain import chain_findings
from warehouse.evidence.ledger.events import Event, name_digest
from warehouse.project.project import Project
from warehouse.trace.determinism import UNRECORDED, equals, recorded
from warehouse.transform.finished.builds import find_current
from warehouse.transform.finished.query import kept_open

_NOBODY_KNOWS = "no event of the ledger says when it was published, so it is not known which evidence the store had then"


def verify_number(project: Project, argument: str, store: StoreNow | None = None) -> Verdict:
    """Verify what a person typed after `wh verify`, as `wh lineage` reads it: of a cell the number that is published in it, or
    else that of the current build. `store` is shared by the numbers of one command. Raises WH304, WH305, WH306."""
    if store is None:
        with kept_open(find_current(project)), StoreNow(project) as store:
            return verify_number(project, argument, store)
    wanted, published = asked_number(project, argument), publications(project, store.events)
    try:
        found = find_cell(project, wanted, published)
    except WarehouseError as error:
        return _damaged(error, argument)
    try:
        number = lineage_of(project, found, store.events)
        specification = recorded_specification(project, number)
    except WarehouseError as error:
        return replace(_damaged(error, found.key), number_id=found.cell.number_id, value=found.cell.value)
    if found.publication:
        bundles = bundles_of(found.row, found.cell)
    else:
        of_runs = {str(run["artifact_manifest_digest"]) for run in number.runs if "artifact_manifest_digest" in run}
        bundles = frozenset(of_runs | {file.artifact_manifest_digest for file in number.raw_files})
    now, instead = _other_numbers(project, found, number, published, store.events)
    claim = _claim(found, number.runs, bundles, bool(number.raw_files), _stale_because(project, number, now))
    traced = [claim.column] if claim.record else []
    auditor = Auditor(project, specification, traced, found.publication, store)
    verdict = auditor.verdict(claim, _evidence(found, bundles, auditor))
    reason = "; ".join([*_unpublished(found, instead), verdict.reason])
    if found.publication and verdict.number_id:
        remember_number(project, found.publication.digest, verdict.number_id, verdict.state)
    return replace(verdict, reason=reason, now=now, published_instead=instead)


def _other_numbers(
    project: Project, found: FoundCell, number: Lineage, published: Iterable[PublishedRollup], events: Sequence[Event]
) -> tuple[CellNumber | None, CellNumber | None]:
    """What the cell of a number holds in the current build, and in its last publication, where that is another number."""
    whole = whole_publications(each for each in published if each.query == found.query)[0]
    now = instead = None
    if number.now:
        number_id, value = number.now
        now = _cell_number(project, number_id, value, published_number(whole, number_id) if number_id else None, events)
    last = published_cell(whole, found)
    if last and last.cell.number_id != found.cell.number_id:
        instead = _cell_number(project, last.cell.number_id, last.cell.value, last, events)
    return now, instead


def _cell_number(project: Project, number_id: str | None, value: Any, found: FoundCell | None, events: Sequence[Event]) -> CellNumber:
    if found is None or found.publication is None:
        return CellNumber(number_id, value)
    event = publication_event(project, found.publication.digest, events)
    return CellNumber(number_id, value, found.publication.digest, event.at if event else None)


def _stale_because(project: Project, number: Lineage, now: CellNumber | None) -> str | None:
    if now:
        where = f"published {now.place}" if now.publication else "not published"
        return f"the current build holds {now} in this cell{f', {where}' if now.number_id else ''}"
    if number.is_gone:
        return "the current build no longer has this cell" if find_current(project) else NO_BUILD
    return None


def _unpublished(found: FoundCell, instead: CellNumber | None) -> Iterator[str]:
    """That a number is not what its cell was last published with, in words: nothing where it is."""
    if found.publication is None:
        yield "this number is not published"
    if instead:
        way = f" (run: wh verify {instead.number_id})" if instead.number_id else ""
        yield f"its cell was last published {instead.place} with {instead}{way}"


def _evidence(found: FoundCell, own: frozenset[str], auditor: Auditor) -> Iterator[frozenset[str]]:
    """What a number is replayed from: its own bundles, and where these do not give it those of its row, and of its publication,
    all of whose rows are read for that; and at last all that may have kept a row from being there."""
    yield own
    if found.publication:
        yield found.row.bundles
        yield auditor.published_bundles
        yield from auditor.bundles_then()


def verify_publication(project: Project, publication: PublishedRollup, store: StoreNow | None = None) -> Iterator[Verdict]:
    """Verify every number of a publication: all are replayed together first, then each that this does not give by itself. A damaged
    publication has one verdict. Its rows are read one after another; none is kept. `store` is shared by the publications of one command."""
    if store is None:
        with StoreNow(project) as store:
            yield from verify_publication(project, publication, store)
        return
    query = publication.query or f"publication {publication.digest[:12]}"
    columns = set[str]()
    try:
        publication.check()
        specification = read_specification(project, publication)
        for row in publication.rows():
            columns |= row.cells.keys()
            for cell in row.cells.values():
                specification.check_number(row, cell)
    except WarehouseError as error:
        yield _damaged(error, query)
        return
    then = evidence_then(project, publication, store.events) | publication.bundles()
    auditor = Auditor(project, specification.document, columns, publication, store, accounted=then)
    together = auditor.published_bundles
    current, states = CurrentNumbers(project, publication), dict[str, str]()
    for row in publication.rows():
        for cell in row.cells.values():
            if cell.number_id:
                found = FoundCell(query, row, cell, publication, None)
                stale_because = None if current.hold(row, cell) else STALE_BECAUSE
                claim = _claim(found, cell.runs, bundles_of(row, cell), bool(cell.evidence), stale_because)
                verdict = auditor.verdict(claim, chain([together, claim.bundles, row.bundles], auditor.bundles_then()))
                states[cell.number_id] = verdict.state
                yield verdict
    doubts = []
    if set(states.values()) <= {VERIFIED, STALE, RETRACTED}:  # else it is found out already
        doubts = list(_incomplete(project, publication, specification.document, auditor, together, then, store))
    yield from doubts
    remember_publication(project, publication.digest, states, doubts[0].state if doubts else None)


def _incomplete(
    project: Project, publication: PublishedRollup, specification: Mapping[str, Any], auditor: Auditor, together: frozenset[str],
    then: frozenset[str], store: StoreNow,
) -> Iterator[Verdict]:
    """A verdict on the publication itself, if it is not all that its query gives: `tampered` where the very evidence that it
    names gives another (`not reproduced` by another engine), `refused` where other evidence that the store had then does. For it may
    have been made from a build before that arrived. Likewise `refused` where that has runs that the publication does not account for.
    Where no event says when it was published, that is checked with all evidence of now, and the reason says so."""
    grain = specification["document"]["contract"]["grain"]
    named = {decision["sha256"] for decision in made_with(project, publication)}
    known = events_then(project, publication, store.events)
    if known is not None and reads_decisions(specification) and named != decisions_then(project, publication):
        # Not tampered: the times of its making and of a decision may be by the clocks of two machines.
        yield Verdict(None, publication.digest, None, REFUSED, "its record names other decisions on runs than the ledger has before it")

    def doubt(state: str, reason: str, *problems: WarehouseError) -> Verdict:
        return Verdict(
            None, publication.digest, None, state, reason + auditor.way_back(code), 0, problems, engines=auditor.engines, code=code
        )

    def differs(bundles: frozenset[str]) -> str | None:
        given = auditor.replayed(bundles, grain, is_traced=False)
        return difference(
            publication.rows(), given.rows,
            lambda form, cell: equals(form, cell.form, recorded(publication.record, cell.column, cell.is_exact)) is not None,
        )

    if any(store.problems(digest) for digest in sorted(then | together)):
        return  # damaged evidence does not show what is left out; the numbers that depend on it are reported
    code = Code()
    try:
        code = auditor.code(together)
        whole = auditor.replayed(together, grain).retraced if together else None
        promised = as_recorded(whole.established.guarantees, publication.record.get("guarantees")) if whole else {}
        is_certain = then <= together or (whole is not None and promised["G3"]["holds"] == YES)
        if together and is_certain and (found := differs(together)):
            yield doubt(auditor.doubted(code, is_certain=True), f"the evidence that it names gives {found}")
        elif not then <= together and (found := differs(then)):
            if known is None:
                yield doubt(REFUSED, f"all the evidence that the store has now gives {found}; {_NOBODY_KNOWS}")
            else:
                yield doubt(REFUSED, f"all the evidence that the store had when it was published gives {found}")
        elif then and (found := auditor.unaccounted(auditor.replayed(then, grain, is_traced=False), known)):
            when = "had then" if known is not None else f"has now; {_NOBODY_KNOWS}"
            reason = f"its numbers follow from its evidence, but its judgement {found} (checked with all the evidence that the store {when})"
            yield doubt(REFUSED, reason)
    except WarehouseError as error:
        yield doubt(REFUSED, f"wh cannot check that it is all that its query gives: {error.message}", error)


def count_numbers(project: Project) -> int:
    """How many numbers `verify_all` verifies, as the records of the publications state; nothing else of them is read."""
    return sum(int(publication.record.get("numbers", 0)) for publication in publications(project))


def verify_all(
    project: Project, on_publication: Callable[[PublishedRollup, int, int], None] = lambda publication, number, total: None
) -> Iterator[Verdict]:
    """Verify every number of every publication. Where events of the ledger are damaged or gone there is a verdict on each of them: a
    publication may be gone with it. `on_publication` gets each before it is verified, its number from 1 on, and how many there are."""
    with StoreNow(project) as store:
        yield from _lost_events(store)
        found = publications(project, store.events)
        for number, publication in enumerate(found, 1):
            on_publication(publication, number, len(found))
            yield from verify_publication(project, publication, store)


def _lost_events(store: StoreNow) -> Iterator[Verdict]:
    events, ledger = store.events, store.ledger
    for problem in ledger.damaged:
        yield Verdict(None, problem.place or "ledger", None, state_of([problem]), problem.message, 0, (problem,))
    for finding in chain_findings(events, {name_digest(key) or "" for key in ledger.keys()}):
        if finding.kind == GONE:
            yield Verdict(None, finding.key, None, MISSING, finding.message)


def _claim(
    found: FoundCell, runs: Iterable[Mapping[str, Any]], bundles: frozenset[str], is_read: bool, stale_because: str | None
) -> Claim:
    cell, record, determinism, row = found.cell, None, UNRECORDED, None
    run_ids = tuple(sorted(str(run["run_id"]) for run in runs))
    if found.publication:
        said, row = found.publication.record, found.row
        determinism = recorded(said, cell.column, cell.is_exact)
        record = CellRecord(
            cell.why_digest, run_ids, list(cell.evidence), said.get("guarantees"),
            {**said.get("columns", {}).get(cell.column, {}), "is_exact": cell.is_exact}, said.get("ties_tried"), said,
        )
    return Claim(
        cell.number_id, found.key, cell.column, found.row.grain_forms, cell.form, run_ids, bundles, is_read, stale_because, determinism,
        record, row,
    )


def bundles_of(row: PublishedRow, cell: PublishedCell) -> frozenset[str]:
    """The bundles of a published cell's why-set: those of its runs, and those that its value was read from. A cell without
    either, such as a constant or a count of nothing, depends on its row: then those of the row."""
    own = {str(run["artifact_manifest_digest"]) for run in cell.runs if run.get("artifact_manifest_digest")}
    own |= {str(file["artifact_manifest_digest"]) for file in cell.evidence}
    return frozenset(own) or row.bundles


def _damaged(error: WarehouseError, key: str) -> Verdict:
    """The verdict on a damaged record (WH307). Raises the error when it is another."""
    if error.code != "WH307":
        raise error
    state = REFUSED if error.exit_code == ExitCode.FAILED else state_of([error])  # of another form than this wh reads
    return Verdict(None, key, None, state, error.message, 0, (error,))
