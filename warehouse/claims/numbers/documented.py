"""Publications as the documentation site shows them: read and hashed, not replayed; that is for `wh verify`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from warehouse.claims.gate.worth import PublishedWorth
from warehouse.claims.numbers.current import CurrentNumbers
from warehouse.claims.publish.guarantees import MEANINGS
from warehouse.claims.publish.publication import PublishedCell, PublishedRollup, PublishedRow, publications
from warehouse.claims.publish.signing import publication_event
from warehouse.claims.publish.specification import Units, read_specification, units_of
from warehouse.errors import WarehouseError
from warehouse.evidence.ledger.events import Ledger
from warehouse.evidence.ledger.run_decisions import standing
from warehouse.evidence.objects.location import open_store
from warehouse.project.project import Project
from warehouse.trace.determinism import recorded
from warehouse.transform.export import publication_values as site
from warehouse.transform.project.claim import claim_of

_MOST_ROWS = 1000  # of all publications, the last ones first: a page each


def documented_publications(project: Project) -> tuple[site.Publication, ...]:
    """All publications, the last one first. A damaged one says what is wrong with it."""
    not_admitted = {run: str(decision) for run, decision in standing(Ledger(open_store(project).objects).decisions()).not_admitted.items()}
    found, room = [], _MOST_ROWS
    for publication in publications(project):
        try:
            found.append(_documented(project, publication, not_admitted, room))
        except WarehouseError as error:
            found.append(site.Publication(publication.digest, publication.query, fault=error.message))
        room -= len(found[-1].rows)
    return tuple(found)


def _documented(project: Project, publication: PublishedRollup, not_admitted: Mapping[str, str], room: int) -> site.Publication:
    publication.check()
    specification = read_specification(project, publication)
    units, record, made = units_of(specification.document), publication.record, specification.document["document"]
    columns = [*made["contract"]["grain"], *(name for name, _ in made["columns"])]  # in the order of the query, which a record has not
    current, worth = CurrentNumbers(project, publication), PublishedWorth(publication, claim_of(made["claim"]))
    event, engine, promised = publication_event(project, publication.digest), record["engine"], record["guarantees"]
    return site.Publication(
        publication.digest, publication.query, event.at if event else None, event.by if event else None,
        f"wh {record['wh']}, {engine['name']} {engine['version']}", specification.digest, record["rows"], record["numbers"],
        tuple((name, meaning, promised[name]["established"]) for name, meaning in MEANINGS.items()),
        (*(f"G2: {clause}" for clause in promised["G2"].get("clauses", ())), *promised["clauses"]),
        tuple(_row(row, publication, columns, units, current, not_admitted, worth) for row in islice(publication.rows(), room)),
    )


def _row(
    row: PublishedRow, publication: PublishedRollup, columns: Sequence[str], units: Units, current: CurrentNumbers,
    not_admitted: Mapping[str, str], worth: PublishedWorth,
) -> site.PublishedRow:
    def numbers() -> Iterator[site.PublishedNumber]:
        for cell in cells:
            if cell.number_id:
                runs = tuple(str(run["run_id"]) for run in cell.runs)
                own = worth.of(row, cell)
                against = tuple(f"{each.told}: {each}" for each in own.rules if not each.is_met)
                yield site.PublishedNumber(
                    cell.number_id, cell.column, cell.value, units.of_cell(cell.column, row),
                    str(recorded(publication.record, cell.column, cell.is_exact)), runs, cell.why_digest or "", _files(cell),
                    current.hold(row, cell), tuple(f"{run}: {not_admitted[run]}" for run in runs if run in not_admitted),
                    str(own), against,
                )

    cells = sorted(row.cells.values(), key=lambda cell: columns.index(cell.column))
    grain = {name: row.grain[name] for name in sorted(row.grain, key=columns.index)}
    return site.PublishedRow(grain, tuple(numbers()), tuple(cell.column for cell in cells if not cell.number_id))


def _files(cell: PublishedCell) -> tuple[site.PublishedFile, ...]:
    return tuple(
        site.PublishedFile(
            file["artifact_manifest_digest"], file["raw_path"], file["sha256"], tuple((offset, length) for offset, length in file["ranges"])
        )
        for file in cell.evidence
    )
