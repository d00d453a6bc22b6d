"""`wh metrics`."""

from __future__ import annotations

from warehouse.cli.output import write
from warehouse.errors import ExitCode

PAGE = "docs/hot-metrics.md"
EXAMPLES = ("wh metrics",)


def command() -> ExitCode:
    """The hot metrics of the current build in the text format of Prometheus, of runs of the last days (retention.hot_days in warehouse.toml)."""
    from warehouse.project.project import find_project
    from warehouse.surfaces.hot_metrics.exposition import exposition

    write(exposition(find_project()))
    return ExitCode.OK
