"""Turns a repeat set into landing rows: its documents, each run's lines, then one row a run.

Only `Bundle.read` and `Bundle.map` may raise here (tampered or missing bytes); everything else becomes an issue.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from warehouse.landing.consistency import check_identity
from warehouse.landing.contract import Bundle
from warehouse.landing.readers.entries import element_entry
from warehouse.landing.readers.json_text import json_pairs
from warehouse.landing.readers.text import Entry, Report
from warehouse.landing.rows import RowBuffer, coded, landing_batch, repeated

from . import TABLES
from .bundles import UNKNOWN, repeat_set, result_names
from .layout import scaling_mode_of, usage_of
from .lines import marked_lines
from .mllog import Event, Events, Plain, read_events
from .workload import is_of_workload, workload_of

_Batches = Iterator[tuple[str, pa.RecordBatch]]

# What a log states of itself, and where the path states it.
_IDENTITY = {"submission_org": "submitter", "submission_benchmark": "benchmark"}
_EVENT, _STAT = "mlperf_training_event", "mlperf_training_stat"
_POWER = frozenset({"power_measurement_start", "power_measurement_stop", "power_reading", "conversion_eff", "interconnect_power_est"})
_FEW_TEXTS = frozenset({"event_type", "key", "status", "metric", "producer", "stat"})  # columns
_WAITING_ROWS = 20_000
_ONCE = frozenset({"run_start", "run_stop"})  # mlcommons/logging's checker asks for exactly one of each
# What begins each interval that a phase's duration is taken from.
_INTERVALS = {f"{phase}_{edge}": f"{phase}_start" for phase in ("init", "eval") for edge in ("start", "stop")}
_POSITIVE = frozenset({"train_step_time", "throughput"})  # statistics, as mlperf_training_stat_unit.sql has them
_NO_TIME = -1
_FEWEST_TIMES = 5  # that differ: logs of fewer lines may go alike by chance


@dataclass
class _Run:
    """A run under way: what its lines have stated so far, first statement of each key."""

    run_id: str
    raw_path: str
    result_name: str
    repeat_index: int
    event_count: int = 0
    stated: dict[str, Event] = field(default_factory=dict)
    begun: dict[str, Event] = field(default_factory=dict)  # the last start of each interval
    times: list[NDArray[np.int64]] = field(default_factory=list)  # of all lines
    refusal: str | None = None  # the code of the issue for which no result is taken from the log
    copy_of: str | None = None  # the run of the set whose log this one copies

    @property
    def clock(self) -> tuple[int, int] | None:
        """When the run started and stopped, where the log states both."""
        start, stop = (self.stated.get(key) for key in ("run_start", "run_stop"))
        if start is None or stop is None or start.time_ms is None or stop.time_ms is None:
            return None
        return start.time_ms, stop.time_ms


def landed(bundle: Bundle, buffer: RowBuffer) -> _Batches:
    """Add all rows of a bundle; yields batches that are full."""
    identity = bundle.manifest.identity
    by_role: dict[str, list[str]] = {"result_log": [], "scaling": [], "system": [], "power_node": [], "power_sw": []}
    for raw_path, file in sorted(bundle.manifest.by_path.items()):
        if file.role in by_role:
            by_role[file.role].append(raw_path)
    for source in ("scaling", "system"):
        for raw_path in by_role[source]:
            _document(bundle, buffer, raw_path, source, identity)
    folders = tuple(by_role["result_log"][0].split("/")[:-1]) if by_role["result_log"] else ()
    group = repeat_set(dict(identity), bundle.digest[:12], folders)
    plain: Plain = set()
    runs: list[_Run] = []
    waiting: list[tuple[_Run, Events]] = []
    waiting_rows = 0
    for index, (raw_path, name) in enumerate(result_names(by_role["result_log"]).items(), 1):
        run = _Run(f"{group}/{name}", raw_path, name, index)
        runs.append(run)
        for events in _log(bundle, buffer, run, plain):
            waiting.append((run, events))
            waiting_rows += len(events.rows)
            if waiting_rows >= _WAITING_ROWS:
                yield from _batches(waiting, bundle.digest)
                waiting, waiting_rows = [], 0
            yield from buffer.full()
    yield from _batches(waiting, bundle.digest)
    for role in ("power_node", "power_sw"):
        for raw_path in by_role[role]:
            run_of = {run.raw_path.rpartition(".")[0].rpartition("/")[2]: run.run_id for run in runs}
            _power(bundle, buffer, raw_path, role, run_of.get(raw_path.split("/")[-2]))
            yield from buffer.full()
    _add_runs(bundle, buffer, runs, group, identity)


def _document(bundle: Bundle, buffer: RowBuffer, raw_path: str, source: str, identity: Mapping[str, Any]) -> None:
    report = Report(buffer, raw_path, None)
    data = bundle.read(raw_path)
    has_factor = False
    for entry in _entries(data, report):
        buffer.add(
            "mlperf_training_entry", raw_path, entry.offset, entry.length,
            source=source, key=entry.key, value=entry.value, value_number=entry.number, line_number=entry.line_number,
        )
        if source == "system" and entry.key == "submitter":
            _check_identity("submitter", entry, identity, report)
        elif source == "scaling" and entry.key == "scaling_factor":
            has_factor = True
            if not (entry.number and entry.number > 0):
                report.at("not-a-number", f"scaling_factor: {entry.value}", entry, "error")
    if source == "scaling" and not has_factor:  # the result was to be scaled, by an unknown factor
        report("no-scaling-factor", "the file says no scaling_factor", 0, len(data), 1, "error")
        buffer.add("mlperf_training_entry", raw_path, 0, len(data), source=source, key="scaling_factor", line_number=1)


def _entries(data: bytes, report: Report) -> Iterator[Entry]:
    """The pairs of a document, and those of an object in it, also of one that is the only element of an array."""
    for element in json_pairs(data, report, depth=2):
        entry = element_entry(element, report)
        stated = data[entry.offset : entry.offset + entry.length]
        start, stop = stated.find(b"{"), stated.rfind(b"}") + 1
        if entry.value is None or not entry.value.startswith("[{") or stated.count(b"{") > 1:
            if entry.value is None and element.value is not None:
                report.at("value-too-large", entry.key[:120], entry, "note")
            yield entry
            continue
        line_number = (entry.line_number or 1) + stated.count(b"\n", 0, start)
        for pair in json_pairs(stated[start:stop], report, start=(entry.offset + start, line_number)):
            yield element_entry(pair._replace(key=f"{entry.key}/{pair.key}"), report)


def _log(bundle: Bundle, buffer: RowBuffer, run: _Run, plain: Plain) -> Iterator[Events]:
    data = bundle.map(run.raw_path)
    report = Report(buffer, run.raw_path, run.run_id)
    if len(data) == 0:
        report("empty-log", "the file has no bytes", severity="error")
    for lines in marked_lines(data, report):
        events = read_events(lines, len(data), plain, report)
        run.event_count += len(events.rows)
        run.times.append(np.array([_NO_TIME if time is None else time for time in events.times], np.int64))
        _note(run, events, bundle.manifest.identity, report)
        _check_statistics(events, report)
        yield events
    if len(data) and not run.event_count:
        report("no-log-line", "no :::MLLOG line could be read", severity="error")
    elif run.event_count and "run_stop" not in run.stated:
        report("truncated-log", "the log ends before its run_stop", severity="error")
    _check_clock(run, report)


def _power(bundle: Bundle, buffer: RowBuffer, raw_path: str, role: str, run_id: str | None) -> None:
    """The lines of one device's power log."""
    data = bundle.map(raw_path)
    report = Report(buffer, raw_path, run_id)
    found = False
    for lines in marked_lines(data, report):
        for event in read_events(lines, len(data), set(), report).wanted(_POWER.__contains__):
            found = True
            if event.key == "power_reading" and event.value_number is None:
                report.at("not-a-number", f"power_reading: {event.value}", event, "error")
            buffer.add(
                "mlperf_training_power", raw_path, event.offset, event.length, run_id=run_id, device=raw_path.rpartition("/")[2].rpartition(".")[0],
                is_switch=role == "power_sw", line_number=event.line_number, time_ms=event.time_ms, key=event.key, value_number=event.value_number,
            )
    if not found:
        report("no-power", "the log states no power", severity="error")


