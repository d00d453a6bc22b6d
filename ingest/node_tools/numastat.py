"""`numastat`, and with -m or -p: pages or megabytes by NUMA node. It states neither its node nor the time; without options it counts since boot."""

from __future__ import annotations

import re
from collections.abc import Iterator

from warehouse.landing.readers.text import Data, Report, decoded, lines, number_in

from .stated import Entry, Stated, Tool

_NODES = re.compile(r"\s*(?:PID\s+)?((?:[Nn]ode ?\d+\s*)+)(Total)?\s*")
_NODE = re.compile(r"[Nn]ode ?(\d+)")
_UNIT = re.compile(r"Per-node .*\(in (\w+)\)")
_HEAD = re.compile(
    rb"(?:Per-node (?:process|system|numastat)[^\n]*\n|[ \t\r]*\n)*[ \t]*(?:PID\s+)?[Nn]ode ?0\b[^\n]*\n(?:[- ]+\n)?[A-Za-z_0-9][^\n]*[ \t]\d"
)


def _read(data: Data, report: Report) -> Iterator[Stated]:
    nodes: list[str] = []
    unit = None
    for line in lines(data, report):
        shown = decoded(line, report)
        if found := _UNIT.match(shown):
            unit = found[1]
        elif found := _NODES.fullmatch(shown):
            nodes = [f"node{number}" for number in _NODE.findall(found[1])]
        elif nodes and not set(shown.strip()) <= set("- "):
            words = shown.split()
            count = len(nodes)
            while count < len(words) and number_in(words[-count - 1]) is not None and count < len(nodes) + 1:
                count += 1  # the total
            key, values = " ".join(words[: len(words) - count]), words[len(words) - count :][: len(nodes)]
            if not key or len(values) < len(nodes) or any(number_in(value) is None for value in values):
                report.at("unknown-line", shown[:200], line)
                continue
            for node, value in zip(nodes, values, strict=True):
                yield Entry(line, "numa", node, key, value, unit)


TOOL = Tool("numastat", lambda head: _HEAD.match(head) is not None, _read)
