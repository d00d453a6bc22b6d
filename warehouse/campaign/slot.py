"""One run of a campaign, recorded by a process of its own: in the cell's environment, in a scratch folder with the campaign's files. A run on several
nodes is started by its launcher, and each node records its own part beside it.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ulid import ULID

from warehouse.record.command import record
from warehouse.record.nodes.launch import NODES, Launch
from warehouse.record.processes.limits import Limits
from warehouse.record.processes.parent import end_with_parent

_LONGER_S = 30.0  # the launcher may take longer than the command on its nodes, which hold the limits themselves


def main() -> None:
    """Record what the JSON document on standard input asks for."""
    end_with_parent()
    asked: dict[str, Any] = json.load(sys.stdin)
    os.environ.clear()
    os.environ.update(asked["environment"])
    os.chdir(asked["working_folder"])
    limits, recording_id, launch = Limits.of(asked["limits"]), str(ULID()), None
    if asked["launcher"]:
        launch = _launch(asked, recording_id)
        limits = Limits(timeout_s=None if limits.timeout_s is None else limits.timeout_s + _LONGER_S)
    record(
        asked["command"], Path(asked["folder"]), sample_interval_s=asked["sample_interval_s"], redact=asked["redact"], limits=limits,
        indicator=asked["indicator"], recording_id=recording_id, launch=launch, keep_unstarted=True,
    )


def _launch(asked: Mapping[str, Any], recording_id: str) -> Launch:
    """How the launcher starts the recorder on each node, which finds what it is asked for in a file beside the scratch folder."""
    file = Path(f"{asked['working_folder']}.json")
    names = ("command", "environment", "working_folder", "limits", "sample_interval_s", "redact")
    wanted = {name: asked[name] for name in names} | {"folder": f"{asked['folder']}/{NODES}", "run_id": f"recorded_run/{recording_id}/run-01"}
    file.touch(mode=0o600)  # variables that are passed on may be secrets
    file.write_text(json.dumps(wanted), encoding="utf-8")
    launcher = tuple(asked["launcher"])
    return Launch((*launcher, sys.executable, "-P", "-m", "warehouse.record.nodes.node", str(file)), launcher, asked["nodes"])


if __name__ == "__main__":
    main()
