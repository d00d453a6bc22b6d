"""The lineage of one number: its row, its query and models, its runs, its raw bytes.

For a published number the record is the publication's own, frozen when it was made. For a number that was only built
the same trace is made now, in the build that holds it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from warehouse.claims.gate.worth import PublishedWorth, Worth
from warehouse.claims.numbers.current import is_same
from warehouse.claims.numbers.search import FoundCell, asked_number, current_cell, find_cell, units_by_cell
from warehouse.claims.publish.corrections import corrected
from warehouse.claims.publish.publication import publications
from warehouse.claims.publish.signing import Signings, check_number_signatures, publication_event
from warehouse.claims.publish.specification import read_specification
from warehouse.evidence.ledger.arrivals import origins
from warehouse.evidence.ledger.events import Event
from warehouse.evidence.ledger.reading import ReadLedger
from warehouse.evidence.ledger.removal import removed_bundles
from warehouse.evidence.ledger.run_decisions import Decision, standing
from warehouse.evidence.listing import Listing
from warehouse.evidence.objects.location import open_store
from warehouse.evidence.store import proof_key
from warehouse.evidence.tree import Origin
from warehouse.project.project import Project
from warehouse.trace.determinism import Determinism, recorded
from warehouse.transform.project.claim import claim_of


@dataclass(frozen=True)
class RawFile:
    """A raw file that the value was read from: where it is, which byte ranges (offset, length), its sha256, and the archive that it was
    unpacked from."""

    artifact_manifest_digest: str
    raw_path: str
    uri: str
    sha256: str
    ranges: tuple[tuple[int, int], ...]
    origin: Origin | None = None


@dataclass(frozen=True)
class Lineage:
    """The four steps of a number. `publication` is None for a number that was not published, and then so are the digest of its
    why-set, its guarantees (`claims.publish.guarantees`) and how exactly its evidence gives it; `now` is what the cell holds in the
    current build when that is another number, `is_gone` that it holds none."""

    number_id: str | None
    query: str
    column: str
    value: Any
    grain: Mapping[str, Any]
    key: str
    publication: str | None
    query_spec_digest: str
    models: tuple[tuple[str, str], ...]
    runs: tuple[Mapping[str, Any], ...]
    raw_files: tuple[RawFile, ...]
    now: tuple[str | None, Any] | None
    is_gone: bool
    why_digest: str | None = None
    guarantees: Mapping[str, Any] | None = None
    determinism: Determinism | None = None
    signings: Signings | None = None  # of its bundles and its publication, checked now
    removals: Mapping[str, Event] = field(default_factory=dict)  # of bundles that policy removed: the ledger's words
    decisions: Mapping[str, Decision] = field(default_factory=dict)  # on those of its runs that are not admitted now
    settlements: Mapping[str, Decision] = field(default_factory=dict)  # on those of its runs whose evidence was settled
    unit: str | None = None  # that its column declares, or else its row states
    description: str | None = None  # of its column, in the current build
    published: Event | None = None  # when, by whom and where it was published: the ledger's event
    software: Mapping[str, str] = field(default_factory=dict)  # what published or built it: `wh`, and the engine
    worth: Worth | None = None  # of a published number
    is_provisional: bool = False  # its publication holds numbers that the policy does not let pass
    correction: Event | None = None  # by which its publication was withdrawn or superseded


def lineage(project: Project, argument: str) -> Lineage:
    """The lineage of what a person typed: a number id, `query[key=value,...].column`, or a number as printed. Raises
    WH304 (no such number), WH305 (several), WH306 (its SQL cannot be traced), WH307 (its publication is damaged)."""
    from warehouse.transform.finished.builds import find_current
    from warehouse.transform.finished.query import kept_open

    ledger = Listing(open_store(project), project.builds)
    with kept_open(find_current(project)):
        return _lineage_of(project, find_cell(project, asked_number(project, argument), publications(project, ledger.of_publications())), ledger)


def lineage_of(project: Project, found: FoundCell, events: Iterable[Event] | None = None) -> Lineage:
    """The lineage of a cell that was found, in a publication that was checked then. `events` are the ledger's, where the caller has read
    them. Raises WH306, WH307."""
    store = open_store(project)
    return _lineage_of(project, found, Listing(store, project.builds) if events is None else ReadLedger(store.objects, tuple(events)))


def _lineage_of(project: Project, found: FoundCell, ledger: Listing | ReadLedger) -> Lineage:
    return _of_published(project, found, ledger) if found.publication else _of_built(project, found, ledger)


def _of_published(project: Project, found: FoundCell, ledger: Listing | ReadLedger) -> Lineage:
    publication = found.publication
    assert publication
    digest, events = publication.digest, ledger.of_publications()
    published = publication_event(project, digest, events) or publication_event(project, digest, ledger.events())
    specification = read_specification(project, publication)
    specification.check_number(found.row, found.cell)
    now = current_cell(project, found.query, found.row.grain, found.cell.column)
    is_other = now is not None and not is_same(publication, found.cell, now.cell)
    number = _lineage(
        project, found, publication.digest, specification.digest, list(specification.models), found.cell.runs, found.cell.evidence,
        (now.cell.number_id, now.cell.value) if now and is_other else None, now is None, published, ledger,
    )
    engine = publication.record.get("engine", {})
    return replace(
        number, published=published,
        worth=PublishedWorth(publication, claim_of(specification.document["document"]["claim"]), found.row).of(found.row, found.cell),
        is_provisional="published_as" in publication.record, correction=corrected(events).get(publication.digest),
        software={"wh": str(publication.record.get("wh")), "engine": f"{engine.get('name')} {engine.get('version')}"},
    )


def _of_built(project: Project, found: FoundCell, ledger: Listing | ReadLedger) -> Lineage:
    from warehouse.claims.publish.freezing import Facts
    from warehouse.trace.catalog import open_trace_session
    from warehouse.trace.tracing import trace
    from warehouse.transform.finished.builds import current_build

    assert found.rowid is not None
    con, catalog = open_trace_session(current_build(project), project.store_root, is_of_cell=True)
    try:
        traced = trace(con, catalog, found.query, [found.cell.column], [found.rowid])
        facts, row = Facts(con, catalog, traced), traced.row(found.rowid)
        runs = facts.runs_of(row.runs_of(found.cell.column))
        evidence = tuple(facts.evidence(row, found.cell.column))
    finally:
        con.close()
    spec = catalog.models[f"rollup.{found.query}"]
    models = [(model.qualified, model.digest) for model in catalog.under(spec.qualified)]
    return _lineage(project, found, None, spec.digest, models, runs, evidence, None, False, None, ledger)


def _lineage(
    project: Project,
    found: FoundCell,
    publication: str | None,
    query_spec_digest: str,
    models: list[tuple[str, str]],
    runs: tuple[Mapping[str, Any], ...],
    evidence: tuple[Mapping[str, Any], ...],
    now: tuple[str | None, Any] | None,
    is_gone: bool,
    published: Event | None,
    ledger: Listing | ReadLedger,
) -> Lineage:
    store = open_store(project)
    read_from = {str(file["artifact_manifest_digest"]) for file in evidence}
    unpacked = origins(ledger.of_bundles(read_from), read_from)
    raw_files = tuple(
        RawFile(
            file["artifact_manifest_digest"], file["raw_path"],
            store.objects.uri(proof_key(file["artifact_manifest_digest"], file["raw_path"], file["sha256"])), file["sha256"],
            tuple((offset, length) for offset, length in file["ranges"]), unpacked.get((file["artifact_manifest_digest"], file["raw_path"])),
        )
        for file in evidence
    )
    bundles = {str(run["artifact_manifest_digest"]) for run in runs if run.get("artifact_manifest_digest")}
    bundles |= {file.artifact_manifest_digest for file in raw_files}
    promised = found.publication.record["guarantees"] if found.publication else None
    return Lineage(
        found.cell.number_id, found.query, found.cell.column, found.cell.value, found.row.grain, found.key, publication,
        query_spec_digest, tuple(models), runs, raw_files, now, is_gone, found.cell.why_digest, promised,
        recorded(found.publication.record, found.cell.column, found.cell.is_exact) if found.publication else None,
        check_number_signatures(project, bundles, found.publication, published), removed_bundles(store, bundles),
        *_decisions(ledger, runs), units_by_cell(project)(found).of_cell(found.cell.column, found.row), _description(project, found),
    )


def _description(project: Project, found: FoundCell) -> str | None:
    """What the current build's query says of a cell's column; None where it says nothing."""
    from warehouse.transform.finished.builds import find_current
    from warehouse.transform.finished.query import open_build
    from warehouse.transform.project.header import read_header

    if (build := find_current(project)) is None:
        return None
    con = open_build(build.path)
    try:
        texts = con.execute("select sql from catalog.model where schema_name = 'rollup' and name = ?", [found.query]).fetchall()
    finally:
        con.close()
    declared = read_header(texts[0][0], found.query).mapping("columns").get(found.cell.column, {}) if texts else {}
    return declared.get("description")


def _decisions(ledger: Listing | ReadLedger, runs: tuple[Mapping[str, Any], ...]) -> tuple[dict[str, Decision], dict[str, Decision]]:
    """The decisions in force now on some runs, and on their evidence. An event that cannot be read is for `wh ledger` to
    tell of."""
    now = standing(ledger.decisions())
    run_ids = {str(run["run_id"]) for run in runs}
    not_admitted, settled = ({run: on[run] for run in sorted(run_ids & on.keys())} for on in (now.not_admitted, now.settled))
    return not_admitted, settled
