"""`wh note`."""

from __future__ import annotations

from typing import Annotated

import typer

from warehouse.cli.decisions.decided import Json, Run, Sign, report, signing_key
from warehouse.errors import ExitCode

PAGE = "docs/decisions.md"
EXAMPLES = ("wh note recorded_run/01KG8Q3V5T2M4N6P8R0S1W3X5Y/run-01 'first run after the driver update'",)


def command(
    run: Run, text: Annotated[str, typer.Argument(metavar="TEXT", help="the note")], sign: Sign = None, as_json: Json = False
) -> ExitCode:
    from warehouse.claims.numbers.deciding import note
    from warehouse.project.project import find_project

    event = note(find_project(), run, text, signing_key(sign))
    return report(event, f"noted; wh ledger {run} lists all events of the run", as_json=as_json)
