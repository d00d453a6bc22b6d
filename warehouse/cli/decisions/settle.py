"""`wh settle`."""

from __future__ import annotations

from typing import Annotated

import typer

from warehouse.cli.decisions.decided import Json, Reason, Run, Sign, report, signing_key
from warehouse.errors import ExitCode

PAGE = "docs/decisions.md"
EXAMPLES = ("wh settle recorded_run/01KG8Q3V5T2M4N6P8R0S1W3X5Y/run-04 --bundle ee383eb7 --reason 'the second upload is complete'",)


def command(
    run: Run,
    bundle: Annotated[str, typer.Option(metavar="DIGEST", help="the bundle that is its evidence, by the beginning of its digest")],
    reason: Reason,
    sign: Sign = None,
    as_json: Json = False,
) -> ExitCode:
    from warehouse.claims.numbers.deciding import settle
    from warehouse.project.project import find_project

    event = settle(find_project(), run, bundle, reason, signing_key(sign))
    text = f"bundle {event.detail['bundle'][:12]} is the evidence of {run}. To update the tables: wh build"
    return report(event, text, as_json=as_json)
