"""A report of perf.py: of each node, by its rank, a list of samples with twelve keys.

What is landed is what is written. Counters are since the host's boot and the spacing is not even (perf.py drops every second sample
when it has a thousand, and the newest with them): what follows from the samples is computed in models.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from warehouse.landing.contract import Bundle
from warehouse.landing.readers.entries import Kind, document, is_possible
from warehouse.landing.readers.json_text import Element, json_elements, json_pairs
from warehouse.landing.readers.records import Record, shown
from warehouse.landing.readers.text import Report
from warehouse.landing.rows import RowBuffer

from . import COUNTER_KEYS, CPU_KEYS

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# Before this day (pull request 230 of lightgbm-benchmark) disk_io_write_mb was a number of operations.
_BYTES_SINCE_S = datetime(2022, 2, 8, tzinfo=UTC).timestamp()
_THINNED = 1.5  # the longest interval over the shortest; each thinning doubles it
_TIMESTAMP = "timestamp"


def add_report(bundle: Bundle, raw_path: str, run_id: str, ranks: set[int], buffer: RowBuffer) -> None:
    """Add the samples of all nodes, whose ranks are added to those of the run's other reports."""
    report = Report(buffer, raw_path, run_id)
    data = document(bundle, raw_path, report)
    for node in json_pairs(data, report):
        key = str(node.key)
        if not key.isdecimal() or len(key) > 9:
            report.at("not-a-node", f"{key[:80]!r} is no rank of a node", node, "error")
        elif not isinstance(node.value, list):
            report.at("not-a-list", f"node {key}: {shown(node.value)}", node, "error")
        elif int(key) in ranks:
            report.at("node-twice", f"node {key} has another list; the first is taken", node, "error")
        else:
            ranks.add(int(key))
            stated = data[node.offset : node.offset + node.length]
            opening = stated.index(b"[")
            start = (node.offset + opening, node.line_number + stated.count(b"\n", 0, opening))
            _add_node(raw_path, run_id, int(key), list(json_elements(stated[opening:], report, start=start)), report, buffer)


def _add_node(raw_path: str, run_id: str, rank: int, samples: list[Element], report: Report, buffer: RowBuffer) -> None:
    if not samples:
        report("no-samples", f"node {rank} has no samples", severity="warning")
    moments: list[float] = []
    baseline: int | None = None  # the last sample that is in order, and its counters
    counters: dict[str, float] = {}
    for index, sample in enumerate(samples):
        if not isinstance(sample.value, dict):
            report.at("not-an-object", f"node {rank}: a sample is expected", sample, "error")
            continue
        record = Record(sample.value, report.flag(sample))
        columns = {key: record.number(key) for key in (*CPU_KEYS, *COUNTER_KEYS)}
        for key, number in columns.items():
            if number is None and key not in sample.value:
                report.at("missing-key", key, sample)
            elif number is not None and (number < 0 or (key in CPU_KEYS and number > 100.0 + 1e-9)):
                report.at("impossible-measurement", f"{key}: {number}", sample, "error")
                columns[key] = None
        timestamp = record.number(_TIMESTAMP)
        if timestamp is None or not is_possible(Kind.MOMENT, timestamp):
            report.at("impossible-time", f"{_TIMESTAMP}: {shown(sample.value.get(_TIMESTAMP))}", sample, "error")
            timestamp = None
        elif moments and _micros(timestamp) <= _micros(moments[-1]):
            report.at("time-not-increasing", f"{timestamp} after {moments[-1]}", sample)
        is_in_order = timestamp is not None and (not moments or _micros(timestamp) > _micros(moments[-1]))
        buffer.add(
            "perf_report_sample", raw_path, sample.offset, sample.length, run_id=run_id, node_rank=rank, sample_index=index, timestamp=timestamp,
            sampled_at=None if timestamp is None else _EPOCH + timedelta(seconds=timestamp), is_in_order=is_in_order,
            baseline_index=baseline if is_in_order else None, **columns,
        )
        if timestamp is not None and is_in_order:
            for key in COUNTER_KEYS:
                number = columns[key]
                if number is not None and number < counters.get(key, 0.0):
                    report.at("counter-reset", f"{key}: {number} after {counters[key]}: no total of it is known", sample)
                counters.update({} if number is None else {key: number})
            moments.append(timestamp)
            baseline = index
    intervals = [after - before for before, after in zip(moments, moments[1:], strict=False)]
    if intervals and max(intervals) > _THINNED * min(intervals):
        message = f"node {rank}: intervals from {min(intervals):.3g} s to {max(intervals):.3g} s, so plain means over samples are biased"
        report("uneven-samples", message, severity="note")
    if moments and moments[0] < _BYTES_SINCE_S:
        report("ambiguous-unit", f"node {rank}: disk_io_write_mb was a number of operations until February 2022; it is not used")


def _micros(timestamp: float) -> int:
    return round(timestamp * 1_000_000)
