"""`wh init`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from warehouse.cli.output import next_step, notice, say
from warehouse.errors import ExitCode
from warehouse.project import Project
from warehouse.project_making import init_project

PAGE = "README.md"
EXAMPLES = ("wh init other-project", "wh init --bare small-project", "wh init shared-project --store ../shared-store")


def command(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="the folder; made if it does not exist")],
    bare: Annotated[bool, typer.Option("--bare", help="leave out the standard models, queries and ingestors")] = False,
    store: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="where evidence is kept, instead of .wh/store in the folder. A bucket must exist. What a store promises is tested"
            " first, unless it is a folder or s3://",
        ),
    ] = None,
) -> ExitCode:
    if store is None:
        project = init_project(folder, bare=bare)
    else:
        from warehouse.evidence.objects.location import prove_store

        def try_store(project: Project) -> None:
            if refuted := prove_store(project):
                notice(f"the store can only be read: {refuted}")

        project = init_project(folder, bare=bare, store=store, check=try_store)
    say(project.root)
    next_step(f"cd {folder}, then wh ingest PATH, or wh record -- COMMAND")
    return ExitCode.OK
