"""What the publications of a query hold in one cell: its number over time, and what became of each of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from warehouse.claims.numbers.search import FoundCell, published_cell
from warehouse.claims.publish.corrections import corrected
from warehouse.claims.publish.publication import PublishedRollup
from warehouse.errors import WarehouseError
from warehouse.evidence.ledger.events import PUBLICATION, Event


@dataclass(frozen=True)
class PublishedNumber:
    """What one publication holds in the cell: `number_id` and `value`, both None where it has no such row or no value. `event` is the
    ledger's of its publication, `correction` that by which it was withdrawn or superseded; `fault`: it is damaged, and so nobody knows what
    it holds."""

    publication: str
    number_id: str | None
    value: Any
    event: Event | None
    correction: Event | None
    fault: str | None = None


def cell_history(
    published: Sequence[PublishedRollup], events: Sequence[Event], found: FoundCell, most: int
) -> list[PublishedNumber]:
    """The `most` last publications of a cell's query with what they hold in that cell, the last one first. `events` are those of the
    ledger."""
    made: dict[str, Event] = {}
    for event in events:
        if event.kind == PUBLICATION:
            made.setdefault(event.subject, event)
    corrections, history = corrected(events), []
    for publication in islice((each for each in published if each.query == found.query), most):
        number_id = value = fault = None
        try:
            is_own = found.publication is not None and publication.digest == found.publication.digest  # which was read and checked already
            if cell := found if is_own else published_cell([publication], found):
                number_id, value = cell.cell.number_id, cell.cell.value
        except WarehouseError as error:
            fault = error.message
        history.append(
            PublishedNumber(publication.digest, number_id, value, made.get(publication.digest), corrections.get(publication.digest), fault)
        )
    return history
