"""Recorders of a campaign's runs. They end with the runner. Runs on several nodes: a launcher that starts the recorder on two nodes, which are processes here with names of hosts of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from built import built, sql_of
from landed import Subject, codes, landed
from samples import campaign
from samples.recording import write_recording
from standard import standard_project

from warehouse.record.processes.limits import _is_dead

REPOSITORY = Path(__file__).resolve().parents[1]
# As srun and mpirun do: the rest of the command line, once on each node, with the rank in a variable; the first failure is its own.
LAUNCHER = """
import os, subprocess, sys
hosts = ["node-a", "node-b"][: int(os.environ["STARTED"])]
started = [
    subprocess.Popen(sys.argv[1:], env={**os.environ, "SLURM_NODEID": str(rank), "AS_HOST": host, "PYTHONPATH": os.environ["PATHS"]})
    for rank, host in enumerate(hosts)
]
sys.exit(max([process.wait() for process in started]))
"""
AS_HOST = "import os, socket\nif 'AS_HOST' in os.environ: socket.gethostname = lambda: os.environ['AS_HOST']\n"
BENCH = """
import json, os, sys, time
time.sleep(0.3)  # long enough for the nodes to be sampled
if os.environ["FATE"] == "hangs" and os.environ["AS_HOST"] == "node-b":
    time.sleep(60)  # until its limit ends it
if os.environ["SLURM_NODEID"] == "0":
    print(json.dumps({"name": "PiTwo", "component": "two", "@parameters": {"n": 1}, "@result": {"elapsed": 5.0}}))
"""
NO_LIMITS = {"memory_bytes": None, "timeout_s": None, "processes": None, "cpus": [], "niceness": 0}


def launched(folder: Path, fate: str, started: int = 2, **limits: Any) -> Path:
    """The recording of a run that a launcher starts on so many of two nodes."""
    scratch = folder / "scratch"
    (folder / "site").mkdir(parents=True)
    scratch.mkdir()
    (folder / "site" / "sitecustomize.py").write_text(AS_HOST)
    (scratch / "launch.py").write_text(LAUNCHER)
    (scratch / "bench.py").write_text(BENCH)
    environment = {"PATH": os.environ["PATH"], "FATE": fate, "STARTED": str(started), "PATHS": f"{folder / 'site'}:{REPOSITORY}"}
    asked = {
        "command": [sys.executable, "bench.py"], "folder": str(folder / "recording"), "working_folder": str(scratch), "environment": environment,
        "limits": {**NO_LIMITS, **limits}, "sample_interval_s": 1.0,
        "redact": [], "indicator": "PiTwo", "launcher": [sys.executable, "launch.py"], "nodes": 2,
    }
    command = [sys.executable, "-P", "-m", "warehouse.campaign.slot"]
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    done = subprocess.run(command, input=json.dumps(asked), capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    return folder / "recording"


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


def run_of(recording: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((recording / "run-01" / "run.json").read_text())
    return document


def test_a_run_on_two_nodes_is_one_run_with_a_bundle_of_each(tmp_path: Path) -> None:
    recording = launched(tmp_path, "runs")
    assert run_of(recording)["status"] == "succeeded"
    campaign.add_slot(recording, slot="s01-r01-c01")
    campaign.write_all(recording / "of")
    sql = sql_of(built(recording, standard_project(tmp_path / "project")))
    [(run, case, status, bundles)] = sql(
        "select run_id, benchmark_case_id, status, (select count(distinct artifact_manifest_digest) from recorded_node where run_id = run.run_id)"
        " from benchmark_run_fact as run where family = 'recorded_run'"
    )
    assert (case, status, bundles) == ("two/PiTwo", "succeeded", 2)
    assert sql("select nodes, status, run_id from campaign_cell_fact where cell = 'c01' and session = 1") == [("node-a, node-b", "succeeded", run)]
    assert sql("select node_rank, node_name from node_sample group by all order by all") == [(0, "node-a"), (1, "node-b")]
    slices = "select distinct node_name, metric from telemetry_slice_fact where metric in ('cpu_util_pct', 'context_switch_count') order by all"
    assert {node for node, _ in sql(slices)} >= {"node-a", "node-b"}
    assert sql("select node_count, cpu_logical_count from hardware_topology_dim") == [(2, os.cpu_count())]
    [(saturated, count)] = sql("select bool_or(is_host_saturated is null), count(*) from recorded_disturbance")
    assert (saturated, count) == (False, 1)


def test_a_run_that_a_node_did_not_record_or_was_ended_on_has_failed(tmp_path: Path) -> None:
    assert run_of(launched(tmp_path / "lost", "runs", started=1))["failure"] == "1 of 2 nodes left a recording"
    recording = launched(tmp_path / "hangs", "hangs", timeout_s=2.0)
    assert run_of(recording)["status"] == "failed"
    ended = [json.loads(path.read_text()).get("ended_by_limit") for path in recording.glob("nodes/*/run-01/run.json")]
    assert sorted(ended, key=str) == [None, "time"]


@pytest.mark.parametrize("part_of", [{"run_id": "another/run"}, {"run_id": 7}, 7])
def test_the_recording_of_a_node_that_names_no_run_is_no_run(tmp_path: Path, part_of: Any) -> None:
    recording = write_recording(tmp_path / "recording", "01KCAMPA1GN00000000000000X", (1.0,))
    recorded = json.loads((recording / "recording.json").read_text())
    (recording / "recording.json").write_text(json.dumps({**recorded, "part_of": part_of}))
    rows = landed(Subject("recorded_run").ingestor, recording, tmp_path / "store")
    assert codes(rows) == {"part-of-no-run": 1} and not rows["recorded_run"] and not rows["recorded_node_run"]
