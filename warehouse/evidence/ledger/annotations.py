"""Notes that are of a time and a place: of a cluster, a testbed, a node or a series, not of one run. Ledger events, which decide nothing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from warehouse.evidence.ledger.events import Event

ANNOTATION = "annotation"  # the kind of the event; its subject is what it is of
PLACES = ("cluster", "testbed", "node", "series")


@dataclass(frozen=True)
class Annotation:
    """What was said of a `subject` of a kind (of `PLACES`), and from when it holds."""

    subject: str
    place: str
    at: datetime
    text: str
    event: Event

    def __str__(self) -> str:
        return f"{self.at:%Y-%m-%d}: {self.text}"


def dated_notes(events: Iterable[Event]) -> tuple[Annotation, ...]:
    """The annotations among events, the earliest time first; not an event that states no place or no time with a zone."""
    found = []
    for event in events:
        if event.kind == ANNOTATION and event.detail.get("of") in PLACES:
            try:
                at = datetime.fromisoformat(str(event.detail.get("at")))
            except ValueError:
                continue
            if at.tzinfo:
                found.append(Annotation(event.subject, str(event.detail["of"]), at, str(event.detail.get("reason", "")), event))
    return tuple(sorted(found, key=lambda each: (each.at, each.event.key)))
