"""`wh gc`."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import Annotated

import typer

from warehouse.cli.output import counted, notice, print_json_line, say, size
from warehouse.errors import ExitCode

PAGE = "docs/store.md"
EXAMPLES = ("wh gc", "wh gc --apply --grace 30")
INTERRUPTED = "if --apply was given, what was listed is removed; run the same command again to continue"

_GRACE_DAYS = 7
_MOST_DAYS = 1e6


def command(
    apply: Annotated[bool, typer.Option("--apply", help="remove them; without this they are only listed")] = False,
    grace: Annotated[float, typer.Option(metavar="DAYS", min=0, max=_MOST_DAYS, help="leave what is younger than this")] = _GRACE_DAYS,
    as_json: Annotated[bool, typer.Option("--json", help="print what can go as JSON, one a line")] = False,
) -> ExitCode:
    from warehouse.evidence.objects.location import open_store
    from warehouse.maintenance.leftovers import FINISHED, find_leftovers, remove_leftovers
    from warehouse.project.project import find_project
    from warehouse.transform.finished.builds import list_builds

    project = find_project()
    store = open_store(project)
    tasks = {digest for build in list_builds(project) for digest in build.tasks}
    older_than = datetime.now(UTC) - timedelta(days=grace)
    count = total = 0
    for leftover in remove_leftovers(store, older_than, tasks) if apply else find_leftovers(store, older_than, tasks):
        if leftover.kind != FINISHED:
            count, total = count + 1, total + leftover.bytes
        if as_json:
            print_json_line({**asdict(leftover), "is_removed": apply and leftover.kind != FINISHED})
        elif leftover.kind == FINISHED:
            say(f"{leftover.key}  {leftover.kind}", flush=True)
        else:
            say(f"{leftover.key}  {leftover.kind}, {size(leftover.bytes)}, {leftover.modified_at:%Y-%m-%d %H:%M} UTC", flush=True)
    found = f"{counted(count, 'file')} left behind, {size(total)}"
    if not count:
        notice(f"nothing to remove that was left more than {grace:g} days ago")
    else:
        notice(f"removed {found}" if apply else f"{found}: wh gc --apply removes {'it' if count == 1 else 'them'}")
    return ExitCode.OK
