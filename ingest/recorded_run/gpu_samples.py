"""The samples of a run's GPUs: each number of a line is a sample of a series. Which run a series belongs to follows from the GPU and the time, as
of any exporter: another run may have been on the same GPU."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from warehouse.landing.contract import Bundle
from warehouse.landing.readers.text import MAX_KEY_CHARACTERS, Line, Report, lines
from warehouse.landing.rows import RowBuffer
from warehouse.landing.telemetry import NO_TIME, Series, microseconds_of

from .files import parsed, typed_columns

_IDENTITY = ("sampled_at", "gpu_index", "gpu_uuid")
_SAMPLES_AT_ONCE = 1 << 16
_TIME = (("sampled_at", pa.timestamp("us", tz="UTC")),)
_Sample = tuple[int, int, float, int, int]  # series, time in microseconds, value, place of the line


def add_gpu_samples(
    bundle: Bundle, run: str, run_id: str, hostname: str | None, series: Series, buffer: RowBuffer
) -> Iterator[tuple[str, pa.RecordBatch]]:
    """Add a row for each number of each line of `gpu.jsonl`; yields batches that are full. A run without that file has no GPUs, or was recorded
    by a version that did not sample them."""
    path = f"{run}/gpu.jsonl"
    if path not in bundle.manifest.by_path:
        return
    report = Report(buffer, path, run_id)
    numbers: dict[tuple[str, str], int] = {}
    samples: list[_Sample] = []
    for line in lines(bundle.map(path), report):
        document = _document(line, report)
        if document is None:
            continue
        labels = _labels(document, hostname)
        reject = report.flag(line, "warning")
        sampled_at = typed_columns(_TIME, document, reject)["sampled_at"]
        if document.get("sampled_at") is None:
            reject("missing-key", "the sample has no sampled_at")
        time = NO_TIME if sampled_at is None else microseconds_of(sampled_at)
        names = [name for name in document if name not in _IDENTITY]
        if any(len(name) > MAX_KEY_CHARACTERS for name in names):
            reject("wrong-type", f"a key is longer than {MAX_KEY_CHARACTERS} characters, and its value is left out")
        fields = tuple((name, pa.float64()) for name in names if len(name) <= MAX_KEY_CHARACTERS)
        for name, number in typed_columns(fields, document, reject).items():
            if document[name] is None:
                reject("missing-value", f"{name} is null; the recorder leaves out what it does not know")
            if number is None:
                continue
            key = (name, labels.get("UUID") or labels.get("gpu", ""))
            if key not in numbers:
                numbers[key] = series.add(name, labels, path, line.offset, line.length, clock="stated")
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


def _labels(document: dict[str, Any], hostname: str | None) -> dict[str, str]:
    stated = {"UUID": document.get("gpu_uuid"), "gpu": document.get("gpu_index"), "Hostname": hostname}
    return {name: str(value) for name, value in stated.items() if isinstance(value, (str, int)) and value != ""}
