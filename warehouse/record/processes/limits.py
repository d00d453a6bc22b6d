"""Limits of a recorded command: memory, number of processes, disk and time, by a control group of its own where one can be made, else by a watchdog.

`RLIMIT_AS` is not used: CUDA and Java map far more memory than they use. What held each limit, and which one ended the command, is recorded.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ulid import ULID

from warehouse.record.kernel import text

CGROUP_V1, CGROUP_V2, WATCHDOG, RLIMIT = "cgroup v1", "cgroup v2", "watchdog", "RLIMIT_NPROC"
MEMORY, PROCESSES, TIME, DISK = "memory", "processes", "time", "disk"
_WATCH_S = 0.05
_DISK_WATCH_S = 1.0  # a folder may have many files
_BLOCK_BYTES = 512  # of st_blocks
_EMPTY_S = 5.0  # a killed group has gone by then, but for what hangs in the kernel
_JOIN = (  # the folders of groups, the most processes of the user, the niceness, and the command
    'for f in $1; do echo 0 > "$f/cgroup.procs" || exit 125; done; [ -z "$2" ] || ulimit -u "$2" 2> /dev/null || ulimit -p "$2"; '
    'n=$3; shift 3; exec nice -n "$n" "$@"'
)


@dataclass(frozen=True)
class Limits:
    """What a command may use; None: no limit. Memory in bytes, time in seconds; `cpus`: the CPUs it runs on, all where there are none. `disk_bytes`:
    what its working folder may hold, with what it prints."""

    memory_bytes: int | None = None
    timeout_s: float | None = None
    processes: int | None = None
    cpus: tuple[int, ...] = ()
    niceness: int = 0
    disk_bytes: int | None = None

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Limits:
        """Limits as `asdict` and JSON have them."""
        return cls(**{**document, "cpus": tuple(document["cpus"])})


class Confinement:
    """The limits of one run of a command, from before its start until nothing of it is left."""

    def __init__(self, limits: Limits, output: Path) -> None:
        """`output` is the folder of what the command prints."""
        self.limits = limits
        self._written = {output.resolve(), Path.cwd()}
        self.mechanisms: dict[str, str] = {}
        self.ended_by: str | None = None
        self._folders: dict[str, Path] = {}  # by controller
        self._pid = 0
        self._stop = threading.Event()
        self._watcher: threading.Thread | None = None
        self._make_groups()

    # -- the start ----------------------------------------------------------------------------------------------

    def command(self, command: Sequence[str]) -> list[str]:
        """The command as it is to be started: it joins its group before it is anything else."""
        folders = sorted({str(folder) for folder in self._folders.values()})
        most = ""
        if self.mechanisms.get(PROCESSES) == RLIMIT:
            most = str(_processes_of_user() + (self.limits.processes or 0))
        return ["/bin/sh", "-c", _JOIN, "sh", " ".join(folders), most, str(self.limits.niceness), *command]

    @contextmanager
    def pinned(self) -> Iterator[None]:
        """While it is open, what this thread starts runs on the CPUs of the limits."""
        if not self.limits.cpus:
            yield
            return
        before = os.sched_getaffinity(0)
        os.sched_setaffinity(0, self.limits.cpus)
        try:
            yield
        finally:
            os.sched_setaffinity(0, before)

    def watch(self, pid: int) -> None:
        """The command has started as the leader of its process group: from now on it is ended where it passes a limit that no group holds."""
        self._pid = pid
        watcher = threading.Thread(target=self._watch, args=(time.monotonic(),), daemon=True)
        watcher.start()
        self._watcher = watcher

    # -- the end ------------------------------------------------------------------------------------------------

    def end(self) -> dict[str, Any]:
        """Nothing of the command is left after this. What `run.json` says of limits."""
        self._stop.set()
        if self._watcher:
            self._watcher.join()
        if self.ended_by is None and self._count(MEMORY, ("memory.events", "oom_kill"), ("memory.oom_control", "oom_kill")):
            self.ended_by = MEMORY
        refused = self._count(PROCESSES, ("pids.events", "max"))
        self._kill()
        for folder in set(self._folders.values()):
            _remove_group(folder)
        return {
            "limits": {name: value for name, value in asdict(self.limits).items() if value not in (None, (), 0)},
            "limit_mechanisms": self.mechanisms, "ended_by_limit": self.ended_by, "refused_processes": refused,
        }

    # -- groups -------------------------------------------------------------------------------------------------

    def _make_groups(self) -> None:
        name = f"wh-{ULID()}"
        for limit, controller, file_v2, file_v1, value in (
            (MEMORY, "memory", "memory.max", "memory.limit_in_bytes", self.limits.memory_bytes),
            (PROCESSES, "pids", "pids.max", "pids.max", self.limits.processes),
        ):
            if value is None:
                continue
            parent, is_v2 = _parent_group(controller)
            folder = parent and parent / name
            try:
                if folder is None:
                    raise OSError("no cgroup")
                folder.mkdir(exist_ok=True)
                (folder / (file_v2 if is_v2 else file_v1)).write_text(str(value))
                if limit == MEMORY:  # or it would only begin to swap
                    with suppress(OSError):
                        (folder / ("memory.swap.max" if is_v2 else "memory.memsw.limit_in_bytes")).write_text("0" if is_v2 else str(value))
            except OSError:
                if folder is not None and folder not in self._folders.values():
                    _remove_group(folder)
                self.mechanisms[limit] = RLIMIT if limit == PROCESSES and os.geteuid() else WATCHDOG
            else:
                self._folders[controller] = folder
                self.mechanisms[limit] = CGROUP_V2 if is_v2 else CGROUP_V1
        if self.limits.timeout_s is not None:
            self.mechanisms[TIME] = WATCHDOG
        if self.limits.disk_bytes is not None:
            self.mechanisms[DISK] = WATCHDOG

    def _count(self, limit: str, *places: tuple[str, str]) -> int:
        folder = self._folders.get({MEMORY: "memory", PROCESSES: "pids"}[limit])
        for name, key in places:
            with suppress(OSError, ValueError):
                for line in (folder / name).read_text().splitlines() if folder else ():
                    if line.startswith(f"{key} "):
                        return int(line.split()[1])
        return 0

    # -- the watchdog -------------------------------------------------------------------------------------------

    def _watch(self, started_s: float) -> None:
        measured_s = started_s
        while not self._stop.wait(_WATCH_S):
            if self.limits.disk_bytes is not None and time.monotonic() - measured_s > _DISK_WATCH_S:
                if sum(map(_disk_bytes, self._written)) > self.limits.disk_bytes:
                    self.ended_by = DISK
                measured_s = time.monotonic()
            if self.limits.timeout_s is not None and time.monotonic() - started_s > self.limits.timeout_s:
                self.ended_by = TIME
            elif self.mechanisms.get(MEMORY) == WATCHDOG and self._memory_bytes() > (self.limits.memory_bytes or 0):
                self.ended_by = MEMORY
            elif self.mechanisms.get(PROCESSES) == WATCHDOG and len(self._tree()) > (self.limits.processes or 0):
                self.ended_by = PROCESSES
            if self.ended_by:
                self._kill()
                return

    def _tree(self) -> list[int]:
        """The command's processes: what descends from it, and what its sessions have left behind."""
        import psutil

        found = []
        for process in psutil.process_iter():
            with suppress(psutil.Error, OSError):
                if process.pid != os.getpid() and (process.pid == self._pid or os.getsid(process.pid) == self._pid):
                    found.append(process.pid)
        with suppress(psutil.Error):
            found += [child.pid for child in psutil.Process(self._pid).children(recursive=True)]
        return sorted(set(found))

    def _memory_bytes(self) -> int:
        import psutil

        total = 0
        for pid in self._tree():
            with suppress(psutil.Error):
                total += psutil.Process(pid).memory_info().rss
        return total

    def _kill(self) -> None:
        """End every process of the command, those of its group first, until none is left."""
        until = time.monotonic() + _EMPTY_S
        while time.monotonic() < until:
            left = {pid for folder in set(self._folders.values()) for pid in _members(folder)} | set(self._tree() if self._pid else ())
            left = {pid for pid in left if not _is_dead(pid)}
            if not left:
                return
            for pid in left:
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.01)


