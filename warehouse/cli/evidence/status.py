"""`wh status`, and what `wh` alone says."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from warehouse.cli.output import counted, next_step, notice, print_json, say, warn
from warehouse.errors import ExitCode, WarehouseError, printable

if TYPE_CHECKING:
    from warehouse.maintenance.status import Status

PAGE = "README.md"
EXAMPLES = ("wh status", "wh status --json")
_SHOWN_RUNS = 5


def command(as_json: Annotated[bool, typer.Option("--json", help="print the status as JSON")] = False) -> ExitCode:
    """Nothing is hashed or replayed: wh verify --all does that."""
    from warehouse.maintenance.status import project_status
    from warehouse.project.project import find_project

    found = project_status(find_project())
    if as_json:
        print_json({**asdict(found), "damaged": [str(each) for each in found.damaged], "next": _next(found)})
        return ExitCode.OK
    for name, text, state in _lines(found):
        say(f"{name:<13}{text}", state=state)
    for problem in found.damaged:
        warn(problem)
    next_step(*_next(found).split("  # "))
    return ExitCode.OK


def first_steps() -> ExitCode:
    """What to do first: in a project the next step, elsewhere how to make one."""
    from warehouse.maintenance.status import project_status
    from warehouse.project.project import find_project

    try:
        project = find_project()
    except WarehouseError as error:
        if error.code != "WH001":
            raise
        notice("there is no project in this folder or above it. To make one: wh init DIR")
    else:
        notice(f"project {printable(project.name)} in {project.root}. Next: {_next(project_status(project))}")
    notice("wh --help lists the commands, wh status shows where a project stands")
    return ExitCode.USAGE


def _next(found: "Status") -> str:
    """The one next step."""
    build = found.build
    if not found.bundles and not found.unrecognised:
        return "wh ingest PATH  # or wh record -- COMMAND"
    if found.is_build_unfinished:
        return "wh build --retry"
    if build is None or build.is_evidence_newer or build.are_models_newer:
        return "wh build"
    if runs := found.failed_runs:
        recording = runs[0].rpartition("/")[0]
        command = f"wh sql \"select run_id, status_reason from benchmark_run_fact where run_id like '{recording}/%' and status = 'failed'\""
        return f"{command}  # {counted(len(runs), 'run')} of the last recording failed"
    if found.conflicted_runs:
        return f"wh settle {found.conflicted_runs[0]} --bundle DIGEST --reason TEXT"
    if again := [each.query for each in found.publications if each.stale or each.retracted]:
        return f"wh publish {again[0]}"
    return "wh verify --all" if found.publications else "wh tables  # then wh publish QUERY"


def _lines(found: "Status") -> Iterator[tuple[str, str, str]]:
    """What is shown: a name, a text, and the state in it that has a colour."""
    yield "project", printable(f"{found.name}  {found.project}"), ""
    yield "store", found.store, ""
    families = ", ".join(f"{count:,} {printable(family)}" for family, count in found.bundles.items())
    yield "evidence", f"{counted(sum(found.bundles.values()), 'bundle')}" + (f": {families}" if families else ""), ""
    if found.unrecognised:
        yield "", f"{counted(found.unrecognised, 'bundle')} unrecognised", ""
    if found.build is None:
        yield "build", "nothing is built yet", ""
    else:
        parts = {"evidence or decisions": found.build.is_evidence_newer, "models": found.build.are_models_newer}
        newer = [name for name, is_newer in parts.items() if is_newer]
        state = "stale" if newer else "up to date"
        text = f"stale: newer {' and '.join(newer)}" if newer else state
        yield "build", f"{found.build.build_digest[:12]}  {found.build.built_at:%Y-%m-%d %H:%M:%S} UTC  {text}", state
    if found.is_build_unfinished:
        yield "", "the last build did not finish", ""
    if not found.publications:
        yield "published", "nothing", ""
    for place, each in enumerate(found.publications):
        numbers = "damaged" if each.numbers is None else counted(each.numbers, "number")
        states = [f"{count:,} {state}" for state, count in (("stale", each.stale), ("retracted", each.retracted)) if count]
        states = [each.correction, *states] if each.correction else states
        state = each.correction or ("stale" if each.stale else "retracted")
        yield "" if place else "published", f"{printable(each.query)}  {', '.join([numbers, *states])}", state
    if runs := found.conflicted_runs:
        shown = ", ".join(map(printable, runs[:_SHOWN_RUNS])) + (", ..." if len(runs) > _SHOWN_RUNS else "")
        noun = counted(len(runs), "run is", "runs are")
        yield "decide", f"needs a decision: {noun} stated differently by several bundles: {shown}", "needs a decision"
