"""`record`: real commands, and what the evidence folder says of them."""

from __future__ import annotations

import dataclasses
import json
import os
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from warehouse.digest import bytes_digest
from warehouse.errors import WarehouseError
from warehouse.record import host
from warehouse.record.command import RecordedBundle, record
from warehouse.record.git import describe_git, without_credentials
from warehouse.record.host import HostReading, HostWindows, window
from warehouse.record.machine import cgroup_cpu_limit, numa_nodes
from warehouse.record.sampler import Sampler
from warehouse.record.script import find_script
from warehouse.record.software import describe_software, interpreter_of

MIB = 1 << 20


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def read(path: Path) -> dict:
    return json.loads(path.read_text())


def host_rows(run: Path) -> list[dict]:
    return [json.loads(line) for line in (run / "host.jsonl").read_text().splitlines()]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "recording"


def test_a_folder_covers_all_repeats(folder: Path) -> None:
    seen = []
    command = python("import sys; print('out'); print('err', file=sys.stderr)")
    bundle = record(command, folder, repeats=3, on_run=seen.append)
    assert bundle == RecordedBundle(folder, tuple(seen))
    assert [run.folder.name for run in bundle.runs] == ["run-01", "run-02", "run-03"]
    for run in bundle.runs:
        assert (run.status, run.exit_code, run.signal) == ("succeeded", 0, None)
        assert (run.folder / "stdout.txt").read_bytes() == b"out\n"
        assert (run.folder / "stderr.txt").read_bytes() == b"err\n"
    recording = read(folder / "recording.json")
    assert next(iter(recording)) == "format"
    assert (recording["argv"], recording["repeats"], recording["script_sha256"]) == (command, 3, None)


def test_times_are_utc_and_agree(folder: Path) -> None:
    before = datetime.now(UTC)
    [run] = record(python("import time; time.sleep(0.2)"), folder).runs
    document = read(run.folder / "run.json")
    assert all(document[key].endswith("Z") and "." in document[key] for key in ("started_at", "ended_at"))
    started, ended = (datetime.fromisoformat(document[key]) for key in ("started_at", "ended_at"))
    assert before <= started < ended <= datetime.now(UTC)
    assert 0.2 <= document["wall_s"] < 5
    assert (ended - started).total_seconds() == pytest.approx(document["wall_s"], abs=0.05)


@pytest.mark.parametrize(
    ("code", "exit_code", "number"),
    [
        ("raise SystemExit(3)", 3, None),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", None, signal.SIGKILL),
    ],
)
def test_a_failed_run_is_recorded(folder: Path, code: str, exit_code: int | None, number: int | None) -> None:
    bundle = record(python(code), folder, repeats=2)
    assert [(run.status, run.exit_code, run.signal) for run in bundle.runs] == [("failed", exit_code, number)] * 2
    document = read(folder / "run-02" / "run.json")
    assert (document["status"], document["exit_code"], document["signal"]) == ("failed", exit_code, number)


@pytest.mark.parametrize("command", [["/nowhere/benchmark"], ["/"], ["a\0b"]])
def test_a_command_that_cannot_start_leaves_nothing(folder: Path, command: list[str]) -> None:
    with pytest.raises(WarehouseError) as caught:
        record(command, folder)
    assert caught.value.code == "WH401"
    assert not folder.exists()


def test_evidence_is_never_written_over(folder: Path) -> None:
    folder.mkdir()
    (folder / "kept.txt").write_text("kept")
    with pytest.raises(WarehouseError):
        record(python(""), folder)
    assert [path.name for path in folder.iterdir()] == ["kept.txt"]


