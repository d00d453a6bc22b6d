"""Turns a bundle into landing rows: its documents first, then each run's files, then one row a run.

Only `Bundle.read` and `Bundle.map` may raise here (tampered or missing bytes); everything else becomes an issue.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from warehouse.landing.consistency import check_identity
from warehouse.landing.contract import Bundle
from warehouse.landing.readers.entries import land_entry
from warehouse.landing.readers.json_text import json_entries
from warehouse.landing.readers.text import Data, Entry, Report
from warehouse.landing.rows import RowBuffer, workload_columns
from warehouse.landing.severity import ERROR, NOTE, WARNING

from .bundles import run_id
from .conf import conf_entries
from .layout import AUTOMOTIVE, INFERENCE, RUN_ROLES, Place, RunFolder, canonical_scenario, place_of, run_folder
from .logs import accuracy_entries, detail_entries, summary_entries, verification_entries
from .results import (
    Question,
    contradicted_throughput,
    contradictions,
    impossible_latencies,
    is_deciding,
    is_impossible,
    is_same,
    judged,
    lacking,
    not_inferable,
    on_errors,
    quantity,
    uniform,
)
from .text import first
from .workload import STATED_KEYS, Stated, workload_document

_Batches = Iterator[tuple[str, pa.RecordBatch]]

_ENTRY_SOURCES: dict[str, tuple[str, Callable[..., Iterator[Entry]]]] = {
    "summary_log": ("summary", summary_entries),
    "detail_log": ("detail", detail_entries),
    "accuracy_report": ("accuracy", accuracy_entries),
    "verification": ("verify", verification_entries),
    "system": ("system", json_entries),
    "measurement": ("measurement", json_entries),
    "user_conf": ("user_conf", conf_entries),
    "power_client": ("power_client", lambda data, report: json_entries(data, report, scalars_only=True)),
    "power_server": ("power_server", lambda data, report: json_entries(data, report, scalars_only=True)),
}
_JSON_ROLES = frozenset({"system", "measurement", "power_client", "power_server"})
_ERROR_COUNTS = ("errors encountered", "num_errors")  # of a summary, of a detail log
_CUT = ("truncated-log", "truncated-log-line", "empty-log")
_MODES = {"performance": "Performance", "ranging": "Performance", "accuracy": "Accuracy"}  # later with `Only` behind them


@dataclass
class _Run:
    """A run under way: its folder, its files as (raw_path, role), and what its logs state."""

    run_id: str
    folder: RunFolder
    files: list[tuple[str, str]] = field(default_factory=list)
    stated: Stated = field(default_factory=dict)
    results: dict[tuple[str, str], Entry] = field(default_factory=dict)  # the first statement of what decides a result
    errors: dict[str, list[Entry]] = field(default_factory=dict)  # by raw_path: the detail log's errors, the summary's count
    conflicting: set[str] = field(default_factory=set)  # the logs, by raw_path, that state a result twice
    refusal: str | None = None  # the code of the issue that says why no result is taken from this run
    summary_refusal: str | None = None  # the same of its summary, where the detail log has the result
    has_detail: bool = False  # whether a detail log states anything
    numbers: dict[str, float | None] = field(default_factory=dict)  # of both logs, NULL where a statement is no number

    def path_of(self, role: str) -> str | None:
        return next((path for path, found in self.files if found == role), None)

    def refuse(self, code: str, source: str) -> None:
        """Take nothing from a log. The submission checker reads the detail log: a bad summary beside it takes no result away."""
        if source == "summary" and self.has_detail:
            self.summary_refusal = self.summary_refusal or code
        else:
            self.refusal = self.refusal or code


@dataclass
class _Parse:
    """One bundle's parse: where rows go and what all of its runs share."""

    bundle: Bundle
    buffer: RowBuffer
    identity: Mapping[str, Any]
    weight_data_types: str | None = None
    suite: str | None = None  # the system's: datacenter, edge or both

    @property
    def benchmark_suite(self) -> str:
        return str(self.identity.get("benchmark_suite", INFERENCE))

    @property
    def scenario(self) -> str:
        scenario = canonical_scenario(self.identity["scenario"])
        return "ConstantStream" if scenario == "Server" and self.benchmark_suite == AUTOMOTIVE else scenario


