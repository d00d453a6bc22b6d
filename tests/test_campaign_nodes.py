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
from built import sql_of
from landed import Subject, codes, landed
from samples.recording import write_recording
from standard import standard_project

from warehouse.record.processes.limits import _is_dead

REPOSITORY = Path(__file__).resolve().parents[1]
# As srun and mpirun do: the rest of the command line, once on each node, with the rank in a variable; the first failure is its own.
LAUNCHER = """
import os, subprocess, sys
hosts = ["node-a"] if os.environ["FATE"] == "lost" else ["node-a", "node-b"]
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
SPEC = """
[campaign]
name = "two"
indicator = "PiTwo"
command = ["python", "bench.py"]
files = ["bench.py", "launch.py"]
nodes = 2
launcher = ["python", "launch.py"]
[factors.fate]
environment = "FATE"
values = ["runs", "hangs", "lost"]
[environment]
PATHS = "{paths}"
[resolve]
exclude_newer = 2026-11-01T00:00:00Z
[limits]
timeout = "3 s"
"""
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


def test_a_campaign_on_two_nodes_has_a_bundle_of_each_and_says_on_which_a_run_failed(tmp_path: Path, wh_on) -> None:
    (tmp_path / "site").mkdir()
    paths = f"{tmp_path / 'site'}:{REPOSITORY}"
    for name, text in (("site/sitecustomize.py", AS_HOST), ("launch.py", LAUNCHER), ("bench.py", BENCH), ("spec.toml", SPEC.format(paths=paths))):
        (tmp_path / name).write_text(text)
    project = standard_project(tmp_path / "project")
    for line in (("matrix", str(tmp_path / "spec.toml")), ("build",)):
        status, out, err = wh_on(project, *line)
        assert status == 0, (line, err)
    sql = sql_of(project)
    fates = sql("select factors->>'$.fate', status, status_reason, nodes from campaign_cell_fact order by cell")
    assert fates == [
        ("runs", "succeeded", None, "node-a, node-b"), ("hangs", "failed", "ended by its limit of time on node-b", "node-a, node-b"),
        ("lost", "failed", "1 of 2 nodes left a recording", "node-a"),
    ]
    [(run, case, bundles)] = sql(
        "select run_id, benchmark_case_id, (select count(distinct artifact_manifest_digest) from recorded_node where run_id = run.run_id)"
        " from benchmark_run_fact as run where family = 'recorded_run' and status = 'succeeded'"
    )
    assert (case, bundles) == ("two/PiTwo", 2)
    assert sql(f"select node_rank, node_name from node_sample where run_id = '{run}' group by all order by all") == [(0, "node-a"), (1, "node-b")]
    slices = f"select distinct node_name from telemetry_slice_fact where metric in ('cpu_util_pct', 'context_switch_count') and run_id = '{run}'"
    assert {node for node, in sql(slices)} >= {"node-a", "node-b"}
    topology = "select node_count, cpu_logical_count from hardware_topology_dim inner join benchmark_run_fact using (hardware_topology_key)"
    assert sql(f"{topology} where run_id = '{run}'") == [(2, os.cpu_count())]
    [(saturated, count)] = sql(f"select bool_or(is_host_saturated is null), count(*) from recorded_disturbance where run_id = '{run}'")
    assert (saturated, count) == (False, 1)


@pytest.mark.parametrize("part_of", [{"run_id": "another/run"}, {"run_id": 7}, 7])
def test_the_recording_of_a_node_that_names_no_run_is_no_run(tmp_path: Path, part_of: Any) -> None:
    recording = write_recording(tmp_path / "recording", "01KCAMPA1GN00000000000000X", (1.0,))
    recorded = json.loads((recording / "recording.json").read_text())
    (recording / "recording.json").write_text(json.dumps({**recorded, "part_of": part_of}))
    rows = landed(Subject("recorded_run").ingestor, recording, tmp_path / "store")
    assert codes(rows) == {"part-of-no-run": 1} and not rows["recorded_run"] and not rows["recorded_node_run"]
