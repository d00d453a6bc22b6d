"""`wh notify`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from warehouse.cli.output import notice, print_json, say, warn
from warehouse.errors import ExitCode, WarehouseError

PAGE = "docs/alive.md"
EXAMPLES = ("wh notify --dry-run", "wh notify --issues issues")


def command(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="print what would be sent, send and remember nothing")] = False,
    issues: Annotated[
        Path | None, typer.Option(metavar="DIR", help="write each condition into this folder as a ready issue for GitHub or GitLab")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print what was sent, and to whom, as JSON")] = False,
) -> ExitCode:
    """Sends one digest of what is new and what is over since the last one, by the rules in warehouse.toml ([notify])."""
    from datetime import UTC, datetime

    from warehouse.alive.issues import write_issues
    from warehouse.alive.notify import counts, notify
    from warehouse.project.project import find_project

    project, now = find_project(), datetime.now(UTC)
    found = notify(project, now, is_dry=dry_run, is_of_all=issues is not None)
    problems = [each.problem for each in found.digests if each.problem]
    for each in found.digests:
        if dry_run and not as_json:
            say(f"to {each.variable}: {each.title}")
            say(each.text + "\n" if each.text else "")
        elif not dry_run and each.problem and each.down_since:
            notice(f"{each.variable}: not delivered since {each.down_since}; {counts(each.entries)} wait")
        elif each.problem:
            warn(each.problem)
        else:
            notice(f"{each.variable}: {each.outcome}" + (f", {counts(each.entries)}" if each.entries else ""))
    if not found.digests and not issues:
        notice("nobody is told: warehouse.toml has no addresses in [notify] (docs/alive.md)")
    for kind, why in found.now.unknown.items():
        warn(WarehouseError(why.code, f"nothing is known of {kind}: {why.message}", why.place, why.hint, why.exit_code))
    if issues:
        try:
            for file in write_issues(found.now.holding, issues):
                for line in file.commands if file.is_new and not as_json else ():
                    say(line)
        except OSError as error:
            raise WarehouseError("WH004", f"cannot be written: {error.strerror}", str(issues), exit_code=ExitCode.USAGE) from error
    if as_json:
        print_json([
            {
                "to": each.variable, "outcome": each.outcome, "title": each.title, "text": each.text,
                "entries": [{"what": one.what, "kind": one.told.kind, "key": one.key, "title": one.told.title} for one in each.entries],
            } for each in found.digests
        ])
    return ExitCode.FAILED if problems or found.now.unknown else ExitCode.OK
