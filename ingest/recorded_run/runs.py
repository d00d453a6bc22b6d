"""The rows of one run: the run itself, and the host's windows while it ran."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

import pyarrow as pa

from warehouse.landing.contract import Bundle
from warehouse.landing.rows import RowBuffer

from .bundles import MACHINE, RECORDING
from .counters import risen
from .files import document_in, parsed, rejecter, shown, typed_columns
from .indicator import Indicator
from .tables import HOST_FIELDS, RUN_FIELDS, TABLES
from .workload import workload_columns

_NOT_NEGATIVE = tuple(name for name, kind in RUN_FIELDS if kind in (pa.float64(), pa.int64()) and name not in ("repeat_index", "exit_code", "signal"))
_MOST = 1e18  # in any unit here: beyond the age of the universe in seconds, and the memory of any machine in bytes
STATUSES = ("succeeded", "failed", "interrupted")


def add_run(
    bundle: Bundle, run: str, run_id: str, shared: Mapping[str, Any], indicator: Indicator | None,
    workload: dict[str, Any] | None, buffer: RowBuffer,
) -> str | None:
    """Add the run's row, or that of a node of it, and its GPUs, and return its status. A run whose `run.json` is unreadable is there, with a NULL
    status."""
    path = f"{run}/run.json"
    document = document_in(bundle, path, buffer, run_id) or {}
    # The row of a run without that file leads to the one that says there was a run.
    row_path = path if path in bundle.manifest.by_path else RECORDING
    reject = rejecter(buffer, row_path, run_id)
    table = "recorded_run" if shared["part_of"] is None else "recorded_node_run"
    columns = {name: value for name, value in shared.items() if name in TABLES[table].names}
    columns |= typed_columns(RUN_FIELDS, document, reject)
    columns |= _checked_identity(columns, run, reject)
    columns |= _possible(columns, reject)
    columns |= workload_columns(workload, reject)
    columns |= risen(bundle, run)
    if indicator is not None:
        columns |= {"indicator_name": indicator.name, "component": indicator.component}
        columns["overall_score"] = indicator.score
    for sampled in ("host", "node", "process", "server", "numa", "gpu", "gpu_process"):
        if document.get(f"{sampled}_sampling_error") is not None:
            reject(f"{sampled}-sampling-failed", f"sampling stopped early: {shown(document[f'{sampled}_sampling_error'])}")
    if table == "recorded_node_run":
        columns |= typed_columns((("ended_by_limit", pa.string()),), document, reject)
    buffer.add(table, row_path, 0, bundle.manifest.by_path[row_path].bytes, run_id=run_id, **columns)
    for gpu_uuid, gpu in shared["gpus_by_uuid"].items():
        buffer.add("recorded_gpu", MACHINE, 0, bundle.manifest.by_path[MACHINE].bytes, run_id=run_id, gpu_uuid=gpu_uuid, **gpu)
    status: str | None = columns["status"]
    return status


def _possible(columns: Mapping[str, Any], reject: Callable[[str, str], None]) -> dict[str, None]:
    """NULL for what no run can have: a time or size below zero or beyond all bounds, and an end before the start."""
    lost: dict[str, None] = {}
    for name in _NOT_NEGATIVE:
        value = columns[name]
        if value is not None and not 0 <= value <= _MOST:
            reject("impossible-value", f"{name} is {value:g}; it is NULL")
            lost[name] = None
    if columns["started_at"] and columns["ended_at"] and columns["ended_at"] < columns["started_at"]:
        reject("impossible-time", f"the run ended at {columns['ended_at']:%Y-%m-%dT%H:%M:%SZ}, before its start; its end is NULL")
        lost["ended_at"] = None
    return lost


def _checked_identity(columns: Mapping[str, Any], run: str, reject: Callable[[str, str], None]) -> dict[str, Any]:
    """The run's number as its folder has it, which beats the file's, and its status if it is one."""
    number, status = int(run.removeprefix("run-")), columns["status"]
    if columns["repeat_index"] not in (None, number):
        reject("identity-mismatch", f"repeat_index is {columns['repeat_index']} in {run}")
    if status not in (None, *STATUSES):
        reject("unknown-status", f"{shown(status)} is no status of a run")
        status = None
    return {"repeat_index": number, "status": status}


def add_host_samples(bundle: Bundle, run: str, run_id: str, buffer: RowBuffer) -> None:
    """Add a row for each line of `host.jsonl`."""
    path = f"{run}/host.jsonl"
    if path not in bundle.manifest.by_path:
        buffer.issue("file-missing", f"{path} is not in the bundle", RECORDING, run_id=run_id)
        return
    offset, last_end = 0, None
    for line_number, line in enumerate(bundle.read(path).splitlines(keepends=True), start=1):
        last_end = _add_host_sample(path, line.rstrip(b"\r\n"), offset, line_number, run_id, last_end, buffer)
        offset += len(line)


def _add_host_sample(
    path: str, line: bytes, offset: int, line_number: int, run_id: str, last_end: datetime | None, buffer: RowBuffer
) -> datetime | None:
    """Add a window that begins where the one before it ended, or later. Returns the end of the last one."""

    def flag(code: str, message: str, severity: str = "warning") -> None:
        buffer.issue(
            code, message, path, offset, len(line), severity=severity, line_number=line_number, run_id=run_id
        )

    document = parsed(line, lambda code, message, _: flag(code, message, "error"))
    if document is None:
        return last_end
    columns = typed_columns(HOST_FIELDS, document, flag)
    begin, end = columns["window_start"], columns["window_end"]
    if last_end and begin and begin < last_end:
        flag("sample-not-later", "the window begins before the one before it ended, and is left out", "error")
        return last_end
    buffer.add("recorded_host_sample", path, offset, len(line), run_id=run_id, **columns)
    resets = document.get("counter_resets")
    if resets:
        named = ", ".join(map(shown, resets)) if isinstance(resets, list) else shown(resets)
        flag("counter-reset", f"no delta in this window: {named}")
    return end or last_end
