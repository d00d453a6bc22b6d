"""`wh record`."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from warehouse.cli.output import next_step, notice, print_json, say, warn
from warehouse.errors import ExitCode

if TYPE_CHECKING:
    from warehouse.record.command import RecordedRun


PAGE = "docs/ingestors.md"
EXAMPLES = ("wh record -- sleep 0.1", "wh record --repeats 3 -- python -m warehouse.record.indicators.group_by --rows 20000")
INTERRUPTED = "the recording is not in the store; wh ingest of its folder in .wh/recordings takes what was recorded"


def command(
    argv: Annotated[list[str], typer.Argument(metavar="COMMAND", help="the command, after --")],
    repeats: Annotated[int, typer.Option(metavar="N", min=1, help="how many runs (default 1)", show_default=False)] = 1,
    declaration: Annotated[
        Path | None, typer.Option(metavar="FILE", help="what the runs are declared to be: a BenchmarkRun or a workload spec")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print the bundle as JSON")] = False,
) -> ExitCode:
    from ulid import ULID

    from warehouse.project.project import find_project
    from warehouse.record.command import record

    project = find_project()
    declared = b""
    if declaration:
        # By a process of its own: what the rules need in memory would show in the recorded command's peak memory.
        validated = subprocess.run([sys.executable, "-m", "warehouse.cli.main", "validate", str(declaration)], stdout=sys.stderr)
        if validated.returncode:
            return ExitCode(validated.returncode)
        declared = declaration.read_bytes()  # as it is now, whatever the command does to it
    folder = project.root / ".wh" / "recordings" / str(ULID())

    def done(run: "RecordedRun") -> None:
        ending = f"exit code {run.exit_code}" if run.signal is None else f"signal {run.signal}"
        notice(f"run {run.repeat_index} of {repeats}: {run.status}, {ending}, {run.wall_s:.2f} s")

    recorded = record(argv, folder, repeats=repeats, redact=project.redact, on_run=done)
    for redaction in recorded.redactions:
        notice(f"not in the evidence: {redaction.what}, argv[{redaction.argument}]")
    # Only now the heavy libraries: what the recorder had in memory shows in its children's peak memory.
    from warehouse.evidence.objects.location import open_store
    from warehouse.landing.declaration.placing import is_named_as_declaration
    from warehouse.landing.ingest import ingest, plan_ingest
    from warehouse.landing.registry import load_ingestors

    if declaration and declared:
        name = declaration.name
        (folder / (name if is_named_as_declaration(name) else "benchmark_run.yaml")).write_bytes(declared)
    report = ingest(plan_ingest(folder, load_ingestors(project).values()), open_store(project), "wh record")
    problems = [*report.problems, *(problem for bundle in report.bundles for problem in bundle.problems)]
    if problems or not all(bundle.digest for bundle in report.bundles):
        for problem in problems:
            warn(problem)
        warn(f"the recording is not in the store; it stays in {folder}: wh ingest takes it")
        return ExitCode.FAILED
    shutil.rmtree(folder)
    digests = [str(bundle.digest) for bundle in report.bundles]
    if as_json:
        print_json({"artifact_manifest_digest": digests[0], "runs": [run.folder.name for run in recorded.runs]})
    else:
        say("\n".join(digests))
    next_step("wh build")
    return ExitCode.OK if all(run.status == "succeeded" for run in recorded.runs) else ExitCode.FAILED
