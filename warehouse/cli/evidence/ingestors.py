"""`wh ingestors`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from warehouse.cli.output import SCREEN, is_on_terminal, is_verbose, notice, print_json, say, table_of_first
from warehouse.errors import ExitCode

PAGE = "docs/ingestors.md"
EXAMPLES = ("wh ingestors", "wh ingestors --json")


def command(as_json: Annotated[bool, typer.Option("--json", help="print the ingestors as JSON")] = False) -> ExitCode:
    from warehouse.landing.registry import find_ingestors
    from warehouse.project.project import find_project

    ingestors: list[dict[str, Any]] = [
        {
            "name": name,
            "version": found.ingestor.version,
            # Those of users may be older than the attribute.
            "formats": list(getattr(found.ingestor, "formats", ())),
            "tables": list(found.ingestor.tables),
            "origin": found.source.origin,
            "place": found.source.place,
        }
        for name, found in sorted(find_ingestors(find_project()).items())
    ]
    if as_json:
        print_json(ingestors)
        return ExitCode.OK
    if is_on_terminal() and not is_verbose():
        rows = [[f"{each['name']} {each['version']}", each["origin"], "; ".join(each["formats"])] for each in ingestors]
        say(table_of_first(["ingestor", "origin", "reads"], rows, SCREEN - 2, "wh ingestors -v"))
        notice("all formats, and the tables that they fill: wh ingestors -v")
        return ExitCode.OK
    for number, ingestor in enumerate(ingestors):
        say("\n" * (number > 0) + f"{ingestor['name']} {ingestor['version']}  {ingestor['origin']}: {ingestor['place']}")
        for line in ingestor["formats"]:
            say(f"  reads  {line}")
        say(f"  fills  {', '.join(ingestor['tables'])}")
    return ExitCode.OK