def _parent_group(controller: str, proc: Path = Path("/proc"), root: Path = Path("/sys/fs/cgroup")) -> tuple[Path | None, bool]:
    """The group below which one with this controller can be made, and whether it is of version 2. In version 1 our own; in version 2 a group with
    processes cannot have others below it, so it is the nearest above that gives the controller to those below."""
    for line in (text(proc / "self/cgroup") or "").splitlines():
        _, controllers, path = line.split(":", 2)
        if controller not in controllers.split(",") and controllers:
            continue
        top = root / controllers if controllers else root
        own = top / path.lstrip("/")
        for folder in (own, *own.parents):
            if not folder.is_relative_to(top):
                break
            if controllers and (folder / "cgroup.procs").exists():
                return folder, False
            if controller in (text(folder / "cgroup.subtree_control") or "").split():
                return folder, True
    return None, False


def _disk_bytes(folder: Path) -> int:
    """What the files of a folder take on its disk."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                total += os.lstat(os.path.join(place, name)).st_blocks * _BLOCK_BYTES
    return total


def _members(folder: Path) -> list[int]:
    with suppress(OSError):
        return [int(line) for line in (folder / "cgroup.procs").read_text().split()]
    return []


def _is_dead(pid: int) -> bool:
    """Whether a process has ended, and waits at most for its parent to ask."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except OSError:
        return True


def _remove_group(folder: Path) -> None:
    for _ in range(100):
        try:
            folder.rmdir()
            return
        except FileNotFoundError:
            return
        except OSError:
            time.sleep(0.02)


def _processes_of_user() -> int:
    """How many tasks this user has: RLIMIT_NPROC counts those of the user, not of the command."""
    count = 0
    for entry in Path("/proc").iterdir():
        with suppress(OSError):
            if entry.name.isdigit() and entry.stat().st_uid == os.getuid():
                count += len(list((entry / "task").iterdir()))
    return count
