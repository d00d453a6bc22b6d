"""On which NUMA node the memory of each process is, beside the nodes on whose CPUs it runs: the rows of `numa.jsonl`, on a host with several nodes.

The kernel counts a process's pages for each reading, so it is read at most so often that this costs `SHARE` of one core.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from warehouse.record.host import utc_text
from warehouse.record.kernel import text
from warehouse.record.processes.process_tree import SHARE

_PAGES = re.compile(r" N(\d+)=(\d+)")
_PAGE_KIB = re.compile(r"kernelpagesize_kB=(\d+)")
_LAST_CPU = 36  # proc_pid_stat(5), `processor`, counted from `state` on


def node_of_cpus(sys: Path = Path("/sys")) -> dict[int, int]:
    """The node of each CPU."""
    found = {}
    for folder in (sys / "devices/system/node").glob("node[0-9]*"):
        for part in filter(None, (text(folder / "cpulist") or "").split(",")):
            first, _, last = part.partition("-")
            found.update(dict.fromkeys(range(int(first), int(last or first) + 1), int(folder.name.removeprefix("node"))))
    return found


class NumaPlacement:
    """Called again and again, a row for each process: `local_bytes` of its memory are on nodes where one of its threads last ran, `remote_bytes` on
    others."""

    def __init__(self, own: Callable[[], frozenset[int]], proc: Path = Path("/proc"), sys: Path = Path("/sys")) -> None:
        self._own, self._proc = own, proc
        self._nodes = node_of_cpus(sys)
        self._not_before_s = 0.0

    def __call__(self) -> list[dict[str, Any]]:
        if time.monotonic() < self._not_before_s:
            return []
        began = time.thread_time()
        rows = [row for pid in sorted(self._own()) if (row := self._of_process(pid)) is not None]
        self._not_before_s = time.monotonic() + (time.thread_time() - began) / SHARE
        return rows

    def _of_process(self, pid: int) -> dict[str, Any] | None:
        folder = self._proc / str(pid)
        stats = [text(task / "stat") or "" for task in folder.glob("task/*")]
        cpus = [int(values[_LAST_CPU]) for each in stats if len(values := each.rpartition(")")[2].split()) > _LAST_CPU]
        runs_on = {self._nodes[cpu] for cpu in cpus if cpu in self._nodes}
        maps = text(folder / "numa_maps")
        if not runs_on or not maps:
            return None
        bytes_of: dict[int, int] = {}
        for line in maps.splitlines():
            if page := _PAGE_KIB.search(line):
                for node, pages in _PAGES.findall(line):
                    bytes_of[int(node)] = bytes_of.get(int(node), 0) + int(pages) * int(page[1]) * 1024
        local = sum(count for node, count in bytes_of.items() if node in runs_on)
        return {
            "sampled_at": utc_text(datetime.now(UTC)), "pid": pid, "process_name": text(folder / "comm") or "", "local_bytes": local,
            "remote_bytes": sum(bytes_of.values()) - local,
        }
