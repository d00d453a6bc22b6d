"""`wh retract`."""

from __future__ import annotations

from typing import Annotated

import typer

from warehouse.cli.decisions.decided import Json, Reason, Run, Sign, report, signing_key
from warehouse.errors import ExitCode

PAGE = "docs/decisions.md"
EXAMPLES = (
    "wh retract recorded_run/01KG8Q3V5T2M4N6P8R0S1W3X5Y/run-02 --reason 'the node was throttled'",
    "wh retract recorded_run/01KG8Q3V5T2M4N6P8R0S1W3X5Y/run-02 --superseded-by recorded_run/01KG8Q3V5T2M4N6P8R0S1W3X5Y/run-01"
    " --reason 'repeated on a healthy node'",
)


def command(
    run: Run,
    reason: Reason,
    superseded_by: Annotated[str | None, typer.Option("--superseded-by", metavar="RUN", help="the run that replaces it")] = None,
    sign: Sign = None,
    as_json: Json = False,
) -> ExitCode:
    """Nothing is deleted: the run leaves the rollups at the next build, and numbers published before are verified as retracted."""
    from warehouse.claims.numbers.deciding import retract
    from warehouse.project.project import find_project

    event = retract(find_project(), run, reason, superseded_by, signing_key(sign))
    state = f"superseded by {superseded_by}" if superseded_by else "retracted"
    return report(event, f"{run} is {state}; what was published stays. To update the tables: wh build", as_json=as_json)
