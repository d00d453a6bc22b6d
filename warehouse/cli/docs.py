"""`wh docs`."""

from __future__ import annotations

import argparse
from pathlib import Path

from warehouse.cli.output import NO_MODELS, notice, say
from warehouse.errors import ExitCode


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-o", "--output", metavar="DIR", type=Path, help="where (default: .wh/docs in the project)")


def run(args: argparse.Namespace) -> ExitCode:
    from warehouse.project import find_project
    from warehouse.transform.export.describe import describe_project, with_current_build
    from warehouse.transform.export.docs.site import write_site

    project = find_project()
    description = with_current_build(project, describe_project(project))
    page = write_site(args.output or project.root / ".wh" / "docs", description)
    state = "with the last build's results" if description.last_build else "nothing is built yet, so without results"
    notice(f"{len(description.tables)} tables, {state}")
    if not description.checked.models:
        notice(NO_MODELS)
    say(page)
    return ExitCode.OK
