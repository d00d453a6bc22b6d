"""What the recorder cannot read here, named once, each with the reason."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from warehouse.record.gpu_activity import Activity
from warehouse.record.kernel import cgroup_folder
from warehouse.record.nvml import handles, nvml


def unread(proc: Path = Path("/proc"), sys: Path = Path("/sys")) -> dict[str, str]:
    """What cannot be read, by what it is, with the reason."""
    return dict([*_of_kernel(proc, sys), *_of_gpus(proc)])


def _of_kernel(proc: Path, sys: Path) -> Iterator[tuple[str, str]]:
    if not (proc / "pressure/cpu").exists():
        yield "pressure", "there is no /proc/pressure: the kernel has no PSI, or it is off (psi=1 turns it on)"
    if not any((sys / "devices/system/cpu").glob("cpu[0-9]*/cpufreq/scaling_cur_freq")):
        yield "cpu_clock", "there is no cpufreq: a virtual machine does not see its CPUs' clocks"
    if cgroup_folder("cpu", proc, sys / "fs/cgroup") is None:
        yield "cgroup", "the cgroup of the command cannot be read under /sys/fs/cgroup"
    if not os.access(proc / "self/io", os.R_OK):
        yield "process_io", "there is no /proc/PID/io: the kernel has no task I/O accounting, or it is not allowed here"
    if not (proc / "self/schedstat").exists():
        yield "runqueue_wait", "there is no /proc/PID/schedstat: the kernel has no scheduler statistics"
    if not any((sys / "class/infiniband").glob("*/ports/*/counters")):
        yield "infiniband", "there is no adapter under /sys/class/infiniband, or a container does not show it"
    nodes = list((sys / "devices/system/node").glob("node[0-9]*"))
    if len(nodes) > 1 and not os.access(proc / "self/numa_maps", os.R_OK):
        yield "numa_placement", "there is no /proc/PID/numa_maps: the kernel has no NUMA, or it is not allowed here"
    elif len(nodes) < 2:
        yield "numa_placement", "the host has, or shows, one NUMA node" if nodes else "there is no /sys/devices/system/node"
    # Controllers of memory count for the whole socket, in units of performance monitoring that virtual machines seldom have.
    if not any((sys / "bus/event_source/devices").glob("*imc*")) and not any((sys / "bus/event_source/devices").glob("*umc*")):
        yield "memory_bandwidth", "there are no counters of the memory controllers under /sys/bus/event_source/devices"
    else:
        yield "memory_bandwidth", "the recorder does not count it: perf stat -x, beside the command does"


def _of_gpus(proc: Path) -> Iterator[tuple[str, str]]:
    if nvml() is None:
        is_there = (proc / "driver/nvidia/version").exists()
        yield "gpu", "its management library (NVML) cannot be loaded" if is_there else "there is no NVIDIA driver"
    elif not any(Activity(handle).is_supported for handle in handles()):
        yield "gpu_activity", "its GPUs do not measure the activity of their units (GPM), which they do since Hopper"
