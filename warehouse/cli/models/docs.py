"""`wh docs`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from warehouse.cli.output import NO_MODELS, counted, next_step, notice, say
from warehouse.errors import ExitCode

PAGE = "docs/site.md"
EXAMPLES = ("wh docs", "wh docs -o site")


def command(
    output: Annotated[Path | None, typer.Option("-o", "--output", metavar="DIR", help="where (default: .wh/docs in the project)")] = None,
) -> ExitCode:
    from dataclasses import replace

    from warehouse.claims.numbers.documented import documented_publications
    from warehouse.project.project import find_project
    from warehouse.transform.export.describe import describe_project, with_current_build
    from warehouse.transform.export.docs.site import write_site

    project = find_project()
    description = with_current_build(project, describe_project(project))
    description = replace(description, publications=documented_publications(project))
    page = write_site(output or project.root / ".wh" / "docs", description)
    state = "with the last build's results" if description.last_build else "nothing is built yet, so without results"
    published = counted(len(description.publications), "publication")
    unused = f", {len(description.unused):,} not used here" if description.unused else ""
    notice(f"{counted(len(description.tables), 'table')}{unused}, {state}; {published}")
    if not description.checked.models:
        notice(NO_MODELS)
    say(page)
    next_step(f"open {page} in a browser")
    return ExitCode.OK
