"""`wh impact`."""

from __future__ import annotations

import shlex
from dataclasses import asdict
from typing import Annotated

import typer

from warehouse.cli.completion import table_names
from warehouse.cli.output import SCREEN, counted, first_of, notice, print_json, say, warn
from warehouse.errors import ExitCode, printable

PAGE = "docs/lineage.md"
EXAMPLES = (
    "wh impact performance_indicator_fact",
    "wh impact recorded_run/01KG8Q3V5T2M4N6P8R0S1W3X5Y/run-01 --json",
)


def command(
    thing: Annotated[
        str,
        typer.Argument(
            metavar="RUN|MANIFEST|FILE|MODEL", help="a run_id, a manifest's digest, a raw file's path or a copy of it, or a model",
            autocompletion=table_names,
        ),
    ],
    as_json: Annotated[bool, typer.Option("--json", help="print the numbers as JSON")] = False,
) -> ExitCode:
    from warehouse.claims.verify.impact import impact
    from warehouse.project.project import find_project

    found = impact(find_project(), thing)
    if as_json:
        print_json([asdict(each) for each in found.numbers])
    else:
        lines = [f"{each.number_id}  {printable(str(each.value))}  {printable(each.key)}" for each in found.numbers]
        for line in first_of(lines, SCREEN, f"wh impact -v {shlex.quote(thing)}"):
            say(line)
    publications = {each.publication for each in found.numbers}
    kinds = ", ".join(sorted({each.kind for each in found.numbers}))
    numbers = counted(len(found.numbers), "number")
    depend = "depends" if len(found.numbers) == 1 else "depend"
    if found.numbers:
        notice(f"{numbers} of {counted(len(publications), 'publication')} {depend} on it ({kinds})")
    else:
        notice("no published number depends on it")
    for problem in found.damaged:
        warn(problem)
    return found.damaged[0].exit_code if found.damaged else ExitCode.OK
