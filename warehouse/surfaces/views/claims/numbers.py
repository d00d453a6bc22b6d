"""Finding a number: by its id, its cell, or its value as printed somewhere; without a question, what was published last."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any

from warehouse.analysis.metric_names import MetricNames
from warehouse.claims.numbers.number import parse_argument
from warehouse.claims.numbers.search import FoundCell, find_cells, units_by_cell
from warehouse.claims.publish.corrections import corrected
from warehouse.claims.publish.publication import PublishedRollup, publications
from warehouse.claims.publish.specification import Units, read_specification, units_of
from warehouse.errors import ExitCode, WarehouseError
from warehouse.evidence.ledger.events import Event
from warehouse.evidence.ledger.run_decisions import standing
from warehouse.project.project import Project
from warehouse.surfaces.parts import Choice, Column, Form, Page, Table
from warehouse.surfaces.view import Parameter, View, Visit
from warehouse.surfaces.views.claims.naming import cell_name, named_cell
from warehouse.surfaces.views.claims.publications import publication_events, publication_state
from warehouse.surfaces.views.facts.reading import metric_names_of
from warehouse.transform.export.docs.published_pages import short
from warehouse.transform.project.claim import claim_of

_MOST_HITS = 100
_MOST_QUERIES = 50
_ROWS_OF_EACH, _NUMBERS_OF_EACH = 3, 6
_COLUMNS = (
    Column("name", "what", link="/numbers/{number}", below="path"), Column("called", "metric"),
    Column("value", kind="number", link="/numbers/{number}"), Column("unit"), Column("query", is_minor=True),
    Column("column", is_hidden=True), Column("grain", is_hidden=True), Column("path", is_hidden=True),
    Column("state", kind="state"), Column("published_at", "published", "moment", is_minor=True),
    Column("number", kind="code", link="/numbers/{number}"), Column("publication", kind="code", link="/publications/{publication}", is_hidden=True),
)


def _page(visit: Visit) -> Page:
    question = visit["q"]
    form = Form("search", "/numbers", (Choice("q", "number", question or "", hint="n-…, query[key=value].column, or 8.7k tok/s"),), "Find")
    events = visit.events()
    published = publications(visit.project, events)
    if question:
        found, notices = _hits(visit.project, question, published)
        title = f"Numbers that are {question}"
    else:
        found, notices = list(_last(visit.project, published, events)), ()
        title = "Numbers"
    made, corrections, units = publication_events(events), corrected(events), units_by_cell(visit.project)
    withdrawn = frozenset(standing(events).not_admitted)
    rows, names = [], metric_names_of(visit)
    for each in found[:_MOST_HITS]:
        event = made.get(each.publication.digest) if each.publication else None
        state = publication_state(each.publication, corrections.get(each.publication.digest)) if each.publication else "not published"
        if state == "counts" and not withdrawn.isdisjoint(run["run_id"] for run in each.cell.runs):
            state = "retracted"
        rows.append(_row(each, names, units(each), state, event.at if event else None))
    if question:
        heading, note, empty = "Matches", "", "no number matches"
    else:
        heading, empty = "The last published numbers of each query", "nothing is published yet: wh publish"
        note = "Those that their query claims, if it claims any. A publication leads to all of its numbers."
    table = Table("numbers", _COLUMNS, tuple(rows), heading, note, empty, len(found))
    return Page(title, (form, table), notices=notices, next_steps={"All publications": "/publications"})


def _hits(project: Project, question: str, published: Sequence[PublishedRollup]) -> tuple[list[FoundCell], tuple[str, ...]]:
    """The cells that are meant; where there are none, why. Raises what `find_cells` raises of what is damaged, and WH304 for text that
    cannot be a number."""
    argument = parse_argument(question)
    try:
        return find_cells(project, argument, published), ()
    except WarehouseError as error:
        if error.exit_code != ExitCode.NOT_FOUND:
            raise
        return [], (error.message, *(line.strip() for line in (error.hint or "").splitlines()))


def _last(project: Project, published: Sequence[PublishedRollup], events: Sequence[Event]) -> Iterator[FoundCell]:
    """The first numbers of the last publication of each query that counts: those that it claims, if it claims any."""
    corrections, seen = corrected(events), set[str | None]()
    for publication in published:
        if publication.query in seen or publication.digest in corrections or publication.fault or len(seen) == _MOST_QUERIES:
            continue
        with suppress(WarehouseError):  # a damaged one is listed as such among the publications
            found = _first_numbers(project, publication)
            seen.add(publication.query)
            yield from found


def _first_numbers(project: Project, publication: PublishedRollup) -> list[FoundCell]:
    specification = read_specification(project, publication).document
    claimed = claim_of(specification["document"]["claim"]).numbers
    units = units_of(specification).declared
    found: list[FoundCell] = []
    for row in islice(publication.rows(), _ROWS_OF_EACH):
        cells = [cell for cell in row.cells.values() if cell.number_id and isinstance(cell.value, int | float) and not isinstance(cell.value, bool)]
        cells = [cell for cell in cells if cell.column in claimed] or cells
        cells.sort(key=lambda cell: (not isinstance(cell.value, float), cell.column not in units))
        found += [FoundCell(str(publication.query), row, cell, publication, None) for cell in cells[: _NUMBERS_OF_EACH // _ROWS_OF_EACH]]
    return found


def _row(found: FoundCell, names: MetricNames, units: Units, state: str, at: str | None) -> tuple[Any, ...]:
    grain, name, column = " · ".join(short(value) for value in found.row.grain.values() if value is not None), cell_name(found), found.cell.column
    digest = found.publication.digest if found.publication else None
    called, unit = named_cell(names, units, column, found.row)
    path = None if grain == name else grain  # below the name, where it says more
    return name, called, found.cell.value, unit, found.query, column, grain, path, state, at, found.cell.number_id, digest


VIEWS = (
    View(
        "numbers", "/numbers", "Numbers", "Finds a number by its id, its cell, or its value as printed; without a question the last published ones.",
        _page, (Parameter("q", "A number id, query[key=value,...].column, or a number as printed: 8703, 8.7k, 8702.7 tok/s."),), menu="Numbers",
        needs_build=False, is_costly=True,
    ),
)
