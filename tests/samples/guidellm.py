"""Reports of GuideLLM as each version of it writes them, made here: two benchmarks of four requests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

RUN = "563b778f-8b3b-49d1-822f-edbf6c1cc93e"


def distribution(mean: float) -> dict[str, Any]:
    percentiles = {"p50": mean, "p90": mean * 1.5, "p95": mean * 1.75, "p99": mean * 2}
    zero = {"mean": 0.0, "min": 0.0, "max": 0.0, "count": 0, "percentiles": dict.fromkeys(percentiles, 0.0)}
    return {"successful": {"mean": mean, "min": mean / 2, "max": mean * 2, "count": 2, "percentiles": percentiles}, "errored": zero}


def requests(old: bool) -> dict[str, list[dict[str, Any]]]:
    def request(latency: float, first: float | None, **more: Any) -> dict[str, Any]:
        return {
            "start_time" if old else "request_start_time": 1700000000.5, "request_latency": latency, "prompt_tokens": 32,
            "output_tokens": 8, "time_to_first_token_ms": first, "inter_token_latency_ms": 2.5, "output_tokens_per_second": 8 / latency,
            **more,
        }

    error = {"error": "refused"} if old else {"info": {"error": "refused"}}
    return {
        "successful": [request(0.25, 10.0), request(0.75, 30.0)], "errored": [request(0.1, None, **error)],
        "incomplete": [request(9.0, 20.0)],
    }


def _benchmark(strategy: dict[str, Any], old: bool, **metrics: Any) -> dict[str, Any]:
    totals = {"successful": 2, "errored": 1, "incomplete": 1, "total": 4}
    measured = {
        "requests_per_second": distribution(1.25), "request_latency": distribution(0.5),
        "time_to_first_token_ms": distribution(20.0), "inter_token_latency_ms": distribution(2.5),
        "output_tokens_per_second": distribution(64.0), **metrics,
    }
    start = {"type_": "generative_benchmark", "start_time": 1700000000.0, "end_time": 1700000005.0}
    if old:
        return {**start, "run_id": RUN, "args": {"strategy": strategy}, "worker": {"backend_model": "acme/7b"}, "metrics": measured,
                "request_totals": totals, "requests": requests(old)}
    config = {"run_id": RUN, "strategy": strategy, "backend": {"kind": "openai_http", "model": "acme/7b"}}
    return {**start, "config": config, "metrics": {"request_totals": totals, **measured}, "requests": requests(old)}


def report(version: int, **metrics: Any) -> dict[str, Any]:
    """The same two benchmarks as 0.2, as report version 1, and as report version 2 have them."""
    old = version == 0
    strategies = [{"type_": "constant", "rate": 2.0, "max_concurrency": 512}, {"type_": "concurrent", "streams": 8}]
    benchmarks = [_benchmark(strategy, old, **metrics) for strategy in strategies]
    if version == 0:
        return {"benchmarks": benchmarks}
    metadata = {"version": version, "guidellm_version": "0.8.0"}
    data = {"args": {"data": ["prompt_tokens=32"]}} if version == 1 else {"config": {"spec": {"data": [{"prompt_tokens": 32}]}}}
    return {"metadata": metadata, **data, "benchmarks": benchmarks}


def write(top: Path, version: int = 2, **metrics: Any) -> Path:
    top.mkdir(parents=True)
    (top / "any_name.json").write_text(json.dumps(report(version, **metrics), indent=1 if version else None))
    return top


def write_reports(top: Path) -> None:
    """One report of each version."""
    for version in (0, 1, 2):
        write(top / str(version), version)
