"""`wh doctor`."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from warehouse.cli.output import notice, print_json_line, say
from warehouse.errors import ExitCode

PAGE = "docs/store.md"
EXAMPLES = ("wh doctor", "wh doctor --json")


def command(as_json: Annotated[bool, typer.Option("--json", help="print the findings as JSON, one a line")] = False) -> ExitCode:
    from warehouse.evidence.examination import BROKEN, examine
    from warehouse.evidence.objects.location import open_store
    from warehouse.project.project import find_project

    objects = open_store(find_project()).objects
    notice(f"store {objects.url}")
    broken = 0
    for finding in examine(objects):
        broken += finding.state == BROKEN
        if as_json:
            print_json_line(asdict(finding))
        else:
            say(f"{finding.state:8}{finding.promise:32}{finding.detail}", flush=True, state=finding.state)
    return ExitCode.FAILED if broken else ExitCode.OK
