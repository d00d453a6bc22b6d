"""The text of fio, version 3 (`BW=333MiB/s (349MB/s)`) and 2 (`bw=340570KB/s`, where KB is 1024 bytes: `kb_base`).

Figures are rounded for people: where the JSON is there, it is better evidence.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from warehouse.landing.readers.text import Data, Line, Report, clean, number_in

from .check import Check, Row, Rows, at, end, integer_in, point, test
from .streams import Told, told_lines

# A version alone is what `fio --version` prints: no run.
MARK = re.compile(
    rb"\(g=\d+\): rw=|\(groupid=\d+, jobs=\d+\): err=|^fio-\d+\.\d[^\n]*\n(?:[^\n]*\n){0,3}?(?:fio: |Starting \d+ (?:process|thread))", re.MULTILINE
)

_VERSION = re.compile(r"fio-(\d[\w.-]*)")
_SETUP = re.compile(r"(.+?): \(g=\d+\): rw=(\w+), (.*)")
_OPTION = re.compile(r"\b(bs|ioengine|iodepth)=(?:\(R\) )?([\w.]+)")
_JOB = re.compile(r"(.+?): \(groupid=\d+, jobs=(\d+)\): err=\s*(\d+)(.*)")
_PROCESS = re.compile(r": pid=(\d+)")
_NEW = re.compile(r"(read|write|trim): IOPS=([\d.]+)([kKMG]?), BW=([\d.]+)([kKMGT]?i?B/s)")
_OLD = re.compile(r"(read|write|trim)\s*: io=.*?bw=([\d.]+)([KMGT]?B/s), iops=\s*([\d.]+)([kKMG]?)")
_BLOCK = re.compile(
    r"(lat|clat)\s+\((nsec|usec|msec)\):\s*min=\s*([\d.]+)([kMG]?), max=\s*([\d.]+)([kMG]?), "
    r"avg=\s*([\d.]+)([kMG]?), stdev=\s*([\d.]+)([kMG]?)"
)
_PERCENTILES = re.compile(r"(lat|clat) percentiles \((nsec|usec|msec)\):")
_PERCENTILE = re.compile(r"(\d+\.\d+)th=\[\s*(\d+)\]")
_FIGURES = re.compile(r"IOPS=|iops=|err=|\bc?lat +\([num]sec\): ?min=|th=\[")  # a line that says something
_SCALE = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9}
_NANOSECONDS = {"nsec": 1.0, "usec": 1e3, "msec": 1e6}
_WANTED = {
    "50.00": "latency_p50", "90.00": "latency_p90", "95.00": "latency_p95", "99.00": "latency_p99", "99.90": "latency_p999",
}


@dataclass
class _Direction:
    """A direction of a job under way, its latencies in nanoseconds by kind."""

    line: Line
    name: str
    columns: dict[str, Any]
    latencies: dict[str, dict[str, float]] = field(default_factory=dict)
    reading: tuple[str, float] | None = None  # percentiles: kind, nanoseconds a unit


@dataclass
class _Job:
    """A job under way."""

    index: int
    name: str
    error: int
    offset: int
    length: int
    process: str | None
    points: int = 0
    direction: _Direction | None = None
    rows: list[Row] = field(default_factory=list)
    reason: str | None = None  # why it failed


@dataclass
class _State:
    """A run under way."""

    check: Check
    job: _Job | None = None
    jobs: dict[int, _Job] = field(default_factory=dict)  # by their numbers; with --status-interval what is said of each last
    setups: dict[str, dict[str, str]] = field(default_factory=dict)


def rows(data: Data, report: Report, file_name: str) -> Rows:
    """The check of a log."""
    state: _State | None = None
    for told in told_lines(data, report):
        if state is None:
            state = _State(Check("fio", "fio", told.line.offset))
        _line(state, told, report)
        state.check.cover(*at(told.line))
    if state is not None:
        yield from _finished(state)


def _line(state: _State, told: Told, report: Report) -> None:
    text, job = told.text, state.job
    if match := _SETUP.fullmatch(text):
        setup = {"rw": match[2], **{option[1]: option[2] for option in _OPTION.finditer(match[3])}}
        state.setups[clean(match[1])[:256]] = {key: clean(value)[:64] for key, value in setup.items()}
    elif match := _JOB.fullmatch(text):
        _end_job(state)
        name, process = clean(match[1])[:256], _PROCESS.match(match[4])
        said = (job for job in state.jobs.values() if process and (job.name, job.process) == (name, process[1]))
        index = next((job.index for job in said), len(state.jobs) + 1)
        state.job = _Job(index, name, int(match[3][:9]), *at(told.line), process[1] if process else None)
    elif match := _VERSION.fullmatch(text):
        state.check.tool_version = match[1]
    elif job is not None:
        job.length = told.line.offset + len(told.line.data) - job.offset
        if (direction := _direction(told)) is not None:
            _end_direction(state)
            job.direction = direction
            if None in direction.columns.values():
                report.at("non-finite-number", text[:120], told.line, "error")
        elif job.direction is not None and _latency(job.direction, text):
            return
        elif _FIGURES.search(text):
            report.at("malformed-line", text[:200], told.line, "error")
    elif _FIGURES.search(text):
        report.at("line-outside-of-a-job", text[:200], told.line, "error")


def _direction(told: Told) -> _Direction | None:
    """The direction that a line begins. Version 2 writes KB for 1024 bytes, version 3 KiB."""
    if new := _NEW.match(told.text):
        name, rate, scale, bandwidth, unit = new.groups()
    elif old := _OLD.match(told.text):
        name, bandwidth, unit, rate, scale = old.groups()
        unit = re.sub(r"([KMGT])B", r"\1iB", unit)
    else:
        return None
    columns = {"bandwidth": number_in(bandwidth), "bandwidth_unit": unit, "io_per_s": _scaled(rate, scale)}
    return _Direction(told.line, name, columns)


def _scaled(text: str, scale: str) -> float | None:
    found = number_in(text)
    return None if found is None else found * _SCALE[scale]


def _latency(direction: _Direction, text: str) -> bool:
    """Take a line of latencies; whether it is one, and whole."""
    if match := _BLOCK.match(text):
        unit = _NANOSECONDS[match[2]]
        block = direction.latencies.setdefault(match[1], {})
        for column, index in (("latency_min", 3), ("latency_max", 5), ("latency_mean", 7), ("latency_stdev", 9)):
            found = _scaled(match[index], match[index + 1])
            if found is None:
                return False
            block[column] = found * unit
    elif match := _PERCENTILES.match(text):
        direction.reading = (match[1], _NANOSECONDS[match[2]])
    elif direction.reading is not None and text.startswith("|"):
        kind, unit = direction.reading
        for found_percentile in _PERCENTILE.finditer(text):
            if found_percentile[1] in _WANTED and (value := integer_in(found_percentile[2])) is not None:
                direction.latencies.setdefault(kind, {})[_WANTED[found_percentile[1]]] = value * unit
        return text.count("th=") == len(_PERCENTILE.findall(text))
    else:
        direction.reading = None
        return False
    return True


def _end_direction(state: _State) -> None:
    """The current direction is complete."""
    job = state.job
    if job is None or job.direction is None:
        return
    direction, job.direction = job.direction, None
    job.points += 1
    kinds = sorted(direction.latencies, key=lambda kind: ("latency_p99" not in direction.latencies[kind], kind))
    latency: dict[str, Any] = {}
    if kinds:
        latency = {**direction.latencies[kinds[0]], "latency_kind": kinds[0], "latency_unit": "ns"}
    job.rows.append(point(state.check, direction.line, job.index, job.points, direction=direction.name, **direction.columns, **latency))


def _end_job(state: _State) -> None:
    """The job under way is over."""
    _end_direction(state)
    job, state.job = state.job, None
    if job is None:
        return
    job.reason = f"error {job.error}" if job.error else None if job.points else "no I/O was done"
    job.rows.append(test(state.check, job.offset, job.length, job.index, job.name, "failed" if job.reason else "measured", job.reason))
    state.jobs[job.index] = job


def _finished(state: _State) -> Rows:
    _end_job(state)
    check = state.check
    for job in state.jobs.values():
        yield from job.rows
    failures = [f"{job.name}: {job.reason}" for job in state.jobs.values() if job.reason]
    check.parameters["jobs"] = [{"job": name, **setup} for name, setup in state.setups.items()]
    check.conclude(failures[0] if failures else None if state.jobs else "the log has no results")
    yield end(check)
