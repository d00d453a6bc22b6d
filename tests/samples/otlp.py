"""Traces of a vLLM server in OTLP/JSON, as the OpenTelemetry collector's file exporter writes them. All figures are made up."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from samples.prometheus import START


def span(number: int, at: datetime, queue_s: float, e2e_s: float = 1.5, **changes: Any) -> dict[str, Any]:
    """A served request that began at `at`."""
    start = int(at.timestamp() * 1e6) * 1000
    attributes = {
        "gen_ai.request.id": {"stringValue": f"cmpl-{number}"}, "gen_ai.usage.prompt_tokens": {"intValue": "128"},
        "gen_ai.usage.completion_tokens": {"intValue": 16}, "gen_ai.latency.time_in_queue": {"doubleValue": queue_s},
        "gen_ai.latency.time_to_first_token": {"doubleValue": queue_s + 0.25}, "gen_ai.latency.e2e": {"doubleValue": e2e_s},
        "gen_ai.request.stop": {"arrayValue": {"values": [{"stringValue": "</s>"}]}},
    }
    return {
        "traceId": f"{0x5B8EFFF798038103D269B633813FC60C + number:032X}", "spanId": f"{0xEEE19B7EC3C1B174 + number:016x}", "parentSpanId": "",
        "name": "llm_request", "kind": 2, "startTimeUnixNano": str(start), "endTimeUnixNano": str(start + int(e2e_s * 1e9)),
        "attributes": [{"key": key, "value": value} for key, value in attributes.items()], "status": {}, **changes,
    }


def document(*spans: dict[str, Any], node: str = "gpu01") -> dict[str, Any]:
    resource = [{"key": "service.name", "value": {"stringValue": "vllm-server"}}, {"key": "k8s.node.name", "value": {"stringValue": node}}]
    return {
        "resourceSpans": [
            {"resource": {"attributes": resource}, "scopeSpans": [{"scope": {"name": "vllm.llm_engine"}, "spans": list(spans)}]},
        ],
    }


def write_all(folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / "traces.json").write_text(json.dumps(document(span(1, START, 0.5), span(2, START + timedelta(seconds=2), 0.125)), indent=1))
    lines = [document(span(3, START, 0.25)), document(span(4, START, 4.5, status={"code": "STATUS_CODE_ERROR", "message": "out of memory"}))]
    (folder / "exported.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
