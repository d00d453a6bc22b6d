"""`wh init`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from warehouse.cli.output import next_step, notice, say
from warehouse.errors import ExitCode
from warehouse.project.making import init_project
from warehouse.project.project import Project

PAGE = "README.md"
EXAMPLES = ("wh init other-project", "wh init --bare small-project", "wh init shared-project --store ../shared-store")


def command(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="the folder; made if it does not exist")],
    bare: Annotated[bool, typer.Option("--bare", help="leave out the standard models, queries and ingestors")] = False,
    store: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="where evidence is kept, instead of .wh/store in the folder. A bucket must exist; a store at a URL that is neither"
            " a folder's nor s3:// can only be read",
        ),
    ] = None,
) -> ExitCode:
    if store is None:
        project = init_project(folder, bare=bare)
    else:
        from warehouse.evidence.objects.location import open_store

        def ask_store(project: Project) -> None:
            store = open_store(project)
            store.is_empty()  # a bucket that does not exist, or that refuses, raises WH114
            if store.objects.is_read_only:
                notice("the store can only be read: wh pull copies what is there into a store in a folder or in s3://")

        project = init_project(folder, bare=bare, store=store, check=ask_store)
    say(project.root)
    next_step(f"cd {folder}", "then wh ingest PATH, or wh record -- COMMAND")
    return ExitCode.OK
