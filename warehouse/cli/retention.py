"""`wh retention`."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from warehouse.cli.output import notice, print_json_line
from warehouse.errors import ExitCode


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("act", metavar="plan|apply", choices=("plan", "apply"), help="say what is past its age, or remove what is due")
    parser.add_argument("--json", action="store_true", help="print the bundles as JSON, one a line")


def run(args: argparse.Namespace) -> ExitCode:
    from warehouse.claims.retention import DUE, NEEDED, UNFINISHED, apply_retention, plan_retention
    from warehouse.project import find_project

    project = find_project()
    counts = dict.fromkeys((DUE, UNFINISHED, NEEDED), 0)
    for aged in plan_retention(project) if args.act == "plan" else apply_retention(project):
        counts[aged.state] += 1
        if args.json:
            print_json_line(asdict(aged))
        else:
            by = f" by {', '.join(digest[:12] for digest in aged.needed_by)}" if aged.needed_by else ""
            print(f"{aged.digest}  arrived {aged.arrived_at}  {aged.state}{by}")
    days = project.retention.cold_days
    if args.act == "apply":
        notice(f"removed {counts[DUE] + counts[UNFINISHED]} bundles older than {days} days that no active publication needs")
    else:
        notice(f"older than {days} days: {counts[DUE] + counts[UNFINISHED]} to remove, {counts[NEEDED]} needed; nothing was removed")
    return ExitCode.OK
