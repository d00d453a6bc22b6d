"""The JSON of fio (`--output-format=json`), versions 2 and 3: a test a job, a point a direction that did I/O.

Bandwidth is `bw_bytes` (bytes/s) where the version has it, else `bw` (KiB/s). Latency is the block that has percentiles,
completion before total, in the unit its key ends with; version 2 has no suffix and means microseconds
(https://fio.readthedocs.io/en/latest/fio_doc.html#json-output). A direction without I/O was not measured.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, NamedTuple

from warehouse.landing.readers.json_text import Element, json_number, json_text
from warehouse.landing.readers.records import Record
from warehouse.landing.readers.text import Data, Report, clean

from .check import Check, Rows, at, end, entry, point, test
from .json_tree import Document, by_key, documents, text

MARK = re.compile(rb'"fio version"\s*:')

_DIRECTIONS = ("read", "write", "trim")
# Options that say where, not what.
_PLACES = frozenset({
    "filename", "directory", "filename_format", "hostname", "name", "description", "randseed", "output", "ioscheduler",
})
_PERCENTILES = {"latency_p50": 50.0, "latency_p90": 90.0, "latency_p95": 95.0, "latency_p99": 99.0, "latency_p999": 99.9}
_LATENCIES = {"latency_mean": "mean", "latency_min": "min", "latency_max": "max", "latency_stdev": "stddev"}


def rows(data: Data, report: Report, file_name: str) -> Rows:
    """The checks of a file: one an execution, whose last document counts: with --status-interval, earlier ones state its progress."""
    waiting: tuple[Document, dict[str, Element], _Progress | None] | None = None
    for document in documents(data, report):
        found = by_key(document.pairs())
        progress = _progress(found)
        if waiting is not None and (waiting[2] is None or progress is None or not waiting[2].goes_on_in(progress)):
            yield from _check(*waiting[:2])
        waiting = document, found, progress
    if waiting is not None:
        yield from _check(*waiting[:2])


class _Progress(NamedTuple):
    """How far a document says that its jobs are: when it was written and how long they had run, in seconds, and their operations."""

    jobs: list[tuple[Any, Any]]
    written: float
    elapsed: float
    operations: float

    def goes_on_in(self, later: "_Progress") -> bool:
        """Whether a later document can be of the same execution. Times are cut to seconds; another execution of the same jobs begins anew."""
        passed, ran = later.written - self.written, later.elapsed - self.elapsed
        if self.jobs != later.jobs or passed < 0 or ran < 0 or abs(passed - ran) > 1:
            return False
        return later.operations > self.operations if ran else passed < 1 and later.operations >= self.operations


def _progress(found: dict[str, Element]) -> _Progress | None:
    """None where a document does not state the time, or how long its jobs had run."""
    stated = found["jobs"].value if "jobs" in found else None
    jobs = [job for job in stated if isinstance(job, dict)] if isinstance(stated, list) else []
    elapsed = max((json_number(job.get("elapsed")) or 0.0 for job in jobs), default=0.0)
    seconds, thousandths = (json_number(found[key].value) if key in found else None for key in ("timestamp", "timestamp_ms"))
    written = thousandths / 1000 if thousandths is not None else seconds
    if written is None or not elapsed:
        return None
    directions = (job[name] for job in jobs for name in _DIRECTIONS if isinstance(job.get(name), dict))
    operations = sum(json_number(direction.get("total_ios")) or 0.0 for direction in directions)
    return _Progress([(job.get("jobname"), job.get("job options")) for job in jobs], written, elapsed, operations)


def _check(document: Document, found: dict[str, Element]) -> Rows:
    check = Check("fio", "fio", *at(document.whole))
    version = found.get("fio version")
    check.tool_version = clean(json_text(version.value) or "").removeprefix("fio-")[:256] or None if version else None
    for key, element in found.items():
        if not isinstance(element.value, (dict, list)):
            yield entry(check, document.line(element), key, json_text(element.value))
    if "client_stats" not in found:
        document.expect(found, ("jobs",))
    _times(check, document, found)
    common = _options(found["global options"].value) if "global options" in found else {}
    failures: list[str] = []
    jobs: list[dict[str, Any]] = []
    for index, job in enumerate(_jobs(document, found), 1):
        jobs.append({**common, **_options(job.value.get("job options")), "job": text(job.value, "jobname") or ""})
        yield from _job(check, document, job, index, failures)
    check.parameters["jobs"] = jobs
    check.conclude(failures[0] if failures else None if jobs else "the document has no jobs")
    yield end(check)


def _jobs(document: Document, found: dict[str, Element]) -> Iterator[Element]:
    """The jobs; of a client's document, those of all its servers, without their sum."""
    for key in ("jobs", "client_stats"):
        if key in found:
            for job in document.inside(found[key]):
                if isinstance(job.value, dict) and text(job.value, "jobname") != "All clients":
                    yield job


