"""What machine a recording was made on: CPU, NUMA, memory, GPUs, host name. What cannot be known is None, never a
guess and never zero."""

from __future__ import annotations

import os
import re
import socket
from pathlib import Path
from typing import Any

from warehouse.record.gpu import gpus

_CPUINFO = Path("/proc/cpuinfo")
_NODES = Path("/sys/devices/system/node")
_OWN_CGROUPS = Path("/proc/self/cgroup")
_CGROUP_ROOT = Path("/sys/fs/cgroup")


def describe_machine() -> dict[str, Any]:
    """The document of `machine.json`. Sizes in bytes; `cgroup_cpu_limit_cores` is None where nothing limits.
    `allowed_cores` (CPU affinity) and `niceness` are those of this process: the command inherits them."""
    import psutil

    return {
        "hostname": socket.gethostname() or None,
        "cpu_model": _cpuinfo("model name"),
        "cpu_vendor": _cpuinfo("vendor_id"),
        "physical_cores": psutil.cpu_count(logical=False),
        "logical_cores": psutil.cpu_count(logical=True),
        **describe_limits(),
        "numa_nodes": numa_nodes(_NODES),
        "memory_bytes": psutil.virtual_memory().total,
        "gpus": gpus(),
    }


def describe_limits() -> dict[str, Any]:
    """The limits of CPU time that hold for this process, and so for the command."""
    return {
        "cgroup_cpu_limit_cores": cgroup_cpu_limit(_own_cgroup_folders()),
        "allowed_cores": len(os.sched_getaffinity(0)),
        "niceness": os.getpriority(os.PRIO_PROCESS, 0),
    }


def numa_nodes(folder: Path) -> list[dict[str, Any]] | None:
    """`node`, `cpus` (kernel list form, `0-15,32-47`) and `memory_bytes` of each node under a sysfs folder."""
    found = []
    for node in folder.glob("node[0-9]*"):
        number = int(node.name.removeprefix("node"))
        total_kib = re.search(r"MemTotal:\s*(\d+) kB", _text(node / "meminfo") or "")
        found.append(
            {
                "node": number,
                "cpus": _text(node / "cpulist"),
                "memory_bytes": int(total_kib.group(1)) * 1024 if total_kib else None,
            }
        )
    return sorted(found, key=lambda entry: entry["node"]) or None


def cgroup_cpu_limit(folders: list[Path]) -> float | None:
    """The tightest CPU quota, in cores, that any of these cgroup folders (v2 or v1) sets; None if none does."""
    limits = [limit for folder in folders if (limit := _quota(folder)) is not None]
    return min(limits, default=None)


def _quota(folder: Path) -> float | None:
    both = _text(folder / "cpu.max")
    if both is None:
        both = f"{_text(folder / 'cpu.cfs_quota_us')} {_text(folder / 'cpu.cfs_period_us')}"
    numbers = re.fullmatch(r"(\d+) (\d+)", both)  # "max" in v2 and -1 in v1 mean unlimited
    return int(numbers.group(1)) / int(numbers.group(2)) if numbers and int(numbers.group(2)) else None


def _own_cgroup_folders() -> list[Path]:
    """Our cgroup and those above it, in every hierarchy: a limit on a parent holds for us too."""
    folders = []
    for line in (_text(_OWN_CGROUPS) or "").splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers == "" or "cpu" in controllers.split(","):
            root = _CGROUP_ROOT / controllers if controllers else _CGROUP_ROOT
            own = root / path.lstrip("/")
            folders += [own, *(parent for parent in own.parents if parent.is_relative_to(root))]
    return folders


def _cpuinfo(key: str) -> str | None:
    found = re.search(rf"^{key}\s*:\s*(.+)$", _text(_CPUINFO) or "", re.MULTILINE)
    return found.group(1).strip() if found else None


def _text(path: Path) -> str | None:
    try:
        return path.read_text(errors="replace").strip()
    except OSError:
        return None
