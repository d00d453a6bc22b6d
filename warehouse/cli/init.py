"""`wh init`."""

from __future__ import annotations

import argparse
from pathlib import Path

from warehouse.errors import ExitCode
from warehouse.project import init_project


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("dir", metavar="DIR", type=Path, help="the folder; made if it is not there")
    parser.add_argument("--bare", action="store_true", help="without the standard models, queries and ingestors")


def run(args: argparse.Namespace) -> ExitCode:
    project = init_project(args.dir, bare=args.bare)
    print(project.root)
    return ExitCode.OK
