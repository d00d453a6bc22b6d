"""What the Linux kernel counts for the whole host: pressure, scheduling, paging, NUMA, disks, InfiniBand, and the limits of the command's cgroup.

Everything is read from files under /proc and /sys. A file that is not there gives no value, never zero.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from warehouse.record.host import outward, utc_text

Counters = dict[str, float]

_VMSTAT = {
    "pgmajfault": "major_page_faults", "pswpin": "swapped_in_pages", "pswpout": "swapped_out_pages", "oom_kill": "out_of_memory_kills",
    "allocstall_normal": "allocation_stalls", "numa_miss": "numa_missed_pages", "numa_local": "numa_local_pages", "numa_other": "numa_remote_pages",
}
# Of /proc/diskstats (Documentation/admin-guide/iostats.rst), by place after the name. Times are in ms there, sizes in sectors.
_DISKSTATS = {
    0: "disk_read_requests", 2: "disk_read_bytes", 3: "disk_read_s", 4: "disk_write_requests", 6: "disk_write_bytes", 7: "disk_write_s",
    9: "disk_busy_s", 10: "disk_queue_s",
}
_SECTOR_BYTES = 512  # of this file, whatever the disk's own are
# Bytes are counted in words of four (InfiniBand Architecture Specification, PortCounters).
_PORT = {
    "counters/port_rcv_data": ("infiniband_recv_bytes", 4), "counters/port_xmit_data": ("infiniband_sent_bytes", 4),
    "counters/port_xmit_wait": ("infiniband_wait_ticks", 1), "counters/symbol_error": ("infiniband_symbol_errors", 1),
    "counters/link_downed": ("infiniband_links_lost", 1), "counters/link_error_recovery": ("infiniband_link_recoveries", 1),
    "counters/port_rcv_errors": ("infiniband_recv_errors", 1), "counters/port_xmit_discards": ("infiniband_send_discards", 1),
    # Of adapters for RoCE: what was lost or marked by congestion on the way.
    "hw_counters/out_of_sequence": ("infiniband_out_of_sequence", 1), "hw_counters/np_cnp_sent": ("infiniband_congestion_notices", 1),
}
_INTERFACE = {
    "rx_bytes": ("network_recv_bytes", 1), "tx_bytes": ("network_sent_bytes", 1), "rx_errors": ("network_recv_errors", 1),
    "tx_errors": ("network_send_errors", 1), "rx_dropped": ("network_recv_drops", 1), "tx_dropped": ("network_send_drops", 1),
}
_RETRANSMITTED = ("RetransSegs", "tcp_retransmitted_segments")
_MOST_CPUS = 32  # whose clocks are read: each read takes some 10 us


class NodeReadings:
    """Called again and again, the rows of `node.jsonl`: one of the host and the command's cgroup, and one of each disk, network interface and
    InfiniBand port. Times in seconds, sizes in bytes; counters as the kernel has them, most of them since boot."""

    def __init__(self) -> None:
        self._cgroup = Cgroup()

    def __call__(self) -> list[dict[str, Any]]:
        at: dict[str, Any] = {"sampled_at": utc_text(datetime.now(UTC))}
        node = kernel_counters() | kernel_states() | self._cgroup.counters() | self._cgroup.states()
        devices = disk_counters() | interface_counters() | port_counters()
        return [at | node, *(at | {"device": device} | counters for device, counters in devices.items())]


def kernel_counters(proc: Path = Path("/proc")) -> Counters:
    return {**_pressure(proc), **_scheduling(proc), **_paging(proc), **_retransmitted(proc)}


def disk_counters(proc: Path = Path("/proc"), sys: Path = Path("/sys")) -> dict[str, Counters]:
    """The counters of each disk that is a device, by its name: partitions and mappings count the same requests again. `disk_busy_s` is the time in
    which requests were in flight, `disk_queue_s` the sum of the times that requests were."""
    found = {}
    for line in (text(proc / "diskstats") or "").splitlines():
        _, _, name, *numbers = line.split()
        if (sys / "block" / name.replace("/", "!") / "device").exists() and len(numbers) >= 11:
            found[name] = {
                counter: count / 1000 if counter.endswith("_s") else count * _SECTOR_BYTES if counter.endswith("_bytes") else count
                for place, counter in _DISKSTATS.items()
                for count in (int(numbers[place]),)
            }
    return found


def kernel_states(proc: Path = Path("/proc"), sys: Path = Path("/sys")) -> Counters:
    """What is the case now: tasks that run or wait for a disk, and clocks of the CPUs in MHz."""
    stat = dict(line.split(None, 1) for line in (text(proc / "stat") or "").splitlines() if line.startswith("procs_"))
    found: Counters = {
        name: int(stat[key]) for key, name in (("procs_running", "tasks_running"), ("procs_blocked", "tasks_blocked")) if key in stat
    }
    folders = sorted((sys / "devices/system/cpu").glob("cpu[0-9]*/cpufreq/scaling_cur_freq"))
    khz = [int(read) for path in folders[:: max(1, len(folders) // _MOST_CPUS)] if (read := text(path)) and read.isdecimal()]
    if khz:
        found |= {"cpu_clock_mean_mhz": sum(khz) / len(khz) / 1000, "cpu_clock_min_mhz": min(khz) / 1000}
    return found


def _pressure(proc: Path) -> Counters:
    """Time in which some tasks, or all that could run (`full`), waited for a resource (Documentation/accounting/psi.rst); it counts us."""
    found: Counters = {}
    for resource in ("cpu", "io", "memory"):
        for line in (text(proc / "pressure" / resource) or "").splitlines():
            kind, total = line.split()[0], re.search(r"total=(\d+)", line)
            if total and (kind == "some" or resource != "cpu"):  # `full` of cpu is 0 for a host
                found[f"{resource}_pressure_{kind}_s"] = int(total[1]) / 1e6
    return found


def _scheduling(proc: Path) -> Counters:
    stat = dict(line.split(None, 1) for line in (text(proc / "stat") or "").splitlines() if " " in line)
    found: Counters = {"context_switches": int(stat["ctxt"])} if "ctxt" in stat else {}
    ticks = stat.get("cpu", "").split()  # user nice system idle iowait irq softirq steal ...
    if len(ticks) >= 8:
        found |= {"cpu_io_wait_s": int(ticks[4]) / CLOCK_TICKS, "cpu_steal_s": int(ticks[7]) / CLOCK_TICKS}
    return found


def _paging(proc: Path) -> Counters:
    lines = (line.split() for line in (text(proc / "vmstat") or "").splitlines())
    counted = {pair[0]: int(pair[1]) for pair in lines if len(pair) == 2}
    return {name: counted[key] for key, name in _VMSTAT.items() if key in counted}


def _retransmitted(proc: Path) -> Counters:
    """Segments of TCP that were sent again (RFC 4022, tcpRetransSegs), of the network namespace that we are in."""
    tables = [line.split() for line in (text(proc / "net/snmp") or "").splitlines() if line.startswith("Tcp:")]
    known = dict(zip(*tables, strict=False)) if len(tables) == 2 else {}
    key, name = _RETRANSMITTED
    return {name: int(known[key])} if known.get(key, "").isdecimal() else {}


def interface_counters(sys: Path = Path("/sys")) -> dict[str, Counters]:
    """The counters of each interface at the host's edge, by its name."""
    names = {path.name for path in (sys / "class/net").glob("*")} - {"lo"}
    found = {name: _numbers(sys / "class/net" / name / "statistics", _INTERFACE) for name in sorted(outward(names, sys))}
    return {name: counters for name, counters in found.items() if counters}


