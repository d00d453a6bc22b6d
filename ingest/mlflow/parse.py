"""Turns runs of MLflow and reports of perf.py into landing rows.

Only `Bundle.read` and `Bundle.map` may raise here (tampered or missing bytes); everything else becomes an issue.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa

from warehouse.landing.contract import Bundle
from warehouse.landing.readers.entries import Kind, document, is_possible
from warehouse.landing.readers.text import Line, Report, clean, decoded, is_non_finite, landed_text, lines, number_in, whole
from warehouse.landing.readers.yaml_text import yaml_pairs
from warehouse.landing.rows import RowBuffer, workload_columns

from .bundles import EXPERIMENT, META, METRIC, PARAM, REPORT, TAG
from .perf_report import add_report

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_STATUSES = {  # entities/run_status.py; the file store writes the number, other stores the name
    "1": "unknown", "running": "unknown", "2": "unknown", "scheduled": "unknown", "3": "succeeded", "finished": "succeeded",
    "4": "failed", "failed": "failed", "5": "interrupted", "killed": "interrupted",
}
_NAMES = {"1": "RUNNING", "2": "SCHEDULED", "3": "FINISHED", "4": "FAILED", "5": "KILLED"}
_SEED = re.compile(r"(?:.*[_.-])?seed", re.IGNORECASE | re.DOTALL)
_WORKLOAD_TAGS = ("benchmark_dataset", "benchmark_model", "framework", "task")  # of lightgbm-benchmark
_LONGEST_VALUE = 1 << 16  # of a parameter or tag; MLflow cuts parameters at 6000 characters


def landed(bundle: Bundle, buffer: RowBuffer) -> Iterator[tuple[str, pa.RecordBatch]]:
    """Add all rows of a bundle; yields batches that are full."""
    by_role: dict[str | None, list[str]] = {}
    for file in bundle.manifest.files:
        by_role.setdefault(file.role, []).append(file.raw_path)
    metas = by_role.get(META, [])
    run_id = _run_id(bundle, metas, by_role.get(REPORT, []))
    stated = {kind: _entries(bundle, by_role.get(kind, []), kind, run_id, buffer) for kind in (PARAM, TAG)}
    for path in by_role.get(METRIC, []):
        _add_metric(bundle, path, run_id, buffer)
        yield from buffer.full()
    ranks: set[int] = set()
    for path in by_role.get(REPORT, []):
        add_report(bundle, path, run_id, ranks, buffer)
        yield from buffer.full()
    node_count = len(ranks) or None
    if metas:
        _add_run(bundle, metas[0], by_role.get(EXPERIMENT, []), run_id, stated, node_count, buffer)
    else:
        path = by_role[REPORT][0]
        buffer.add("mlflow_run", path, 0, bundle.manifest.by_path[path].bytes, run_id=run_id, status="unknown", node_count=node_count)
    yield from buffer.full()


def _run_id(bundle: Bundle, metas: list[str], reports: list[str]) -> str:
    stated = bundle.manifest.identity.get("run")
    if isinstance(stated, str):
        return f"mlflow/{clean(stated)}"
    return f"mlflow/{bundle.digest[:32]}" if metas else f"perf-report/{bundle.manifest.by_path[reports[0]].sha256[:16]}"


def _entries(bundle: Bundle, paths: list[str], kind: str, run_id: str, buffer: RowBuffer) -> dict[str, str | None]:
    """Add parameters or tags, one file each. A key with a slash is in folders."""
    found: dict[str, str | None] = {}
    for path in paths:
        report = Report(buffer, path, run_id)
        data = bundle.read(path)
        if len(data) > _LONGEST_VALUE:
            report("value-too-large", f"{len(data)} bytes", 0, len(data))
            continue
        key = clean(path.partition("/")[2])
        text = decoded(Line(1, 0, data), report)
        found[key] = landed_text(clean(text.strip())) or None
        buffer.add("mlflow_entry", path, 0, len(data), run_id=run_id, kind=kind, key=key, value=found[key])
    return found


def _add_metric(bundle: Bundle, path: str, run_id: str, buffer: RowBuffer) -> None:
    """Add a metric's history: lines of milliseconds, value and, since MLflow 1.0, step."""
    report = Report(buffer, path, run_id)
    key = clean(path.partition("/")[2])
    data = bundle.map(path)
    if not bytes(data[:64]).strip():
        report("empty-document", "the file states nothing", severity="error")
    for line in lines(data, report):
        if line.offset + len(line.data) == len(data):  # MLflow ends each line, so its last number may be cut
            report.at("unfinished-line", f"{key[:80]}: the last line has no end, so it is not used", line, "error")
            break
        parts = clean(decoded(line, report)).split(" ")
        if len(parts) not in (2, 3, 5):  # five: with the name and digest of a data set
            report.at("not-a-metric", f"time, value and step are expected: {' '.join(parts)[:80]}", line, "error")
            continue
        value, step = number_in(parts[1]), number_in(parts[2]) if len(parts) > 2 else None
        if value is None:
            code = "non-finite-number" if is_non_finite(parts[1]) else "not-a-number"
            report.at(code, f"{key[:80]}: {parts[1][:80]}", line, "error")
        if len(parts) > 2 and (step is None or whole(step) is None):
            report.at("not-an-integer", f"step: {parts[2][:80]}", line, "error")
        buffer.add(
            "mlflow_metric", path, line.offset, len(line.data), run_id=run_id, key=key, value=value, value_text=landed_text(parts[1]),
            logged_at=_moment(parts[0], report, line), step=None if step is None else whole(step), line_number=line.number,
        )