def _check_clock(run: _Run, report: Report) -> None:
    """Refuse a log whose clock did not run forward from its run_start to its run_stop."""
    stop = run.stated.get("run_stop")
    if stop is None:
        return
    code = message = None
    if "run_start" not in run.stated:
        code, message = "no-run-start", "the log has a run_stop and no run_start: no result is taken from it"
    elif run.clock is None:  # the line was reported
        run.refusal = run.refusal or "malformed-time"
    elif run.clock[1] <= run.clock[0]:
        seconds = (run.clock[0] - run.clock[1]) / 1000
        apart = f"{seconds:g} s before" if seconds else "in the same millisecond as"
        code, message = "impossible-duration", f"run_stop is {apart} run_start: no result is taken from the log"
    if code and message:
        report.at(code, message, stop, "error")
        run.refusal = run.refusal or code


def _note(run: _Run, events: Events, identity: Mapping[str, Any], report: Report) -> None:
    """Keep the first statement of each key that is about the whole run; report contradictions."""
    for event in events.wanted(_is_noted):
        key = event.key
        if key in _INTERVALS:
            _check_interval(run, event, report)
            continue
        first = run.stated.setdefault(key, event)
        if first is event:
            if key in _IDENTITY:
                _check_identity(_IDENTITY[key], event, identity, report)
        elif key in _ONCE:
            name = key.replace("_", "-")
            if (first.time_ms, first.status) == (event.time_ms, event.status):
                code, message = f"repeated-{name}", f"line {first.line_number} is the same {key}: the log contains something twice"
            else:
                code, message = f"several-{name}s", f"line {first.line_number} is another {key}: the log is of more than one run"
            report.at(code, f"{message}; no result is taken from it", event, "error")
            run.refusal = run.refusal or code


