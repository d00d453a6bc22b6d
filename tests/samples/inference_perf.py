"""An inference-perf run of two stages with five requests, one of which failed, and its server's manifest."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

MANIFEST = """apiVersion: apps/v1
kind: Deployment
spec:
  replicas: 2
  template:
    spec:
      containers:
      - args: ["--model=$(MODEL_ID)", "--tensor-parallel-size=4"]
        env:
        - name: MODEL_ID
          value: acme/7b
        image: vllm/vllm-openai:v0.11.0
        resources: {limits: {nvidia.com/gpu: 4}}
      - image: sidecar:1
      nodeSelector: {cloud.google.com/gke-accelerator: nvidia-h100-80gb}
---
apiVersion: v1
kind: Service
"""


def distribution(mean: float) -> dict[str, float]:
    return {"mean": mean, "min": mean / 2, "p0.1": mean / 2, "median": mean, "p90": mean * 2, "p99": mean * 3, "max": mean * 4}


def stage(rate: float, count: int, failed: int = 0) -> dict[str, Any]:
    return {
        "load_summary": {
            "count": count, "schedule_delay": distribution(0.001), "send_duration": 9.5, "requested_rate": rate,
            "achieved_rate": rate,
        },
        "successes": {
            "count": count - failed,
            "latency": {name: distribution(0.25) for name in ("request_latency", "time_to_first_token", "inter_token_latency")},
            "throughput": {"output_tokens_per_sec": 64.5, "requests_per_sec": 1.25},
        },
        "failures": {"count": failed, "request_latency": None},
    }


def request(start: float, new: bool) -> dict[str, Any]:
    times = [start + 0.5, start + 0.75, start + 1.0]
    old_info = {"input_tokens": 7, "output_tokens": 3, "output_token_times": times}
    new_info = {
        "request_metrics": {"text": {"input_tokens": 7}}, "response_metrics": {"output_tokens": 3, "output_token_times": times},
    }
    return {
        "start_time": start, "end_time": start + 1.0, "request": "{}", "response": "…", "info": new_info if new else old_info,
        "error": None,
    }


REPORT = "load_summary:\n  count: 2\n  schedule_delay: {mean: 0.1}\nsuccesses:\n  count: 2\nfailures:\n  count: 0\n"
CONFIG = """api:
  streaming: true
  type: completion
data:
  type: shareGPT
load:
  interval: 15.5
  stages:
  - duration: 60
    rate: 4.5
  type: constant
server:
  base_url: http://127.0.0.1:8000
  ignore_eos: true
  model_name: acme/7b
"""


def write_all(folder: Path) -> None:
    """A run beside its manifest, and one that is told in YAML only."""
    write(folder / "json")
    (folder / "yaml").mkdir()
    (folder / "yaml" / "mine.yaml").write_text(REPORT)
    (folder / "yaml" / "config.yaml").write_text(CONFIG)


def write(folder: Path) -> Path:
    results = folder / "batch-size" / "results"
    results.mkdir(parents=True)
    (folder / "batch-size" / "manifests.yaml").write_text(MANIFEST)
    for name, data in {
        "stage_0_lifecycle_metrics.json": stage(1.0, 2), "stage_1_lifecycle_metrics.json": stage(4.5, 3, failed=1),
        "summary_lifecycle_metrics.json": stage(9.0, 5),
        "stage_0_prometheus_metrics.json": {"load_summary": {}, "successes": {"request_queue_time": {"mean": 0.02}}, "failures": {}},
    }.items():
        (results / name).write_text(json.dumps(data))
    failed = {**request(103.0, True), "error": {"error_type": "TimeoutError", "error_msg": "too slow"}, "info": {}}
    requests = [request(101.0, True), request(100.0, False), failed, request(102.0, True), request(104.0, False)]
    (results / "per_request_lifecycle_metrics.json").write_text(json.dumps(requests))
    return folder
