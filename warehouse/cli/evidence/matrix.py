"""`wh matrix`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from warehouse.cli.output import next_step, notice, print_json, say, table
from warehouse.errors import ExitCode, counted

if TYPE_CHECKING:
    from datetime import datetime

    from warehouse.campaign.runner import Runner, Told
    from warehouse.campaign.spec import Spec

PAGE = "docs/campaigns.md"
EXAMPLES = ("wh matrix stacks.toml --dry-run", "wh matrix stacks.toml", "wh matrix stacks.toml --add-sessions 1 --cell c01 --cell c02")
_MOST_CELLS = 20


def command(
    spec: Annotated[Path, typer.Argument(metavar="SPEC", help="the campaign's spec, a TOML file")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="say which cells and runs there are, and run nothing")] = False,
    rerun: Annotated[str | None, typer.Option("--rerun", metavar="NAME", help="run the whole campaign again, as one of its own")] = None,
    add_sessions: Annotated[
        int | None, typer.Option("--add-sessions", metavar="N", min=1, max=1000, help="run more sessions than the spec has, of the cells of --cell")
    ] = None,
    cell: Annotated[list[str] | None, typer.Option("--cell", metavar="CELL", help="a cell of --add-sessions; may be repeated")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print the campaign's state as JSON")] = False,
) -> ExitCode:
    from warehouse.campaign.runner import Runner
    from warehouse.campaign.spec import read_spec
    from warehouse.campaign.stacks import with_latest
    from warehouse.project.project import find_project

    if bool(cell) is not bool(add_sessions) or (cell and dry_run):
        raise typer.BadParameter("--add-sessions N and --cell CELL go together, without --dry-run")
    project = find_project()
    read = with_latest(read_spec(spec), project.root / ".wh" / "uv")

    def on_slot(told: "Told") -> None:
        wall = f", {told.wall_s:.2f} s" if told.wall_s is not None else ""
        notice(f"{told.slot.slot_id}  {told.cell.label}: {told.status}{f', {told.reason}' if told.reason else ''}{wall}")

    def on_wait(why: str, until: "datetime | None") -> None:
        notice(f"waiting{f' until {until:%H:%M:%S} UTC' if until else ''}: {why}; Ctrl-C is safe, the campaign goes on when it is started again")

    runner = Runner(project, read, spec.resolve(), on_slot, on_wait, rerun)
    if dry_run:
        _say_plan(read, runner)
        return ExitCode.OK
    if cell and add_sessions:
        runner.add_sessions(cell, add_sessions)
    progress = runner.run()
    failed = {slot: each for slot, each in progress.done.items() if each["status"] != "succeeded"}
    if as_json:
        print_json({"campaign": runner.campaign_id, "runs": len(progress.done), "failed": failed, "lost": progress.started - len(progress.done)})
    else:
        lost = progress.started - len(progress.done)
        crashed = f", {counted(lost, 'attempt')} lost by a crash" if lost else ""
        say(f"{runner.campaign_id}: {counted(len(progress.done), 'run')}, {len(failed)} without a result{crashed}")
    next_step("wh build")
    return ExitCode.OK


def _say_plan(spec: "Spec", runner: "Runner") -> None:
    from warehouse.campaign.cells import most_confirmed, wanted

    cells = tuple(runner.cells.values())
    runs = len(cells) * (spec.repeats + spec.warmups) * spec.sessions
    stacks = {wanted(spec, cell).key for cell in cells}
    done = len(runner.progress().done)
    rows = [[cell.cell_id, *cell.values.values(), "baseline" if cell.is_baseline else ""] for cell in cells[:_MOST_CELLS]]
    say(table(["cell", *(factor.name for factor in spec.factors), ""], rows))
    if len(cells) > _MOST_CELLS:
        say(f"and {len(cells) - _MOST_CELLS:,} more cells")
    apart = f", at least {spec.session_gap_s:g} s apart" if spec.sessions > 1 else ""
    say(f"{runner.campaign_id}: {counted(len(cells), 'cell')} of {counted(len(stacks), 'stack')}, {counted(spec.sessions, 'session')}{apart}")
    fewer = ", or fewer by the search" if spec.search else ""
    then, confirming = "", 0
    if spec.confirmation:
        then = f", then {counted(spec.confirmation.sessions, 'session')} of front-runners"
        confirming = most_confirmed(spec, cells) * (spec.repeats + spec.warmups) * spec.confirmation.sessions
    say(f"{counted(runs, 'run')}{fewer}{then}; {done:,} done; {_bound(spec, runs + confirming)}")


def _bound(spec: "Spec", runs: int) -> str:
    """What it takes at most: by the limit of each run's time and the budget."""
    budget, timeout_s = spec.budget, spec.limits.timeout_s
    price = budget.dollars_per_hour
    hours = None if timeout_s is None else min(runs, budget.runs or runs) * timeout_s / 3600
    bounds = (hours, budget.hours, budget.dollars / price if budget.dollars and price else None)
    most = min((each for each in bounds if each is not None), default=None)
    if most is None:
        return "no bound on its time: limits.timeout or budget.hours sets one"
    return f"at most {most:.1f} h" + (f" and ${most * price:.2f}" if price else "")
