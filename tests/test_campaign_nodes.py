"""Recorders of a campaign's runs: they end with the runner, and a recording of a node names the run that it is a part of."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from landed import Subject, codes, landed
from samples.recording import write_recording

from warehouse.record.processes.limits import _is_dead

REPOSITORY = Path(__file__).resolve().parents[1]
NO_LIMITS = {"memory_bytes": None, "timeout_s": None, "processes": None, "cpus": [], "niceness": 0}


def test_a_command_ends_with_the_runner_that_is_killed(tmp_path: Path) -> None:
    asked = {
        "command": ["sh", "-c", "trap '' TERM; echo $$ >> pids; sleep 60 & echo $! >> pids; wait"], "folder": str(tmp_path / "recording"),
        "working_folder": str(tmp_path), "environment": {"PATH": os.environ["PATH"]}, "limits": {**NO_LIMITS, "processes": 50}, "sample_interval_s": 1.0,
        "redact": [], "indicator": None, "launcher": [], "nodes": 0,
    }
    code = "import subprocess, sys; subprocess.run([sys.executable, '-P', '-m', 'warehouse.campaign.slot'], input=sys.argv[1], text=True)"
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    runner = subprocess.Popen([sys.executable, "-c", code, json.dumps(asked)], env=environment, start_new_session=True)
    pids = tmp_path / "pids"
    while not pids.exists() or len(pids.read_text().split()) < 2:
        assert runner.poll() is None
        time.sleep(0.02)  # between looks
    runner.kill()  # and nothing else: neither the recorder nor the command
    runner.wait()
    for pid in pids.read_text().split():
        for _ in range(1000):  # ends before: a command has two seconds
            if not Path(f"/proc/{pid}").exists() or _is_dead(int(pid)):
                break
            time.sleep(0.02)  # between looks
        else:
            raise AssertionError(f"{pid} goes on")


@pytest.mark.parametrize("part_of", [{"run_id": "another/run"}, {"run_id": 7}, 7])
def test_the_recording_of_a_node_that_names_no_run_is_no_run(tmp_path: Path, part_of: Any) -> None:
    recording = write_recording(tmp_path / "recording", "01KCAMPA1GN00000000000000X", (1.0,))
    recorded = json.loads((recording / "recording.json").read_text())
    (recording / "recording.json").write_text(json.dumps({**recorded, "part_of": part_of}))
    rows = landed(Subject("recorded_run").ingestor, recording, tmp_path / "store")
    assert codes(rows) == {"part-of-no-run": 1} and not rows["recorded_run"] and not rows["recorded_node_run"]
