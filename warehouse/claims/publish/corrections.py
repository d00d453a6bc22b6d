"""Corrections of publications: withdrawn, or superseded by another one, each with a reason. They are events of the ledger; what was
published stays where it is, and says so from then on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from warehouse.claims.publish.publication import PublishedRollup, publication_with
from warehouse.errors import WarehouseError, printable
from warehouse.evidence.ledger.events import CORRECTION, WITHDRAWAL, Event, Ledger
from warehouse.evidence.objects.location import open_store
from warehouse.project.project import Project


def withdraw(project: Project, publication: str, reason: str) -> tuple[PublishedRollup, Event]:
    """Record that a publication, by its digest or how that begins, does not count any more. Raises WH304, WH305, WH318, WH109."""
    found = _correctable(project, publication, reason)
    return found, Ledger(open_store(project).objects).corrected(found.digest, reason.strip())


def supersede(project: Project, publication: str, by: str, reason: str) -> tuple[PublishedRollup, Event]:
    """Record that another publication of the same query counts in place of one. Raises WH304, WH305, WH318, WH109."""
    found, other = _correctable(project, publication, reason), publication_with(project, by)
    if other.digest == found.digest:
        raise WarehouseError("WH318", "a publication does not supersede itself", found.digest[:12])
    if other.query != found.query:
        raise WarehouseError("WH318", f"it is of {found.query}, and {other.digest[:12]} of {other.query}", found.digest[:12])
    if standing := corrections(project).get(other.digest):
        raise WarehouseError("WH318", f"{other.digest[:12]} does not count itself: {correction_text(standing)}", found.digest[:12])
    return found, Ledger(open_store(project).objects).corrected(found.digest, reason.strip(), other.digest)


def corrections(project: Project) -> Mapping[str, Event]:
    """The correction of every publication that does not count any more, by its digest."""
    return corrected(Ledger(open_store(project).objects).events())


def corrected(events: Iterable[Event]) -> dict[str, Event]:
    """Likewise, of some events, the oldest first."""
    return {event.subject: event for event in events if event.kind in (WITHDRAWAL, CORRECTION)}


def correction_text(event: Event) -> str:
    """A correction in words."""
    what = f"superseded by {str(event.detail.get('by'))[:12]}" if event.kind == CORRECTION else "withdrawn"
    return printable(f"{what} on {event.at} by {event.by}: {event.detail.get('reason')}")


def _correctable(project: Project, publication: str, reason: str) -> PublishedRollup:
    found = publication_with(project, publication.removeprefix("sha256:"))
    if not reason.strip():
        raise WarehouseError("WH318", "a correction needs a reason", found.digest[:12], "--reason 'the clock of the load generator was wrong'")
    if standing := corrections(project).get(found.digest):
        raise WarehouseError("WH318", f"it was {correction_text(standing)}", found.digest[:12])
    return found
