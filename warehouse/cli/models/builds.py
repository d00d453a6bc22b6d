"""`wh builds`."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any

import typer

from warehouse.cli.output import notice, print_json, say, size, table, warn
from warehouse.errors import ExitCode

PAGE = "docs/models.md"
EXAMPLES = ("wh builds",)


def command(as_json: Annotated[bool, typer.Option("--json", help="print the builds as JSON")] = False) -> ExitCode:
    from warehouse.project.project import find_project
    from warehouse.transform.finished.builds import find_current, list_builds

    project = find_project()
    current = find_current(project)
    builds: list[dict[str, Any]] = [
        {
            "build_digest": build.digest,
            "built_at": datetime.fromtimestamp(build.path.stat().st_mtime, UTC).replace(microsecond=0),
            "bytes": build.path.stat().st_size,
            "is_current": current is not None and current.digest == build.digest,
            "is_altered": not build.is_as_built(),
            "database": str(build.path),
        }
        for build in list_builds(project)
    ]
    if as_json:
        print_json(builds)
    elif builds:
        rows = [
            [build["build_digest"][:12], f"{build['built_at']:%Y-%m-%d %H:%M:%S} UTC", size(build["bytes"]),
             "altered" if build["is_altered"] else "current" if build["is_current"] else ""]
            for build in builds
        ]
        say(table(["build", "built", "size", ""], rows))
    else:
        notice("nothing has been built here yet")
    if any(build["is_altered"] for build in builds):
        warn("a build is altered: wh fsck reports how, and wh build makes it again")
        return ExitCode.TAMPERED
    return ExitCode.OK
