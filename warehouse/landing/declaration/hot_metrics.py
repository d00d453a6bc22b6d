"""The contract's rules for hot metrics, the time series for alerts and debugging: which labels they may have, and how many series there may be."""

from __future__ import annotations

ALLOWED_LABELS = (
    "run_id", "benchmark_case_id", "cluster", "region", "node_pool", "gpu_model", "scheduler_path", "concurrency_bucket",
)
FORBIDDEN_LABELS = ("request_id", "trace_id", "prompt_hash", "arbitrary_user_label")
STORE, MAX_ACTIVE_SERIES = "prometheus", 2_000_000
