"""Turns each profile into the kernels that took most of its time.

Only `Bundle.map` may raise here (tampered or missing bytes); everything else becomes an issue.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa

from warehouse.landing.contract import Bundle
from warehouse.landing.readers.text import MAX_VALUE_CHARACTERS, Data, Report, clean, whole
from warehouse.landing.rows import RowBuffer, workload_columns

from . import ncu
from .bundles import NCU, NSYS
from .tables import SECONDS, Row, number, rows

TOP_KERNELS = 10
_COMMUNICATION = re.compile(r"nccl|rccl|nvshmem|deep_ep::", re.IGNORECASE)
_MEMORY = re.compile(r"\[CUDA mem(?:cpy|set)", re.IGNORECASE)
_TOTAL = re.compile(r"Total Time(?: \(([a-z]+)\))?")
_LONGEST = ("Max", "Maximum")
_NOT_ON_GPU = frozenset({"CUDA_API"})  # cuda_api_gpu_sum lists calls of the API between kernels and copies
_OTHER_REPORT = frozenset({"Source"})  # mpi_event_sum has the columns of a kernel summary, and this one


def landed(bundle: Bundle, buffer: RowBuffer) -> Iterator[tuple[str, pa.RecordBatch]]:
    """Add all rows of a bundle; yields batches that are full."""
    run, profile = f"nsight/{bundle.digest[:16]}", str(bundle.manifest.identity.get("profile", "profile"))
    for file in bundle.manifest.files:
        data, report = bundle.map(file.raw_path), Report(buffer, file.raw_path, run)
        document: dict[str, Any] = {"tool": file.role or NCU, "profile": profile}
        about: dict[str, Any] = {}
        if file.role == NSYS:
            kernels = _kernels_of_summary(data, report)
        else:
            found = ncu.read(data, report)
            kernels = [(0, len(data), columns) for columns in _kernels_of_launches(found)]
            about = {"program": _only(found.programs), "host_name": _only(found.hosts), "error": found.error}
            document["program"] = about["program"]
        buffer.add("nsight_profile", file.raw_path, 0, len(data), run_id=run, tool=document["tool"], **about, **workload_columns(document))
        for position, (offset, length, columns) in enumerate(kernels, 1):
            buffer.add("nsight_kernel", file.raw_path, offset, length, run_id=run, position=position, **columns)
        if not kernels:
            report("no-kernels", "a profile without a kernel", severity="error")
        yield from buffer.full()


def _only(texts: set[str]) -> str | None:
    return next(iter(texts)) if len(texts) == 1 else None


def _kernels_of_launches(profile: ncu.Profile) -> list[dict[str, Any]]:
    found = []
    for kernel, by_launch in profile.kernels.items():
        launches = list(by_launch.values())
        durations = [launch["duration"] for launch in launches if "duration" in launch]
        is_timed = len(durations) == len(launches) and sum(durations) > 0
        columns: dict[str, Any] = {
            "kernel": kernel, "kind": _kind(kernel), "launch_count": len(launches), "total_s": sum(durations) if is_timed else None,
            "longest_s": max(durations) if is_timed else None,
        }
        for name in ncu.PERCENTAGES:
            if is_timed and all(name in launch for launch in launches):
                columns[name] = sum(launch[name] * launch["duration"] for launch in launches) / sum(durations)
        found.append(columns)
    return sorted(found, key=lambda each: (-(each["total_s"] or 0), -each["launch_count"], each["kernel"]))[:TOP_KERNELS]


def _kernels_of_summary(data: Data, report: Report) -> list[tuple[int, int, dict[str, Any]]]:
    """Offset, length and columns of each."""
    found: list[tuple[int, int, int, dict[str, Any]]] = []
    header: list[str] = []
    factor: float | None = None
    report_number = 0
    for row in rows(data, report):
        total = _TOTAL.fullmatch(row.cells[1]) if len(row.cells) > 2 else None
        if total is not None:
            is_kernels = row.cells[2] == "Instances" and row.cells[-1] in ("Name", "Operation") and not _OTHER_REPORT & set(row.cells)
            header = row.cells if is_kernels else []
            report_number += is_kernels
            factor = SECONDS.get(total[1] or "ns")  # before 2021.5 without a unit: nanoseconds (nsys stats, gpukernsum)
        elif header and len(row.cells) == len(header):
            if not row.cells[-1].strip():
                report.at("missing-key", "a row without a kernel", row.line, "error")
            elif factor is None:
                report.at("unknown-unit", header[1][:80], row.line, "error")
            else:
                cells = dict(zip((name.partition(" (")[0] for name in header), row.cells, strict=True))
                if cells.get("Category") not in _NOT_ON_GPU:
                    found.append((report_number, row.line.offset, row.line.length, _summed(cells, row, factor, report)))
        elif header and (len(row.cells) > 1 or row.fault is not None or row.cells[0][:1].isdigit()):
            report.at("malformed-row", row.fault or f"{len(row.cells)} cells under {len(header)} columns", row.line, "error")
    # A file with several reports states a kernel in each: its first counts. In that one it has a row for each grid and block.
    kernels: dict[str, list[tuple[int, int, int, dict[str, Any]]]] = {}
    for each in found:
        of_kernel = kernels.setdefault(each[3]["kernel"], [])
        if not of_kernel or of_kernel[0][0] == each[0]:
            of_kernel.append(each)
    united = []
    for of_kernel in kernels.values():
        start, last = of_kernel[0][1], of_kernel[-1]
        united.append((start, last[1] + last[2] - start, _united([each[3] for each in of_kernel])))
    return sorted(united, key=lambda each: (-(each[2]["total_s"] or 0), each[2]["kernel"]))[:TOP_KERNELS]


def _united(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """One row of several of a kernel: its sums, and its longest launch. What one of them lacks is not known."""
    stated = {name: [row[name] for row in rows] for name in ("launch_count", "total_s", "longest_s")}
    known = {name: None if None in amounts else amounts for name, amounts in stated.items()}
    return rows[0] | {name: amounts and (max if name == "longest_s" else sum)(amounts) for name, amounts in known.items()}


def _summed(cells: Mapping[str, str], row: Row, factor: float, report: Report) -> dict[str, Any]:
    total, count = number(cells["Total Time"], report, row.line), number(cells["Instances"], report, row.line)
    longest = next((number(cells[name], report, row.line) for name in _LONGEST if name in cells), None)
    kernel = clean(row.cells[-1])[:MAX_VALUE_CHARACTERS]
    if count is not None and whole(count) is None:
        report.at("not-an-integer", f"Instances: {count:g}", row.line, "error")
    return {
        "kernel": kernel, "kind": "memory" if cells.get("Category") == "MEMORY_OPER" else _kind(kernel), "launch_count": whole(count),
        "total_s": None if total is None else total * factor, "longest_s": None if longest is None else longest * factor,
    }


def _kind(kernel: str) -> str:
    return "communication" if _COMMUNICATION.search(kernel) else "memory" if _MEMORY.match(kernel) else "compute"
