"""Turns a report into landing rows: key by key, the engines of its stack, and the run.

Only `Bundle.read` may raise here (tampered or missing bytes); everything else becomes an issue.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import pyarrow as pa

from warehouse.landing.consistency import check_statistics, check_sum, check_units, without_contradicted_zeros
from warehouse.landing.contract import Bundle
from warehouse.landing.readers.entries import Kind, check_span, check_total, document, element_entry, land_entries, numeric, possible
from warehouse.landing.readers.json_text import Element, json_text
from warehouse.landing.readers.text import Entry, Report
from warehouse.landing.rows import RowBuffer, workload_columns
from warehouse.landing.serving.path_names import named_columns
from warehouse.landing.serving.session_loads import load_unit

from .bundles import REPORT
from .engines import engines
from .pairs import pairs_in, plain

_UID = re.compile(r"[0-9A-Za-z-]{8,64}")
_AGGREGATES = ("metrics", "results/request_performance/aggregate")  # of 0.1, and since
_REQUESTS = ("total", "failures", "incomplete")
_STATISTICS = re.compile(rf"(?:{'|'.join(_AGGREGATES)})/(latency|throughput)/([^/]+)/(\w+)")
_KINDS = {
    Kind.COUNT: re.compile(rf"(?:{'|'.join(_AGGREGATES)})/requests/(?:{'|'.join(_REQUESTS)})"),
    Kind.CONCURRENCY: re.compile("scenario/load/(?:standardized/concurrency|args/max_concurrency)"),
    Kind.REQUEST_RATE: re.compile("scenario/load/(?:standardized/rate_qps|args/(?:qps_values|request_rate))"),
    Kind.DURATION: re.compile("metrics/time/duration"),
    Kind.MOMENT: re.compile("metrics/time/(?:start|stop)"),
}
_NUMBERS = re.compile(rf"(?:{'|'.join(_AGGREGATES)})/(?:latency|throughput)/[^/]+(?:/(?!units$)[^/]+)?")
_LIMITS = frozenset({"scenario/load/standardized/concurrency", "scenario/load/args/max_concurrency"})  # infinite: there is none
# As models/reference/serving_unit.sql has them.
_KNOWN_UNITS = {
    "latency": frozenset({"ms", "s", "ms/token", "s/token", "us", "ns"}),
    "throughput": frozenset({"tokens/s", "queries/s", "requests/s"}),
}
_MEDIA_RATES = frozenset({"images/s", "videos/s", "audios/s"})  # known, and in no fact
_GUIDELLM = "guidellm"
_VERSIONS = ("0.1", "0.2", "0.2.1")
# The workload: what was asked, in both versions' words. Hosts, users, identifiers and time are not in it.
_WORKLOAD_PREFIXES = ("scenario/load/standardized/", "scenario/load/args/", "scenario/load/name", "scenario/load/type")
_NOT_WORKLOAD = frozenset({"tool_version", "stage"})


def landed(bundle: Bundle, buffer: RowBuffer) -> Iterator[tuple[str, pa.RecordBatch]]:
    """Add all rows of a bundle; yields batches that are full."""
    raw_path = next(file.raw_path for file in bundle.manifest.files if file.role == REPORT)
    found: dict[str, Element] = {}
    # The report says whose run it is: first it is read, then it is landed.
    first = Report(RowBuffer({}, bundle.digest), raw_path, None)
    data = document(bundle, raw_path, first)
    uid = next((item.value for item in pairs_in(raw_path, data, first, depth=2) if item.key == "run/uid"), None)
    run = f"llm-d/{uid if _is_identifier(uid) else bundle.digest[:16]}"
    report = Report(buffer, raw_path, run)
    document(bundle, raw_path, report)
    for element in pairs_in(raw_path, data, report):
        found[str(element.key)] = element
    stated = (_entry(element, report) for element in found.values())
    entries = land_entries(buffer, "llm_d_report_entry", raw_path, run, "report", without_contradicted_zeros(stated, report))
    _check_version(entries, report)
    for aggregate in _AGGREGATES:
        total, *parts = (f"{aggregate}/requests/{name}" for name in _REQUESTS)
        check_total(entries, total, parts, report, are_all=False)  # those that succeeded are not stated
    tool = _load_tool(entries)
    unit = _request_latency_unit(entries, tool, report)
    check_statistics(_in_their_units(entries, unit), report)
    check_units(entries, (), report)
    # A request rate is not compared with the duration: what that covers differs between the tools that are converted.
    for aggregate, end in ((_AGGREGATES[0], "_tokens_per_sec"), (_AGGREGATES[1], "_token_rate/mean")):
        total, *parts = (f"{aggregate}/throughput/{which}{end}" for which in ("total", "input", "output"))
        check_sum(entries, total, parts, report)
    check_span(entries, "metrics/time/start", "metrics/time/stop", report)
    check_span(entries, "run/time/start", "run/time/end", report)
    _check_units(entries, report)
    stack = list(engines(found, report))
    for index, (element, columns) in enumerate(stack):
        buffer.add("llm_d_report_engine", raw_path, element.offset, element.length, run_id=run, engine_index=index, **columns)
    workload = _workload(found, sorted({columns["model"] for _, columns in stack if columns["model"]}))
    version = entries.get("version")
    buffer.add(
        "llm_d_report_run", raw_path, 0, bundle.manifest.by_path[raw_path].bytes,
        run_id=run, report_version=version.value if version else None, workload_point=_point(entries),
        load_tool=tool, request_latency_unit=unit,
        **named_columns(bundle.manifest.identity, raw_path), **workload_columns(workload),
    )
    yield from buffer.full()


def _is_identifier(uid: Any) -> bool:
    """Converters without an identifier write zeros."""
    return isinstance(uid, str) and bool(_UID.fullmatch(uid)) and bool(uid.strip("0-"))


def _check_version(entries: Mapping[str, Entry], report: Report) -> None:
    entry = entries.get("version")
    if entry is None or entry.value not in _VERSIONS:
        report("unknown-version", f"{entry.value if entry else 'none'}: read as the nearest known", *(entry[:3] if entry else ()))


def _entry(element: Element, report: Report) -> Entry:
    text = (json_text(element.value) or "").removeprefix(".").casefold()
    if element.key in _LIMITS and text in ("inf", "infinity"):
        return Entry(*element[:3], element.key, json_text(element.value), None)
    entry = element_entry(element, report)
    kind = next((kind for kind, keys in _KINDS.items() if keys.fullmatch(entry.key)), None)
    if kind is not None or _NUMBERS.fullmatch(entry.key):
        entry = numeric(entry, report)
    return possible(entry, report, kind)


def _check_units(entries: Mapping[str, Entry], report: Report) -> None:
    """A statistic whose unit is missing or unknown lands, and is in no fact."""
    for key, entry in entries.items():
        match = _STATISTICS.fullmatch(key)
        if match is None:
            continue
        kind, name, statistic = match.groups()
        prefix = key.removesuffix(statistic)
        if statistic == "units" and entry.value not in _KNOWN_UNITS[kind] | _MEDIA_RATES:
            report.at("unknown-unit", f"{name}: {entry.value}", entry, "error")
        elif statistic == "mean" and f"{prefix}units" not in entries:
            report.at("unknown-unit", f"{name} states none", entry, "error")


def _load_tool(entries: Mapping[str, Entry]) -> str | None:
    keys = ("scenario/load/standardized/tool", "scenario/load/name")
    return next((value for key in keys if key in entries and (value := entries[key].value)), None)


def _request_latency_unit(entries: Mapping[str, Entry], tool: str | None, report: Report) -> str | None:
    """The unit that request_latency is in. GuideLLM's own is in seconds; older converters hand it on as it is and call it ms,
    newer ones call it s (llm-d-benchmark, test_native_to_br_guidellm.py). No request is answered before its first token:
    where the time to that is the longer one, the label is that error; where it is not known, the label is open."""
    latency, first = (_means(entries, name) for name in ("request_latency", "time_to_first_token"))
    if latency.unit is None or latency.mean is None or tool is None or tool.casefold() != _GUIDELLM or latency.unit.value != "ms":
        return latency.unit.value if latency.unit else None
    known = first.mean.number if first.mean and first.unit and first.unit.value == "ms" else None
    if known and latency.mean.number is not None and latency.mean.number >= known:
        return "ms"
    unit = "s" if known else None
    told = f"taken as s: the first token came after {first.mean.value} ms" if known and first.mean else "ms or s: not known"
    message = f"request_latency of GuideLLM is {latency.mean.value} ms; {told}"
    report.at("unit-contradicted", message, latency.unit, "warning" if unit else "error")
    return unit


def _in_their_units(entries: Mapping[str, Entry], unit: str | None) -> dict[str, Entry]:
    """The entries with the unit that request_latency is in."""
    stated = _means(entries, "request_latency").unit
    return {**entries, **({stated.key: stated._replace(value=unit)} if stated else {})}


class _Stated(NamedTuple):
    unit: Entry | None
    mean: Entry | None


def _means(entries: Mapping[str, Entry], name: str) -> _Stated:
    """A latency's unit and mean, as either version places them."""
    new, old = f"results/request_performance/aggregate/latency/{name}", f"metrics/latency/{name}"
    latency = new if f"{new}/units" in entries else old
    return _Stated(entries.get(f"{latency}/units"), entries.get(f"{latency}/mean"))


def _point(entries: Mapping[str, Entry]) -> str:
    """The stage of a load in stages, else the load's type or the tool that made it."""
    stage = entries.get("scenario/load/standardized/stage")
    if stage is not None and stage.number is not None:
        return f"stage_{int(stage.number)}"
    keys = ("scenario/load/type", "scenario/load/standardized/tool", "scenario/load/name")
    return next((entries[key].value or "" for key in keys if key in entries and entries[key].value), "unstated")


def _workload(found: Mapping[str, Element], models: list[str]) -> dict[str, Any]:
    """The load as the report standardises it, and the models; what it does not state is absent."""
    load = {
        key.removeprefix("scenario/load/"): plain(element.value)
        for key, element in found.items()
        if key.startswith(_WORKLOAD_PREFIXES) and key.rpartition("/")[2] not in _NOT_WORKLOAD and element.value is not None
    }
    precision = found.get("scenario/model/quantization")
    stated = {"model": ",".join(models) or None, "precision": plain(precision.value) if precision else None}
    return {"tool": "llm-d-benchmark", "load": load, **{key: value for key, value in stated.items() if value}, **load_unit(load.items())}
