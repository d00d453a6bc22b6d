"""`wh reinstate`."""

from __future__ import annotations

from warehouse.cli.decisions.decided import Json, Reason, Run, Sign, report, signing_key
from warehouse.errors import ExitCode

PAGE = "docs/decisions.md"
EXAMPLES = ("wh reinstate recorded_run/01KG8Q3V5T2M4N6P8R0S1W3X5Y/run-03 --reason 'the node was healthy after all'",)


def command(run: Run, reason: Reason, sign: Sign = None, as_json: Json = False) -> ExitCode:
    from warehouse.claims.numbers.deciding import reinstate
    from warehouse.project.project import find_project

    event = reinstate(find_project(), run, reason, signing_key(sign))
    return report(event, f"{run} is admitted again. To update the tables: wh build", as_json=as_json)
