"""Writes small MLPerf Training submissions that are true to the format, from values that the caller chooses.

`write_submission` makes a tree; `result_log` gives the text of one file, so that a test can state what it expects without
asking the parser.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

START_MS = 1_759_912_719_309
CALLBACKS = "/usr/local/lib/python3.12/dist-packages/mlperf_common/callbacks/logging.py"


@dataclass(frozen=True)
class Run:
    """One result file: how long its clock ran, how it ended (None: it was cut), and its steps."""

    minutes: float = 10.0
    status: str | None = "success"
    seed: int = 31214
    init_s: float = 30.0
    eval_s: tuple[float, ...] = (5.0, 7.0)
    step_times_s: tuple[float, ...] = (0.5, 0.25, 0.25)
    prefix: str = ""  # a task label before each marker


def event(key: str, value: Any = None, after_ms: float = 0, kind: str = "POINT_IN_TIME", **metadata: Any) -> str:
    """One line, as mlperf_logging writes it."""
    fields = {
        "namespace": "", "time_ms": START_MS + round(after_ms), "event_type": kind, "key": key, "value": value,
        "metadata": {"file": CALLBACKS, "lineno": 83, **metadata},
    }
    return ":::MLLOG " + json.dumps(fields)


def result_log(run: Run = Run(), benchmark: str = "llama31_8b", submitter: str = "Acme") -> str:
    """A whole result file. The run's clock starts when initialisation ends."""
    start = run.init_s * 1000
    stop = start + run.minutes * 60_000
    lines = [
        event("cache_clear", True, -10),
        event("init_start", None, 0, "INTERVAL_START"),
        event("init_start", None, 3, "INTERVAL_START"),  # another rank
        event("submission_benchmark", benchmark, 10),
        event("submission_org", submitter, 10),
        event("submission_division", "closed", 10),
        event("submission_status", "onprem", 10),
        event("submission_platform", "1x A900", 10),
        event("seed", run.seed, 11),
        event("global_batch_size", 32, 11),
        event("gradient_accumulation_steps", 2, 11),
        event("max_sequence_length", 8192, 11),
        event("opt_name", "adamw", 11),
        event("opt_base_learning_rate", 0.0004, 11),
        event("target_accuracy", 3.3, 11),
        event("init_stop", None, start, "INTERVAL_END"),
        event("run_start", None, start, "INTERVAL_START"),
        event("block_start", None, start, "INTERVAL_START", samples_count=0, step=0),
    ]
    at = start
    for step, seconds in enumerate(run.step_times_s):
        at += seconds * 1000
        stats = {"train_step_time": seconds, "reduced_train_loss": 8.0 - step}
        line = event("tracked_stats", stats, at, step=float(step), samples_count=32.0 * (step + 1))
        lines.append(line.replace(CALLBACKS, "/workspace/llm/custom_callbacks.py"))
    for number, seconds in enumerate(run.eval_s):
        lines.append(event("eval_start", None, at, "INTERVAL_START", samples_count=96))
        at += seconds * 1000
        lines.append(event("eval_accuracy", 4.0 - number, at, samples_count=96))
        lines.append(event("tracked_stats", {"validation_time": seconds}, at, step=3))
        lines.append(event("eval_stop", None, at, "INTERVAL_END", samples_count=96))
    if run.status is not None:
        lines.append(event("run_stop", None, stop, "INTERVAL_END", status=run.status, samples_count=96))
    noise = ["+ srun train.sh", "Epoch 0:  10%|#  | 3/30 [00:01<00:09]"]
    return "\n".join([*noise, *(run.prefix + line for line in lines)]) + "\n"


def system(submitter: str = "Acme", nodes: int = 1, **changes: Any) -> dict[str, Any]:
    """A system description: numbers are text, what is not known is blank or N/A."""
    return {
        "submitter": submitter, "division": "closed", "status": "Available on-premise", "system_name": f"{nodes}x Box",
        "number_of_nodes": str(nodes), "host_processors_per_node": "2", "host_processor_model_name": "CPU 9575",
        "host_processor_core_count": "64", "host_memory_capacity": "3 TB", "host_storage_type": "NVMe",
        "host_storage_capacity": "N/A", "host_networking": "", "accelerators_per_node": "8",
        "accelerator_model_name": "NVIDIA H100-SXM5-80GB", "accelerator_memory_capacity": "80 GB",
        "framework": "NVIDIA NeMo Framework Release 25.09", "operating_system": "Ubuntu 24.04",
        "other_software_stack": {
            "cuda_version": "13.0.1", "nccl_version": "2.28.3", "nvidia_kernel_driver": "570.158", "mofed_version": "",
        },
        **changes,
    }


def write_set(
    root: Path, runs: list[Run], *, round: str | None = "v5.1", submitter: str = "Acme", platform: str = "box_n1",
    benchmark: str = "llama31_8b", nodes: int = 1, scaling_factor: float | None = None,
) -> Path:
    """Writes one repeat set below `root`, with its platform's description; returns the folder of its result files."""
    home = root / (f"training_results_{round}" if round else "submission") / submitter
    folder = home / "results" / platform / benchmark
    for number, run in enumerate(runs):
        write(folder / f"result_{number}.txt", result_log(run, benchmark, submitter))
    if scaling_factor is not None:
        write(folder / "scaling.json", json.dumps({"scaling_factor": scaling_factor}))
    write(home / "systems" / f"{platform}.json", json.dumps(system(submitter, nodes), indent=4))
    return folder


def write_submission(root: Path) -> None:
    """A submission of two repeat sets of one run each, as the logs of two kinds of launcher."""
    write_set(root, [Run()], scaling_factor=1.1)
    write_set(root, [Run(prefix="3: ", status="aborted")], benchmark="llama2_70b_lora")


def write(path: Path, text: str | bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