def port_counters(sys: Path = Path("/sys")) -> dict[str, Counters]:
    """The counters of each InfiniBand or RoCE port, by adapter and port: `mlx5_0/1`."""
    found = {f"{port.parents[1].name}/{port.name}": _numbers(port, _PORT) for port in sorted((sys / "class/infiniband").glob("*/ports/*"))}
    return {name: counters for name, counters in found.items() if counters}


def _numbers(folder: Path, files: Mapping[str, tuple[str, int]]) -> Counters:
    read = {name: (text(folder / file), unit) for file, (name, unit) in files.items()}
    return {name: int(value) * unit for name, (value, unit) in read.items() if value and value.isdecimal()}


# --- the cgroup -------------------------------------------------------------------------------------------------------


class Cgroup:
    """The cgroup that the recorder is in, and so the command: what its limits did. Version 2, or the hierarchies of version 1."""

    def __init__(self, proc: Path = Path("/proc"), sys: Path = Path("/sys")) -> None:
        self._cpu, self._memory = (cgroup_folder(controller, proc, sys / "fs/cgroup") for controller in ("cpu", "memory"))

    def counters(self) -> Counters:
        """`cgroup_throttled_s`: time in which its tasks were not run because their quota was used up."""
        cpu, events = _pairs(self._cpu, "cpu.stat"), _pairs(self._memory, "memory.events")
        found: Counters = {}
        for key, name, unit in (
            ("nr_periods", "cgroup_cpu_periods", 1), ("nr_throttled", "cgroup_throttled_periods", 1),
            ("throttled_usec", "cgroup_throttled_s", 1e6), ("throttled_time", "cgroup_throttled_s", 1e9),
        ):
            if key in cpu:
                found[name] = cpu[key] / unit
        for key, name in (("max", "cgroup_memory_limit_hits"), ("oom_kill", "cgroup_out_of_memory_kills")):
            if key in events:
                found[name] = events[key]
        memory = _pairs(self._memory, "memory.stat")
        refaulted = [memory[key] for key in ("workingset_refault_file", "workingset_refault_anon", "workingset_refault") if key in memory]
        if refaulted:  # pages that were evicted and needed again
            found["cgroup_refaulted_pages"] = sum(refaulted)
        hits = text(self._memory / "memory.failcnt") if self._memory else None
        if hits and hits.isdecimal():
            found["cgroup_memory_limit_hits"] = int(hits)
        return found

    def states(self) -> Counters:
        """Memory in use, and the limits that hold: of memory the cgroup's own, of CPU time in cores."""
        if self._memory is None:
            return {}
        found: Counters = {}
        for name, files in (
            ("cgroup_memory_used_bytes", ("memory.current", "memory.usage_in_bytes")),
            ("cgroup_memory_limit_bytes", ("memory.max", "memory.limit_in_bytes")),
        ):
            read = next((value for file in files if (value := text(self._memory / file))), None)
            if read and read.isdecimal() and int(read) < 1 << 60:  # version 1 says "no limit" by a number near 2^63
                found[name] = int(read)
        return found


def cgroup_folder(controller: str, proc: Path, root: Path) -> Path | None:
    """The folder of our own cgroup for a controller, or of the nearest one above it that can be read."""
    for line in (text(proc / "self/cgroup") or "").splitlines():
        _, controllers, path = line.split(":", 2)
        if controller in controllers.split(",") or not controllers:
            top = root / controllers if controllers else root
            own = top / path.lstrip("/")
            # In a container with a namespace of its own the path may be one of the host's, which is not there.
            for folder in (own, *own.parents):
                if folder.is_relative_to(top) and any((folder / file).exists() for file in (f"{controller}.stat", f"{controller}.usage_in_bytes")):
                    return folder
    return None


def _pairs(folder: Path | None, file: str) -> Mapping[str, int]:
    lines = (line.split() for line in ((text(folder / file) if folder else None) or "").splitlines())
    return {pair[0]: int(pair[1]) for pair in lines if len(pair) == 2 and pair[1].isdecimal()}


CLOCK_TICKS = os.sysconf("SC_CLK_TCK")  # of /proc, in a second


def text(path: Path) -> str | None:
    """The text of a small file, or None if it cannot be read."""
    try:
        return path.read_text(errors="replace").strip()
    except OSError:
        return None