def _check_interval(run: _Run, event: Event, report: Report) -> None:
    """Report an initialisation or evaluation that ends before it begins."""
    began = run.begun.get(_INTERVALS[event.key])
    if began is None or event.key == _INTERVALS[event.key]:
        run.begun[event.key] = event
    elif event.time_ms is not None and began.time_ms is not None and event.time_ms < began.time_ms:
        seconds = (began.time_ms - event.time_ms) / 1000
        message = f"{event.key} is {seconds:g} s before the {began.key} in line {began.line_number}: no duration is taken from it"
        report.at("impossible-duration", message, event, "error")


def _check_statistics(events: Events, report: Report) -> None:
    """Report statistics that cannot be: a step of no time, a rate of nothing."""
    for index, (stat, number) in enumerate(zip(events.stats, events.stat_numbers, strict=True)):
        if number is not None and number <= 0 and stat in _POSITIVE:
            row = events.stat_rows[index]
            report(
                "impossible-statistic", f"{stat} is {events.stat_values[index]}: it is not used", events.lines.offsets[row],
                events.lines.length(row), events.lines.numbers[row], "error",
            )


def _is_noted(key: str) -> bool:
    return key in _INTERVALS or key in _IDENTITY or key in _ONCE or is_of_workload(key)


def _check_identity(part: str, stated: Entry | Event, identity: Mapping[str, Any], report: Report) -> None:
    if identity[part] is not None:
        check_identity(part, stated.value, identity[part], stated, report)


def _batches(found: Sequence[tuple[_Run, Events]], digest: str) -> _Batches:
    """The rows of some runs' events, many at once: an array a column for each small log took a quarter of the time."""
    for table, columns_of in ((_EVENT, Events.event_columns), (_STAT, Events.stat_columns)):
        parts = [columns_of(events) for _, events in found]
        run_of_row = np.repeat(np.arange(len(parts)), [len(part["line_number"]) for part in parts])
        if not len(run_of_row):
            continue
        columns = {
            "run_id": coded([run.run_id for run, _ in found], run_of_row),
            "raw_path": coded([run.raw_path for run, _ in found], run_of_row),
            "artifact_manifest_digest": repeated(digest, len(run_of_row)),
        }
        for name, kind in zip(TABLES[table].names, TABLES[table].types, strict=True):
            if name not in columns:
                array = pa.array(list(chain.from_iterable(part[name] for part in parts)), kind)
                columns[name] = array.dictionary_encode() if name in _FEW_TEXTS else array
        yield table, landing_batch([columns[name] for name in TABLES[table].names], TABLES[table])