def landed(bundle: Bundle, buffer: RowBuffer) -> _Batches:
    """Add all rows of a bundle; yields batches that are full."""
    parse = _Parse(bundle, buffer, bundle.manifest.identity)
    documents, runs = _sorted_out(parse)
    for raw_path, role, run in documents:
        yield from _document(parse, raw_path, role, run)
    for run in runs:
        for raw_path, role in run.files:
            yield from _run_file(parse, run, raw_path, role)
        _check_run(parse, run)
    _add_runs(parse, runs)


def _sorted_out(parse: _Parse) -> tuple[list[tuple[str, str, _Run | None]], list[_Run]]:
    """The bundle's documents and its runs, both in the order of their paths."""
    runs: dict[str, _Run] = {}
    documents: list[tuple[str, str, str | None]] = []
    for raw_path in sorted(parse.bundle.manifest.by_path):
        place = place_of(tuple(raw_path.split("/")))
        role = place.role if place else None
        if place is None or role is None:
            continue
        folder = run_folder(place.folders[3:]) if place.kind in ("results", "compliance") else None
        if role in RUN_ROLES:
            _add_run_file(parse, runs, folder, place, role)
        else:
            documents.append((raw_path, role, folder.path if folder else None))
    return [(path, role, runs.get(run or "")) for path, role, run in documents], [runs[path] for path in sorted(runs)]


def _add_run_file(parse: _Parse, runs: dict[str, _Run], folder: RunFolder | None, place: Place, role: str) -> None:
    if folder is None:
        message = "a run's file outside of a run's folder: whose result it is is not known"
        parse.buffer.issue("unknown-run-folder", message, place.raw_path, severity=ERROR)
        return
    name = run_id(parse.identity, folder.path, parse.bundle.digest[:12])
    runs.setdefault(folder.path, _Run(name, folder)).files.append((place.raw_path, role))


def _document(parse: _Parse, raw_path: str, role: str, run: _Run | None) -> _Batches:
    report = Report(parse.buffer, raw_path, run.run_id if run else None)
    for entry in _entries(parse, raw_path, role, report):
        _add_entry(parse, raw_path, role, run.run_id if run else None, entry)
        if role == "system" and entry.key in ("submitter", "division"):
            check_identity(entry.key, entry.value, parse.identity[entry.key], entry, report)
        elif role == "system" and entry.key == "system_type":
            parse.suite = entry.value
        elif role == "measurement" and entry.key == "weight_data_types":
            _set_weights(parse, entry, report)
        yield from parse.buffer.full()


def _run_file(parse: _Parse, run: _Run, raw_path: str, role: str) -> _Batches:
    report = Report(parse.buffer, raw_path, run.run_id)
    if role == "power_samples":
        yield from _power(parse, run, raw_path, report)
        return
    source = _ENTRY_SOURCES[role][0]
    in_log: dict[str, Entry] = {}  # what decides a result: a compliance test's folder may have the logs of more than one run
    for entry in _entries(parse, raw_path, role, report):
        if source in ("summary", "detail") and is_deciding(source, entry.key) and is_impossible(entry):
            message = f"{entry.key} is {(entry.value or '')[:80]}, which nothing can have; it is not used"
            report.at("impossible-value", message, entry, WARNING)
            entry = entry._replace(number=None)
        _add_entry(parse, raw_path, role, run.run_id, entry)
        if (source, entry.key) in STATED_KEYS:
            run.stated.setdefault((source, entry.key), (entry.value, entry.number))
        if source in ("summary", "detail"):
            _note(run, raw_path, source, entry, in_log, report)
        yield from parse.buffer.full()
    if source in ("summary", "detail") and (code := next((code for code in _CUT if report.has(code)), None)):
        run.refuse(code, source)


def _note(run: _Run, raw_path: str, source: str, entry: Entry, in_log: dict[str, Entry], report: Report) -> None:
    run.has_detail = run.has_detail or source == "detail"
    run.numbers[uniform(entry.key)] = entry.number
    if entry.is_error or (entry.key in _ERROR_COUNTS and entry.number and not run.errors.get(raw_path)):
        run.errors.setdefault(raw_path, []).append(entry)
    if not is_deciding(source, entry.key):
        return
    run.results.setdefault((source, entry.key), entry)
    before = in_log.setdefault(quantity(entry.key), entry)
    if is_same(before, entry) or raw_path in run.conflicting:
        return
    run.conflicting.add(raw_path)
    # The checker takes the last value of a summary up to v0.7 and the first of a detail log from v1.0 on: neither is the result.
    run.refuse("conflicting-results", source)
    there, here = ((stated.value or "")[:80] for stated in (before, entry))
    message = f"{before.key} is {there} on line {before.line_number} and {'' if before.key == entry.key else f'{entry.key} '}{here} here"
    message += ": the log is of more than one run or was changed"
    report.at("conflicting-results", f"{message}; no result is taken from it", entry, ERROR)


