"""`vmstat DELAY`: memory, paging, input and output and CPU of a node. Its times are there with -t; without them a line has none. The first line
is the mean since boot, and left out, unless it is the only one. Sizes are in KiB, unless -S says otherwise, which the output does not show."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime

from warehouse.landing.readers.text import Data, Line, Report, decoded, lines, number_in

from .stated import Entry, Sample, Stated, Tool

_HEAD = re.compile(rb"\s*procs -+memory-+ -+swap-+ -+io-+ -+system-+ -+cpu-+")
_TIME = re.compile(r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\s*$")


def _read(data: Data, report: Report) -> Iterator[Stated]:
    names: list[str] = []
    zone = None
    is_first, alone = True, None
    for line in lines(data, report):
        shown = decoded(line, report)
        words = shown.split()
        if not words or words[0] == "procs":
            continue
        if words[:2] == ["r", "b"]:
            names = [word for word in words if not word.isupper()]
            zone = next((word for word in words if word.isupper()), None)
        elif names:
            values = [number_in(word) for word in words[: len(names)]]
            if len(values) < len(names) or None in values:
                report.at("unknown-line", shown[:200], line)
            elif is_first:
                is_first, alone = False, (line, values)
            else:
                alone = None
                yield from _samples(line, names, values, shown, zone)
    if alone is not None:
        line, values = alone
        for name, value in zip(names, values, strict=False):
            yield Entry(line, "node", "mean since boot", name, f"{value:g}")


def _samples(line: Line, names: list[str], values: list[float | None], shown: str, zone: str | None) -> Iterator[Sample]:
    found = _TIME.search(shown)
    try:
        at = datetime.fromisoformat(found[1]).replace(tzinfo=UTC) if found else None
    except ValueError:
        at = None
    clock = None if at is None else "stated" if zone in ("UTC", "GMT") else "zone assumed"
    for name, value in zip(names, values, strict=False):
        if value is not None:
            yield Sample(line, name, {}, value, at, clock)


TOOL = Tool("vmstat", lambda head: _HEAD.match(head) is not None, _read)
