"""Limits of a recorded command, with real processes: by a control group where this machine lets one be made, and by the watchdog.

Commands that are to be ended sleep for longer than any test waits: what ends them is the limit.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from warehouse.record.command import record
from warehouse.record.processes import limits as module
from warehouse.record.processes.limits import WATCHDOG, Confinement, Limits


@pytest.fixture(params=["as it is", "without groups"])
def groups(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "without groups":
        monkeypatch.setattr(module, "_parent_group", lambda controller: (None, False))
    return str(request.param)


def run(folder: Path, code: str, **limits: Any) -> dict[str, Any]:
    record([sys.executable, "-c", code], folder / "recording", limits=Limits(**limits))
    document: dict[str, Any] = json.loads((folder / "recording" / "run-01" / "run.json").read_text())
    return document


def alive(folder: Path) -> list[int]:
    """Processes that the command left: it writes their numbers."""
    pids = [int(line) for line in (folder / "recording" / "run-01" / "stdout.txt").read_text().split()]
    assert pids
    return [pid for pid in pids if Path(f"/proc/{pid}").exists() and not module._is_dead(pid)]


def test_a_command_that_takes_too_much_memory_is_ended(tmp_path: Path, groups: str) -> None:
    seen = run(tmp_path, "import time; held = bytearray(400_000_000); time.sleep(20)", memory_bytes=100_000_000)
    assert (seen["status"], seen["ended_by_limit"]) == ("failed", "memory") and seen["wall_s"] < 15
    assert groups == "as it is" or seen["limit_mechanisms"] == {"memory": WATCHDOG}


def test_a_command_that_hangs_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    code = (
        "import subprocess, time; one = subprocess.Popen(['sleep', '60'], start_new_session=True);"
        " two = subprocess.Popen(['sleep', '60']); print(one.pid, two.pid, flush=True); time.sleep(60)"
    )
    seen = run(tmp_path, code, timeout_s=1.5)
    assert (seen["status"], seen["ended_by_limit"], seen["limit_mechanisms"]) == ("failed", "time", {"time": WATCHDOG}) and seen["wall_s"] < 15
    assert alive(tmp_path) == []


def test_a_command_that_forks_without_end_is_held(tmp_path: Path, groups: str) -> None:
    code = "import os, time\nwhile True:\n    child = os.fork()\n    if not child: time.sleep(60); os._exit(0)\n    print(child, flush=True)"
    seen = run(tmp_path, code, processes=30, timeout_s=20)
    assert seen["status"] == "failed" and seen["ended_by_limit"] != "time"  # how many it started meanwhile is the machine's speed
    assert seen["refused_processes"] or seen["ended_by_limit"] == "processes" or "RLIMIT_NPROC" in seen["limit_mechanisms"].values()
    assert alive(tmp_path) == []


@pytest.mark.parametrize("where", ["stdout", "a file"])
def test_a_command_that_fills_the_disk_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    (tmp_path / "scratch").mkdir()
    monkeypatch.chdir(tmp_path / "scratch")
    into = "sys.stdout.buffer" if where == "stdout" else "open('file', 'wb')"
    code = f"import sys, time; out = {into}\nfor _ in range(30): out.write(bytes(1_000_000)); out.flush()\ntime.sleep(60)"
    seen = run(tmp_path, code, disk_bytes=20_000_000, timeout_s=30)
    assert (seen["status"], seen["ended_by_limit"], seen["limit_mechanisms"]["disk"]) == ("failed", "disk", WATCHDOG) and seen["wall_s"] < 20


def test_a_command_runs_on_its_cpus_with_its_niceness_and_the_recorder_does_not(tmp_path: Path) -> None:
    before = os.sched_getaffinity(0)
    one = min(before)
    seen = run(tmp_path, "import os; print(sorted(os.sched_getaffinity(0)), os.nice(0))", cpus=(one,), niceness=3)
    out = (tmp_path / "recording" / "run-01" / "stdout.txt").read_text()
    assert out == f"[{one}] {min(19, os.nice(0) + 3)}\n" and os.sched_getaffinity(0) == before
    assert (seen["status"], seen["limits"], seen["ended_by_limit"]) == ("succeeded", {"cpus": [one], "niceness": 3}, None)


@pytest.mark.parametrize(("program", "cpus", "says"), [("no-such-program", (), "no such program"), (sys.executable, (99999,), "Invalid argument")])
def test_a_command_that_cannot_be_started_is_a_failed_run_where_that_is_asked(tmp_path: Path, program: str, cpus: tuple[int, ...], says: str) -> None:
    [run] = record([program, "-c", ""], tmp_path / "recording", limits=Limits(processes=99, cpus=cpus), keep_unstarted=True).runs
    document = json.loads((run.folder / "run.json").read_text())
    assert run.status == document["status"] == "failed" and says in document["failure"] and document["exit_code"] is None


def test_a_group_is_made_below_the_nearest_that_gives_the_controller_on(tmp_path: Path) -> None:
    proc, root = tmp_path / "proc", tmp_path / "cgroup"
    for folder in (proc / "self", root / "user.slice" / "session", root / "memory" / "job"):
        folder.mkdir(parents=True)
    (root / "user.slice" / "cgroup.subtree_control").write_text("memory pids\n")
    (root / "memory" / "job" / "cgroup.procs").touch()
    (proc / "self" / "cgroup").write_text("0::/user.slice/session\n")
    assert module._parent_group("memory", proc, root) == (root / "user.slice", True)
    assert module._parent_group("io", proc, root) == (None, False)
    (proc / "self" / "cgroup").write_text("4:memory:/job\n0::/\n")  # both versions at once, and memory in the first
    assert module._parent_group("memory", proc, root) == (root / "memory" / "job", False)


def test_a_group_of_version_2_is_given_its_limits_and_says_what_they_did(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_parent_group", lambda controller: (tmp_path, True))
    monkeypatch.setattr(module, "_remove_group", shutil.rmtree)  # its files are no kernel's here
    confinement = Confinement(Limits(memory_bytes=100_000_000, processes=9), tmp_path / "out")
    [group] = tmp_path.glob("wh-*")
    assert {file.name: file.read_text() for file in group.iterdir()} == {"memory.max": "100000000", "memory.swap.max": "0", "pids.max": "9"}
    assert str(group) in confinement.command(["true"])
    (group / "memory.events").write_text("low 0\nhigh 0\nmax 3\noom 1\noom_kill 1\n")
    (group / "pids.events").write_text("max 4\n")
    said = confinement.end()
    assert (said["ended_by_limit"], said["refused_processes"]) == ("memory", 4)
    assert said["limit_mechanisms"] == {"memory": "cgroup v2", "processes": "cgroup v2"}


def test_without_limits_nothing_is_said_of_them(tmp_path: Path) -> None:
    record([sys.executable, "-c", ""], tmp_path / "recording")
    assert "limits" not in json.loads((tmp_path / "recording" / "run-01" / "run.json").read_text())


# Programs of the system: the Python of the tests may be root's alone.
FATES: dict[str, tuple[str, Limits]] = {
    "memory": ("head -c 400000000 /dev/zero | tail | sleep 20", Limits(memory_bytes=100_000_000)),
    "time": ("sleep 60", Limits(timeout_s=1.0)),
    "processes": ("while :; do sleep 60 & done", Limits(processes=20, timeout_s=15)),
}


@pytest.mark.skipif(os.getuid() != 0, reason="root alone can become another user; the tests above are of an ordinary user then")
@pytest.mark.parametrize("fate", FATES)
def test_limits_hold_for_an_ordinary_user(fate: str) -> None:
    script, limits = FATES[fate]
    with tempfile.TemporaryDirectory(dir="/tmp") as name:  # the folders of tests are root's alone
        folder = Path(name)
        folder.chmod(0o777)
        record(["true"], folder / "before")  # the user may not read the modules that this imports
        child = os.fork()
        if not child:
            try:
                os.chdir(name)
                os.setgroups([])
                os.setgid(65534)
                os.setuid(65534)
                record(["sh", "-c", script], folder / "recording", limits=limits)
                os._exit(0)
            finally:
                os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        seen: dict[str, Any] = json.loads((folder / "recording" / "run-01" / "run.json").read_text())
    assert seen["status"] == "failed" and seen["wall_s"] < 15
    assert fate == seen["ended_by_limit"] or fate == "processes" and "RLIMIT_NPROC" in seen["limit_mechanisms"].values()
    assert not any("cgroup" in mechanism for mechanism in seen["limit_mechanisms"].values())
