"""The samples taken while a run ran: of its GPUs, its node and its processes. Each number of a line is a sample of a series.

Which run the series of a GPU belongs to follows from the GPU and the time, as of any exporter: another run may have been on the same GPU. The other
files were written for the run, so that it is stated.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from warehouse.landing.contract import Bundle
from warehouse.landing.readers.text import MAX_KEY_CHARACTERS, Line, Report, lines
from warehouse.landing.rows import RowBuffer
from warehouse.landing.telemetry import NO_TIME, Series, microseconds_of

from .files import parsed, typed_columns

GPU_FILE = "gpu.jsonl"
# By file: the label that each key which is no measurement becomes.
_LABELS = {
    GPU_FILE: {"gpu_uuid": "UUID", "gpu_index": "gpu"},
    "node.jsonl": {"device": "device"},
    "processes.jsonl": {"process_group": "process_group", "command": "command"},
    "numa.jsonl": {"pid": "pid", "process_name": "process_name"},
    "gpu_processes.jsonl": {"gpu_uuid": "UUID", "gpu_index": "gpu", "pid": "pid", "is_own": "is_own", "process_name": "process_name"},
}
_SAMPLES_AT_ONCE = 1 << 16
_TIME = (("sampled_at", pa.timestamp("us", tz="UTC")),)
_Sample = tuple[int, int, float, int, int]  # series, time in microseconds, value, place of the line


def add_samples(
    bundle: Bundle, run: str, run_id: str, hostname: str | None, series: Series, buffer: RowBuffer
) -> Iterator[tuple[str, pa.RecordBatch]]:
    """Add a row for each number of each line of the sampled files; yields batches that are full. A file that is not there was not written: the
    machine has no GPUs, or the recorder was an earlier version."""
    for file in _LABELS:
        if f"{run}/{file}" in bundle.manifest.by_path:
            yield from _add_file(bundle, run, file, run_id, hostname, series, buffer)


def _add_file(
    bundle: Bundle, run: str, file: str, run_id: str, hostname: str | None, series: Series, buffer: RowBuffer
) -> Iterator[tuple[str, pa.RecordBatch]]:
    path = f"{run}/{file}"
    stated_run, prefix = (None, "") if file == GPU_FILE else (run_id, f"{file.removesuffix('.jsonl')}/")  # one name may be in several files
    report = Report(buffer, path, run_id)
    numbers: dict[tuple[str, tuple[str, ...]], int] = {}
    samples: list[_Sample] = []
    for line in lines(bundle.map(path), report):
        document = _document(line, report)
        if document is None:
            continue
        labels = _labels(document, _LABELS[file], hostname)
        reject = report.flag(line, "warning")
        sampled_at = typed_columns(_TIME, document, reject)["sampled_at"]
        if document.get("sampled_at") is None:
            reject("missing-key", "the sample has no sampled_at")
        time = NO_TIME if sampled_at is None else microseconds_of(sampled_at)
        names = [name for name in document if name != "sampled_at" and name not in _LABELS[file]]
        if any(len(name) > MAX_KEY_CHARACTERS for name in names):
            reject("wrong-type", f"a key is longer than {MAX_KEY_CHARACTERS} characters, and its value is left out")
        fields = tuple((name, pa.float64()) for name in names if len(name) <= MAX_KEY_CHARACTERS)
        for name, number in typed_columns(fields, document, reject).items():
            if document[name] is None:
                reject("missing-value", f"{name} is null; the recorder leaves out what it does not know")
            if number is None:
                continue
            key = (name, tuple(labels.values()))
            if key not in numbers:
                numbers[key] = series.add(prefix + name, labels, path, line.offset, line.length, run_id=stated_run, clock="stated")
            samples.append((numbers[key], time, number, line.offset, line.length))
        if len(samples) >= _SAMPLES_AT_ONCE:
            _add(samples, path, series, report)
            samples.clear()
            yield from buffer.full()
    _add(samples, path, series, report)


def _document(line: Line, report: Report) -> dict[str, Any] | None:
    return parsed(line.data, lambda code, message, _: report.at(code, message, line, "error"))


def _add(samples: list[_Sample], path: str, series: Series, report: Report) -> None:
    if samples:
        numbers, times, values, offsets, lengths = map(np.array, zip(*samples, strict=True))
        series.samples(path, numbers, times, values.astype(np.float64), offsets, lengths, report)


def _labels(document: dict[str, Any], names: Mapping[str, str], hostname: str | None) -> dict[str, str]:
    stated = {label: document.get(key) for key, label in names.items()} | {"Hostname": hostname}
    return {name: _label(value) for name, value in stated.items() if isinstance(value, (str, int)) and value != ""}


def _label(value: str | int) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)  # as JSON has it
