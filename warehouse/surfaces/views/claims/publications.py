"""Publications: which numbers are published, what they are worth, and whether they were withdrawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from warehouse.claims.publish.corrections import corrected
from warehouse.claims.publish.publication import PublishedRollup, publications
from warehouse.evidence.ledger.events import CORRECTION, PUBLICATION, Event
from warehouse.surfaces.parts import Choice, Column, Form, Page, Table
from warehouse.surfaces.view import OFFSET, Parameter, View, Visit, address

_PAGE = 50
_COLUMNS = (
    Column("published_at", "published", "moment"), Column("query", link="/publications/{publication}"), Column("state", kind="state"),
    Column("rows", kind="number"), Column("numbers", kind="number"), Column("verdicts", "what its numbers are worth"), Column("by", is_minor=True),
    Column("reason", "what became of it"), Column("publication", kind="code", link="/publications/{publication}", is_minor=True),
)


def publication_events(events: Sequence[Event]) -> dict[str, Event]:
    """The first event of each publication, by its digest."""
    found: dict[str, Event] = {}
    for event in events:
        if event.kind == PUBLICATION:
            found.setdefault(event.subject, event)
    return found


def publication_state(publication: PublishedRollup, correction: Event | None) -> str:
    """Whether a publication counts, in a word."""
    if publication.fault:
        return "damaged"
    return "counts" if correction is None else "superseded" if correction.kind == CORRECTION else "withdrawn"


def verdicts_text(record: Mapping[str, Any]) -> str | None:
    """How many of its claimed numbers have which verdict; None where it claims none."""
    return ", ".join(f"{count:,} {verdict}" for verdict, count in record.get("verdicts", {}).items()) or None


def _list(visit: Visit) -> Page:
    events, query, offset = visit.events(), visit["query"], visit["offset"]
    made, corrections = publication_events(events), corrected(events)
    found = [each for each in publications(visit.project, events) if query in (None, each.query)]
    rows = tuple(_row(each, made.get(each.digest), corrections.get(each.digest)) for each in found[offset : offset + _PAGE])
    more = address("/publications", query=query, offset=offset + _PAGE) if offset + _PAGE < len(found) else None
    queries = sorted({str(event.detail["query"]) for event in made.values() if "query" in event.detail})
    return Page("Publications", (
        Form("filter", "/publications", (Choice("query", value=query or "", choices=("", *queries)),)),
        Table("publications", _COLUMNS, rows, empty="nothing is published yet: wh publish", total=len(found), more=more),
    ), next_steps={"Numbers": "/numbers", "Results that can be published": "/results"})


def _row(publication: PublishedRollup, event: Event | None, correction: Event | None) -> tuple[Any, ...]:
    record = publication.record
    became = publication.fault.message if publication.fault else _became(correction) if correction else None
    verdicts = verdicts_text(record)
    if "published_as" in record:
        verdicts = f"{verdicts or 'none claimed'}; published as {record['published_as']}"
    return (
        event.at if event else None, publication.query, publication_state(publication, correction), record.get("rows"), record.get("numbers"),
        verdicts, event.by if event else None, became, publication.digest,
    )


def _became(correction: Event) -> str:
    by = f"superseded by {str(correction.detail.get('by'))[:12]}" if correction.kind == CORRECTION else "withdrawn"
    return f"{by} {correction.at[:10]}: {correction.detail.get('reason')}"


VIEWS = (
    View(
        "publications", "/publications", "Publications", "All publications, the last one first.", _list,
        (Parameter("query", "Only those of this query."), OFFSET), menu="Publications", is_further=True,
        needs_build=False,
    ),
)