def test_usage_is_of_one_run_alone(folder: Path) -> None:
    burn = "import os, time\nif os.path.exists({flag!r}):\n  time.sleep(0.05)\nelse:\n  open({flag!r}, 'w')\n" \
        "  while time.process_time() < 0.5: pass"
    bundle = record(python(burn.format(flag=str(folder.parent / "flag"))), folder, repeats=2)
    burning, idle = (read(run.folder / "run.json") for run in bundle.runs)
    assert 0.49 <= burning["user_cpu_s"] + burning["system_cpu_s"] < 1.0
    assert idle["user_cpu_s"] + idle["system_cpu_s"] < 0.3
    assert idle["voluntary_context_switches"] >= 1
    assert idle["minor_page_faults"] > 100


def test_peak_memory_is_in_bytes_and_never_the_recorders_own(folder: Path) -> None:
    # In a process of its own: this one's peak depends on the tests before.
    script = f"""
from pathlib import Path
from warehouse.record.command import record
ballast = b"x" * {80 * MIB}
record([{sys.executable!r}, "-c", "b'x' * {200 * MIB}"], Path({str(folder)!r}) / "large")
record(["true"], Path({str(folder)!r}) / "small")
"""
    # By way of a shell, so that what is inherited is the shell's small peak and not this test runner's.
    subprocess.run(["sh", "-c", '"$@"; exit $?', "sh", *python(script)], check=True, timeout=30)
    large, small = (read(folder / name / "run-01" / "run.json") for name in ("large", "small"))
    assert 200 * MIB < large["max_rss_bytes"] < 260 * MIB
    assert small["recorder_max_rss_bytes"] > 80 * MIB
    assert small["max_rss_bytes"] is None


def test_what_the_command_left_running_is_ended(folder: Path) -> None:
    command = ["sh", "-c", "sleep 60 & echo $!"]
    [run] = record(command, folder).runs
    assert read(run.folder / "run.json")["left_processes_killed"] is True
    left = int((run.folder / "stdout.txt").read_text())
    deadline = time.monotonic() + 1
    while is_running(left) and time.monotonic() < deadline:
        time.sleep(0.01)  # between looks, until the deadline
    assert not is_running(left)


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_an_interrupt_keeps_what_was_recorded(folder: Path) -> None:
    script = f"""
from pathlib import Path
from warehouse.record.command import record
code = "import time; print('begun', flush=True); time.sleep(60)"
bundle = record([{sys.executable!r}, "-c", code], Path({str(folder)!r}), repeats=3)
print([run.status for run in bundle.runs])
"""
    recorder = subprocess.Popen(python(script), stdout=subprocess.PIPE, text=True)
    output = folder / "run-01" / "stdout.txt"
    deadline = time.monotonic() + 10
    while not (output.exists() and output.read_text()) and time.monotonic() < deadline:
        time.sleep(0.02)  # between looks, until the deadline
    os.kill(recorder.pid, signal.SIGINT)
    printed, _ = recorder.communicate(timeout=10)
    assert printed == "['interrupted']\n"
    document = read(folder / "run-01" / "run.json")
    assert (document["status"], document["signal"]) == ("interrupted", signal.SIGTERM)
    assert output.read_text() == "begun\n"
    assert host_rows(folder / "run-01")
    assert not (folder / "run-02").exists()


def test_large_output_goes_straight_to_the_file(folder: Path) -> None:
    [run] = record(python(f"import sys; sys.stdout.write('x' * {20 * MIB})"), folder).runs
    assert (run.folder / "stdout.txt").stat().st_size == 20 * MIB


def test_windows_tile_the_run(folder: Path) -> None:
    [run] = record(python("import time; time.sleep(0.5)"), folder, sample_interval_s=0.1).runs
    rows, document = host_rows(run.folder), read(run.folder / "run.json")
    assert document["host_sampling_error"] is None
    assert len(rows) >= 4
    assert [row["window_start"] for row in rows[1:]] == [row["window_end"] for row in rows[:-1]]
    assert rows[0]["window_start"] <= document["started_at"]
    assert rows[-1]["window_end"] >= document["ended_at"]
    assert sum(row["duration_s"] for row in rows) >= document["wall_s"]
    assert all(0 < row["memory_available_bytes"] for row in rows)


