"""Turns SuperBench's files into landing rows, a row a key."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

import pyarrow as pa

from warehouse.landing.contract import Bundle
from warehouse.landing.readers.entries import document, is_count
from warehouse.landing.readers.json_text import Element, is_lost_number, json_number, json_pairs, json_text
from warehouse.landing.readers.text import MAX_KEY_CHARACTERS, Line, Report, clean, landed_text, lines
from warehouse.landing.rows import RowBuffer, workload_columns

from .bundles import MONITOR, RESULTS, run_id

_Batches = Iterator[tuple[str, pa.RecordBatch]]
_BYTES = frozenset({"gpu_mem_used", "gpu_mem_total"})
_OF_GPU = re.compile(r"(?P<key>[^:]+):(?P<gpu>\d{1,6})")


def landed(bundle: Bundle, buffer: RowBuffer) -> _Batches:
    """Add all rows of a bundle; yields batches that are full."""
    node = bundle.manifest.identity.get("node")
    for raw_path, file in bundle.manifest.by_path.items():
        report = Report(buffer, raw_path, None)
        if file.role == MONITOR:
            yield from _monitor(bundle, buffer, raw_path, node, report)
        elif file.role == RESULTS and raw_path.endswith(".jsonl"):
            for line in lines(bundle.map(raw_path), report):
                yield from _results(bundle, buffer, raw_path, line, node, report)
        elif file.role == RESULTS:
            yield from _results(bundle, buffer, raw_path, Line(1, 0, document(bundle, raw_path, report)), node, report)


def _pairs(line: Line, report: Report) -> dict[str, Element]:
    """The pairs of a line's object; the last one for a key that occurs twice, as JSON decoders do."""
    return {pair.key: pair for pair in json_pairs(line.data, report, start=(line.offset, line.number)) if pair.key is not None}


def _number(pair: Element, report: Report) -> float | None:
    number = json_number(pair.value)
    if number is None and pair.value is not None:
        code = "non-finite-number" if is_lost_number(pair.value) else "not-a-number"
        report.at(code, str(pair.key)[:120], pair, "error")
    return number


def _results(bundle: Bundle, buffer: RowBuffer, raw_path: str, line: Line, node: str | None, report: Report) -> _Batches:
    pairs = _pairs(line, report)
    if not pairs:
        report.at("no-results", "a line without metrics", line, "error")
        return
    if (stated := pairs.pop("node", None)) is not None:
        node = clean(json_text(stated.value) or "") or node
    run = run_id(sha256(line.data.strip()).hexdigest(), node, line.number, RESULTS)
    codes: dict[str, float | None] = {}
    benchmarks = set()
    for key, pair in pairs.items():
        benchmark, slash, metric = key.rpartition("/")
        number = _number(pair, report)
        if slash:
            benchmarks.add(benchmark)
        if metric.partition(":")[0] == "return_code":
            codes[key] = number
        text = json_text(pair.value)
        buffer.add(
            "superbench_metric", raw_path, pair.offset, pair.length, run_id=run, key=clean(key)[:MAX_KEY_CHARACTERS],
            benchmark=clean(benchmark)[:MAX_KEY_CHARACTERS] if slash else None, value_text=None if text is None else landed_text(text),
            value_number=number, line_number=pair.line_number,
        )
    bad = next((key for key, code in codes.items() if code != 0), None)
    status = "unknown" if not codes else "succeeded" if bad is None else "failed"
    reason = None if bad is None else clean(f"{bad}: {codes[bad]:g}" if codes[bad] is not None else f"{bad}: not known")[:500]
    _add_run(buffer, raw_path, line.offset, len(line.data), run, RESULTS, node, sorted(benchmarks), status=status, status_reason=reason)
    yield from buffer.full()


def _monitor(bundle: Bundle, buffer: RowBuffer, raw_path: str, node: str | None, report: Report) -> _Batches:
    data = bundle.map(raw_path)
    run = run_id(sha256((data[: data.find(b"\n") + 1] or data[:]).strip()).hexdigest(), node, 1, MONITOR)
    times: list[datetime] = []
    for line in lines(data, report):
        pairs = _pairs(line, report)
        moment = _moment(pairs.pop("time", None), report)
        times += [moment] if moment is not None else []
        for key, pair in pairs.items():
            of_gpu = _OF_GPU.fullmatch(key)
            number = _number(pair, report)
            if of_gpu and of_gpu["key"] in _BYTES and number is not None and not is_count(number):
                report.at("impossible-count", f"{key}: {number:g}"[:200], pair, "error")
                number = None
            buffer.add(
                "superbench_sample", raw_path, pair.offset, pair.length, run_id=run, sampled_at=moment,
                gpu=int(of_gpu["gpu"]) if of_gpu else None, key=clean(of_gpu["key"] if of_gpu else key)[:MAX_KEY_CHARACTERS],
                value_number=number, line_number=pair.line_number,
            )
        yield from buffer.full()
    _add_run(
        buffer, raw_path, 0, len(data), run, MONITOR, node, [], status="unknown",
        started_at=min(times, default=None), ended_at=max(times, default=None),
    )


def _moment(stated: Element | None, report: Report) -> datetime | None:
    """When a sample was taken: local time, taken for UTC."""
    if stated is None:
        return None
    try:
        return datetime.strptime(json_text(stated.value) or "", "%Y-%m-%d %H:%M:%S").replace(tzinfo=UTC)
    except ValueError:
        report.at("not-a-time", str(json_text(stated.value))[:120], stated, "error")
        return None


def _add_run(
    buffer: RowBuffer, raw_path: str, offset: int, length: int, run: str, kind: str, node: str | None, benchmarks: list[str], **columns: Any
) -> None:
    workload = workload_columns({"tool": "superbench", "kind": kind, "benchmarks": benchmarks})
    buffer.add("superbench_run", raw_path, offset, length, run_id=run, kind=kind, node=node, **columns, **workload)
