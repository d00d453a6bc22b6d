"""`wh freshness`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from warehouse.cli.output import counted, is_verbose, notice, print_json, say, warn
from warehouse.cli.program import usage
from warehouse.errors import ExitCode, printable

if TYPE_CHECKING:
    from warehouse.alive.freshness import Freshness

PAGE = "docs/alive.md"
EXAMPLES = ("wh freshness", "wh freshness --index-state newest.txt", "wh freshness --json")
_ROWS = 12  # two lines each: a screen


def command(
    index_state: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="record the newest versions that a file states: lines package==version, the JSON of pip list, pylock.toml"),
    ] = None,
    ask_index: Annotated[bool, typer.Option("--ask-index", help="ask the package index by uv for the newest versions, and record them")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="print the rows as JSON")] = False,
) -> ExitCode:
    """What is no longer fresh, the most important first, each with the command that ends it. Nothing is hashed or replayed."""
    if ask_index and index_state:
        raise usage("--ask-index and --index-state do not go together")
    from datetime import UTC, datetime

    from warehouse.alive.freshness import freshness
    from warehouse.project.project import find_project

    project, now = find_project(), datetime.now(UTC)
    if index_state:
        from warehouse.alive.index_state import take_index_state

        state = take_index_state(project, index_state)
        notice(f"{counted(len(state.newest), 'package')} of {printable(state.source)} recorded as evidence: bundle {state.digest[:12]}")
    elif ask_index:
        from warehouse.alive.freshness import measured_packages
        from warehouse.alive.index_state import ask_index as ask

        state = ask(project, measured_packages(project, now))
        notice(f"{counted(len(state.newest), 'package')} of {printable(state.source)} recorded as evidence: bundle {state.digest[:12]}")
    found = freshness(project, now)
    if as_json:
        print_json({
            "rows": [
                {
                    "kind": each.kind, "subject": each.subject, "words": each.words, "since": each.since, "remedy": each.remedy,
                    "publication": each.publication, "evidence": list(each.evidence),
                } for each in found.rows
            ],
            "counts": found.counts, "problems": [str(each) for each in found.problems],
        })
    else:
        _print(found)
    for problem in found.problems:
        warn(problem)
    return found.problems[0].exit_code if found.problems else ExitCode.OK


def _print(found: "Freshness") -> None:
    shown = found.rows if is_verbose() else found.rows[:_ROWS]
    for each in shown:
        since = f" (since {each.since:%Y-%m-%d})" if each.since and f"{each.since:%Y-%m-%d}" not in each.words else ""
        say(printable(f"{each.kind}  {each.words}{since}"))
        say(printable(f"    {each.remedy}"))
    if len(shown) < len(found.rows):
        say(f"and {len(found.rows) - len(shown)} more: wh freshness -v")
    if not found.rows:
        say("everything is fresh, as far as the warehouse knows")
    elif len(found.rows) > 1:
        notice(", ".join(f"{count} {kind}" for kind, count in found.counts.items()))