def _add_runs(bundle: Bundle, buffer: RowBuffer, runs: list[_Run], group: str, identity: Mapping[str, Any]) -> None:
    """The runs, each in its repeat set. Logs that only lie together, in no submission's layout, are a set a benchmark; one
    that names none is of the only one there is."""
    named = [run.stated.get("submission_benchmark") for run in runs]
    benchmarks = [identity["benchmark"] or (event.value if event else None) for event in named]
    is_mixed = len(set(benchmarks) - {None}) > 1
    folders = tuple(runs[0].raw_path.split("/")[:-1]) if runs else ()
    _mark_copies(buffer, runs, is_weak=scaling_mode_of(folders) == "weak")
    for run, benchmark in zip(runs, benchmarks, strict=True):
        _add_run(bundle, buffer, run, f"{group}/{benchmark or UNKNOWN}" if is_mixed else group, benchmark, identity)


def _mark_copies(buffer: RowBuffer, runs: list[_Run], *, is_weak: bool) -> None:
    """Refuse the logs that copy another one of the folder, whatever was changed besides the times: two runs do not start and
    stop in the same milliseconds, but for models that are trained together by the hundred, and the lines of two runs do not
    follow each other at the same intervals."""
    found: dict[tuple[Any, ...], _Run] = {}
    for run in runs:
        times = np.concatenate(run.times) if run.times else np.array([], np.int64)
        traits: list[tuple[Any, ...]] = []
        if run.clock is not None and not is_weak:
            traits.append(run.clock)
        if len(np.unique(times)) >= _FEWEST_TIMES:
            traits.append((len(times), (times - times[0]).tobytes()))
        first = next((found[trait] for trait in traits if trait in found), None)
        if first is None:
            found.update(dict.fromkeys(traits, run))
            continue
        run.copy_of, run.refusal = first.run_id, "copied-log"
        stop = run.stated.get("run_stop")
        what = "the same start and stop" if run.clock is not None and run.clock == first.clock else "the same times between all lines"
        message = f"the log has {what} as {first.raw_path.rpartition('/')[2]}: it is a copy and not another run; the set has no result"
        buffer.issue(
            run.refusal, message, run.raw_path, stop.offset if stop else 0, stop.length if stop else 0, severity="error",
            run_id=run.run_id, line_number=stop.line_number if stop else None,
        )


def _add_run(
    bundle: Bundle, buffer: RowBuffer, run: _Run, group: str, benchmark: str | None, identity: Mapping[str, Any]
) -> None:
    raw_offset, raw_length = _place(bundle, run)
    buffer.add(
        "mlperf_training_run", run.raw_path, raw_offset, raw_length,
        run_id=run.run_id, repeat_set=group, usage=identity.get("usage") or usage_of(benchmark),
        round=identity["round"], submitter=identity["submitter"],
        platform=identity["platform"], benchmark=benchmark, scaling_mode=scaling_mode_of(tuple(run.raw_path.split("/")[:-1])),
        result_name=run.result_name, repeat_index=run.repeat_index,
        event_count=run.event_count, refusal=run.refusal, copy_of=run.copy_of, **workload_of(benchmark, run.stated),
    )


def _place(bundle: Bundle, run: _Run) -> tuple[int, int]:
    """The lines that state the workload; the whole file where there are none."""
    stated = [event for key, event in run.stated.items() if key not in _ONCE]
    if not stated:
        return 0, bundle.manifest.by_path[run.raw_path].bytes
    start = min(event.offset for event in stated)
    return start, max(event.offset + event.length for event in stated) - start
