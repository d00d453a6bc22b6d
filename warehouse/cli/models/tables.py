"""`wh tables`."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from warehouse.cli.output import NO_MODELS, SCREEN, counted, next_step, notice, print_json, say, table_of_first
from warehouse.errors import ExitCode

PAGE = "docs/models.md"
_FIRST = {"rollup": 0, "main": 1}  # what people ask for, before what it is made of
EXAMPLES = ("wh tables", "wh tables --all --json")


def command(
    all: Annotated[bool, typer.Option("--all", help="internal tables too: staging models, feeds and reference data")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="print the tables as JSON")] = False,
) -> ExitCode:
    """Where nothing is built yet, the tables that a build would make, without rows."""
    from warehouse.project.project import find_project
    from warehouse.transform.export.tables import list_tables

    found = list_tables(find_project())
    shown = [each for each in found if all or not each.is_internal]
    ordered = sorted(shown, key=lambda each: (each.rows == 0, each.is_internal, _FIRST.get(each.schema, len(_FIRST))))
    if as_json:
        print_json([asdict(each) for each in shown])
    elif shown:
        rows = [[each.schema, each.table, each.rows, each.description.partition(". ")[0]] for each in ordered]
        every = f"wh tables -v{' --all' if all else ''}"
        say(table_of_first(["schema", "table", "rows", "description"], rows, SCREEN - 2, every))
    else:
        notice(NO_MODELS)
    if len(shown) < len(found):
        notice(f"{counted(len(found) - len(shown), 'internal table')} not shown: wh tables --all")
    if shown:
        next_step(f"wh describe {ordered[0].table}", "its columns")
    return ExitCode.OK
