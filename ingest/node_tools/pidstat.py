"""`pidstat -H`: what each process uses, with times in seconds since the epoch, and the node's name in the first line. Without -H its times have no
date, and it is not read. Rates are those of the interval; a value of -1 is one that pidstat may not read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from warehouse.landing.readers.text import Data, Report, decoded, lines, number_in

from .stated import Sample, Stated, Tool

_SYSTEM = re.compile(r"Linux \S+ \((?P<host>[^)]+)\)\s.*\(\d+ CPU\)\s*")
_HEAD = re.compile(rb"Linux \S+ \([^)\n]+\)[^\n]*\(\d+ CPU\)\s*\n(?:\s*\n)?(?:#\s*Time|\d{9,11})\s+UID\s+(?:PID|TGID)\s")
_LABELS = ("UID", "PID", "TGID", "TID", "CPU", "Command")
_EPOCH = datetime.fromtimestamp(0, UTC)


def _read(data: Data, report: Report) -> Iterator[Stated]:
    names: list[str] = []
    host: dict[str, str] = {}
    for line in lines(data, report):
        shown = decoded(line, report)
        if found := _SYSTEM.fullmatch(shown):
            host = {"Hostname": found["host"]}
            continue
        words = shown.removeprefix("#").split()
        if not words:
            continue
        if "UID" in words[:2] and words[-1] == "Command":
            names = words[1:]
        elif names and words[0] != "Average:":
            time, *values = shown.split(None, len(names))  # a command may have blanks
            seconds = number_in(time)
            if seconds is None or not 0 <= seconds < 1e11 or len(values) < len(names):
                report.at("unknown-line", shown[:200], line)
                continue
            row = dict(zip(names, values, strict=True))
            labels = host | {"pid": row.get("PID", row.get("TGID", "")), "command": row["Command"].strip()}
            if row.get("TID", "-") != "-":
                continue  # of a thread: its process has a line of its own
            for name, value in row.items():
                number = number_in(value) if name not in _LABELS else None
                if number is None and name not in _LABELS:
                    report.at("not-a-number", f"{name}: {value[:80]}", line, "error")
                elif number is not None and number >= 0:
                    yield Sample(line, name, labels, number, _EPOCH + timedelta(seconds=seconds), "stated")


TOOL = Tool("pidstat", lambda head: _HEAD.match(head) is not None, _read)
