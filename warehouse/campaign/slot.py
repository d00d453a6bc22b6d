"""One run of a campaign, recorded by a process of its own: in the cell's environment, in a scratch folder with the campaign's files."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from warehouse.errors import WarehouseError
from warehouse.record.command import record
from warehouse.record.processes.limits import Limits


def main(argument: str) -> int:
    """Record what the JSON document `argument` asks for, and print the run as JSON. Exit code 3: the command could not be started."""
    asked: dict[str, Any] = json.loads(argument)
    os.environ.clear()
    os.environ.update(asked["environment"])
    os.chdir(asked["working_folder"])
    limits = Limits(**{**asked["limits"], "cpus": tuple(asked["limits"]["cpus"])})
    try:
        recorded = record(
            asked["command"], Path(asked["folder"]), sample_interval_s=asked["sample_interval_s"], redact=asked["redact"], limits=limits,
            indicator=asked["indicator"],
        )
    except WarehouseError as error:
        print(json.dumps({"reason": error.message}))
        return 3
    [run] = recorded.runs
    print(json.dumps({"status": run.status, "exit_code": run.exit_code, "signal": run.signal, "wall_s": run.wall_s}))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
