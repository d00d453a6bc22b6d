"""Reads the events of one trace into what its figures need: intervals on the GPU, steps, time for data, and time by kernel."""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from warehouse.landing.readers.json_stream import Elements, JsonStream
from warehouse.landing.readers.records import Record, shown
from warehouse.landing.readers.text import MAX_VALUE_CHARACTERS, Data, Report, clean

from .intervals import Union, union
from .names import CATEGORIES, DATALOADER, GPU_ANNOTATION, HOST_ANNOTATION, STEP, kind_of

_MOST_NAMES = 100_000  # of kernels
_MOST_CATEGORIES = 20  # that are reported
_MOST_DEVICES = 1024
_NUMBERS = (int, float)
_PHASES = frozenset("BEXbensftPCimMvVRcNODaAsSTp(),F")  # of Chrome's trace events


class Spans:
    """Intervals as they come, in microseconds."""

    def __init__(self) -> None:
        self.starts, self.ends = array("d"), array("d")

    def __len__(self) -> int:
        return len(self.starts)

    def add(self, start: float, end: float) -> None:
        self.starts.append(start)
        self.ends.append(end)

    def union(self, *others: "Spans") -> Union:
        every = (self, *others)
        return union(*(np.concatenate([np.array(getattr(each, side)) for each in every]) for side in ("starts", "ends")))


@dataclass
class Kernel:
    kind: str
    count: int = 0
    total: float = 0
    longest: float = 0


@dataclass
class Trace:
    """What a trace holds. Times are in microseconds since `origin`, the start of the event that comes first in the file: so near to zero they are
    exact, where times since the epoch have no room for nanoseconds."""

    top: dict[str, Any] = field(default_factory=dict)
    gpu: defaultdict[str, Spans] = field(default_factory=lambda: defaultdict(Spans))  # by kind
    steps: dict[str, dict[int, tuple[float, float]]] = field(default_factory=lambda: {HOST_ANNOTATION: {}, GPU_ANNOTATION: {}})
    dataloader: Spans = field(default_factory=Spans)
    kernels: dict[str, Kernel] = field(default_factory=dict)
    devices: set[int] = field(default_factory=set)
    origin: float | None = None
    first: float | None = None
    last: float | None = None
    has_events: bool = False
    unnamed_kernels: int = 0
    unknown_categories: Counter[str] = field(default_factory=Counter)

    def windows(self) -> dict[int, tuple[float, float]]:
        """The steps, each on the host, or on the GPU where the host's annotation is missing."""
        return dict(sorted({**self.steps[GPU_ANNOTATION], **self.steps[HOST_ANNOTATION]}.items()))


_TOP = frozenset({"distributedInfo", "deviceProperties", "baseTimeNanoseconds", "schemaVersion", "displayTimeUnit", "hostname"})


def read(data: Data, report: Report) -> Trace:
    """All of a trace that can be read; what cannot is reported."""
    trace = Trace()
    with JsonStream(data, report) as stream:
        if stream.kind() != "{":
            report("not-an-object", "a trace is a JSON object", severity="error")
        for pair in stream.pairs():
            if pair.key == "traceEvents":
                trace.has_events = True
                for several in stream.batches():
                    _several(trace, stream, several, report)
            elif pair.key in _TOP:
                trace.top[pair.key] = stream.value()
    for category, count in trace.unknown_categories.items():
        report("unknown-category", f"{count} events of the category {shown(category)} count as no activity on a GPU", severity="note")
    if trace.unnamed_kernels:
        report("too-many-kernels", f"{trace.unnamed_kernels} events of kernels beyond the first {_MOST_NAMES} names are in no list of kernels")
    return trace


def _several(trace: Trace, stream: JsonStream, several: Elements, report: Report) -> None:
    """Add some events: a plain one as it is, any other with care."""
    for number, value in enumerate(several.records.values):
        is_event = type(value) is dict
        phase = value.get("ph", "X") if is_event else None
        if phase == "X":
            start, duration = value.get("ts"), value.get("dur")
            if type(start) in _NUMBERS and type(duration) in _NUMBERS and 0 <= duration < 1e18 and -1e18 < start < 1e18:
                category, name = value.get("cat"), value.get("name")
                if type(category) is str and type(name) is str:
                    _add(trace, value, category, name, start, duration)
                    continue
        elif phase.__class__ is str and phase in _PHASES:
            continue
        offset, length = several.offsets[number], several.lengths[number]

        def flag(code: str, message: str, offset: int = offset, length: int = length) -> None:
            report(code, message, offset, length, stream.line_number(offset), "error")

        if not is_event:
            flag("not-an-object", "an event is a JSON object")
        elif phase != "X":
            flag("unknown-phase", f"ph: {shown(phase)}")
        else:
            _with_care(trace, Record(value, flag))


def _with_care(trace: Trace, record: Record) -> None:
    start, duration = record.number("ts"), record.number("dur")
    category, name = record.text("cat"), record.text("name")
    if start is None or duration is None:
        record.flag("missing-time", "an event without its start or duration is left out")
    elif duration < 0 or duration >= 1e18 or abs(start) >= 1e18:
        record.flag("impossible-time", f"an event that begins at {start:g} us and takes {duration:g} us is left out")
    elif category is None or name is None:
        record.flag("missing-key", "an event without its category or name is left out")
    else:
        _add(trace, record.values, category, name, start, duration)


def _add(trace: Trace, event: Mapping[str, Any], category: str, name: str, start: float, duration: float) -> None:
    if trace.origin is None:
        trace.origin = start
    start = float(start - trace.origin)
    end = start + duration
    category = category.casefold()
    if category != "trace":  # the profiler's own span, which begins long before
        trace.first = start if trace.first is None else min(trace.first, start)
        trace.last = end if trace.last is None else max(trace.last, end)
    if category in trace.steps and (step := STEP.match(name)):
        steps, number = trace.steps[category], int(step[1])
        known = steps.get(number)
        if known is None or duration > known[1] - known[0]:
            steps[number] = start, end
    elif name.startswith(DATALOADER):
        trace.dataloader.add(start, end)
    elif (kind := kind_of(category, name)) is not None:
        trace.gpu[kind].add(start, end)
        arguments = event.get("args")
        device = arguments.get("device") if type(arguments) is dict else None
        if type(device) is int and len(trace.devices) < _MOST_DEVICES:
            trace.devices.add(device)
        _count(trace, name, kind, float(duration))
    elif category not in CATEGORIES and (category in trace.unknown_categories or len(trace.unknown_categories) < _MOST_CATEGORIES):
        trace.unknown_categories[category] += 1


def _count(trace: Trace, name: str, kind: str, duration: float) -> None:
    found = trace.kernels.get(name)
    if found is None:
        name = clean(name)[:MAX_VALUE_CHARACTERS]
        if name not in trace.kernels and len(trace.kernels) >= _MOST_NAMES:
            trace.unnamed_kernels += 1
            return
        found = trace.kernels.setdefault(name, Kernel(kind))
    found.count += 1
    found.total += duration
    found.longest = max(found.longest, duration)
