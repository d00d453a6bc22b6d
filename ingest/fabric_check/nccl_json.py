"""The JSON of nccl-tests (`-J`, since 2.17): one document an execution, with the times of its start and end.

Times are local, no zone is stated. Bandwidths are GB/s and times microseconds, as in the text. The environment, which the
tool writes whole, does not land: it holds secrets. Source: NVIDIA/nccl-tests src/util.cu.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

from warehouse.landing.readers.json_text import Element, json_text
from warehouse.landing.readers.records import Record
from warehouse.landing.readers.text import Data, Report, clean

from .check import Check, Rows, at, endpoint, entry, is_missing, one_test, point
from .json_tree import Document, by_key, documents, text

MARK = re.compile(rb'"nccl_version"\s*:\s*\d+\s*,\s*"config"\s*:|^\s*\{"version":\d+,"start_time":', re.MULTILINE)

_PARAMETERS = {
    "minimum_bytes": "min_bytes", "maximum_bytes": "max_bytes", "warmup_iters": "warmup_iters", "iterations": "iters",
    "aggregated_iterations": "agg_iters", "validation": "validation", "graph": "graph",
}
_PER_ITERATION = {
    "latency_min": "min_us", "latency_max": "max_us", "latency_mean": "avg_us", "latency_stdev": "stdev_us",
    "latency_p50": "p50_us", "latency_p95": "p95_us", "latency_p99": "p99_us",
}


def rows(data: Data, report: Report, file_name: str) -> Rows:
    """The checks of a file: one a document."""
    for document in documents(data, report):
        yield from _check(document)


def _check(document: Document) -> Rows:
    found = by_key(document.pairs())
    document.expect(found, ("version", "start_time", "end_time", "nccl_version", "config", "results", "average_bus_bandwidth", "out_of_bounds"))
    check = Check("nccl-tests", _program(found.get("args")), *at(document.whole))
    for key in ("version", "start_time", "end_time", "nccl_version"):
        if key in found:
            key_in_text = "nccl-library" if key == "nccl_version" else key
            yield entry(check, document.line(found[key]), key_in_text, json_text(found[key].value))
    _times(check, found)
    if config := found.get("config"):
        yield from _config(check, document, config)
    kinds: dict[str, set[str]] = {"type": set(), "redop": set()}
    for index, result in enumerate(document.inside(found["results"]) if "results" in found else (), 1):
        yield from _result(check, document, result, index, kinds)
    check.parameters |= {f"{kind}s": sorted(seen) for kind, seen in kinds.items() if seen}
    yield from _verdict(check, document, found)


def _program(arguments: Element | None) -> str | None:
    value = arguments.value if arguments else None
    first = value[0] if isinstance(value, list) and value and isinstance(value[0], str) else ""
    return clean(first.rpartition("/")[2].removesuffix("_mpi"))[:256] or None


def _times(check: Check, found: dict[str, Element]) -> None:
    for key in ("start_time", "end_time"):
        value = found[key].value if key in found else None
        try:
            moment = datetime.strptime(value, "%Y-%m-%d %H:%M:%S").replace(tzinfo=UTC) if isinstance(value, str) else None
        except ValueError:
            moment = None
        if moment is not None and key == "start_time":
            check.started_at, check.started_at_text, check.is_zone_assumed = moment, value, True
        elif moment is not None:
            check.ended_at = moment
    if check.started_at and check.ended_at and check.ended_at >= check.started_at:
        check.duration_s = (check.ended_at - check.started_at).total_seconds()


def _config(check: Check, document: Document, config: Element) -> Rows:
    stated = document.record(config)
    check.parameters |= {name: stated.count(key) for key, name in _PARAMETERS.items()}
    for kind in ("factor", "bytes"):
        if (step := stated.count(f"step_{kind}")) is not None:
            check.parameters |= {"step": step, "step_kind": kind}
    within = by_key(document.inside(config))
    document.expect(within, ("devices",))
    devices = within.get("devices")
    processes: list[str] = []
    for device in document.inside(devices) if devices else ():
        record = document.record(device)
        rank = record.count("rank")
        if rank is None:
            record.flag("malformed-row", "a device without a rank")
            continue
        check.rank_count = (check.rank_count or 0) + 1
        processes.append(f"{rank} {record.count('pid')} {text(device.value, 'hostname')} {record.count('device')} {text(device.value, 'device_hex')}")
        yield endpoint(
            check, document.line(device), "rank", rank, node_name=text(device.value, "hostname") or None,
            device=record.count("device"), bus_id=text(device.value, "device_hex"),
            model=text(device.value, "device_info"),
        )
    check.origin = "; ".join(sorted(processes)) or None


def _result(check: Check, document: Document, result: Element, index: int, kinds: dict[str, set[str]]) -> Rows:
    stated: dict[str, Any] = {}
    for kind, seen in kinds.items():
        value = text(result.value, kind)
        if value is not None and not is_missing(value):
            seen.add(value)
            stated[kind] = value
    record = document.record(result)
    root = Record({"root": record.text("root")}, record.flag).count("root")  # padded with blanks
    halves = by_key(document.inside(result))
    for placement in ("out_of_place", "in_place"):
        half = halves.get(placement)
        measured = document.record(half)
        if half is None or not measured.values:
            record.flag("malformed-row", f"a result without its {placement} half")
            continue
        per_iteration = document.record(halves.get(f"{placement}_per_iter"))
        time, wrong = measured.number("time"), measured.count("nwrong")
        if time is None and measured.number("cpu_time") is not None:
            check.parameters["report_cputime"] = True
        latency: dict[str, Any] = {column: per_iteration.number(key) for column, key in _PER_ITERATION.items()}
        yield point(
            check, document.line(half), 1, index, placement=placement, status="failed" if wrong not in (None, 0, -1) else "measured",
            message_bytes=record.count("size"), element_count=record.count("count"),
            element_type=stated.get("type"), redop=stated.get("redop"), root=None if root is None or root < 0 else root,
            time_us=measured.number("cpu_time") if time is None else time,
            alg_bandwidth_gb_per_s=measured.number("alg_bw"), bus_bandwidth_gb_per_s=measured.number("bus_bw"),
            wrong_count=wrong, **latency,
            latency_unit="us" if per_iteration.values else None,
        )


def _verdict(check: Check, document: Document, found: dict[str, Element]) -> Rows:
    """The averages and what the tool thought of them, under the names that its text gives them."""
    average, bounds = (
        by_key(document.inside(found[key])) if key in found else {} for key in ("average_bus_bandwidth", "out_of_bounds")
    )
    document.expect(average, ("bandwidth",))
    document.expect(bounds, ("count",))
    if "count" in bounds:
        yield entry(check, document.line(bounds["count"]), "Out of bounds values", json_text(bounds["count"].value), 1)
    reason: str | None = None
    if "bandwidth" in average:
        row = entry(check, document.line(average["bandwidth"]), "Avg bus bandwidth", json_text(average["bandwidth"].value), 1)
        yield row
        if row.columns["value_number"] is None:
            reason = "the average bus bandwidth is not a number"
    else:
        reason = "the document has no average bus bandwidth"
    for name, verdict in (("Out of bounds values", bounds), ("Avg bus bandwidth", average)):
        if "okay" in verdict and json_text(verdict["okay"].value) == "false":
            reason = f"{name}: FAILED"
    errors = found["errors"].value if "errors" in found else None
    if reason and isinstance(errors, list):
        reason = next((error for error in errors if isinstance(error, str) and error), reason)
    yield from one_test(check, reason)
