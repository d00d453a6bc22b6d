"""An LLMPerf run: a summary, and the four responses it is of, the last two of them failed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def request(ttft: float, latency: float, tokens: int, error: int | None = None) -> dict[str, Any]:
    return {
        "error_code": error, "error_msg": "" if error is None else "Too few", "inter_token_latency_s": latency / (tokens or 1),
        "ttft_s": ttft, "end_to_end_latency_s": latency,
        "request_output_throughput_token_per_s": tokens / latency if latency else 0,
        "number_total_tokens": 500 + tokens, "number_output_tokens": tokens, "number_input_tokens": 500,
    }


REQUESTS = [request(0.5, 2.0, 100), request(0.25, 1.0, 40), request(0.1, 0.4, 9, -100), request(0, 0, 0, 500)]


def summary(**changes: Any) -> dict[str, Any]:
    """Written by hand for REQUESTS: of 0.25 and 0.5 s to the first token, 1 and 2 s end to end."""
    return {
        "version": "2023-08-31", "name": "acme-7b_500_100_summary", "model": "acme/7b", "mean_input_tokens": 500,
        "stddev_input_tokens": 0, "mean_output_tokens": 100, "stddev_output_tokens": 10, "num_concurrent_requests": 2,
        "results_ttft_s_quantiles_p50": 0.375, "results_ttft_s_quantiles_p90": 0.475, "results_ttft_s_mean": 0.375,
        "results_end_to_end_latency_s_quantiles_p95": 1.95, "results_end_to_end_latency_s_mean": 1.5,
        "results_end_to_end_latency_s_stddev": 0.7071067811865476, "results_number_output_tokens_max": "100",
        "results_num_requests_started": 4, "results_number_errors": 2, "results_num_completed_requests": 2,
        "results_num_completed_requests_per_min": 30.0, "results_mean_output_throughput_token_per_s": 35.0,
        "framework": "acme", "timestamp": 1700000000, **changes,
    }


def write(folder: Path, requests: list[Any] = REQUESTS, **changes: Any) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "acme-7b_500_100_summary.json").write_text(json.dumps(summary(**changes), indent=4))
    (folder / "acme-7b_500_100_individual_responses.json").write_text(json.dumps(requests, indent=4))
    return folder
