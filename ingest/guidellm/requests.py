"""A benchmark's requests, grouped by how they ended; each as GuideLLM of any version writes it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from warehouse.landing.readers.json_stream import JsonStream
from warehouse.landing.readers.records import Record, shown
from warehouse.landing.readers.text import Report
from warehouse.landing.rows import Row

STATUSES = ("successful", "errored", "incomplete")
# Where the versions state it: 0.2 and 0.3, where -1 means not stated; between 0.3 and 0.4; 0.4 and later.
_TARGETED = (
    (("scheduler_info",), "targeted_start_time"), (("scheduler_info", "scheduler_timings"), "targeted_start"),
    (("info", "timings"), "targeted_start"),
)


@dataclass
class Detail:
    """What the requests state, for the check of the aggregates: counts by status, and values of the successful ones."""

    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(STATUSES, 0))
    latencies_s: list[float] = field(default_factory=list)
    first_tokens_ms: list[float] = field(default_factory=list)


def request_rows(stream: JsonStream, report: Report, detail: Detail) -> Iterator[Row]:
    """Each request of the object at the cursor; `detail` is filled on the way."""
    for pair in stream.pairs():
        if pair.key not in STATUSES:
            if pair.key != "total":  # of all, where a version writes it, nothing
                report("unknown-key", f"requests: {shown(pair.key)}", pair.offset, 0, stream.line_number(pair.offset))
            continue
        for offset, length, record in stream.objects():
            index = sum(detail.counts.values())
            columns = _columns(record, pair.key)
            detail.counts[pair.key] += 1
            if pair.key == "successful":
                detail.latencies_s += [] if columns["request_latency_s"] is None else [columns["request_latency_s"]]
                first = columns["time_to_first_token_ms"]
                detail.first_tokens_ms += [] if first is None else [first]
            yield Row(offset, length, {"request_index": index, "status": pair.key, **columns})


def _columns(record: Record, status: str) -> dict[str, Any]:
    start = "request_start_time" if "request_start_time" in record.values else "start_time"
    error = record.text("error") or record.within("info").text("error")
    return {
        "error": error if status != "successful" else None,
        "targeted_start_s": _targeted_start(record),
        "start_time_s": record.number(start),
        "request_latency_s": record.number("request_latency"),
        "time_to_first_token_ms": record.number("time_to_first_token_ms"),
        "inter_token_latency_ms": record.number("inter_token_latency_ms"),
        "output_tokens_per_second": record.number("output_tokens_per_second"),
        "prompt_tokens": record.count("prompt_tokens"),
        "output_tokens": record.count("output_tokens"),
    }


def _targeted_start(record: Record) -> float | None:
    stated = (record.within(*path).number(key) for path, key in _TARGETED)
    return next((moment for moment in stated if moment is not None and moment >= 0), None)