def _add_run(
    bundle: Bundle, path: str, experiments: list[str], run_id: str, stated: dict[str, dict[str, str | None]], node_count: int | None,
    buffer: RowBuffer,
) -> None:
    report = Report(buffer, path, run_id)
    data = document(bundle, path, report)
    meta = {str(pair.key): pair for pair in yaml_pairs(data, report)}

    def text(key: str) -> str | None:
        value = meta[key].value if key in meta else None
        return landed_text(clean(value)) or None if isinstance(value, str) else None

    own = text("run_id") or text("run_uuid")
    if own and run_id != f"mlflow/{own}" and "run" in bundle.manifest.identity:
        report("identity-mismatch", f"the file says {own[:80]!r}, the folder {run_id[7:][:80]!r}; the folder is taken")
    status = text("status")
    known = _STATUSES.get((status or "").lower())
    if known is None:
        report("unknown-status", f"{status!r} is no status of a run"[:120], severity="error")
    started, ended = (_moment(text(key), report, meta.get(key)) for key in ("start_time", "end_time"))
    if started and ended and ended < started:
        report("impossible-time", f"it ended {ended}, before it started {started}", severity="error")
    name = _NAMES.get(status or "", status)
    buffer.add(
        "mlflow_run", path, 0, len(data), run_id=run_id, experiment_id=text("experiment_id"),
        experiment_name=_experiment_name(bundle, experiments, buffer), run_name=text("run_name") or stated[TAG].get("mlflow.runName"),
        lifecycle_stage=text("lifecycle_stage"), status=known or "unknown", status_reason=None if known == "succeeded" else name,
        started_at=started, ended_at=ended, node_count=node_count, **_workload(stated),
    )


def _experiment_name(bundle: Bundle, paths: list[str], buffer: RowBuffer) -> str | None:
    for path in paths:
        report = Report(buffer, path, None)
        for pair in yaml_pairs(document(bundle, path, report), report):
            if pair.key == "name" and isinstance(pair.value, str):
                return landed_text(clean(pair.value))
    return None


def _workload(stated: dict[str, dict[str, str | None]]) -> dict[str, str]:
    """What was asked for: the parameters, and of lightgbm-benchmark's tags those that name the task, its data and its model. A seed is
    no part of it. Nothing where nothing is stated."""
    parameters = {key: value for key, value in stated[PARAM].items() if not _SEED.fullmatch(key)}
    tags = {key: stated[TAG][key] for key in _WORKLOAD_TAGS if stated[TAG].get(key) is not None}
    return workload_columns({"tool": "mlflow", "params": parameters, "tags": tags}) if parameters or tags else {}


def _moment(text: str | None, report: Report, place: Any) -> datetime | None:
    """A time in milliseconds of the Unix epoch; none where it is missing or null."""
    if text is None:
        return None
    number = number_in(text)
    if number is not None and is_possible(Kind.MOMENT, number / 1000):
        return _EPOCH + timedelta(milliseconds=number)
    report.at("impossible-time", f"milliseconds of the Unix epoch are expected: {text[:80]}", place, "error")
    return None
