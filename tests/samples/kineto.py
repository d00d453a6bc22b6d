"""Traces of the PyTorch profiler, as Kineto writes them (export_chrome_trace), of a synchronous job. All times are made up.

In each step a rank computes as long as its own work takes, copies its next batch, and reduces its gradients with all others: its
all-reduce begins before its computing ends, and lasts until the slowest rank has come, and `COMMUNICATION` more.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

BASE_NS = 1_795_168_800_000_000_000  # 2026-11-20 10:00 UTC
FIRST_US = 250_000.5
COMMUNICATION, OVERLAP, GAP = 400, 200, 30  # microseconds
REDUCE = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*, unsigned long, ncclWork*)"
GEMM = "ampere_sgemm_128x64_tn"
Works = Sequence[Sequence[int]]  # microseconds of own work, by step and rank


def event(category: str, name: str, start: float, duration: float, pid: int = 4711, tid: int = 4711, **more: Any) -> dict[str, Any]:
    return {"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "ts": start, "dur": duration, "args": more}


def trace(rank: int, works: Works, *, top: Mapping[str, Any] | None = None, first_step: int = 10) -> dict[str, Any]:
    """The trace of one rank of a job."""
    events: list[dict[str, Any]] = [
        {"ph": "M", "name": "process_name", "pid": 4711, "tid": 0, "ts": FIRST_US, "args": {"name": "python"}},
    ]
    start = FIRST_US
    for step, of_ranks in enumerate(works, first_step):
        own, length = of_ranks[rank], max(of_ranks) + COMMUNICATION
        gpu = {"device": rank % 8, "stream": 7}
        events += [
            event("user_annotation", f"ProfilerStep#{step}", start, length),
            event("gpu_user_annotation", f"ProfilerStep#{step}", start + 1, length - 2, rank % 8, 7),
            event("user_annotation", "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", start, 25),
            event("cpu_op", "aten::linear", start + 26, 40),
            event("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", start + GAP, 50, rank % 8, 9, **gpu | {"stream": 9}),
            event("gpu_memset", "Memset (Device)", start + GAP + 60, 2, rank % 8, 7, **gpu),
        ]
        part = (own - 3 * GAP) // 10
        for number in range(10):
            kernel = GEMM if number < 3 else f"void at::native::elementwise_kernel<{number}>(int)"
            begin = start + 3 * GAP + number * part
            events.append(event("kernel", kernel, begin, part if number < 9 else own - 3 * GAP - 9 * part, rank % 8, 7, **gpu))
        events += [
            event("kernel", "void triton_red_fused_norm_0(float*)", start + own - 60, 30, rank % 8, 8, **gpu | {"stream": 8}),
            event("kernel", REDUCE, start + own - OVERLAP, length - own + OVERLAP, rank % 8, 20, **gpu | {"stream": 20}),
            {"ph": "s", "id": step, "pid": 4711, "tid": 4711, "ts": start, "cat": "ac2g", "name": "ac2g"},
        ]
        start += length + 10
    stated = {
        "schemaVersion": 1,
        "deviceProperties": [{"id": number, "name": "NVIDIA H100 80GB HBM3", "numSms": 132} for number in range(2)],
        "distributedInfo": {"backend": "nccl", "rank": rank, "world_size": len(works[0])},
    }
    return {**stated, **(top or {}), "traceEvents": events, "displayTimeUnit": "ms", "baseTimeNanoseconds": BASE_NS}


def write(path: Path, document: Mapping[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(document, indent=1).encode()
    path.write_bytes(gzip.compress(text, mtime=0) if path.name.endswith(".gz") else text)


def write_job(folder: Path, works: Works) -> None:
    """A trace of each rank."""
    for rank in range(len(works[0])):
        write(folder / f"rank-{rank}.json.gz", trace(rank, works))


def write_all(folder: Path) -> None:
    """A job of two ranks, one of whose traces is packed, and a trace by itself."""
    works = [[2000, 2200], [2100, 2000]]
    write(folder / "job/rank0.json", trace(0, works))
    write(folder / "job/rank1.json.gz", trace(1, works))
    write(folder / "alone/gpu01_4711.1795168800000.pt.trace.json", trace(0, [[1500]], top={"distributedInfo": {}}))
