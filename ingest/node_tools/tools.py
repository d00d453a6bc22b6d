"""The readers, in the order in which they are asked whether a file is theirs."""

from __future__ import annotations

from . import (
    dcgm_diag,
    dcgm_health,
    gpu_topology,
    ibdiagnet,
    iostat,
    kernel_log,
    lspci,
    numastat,
    nvlink,
    perf_stat,
    pidstat,
    vmstat,
)
from .stated import Tool

TOOLS: tuple[Tool, ...] = tuple(
    module.TOOL
    for module in (dcgm_diag, dcgm_health, gpu_topology, nvlink, lspci, ibdiagnet, perf_stat, numastat, vmstat, iostat, pidstat, kernel_log)
)
