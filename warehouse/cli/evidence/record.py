"""`wh record`."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from warehouse.cli.output import next_step, notice, print_json, say, warn
from warehouse.errors import ExitCode, printable

if TYPE_CHECKING:
    from warehouse.record.command import RecordedRun


PAGE = "docs/ingestors.md"
EXAMPLES = (
    "wh record -- sleep 0.1",
    "wh record --repeats 3 -- python -m warehouse.record.indicators.group_by --rows 20000",
    "wh record --like recorded_run/01KG8Q3V5T2M4N6P8R0S1W3X5Y/run-01",
)
_LIMITS = {
    "cgroup_cpu_limit_cores": "the limit of CPU time, in cores,", "allowed_cores": "the number of cores that it may run on",
    "niceness": "its niceness",
}
_READ_BYTES, _SHOWN_CHARACTERS = 65536, 500  # of what a failed run wrote last
INTERRUPTED = "the recording is not in the store; wh ingest of its folder in .wh/recordings takes what was recorded"


def command(
    argv: Annotated[list[str] | None, typer.Argument(metavar="COMMAND", help="the command, after --")] = None,
    repeats: Annotated[int | None, typer.Option(metavar="N", min=1, help="how many runs (default 1)", show_default=False)] = None,
    like: Annotated[
        str | None, typer.Option(metavar="RUN", help="record this run's command again, with its settings, repeats and declaration")
    ] = None,
    declaration: Annotated[
        Path | None, typer.Option(metavar="FILE", help="what the runs are declared to be: a BenchmarkRun or a workload spec")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print the bundle as JSON")] = False,
) -> ExitCode:
    from ulid import ULID

    from warehouse.project.project import find_project
    from warehouse.record.command import SAMPLE_INTERVAL_S, record

    if bool(argv) == bool(like) or (like and declaration):
        raise typer.BadParameter("give a command after --, or --like RUN and neither a command nor a declaration")
    project = find_project()
    declared: dict[str, bytes] = {}
    again: dict[str, Any] = {}
    if like:
        # By a process of its own, as below.
        found = subprocess.run([sys.executable, "-P", "-m", "warehouse.record.again", str(project.root), like], stdout=subprocess.PIPE)
        if found.returncode:
            return ExitCode(found.returncode)
        again = json.loads(found.stdout)
        declared = {name: text.encode() for name, text in again["declarations"].items()}
        _prepare(again)
    repeats = repeats or again.get("repeats") or 1
    if declaration:
        # By a process of its own: what the rules need in memory would show in the recorded command's peak memory.
        validated = subprocess.run([sys.executable, "-P", "-m", "warehouse.cli.main", "validate", str(declaration)], stdout=sys.stderr)
        if validated.returncode:
            return ExitCode(validated.returncode)
        declared = {declaration.name: declaration.read_bytes()}  # as it is now, whatever the command does to it
    folder = project.root / ".wh" / "recordings" / str(ULID())

    def done(run: "RecordedRun") -> None:
        ending = f"exit code {run.exit_code}" if run.signal is None else f"signal {run.signal}"
        notice(f"run {run.repeat_index} of {repeats}: {run.status}, {ending}, {run.wall_s:.2f} s")

    recorded = record(
        argv or again["argv"], folder, repeats=repeats, sample_interval_s=again.get("sample_interval_s", SAMPLE_INTERVAL_S), redact=project.redact,
        campaign=again.get("recording_id"), on_run=done,
    )
    for redaction in recorded.redactions:
        notice(f"not in the evidence: {redaction.what}, argv[{redaction.argument}]")
    # Only now the heavy libraries: what the recorder had in memory shows in its children's peak memory.
    from warehouse.evidence.objects.location import open_store
    from warehouse.landing.declaration.placing import is_named_as_declaration
    from warehouse.landing.ingest import ingest, plan_ingest
    from warehouse.landing.registry import load_ingestors

    for name, content in declared.items():
        (folder / (name if is_named_as_declaration(name) else "benchmark_run.yaml")).write_bytes(content)
    report = ingest(plan_ingest(folder, load_ingestors(project).values()), open_store(project), "wh record")
    problems = [*report.problems, *(problem for bundle in report.bundles for problem in bundle.problems)]
    if problems or not all(bundle.digest for bundle in report.bundles):
        for problem in problems:
            warn(problem)
        warn(f"the recording is not in the store; it stays in {folder}: wh ingest takes it")
        return ExitCode.FAILED
    failed = next((run for run in recorded.runs if run.status == "failed"), None)
    if failed and (said := _last_words(failed.folder)):
        name, line = said
        notice(f"last line in {failed.folder.name}/{name}: {printable(line)}")
    shutil.rmtree(folder)
    digests = [str(bundle.digest) for bundle in report.bundles]
    if as_json:
        print_json({"artifact_manifest_digest": digests[0], "runs": [run.folder.name for run in recorded.runs]})
    else:
        say("\n".join(digests))
    next_step("wh build")
    return ExitCode.OK if all(run.status == "succeeded" for run in recorded.runs) else ExitCode.FAILED


def _last_words(folder: Path) -> tuple[str, str] | None:
    """The last line of a run's standard error, or else of its standard output, and in which file; None where it wrote nothing."""
    for name in ("stderr.txt", "stdout.txt"):
        with open(folder / name, "rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _READ_BYTES))
            if lines := [line for line in map(str.strip, file.read().decode(errors="replace").splitlines()) if line]:
                return name, lines[-1][:_SHOWN_CHARACTERS]
    return None


def _prepare(again: dict[str, Any]) -> None:
    """Go where the recorded command ran, if that is here, with its settings; and say what is not as it was."""
    from warehouse.record.script import find_script

    folder = again["working_folder"]
    if folder and os.path.isdir(folder):
        os.chdir(folder)
    elif folder:
        notice(f"the folder where it ran is not here: {printable(folder)}; the command runs in {os.getcwd()}")
    changed = {name: value for name, value in again["settings"].items() if os.environ.get(name) != value}
    os.environ.update(changed)
    settings = "".join(f"{name}={value} " for name, value in changed.items())
    notice(f"recording again: {printable(settings + shlex.join(again['argv']))}")
    _limit(again["limits"])
    script = find_script(again["argv"])
    if again["script_sha256"] != (script.sha256 if script else None):
        notice("the script is not the recorded one: its runs are of another workload")


def _limit(limits: dict[str, Any]) -> None:
    """Take the niceness of the recorded command, and say which other limits are not as they were: only who starts `wh record` can set those."""
    from warehouse.record.machine import describe_limits

    niceness = limits.get("niceness")
    if isinstance(niceness, int) and niceness != os.getpriority(os.PRIO_PROCESS, 0):
        try:
            os.setpriority(os.PRIO_PROCESS, 0, niceness)
        except PermissionError:
            pass  # it is named below
    now = describe_limits()
    for name, words in _LIMITS.items():
        if name in limits and limits[name] != now[name]:
            notice(f"{words} is {_shown(now[name])}, in the recorded run it was {_shown(limits[name])}")


def _shown(limit: Any) -> str:
    return "none" if limit is None else printable(f"{limit:g}" if isinstance(limit, float) else str(limit))
