"""Lines of a job's log without what launchers put before them.

mpirun, srun and container runtimes write `[1,0]<stdout>:`, `0: ` or a time before each line of a process; several processes may
write into one log at the same time. The tag tells the processes apart.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from warehouse.landing.readers.text import Data, Line, Report, decoded, lines, number_in

_TIME = r"(?:\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[.,\d]*(?:Z|[+-]\d\d:?\d\d)?\]?\s+)?"
_TAG = r"(?P<tag>\[(?:[\w.@-]+@)?\d+,\d+\](?:<std(?:out|err)>)?:?|\[\d+\](?=\s)|\d+:(?=\s|$))?"
_PREFIX = re.compile(rf"\s*{_TIME}{_TAG}", re.ASCII)
_LEAD = re.compile(rf"\s*{_TIME}{_TAG}\s*".encode())
MAX_LINE_BYTES = 64 << 10  # no tool here writes longer lines, but for gpu_burn, whose progress is one line


class Told(NamedTuple):
    """A line of one process: `text` is what it wrote, `tag` says which process where the launcher does. `is_cut`: the file ends
    within a number of it, which may have been longer; `text` is without that."""

    line: Line
    tag: str
    text: str
    is_cut: bool = False


def begins_line(data: bytes, position: int) -> bool:
    """Whether at most a launcher's prefix precedes a place in its line. A text that quotes a tool elsewhere (a list of prompts,
    a manual) is not its output."""
    start = max(data.rfind(b"\n", 0, position), data.rfind(b"\r", 0, position)) + 1
    return _LEAD.fullmatch(data, start, position) is not None


def told_lines(
    data: Data, report: Report, *, noise: bytes | None = None, longest: int = MAX_LINE_BYTES
) -> Iterator[Told]:
    """The lines without their prefixes, but for blank ones; those that hold `noise` are left out unread, those above `longest`
    bytes reported."""
    for line in lines(data, report):
        if noise is not None and noise in line.data:
            continue
        if len(line.data) > longest:
            report.at("line-too-long", f"{len(line.data)} bytes", line, "error")
            continue
        text = decoded(line, report)
        prefix = _PREFIX.match(text)
        assert prefix
        told = text[prefix.end() :].strip()
        if not told:
            continue
        tag = (prefix["tag"] or "").partition("<")[0].rstrip(":")
        last = told.split()[-1]
        if line.offset + len(line.data) < len(data) or line.data[-1:].isspace() or number_in(last) is None:
            yield Told(line, tag, told)
        else:
            yield Told(line, tag, told.removesuffix(last).rstrip(), True)
