"""Run a command under observation, N times, and leave an evidence folder that covers the N runs.

What was seen is written as it is seen: output goes straight to files, each run is a folder of its own. A run that
fails, dies or is interrupted is a recorded run with that status; only a command that never started is an error.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ulid import ULID

from warehouse.errors import WarehouseError, printable
from warehouse.record.git import describe_git
from warehouse.record.gpu import GpuReadings, gpus
from warehouse.record.gpu_processes import GpuProcesses
from warehouse.record.host import HostWindows, utc_text
from warehouse.record.indicators.contract import breach
from warehouse.record.kernel import NodeReadings
from warehouse.record.machine import describe_machine
from warehouse.record.membership import describe_membership
from warehouse.record.nodes.launch import Launch, PartOf, missing_nodes
from warehouse.record.processes.limits import Confinement, Limits
from warehouse.record.processes.local_servers import LocalServers
from warehouse.record.processes.numa_placement import NumaPlacement, node_of_cpus
from warehouse.record.processes.process_tree import ProcessTree
from warehouse.record.redaction import Redaction, redacted
from warehouse.record.sampler import Sampler
from warehouse.record.script import find_script
from warehouse.record.software import describe_software
from warehouse.record.unread import unread

FORMAT = "warehouse-recording"
FORMAT_VERSION = 1
SAMPLE_INTERVAL_S = 1.0
_SERVERS = "servers.jsonl"
_GRACE_S = 2.0  # between asking an interrupted command to end and killing it
_MAX_RSS_UNIT_BYTES = 1 if sys.platform == "darwin" else 1024  # getrusage(2): KiB on Linux
_TICK_S = 0.01
_BLOCK_BYTES = 512  # Linux derives ru_inblock and ru_oublock from byte counts, in this unit


@dataclass(frozen=True)
class RecordedRun:
    """One run: `status` is succeeded, failed or interrupted; `exit_code` is None when `signal` ended it."""

    folder: Path
    repeat_index: int
    status: str
    exit_code: int | None
    signal: int | None
    wall_s: float


@dataclass(frozen=True)
class RecordedBundle:
    """The evidence folder, its runs, fewer than asked for when the user interrupted, and what the evidence lacks of the command."""

    folder: Path
    runs: tuple[RecordedRun, ...]
    redactions: tuple[Redaction, ...] = ()


def record(
    command: Sequence[str],
    destination: Path,
    *,
    repeats: int = 1,
    sample_interval_s: float = SAMPLE_INTERVAL_S,
    redact: Sequence[str] = (),
    campaign: str | None = None,
    limits: Limits | None = None,
    indicator: str | None = None,
    recording_id: str | None = None,
    launch: Launch | None = None,
    part_of: PartOf | None = None,
    keep_unstarted: bool = False,
    on_run: Callable[[RecordedRun], None] | None = None,
) -> RecordedBundle:
    """Run `command` `repeats` times, one after another, and write what was seen under `destination`.

    `campaign` is the `recording_id` of the recording that this one repeats. Secrets in the command are not written (`record.redaction`), nor what
    the patterns `redact` match. A run that passes one of `limits` is ended, and has failed. A run that does not print the
    `indicator` as its contract says has failed, too. With `launch` the command is started on several nodes, and a run that some of them did not
    record has failed. `part_of`: the run of several nodes that this recording is one node of. `on_run` is called after each run. An interrupt
    (Ctrl-C) ends the command and the recording, and what was recorded is returned. Raises `WarehouseError` WH401 when the command cannot start; then
    nothing is left behind. With `keep_unstarted` that is a failed run.
    """
    if not command or repeats < 1 or sample_interval_s <= 0 or (launch and repeats > 1):
        raise ValueError("a command, at least one repeat, of several nodes one, and a positive sample interval are needed")
    if destination.exists() and any(destination.iterdir()):
        raise WarehouseError("WH401", "the folder for the evidence is not empty", printable(str(destination)))
    destination.mkdir(parents=True, exist_ok=True)
    shown, redactions = redacted(command, redact)
    recording = _recording(command, shown, repeats, sample_interval_s, recording_id or str(ULID()))
    recording["campaign"] = campaign
    if launch:
        recording |= {"launcher": redacted(launch.launcher, redact)[0], "nodes": launch.nodes}
    if part_of:
        recording["part_of"] = asdict(part_of)
    recording["redacted"] = [asdict(redaction) for redaction in redactions]
    recording["git"] = describe_git(redact)
    recording |= describe_membership(redact) | {"unread": unread()}
    _write_json(destination / "recording.json", recording)
    _write_json(destination / "machine.json", describe_machine())
    _write_json(destination / "software.json", describe_software(command))
    runs: list[RecordedRun] = []
    for repeat_index in range(1, repeats + 1):
        try:
            folder = destination / f"run-{repeat_index:02d}"
            run = _record_run(command, folder, repeat_index, sample_interval_s, limits, indicator, launch, keep_unstarted)
        except WarehouseError:
            if not runs:
                shutil.rmtree(destination)
            raise
        runs.append(run)
        if on_run is not None:
            on_run(run)
        if run.status == "interrupted":
            break
    return RecordedBundle(destination, tuple(runs), redactions)


def _recording(
    command: Sequence[str], shown: Sequence[str], repeats: int, sample_interval_s: float, recording_id: str
) -> dict[str, Any]:
    script = find_script(command)
    return {
        "format": FORMAT,  # first, so that a damaged file is still recognised
        "format_version": FORMAT_VERSION,
        # Who copies the files copies this: a copy is never taken for more runs.
        "recording_id": recording_id,
        "argv": list(shown),
        "repeats": repeats,
        "script": shown[command.index(script.name)] if script else None,
        "script_sha256": script.sha256 if script else None,
        "sample_interval_s": sample_interval_s,
        "working_folder": os.getcwd(),  # information, never identity
        "attempted_at": os.environ.get("CI_JOB_STARTED_AT"),  # GitLab's start of the job; other CI systems state none with its zone
    }


def _record_run(
    command: Sequence[str], folder: Path, repeat_index: int, sample_interval_s: float, limits: Limits | None, indicator: str | None,
    launch: Launch | None, keep_unstarted: bool,
) -> RecordedRun:
    folder.mkdir()
    samplers = {
        "host_sampling_error": Sampler(folder / "host.jsonl", sample_interval_s, HostWindows()),
        "node_sampling_error": Sampler(folder / "node.jsonl", sample_interval_s, NodeReadings()),
    }
    if gpus():
        samplers["gpu_sampling_error"] = Sampler(folder / "gpu.jsonl", sample_interval_s, GpuReadings())
    for sampler in samplers.values():
        sampler.start()
    try:
        seen = _observe(launch.argv if launch else command, folder, sample_interval_s, Confinement(limits, folder) if limits else None)
    except WarehouseError as error:
        if not keep_unstarted:
            raise
        seen = _unstarted(folder, error)
    finally:
        errors = {name: sampler.stop() for name, sampler in samplers.items()}
    if indicator and seen["status"] == "succeeded" and (broken := breach(folder / "stdout.txt", indicator)):
        seen |= {"status": "failed", "indicator_breach": broken}
    if launch and seen["status"] == "succeeded" and (missing := missing_nodes(folder.parent, launch.nodes)):
        seen |= {"status": "failed", "failure": missing}
    _write_json(folder / "run.json", {"repeat_index": repeat_index, **seen, **errors})
    return RecordedRun(folder, repeat_index, seen["status"], seen["exit_code"], seen["signal"], seen["wall_s"])


def _observe(command: Sequence[str], folder: Path, sample_interval_s: float, confinement: Confinement | None) -> dict[str, Any]:
    own_peak_bytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _MAX_RSS_UNIT_BYTES
    started_at = datetime.now(UTC)
    started_s = time.monotonic()
    process = _start(command, folder, confinement)
    try:
        if confinement:
            confinement.watch(process.pid)
        tree = ProcessTree(process.pid)
        samplers = _process_samplers(tree, folder, sample_interval_s)
    except BaseException:  # such as an interrupt before anything waits for it
        _signal_group(process.pid, signal.SIGKILL)
        if confinement:
            confinement.end()
        raise
    was_interrupted = _wait_for_end(process.pid)
    wall_s = time.monotonic() - started_s
    ended_at = datetime.now(UTC)
    tree.end()
    errors = {name: sampler.stop() for name, sampler in samplers.items()}  # until it is reaped, what the command used can be read
    if (folder / _SERVERS).exists() and not (folder / _SERVERS).stat().st_size:
        (folder / _SERVERS).unlink()  # most commands talk to none
    limited = confinement.end() if confinement else {}  # before the reaping: until then the pid cannot be another's
    # wait4 and not getrusage(RUSAGE_CHILDREN): that one sums over all children so far.
    _, wait_status, usage = os.wait4(process.pid, 0)
    code = process.returncode = os.waitstatus_to_exitcode(wait_status)
    # A finished bundle is immutable: nothing the command started may go on writing to its files.
    left_processes = _signal_group(process.pid, signal.SIGKILL)
    return {
        "status": "interrupted" if was_interrupted else "failed" if code else "succeeded",
        "exit_code": code if code >= 0 else None,
        "signal": -code if code < 0 else None,
        "started_at": utc_text(started_at),
        "ended_at": utc_text(ended_at),
        "wall_s": wall_s,
        **_usage_columns(usage, own_peak_bytes, tree.cpu_s),
        "left_processes_killed": left_processes,
        **limited,
        **errors,
    }


def _process_samplers(tree: ProcessTree, folder: Path, sample_interval_s: float) -> dict[str, Sampler]:
    """What follows the command's own processes, started."""
    samplers = {
        "process_sampling_error": Sampler(folder / "processes.jsonl", sample_interval_s, tree),
        "server_sampling_error": Sampler(folder / _SERVERS, sample_interval_s, LocalServers(lambda: tree.pids)),
    }
    if gpus():
        samplers["gpu_process_sampling_error"] = Sampler(folder / "gpu_processes.jsonl", sample_interval_s, GpuProcesses(lambda: tree.pids))
    if len(set(node_of_cpus().values())) > 1:
        samplers["numa_sampling_error"] = Sampler(folder / "numa.jsonl", sample_interval_s, NumaPlacement(lambda: tree.pids))
    for sampler in samplers.values():
        sampler.start()
    return samplers


