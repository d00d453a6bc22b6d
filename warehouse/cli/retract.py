"""`wh retract`."""

from __future__ import annotations

import argparse

from warehouse.cli.decided import add_run_arguments, report, signing_key
from warehouse.errors import ExitCode


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_run_arguments(parser)
    parser.add_argument("--reason", metavar="TEXT", required=True, help="why: it stands wherever the run is told of")
    parser.add_argument("--superseded-by", metavar="RUN", help="the run that stands in its stead")


def run(args: argparse.Namespace) -> ExitCode:
    from warehouse.claims.numbers.deciding import retract
    from warehouse.project import find_project

    event = retract(find_project(), args.run_id, args.reason, args.superseded_by, signing_key(args))
    state = f"superseded by {args.superseded_by}" if args.superseded_by else "retracted"
    return report(args, event, f"{args.run_id} is {state}; what was published stays. For the tables run: wh build")