def test_work_in_the_first_moment_is_seen(folder: Path) -> None:
    # Shorter than a sample interval: without a baseline before the start there would be no window at all.
    code = """
import socket, threading
server = socket.create_server(("127.0.0.1", 0))
def send():
    with socket.create_connection(server.getsockname()) as client: client.sendall(bytes(8 << 20))
sender = threading.Thread(target=send); sender.start()
connection, _ = server.accept()
while connection.recv(1 << 16): pass
"""
    [run] = record(python(code), folder, sample_interval_s=30).runs
    [row] = host_rows(run.folder)
    assert 8 * MIB <= row["net_loopback_recv_bytes"] < 64 * MIB


READING = HostReading(
    utc=datetime(2026, 1, 1, tzinfo=UTC), monotonic_s=10.0, cpus=((100.0, 200.0), (100.0, 200.0)),
    memory_used_bytes=1, memory_available_bytes=2, disk={"sda": (1000, 2000), "sdb": (5, 5)},
    net_external={"eth0": (7, 8)}, net_loopback=None,
)


def later(**changes) -> HostReading:
    base = {"utc": READING.utc + timedelta(seconds=2), "monotonic_s": 12.0, "cpus": ((102.0, 202.0), (100.5, 202.0))}
    return dataclasses.replace(READING, **(base | changes))


def test_a_window_holds_deltas_over_its_whole_length() -> None:
    row = window(READING, later(disk={"sda": (1500, 2000), "sdb": (6, 5)}, net_external={"eth0": (17, 28)}))
    assert row["duration_s"] == 2.0
    assert (row["cpu_min_pct"], row["cpu_mean_pct"], row["cpu_max_pct"]) == (0.0, 37.5, 75.0)
    assert (row["disk_read_bytes"], row["disk_write_bytes"]) == (501, 0)
    assert (row["net_external_recv_bytes"], row["net_external_sent_bytes"]) == (10, 20)
    assert row["counter_resets"] == []


@pytest.mark.parametrize(
    ("changes", "absent", "resets"),
    [
        ({"disk": {"sda": (3, 2500), "sdb": (5, 5)}}, {"disk_read_bytes"}, ["disk_read_bytes"]),
        ({"net_external": {"eth0": (7, 8), "eth1": (0, 0)}},
         {"net_external_recv_bytes", "net_external_sent_bytes"},
         ["net_external_recv_bytes", "net_external_sent_bytes"]),
        ({"disk": None}, {"disk_read_bytes", "disk_write_bytes"}, []),
        ({"cpus": ((102.0, 202.0),)}, {"cpu_mean_pct", "cpu_min_pct", "cpu_max_pct"}, ["cpu_pct"]),
        ({"cpus": READING.cpus}, {"cpu_mean_pct", "cpu_min_pct", "cpu_max_pct"}, []),
    ],
)
def test_what_has_no_delta_is_absent(changes: dict, absent: set[str], resets: list[str]) -> None:
    complete = window(READING, later())
    row = window(READING, later(**changes))
    assert complete.keys() - row.keys() == absent
    assert row["counter_resets"] == resets


def test_a_failing_sampler_tells(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    readings = iter([READING])

    def read_once() -> HostReading:
        try:
            return next(readings)
        except StopIteration:
            raise AttributeError("no disk counters here") from None

    monkeypatch.setattr(host, "read_host", read_once)
    [run] = record(["true"], folder).runs
    assert run.status == "succeeded"
    assert read(run.folder / "run.json")["host_sampling_error"] == "AttributeError: no disk counters here"
    without_baseline = Sampler(folder / "never.jsonl", 1, HostWindows())
    without_baseline.start()
    assert without_baseline.stop() == "AttributeError: no disk counters here"


def test_the_script_is_found_and_hashed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in (("bench.py", "1"), ("run.sh", "2"), ("pkg/__main__.py", "3"), ("pkg/__init__.py", "")):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)

    def sha256(*command: str) -> str | None:
        script = find_script(command)
        return script.sha256 if script else None

    bench, shell, main = bytes_digest(b"1"), bytes_digest(b"2"), bytes_digest(b"3")
    assert sha256(sys.executable, "-X", "dev", "bench.py", "run.sh") == bench
    assert sha256("numactl", "-N", "0", sys.executable, "bench.py") == bench
    assert sha256(sys.executable, "-m", "pkg", "bench.py") == main
    assert sha256("/bin/bash", "run.sh") == shell
    assert sha256("./run.sh", "bench.py") == shell
    assert sha256(sys.executable, "-c", "pass", "bench.py") is None
    assert sha256("sleep", "1") is None


