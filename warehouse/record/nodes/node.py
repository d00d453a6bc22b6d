"""The recording of one node of a run: what a launcher starts on each node, in place of the command.

What the command prints there is passed on to the launcher when it has ended, so that the launcher's own recording has it, too.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

from ulid import ULID

from warehouse.record.command import record
from warehouse.record.nodes.launch import PartOf, node_rank
from warehouse.record.processes.limits import Limits
from warehouse.record.processes.parent import end_with_parent

_NOT_STARTED, _BY_SIGNAL = 127, 128  # as a shell reports them


def main(file: str) -> int:
    """Record what the JSON document in `file` asks for. Returns the exit code of the command, as a shell reports it."""
    asked: dict[str, Any] = json.loads(Path(file).read_text(encoding="utf-8"))
    end_with_parent()  # a launcher that ends the run ends the command, too, which has a session of its own
    os.environ.update(asked["environment"])
    os.chdir(asked["working_folder"])
    recorded = record(
        asked["command"], Path(asked["folder"]) / str(ULID()), sample_interval_s=asked["sample_interval_s"], redact=asked["redact"],
        limits=Limits.of(asked["limits"]), part_of=PartOf(asked["run_id"], node_rank(os.environ)), keep_unstarted=True,
    )
    [run] = recorded.runs
    for name, stream in (("stdout.txt", sys.stdout.buffer), ("stderr.txt", sys.stderr.buffer)):
        with (run.folder / name).open("rb") as written:
            shutil.copyfileobj(written, stream)
    if run.signal is not None:
        return _BY_SIGNAL + run.signal
    return _NOT_STARTED if run.exit_code is None else run.exit_code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
