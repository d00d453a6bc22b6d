"""`wh note`."""

from __future__ import annotations

import argparse

from warehouse.cli.decided import add_run_arguments, report, signing_key
from warehouse.errors import ExitCode


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_run_arguments(parser)
    parser.add_argument("text", metavar="TEXT", help="the word to keep")


def run(args: argparse.Namespace) -> ExitCode:
    from warehouse.claims.numbers.deciding import note
    from warehouse.project import find_project

    event = note(find_project(), args.run_id, args.text, signing_key(args))
    return report(args, event, f"noted; wh ledger {args.run_id} lists what is known of the run")
