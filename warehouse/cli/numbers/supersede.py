"""`wh supersede`."""

from __future__ import annotations

from typing import Annotated

import typer

from warehouse.cli.decisions.decided import Json, report
from warehouse.cli.numbers.withdraw import Publication, Reason
from warehouse.errors import ExitCode

PAGE = "docs/claims.md"
EXAMPLES = ("wh supersede 3f9c2a7b41de --by 81b0c5d2e6fa --reason 'two runs of a throttled node were in it'",)


def command(
    publication: Publication,
    by: Annotated[str, typer.Option(metavar="PUBLICATION", help="the publication of the same query that counts in its place")],
    reason: Reason,
    as_json: Json = False,
) -> ExitCode:
    """Nothing is deleted: its numbers are verified as retracted from now on, and name the publication that counts."""
    from warehouse.claims.publish.corrections import supersede
    from warehouse.project.project import find_project

    found, event = supersede(find_project(), publication, by, reason)
    return report(event, f"publication {found.digest[:12]} of {found.query} is superseded by {event.detail['by'][:12]}", as_json=as_json)
