"""Turns a run into landing rows: its reports key by key, its requests, and the server its manifests describe.

Only `Bundle.read` and `Bundle.map` may raise here (tampered or missing bytes); everything else becomes an issue.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import pyarrow as pa

from warehouse.landing.consistency import check_agrees, check_rate, check_statistics, check_sum, check_units, without_contradicted_zeros
from warehouse.landing.contract import Bundle
from warehouse.landing.readers.entries import Kind, check_total, document, element_entry, land_entries, numeric, possible
from warehouse.landing.readers.json_text import Element, json_pairs
from warehouse.landing.readers.text import Entry, Place, Report
from warehouse.landing.readers.yaml_text import yaml_documents, yaml_pairs
from warehouse.landing.rows import RowBuffer, workload_columns
from warehouse.landing.serving.path_names import named_columns
from warehouse.landing.serving.session_loads import load_unit

from .bundles import adapter_of, report_of, run_id
from .manifests import servers
from .requests import request_rows

_DEPTH = 8
_KINDS = {
    **dict.fromkeys(("load_summary/count", "successes/count", "failures/count"), Kind.COUNT), "load_summary/concurrency": Kind.CONCURRENCY,
    "load_summary/requested_rate": Kind.REQUEST_RATE, "benchmark_time_seconds": Kind.DURATION,
}
_NUMBERS = ("load_summary/", "successes/", "failures/", "benchmark_time_seconds")  # of these reports state numbers, or null
# What of the configuration is the workload's; hosts, keys and places of storage are not.
_WORKLOAD_KEYS = (
    "api/type", "api/streaming", "data/", "load/type", "load/stages", "load/sweep", "load/interval", "server/ignore_eos",
)

_Batches = Iterator[tuple[str, pa.RecordBatch]]


@dataclass
class _Point:
    """A stage: its report's path, and what the report states."""

    raw_path: str
    stage: int | None
    entries: dict[str, Entry] = field(default_factory=dict)

    def number(self, key: str) -> float | None:
        return self.entries[key].number if key in self.entries else None


@dataclass
class _Parse:
    bundle: Bundle
    buffer: RowBuffer
    run: str
    points: dict[str, _Point] = field(default_factory=dict)
    config: dict[str, Entry] = field(default_factory=dict)
    model: str | None = None


def landed(bundle: Bundle, buffer: RowBuffer) -> _Batches:
    """Add all rows of a bundle; yields batches that are full."""
    parse = _Parse(bundle, buffer, run_id(dict(bundle.manifest.identity), bundle.digest))
    requests = []
    for file in bundle.manifest.files:
        if file.role == "requests":
            requests.append(file.raw_path)
        elif file.role == "manifest":
            _manifest(parse, file.raw_path)
        elif file.role in ("lifecycle", "prometheus", "session_lifecycle", "adapter", "config"):
            _report(parse, file.raw_path, file.role)
    starts = array("d")
    for raw_path in requests:
        yield from _requests(parse, raw_path, starts)
    _add_points(parse, starts, requests)
    _add_run(parse)


def _report(parse: _Parse, raw_path: str, role: str) -> None:
    report = Report(parse.buffer, raw_path, parse.run)
    data = document(parse.bundle, raw_path, report)
    name = raw_path.rpartition("/")[2]
    named = report_of(name)
    point = None if role == "config" else adapter_of(name) if role == "adapter" else named.point if named else "lifecycle"
    is_json = raw_path.casefold().endswith(".json")
    pairs = json_pairs if is_json else yaml_pairs
    if data and not is_json and not data.endswith(b"\n"):
        # YAML has no end mark, but the tools that write it end its last line.
        report("truncated-document", "the file ends within a line", len(data), severity="error")
    found = (_entry(element, report) for element in pairs(data, report, depth=_DEPTH))
    entries = land_entries(parse.buffer, "inference_perf_entry", raw_path, parse.run, role, without_contradicted_zeros(found, report), point=point)
    check_total(entries, "load_summary/count", ("successes/count", "failures/count"), report)
    check_statistics(entries, report)
    check_units(entries, (), report)
    if role == "lifecycle":
        _check_throughput(entries, report)
    if role == "config":
        parse.config |= entries
    elif role == "lifecycle" and point is not None and point != "summary":
        parse.points[point] = _Point(raw_path, int(point.removeprefix("stage_")) if named else None, entries)


