"""`wh new`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from warehouse.cli.output import next_step, notice, say
from warehouse.errors import ExitCode

PAGE = "docs/ingestors.md"
EXAMPLES = (
    "wh new query runs_by_status",
    "wh new model slow_runs",
    "wh new ingestor readings --from readings.csv",
)


class Kind(StrEnum):
    """What to start."""

    MODEL = "model"
    QUERY = "query"
    INGESTOR = "ingestor"


def command(
    kind: Annotated[Kind, typer.Argument(metavar="model|query|ingestor", help="what to start; an ingestor comes with its staging model")],
    name: Annotated[str, typer.Argument(metavar="NAME", help="its name: lower-case letters, digits and _")],
    from_file: Annotated[
        Path | None, typer.Option("--from", metavar="FILE", help="a CSV, JSON-lines or JSON file, whose columns make the start")
    ] = None,
) -> ExitCode:
    """Writes files that work as they are, for you to go on from. A model or query from a file reads the records of the ingestor that was started
    from a file of that name."""
    from warehouse.project import find_project
    from warehouse.starting.start import start

    project = find_project()
    started = start(project, kind, name, from_file)
    say("\n".join(project.shown(file) for file in started.files))
    notice(f"edit it as you like, then: {'; '.join(started.next)}")
    next_step(started.next[0])
    return ExitCode.OK