def _entries(parse: _Parse, raw_path: str, role: str, report: Report) -> Iterator[Entry]:
    data: Data = parse.bundle.read(raw_path) if role in _JSON_ROLES else parse.bundle.map(raw_path)
    if len(data) == 0 and role in RUN_ROLES:
        report("empty-log", "the file has no bytes", severity="error")
    return _ENTRY_SOURCES[role][1](data, report)


def _add_entry(parse: _Parse, raw_path: str, role: str, run: str | None, entry: Entry) -> None:
    source = _ENTRY_SOURCES[role][0]
    land_entry(parse.buffer, "mlperf_inference_entry", raw_path, run, source, entry, logged_ms=entry.logged_ms)


def _power(parse: _Parse, run: _Run, raw_path: str, report: Report) -> _Batches:
    from .power import samples  # with pyarrow.compute, 90 ms: few bundles have power logs

    data = parse.bundle.map(raw_path)
    if len(data) == 0:
        report("empty-log", "the file has no bytes", severity="error")
    yield from parse.buffer.add_all("mlperf_inference_power_sample", raw_path, samples(data, report), run_id=run.run_id)


def _set_weights(parse: _Parse, entry: Entry, report: Report) -> None:
    if parse.weight_data_types is None:
        parse.weight_data_types = (entry.value or "").strip() or None
    elif entry.value is not None and entry.value.strip() != parse.weight_data_types:
        message = f"{entry.value[:80]!r} here, {parse.weight_data_types[:80]!r} in an earlier file, which is taken"
        report.at("conflicting-weight-data-types", message, entry)


def _logged(run: _Run, *names: tuple[str, str]) -> str | None:
    return (first(run.stated, *names) or (None, None))[0]


def _logged_scenario(run: _Run) -> str | None:
    """In loadgen's spelling today: of old it wrote `Single Stream`."""
    names = (("summary", "Scenario"), ("detail", "effective_scenario"), ("detail", "requested_scenario"))
    logged = _logged(run, *names)
    return canonical_scenario(logged.replace(" ", "")) if logged is not None else None


def _check_run(parse: _Parse, run: _Run) -> None:
    raw_path = run.path_of("summary_log") or run.path_of("detail_log")
    if raw_path is None:
        return
    for code, message, severity in contradictions(run.results):
        parse.buffer.issue(code, message, raw_path, severity=severity, run_id=run.run_id)
    _check_detail(parse, run)
    asked_for = Question(
        parse.scenario, _logged_scenario(run) or parse.scenario, parse.identity["round"], parse.suite, parse.benchmark_suite == AUTOMOTIVE
    )
    is_result = run.folder.mode == "performance"
    if asked_for.is_inferred:
        message = f"the log says {asked_for.logged[:80]!r}, the folder {parse.identity['scenario']!r}"
        if fault := not_inferable(asked_for):
            message += f": {fault}" + ("; there is no result" if is_result else "")
            severity = ERROR if is_result else WARNING
            parse.buffer.issue("scenario-mismatch", message, raw_path, severity=severity, run_id=run.run_id)
        else:
            message += ", which the rules let be inferred from it"
            parse.buffer.issue("scenario-inferred", message, raw_path, severity=NOTE, run_id=run.run_id)
    if is_result:
        for code, message, severity in judged(asked_for, run.results, run.numbers):
            parse.buffer.issue(code, message, raw_path, severity=severity, run_id=run.run_id)
        _check_figures(parse, run, raw_path)
    _check_mode(parse, run, raw_path)
    _check_errors(parse, run)


