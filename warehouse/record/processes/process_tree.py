"""The command and every process below it, as the kernel accounts for them: the rows of `processes.jsonl`, one for each process group and reading.

Reading a tree of thousands of threads takes tens of milliseconds, so it is read at most so often that it costs `SHARE` of one core.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from warehouse.record.host import utc_text
from warehouse.record.kernel import CLOCK_TICKS

SHARE = 0.004
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_IO = {"rchar": "read_call_bytes", "wchar": "write_call_bytes", "read_bytes": "read_bytes", "write_bytes": "write_bytes"}
_UNITS = {"user_cpu_s": CLOCK_TICKS, "system_cpu_s": CLOCK_TICKS, "runqueue_wait_s": 1_000_000_000}  # of what the kernel counts, in a second
_Key = tuple[int, int]  # a process: its number, and when it started, since numbers are used again


@dataclass(frozen=True)
class _Process:
    """One process at one moment, in the kernel's units. `inherited` counts what its ended children used, too, once it has waited for them; `own`
    counts its threads."""

    key: _Key
    parent: int
    group: int
    name: str
    threads: int
    rss_bytes: int
    inherited: Mapping[str, int]
    own: Mapping[str, Mapping[int, int]]  # by thread


class ProcessTree:
    """The processes that descend from one, called again and again: what each group is now, and what it used since the first call."""

    def __init__(self, root: int, proc: Path = Path("/proc")) -> None:
        self._root, self._proc = root, proc
        self._before: dict[_Key, _Process] = {}
        self._used: dict[int, dict[str, int]] = {}  # by group
        self._not_before_s = 0.0
        self._is_ended = False

    def end(self) -> None:
        """The command has ended: the next call is the last one, and reads in any case."""
        self._is_ended = True

    @property
    def pids(self) -> frozenset[int]:
        """The processes of the last reading."""
        return frozenset(pid for pid, _ in self._before)

    @property
    def cpu_s(self) -> tuple[float, float]:
        """User and system time of all groups together, at the last reading."""
        user, system = (sum(used.get(name, 0) for used in self._used.values()) / CLOCK_TICKS for name in ("user_cpu_s", "system_cpu_s"))
        return user, system

    def __call__(self) -> list[dict[str, Any]]:
        """The rows; none where it is too early to read again."""
        if time.monotonic() < self._not_before_s and not self._is_ended:
            return []
        began = time.thread_time()
        sampled_at, found = utc_text(datetime.now(UTC)), {process.key: process for process in self._read()}
        self._account(found)
        self._before = found
        self._not_before_s = time.monotonic() + (time.thread_time() - began) / SHARE
        return [{"sampled_at": sampled_at} | row for row in _by_group(found.values(), self._used)]

    def _read(self) -> Iterator[_Process]:
        """The tree from its root down, and what is left of it where a parent has ended."""
        unread, seen = [*((pid, False) for pid, _ in self._before), (self._root, True)], set()
        while unread:
            pid, is_child = unread.pop()
            if pid in seen or (process := self._process(pid)) is None:
                continue
            if is_child or process.key in self._before:  # else another process has the number of one that ended
                seen.add(pid)
                yield process
                unread += [(child, True) for child in self._children(pid)]

    def _children(self, pid: int) -> list[int]:
        texts = (_read_text(f"{task}/children") for task in _tasks(self._proc, pid))
        return [int(child) for text in texts for child in text.split()]

    def _process(self, pid: int) -> _Process | None:
        text = _read_text(f"{self._proc}/{pid}/stat")
        if not text:
            return None
        name, values = text[text.index("(") + 1 : text.rindex(")")], text[text.rindex(")") + 2 :].split()  # a name may have blanks and brackets
        user, system, of_children_user, of_children_system = (int(values[place]) for place in (11, 12, 13, 14))  # proc_pid_stat(5), from `state` on
        inherited: dict[str, int] = {
            "user_cpu_s": user + of_children_user, "system_cpu_s": system + of_children_system,
            "minor_page_faults": int(values[7]) + int(values[8]), "major_page_faults": int(values[9]) + int(values[10]),
        }
        for line in _read_text(f"{self._proc}/{pid}/io").splitlines():
            key, _, value = line.partition(": ")
            if key in _IO:
                inherited[_IO[key]] = int(value)
        own: dict[str, dict[int, int]] = {"runqueue_wait_s": {}, "switches": {}}
        for task in _tasks(self._proc, pid):
            if numbers := _read_text(f"{task}/schedstat").split():  # Documentation/scheduler/sched-stats.rst
                number = int(task.rpartition("/")[2])
                own["runqueue_wait_s"][number], own["switches"][number] = int(numbers[1]), int(numbers[2])
        rss = max(0, int(values[21])) * _PAGE_BYTES
        return _Process((pid, int(values[19])), int(values[1]), int(values[2]), name, int(values[17]), rss, inherited, own)

    def _account(self, found: Mapping[_Key, _Process]) -> None:
        """Add to each group what its processes used since the last reading. What an ended process used has moved to its parent, which has
        waited for it: what was added for the one is not added again for the other."""
        moved: dict[int, list[_Process]] = {}  # by parent
        for key, process in self._before.items():
            if key not in found:
                moved.setdefault(process.parent, []).append(process)
        for process in found.values():
            before, used = self._before.get(process.key), self._used.setdefault(process.group, {})
            for name, value in process.inherited.items():
                added = sum(each.inherited.get(name, 0) for each in (before, *moved.get(process.key[0], ())) if each)
                used[name] = used.get(name, 0) + max(0, value - added)
            for name, threads in process.own.items():
                for number, value in threads.items():
                    used[name] = used.get(name, 0) + value - (before.own[name].get(number, 0) if before else 0)


def _by_group(processes: Iterable[_Process], used: Mapping[int, Mapping[str, int]]) -> list[dict[str, Any]]:
    groups: dict[int, dict[str, Any]] = {}
    for process in processes:
        row = groups.setdefault(process.group, {
            "process_group": process.group, "command": process.name, "processes": 0, "threads": 0, "rss_bytes": 0,
            **{name: count / _UNITS[name] if name in _UNITS else count for name, count in used[process.group].items()},
        })
        if process.key[0] == process.group:
            row["command"] = process.name  # of the one that leads the group
        row["processes"] += 1
        row["threads"] += process.threads
        row["rss_bytes"] += process.rss_bytes  # pages that processes share count for each
    return list(groups.values())


def _tasks(proc: Path, pid: int) -> list[str]:
    try:
        return [f"{proc}/{pid}/task/{number}" for number in os.listdir(f"{proc}/{pid}/task")]
    except OSError:
        return []


def _read_text(path: str) -> str:
    """The text of a file of /proc; nothing where the process has ended or is not ours to look at."""
    try:
        with open(path, "rb", buffering=0) as file:
            return file.read(1 << 16).decode(errors="replace")
    except OSError:
        return ""
