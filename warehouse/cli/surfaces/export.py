"""`wh export`."""

from __future__ import annotations

from dataclasses import asdict
from enum import StrEnum
from typing import Annotated

import typer

from warehouse.cli.output import counted, notice, print_json, say, warn
from warehouse.errors import ExitCode, WarehouseError, printable

PAGE = "docs/mlflow.md"
EXAMPLES = (
    "wh export mlflow recorded_run/01KG8Q3V5T2M4N6P8R0S1W3X5Y/run-01 --dry-run",
    "wh export mlflow recorded_run/01KG8Q3V5T2M4N6P8R0S1W3X5Y/run-01 --to mlruns",
)


class Tracker(StrEnum):
    """Where to."""

    mlflow = "mlflow"


def command(
    tracker: Annotated[Tracker, typer.Argument(metavar="mlflow", help="the experiment tracker")],
    run: Annotated[str, typer.Argument(metavar="RUN", help="the run_id of a run of the current build")],
    to: Annotated[str | None, typer.Option(metavar="URI", help="the tracking store: an address, or a folder")] = None,
    experiment: Annotated[str | None, typer.Option(metavar="NAME", help="its experiment; without it, the benchmark case")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="print as JSON what would be written")] = False,
) -> ExitCode:
    """Writes a run's workload and conditions as parameters, its measurements as metrics, its id and digests as tags, and the list of its raw
    files as an artifact. A run that the same build has written is not written again. Prints the tracker's id of the run."""
    from warehouse.project.project import find_project
    from warehouse.surfaces.tracking.run_record import run_record

    if to is None and not dry_run:
        raise WarehouseError("WH004", "no tracking store is named", "--to", "give --to URI, or --dry-run", ExitCode.USAGE)
    record = run_record(find_project(), run)
    for name in record.left_out:
        warn(f"left out, because it is too long: {printable(name)}")
    if to is None or dry_run:
        print_json(asdict(record))
        return ExitCode.OK
    from warehouse.surfaces.tracking.mlflow_export import export_to_mlflow

    exported = export_to_mlflow(record, to, experiment)
    say(exported.mlflow_run_id)
    written = f"{counted(len(record.params), 'parameter')}, {counted(len(record.metrics), 'metric')}, {counted(len(record.tags), 'tag')}"
    notice(f"experiment {printable(exported.experiment)}: {'it was there already' if exported.was_there else written}")
    return ExitCode.OK
