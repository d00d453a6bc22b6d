"""`wh new`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from warehouse.cli.output import next_step, notice, say, warn
from warehouse.errors import ExitCode

PAGE = "docs/ingestors.md"
EXAMPLES = (
    "wh new query runs_by_status",
    "wh new model slow_runs",
    "wh new ingestor readings --from readings.csv",
    "wh new model indicator_group_by --indicator GroupBy",
)


class Kind(StrEnum):
    """What to start."""

    MODEL = "model"
    QUERY = "query"
    INGESTOR = "ingestor"


def command(
    kind: Annotated[Kind, typer.Argument(metavar="model|query|ingestor", help="what to start")],
    name: Annotated[str, typer.Argument(metavar="NAME", help="its name: lower-case letters, digits and _")],
    from_file: Annotated[
        list[Path] | None, typer.Option("--from", metavar="FILE", help="a sample; of an ingestor several: --from FILE --from FILE")
    ] = None,
    indicator: Annotated[
        str | None, typer.Option("--indicator", metavar="NAME", help="for a model: a performance indicator of the current build")
    ] = None,
) -> ExitCode:
    """Writes files that work as they are, for you to edit. No file is replaced.

    \b
    - model: models/NAME.sql, a select, from which wh build makes the table NAME
    - query: queries/NAME.sql, a rollup whose cells can be published as numbers
    - ingestor: with --from FILE, ingest/NAME/format.toml, a description of files
      like FILE, and a copy of FILE for wh check; without, or in a project without
      the standard one, ingest/NAME.py and models/staging/stg_NAME.sql

    With --from FILE, a model or query reads the table of the ingestor in code that
    was started from it.
    With --indicator NAME, a model has a typed column for each parameter and result
    that the current build has of that indicator.
    docs/models.md describes models and queries.
    """
    from warehouse.project.project import find_project
    from warehouse.starting.start import start

    project = find_project()
    started = start(project, kind, name, from_file[0] if from_file else None, indicator, from_file[1:] if from_file else ())
    say("\n".join(project.shown(file) for file in started.files))
    for text in started.notices:
        warn(text)
    notice(f"edit it as you like, then: {'; '.join(started.next)}")
    next_step(started.next[0])
    return ExitCode.FAILED if started.has_faults else ExitCode.OK
