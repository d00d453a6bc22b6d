"""`wh record`."""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from warehouse.cli.output import notice, print_json, say
from warehouse.errors import ExitCode

if TYPE_CHECKING:
    from warehouse.record.command import RecordedRun


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--repeats", type=_count, default=1, metavar="N", help="how many runs (default 1)")
    parser.add_argument("--declaration", type=Path, metavar="FILE", help="what the runs are declared to be: a BenchmarkRun or a workload spec")
    parser.add_argument("--json", action="store_true", help="print the bundle as JSON")
    parser.add_argument("argv", metavar="COMMAND", nargs="+", help="the command, after --")


def _count(text: str) -> int:
    count = int(text)
    if count < 1:
        raise argparse.ArgumentTypeError("at least 1")
    return count


def run(args: argparse.Namespace) -> ExitCode:
    from ulid import ULID

    from warehouse.project import find_project
    from warehouse.record.command import record

    project = find_project()
    declared = b""
    if args.declaration:
        # By a process of its own: what the rules need in memory would show in the recorded command's peak memory.
        validated = subprocess.run([sys.executable, "-m", "warehouse.cli.main", "validate", str(args.declaration)], stdout=sys.stderr)
        if validated.returncode:
            return ExitCode(validated.returncode)
        declared = args.declaration.read_bytes()  # as it is now, whatever the command does to it
    folder = project.root / ".wh" / "recordings" / str(ULID())

    def done(run: "RecordedRun") -> None:
        ending = f"exit code {run.exit_code}" if run.signal is None else f"signal {run.signal}"
        notice(f"run {run.repeat_index} of {args.repeats}: {run.status}, {ending}, {run.wall_s:.2f} s")

    recorded = record(args.argv, folder, repeats=args.repeats, redact=project.redact, on_run=done)
    for redaction in recorded.redactions:
        notice(f"not in the evidence: {redaction.what}, argv[{redaction.argument}]")
    # Only now the heavy libraries: what the recorder had in memory shows in its children's peak memory.
    from warehouse.evidence.objects.location import open_store
    from warehouse.landing.declaration.placing import is_named_as_declaration
    from warehouse.landing.ingest import ingest, plan_ingest
    from warehouse.landing.registry import load_ingestors

    if declared:
        name = args.declaration.name
        (folder / (name if is_named_as_declaration(name) else "benchmark_run.yaml")).write_bytes(declared)
    report = ingest(plan_ingest(folder, load_ingestors(project).values()), open_store(project), "wh record")
    problems = [*report.problems, *(problem for bundle in report.bundles for problem in bundle.problems)]
    if problems or not all(bundle.digest for bundle in report.bundles):
        for problem in problems:
            notice(str(problem))
        notice(f"the recording is not in the store; it stays in {folder}: wh ingest takes it")
        return ExitCode.FAILED
    shutil.rmtree(folder)
    digests = [str(bundle.digest) for bundle in report.bundles]
    if args.json:
        print_json({"artifact_manifest_digest": digests[0], "runs": [run.folder.name for run in recorded.runs]})
    else:
        say("\n".join(digests))
    return ExitCode.OK if all(run.status == "succeeded" for run in recorded.runs) else ExitCode.FAILED
