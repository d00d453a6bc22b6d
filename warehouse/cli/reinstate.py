"""`wh reinstate`."""

from __future__ import annotations

import argparse

from warehouse.cli.decided import add_run_arguments, report, signing_key
from warehouse.errors import ExitCode


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_run_arguments(parser)
    parser.add_argument("--reason", metavar="TEXT", required=True, help="why it counts again")


def run(args: argparse.Namespace) -> ExitCode:
    from warehouse.claims.numbers.deciding import reinstate
    from warehouse.project import find_project

    event = reinstate(find_project(), args.run_id, args.reason, signing_key(args))
    return report(args, event, f"{args.run_id} is admitted again. For the tables run: wh build")
