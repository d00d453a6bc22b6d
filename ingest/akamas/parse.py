"""Turns a study into trials, their parameters and aggregates, and the points of their metrics.

Only `Bundle.read` and `Bundle.map` may raise here (tampered or missing bytes); everything else becomes an issue.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pyarrow as pa

from warehouse.landing.contract import Bundle
from warehouse.landing.readers.json_stream import JsonStream
from warehouse.landing.readers.json_text import json_number, json_text
from warehouse.landing.readers.records import Record, shown
from warehouse.landing.readers.text import MAX_KEY_CHARACTERS, Data, Place, Report, clean, landed_text
from warehouse.landing.rows import RowBuffer, workload_columns
from warehouse.landing.telemetry import Series, microseconds_of

from .bundles import POINTS, QUERIES, STUDY
from .queries import unit_of

_Parameters = Mapping[int, Mapping[str, Any]]  # of each experiment


def landed(bundle: Bundle, buffer: RowBuffer) -> Iterator[tuple[str, pa.RecordBatch]]:
    """Add all rows of a bundle; yields batches that are full."""
    queries: dict[str, str] = {}
    for file in bundle.manifest.files:
        report = Report(buffer, file.raw_path, None)
        if file.role == STUDY:
            yield from _Study(buffer, file.raw_path, report).read(bundle.map(file.raw_path))
        elif file.role == QUERIES:
            queries |= _queries(bundle.map(file.raw_path), report)
    series = Series(buffer, "akamas")
    for file in bundle.manifest.files:
        if file.role == POINTS:
            _points(bundle.map(file.raw_path), file.raw_path, series, queries, Report(buffer, file.raw_path, None))
            yield from buffer.full()


class _Study:
    """One `study.json`."""

    def __init__(self, buffer: RowBuffer, raw_path: str, report: Report) -> None:
        self._buffer, self._raw_path, self._report = buffer, raw_path, report

    def read(self, data: Data) -> Iterator[tuple[str, pa.RecordBatch]]:
        study = Record({}, self._report.flag(Place(0, 0)))
        parameters: dict[int, Mapping[str, Any]] = {}
        with JsonStream(data, self._report) as stream:
            for pair in stream.pairs():
                if pair.key == "study":
                    found = stream.value()
                    study = Record(found if isinstance(found, dict) else {}, self._report.flag(Place(pair.offset, 0)))
                elif pair.key == "experiments":
                    for _, _, record in stream.objects():
                        experiment = record.count("id")
                        if experiment is not None:
                            parameters[experiment] = _configuration(record)
        with JsonStream(data, self._report) as stream:  # trials may come before the experiments that they are of
            for pair in stream.pairs():
                if pair.key == "trials":
                    for offset in stream.elements():
                        self._trial(stream, offset, study, parameters)
                        yield from self._buffer.full()

    def _trial(self, stream: JsonStream, offset: int, study: Record, parameters: _Parameters) -> None:
        stated: dict[str, Any] = {}
        aggregates: list[tuple[int, int, str, Any]] = []
        for pair in stream.pairs():
            if pair.key == "aggregatedMetrics":
                for of_metric in stream.pairs():
                    found = stream.value()
                    aggregates.append((of_metric.offset, stream.offset - of_metric.offset, of_metric.key, found))
            else:
                stated[pair.key] = stream.value()
        place = Place(offset, stream.offset - offset, stream.line_number(offset))
        record = Record(stated, self._report.flag(place))
        experiment, trial = record.count("experiment"), record.count("id")
        study_id = record.text("study") or study.text("id")
        if study_id is None or experiment is None or trial is None:
            self._report.at("missing-key", "a trial without its study, experiment or id", place, "error")
            return
        run = run_id(study_id, experiment, trial)
        chosen = parameters.get(experiment, {})
        goal = study.within("goal")
        self._buffer.add(
            "akamas_trial", self._raw_path, place.offset, place.length, run_id=run, study_id=study_id, study_name=study.text("name"),
            experiment=experiment, trial=trial, state=record.text("state"), state_message=record.text("statusMessage"),
            started_at=_moment(record, "startTimestamp"), ended_at=_moment(record, "endTimestamp"),
            window_start=_moment(record, "windowStartTimestamp"), window_end=_moment(record, "windowEndTimestamp"),
            score=record.number("score"), is_baseline=experiment == study.count("baselineExperiment"),
            **workload_columns({
                "tool": "akamas", "study": study_id, "objective": goal.text("objective"), "goal": goal.within("function").text("formula"),
            }),
        )
        for key, value in chosen.items():
            self._value(run, "parameter", key, value, place.offset, place.length)
        for start, length, metric, found in aggregates:
            for statistic, value in found.items() if isinstance(found, dict) else ():
                self._value(run, "result", f"{metric}/{statistic}", value, start, length)

    def _value(self, run: str, kind: str, key: str, value: Any, offset: int, length: int) -> None:
        text = json_text(value)
        self._buffer.add(
            "akamas_value", self._raw_path, offset, length, run_id=run, kind=kind, key=clean(key)[:MAX_KEY_CHARACTERS],
            value_text=None if text is None else landed_text(text), value_number=json_number(value),
        )


def run_id(study: str, experiment: int, trial: int) -> str:
    return f"akamas/{clean(study)[:MAX_KEY_CHARACTERS]}/{experiment}/{trial}"


def _configuration(experiment: Record) -> Mapping[str, Any]:
    """The parameters that an experiment ran with: those that a person set, else those that the optimiser chose."""
    for which in ("manualConfiguration", "suggestedConfiguration"):
        found = experiment.within(which, "parameters").values
        if found:
            return {key: value.get("value") if isinstance(value, dict) else value for key, value in found.items()}
    return {}


def _moment(record: Record, key: str) -> datetime | None:
    text = record.text(key)
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        record.flag("malformed-time", f"{key}: {text[:80]}")
        return None
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)


def _queries(data: Data, report: Report) -> dict[str, str]:
    """The PromQL of each metric."""
    found = {}
    with JsonStream(data, report) as stream:
        for pair in stream.pairs():
            if pair.key == "metrics":
                for _, _, record in stream.objects():
                    metric, query = record.text("metric"), record.values.get("datasourceMetric")
                    if metric is not None and isinstance(query, str) and record.number("scale") in (None, 1.0):
                        found[metric] = query
    return found


def _points(data: Data, raw_path: str, series: Series, queries: Mapping[str, str], report: Report) -> None:
    """The points of one file. A point that belongs to several trials is a sample of each."""
    numbers: dict[tuple[str | None, str, tuple[tuple[str, str], ...]], int] = {}
    rows: list[tuple[int, int, float, int, int]] = []
    with JsonStream(data, report) as stream:
        for offset, length, record in stream.objects():
            metric, value = record.text("metric"), record.number("value")
            moment = _moment(record, "timestamp")
            if metric is None or moment is None:
                if metric is None:
                    record.flag("missing-key", "a point without its metric")
                continue
            labels = {key: str(text) for key, text in record.within("labels").values.items() if isinstance(text, (str, int, float))}
            for run in _runs(record):
                key = run, metric, tuple(sorted(labels.items()))  # a study may keep a query's labels, such as the GPU
                if key not in numbers:
                    query = queries.get(metric)
                    numbers[key] = series.add(
                        metric, labels, raw_path, offset, length, unit=unit_of(query) if query else None, run_id=run, clock="zone assumed",
                    )
                time = microseconds_of(moment)
                rows.append((numbers[key], time, float("nan") if value is None else value, offset, length))
    if rows:
        columns = list(zip(*rows, strict=True))
        of, times, offsets, lengths = (np.array(columns[index], np.int64) for index in (0, 1, 3, 4))
        series.samples(raw_path, of, times, np.array(columns[2], np.float64), offsets, lengths, report)


def _runs(record: Record) -> list[str | None]:
    tags = record.values.get("studyExperimentTrialIds")
    found: list[str | None] = []
    for tag in tags if isinstance(tags, list) else []:
        stated = Record(tag if isinstance(tag, dict) else {}, record.flag)
        study, experiment, trial = stated.text("study"), stated.count("experiment"), stated.count("trial")
        if study is None or experiment is None or trial is None:
            record.flag("malformed-tag", f"not a study, experiment and trial: {shown(tag)}")
        else:
            found.append(run_id(study, experiment, trial))
    return found or [None]
