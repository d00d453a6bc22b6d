"""`wh describe`."""

from __future__ import annotations

import shlex
from dataclasses import asdict
from typing import Annotated

import typer

from warehouse.cli.completion import table_names
from warehouse.cli.output import SCREEN, counted, next_step, notice, print_json, say, table_of_first
from warehouse.errors import ExitCode

PAGE = "docs/models.md"
EXAMPLES = ("wh describe indicator_results", "wh describe indicator_results --sql", "wh describe main.benchmark_run_fact --json")


def command(
    name: Annotated[str, typer.Argument(metavar="TABLE", help="a table, with or without its schema", autocompletion=table_names)],
    sql: Annotated[bool, typer.Option("--sql", help="print its SQL instead of its columns")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="print the table and its columns as JSON")] = False,
) -> ExitCode:
    from warehouse.project.project import find_project
    from warehouse.transform.export.tables import describe_table

    found = describe_table(find_project(), name)
    summary = found.summary
    if as_json:
        print_json({**asdict(summary), "grain": list(found.grain), "columns": [asdict(column) for column in found.columns], "sql": found.sql})
        return ExitCode.OK
    if sql:
        say(found.sql)
        return ExitCode.OK
    rows = "" if summary.rows is None else f", {counted(summary.rows, 'row')}"
    notice(f"{summary.schema}.{summary.table}, {summary.kind}{rows}" + (f": {' '.join(summary.description.split())}" if summary.description else ""))
    notice(f"grain: {', '.join(found.grain) or 'not declared'}")
    columns = [[each.name, each.type, each.unit, each.description] for each in found.columns]
    say(table_of_first(["column", "type", "unit", "description"], columns, SCREEN - 7, f"wh describe -v {shlex.quote(name)}"))
    next_step(f'wh sql "select * from {summary.table} limit 10"')
    return ExitCode.OK
