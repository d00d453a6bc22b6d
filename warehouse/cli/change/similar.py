"""`wh similar`."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from warehouse.cli.output import is_verbose, next_step, notice, print_json, say
from warehouse.errors import ExitCode, counted, printable

if TYPE_CHECKING:
    from warehouse.analysis.similar import Neighbour

PAGE = "docs/changes.md"
EXAMPLES = (
    "wh similar recorded_run/01KG8Q3V5T2M4N6P8R0S1W3X5Y/run-01 --limit 3",
    "wh similar 'indicator_results[result_key=elapsed_ms].median' --json",
)
_SHOWN = 3  # features that agree, and that differ


def command(
    what: Annotated[str, typer.Argument(metavar="ID", help="a run, a number, or the start of a workload's digest or a stack's key")],
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, max=1000, help="how many of the nearest")] = 8,
    as_json: Annotated[bool, typer.Option("--json", help="print all features that agree and differ as JSON")] = False,
) -> ExitCode:
    """Of all runs, workloads or stacks the nearest to one, by model, accelerators, engine, load and configuration, and what differs: to find what
    it can be compared with. A number is as near as the first of its runs."""
    from warehouse.analysis.similar import similar
    from warehouse.project.project import find_project

    found = similar(find_project(), what, limit)
    if as_json:
        print_json(asdict(found))
        return ExitCode.OK
    say(printable(f"{found.kind} {found.asked}" + (f": {found.name}" if found.name != found.asked else "")))
    if not found.neighbours:
        notice(f"there is no other {found.kind} that states what it does")
    for each in found.neighbours:
        say(printable(f"{each.likeness:.2f}  {each.name}"))
        if each.name != each.id:
            say(printable(f"      {each.id}"))
        say(printable(f"      {_difference(each)}; agrees in {_few([name for name, _ in each.agrees])}"))
    if not is_verbose() and any(len(each.differs) > 1 for each in found.neighbours):
        notice("-v shows the values that differ, --json all features")
    if found.neighbours and found.kind == "run":
        next_step(f"wh compare {found.neighbours[0].id} {found.asked}")
    return ExitCode.OK


def _difference(each: "Neighbour") -> str:
    if not each.differs:
        return "nothing differs"
    has_values = is_verbose() or len(each.differs) == 1
    words = (f"{name} {theirs or 'not stated'} (asked: {own or 'not stated'})" if has_values else name for name, theirs, own in each.differs)
    return f"differs in {_few([*words])}"


def _few(texts: list[str]) -> str:
    shown = texts if is_verbose() else texts[:_SHOWN]
    return ", ".join(shown) + (f" and {counted(len(texts) - len(shown), 'more', 'more')}" if len(texts) > len(shown) else "") if texts else "nothing"