def _check_throughput(entries: Mapping[str, Entry], report: Report) -> None:
    """The rates of a lifecycle report are sums over its successful requests, by one duration."""
    rates = "successes/throughput"
    requests, tokens = entries.get(f"{rates}/requests_per_sec"), entries.get("successes/output_len/mean")
    output = entries.get(f"{rates}/output_tokens_per_sec")
    if output and requests and tokens and requests.number is not None and tokens.number is not None:
        check_agrees(output, requests.number * tokens.number, f"{requests.key} * {tokens.key}", report)
    check_sum(entries, f"{rates}/total_tokens_per_sec", (f"{rates}/input_tokens_per_sec", f"{rates}/output_tokens_per_sec"), report)
    check_rate(entries, f"{rates}/requests_per_sec", ("successes/count",), "benchmark_time_seconds", report)


def _entry(element: Element, report: Report) -> Entry:
    entry = element_entry(element, report)
    if entry.key.startswith(_NUMBERS):
        entry = numeric(entry, report)
    return possible(entry, report, _KINDS.get(entry.key))


def _manifest(parse: _Parse, raw_path: str) -> None:
    report = Report(parse.buffer, raw_path, parse.run)
    size = parse.bundle.manifest.by_path[raw_path].bytes
    documents = yaml_documents(document(parse.bundle, raw_path, report), report)
    found = list(servers(documents, report.flag(Place(0, size))))
    for columns in found:
        parse.model = parse.model or columns["model"]
        parse.buffer.add("inference_perf_server", raw_path, 0, size, run_id=parse.run, **columns)
    if not found:
        report("no-server", "no container of the manifest asks for accelerators", 0, size, severity="note")


def _requests(parse: _Parse, raw_path: str, starts: "array[float]") -> _Batches:
    report = Report(parse.buffer, raw_path, parse.run)
    data = parse.bundle.map(raw_path)
    if len(data) == 0:
        report("empty-document", "the file states nothing", severity="error")
        return
    yield from parse.buffer.add_all("inference_perf_request", raw_path, request_rows(data, report, starts), run_id=parse.run)


def _add_points(parse: _Parse, starts: "array[float]", requests: list[str]) -> None:
    """Stages run one after another: where their counts add up to the requests, the order of starts tells which are whose."""
    ordered = sorted(parse.points.items(), key=lambda item: (item[1].stage is None, item[1].stage, item[0]))
    counts = [point.number("load_summary/count") for _, point in ordered]
    is_told = bool(starts) and None not in counts and sum(count or 0 for count in counts) == len(starts)
    if requests and ordered and not is_told:
        message = f"{len(starts)} requests have a start time, the stages count {counts}: whose they are is not known"
        parse.buffer.issue("stage-unknown", message, requests[0], severity="error", run_id=parse.run)
    times, position = sorted(starts), 0
    for (name, point), count in zip(ordered, counts, strict=True):
        whose = times[position : position + int(count or 0)] if is_told else []
        position += len(whose)
        parse.buffer.add(
            "inference_perf_point", point.raw_path, 0, parse.bundle.manifest.by_path[point.raw_path].bytes,
            run_id=parse.run, point=name, stage=point.stage,
            requests_from_s=whose[0] if whose else None, requests_to_s=whose[-1] if whose else None,
        )


def _add_run(parse: _Parse) -> None:
    lead = min((point.raw_path for point in parse.points.values()), default=parse.bundle.manifest.files[0].raw_path)
    parse.buffer.add(
        "inference_perf_run", lead, 0, parse.bundle.manifest.by_path[lead].bytes,
        run_id=parse.run, experiment=parse.bundle.manifest.identity.get("experiment"),
        **named_columns(parse.bundle.manifest.identity, lead), **workload_columns(_workload(parse)),
    )


def _workload(parse: _Parse) -> dict[str, object]:
    """What was asked of the server: its model, the load of each stage, and what the configuration says of the data."""
    workload: dict[str, object] = {"tool": "inference-perf"}
    stated = parse.config.get("server/model_name")
    model = (stated.value if stated else None) or parse.model
    if model:
        workload["model"] = model
    loads = [
        {key: number for key in ("requested_rate", "concurrency") if (number := point.number(f"load_summary/{key}")) is not None}
        for _, point in sorted(parse.points.items(), key=lambda item: (item[1].stage is None, item[1].stage, item[0]))
    ]
    if any(loads):
        workload["stages"] = loads
    config = {
        key: entry.value for key, entry in parse.config.items() if key.startswith(_WORKLOAD_KEYS) and entry.value is not None
    }
    if config:
        workload["config"] = config
    return workload | load_unit((key, entry.value) for key, entry in parse.config.items())
