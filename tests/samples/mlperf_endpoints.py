"""A run of MLPerf Endpoints as its Report and configuration are written: 200 requests in 100 s, of which 4 failed. All figures are made up."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

CONFIG = """name: acme
version: '1.0'
type: online
benchmark_mode: null
model_params:
  name: acme/7b
  temperature: null
  max_new_tokens: 1024
  streaming: 'on'
datasets:
- name: perf
  type: performance
  path: /data/perf.jsonl
settings:
  runtime:
    min_duration_ms: 100000
    n_samples_to_issue: null
    scheduler_random_seed: 42
  load_pattern:
    type: concurrency
    target_qps: null
    target_concurrency: 32
  warmup:
    enabled: false
    n_requests: null
endpoint_config:
  endpoints:
  - http://node7:8000
  api_key: '[REDACTED]'
report_dir: null
"""


def statistics(scale: float, count: int = 200) -> dict[str, Any]:
    """As _series_to_metric_dict has them."""
    return {
        "total": int(scale * 2 * count), "min": int(scale), "max": int(scale * 6), "median": scale * 1.5, "avg": scale * 2, "std_dev": scale / 2,
        "percentiles": {
            "99.9": scale * 6, "99.0": scale * 5, "95.0": scale * 4, "90.0": scale * 3, "80.0": scale * 2.5, "50.0": scale * 1.5, "25.0": scale * 1.2,
        },
        "histogram": {"buckets": [[scale, scale * 3], [scale * 3, scale * 6]], "counts": [count - 20, 20]},
    }


def report(**changes: Any) -> dict[str, Any]:
    """result_summary.json: times to the first token of 40 ms in the mean, 20 ms a token, 2 s a request; 200 tokens each."""
    return {
        "version": "0.1.0", "git_sha": "a1b2c3d", "test_started_at": 0, "n_samples_issued": 200, "n_samples_completed": 200,
        "n_samples_failed": 4, "duration_ns": 100_000_000_000, "state": "complete", "complete": True, "ttft": statistics(2e7),
        "tpot": statistics(1e7), "latency": statistics(1e9), "output_sequence_lengths": statistics(100.0),
        "legacy_loadgen_window_duration_ns": None, "qps": 2.0, "tps": 400.0,
        "run_config": {
            "load_pattern": {"type": "concurrency", "target_qps": None, "target_concurrency": 32},
            "warmup": {"enabled": False, "n_requests": None, "warmup_random_seed": 42}, "scheduler_random_seed": 42, "dataloader_random_seed": 42,
        },
    } | changes


def write(folder: Path, config: str | None = CONFIG, **changes: Any) -> Path:
    (folder / "performance").mkdir(parents=True, exist_ok=True)
    (folder / "performance/result_summary.json").write_text(json.dumps(report(**changes), indent=2))
    if config is not None:
        (folder / "config.yaml").write_text(config)
    return folder


def write_all(folder: Path) -> None:
    write(folder / "c32")
    write(folder / "c32/audit/reference", n_samples_failed=0)
    poisson = {"load_pattern": {"type": "poisson", "target_qps": 2.5, "target_concurrency": None}}
    write(folder / "q2.5", None, run_config=poisson, qps=1.99, legacy_loadgen_window_duration_ns=100_000_000_000)
