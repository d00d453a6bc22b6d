"""`wh task`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from warehouse.cli.output import counted, notice, print_json_line, say, warn
from warehouse.cli.program import usage
from warehouse.errors import ExitCode

PAGE = "docs/scale.md"
EXAMPLES = ("wh task tasks.jsonl", "wh task tasks.jsonl --index 0 --of 4 --json")
INTERRUPTED = "the tasks that are done have their receipts; run the same command again to continue"


def command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="what wh build --engine file wrote")],
    index: Annotated[int, typer.Option(min=0, help="which slice, from 0")] = 0,
    of: Annotated[int, typer.Option(min=1, help="how many slices there are")] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="print each task as JSON, one a line")] = False,
) -> ExitCode:
    """Each task makes parts of tables in the store, and a receipt; a task that has one is not run again. A scheduler that ends a slice and
    starts it again loses at most a task."""
    if index >= of:
        raise usage(f"--index {index}: the slices of --of {of} are 0 to {of - 1}")
    from warehouse.scale.engines.file import run_slice
    from warehouse.scale.task import TaskFailed

    done = failed = 0
    for task, result in run_slice(file, index, of):
        if isinstance(result, TaskFailed):
            failed += 1
            warn(result.fault.error())
        else:
            done += 1
        if as_json:
            seconds = None if isinstance(result, TaskFailed) else result.seconds
            print_json_line({"task": task.digest, "kind": task.kind, "subject": task.subject, "is_done": seconds is not None, "seconds": seconds})
        elif not isinstance(result, TaskFailed):
            say(f"{task.digest[:12]}  {task.subject}: {counted(len(result.parts), 'part')}, {result.seconds:.1f} s", flush=True)
    notice(f"{counted(done, 'task')} done" + (f", {failed:,} failed" if failed else ""))
    return ExitCode.FAILED if failed else ExitCode.OK