def test_software_lists_the_packages_the_command_sees() -> None:
    described = describe_software([sys.executable])
    assert described["python"]["version"] == ".".join(map(str, sys.version_info[:3]))
    assert any(package.startswith("psutil==") for package in described["python"]["packages"])
    assert described["python"]["packages"] == sorted(described["python"]["packages"])
    assert describe_software(["sleep"])["python"] is None
    assert describe_software(["/nowhere/python"])["python"] is None


@pytest.mark.parametrize("path", ["", "."])
def test_no_file_of_the_working_folder_runs_to_describe_a_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", path)
    for name in ("json", "csv", "platform", "package/__init__"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    for name in ("package/bench", "bare/inner/bench"):  # a folder without __init__.py
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / f"{name}.py").write_text("")
    assert any(package.startswith("psutil==") for package in describe_software([sys.executable])["python"]["packages"])
    assert find_script([sys.executable, "-m", "package.bench"]) and find_script([sys.executable, "-m", "bare.inner.bench"])
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("first_line", "command", "expected"),
    [
        ("#!/venv/bin/python3.12", ["{tool}", "serve"], "/venv/bin/python3.12"), ("#!/usr/bin/env -S python3 -u", ["{tool}"], "python3"),
        ("#!/bin/sh", ["{tool}"], None), ("", ["{tool}"], None), ("#!/venv/bin/python3", ["numactl", "--cpunodebind=0", "{tool}"], "/venv/bin/python3"),
        ("#!/bin/sh", ["env", "A=1", "python3", "x.py"], "python3"), ("#!/bin/sh", ["{tool}", "python3"], None), ("", ["no-such-tool"], None),
        ("", ["env", "grep", "x", "python3"], None), ("", ["timeout", "5", "./bench", "/usr/bin/python3"], None),
        ("", ["stdbuf", "-oL", "{tool}", "python3"], None), ("", ["perf", "stat", "-e", "cycles", "python3"], "python3"),
        ("", ["nsys", "profile", "-w", "true", "-o", "out", "env", "A=/b", "python3", "x.py"], "python3"),
    ],
)
def test_the_interpreter_of_a_command_is_in_its_first_line(tmp_path: Path, first_line: str, command: list[str], expected: str | None) -> None:
    tool = tmp_path / "tool"
    tool.write_text(f"{first_line}\n")
    tool.chmod(0o755)
    assert interpreter_of([each.format(tool=tool) for each in command]) == expected


