"""Turns each trace of a job into its figures: of the whole trace, of each annotated step, and of the kernels that took most of its time.

As HolisticTraceAnalysis has it, the whole trace lasts from the first activity on a GPU to the last; idle is what of a window no activity
takes; compute is the union of kernels that do not communicate. A step is a window on the host, `ProfilerStep#N`.
Only `Bundle.map` may raise here (tampered or missing bytes); everything else becomes an issue.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from heapq import nsmallest
from typing import Any

import numpy as np
import pyarrow as pa

from warehouse.landing.contract import Bundle
from warehouse.landing.readers.records import Record
from warehouse.landing.readers.text import Report
from warehouse.landing.rows import RowBuffer, workload_columns

from .events import Spans, Trace, read
from .names import COMMUNICATION, COMPUTE, MEMORY, named
from .unpacked import PackedReport, is_packed, opened

TOP_KERNELS = 10
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# Without a base, times are since the epoch: if they are later than PyTorch is old.
_EARLIEST_US, _LATEST_US = 1.42e15, 7.2e15


def landed(bundle: Bundle, buffer: RowBuffer) -> Iterator[tuple[str, pa.RecordBatch]]:
    """Add all rows of a bundle; yields batches that are full."""
    run, job = f"kineto/{bundle.digest[:16]}", str(bundle.manifest.identity.get("job", "trace"))
    for file in bundle.manifest.files:
        data = bundle.map(file.raw_path)
        report = (PackedReport if is_packed(data) else Report)(buffer, file.raw_path, run)
        with opened(data, report) as text:
            trace = read(text, report) if text is not None else Trace()
        is_whole = text is not None and trace.has_events and not report.has("malformed-json")
        if text is not None and not trace.has_events:
            report("missing-key", "a trace without traceEvents", severity="error")
        _File(buffer, file.raw_path, len(data), run, report).add(trace, job, is_whole)
        yield from buffer.full()


class _File:
    """The rows of one trace: all are of the whole file."""

    def __init__(self, buffer: RowBuffer, raw_path: str, size: int, run: str, report: Report) -> None:
        self._buffer, self._raw_path, self._size, self._run, self._report = buffer, raw_path, size, run, report

    def add(self, trace: Trace, job: str, is_whole: bool) -> None:
        top = Record(trace.top, lambda code, message: self._report(code, message, severity="error"))
        distributed, name = top.within("distributedInfo"), named(self._raw_path)
        stated, world_size, backend = distributed.count("rank"), distributed.count("world_size"), distributed.text("backend")
        rank = stated if name.rank is None else name.rank
        if name.rank is not None and stated is not None and stated != name.rank:
            self._report("identity-mismatch", f"rank {name.rank} by its path, {stated} by the trace")
        origin = _origin_us(top, trace, self._report)
        self._row(
            "kineto_trace", job=job, rank=rank, stated_rank=stated, world_size=world_size, backend=backend,
            node_name=name.node_name or top.text("hostname"), gpu_model=_gpu_model(top, trace), device_count=len(trace.devices) or None,
            is_whole=is_whole, started_at=_moment(origin, trace.first), ended_at=_moment(origin, trace.last),
            **workload_columns({"tool": "pytorch_profiler", "job": job, "world_size": world_size, "backend": backend}),
        )
        if is_whole:
            self._windows(trace, rank, origin)
            self._kernels(trace, rank)

    def _row(self, table: str, **columns: Any) -> None:
        self._buffer.add(table, self._raw_path, 0, self._size, run_id=self._run, **columns)

    def _windows(self, trace: Trace, rank: int | None, origin: float | None) -> None:
        steps = trace.windows()
        compute, communication, memory = (trace.gpu[kind] for kind in (COMPUTE, COMMUNICATION, MEMORY))
        busy = compute.union(communication, memory)
        whole = (busy.starts[0], busy.ends[-1]) if len(busy.starts) else (trace.first, trace.last)
        if whole[0] is None or whole[1] is None:
            return
        windows = [(float(whole[0]), float(whole[1])), *steps.values()]
        starts, ends = (np.array(side) for side in zip(*windows, strict=True))

        def within(*spans: Spans) -> Any:
            return spans[0].union(*spans[1:]).within(starts, ends)

        figures: dict[str, Any] = {"window_s": ends - starts}
        if len(busy.starts):
            both = within(compute, communication)
            figures |= {"compute_s": within(compute), "communication_s": within(communication), "memcpy_s": within(memory)}
            # A sum of floats that should be zero may miss it by a hair.
            figures["overlap_s"] = np.maximum(figures["compute_s"] + figures["communication_s"] - both, 0)
            figures["idle_s"] = np.maximum(ends - starts - busy.within(starts, ends), 0)
        if len(trace.dataloader):
            figures["dataloader_s"] = within(trace.dataloader)
        begun = np.sort(np.concatenate([np.array(compute.starts), np.array(communication.starts)]))
        counts = np.searchsorted(begun, ends) - np.searchsorted(begun, starts)
        for place, step in enumerate([None, *steps]):
            self._row(
                "kineto_window", rank=rank, step=step, started_at=_moment(origin, windows[place][0]),
                kernel_count=int(counts[place]) if len(busy.starts) else None,
                **{name: round(float(values[place]), 6) / 1e6 for name, values in figures.items()},
            )

    def _kernels(self, trace: Trace, rank: int | None) -> None:
        found = nsmallest(TOP_KERNELS, trace.kernels.items(), key=lambda each: (-each[1].total, each[0]))
        for position, (name, kernel) in enumerate(found, 1):
            self._row(
                "kineto_kernel", rank=rank, position=position, kernel=name, kind=kernel.kind, launch_count=kernel.count,
                total_s=round(kernel.total, 6) / 1e6, longest_s=kernel.longest / 1e6,
            )


def _origin_us(top: Record, trace: Trace, report: Report) -> float | None:
    """Where the times of a trace begin, in microseconds since the epoch."""
    stated = top.count("baseTimeNanoseconds")
    if trace.origin is None:
        return None
    if stated is not None:
        return stated / 1000 + trace.origin
    if _EARLIEST_US <= trace.origin <= _LATEST_US:
        return trace.origin
    report("unknown-epoch", "its times are not since 1970, and baseTimeNanoseconds is missing; it has no date", severity="note")
    return None


def _moment(origin_us: float | None, time_us: float | None) -> datetime | None:
    if origin_us is None or time_us is None:
        return None
    try:
        return _EPOCH + timedelta(microseconds=round(origin_us + time_us))
    except OverflowError:
        return None


def _gpu_model(top: Record, trace: Trace) -> str | None:
    """The model of the GPUs that have events, or of all of the node's, where all are alike."""
    listed = top.values.get("deviceProperties")
    records = [Record(each, top.flag) for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
    used = [each for each in records if each.values.get("id") in trace.devices] or records
    models = {each.text("name") for each in used}
    return models.pop() if len(models) == 1 else None