def _start(command: Sequence[str], folder: Path, confinement: Confinement | None) -> subprocess.Popen[bytes]:
    if confinement and shutil.which(command[0]) is None:  # what joins its group could only say so on its standard error
        confinement.end()
        raise _unstartable(command, "no such program")
    try:
        pinned = confinement.pinned() if confinement else nullcontext()
        with open(folder / "stdout.txt", "xb") as stdout, open(folder / "stderr.txt", "xb") as stderr, pinned:
            # Its own session: an interrupt reaches us first, and the whole group can be ended together.
            process = subprocess.Popen(
                confinement.command(command) if confinement else command, stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr,
                start_new_session=True,
            )
    except (OSError, ValueError) as error:
        if confinement:
            confinement.end()
        raise _unstartable(command, str(error)) from error
    return process


def _unstarted(folder: Path, error: WarehouseError) -> dict[str, Any]:
    """What `run.json` says of a run whose command could not be started."""
    for name in ("stdout.txt", "stderr.txt"):
        (folder / name).touch()
    now = utc_text(datetime.now(UTC))
    ended = {"exit_code": None, "signal": None, "started_at": now, "ended_at": now, "wall_s": 0.0}
    return {"status": "failed", **ended, "failure": f"{error.place} {error.message}"}


def _unstartable(command: Sequence[str], reason: str) -> WarehouseError:
    return WarehouseError("WH401", f"cannot be started: {reason}", printable(command[0]), "give a program that exists and is executable")


