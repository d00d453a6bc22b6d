"""`wh retention`."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import TYPE_CHECKING

from warehouse.cli.output import notice, print_json_line, say
from warehouse.errors import ExitCode, printable

if TYPE_CHECKING:
    from warehouse.maintenance.detail_retention import DetailPlan
    from warehouse.project import Project


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("act", metavar="plan|apply", choices=("plan", "apply"), help="say what is past its age, or remove what is due")
    parser.add_argument("--json", action="store_true", help="print detail tables (plan) and bundles as JSON, one a line")


def run(args: argparse.Namespace) -> ExitCode:
    from warehouse.maintenance.detail_retention import plan_detail
    from warehouse.maintenance.retention import DUE, NEEDED, UNFINISHED, apply_retention, plan_retention
    from warehouse.project import find_project

    project = find_project()
    if args.act == "plan":
        _tell_detail(project, plan_detail(project), as_json=args.json)
    counts = dict.fromkeys((DUE, UNFINISHED, NEEDED), 0)
    for aged in plan_retention(project) if args.act == "plan" else apply_retention(project):
        counts[aged.state] += 1
        if args.json:
            print_json_line({"tier": "cold", **asdict(aged)})
        else:
            by = f" by {', '.join(digest[:12] for digest in aged.needed_by)}" if aged.needed_by else ""
            say(f"{aged.digest}  arrived {aged.arrived_at}  {aged.state}{by}")
    days = project.retention.cold_days
    if args.act == "apply":
        notice(f"removed {counts[DUE] + counts[UNFINISHED]} bundles older than {days} days that no active publication needs")
    else:
        notice(f"older than {days} days: {counts[DUE] + counts[UNFINISHED]} to remove, {counts[NEEDED]} needed; nothing was removed")
    return ExitCode.OK


def _tell_detail(project: "Project", found: "DetailPlan", *, as_json: bool) -> None:
    from warehouse.maintenance.detail_retention import LEAVES

    for aged in found.aged:
        if as_json:
            print_json_line({"tier": "warm", **asdict(aged)})
        else:
            rows = "" if aged.rows is None else f"  {aged.rows:,} rows"
            by = f" by {', '.join(aged.needed_by)}" if aged.needed_by else ""
            say(f"{aged.table}  {aged.runs:,} run{'s' * (aged.runs != 1)}{rows}  {aged.state}{by}")
    if found.unknown_runs:
        shown = ", ".join(map(printable, found.unknown_runs))
        notice(f"retention.keep_detail names runs of which there is no detail: {shown}")
    if found.aged:
        leaving = sum(aged.runs for aged in found.aged if aged.state == LEAVES)
        when = "leaves with the next wh build" if leaving else "nothing leaves"
        notice(f"detail older than {project.retention.warm_days} days: {when}; what is away comes back by retention.keep_detail")