def _times(check: Check, document: Document, found: dict[str, Element]) -> None:
    """fio writes its time when it has ended: seconds, and since version 3 milliseconds, of the epoch."""
    seconds, thousandths = (document.number(found.get(key)) for key in ("timestamp", "timestamp_ms"))
    stamp = thousandths / 1000 if thousandths is not None else seconds
    if stamp is not None and 0 < stamp < 1e11:
        check.ended_at, check.is_zone_assumed = datetime.fromtimestamp(stamp, UTC), False


def _options(value: Any) -> dict[str, str]:
    if not isinstance(value, dict):
        return {}
    return {
        clean(key)[:256]: stated
        for key in value if key not in _PLACES and (stated := text(value, key)) is not None
    }


def _job(check: Check, document: Document, job: Element, index: int, failures: list[str]) -> Rows:
    name = text(job.value, "jobname") or None
    host = text(job.value, "hostname")
    if host and host not in check.nodes:
        check.nodes.append(host)
    error = document.record(job).count("error")
    points = 0
    for key, element in by_key(document.inside(job)).items():
        if key in _DIRECTIONS and _did_io(direction := document.record(element)):
            points += 1
            yield point(
                check, document.line(element), index, points, scope_name=host, direction=key,
                **_measured(direction),
            )
        elif key in ("error", "elapsed", "usr_cpu", "sys_cpu"):
            yield entry(check, document.line(element), key, json_text(element.value), index)
    reason = f"error {error}" if error else None if points else "no I/O was done"
    if reason:
        failures.append(f"{name}: {reason}")
    yield test(check, job.offset, job.length, index, name, "failed" if reason else "measured", reason)


def _did_io(direction: Record) -> bool:
    counts = (direction.number("total_ios"), direction.number("io_bytes"))
    if direction.values and counts == (None, None):
        direction.flag("missing-key", "neither total_ios nor io_bytes: whether it did any I/O is not known")
    return any(count is not None and count > 0 for count in counts)


def _measured(direction: Record) -> dict[str, Any]:
    per_second = direction.number("bw_bytes")
    unit = "B/s"
    if per_second is None:
        per_second, unit = direction.number("bw"), "KiB/s"
    columns: dict[str, Any] = {
        "bandwidth": per_second, "bandwidth_unit": None if per_second is None else unit, "io_per_s": direction.number("iops"),
    }
    runtime = direction.number("runtime")
    if runtime is not None:
        columns["time_us"] = runtime * 1000  # fio's runtime is in milliseconds
    return {**columns, **_latency(direction)}


def _latency(direction: Record) -> dict[str, Any]:
    blocks = [
        (kind, unit, direction.within(kind + suffix))
        for suffix, unit in (("_ns", "ns"), ("", "us"))
        for kind in ("clat", "lat") if isinstance(direction.values.get(kind + suffix), dict)
    ]
    chosen = next((block for block in blocks if block[2].within("percentile").values), blocks[0] if blocks else None)
    if chosen is None:
        return {}
    kind, unit, block = chosen
    columns: dict[str, Any] = {"latency_kind": kind, "latency_unit": unit}
    columns |= {column: block.number(key) for column, key in _LATENCIES.items()}
    percentiles = block.within("percentile")
    for key in percentiles.values:
        for column, percentile in _PERCENTILES.items():
            if re.fullmatch(r"\d+\.\d+", key) and float(key) == percentile:
                columns[column] = percentiles.number(key)
    return columns
