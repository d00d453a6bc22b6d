"""`wh verify`: is a number, are all numbers of a publication, still what their raw evidence gives (`claims.verify.auditor`)?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain
from typing import Any

from warehouse.claims.numbers.lineage import lineage_of
from warehouse.claims.numbers.number import parse_argument
from warehouse.claims.numbers.search import FoundCell, current_numbers, find_cell
from warehouse.claims.publish.admissibility import decisions_then, made_with, reads_decisions
from warehouse.claims.publish.completeness import difference, evidence_then
from warehouse.claims.publish.determinism import UNRECORDED, recorded
from warehouse.claims.publish.guarantees import YES
from warehouse.claims.publish.publication import PublishedCell, PublishedRollup, PublishedRow, publications
from warehouse.claims.publish.specification import read_specification
from warehouse.claims.verify.auditor import Auditor, equals
from warehouse.claims.verify.recorded import recorded_specification
from warehouse.claims.verify.retrace import CellRecord
from warehouse.claims.verify.verdict import REFUSED, RETRACTED, STALE, TAMPERED, VERIFIED, Claim, Verdict, state_of
from warehouse.errors import ExitCode, WarehouseError
from warehouse.project import Project


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
        bundles = bundles_of(found.row, found.cell)
    else:
        of_runs = {str(run["artifact_manifest_digest"]) for run in number.runs if "artifact_manifest_digest" in run}
        bundles = frozenset(of_runs | {file.artifact_manifest_digest for file in number.raw_files})
    claim = _claim(found, number.runs, bundles, bool(number.raw_files), number.now is None and not number.is_gone)
    traced = [claim.column] if claim.record else []
    auditor = Auditor(project, specification, traced, found.publication)
    return auditor.verdict(claim, _evidence(found, bundles, auditor))


def _evidence(found: FoundCell, own: frozenset[str], auditor: Auditor) -> Iterator[frozenset[str]]:
    """What a number is replayed from: its own bundles, and where these do not give it those of its row, and of its publication,
    all of whose rows are read for that; and at last all that may have kept a row from being there."""
    yield own
    if found.publication:
        yield found.row.bundles
        yield auditor.published_bundles
        yield from auditor.bundles_then()


def verify_publication(project: Project, publication: PublishedRollup) -> Iterator[Verdict]:
    """Verify every number of a publication: all are replayed together first, then each that this does not give by itself. A damaged
    publication has one verdict. Its rows are read one after another; none is kept."""
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
    auditor = Auditor(project, specification.document, columns, publication)
    together = auditor.published_bundles
    current, states = current_numbers(project, query), set[str]()
    for row in publication.rows():
        for cell in row.cells.values():
            if cell.number_id:
                found = FoundCell(query, row, cell, publication, None)
                claim = _claim(found, cell.runs, bundles_of(row, cell), bool(cell.evidence), cell.number_id in current)
                verdict = auditor.verdict(claim, chain([together, claim.bundles, row.bundles], auditor.bundles_then()))
                states.add(verdict.state)
                yield verdict
    if states <= {VERIFIED, STALE, RETRACTED}:  # else it is found out already
        yield from _incomplete(project, publication, specification.document, auditor, together)


def _incomplete(
    project: Project, publication: PublishedRollup, specification: Mapping[str, Any], auditor: Auditor, together: frozenset[str]
) -> Iterator[Verdict]:
    """A verdict on the publication itself, if it is not all that its query gives: `tampered` where the very evidence that it
    names gives another, `refused` where other evidence that the store had then does. For it may have been made from a build
    before that arrived."""
    grain, then = specification["document"]["contract"]["grain"], evidence_then(project, publication) | together
    named = {decision["sha256"] for decision in made_with(project, publication)}
    if reads_decisions(specification) and named != decisions_then(project, publication):
        # Not tampered: clocks of two machines may have told the times of its making and of a decision.
        yield Verdict(None, publication.digest, None, REFUSED, "it names other decisions on runs than the ledger has before it")

    def differs(bundles: frozenset[str]) -> str | None:
        given = auditor.replayed(bundles, grain)
        return difference(
            publication.rows(), given.rows,
            lambda form, cell: equals(form, cell.form, recorded(publication.record, cell.column, cell.is_exact)) is not None,
        )

    if any(auditor.check(digest) for digest in sorted(then | together)):
        return  # damaged evidence does not tell what is left out; of the numbers that rest on it it is told that it is
    try:
        whole = auditor.replayed(together, grain).retraced if together else None
        is_certain = then <= together or (whole is not None and whole.established.guarantees["G3"]["holds"] == YES)
        if together and is_certain and (found := differs(together)):
            yield Verdict(None, publication.digest, None, TAMPERED, f"the evidence that it names gives {found}")
        elif not then <= together and (found := differs(then)):
            yield Verdict(None, publication.digest, None, REFUSED, f"all the evidence that was there when it was made gives {found}")
    except WarehouseError as error:
        yield Verdict(None, publication.digest, None, REFUSED, f"whether it is all that its query gives: {error.message}", 0, (error,))


def count_numbers(project: Project) -> int:
    """How many numbers `verify_all` verifies, as the records of the publications state; nothing else of them is read."""
    return sum(int(publication.record.get("numbers", 0)) for publication in publications(project))


def verify_all(project: Project) -> Iterator[Verdict]:
    """Verify every number of every publication."""
    for publication in publications(project):
        yield from verify_publication(project, publication)


def _claim(
    found: FoundCell, runs: Iterable[Mapping[str, Any]], bundles: frozenset[str], is_read: bool, is_current: bool
) -> Claim:
    cell, record, determinism = found.cell, None, UNRECORDED
    run_ids = tuple(sorted(str(run["run_id"]) for run in runs))
    if found.publication:
        said = found.publication.record
        determinism = recorded(said, cell.column, cell.is_exact)
        record = CellRecord(
            cell.why_digest, run_ids, list(cell.evidence), said.get("guarantees"),
            {**said.get("columns", {}).get(cell.column, {}), "is_exact": cell.is_exact}, said.get("ties_tried"), said.get("wh"),
        )
    return Claim(
        cell.number_id, found.key, cell.column, found.row.grain_forms, cell.form, run_ids, bundles, is_read, is_current, determinism,
        record,
    )


def bundles_of(row: PublishedRow, cell: PublishedCell) -> frozenset[str]:
    """The bundles of a published cell's why-set: those of its runs, and those that its value was read from. What rests on
    neither, as a constant does and a count of nothing, stands by its row: then those of the row."""
    own = {str(run["artifact_manifest_digest"]) for run in cell.runs if run.get("artifact_manifest_digest")}
    own |= {str(file["artifact_manifest_digest"]) for file in cell.evidence}
    return frozenset(own) or row.bundles


def _damaged(error: WarehouseError, key: str) -> Verdict:
    """The verdict on a damaged record (WH307). Raises the error when it is another."""
    if error.code != "WH307":
        raise error
    state = REFUSED if error.exit_code == ExitCode.FAILED else state_of([error])  # of another form than this wh reads
    return Verdict(None, key, None, state, error.message, 0, (error,))
