"""`wh settle`."""

from __future__ import annotations

import argparse

from warehouse.cli.decided import add_run_arguments, report, signing_key
from warehouse.errors import ExitCode


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_run_arguments(parser)
    parser.add_argument("--bundle", metavar="DIGEST", required=True, help="the bundle that is its evidence, by what its digest begins with")
    parser.add_argument("--reason", metavar="TEXT", required=True, help="why: it stands wherever the run is told of")


def run(args: argparse.Namespace) -> ExitCode:
    from warehouse.claims.numbers.deciding import settle
    from warehouse.project import find_project

    event = settle(find_project(), args.run_id, args.bundle, args.reason, signing_key(args))
    return report(args, event, f"bundle {event.detail['bundle'][:12]} is the evidence of {args.run_id}. For the tables run: wh build")
