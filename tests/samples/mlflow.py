"""A file store of MLflow with runs of lightgbm-benchmark, and reports of its perf.py. All figures are made up."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

RUN, EXPERIMENT = "0a1b2c3d4e5f60718293a4b5c6d7e8f9", "7"
START_S = 1795212820.5  # 2026-11-20T22:13:40.5Z
TAGS = {
    "architecture": "64bit-ELF", "benchmark_name": "made-bench", "cpu_count": "4", "cpu_frequency": "2596", "framework": "made_framework",
    "framework_version": "3.3.1", "machine": "x86_64", "mlflow.runName": "made-run", "mlflow.source.name": "train.py", "mlflow.user": "made",
    "platform": "Linux-6.1-made", "processor": "", "system": "Linux", "system_memory": "24", "system_version": "#1 SMP", "task": "train",
}
PARAMS = {"num_trees": "100", "learning_rate": "0.1", "random_seed": "7"}


def sample(at_s: float, cpu: float, written_mib: float, **changes: float) -> dict[str, float]:
    """A sample, `at_s` seconds after the first."""
    return {
        "cpu_pct_per_cpu_avg": cpu, "cpu_pct_per_cpu_min": cpu - 5, "cpu_pct_per_cpu_max": min(100.0, cpu + 5), "mem_percent": 4.5,
        "disk_usage_percent": 33.25, "disk_io_read_mb": 500.25, "disk_io_write_mb": written_mib, "net_io_lo_sent_mb": 10.5, "net_io_ext_sent_mb": 20.5,
        "net_io_lo_recv_mb": 10.5, "net_io_ext_recv_mb": 30.5 + at_s, "timestamp": START_S + at_s, **changes,
    }


# Node 0: even. Node 1: thinned, so the plain mean of its CPU (50) is not the mean over its time, and its disk counter begins anew.
SERIES = {
    "0": [sample(0, 90.0, 1000.0), sample(1, 100.0, 1001.0), sample(2, 80.0, 1003.5), sample(3, 30.0, 1003.5)],
    "1": [sample(0, 20.0, 50.0), sample(1, 20.0, 60.0), sample(2, 20.0, 5.0), sample(5, 90.0, 8.0), sample(8, 100.0, 9.0)],
}


def reported(samples: list[dict[str, float]], now_s: float, cpus: int) -> dict[str, float]:
    """The 18 metrics as perf.py computes them from a node's samples, `now_s` seconds after the first."""
    cpu = [each["cpu_pct_per_cpu_avg"] for each in samples]
    mean, hours = sum(cpu) / len(cpu), now_s * cpus / 3600
    shares = {f"cpu_avg_utilization_{name}_pct": 100.0 * sum(each >= bound for each in cpu) / len(cpu) for name, bound in
              (("over20", 20), ("over40", 40), ("over80", 80), ("at100", 100))}
    keys = ("cpu_pct_per_cpu_avg", "cpu_pct_per_cpu_min", "cpu_pct_per_cpu_max", "mem_percent")
    counters = [key for key in samples[0] if key.endswith("_mb")]
    return {
        **shares, "cpu_avg_utilization_pct": mean, "node_cpu_hours": hours, "node_unused_cpu_hours": hours * (100 - mean) / 100,
        **{f"max_t_{key}": max(each[key] for each in samples) for key in keys},
        "max_t_disk_usage_percent": max(each["disk_usage_percent"] for each in samples),
        **{f"total_{key}": max(each[key] for each in samples) for key in counters},
    }


def meta(**changes: Any) -> str:
    stated = {
        "artifact_uri": "file:///made/mlruns/7/artifacts", "end_time": 1795212835159, "entry_point_name": "''", "experiment_id": f"'{EXPERIMENT}'",
        "lifecycle_stage": "active", "run_id": RUN, "run_name": "made-run", "run_uuid": RUN, "source_type": 4, "start_time": 1795212819934, "status": 3,
        "tags": "[]", "user_id": "made", **changes,
    }
    return "".join(f"{key}: {value}\n" for key, value in stated.items())


def write_run(folder: Path, series: dict[str, list[dict[str, float]]] = SERIES, **changes: Any) -> Path:
    """A run in a file store at `folder`; returns the run's folder."""
    run = folder / EXPERIMENT / RUN
    put(folder / EXPERIMENT / "meta.yaml", f"artifact_location: file:///made\nexperiment_id: '{EXPERIMENT}'\nlifecycle_stage: active\nname: made-experiment\n")
    put(run / "meta.yaml", meta(**changes))
    for key, value in TAGS.items():
        put(run / "tags" / key, value)
    for key, value in PARAMS.items():
        put(run / "params" / key, value)
    put(run / "metrics/time_training", "1795212832438 12.25 0\n")
    put(run / "metrics/node_0/valid.auc", "1795212822000 0.5 1\n1795212823000 0.75 2\n")
    put(run / "metrics/prediction_latency_p99_usecs", "1795212833996 4145.5\n")
    by_key: dict[str, str] = {}
    for node, samples in series.items():
        for key, value in reported(samples, 20.0, 4).items():
            by_key[key] = by_key.get(key, "") + f"1795212835135 {value} {node}\n"
    for key, text in by_key.items():
        put(run / "metrics" / key, text)
    put(run / "artifacts/tmpabc123.json", json.dumps(series, indent=4))
    return run


def put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def write_all(folder: Path) -> None:
    """A run, and a report alone."""
    write_run(folder / "mlruns")
    put(folder / "alone/report.json", json.dumps({"0": [sample(0, 50.0, 7.0), sample(1, 60.0, 9.0)]}, indent=4))
