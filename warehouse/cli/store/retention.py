"""`wh retention`."""

from __future__ import annotations

from dataclasses import asdict
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from warehouse.cli.output import counted, notice, print_json_line, say
from warehouse.errors import ExitCode, printable

if TYPE_CHECKING:
    from warehouse.maintenance.detail_retention import DetailPlan
    from warehouse.project.project import Project


PAGE = "docs/store.md"
EXAMPLES = ("wh retention plan", "wh retention apply")
INTERRUPTED = "with apply, what was listed is removed; run the same command again to continue"


class Act(StrEnum):
    """What to do about evidence past its age."""

    PLAN = "plan"
    APPLY = "apply"


def command(
    act: Annotated[Act, typer.Argument(metavar="plan|apply", help="list what is past its age, or remove what is due")],
    as_json: Annotated[bool, typer.Option("--json", help="print detail tables (plan) and bundles as JSON, one a line")] = False,
) -> ExitCode:
    from warehouse.maintenance.detail_retention import plan_detail
    from warehouse.maintenance.retention import DUE, NEEDED, UNFINISHED, apply_retention, plan_retention
    from warehouse.project.project import find_project

    project = find_project()
    if act == Act.PLAN:
        _report_detail(project, plan_detail(project), as_json=as_json)
    counts = dict.fromkeys((DUE, UNFINISHED, NEEDED), 0)
    for aged in plan_retention(project) if act == Act.PLAN else apply_retention(project):
        counts[aged.state] += 1
        if as_json:
            print_json_line({"tier": "cold", **asdict(aged)})
        else:
            by = f" by {', '.join(digest[:12] for digest in aged.needed_by)}" if aged.needed_by else ""
            say(f"{aged.digest}  arrived {aged.arrived_at}  {aged.state}{by}")
    days = project.retention.cold_days
    if act == Act.APPLY:
        notice(f"removed {counted(counts[DUE] + counts[UNFINISHED], 'bundle')} older than {days} days that no active publication needs")
    else:
        notice(f"older than {days} days: {counts[DUE] + counts[UNFINISHED]} to remove, {counts[NEEDED]} needed; nothing was removed")
    return ExitCode.OK


def _report_detail(project: "Project", found: "DetailPlan", *, as_json: bool) -> None:
    from warehouse.maintenance.detail_retention import LEAVES

    for aged in found.aged:
        if as_json:
            print_json_line({"tier": "warm", **asdict(aged)})
        else:
            rows = "" if aged.rows is None else f"  {counted(aged.rows, 'row')}"
            by = f" by {', '.join(aged.needed_by)}" if aged.needed_by else ""
            say(f"{aged.table}  {counted(aged.runs, 'run')}{rows}  {aged.state}{by}")
    if found.unknown_runs:
        shown = ", ".join(map(printable, found.unknown_runs))
        notice(f"retention.keep_detail names runs without detail: {shown}")
    if found.aged:
        leaving = sum(aged.runs for aged in found.aged if aged.state == LEAVES)
        when = "the next wh build removes it" if leaving else "nothing leaves"
        notice(f"detail older than {project.retention.warm_days} days: {when}; retention.keep_detail brings removed detail back")
