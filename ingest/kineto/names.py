"""What the names of files, events and kernels say."""

from __future__ import annotations

import re
from typing import NamedTuple

COMPUTE, COMMUNICATION, MEMORY = "compute", "communication", "memory"
# Activity types of Kineto (libkineto/src/ActivityType.cpp), in lower case, since PyTorch 1.8 wrote them in capitals.
KERNELS = frozenset({"kernel", "mtia_ccp_events", "hpu_op"})
COPIES = frozenset({"gpu_memcpy", "gpu_memset", "memcpy", "memset"})
HOST_ANNOTATION, GPU_ANNOTATION = "user_annotation", "gpu_user_annotation"
_OTHERS = (
    "ac2g async_cpu_to_gpu async_gpu collective_comm cpu_instant_event cpu_op cuda_driver cuda_profiler_range cuda_runtime cuda_sync"
    " external_correlation fwdbwd glow_runtime gpu_user_annotation hip_driver hip_runtime mtia_counters mtia_insight mtia_runtime operator"
    " overhead privateuse1_driver privateuse1_runtime python python_function runtime trace user_annotation xpu_driver xpu_runtime"
)
CATEGORIES = KERNELS | COPIES | frozenset(_OTHERS.split())
STEP = re.compile(r"ProfilerStep#(\d{1,18})")
DATALOADER = "enumerate(DataLoader)"

# Kernels of NCCL, RCCL, MSCCL, NVSHMEM and DeepEP, and the all-reduces of vLLM and PyTorch's symmetric memory.
_COMMUNICATION = re.compile(
    r"nccl|rccl|nvshmem|rocshmem|deep_ep::|cross_device_reduce|(?:one|two)_shot_all_reduce|multimem_(?:one_shot_)?(?:all_reduce|all_gather|reduce_scatter)",
    re.IGNORECASE,
)
_RANK = re.compile(r"(?:^|[^a-z])rank[-_]?(\d{1,9})(?!\d)", re.IGNORECASE)
_RANK_FOLDER = re.compile(r"rank[-_]?\d{1,9}", re.IGNORECASE)
# torch.profiler.tensorboard_trace_handler: host_pid.milliseconds.pt.trace.json
_HANDLER = re.compile(r"(.+)_\d+\.\d{10,}\.pt\.trace\.json(?:\.gz)?")


class Named(NamedTuple):
    """What the path of a trace says: the job's folder, the rank and the node."""

    folder: str
    rank: int | None
    node_name: str | None


def named(path: str) -> Named:
    folder, _, name = path.rpartition("/")
    rank = _RANK.search(name)
    above, _, last = folder.rpartition("/")
    if _RANK_FOLDER.fullmatch(last):
        folder, rank = above, rank or _RANK.search(last)
    handler = _HANDLER.fullmatch(name)
    return Named(folder, int(rank[1]) if rank else None, handler[1] if handler and not rank else None)


def kind_of(category: str, name: str) -> str | None:
    """What an event on a GPU does; None for any other event."""
    if category in KERNELS:
        return COMMUNICATION if _COMMUNICATION.search(name) else COMPUTE
    return MEMORY if category in COPIES else None
