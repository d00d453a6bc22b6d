"""`wh withdraw`."""

from __future__ import annotations

from typing import Annotated

import typer

from warehouse.cli.decisions.decided import Json, report
from warehouse.errors import ExitCode

PAGE = "docs/claims.md"
EXAMPLES = ("wh withdraw 3f9c2a7b41de --reason 'the clock of the load generator was wrong'",)
Publication = Annotated[str, typer.Argument(metavar="PUBLICATION", help="the publication's digest, or how it begins")]
Reason = Annotated[str, typer.Option(metavar="TEXT", help="why: it is shown wherever its numbers are")]


def command(publication: Publication, reason: Reason, as_json: Json = False) -> ExitCode:
    """Nothing is deleted: its numbers are verified as retracted from now on, and every page of them says why."""
    from warehouse.claims.publish.corrections import withdraw
    from warehouse.project.project import find_project

    found, event = withdraw(find_project(), publication, reason)
    return report(event, f"publication {found.digest[:12]} of {found.query} is withdrawn; it stays in the store", as_json=as_json)
