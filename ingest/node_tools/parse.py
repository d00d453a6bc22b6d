"""Turns the output of a tool into landing rows.

Only `Bundle.read` and `Bundle.map` may raise here (tampered or missing bytes); everything else becomes an issue.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from warehouse.landing.contract import Bundle
from warehouse.landing.readers.text import Report, clean, is_non_finite, landed_text, number_in
from warehouse.landing.rows import RowBuffer
from warehouse.landing.telemetry import NO_TIME, Series, microseconds_of

from .stated import Entry, Event, Sample, Stated, host_in_name
from .tools import TOOLS

_SAMPLES_AT_ONCE = 1 << 16


def landed(bundle: Bundle, buffer: RowBuffer) -> Iterator[tuple[str, pa.RecordBatch]]:
    """Add all rows of a bundle; yields batches that are full."""
    roles = {path: file.role for path, file in bundle.manifest.by_path.items()}
    for raw_path in bundle.manifest.by_path:
        report = Report(buffer, raw_path, None)
        data = bundle.map(raw_path)
        tool = next((each for each in TOOLS if each.name == roles[raw_path]), None)
        if tool is None:
            report("unknown-tool", f"no reader is named {roles[raw_path]}", severity="error")
            continue
        landing = _Landing(buffer, raw_path, tool.name, report)
        for stated in tool.read(data, report):
            landing.add(stated)
            yield from buffer.full()
        landing.add_samples()
        if not landing.count:
            report("no-values", "the file states nothing that is read", 0, len(data), severity="error")


class _Landing:
    """The rows of one file."""

    def __init__(self, buffer: RowBuffer, raw_path: str, tool: str, report: Report) -> None:
        self._buffer, self._path, self._tool, self._report = buffer, raw_path, tool, report
        self._host = host_in_name(raw_path)
        self._series = Series(buffer, tool)
        self._numbers: dict[tuple[str, tuple[tuple[str, str], ...]], int] = {}
        self._samples: list[tuple[int, int, float, int, int]] = []
        self.count = 0

    def add(self, stated: Stated) -> None:
        self.count += 1
        if isinstance(stated, Sample):
            self._add_sample(stated)
            return
        place = stated.place
        shared: dict[str, object] = {
            "tool": self._tool, "node_name": stated.node_name or self._host, "component_kind": stated.component_kind,
            "line_number": place.line_number,
        }
        if isinstance(stated, Entry):
            value = landed_text(stated.value)
            self._buffer.add(
                "node_tool_entry", self._path, place.offset, place.length, **shared, component=clean(stated.component)[:256],
                key=clean(stated.key)[:256], value=value, value_number=number_in(stated.value), unit=stated.unit,
            )
            if value is None:
                self._report.at("value-too-large", stated.key, place)
            elif is_non_finite(value):
                self._report.at("non-finite-number", f"{stated.key}: {value[:80]}", place, "error")
        else:
            self._add_event(stated, shared)

    def _add_event(self, event: Event, shared: dict[str, object]) -> None:
        self._buffer.add(
            "node_tool_event", self._path, event.place.offset, event.place.length, **shared, code=event.code, certainty=event.certainty,
            event_at=event.event_at, is_zone_assumed=event.is_zone_assumed, s_since_boot=event.s_since_boot, gpu_uuid=event.gpu_uuid,
            component=None if event.component is None else clean(event.component)[:256], number=event.number, message=clean(event.message)[:1024],
        )

    def _add_sample(self, sample: Sample) -> None:
        labels = dict(sample.labels)
        if self._host is not None:
            labels.setdefault("Hostname", self._host)
        key = (sample.metric, tuple(labels.items()))
        place = sample.place
        if key not in self._numbers:
            self._numbers[key] = self._series.add(sample.metric, labels, self._path, place.offset, place.length, clock=sample.clock)
        time = NO_TIME if sample.at is None else microseconds_of(sample.at)
        self._samples.append((self._numbers[key], time, sample.value, place.offset, place.length))
        if len(self._samples) >= _SAMPLES_AT_ONCE:
            self.add_samples()

    def add_samples(self) -> None:
        if self._samples:
            numbers, times, values, offsets, lengths = map(np.array, zip(*self._samples, strict=True))
            self._series.samples(self._path, numbers, times, values.astype(np.float64), offsets, lengths, self._report)
            self._samples.clear()
