"""`wh report`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from warehouse.cli.output import notice, say, write
from warehouse.errors import ExitCode, naming

PAGE = "docs/reports.md"
EXAMPLES = (
    "wh report --audience engineering -o report.html",
    "wh report --audience product --markdown",
    "wh report --audience engineering --glance",
    "wh report --audience partner --scope indicator_results -o partner.html",
)
INTERRUPTED = "no report was written"


class Audience(StrEnum):
    """Who reads it."""

    engineering = "engineering"
    product = "product"
    partner = "partner"


def command(
    audience: Annotated[Audience, typer.Option("--audience", help="who reads it")],
    scope: Annotated[
        list[str] | None,
        typer.Option("--scope", metavar="SCOPE", help="a query, or column=value of its rows; * stands for any characters (repeatable)"),
    ] = None,
    output: Annotated[Path | None, typer.Option("-o", "--output", metavar="FILE", help="write it there; without it, to standard output")] = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="as Markdown, not HTML")] = False,
    glance: Annotated[bool, typer.Option("--glance", help="in 25 lines of Markdown, for a pull request")] = False,
) -> ExitCode:
    """One file that needs nothing else, with published numbers, and apart from them what is exploratory. `wh verify FILE` checks it."""
    from warehouse.project.project import find_project
    from warehouse.surfaces.reports.rendering import report_html, report_markdown
    from warehouse.surfaces.reports.report import make_report, report_at_a_glance

    project, of = find_project(), tuple(scope or ())
    if glance:
        text = report_at_a_glance(project, audience.value, of)
    else:
        text = (report_markdown if markdown else report_html)(make_report(project, audience.value, of))
    if output is None and glance:
        say(text.rstrip("\n"))
        return ExitCode.OK
    if output is None:
        write(text)
        return ExitCode.OK
    with naming(output):
        output.write_text(text, encoding="utf-8", newline="\n")
    if not glance:
        notice(f"{output}: check it with wh verify {output}")
    return ExitCode.OK
