"""One publication: its rows, whose numbers lead to their pages, and what was established when it was made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import islice

from warehouse.analysis.metric_names import MetricNames
from warehouse.claims.gate.frozen import judged_rows, published_policy
from warehouse.claims.gate.policy import VERDICTS
from warehouse.claims.publish.corrections import corrected, correction_text
from warehouse.claims.publish.guarantees import MEANINGS
from warehouse.claims.publish.publication import PublishedRollup, PublishedRow, publication_with
from warehouse.claims.publish.signing import check_publication_signatures, publication_event
from warehouse.claims.publish.specification import Specification, Units, read_specification, units_of
from warehouse.digest import canonical_json
from warehouse.errors import WarehouseError, counted, printable
from warehouse.surfaces.doors import column_of
from warehouse.surfaces.parts import Column, Fact, Facts, Page, Part, Table, Text
from warehouse.surfaces.view import OFFSET, Parameter, View, Visit, address
from warehouse.surfaces.views.claims.naming import grain_facts, named_cell, row_name
from warehouse.surfaces.views.claims.publications import publication_state, verdicts_text
from warehouse.surfaces.views.facts.reading import metric_names_of
from warehouse.surfaces.views.results.facets import heading, named_column, title
from warehouse.transform.export.docs.published_pages import is_digest, short

_PATH = "/publications/{publication}"
_ROWS = 30  # a page
_MEASURES = 8  # beside the grain; the page of a row has all
_UNFOLDED = 5  # lines of clauses
_NUMBER, _UNIT = "__number", "__unit"  # after a column's name: the columns of its number ids and units

Verdicts = Mapping[bytes, Mapping[str, str]]


def _page(visit: Visit) -> Page:
    events = visit.events()
    publication = publication_with(visit.project, visit["publication"].removeprefix("sha256:"), events)
    correction, event = corrected(events).get(publication.digest), publication_event(visit.project, publication.digest, events)
    try:
        publication.check()
        specification = read_specification(visit.project, publication)
        parts = list(_parts(visit, publication, specification))
        fault = None
    except WarehouseError as error:
        parts, fault = [], error
    about = [
        Fact("published", event.at if event else None, kind="moment", note=f"by {printable(event.by)}" if event else ""),
        Fact("publication", publication.digest, kind="code"), Fact("rows", publication.record.get("rows"), kind="number"),
        Fact("numbers", publication.record.get("numbers"), kind="number", note=verdicts_text(publication.record) or "none is claimed"),
        Fact("signature", check_publication_signatures(visit.project, publication).state if publication.record else None, kind="state"),
    ]
    state = "damaged" if fault else publication_state(publication, correction)
    published_as = [f"published as {publication.record['published_as']}"] if "published_as" in publication.record else []
    notices = ([f"It was {correction_text(correction)}."] if correction else []) + ([f"It is damaged: {fault.message}."] if fault else [])
    return Page(
        title(publication.query) if publication.query else f"Publication {publication.digest[:12]}", (Facts("about", tuple(about)), *parts),
        " · ".join(filter(None, (publication.query, f"publication {publication.digest[:12]}"))), (state, *published_as), tuple(notices),
        (("Publications", "/publications"),),
        {"Other publications of the query": address("/publications", query=publication.query)} if publication.query else {},
    )


def _parts(visit: Visit, publication: PublishedRollup, specification: Specification) -> Iterator[Part]:
    made, units = specification.document["document"], units_of(specification.document)
    grain, names = list(made["contract"]["grain"]), metric_names_of(visit)
    values = [name for name, _ in made["columns"] if name not in grain]
    verdicts = _verdicts(publication)
    if visit["row"] is not None:
        yield from _row_numbers(visit["row"], publication, [*grain, *values], units, verdicts, names)
    yield _rows(visit["offset"], publication, grain, values, units, verdicts, names)
    counts = publication.record.get("verdicts", {})
    policy = published_policy(publication)
    yield Table(
        "verdicts", (Column("verdict", kind="state"), Column("numbers", kind="number")), tuple(counts.items()), "What its numbers are worth",
        f"By policy {policy}: {policy.description}" if policy else "It was published without a policy.", "its query claims nothing of its numbers",
    )
    promised = publication.record["guarantees"]
    yield Facts("guarantees", tuple(Fact(name, promised[name]["established"], note=words) for name, words in MEANINGS.items()), "What is guaranteed")
    if clauses := [*promised["G2"].get("clauses", ()), *promised["clauses"]]:
        words = "Clauses for which a guarantee is not established"
        yield Text("clauses", "\n".join(map(str, clauses)), "raw", words, is_folded=len(clauses) > _UNFOLDED)
    if left_out := promised.get("left_out", {}).get("rows"):
        words = "Rows that break a test, which are left out of its tables"
        yield Text("left_out", "\n".join(map(str, left_out)), "raw", words, is_folded=len(left_out) > _UNFOLDED)
    engine = publication.record["engine"]
    yield Facts("made_with", (
        Fact("wh", publication.record["wh"]), Fact("engine", f"{engine['name']} {engine['version']}"),
        Fact("query", publication.query, link=address("/catalogue/{table}", table=f"rollup.{publication.query}")),
        Fact("query_spec_digest", specification.digest, kind="code", note=f"over {counted(len(specification.models), 'model')}"),
    ), "Made with")
    yield Table(
        "files", (Column("file"), Column("sha256", kind="code")), tuple(publication.record["sha256"].items()), "Its files",
        "Each was hashed now and is whole.", is_folded=True,
    )


def _verdicts(publication: PublishedRollup) -> Verdicts:
    """The verdict on each claimed number, by the exact forms of its row's grain and its column."""
    return {
        canonical_json(dict(row.grain)): {name: str(cell["verdict"]) for name, cell in row.cells.items()} for row in judged_rows(publication)
    }


