"""The requests of a run (`--request_json`): an array of objects. Times are nanoseconds from an arbitrary origin. -1 means that a time
was not measured: without --streaming the client does not see the first token."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from warehouse.landing.readers.entries import check_computed
from warehouse.landing.readers.json_stream import JsonStream
from warehouse.landing.readers.records import Record
from warehouse.landing.readers.statistics import agrees, mean
from warehouse.landing.readers.text import Data, Entry, Report
from warehouse.landing.rows import Row

_MOMENTS = {"start_ns": "start_timestamp", "first_token_ns": "first_token_timestamp", "end_ns": "end_timestamp"}
_OUTPUT_TOKENS = ("output_tokens", "num_total_output_tokens", "num_output_tokens")  # the last of older versions
_RANKS = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99}
_SECTIONS = ("performance/request_latency_percentiles_ms", "streaming_metrics/ttft_percentiles", "streaming_metrics/tpot_percentiles")


@dataclass
class Detail:
    """What the requests give for the check of the report, in nanoseconds by its section, as the tool computes them."""

    requests: int = 0
    values: "dict[str, array[float]]" = field(default_factory=lambda: {section: array("d") for section in _SECTIONS})


def request_rows(data: Data, report: Report, detail: Detail) -> Iterator[Row]:
    """Each request, in their order; `detail` is filled on the way."""
    with JsonStream(data, report) as stream:
        for offset, length, record in stream.objects():
            columns = _columns(record)
            _note(columns, detail)
            yield Row(offset, length, {"request_index": detail.requests, **columns})
            detail.requests += 1


def _columns(record: Record) -> dict[str, Any]:
    columns: dict[str, Any] = {name: _moment(record, key) for name, key in _MOMENTS.items()}
    output = next((key for key in _OUTPUT_TOKENS if key in record.values), _OUTPUT_TOKENS[0])
    return columns | {
        "input_tokens": record.count("num_input_tokens"), "output_tokens": record.count(output), "error_tokens": record.count("error_tokens"),
    }


def _moment(record: Record, key: str) -> int | None:
    moment = record.count(key)
    return moment if moment is None or moment > 0 else None


def _note(columns: Mapping[str, Any], detail: Detail) -> None:
    """By `RequestRecord` (tensorrt_llm/bench/dataclasses/statistics.py): 0 for what a request of one token has not."""
    start, first, end, tokens = (columns[name] for name in ("start_ns", "first_token_ns", "end_ns", "output_tokens"))
    if start is None or end is None or tokens is None:
        return
    latencies, first_tokens, per_token = detail.values.values()
    latencies.append(end - start)
    if first is not None:
        first_tokens.append(first - start)
        per_token.append((end - first) / (tokens - 1) if tokens > 1 else 0.0)


def check(entries: Mapping[str, Entry], detail: Detail, report: Report) -> None:
    """Report the statistics that the requests contradict. A percentile is the value at the rank `int(n * p)`."""
    for section, values in detail.values.items():
        if not values or len(values) < detail.requests:
            continue
        ordered = sorted(values)
        computed = {name: ordered[int(len(ordered) * share)] for name, share in _RANKS.items()}
        computed |= {"minimum": ordered[0], "maximum": ordered[-1], "average": mean(ordered)}
        for name, nanoseconds in computed.items():
            entry = entries.get(f"{section}/{name}")
            if entry and entry.number is not None and not agrees(entry.number, nanoseconds * 1e-6):
                check_computed(entry, nanoseconds * 1e-6, report, " ms")
