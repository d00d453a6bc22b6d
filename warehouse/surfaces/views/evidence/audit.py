"""The audit log: what was done, when, by whom and to what, as the ledger has it."""

from __future__ import annotations

from typing import Any

from warehouse.errors import counted
from warehouse.evidence.ledger.events import ARRIVAL, CORRECTION, PUBLICATION, REMOVAL, WITHDRAWAL, Event, Ledger
from warehouse.evidence.ledger.run_decisions import is_of_run
from warehouse.evidence.objects.location import open_store
from warehouse.surfaces.parts import Choice, Column, Form, Page, Table
from warehouse.surfaces.view import OFFSET, Parameter, View, Visit, address
from warehouse.surfaces.views.evidence.bundles import detail_text, detail_words

_EVENTS = 100  # a page
_COLUMNS = (
    Column("at", kind="moment"), Column("kind", link="/audit?kind={kind}"), Column("subject", kind="code", link="{place:path}"), Column("by"),
    Column("said", "detail"), Column("key", "event", "code", is_minor=True), Column("place", is_hidden=True), Column("detail", is_hidden=True),
)


def _page(visit: Visit) -> Page:
    events, kind, subject, offset = visit.events(), visit["kind"], visit["subject"], visit["offset"]
    found = [event for event in reversed(events) if kind in (None, event.kind) and (subject is None or event.subject.startswith(subject))]
    more = address("/audit", kind=kind, subject=subject, offset=offset + _EVENTS) if offset + _EVENTS < len(found) else None
    unread = len(Ledger(open_store(visit.project).objects).keys()) - len(events)
    notices = (f"{counted(unread, 'event')} cannot be read or differ from the digest in their name: run wh fsck.",) if unread > 0 else ()
    kinds = ("", *sorted({event.kind for event in events}))
    return Page("Audit log", (
        Form("filter", "/audit", (
            Choice("kind", value=kind or "", choices=kinds), Choice("subject", value=subject or "", hint="a digest or a run, or how it begins"),
        )),
        Table(
            "events", _COLUMNS, tuple(_row(event) for event in found[offset : offset + _EVENTS]), "Events",
            "The last one first. Each event names those that it follows, and its name has its own digest.", "no event", len(found), more,
        ),
    ), notices=notices, next_steps={"Publications": "/publications", "Evidence": "/evidence"})


def _row(event: Event) -> tuple[Any, ...]:
    return event.at, event.kind, event.subject, event.by, detail_words(event), event.key, _place(event), detail_text(event)


def _place(event: Event) -> str | None:
    """Where the subject of an event is shown, if anywhere."""
    if is_of_run(event):
        return f"/runs/{event.subject}"
    if event.kind in (ARRIVAL, REMOVAL):
        return f"/evidence/{event.subject}"
    return f"/publications/{event.subject}" if event.kind in (PUBLICATION, WITHDRAWAL, CORRECTION) else None


VIEWS = (
    View(
        "audit", "/audit", "Audit log", "What was done to the warehouse, when, by whom and to what: the events of the ledger, the last one first.",
        _page,
        (Parameter("kind", "Only events of this kind."), Parameter("subject", "Only events whose subject begins so: a digest, or a run."), OFFSET),
        menu="Audit log", is_further=True, needs_build=False,
    ),
)