def test_the_commit_branch_and_state_of_the_working_folder_are_kept(tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repository = tmp_path / "repository"
    repository.mkdir()
    monkeypatch.chdir(repository)
    assert describe_git() is None

    def git(*arguments: str) -> str:
        return subprocess.run(["git", "-c", "user.name=n", "-c", "user.email=e", *arguments], check=True, capture_output=True, text=True).stdout.strip()

    git("init", "-q", "-b", "feature/x")
    assert describe_git() is None  # no commit yet
    (repository / "file").write_text("one")
    git("add", "file")
    git("commit", "-q", "-m", "one")
    git("remote", "add", "origin", "https://user:ghp_secret@host/group/repository.git?token=x")
    (repository / "untracked").write_text("")
    hook = repository / "monitor"
    hook.write_text("#!/bin/sh\ntouch ran\n")
    hook.chmod(0o755)
    git("config", "core.fsmonitor", str(hook))
    record(["true"], folder)
    expected = {"commit": git("rev-parse", "HEAD"), "branch": "feature/x", "is_dirty": False, "remote": "https://host/group/repository.git"}
    assert read(folder / "recording.json")["git"] == expected and not (repository / "ran").exists()
    (repository / "file").write_text("two")
    git("config", "--unset", "core.fsmonitor")
    git("checkout", "-q", "--detach")
    assert describe_git() == {**expected, "branch": None, "is_dirty": True}


def _git(*arguments: str) -> str:
    options = ("-c", "user.name=n", "-c", "user.email=e", "-c", "protocol.file.allow=always")
    return subprocess.run(["git", *options, *arguments], check=True, capture_output=True, text=True).stdout.strip()


def _repository(folder: Path) -> Path:
    """A repository with a file of two letters and one, and a filter for texts that leaves a file behind."""
    folder.mkdir()
    _git("-C", str(folder), "init", "-q")
    (folder / ".gitattributes").write_text("*.txt filter=ev\n")
    (folder / "a.txt").write_text("aa")
    (folder / "b.bin").write_text("bb")
    _git("-C", str(folder), "add", ".")
    _git("-C", str(folder), "commit", "-q", "-m", "one")
    _git("-C", str(folder), "config", "filter.ev.clean", f"sh -c 'touch {folder.parent}/ran; cat'")
    return folder


def test_no_filter_of_a_repository_or_its_submodule_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What only a filter could compare is not known; what differs without it is known to."""

    def is_dirty() -> bool | None:
        described = describe_git()
        assert described and not (tmp_path / "ran").exists()
        return described["is_dirty"]

    inner, outer = _repository(tmp_path / "inner"), _repository(tmp_path / "outer")
    _git("-C", str(outer), "submodule", "--quiet", "add", str(inner), "sub")
    (outer / "folder").mkdir()
    _git("-C", str(outer), "commit", "-q", "-m", "two")
    submodule = outer / "sub"
    _git("-C", str(submodule), "config", "filter.ev.clean", f"sh -c 'touch {tmp_path}/ran; cat'")
    (tmp_path / "ran").unlink(missing_ok=True)
    for repository in (outer, submodule):  # no file as new as the index: its content would be compared
        for path in ("a.txt", "b.bin", ".gitattributes"):
            os.utime(repository / path, (1, 1))
        _git("-C", str(repository), "-c", "filter.ev.clean=", "update-index", "-q", "--refresh")
    monkeypatch.chdir(outer / "folder")
    assert is_dirty() is False
    (outer / "a.txt").write_text("xx")
    assert is_dirty() is None
    (outer / "b.bin").write_text("xx")
    assert is_dirty() is True
    (outer / "a.txt").write_text("aa")
    (outer / "b.bin").write_text("bb")
    assert is_dirty() is False
    (submodule / "a.txt").write_text("xx")
    assert is_dirty() is None
    (submodule / "b.bin").write_text("xx")
    assert is_dirty() is True
    _git("-C", str(outer), "config", "filter.a=b.clean", f"touch {tmp_path}/ran")  # git has no option for such a name
    (outer / ".gitattributes").write_text("* filter=a=b\n")
    assert is_dirty() is True  # of the submodule


def test_nothing_is_fetched_into_a_partial_clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    origin = _repository(tmp_path / "origin")
    _git("-C", str(origin), "config", "uploadpack.allowFilter", "true")
    clone = tmp_path / "clone"
    _git("clone", "-q", "--no-checkout", "--filter=tree:0", f"file://{origin}", str(clone))
    _git("-C", str(clone), "config", "remote.origin.uploadpack", f"touch {tmp_path}/ran; git-upload-pack")
    monkeypatch.chdir(clone)
    described = describe_git()
    assert described and described["commit"] == _git("-C", str(origin), "rev-parse", "HEAD") and described["is_dirty"] is None
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("url", "kept"),
    [
        ("https://user:p@ss1@host/x.git", "https://host/x.git"), ("https://user:p@host:8443/x?token=y", "https://host:8443/x"),
        ("//user:pw@host/x", "//host/x"), ("https://user:pa/ss@host/x", None), ("https://user:p?ss@host/x", None), ("https://user:p#ss@host/x", None),
        ("https://user:pw", None), ("https:/user:pw@host/x", None), ("x-access-token:ghp_abcdefghijklmnopqrst@github.com:o/r", None),
        ("ext::sh -c 'curl https://user:pw@host'", None), ("git@host:group/x.git", "git@host:group/x.git"), ("ssh://git@host:22/x", "ssh://host:22/x"),
        ("file:///srv/x.git", "file:///srv/x.git"), ("/srv/x.git", "/srv/x.git"), ("../x", "../x"), ("https://[::1]:80/x", "https://[::1]:80/x"),
    ],
)
def test_a_remote_is_kept_without_credentials(url: str, kept: str | None) -> None:
    assert without_credentials(url) == kept


def test_a_remote_has_no_secret_of_the_rules_for_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repository = _repository(tmp_path / "repository")
    monkeypatch.chdir(repository)
    _git("remote", "add", "origin", "ghp_abcdefghijklmnopqrst@github.com:customer/r")
    described = describe_git(["customer"])
    assert described and described["remote"] == "[redacted]@github.com:[redacted]/r"


def test_affinity_and_niceness_are_those_that_the_command_inherits() -> None:
    told = "import json; from warehouse.record.machine import describe_machine as told; print(json.dumps(told()))"
    core = str(min(os.sched_getaffinity(0)))
    run = subprocess.run(["taskset", "-c", core, "nice", "-n", "19", sys.executable, "-c", told], capture_output=True, check=True)
    machine = json.loads(run.stdout)
    assert (machine["allowed_cores"], machine["niceness"]) == (1, 19)


def test_cgroup_limits_and_numa_nodes_are_read(tmp_path: Path) -> None:
    for name, text in (
        ("v2/cpu.max", "150000 100000\n"), ("free/cpu.max", "max 100000\n"),
        ("v1/cpu.cfs_quota_us", "400000\n"), ("v1/cpu.cfs_period_us", "100000\n"),
        ("nodes/node10/cpulist", "4-7\n"), ("nodes/node2/cpulist", "0-3\n"),
        ("nodes/node2/meminfo", "Node 2 MemTotal:       2048 kB\n"),
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert cgroup_cpu_limit([tmp_path / "v2", tmp_path / "free", tmp_path / "v1"]) == 1.5
    assert cgroup_cpu_limit([tmp_path / "v1"]) == 4.0
    assert cgroup_cpu_limit([tmp_path / "free", tmp_path / "none"]) is None
    assert numa_nodes(tmp_path / "nodes") == [
        {"node": 2, "cpus": "0-3", "memory_bytes": 2 * MIB}, {"node": 10, "cpus": "4-7", "memory_bytes": None},
    ]
    assert numa_nodes(tmp_path / "none") is None


def test_the_group_by_indicator_keeps_the_contract(folder: Path) -> None:
    options = ["--rows", "20000", "--groups", "10", "--threads", "1", "--repetitions", "3"]
    [run] = record([sys.executable, "-m", "warehouse.record.indicators.group_by", *options], folder).runs
    assert run.status == "succeeded", (run.folder / "stderr.txt").read_text()
    printed = read(run.folder / "stdout.txt")
    result = printed["@result"]
    assert printed["@parameters"] == {"rows": 20000, "groups": 10, "threads": 1, "repetitions": 3}
    assert result.keys().isdisjoint(printed["@parameters"])
    assert 0 < result["elapsed_min_ms"] <= result["elapsed_ms"] <= result["elapsed_max_ms"]
    assert result["rows_per_s"] == pytest.approx(20000 / result["elapsed_ms"] * 1000)
    assert read(folder / "recording.json")["script_sha256"] is not None