def _verdict(row: PublishedRow, verdicts: Verdicts) -> Mapping[str, str]:
    return verdicts.get(canonical_json(dict(row.grain_forms)), {})


def _rows(
    offset: int, publication: PublishedRollup, grain: Sequence[str], values: Sequence[str], units: Units, verdicts: Verdicts,
    names: MetricNames,
) -> Table:
    """A page of rows: the grain, and those columns that have a unit, or are claimed, first."""
    found = list(islice(publication.rows(first=offset), _ROWS))
    claimed = {name for cells in verdicts.values() for name in cells}
    kinds = {name: {type(row.cells[name].value) for row in found if name in row.cells} for name in values}
    numeric = [name for name in values if kinds[name] & {int, float, Decimal}]
    # What is claimed, then what was measured, then settings and counts.
    measures = sorted(numeric, key=lambda name: (name not in claimed, float not in kinds[name], name not in units.declared))[:_MEASURES]
    columns = [Column("name", "row", link=f"{_PATH}?row={{row}}&offset={{offset}}", below="run_id" if "run_id" in grain else None)]
    # What all of these rows share is said once, above them.
    same = {name for name in grain if len(found) > 1 and len({str(row.grain[name]) for row in found}) == 1}
    for name in grain:
        is_hidden = name == "run_id" or name in same or all(is_digest(row.grain[name]) for row in found if row.grain[name] is not None)
        unit = units.declared.get(name)
        columns.append(replace(column_of(name, unit, False), title=heading(name, unit), is_hidden=is_hidden))
    columns += [Column("verdict", "worst verdict", "state")] if claimed else []
    cells: list[str] = []  # of a row: what is measured, and where rows have several units also the unit
    for name in measures:
        of_rows = [named_cell(names, units, name, row) for row in found]
        called, unit = of_rows[0] if len(set(of_rows)) == 1 else named_column(names, name, None)
        columns.append(Column(name, called, "number", unit, f"/numbers/{{{name}{_NUMBER}}}", note=names.definition(name) or ""))
        columns += [Column(f"{name}{_UNIT}", "unit")] if len(set(of_rows)) > 1 else []
        cells += [name, f"{name}{_UNIT}"] if len(set(of_rows)) > 1 else [name]
    columns += [Column(f"{name}{_NUMBER}", kind="code", is_hidden=True) for name in measures]
    columns += [Column(name, is_hidden=True) for name in ("row", "publication", "offset")]
    rows = []
    for place, row in enumerate(found, offset):
        told = _verdict(row, verdicts)
        worst = [max(told.values(), key=lambda word: VERDICTS.index(word) if word in VERDICTS else -1, default=None)] if claimed else []
        values_of = {name: cell.value for name, cell in row.cells.items()}
        values_of |= {f"{name}{_UNIT}": named_cell(names, units, name, row)[1] for name in measures}
        ids = (row.cells[name].number_id if name in row.cells else None for name in measures)
        rows.append((
            row_name(row), *(row.grain[name] for name in grain), *worst, *map(values_of.get, cells), *ids, place, publication.digest, offset,
        ))
    total = int(publication.record["rows"])
    more = address(_PATH, publication=publication.digest, offset=offset + _ROWS) if offset + _ROWS < total else None
    left_out = len(values) - len(measures)
    shared = [f"{heading(name)} {short(found[0].grain[name])}" for name in grain if name in same and not is_digest(found[0].grain[name])]
    note = " ".join([
        *([f"All of {', '.join(shared)}."] if shared else []),
        *([f"{counted(left_out, 'more column')}: a row leads to all of them."] if left_out else []),
    ])
    return Table("rows", tuple(columns), tuple(rows), "Rows", note, total=total, more=more)


def _row_numbers(
    place: int, publication: PublishedRollup, order: Sequence[str], units: Units, verdicts: Verdicts, names: MetricNames
) -> Iterator[Part]:
    """Every number of one row."""
    for row in islice(publication.rows(first=place), 1):
        told = _verdict(row, verdicts)
        # What is claimed, then what was measured, then what is stated, in the order of the query.
        cells = sorted(row.cells.values(), key=lambda cell: (
            cell.column not in told, cell.value is None, type(cell.value) not in (int, float, Decimal), order.index(cell.column)
        ))
        yield Facts("grain", grain_facts({name: row.grain[name] for name in sorted(row.grain, key=order.index)}), row_name(row))
        yield Table(
            "numbers",
            (
                Column("called", "what"), Column("value", kind="number", link="/numbers/{number}"), Column("unit"), Column("verdict", kind="state"),
                Column("runs", kind="number"), Column("number", kind="code", link="/numbers/{number}"), Column("column", is_hidden=True),
            ),
            tuple(
                (
                    called, cell.value, unit, told.get(cell.column, "not claimed"), len(cell.runs), cell.number_id, cell.column,
                )
                for cell in cells for called, unit in [named_cell(names, units, cell.column, row)]
            ),
            "Its numbers",
        )


VIEWS = (
    View(
        "publication", _PATH, "Publication", "One publication: its rows, with the id of each number, and what was established when it was made.",
        _page,
        (
            Parameter("publication", "The publication's digest, or how that begins."), OFFSET,
            Parameter("row", "The place of a row, from 0: all of its numbers are shown too.", int, bounds=(0, 1_000_000_000)),
        ),
        needs_build=False,
    ),
)

