"""AIPerf's time slices: the statistics of the requests that began in each window of a run.

The JSON states when each window began and ended; the CSV only numbers the windows, so it is evidence and not read.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from warehouse.landing.readers.json_stream import JsonStream
from warehouse.landing.readers.records import Record
from warehouse.landing.readers.text import Data, Report
from warehouse.landing.rows import Row

from .units import RATES, milliseconds

_TIMES = {
    "ttft": "time_to_first_token", "tpot": "inter_token_latency", "itl": "inter_chunk_latency", "e2e": "request_latency",
}
_STATISTICS = {"mean": "avg", "p50": "p50", "p99": "p99"}
_THROUGHPUTS = ("request_throughput", "output_token_throughput", "total_token_throughput")


def slice_rows(data: Data, report: Report) -> Iterator[Row]:
    """Each window."""
    with JsonStream(data, report) as stream:
        for pair in stream.pairs():
            if pair.key != "timeslices":
                stream.skip()
                continue
            for index, (offset, length, window) in enumerate(stream.objects()):
                yield Row(offset, length, {"slice_index": index, **_columns(window)})


def _columns(window: Record) -> dict[str, Any]:
    columns: dict[str, Any] = {key: window.count(key) for key in ("start_ns", "end_ns")}
    columns["request_count"] = window.within("request_count").count("avg")
    for short, name in _TIMES.items():
        metric = window.within(name)
        columns |= {f"{short}_{ours}_ms": milliseconds(metric, statistic, name) for ours, statistic in _STATISTICS.items()}
    for name in _THROUGHPUTS:
        metric = window.within(name)
        if metric.values and (metric.text("unit") or "") not in RATES:
            metric.flag("unknown-unit", f"{name}: {metric.text('unit')}")
        else:
            columns[f"{name}_per_s"] = metric.number("avg")
    return columns
