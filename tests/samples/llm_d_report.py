"""llm-d benchmark reports of versions 0.1 and 0.2.1, made here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import yaml


def old(**latency: Any) -> dict[str, Any]:
    return {
        "version": "0.1",
        "scenario": {
            "host": {"type": ["prefill", "decode"], "accelerator": [
                {"model": "H100", "memory": 80, "count": 1, "parallelism": {"tp": 1}},
                {"model": "H100", "memory": 80, "count": 8, "parallelism": {"tp": 8, "dp": 1, "pp": 1, "ep": 8}},
            ]},
            "platform": {"engine": [{"name": "vllm", "version": "0.9.0.1"}, {"name": "vllm", "version": "0.9.0.1"}]},
            "model": {"name": "acme/7b"},
            "load": {"name": "inference-perf", "type": "long-input", "args": {"qps_values": 1.34}},
        },
        "metrics": {
            "time": {"duration": 16.5, "start": 1749570583.5},
            "requests": {"total": 32, "failures": 2, "incomplete": 1},
            "latency": {"request_latency": {"units": "ms", "mean": 3.5, "p90": 5.25}, **latency},
            "throughput": {"requests_per_sec": 1.25},
        },
    }


def new(**latency: Any) -> dict[str, Any]:
    engine = {
        "kind": "inference_engine", "tool": "llm-d", "tool_version": "ghcr.io/llm-d/llm-d-cuda:0.3.1", "role": "decode",
        "replicas": 2, "model": {"name": "acme/7b"},
        "accelerator": {"model": "H200", "count": 8, "parallelism": {"tp": 8, "dp": 1, "pp": 1, "ep": 1}},
    }
    return {
        "results": {"request_performance": {"aggregate": {
            "requests": {"total": 500, "failures": 0},
            "latency": {"time_to_first_token": {"units": "s", "mean": 0.25, "p99": 0.5}, **latency},
            "throughput": {"request_rate": {"units": "queries/s", "mean": 4.5}},
        }}},
        "run": {"uid": "38b1f169ca178b756f7483523b17de61", "time": {"duration": "PT49.5S", "start": "2025-11-05T18:00:42Z"}},
        "scenario": {
            "load": {"standardized": {"tool": "inference-perf", "tool_version": "0.3.0", "stage": 3, "rate_qps": 10.0}},
            "stack": [{"metadata": {"label": "a"}, "standardized": engine}, {"standardized": {"kind": "generic", "tool": "router"}}],
        },
        "version": "0.2.1",
    }


def write(top: Path, report: dict[str, Any], suffix: str) -> Path:
    top.mkdir(parents=True)
    text = json.dumps(report) if suffix == "json" else yaml.safe_dump(report)
    (top / f"report.{suffix}").write_text(text)
    return top
