"""`wh note`."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

import typer

from warehouse.cli.decisions.decided import Json, Sign, report, signing_key
from warehouse.errors import ExitCode, printable

PAGE = "docs/decisions.md"
EXAMPLES = (
    "wh note recorded_run/01KG8Q3V5T2M4N6P8R0S1W3X5Y/run-01 'first run after the driver update'",
    "wh note node-1 'driver updated' --at 2026-01-30",
)


def command(
    subject: Annotated[
        str, typer.Argument(metavar="RUN|PLACE", help="a run_id; or a cluster, a node, or the key of a testbed or a series, which --at belongs to")
    ],
    text: Annotated[str, typer.Argument(metavar="TEXT", help="the note")],
    at: Annotated[
        str | None, typer.Option(metavar="TIME", help="when it happened, for a place: a date or time (UTC without a zone), or 2d for two days ago")
    ] = None,
    sign: Sign = None,
    as_json: Json = False,
) -> ExitCode:
    """A note on a cluster, testbed, node or series has a date, and is shown on its trends and on events near it. A note decides nothing."""
    from warehouse.analysis.events.annotations import annotate, place_of
    from warehouse.analysis.times import parse_since
    from warehouse.claims.numbers.deciding import note
    from warehouse.project.project import find_project

    project, now = find_project(), datetime.now(UTC)
    if at is None and place_of(project, subject) is None:
        event = note(project, subject, text, signing_key(sign))
        return report(event, f"noted; wh ledger {subject} lists all events of the run", as_json=as_json)
    event = annotate(project, subject, text, parse_since(at, now) if at else now, signing_key(sign))
    return report(event, printable(f"noted on the {event.detail['of']} {event.subject}: shown on its trends, and on events near it"), as_json=as_json)
