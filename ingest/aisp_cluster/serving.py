"""Points of vLLM's serving benchmark: a sweep over concurrencies or request rates, and the serving of one model by several nodes.

A sweep is JSON lines, and a CSV of the same with three decimals. A point that occurs twice is a repeat: another run. The CSV's `mem_used_*_mb` are
what the JSON calls `mib`, as nvidia-smi counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from warehouse.landing.consistency import check_statistics
from warehouse.landing.readers.entries import Kind, check_total, possible
from warehouse.landing.readers.json_lines import json_lines
from warehouse.landing.readers.records import Record
from warehouse.landing.readers.text import Data, Entry, Located, Report, whole
from warehouse.landing.rows import RowBuffer

from .csv_rows import csv_rows, record_of

SWEEP = "vllm_serve_sweep"
RATES = "vllm_serve_request_rate_sweep"
MULTINODE = "vllm_multinode_serve"
_COUNTS = {
    "tensor_parallel": "tp", "input_length": "isl", "output_length": "osl", "prompt_count": "num_prompts", "completed_count": "completed",
    "failed_count": "failed",
}
_NUMBERS = {
    "request_throughput_per_s": "request_throughput", "output_token_throughput_per_s": "output_throughput",
    "total_token_throughput_per_s": "total_token_throughput",
    **{
        f"{metric}_{column}_ms": f"{name}_{metric}_ms"
        for metric in ("ttft", "tpot", "itl") for column, name in (("mean", "mean"), ("p50", "median"), ("p99", "p99"))
    },
}
_TELEMETRY = {  # as the JSON names it below gpu_telemetry, and as the CSV does
    "gpu_util_mean_pct": ("util_gpu_mean_pct", "gpu_util_mean_pct"), "gpu_util_p95_pct": ("util_gpu_p95_pct", "gpu_util_p95_pct"),
    "gpu_memory_used_mean_mib": ("mem_used_mean_mib", "mem_used_mean_mb"), "gpu_memory_used_max_mib": ("mem_used_max_mib", "mem_used_max_mb"),
    "gpu_power_mean_w": ("power_mean_w", "gpu_power_mean_w"), "gpu_power_p95_w": ("power_p95_w", "gpu_power_p95_w"),
}


class Point(NamedTuple):
    """A point of a load: its place, what it states, and how often the same load occurred before."""

    place: Located
    columns: Mapping[str, object]
    repeats: int


def points(data: Data, report: Report, is_csv: bool) -> Iterator[Point]:
    """The points of a sweep."""
    stood = Counter[tuple[object, ...]]()
    for place, record in _records(data, report, is_csv):
        columns = columns_of(record, place, report)
        load = (columns["model"], columns["input_length"], columns["output_length"], columns["concurrency"], columns["request_rate_per_s"])
        yield Point(place, columns, stood[load])
        stood[load] += 1


def _records(data: Data, report: Report, is_csv: bool) -> Iterator[tuple[Located, Record]]:
    if is_csv:
        for line, cells in csv_rows(data, report):
            yield line, record_of(cells, line, report)
    else:
        for found in json_lines(data, report):
            yield from found.objects(report)


def columns_of(record: Record, place: Located, report: Report, around: Record | None = None) -> dict[str, object]:
    """The columns of a point; if it is below its settings, these are in `around`. Figures that nothing can have are reported
    and NULL; figures that contradict each other are reported."""
    outer = around or record
    entries: dict[str, Entry] = {}
    columns: dict[str, object] = {}
    for name, key in (*_COUNTS.items(), *_NUMBERS.items()):
        holder = record if key in record.values else outer
        number = holder.number(key)
        entry = Entry(place.offset, place.length, place.line_number, key, None if number is None else str(holder.values[key])[:80], number)
        entries[key] = possible(entry, report, Kind.COUNT if name in _COUNTS else None)
        columns[name] = whole(entries[key].number) if name in _COUNTS else entries[key].number
    check_statistics(entries, report)
    check_total(entries, "num_prompts", ("completed", "failed"), report)
    telemetry = record.within("gpu_telemetry")
    columns |= {name: telemetry.number(keys[0]) if telemetry.values else record.number(keys[1]) for name, keys in _TELEMETRY.items()}
    concurrency = outer.count("concurrency" if "concurrency" in outer.values else "max_concurrency")
    if concurrency is not None and concurrency <= 0:
        outer.flag("impossible-concurrency", str(concurrency))
        concurrency = None
    return columns | {"model": outer.text("model"), "concurrency": concurrency, "request_rate_per_s": _positive(outer, "request_rate")}


def _positive(record: Record, key: str) -> float | None:
    """A request rate; none where requests are sent at once (`inf`)."""
    if str(record.values.get(key)).casefold() == "inf":
        return None
    number = record.number(key)
    if number is not None and number <= 0:
        record.flag("impossible-request-rate", f"{key}: {number:g}")
        return None
    return number


def land_points(buffer: RowBuffer, run: str, raw_path: str, found: Iterable[Point]) -> None:
    """Add the rows of a run's points."""
    for index, point in enumerate(found, 1):
        buffer.add("aisp_serving_point", raw_path, point.place.offset, point.place.length, run_id=run, point_index=index, **point.columns)