def _wait_for_end(pid: int) -> bool:
    """Wait until the process has ended, and leave it to be reaped. True when the user interrupted it."""
    try:
        _wait_unreaped(pid)
        return False
    except KeyboardInterrupt:
        _signal_group(pid, signal.SIGTERM)
        killer = threading.Timer(_GRACE_S, _signal_group, (pid, signal.SIGKILL))
        killer.start()
        try:
            _wait_unreaped(pid)
        except KeyboardInterrupt:  # interrupted twice: the grace period ends
            _signal_group(pid, signal.SIGKILL)
            _wait_unreaped(pid)
        finally:
            killer.cancel()
            killer.join()  # before the reaping: until then the pid cannot be another's
        return True


def _wait_unreaped(pid: int) -> None:
    # WNOWAIT: an interrupt between the end and our return can then not lose the resource usage.
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)


def _signal_group(group: int, number: int) -> bool:
    """Signal a process group. False when the group is empty."""
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def _usage_columns(usage: resource.struct_rusage, own_peak_bytes: int, sampled: tuple[float, float]) -> dict[str, Any]:
    """What the system says of the command and the children that it waited for. A child that it did not wait for is only in what was `sampled` of
    user and system time, which has steps of 10 ms."""
    max_rss_bytes = usage.ru_maxrss * _MAX_RSS_UNIT_BYTES
    is_linux = sys.platform == "linux"
    return {
        "user_cpu_s": max(usage.ru_utime, sampled[0] - _TICK_S),
        "system_cpu_s": max(usage.ru_stime, sampled[1] - _TICK_S),
        "voluntary_context_switches": usage.ru_nvcsw,
        "involuntary_context_switches": usage.ru_nivcsw,
        # Linux carries the forking process's peak over into the child (measured: `true` started from a 300 MB process
        # reports 300 MB). A peak that is not above our own is therefore unknown.
        "max_rss_bytes": max_rss_bytes if max_rss_bytes > own_peak_bytes else None,
        "recorder_max_rss_bytes": own_peak_bytes,
        "minor_page_faults": usage.ru_minflt,
        "major_page_faults": usage.ru_majflt,
        "block_read_bytes": usage.ru_inblock * _BLOCK_BYTES if is_linux else None,
        "block_write_bytes": usage.ru_oublock * _BLOCK_BYTES if is_linux else None,
    }


def _write_json(path: Path, document: dict[str, Any]) -> None:
    # errors: an argv that is no valid UTF-8 holds lone surrogates; JSON escapes keep them.
    path.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