def _check_detail(parse: _Parse, run: _Run) -> None:
    """A detail log that was cut at the end of a line. Up to v0.7 it is not JSON, and nothing is read of it."""
    raw_path = run.path_of("detail_log")
    if raw_path is None or not run.has_detail:
        return
    is_performance = run.folder.mode == "performance" and "Accuracy" not in (_logged(run, ("detail", "effective_test_mode")) or "")
    if lacks := lacking(run.results, run.numbers, _logged(run, ("detail", "loadgen_version")), is_performance):
        run.refusal = run.refusal or "truncated-log"
        message = f"the detail log ends before {lacks}: no result is taken from it"
        size = parse.bundle.manifest.by_path[raw_path].bytes
        parse.buffer.issue("truncated-log", message, raw_path, size, severity=ERROR, run_id=run.run_id)


def _check_figures(parse: _Parse, run: _Run, raw_path: str) -> None:
    found = list(impossible_latencies(run.results))
    if _logged_scenario(run) == "Offline" and (issue := contradicted_throughput(run.results, run.numbers)):
        found.append(issue)
    for code, message, severity in found:
        parse.buffer.issue(code, message, raw_path, severity=severity, run_id=run.run_id)


def _check_mode(parse: _Parse, run: _Run, raw_path: str) -> None:
    """In accuracy mode a load generator measures no performance; what other modes state of it was measured."""
    stated = (_logged(run, name) for name in (("summary", "Mode"), ("detail", "effective_test_mode")))
    expected = _MODES.get(run.folder.mode)
    for mode in dict.fromkeys(mode for mode in stated if mode is not None):
        if expected is None or mode.removesuffix("Only") == expected:
            continue
        message, severity = f"the log says {mode[:80]!r}, the folder is one of {run.folder.mode} runs", WARNING
        if run.folder.mode == "performance" and mode.removesuffix("Only") == "Accuracy":
            message += ": the load generator measures no performance in that mode, and there is no result"
            severity = ERROR
            run.refusal = run.refusal or "mode-mismatch"
        parse.buffer.issue("mode-mismatch", message, raw_path, severity=severity, run_id=run.run_id)


def _check_errors(parse: _Parse, run: _Run) -> None:
    """One issue a log: at the first error of a detail log, at the count of a summary where the detail log has none."""
    logs = [(path, role) for path, role in run.files if path in run.errors]
    for raw_path, role in [log for log in logs if log[1] == "detail_log"] or logs:
        entry, *others = run.errors[raw_path]
        count, text = 1 + len(others), f": {(entry.value or entry.key)[:200]}"
        if entry.key in _ERROR_COUNTS:
            count, text = int(entry.number or 0), ""
        decides = run.folder.mode == "performance" and not (role == "summary_log" and run.has_detail)
        message, severity = on_errors(count, text, parse.identity["round"], decides)
        if severity == ERROR:
            run.refusal = run.refusal or "loadgen-errors"
        parse.buffer.issue(
            "loadgen-errors", message, raw_path, entry.offset, entry.length,
            severity=severity, line_number=entry.line_number, run_id=run.run_id,
        )


def _add_runs(parse: _Parse, runs: list[_Run]) -> None:
    performance = [run for run in runs if run.folder.mode == "performance"]
    supported = next((run for run in performance if run.folder.name.casefold() == "run_1"), None)
    supported = supported or next(iter(performance), None)
    for run in runs:
        document = workload_document(parse.identity["benchmark"], parse.scenario, parse.weight_data_types, run.stated)
        raw_path = next(path for role in ("summary_log", "detail_log", None) if (path := _lead(run, role)))
        parse.buffer.add(
            "mlperf_inference_run", raw_path, 0, parse.bundle.manifest.by_path[raw_path].bytes,
            run_id=run.run_id, benchmark_suite=parse.benchmark_suite, round=parse.identity["round"],
            **{part: parse.identity[part] for part in ("division", "submitter", "platform", "benchmark")},
            scenario_folder=parse.identity["scenario"], scenario=parse.scenario,
            logged_scenario=_logged_scenario(run), mode=run.folder.mode, run_name=run.folder.name,
            supports_run_id=supported.run_id if supported and run.folder.mode != "performance" else None,
            refusal=run.refusal, summary_refusal=run.summary_refusal,
            has_detail_log=run.path_of("detail_log") is not None,
            has_summary_log=run.path_of("summary_log") is not None,
            has_power_log=run.path_of("power_samples") is not None,
            **workload_columns(document),
        )


def _lead(run: _Run, role: str | None) -> str | None:
    return run.files[0][0] if role is None else run.path_of(role)
