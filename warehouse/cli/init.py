"""`wh init`."""

from __future__ import annotations

import argparse
from pathlib import Path

from warehouse.cli.output import notice, say
from warehouse.errors import ExitCode
from warehouse.project import Project
from warehouse.project_making import init_project


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("dir", metavar="DIR", type=Path, help="the folder; made if it is not there")
    parser.add_argument("--bare", action="store_true", help="without the standard models, queries and ingestors")
    parser.add_argument(
        "--store", metavar="URL",
        help="where evidence is kept, instead of .wh/store in the folder: a bucket must exist; a store at a URL that is neither a folder's nor"
        " s3:// can only be read",
    )


def run(args: argparse.Namespace) -> ExitCode:
    if args.store is None:
        project = init_project(args.dir, bare=args.bare)
    else:
        from warehouse.evidence.objects.location import open_store

        def ask_store(project: Project) -> None:
            store = open_store(project)
            store.is_empty()  # a bucket that does not exist, or that refuses, raises WH114
            if store.objects.is_read_only:
                notice("the store can only be read: wh pull copies what is there into a store in a folder or in s3://")

        project = init_project(args.dir, bare=args.bare, store=args.store, check=ask_store)
    say(project.root)
    return ExitCode.OK
