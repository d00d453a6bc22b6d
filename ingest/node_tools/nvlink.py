"""`nvidia-smi nvlink`: the speed of each link (-s), or its errors since the driver was loaded (-e). A link that is not active beside others of its
GPU that are is an event, and so are errors of recovery. The output states neither its node nor the time."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

from warehouse.landing.readers.text import Data, Line, Report, decoded, lines

from .stated import Entry, Event, Stated, Tool

_GPU = re.compile(r"GPU (\d+): (.*?)(?: \(UUID: (GPU-[0-9a-fA-F-]+)\))?\s*")
_LINK = re.compile(r"\s+Link (\d+): (?:(\d+(?:\.\d+)?) (GB/s)|<?(inactive)>?|([A-Za-z ]+?)(?: Errors)?: (\d{1,20})(?: (\w+))?)\s*")
_HEAD = re.compile(rb"(?:[^\n]{0,200}\n){0,3}GPU \d+: [^\n]*\n(?:\s+Unable[^\n]*\n|\s+Link \d+: )")
# Errors that lose time or data at once; replays and CRC errors of some links come in healthy machines, too.
_BAD = frozenset({"recovery", "recovery error"})


def _read(data: Data, report: Report) -> Iterator[Stated]:
    gpu, uuid = None, None
    inactive: dict[str, list[tuple[Line, str]]] = defaultdict(list)
    active: set[str] = set()
    for line in lines(data, report):
        shown = decoded(line, report)
        if found := _GPU.fullmatch(shown):
            gpu, uuid = f"GPU{found[1]}", found[3]
            yield Entry(line, "gpu", uuid or gpu, "name", found[2])
        elif gpu and (found := _LINK.fullmatch(shown)):
            number, speed, unit, is_inactive, counter, count, count_unit = found.groups()
            name = f"{uuid or gpu} link {number}"
            if counter:
                yield Entry(line, "link", name, f"{counter.strip().lower()} errors", count, count_unit)
                if counter.strip().lower() in _BAD and int(count):
                    yield Event(line, "nvlink-recoveries", f"{name}: {count} recoveries since the driver was loaded", "link", name, gpu_uuid=uuid)
            else:
                yield Entry(line, "link", name, "speed", speed or "inactive", unit)
                if is_inactive:
                    inactive[uuid or gpu].append((line, name))
                else:
                    active.add(uuid or gpu)
        elif gpu and shown.strip():
            report.at("unknown-line", shown.strip()[:200], line, "note")
    for each in active:
        for line, name in inactive[each]:
            message = f"{name} is inactive, and others of the GPU are not"
            yield Event(line, "nvlink-inactive", message, "link", name, "inferred", gpu_uuid=each if each.startswith("GPU-") else None)


TOOL = Tool("nvlink", lambda head: _HEAD.match(head) is not None, _read)
