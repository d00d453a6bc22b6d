"""Files as SuperBench writes them: results of nodes and samples of its monitor. All figures are made up."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

METRICS = {
    "kernel-launch/event_time:0": 0.0061, "kernel-launch/return_code:0": 0, "nccl-bw/allreduce_8388608_busbw:0": 89.51,
    "nccl-bw/allreduce_8388608_time:0": 164.0, "nccl-bw/return_code:0": 0, "bert_models/pytorch-bert-base/steptime_train_float32": 114.59,
}
NODES = {"gpu-01": METRICS, "gpu-02": {**METRICS, "nccl-bw/return_code:0": 28, "nccl-bw/allreduce_8388608_busbw:0": None}}
RESULTS = "".join(json.dumps({"node": node, **metrics}) + "\n" for node, metrics in NODES.items())


def sample(second: int, usage: int = 56, **changes: Any) -> dict[str, Any]:
    return {
        "time": f"2021-12-06 04:19:{second:02}", "cpu_usage": 356.05, "gpu_usage:0": usage, "gpu_usage:1": usage + 1, "gpu_temperature:0": 26,
        "gpu_temperature:1": 27, "gpu_power_limit:0": 250, "gpu_power_limit:1": 250, "gpu_mem_used:0": 267517952, "gpu_mem_used:1": 267517952,
        "ib0_receive_bw": 7.0e-05, **changes,
    }


MONITOR = "".join(json.dumps(sample(second)) + "\n" for second in (35, 46))


def write_all(folder: Path) -> None:
    """The results of two nodes, one node's own, and samples."""
    for path, text in (
        ("results-summary.jsonl", RESULTS), ("one/nodes/gpu-03/results-summary.json", json.dumps(METRICS)), ("nodes/gpu-01/monitor.jsonl", MONITOR),
    ):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
