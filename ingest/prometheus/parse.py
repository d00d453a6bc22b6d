"""Turns scrapes, answers and exports into series and samples.

Only `Bundle.read` and `Bundle.map` may raise here (tampered or missing bytes); everything else becomes an issue.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from math import isfinite, isnan

import numpy as np
import pyarrow as pa

from warehouse.landing.contract import Bundle, canonical_json
from warehouse.landing.readers.exposition import Event, Exposition, Samples
from warehouse.landing.readers.text import Report, clean, number_in, whole
from warehouse.landing.rows import RowBuffer
from warehouse.landing.telemetry import NO_TIME, Series, microseconds

from .answers import AnsweredSeries
from .bundles import ANSWER, EXPORT, TEXT
from .dcgm import is_blank, is_dcgm

# In a file's name: 2026-11-25T20:46:53Z, 20261125T204653.5Z and the like. Without the Z the zone is not known.
_TIME = re.compile(
    r"(?<!\d)(\d{4})-?([01]\d)-?([0-3]\d)[T_]([0-2]\d)[-:_]?([0-5]\d)[-:_]?([0-6]\d)(?:[.,](\d{1,6}))?Z", re.ASCII
)
# The year 1973. An earlier time is one in seconds that was read as milliseconds.
_FIRST_TIME_S = 1e8
_FIRST = {  # the first time in an answer or export, and its units in a second
    ANSWER: (re.compile(rb'"(?:values?|histograms?)"\s*:\s*\[\s*\[?\s*(\d{1,12}(?:\.\d{1,9})?)'), 1),
    EXPORT: (re.compile(rb'"timestamps"\s*:\s*\[\s*(\d{1,15})'), 1000),
}
_HEAD_BYTES = 1 << 20
_LAST_TIME_S = 253_402_300_800  # the year 10000


def landed(bundle: Bundle, buffer: RowBuffer) -> Iterator[tuple[str, pa.RecordBatch]]:
    """Add all rows of a bundle; yields batches that are full."""
    series = Series(buffer, "prometheus")
    targets: dict[str, _Target] = {}
    of_answers = AnsweredSeries(series, buffer)
    for file in sorted(bundle.manifest.files, key=lambda file: (_begins_at(bundle, file.raw_path, file.role), file.raw_path)):
        report = Report(buffer, file.raw_path, None)
        if file.role == TEXT:
            name = _TIME.sub("", file.raw_path)
            target = targets.setdefault(name, _Target(series, buffer, name))
            yield from target.read(bundle, file.raw_path, report)
        else:
            read = of_answers.answer if file.role == ANSWER else of_answers.export
            for _ in read(bundle.map(file.raw_path), file.raw_path, report):
                yield from buffer.full()


def _begins_at(bundle: Bundle, raw_path: str, role: str | None) -> int:
    """When a file's samples begin, as far as its name or its first sample tells: a long range is asked for in parts, of which part-10 is not
    the second."""
    named = scraped_at(raw_path)
    if named is not None or role not in _FIRST:
        return NO_TIME if named is None else named
    pattern, per_second = _FIRST[role]
    found = pattern.search(bytes(bundle.map(raw_path)[:_HEAD_BYTES]))
    return NO_TIME if found is None else int(microseconds(np.array([float(found[1]) / per_second]))[0])


def scraped_at(raw_path: str) -> int | None:
    """Microseconds since the epoch, if the file's name states a time with its zone."""
    found = _TIME.search(raw_path.rpartition("/")[2])
    if found is None:
        return None
    year, month, day, hour, minute, second, fraction = found.groups()
    try:
        moment = datetime.fromisoformat(f"{year}-{month}-{day}T{hour}:{minute}:{second}Z")
    except ValueError:
        return None
    return round(moment.timestamp()) * 1_000_000 + int((fraction or "").ljust(6, "0"))


class _Target:
    """One target's scrapes, in the order of time."""

    def __init__(self, series: Series, buffer: RowBuffer, name: str) -> None:
        self._series, self._buffer, self._name = series, buffer, name
        self._exposition = Exposition()
        self._numbers: list[int] = []  # of the exposition's series
        self._dcgm: list[int] = []  # those of them that are DCGM's

    def read(self, bundle: Bundle, raw_path: str, report: Report) -> Iterator[tuple[str, pa.RecordBatch]]:
        scraped = scraped_at(raw_path)
        data = bundle.map(raw_path)
        if len(data) and data[-1:] != b"\n":  # both formats end each line with one
            start = data.rfind(b"\n") + 1
            report("no-line-feed-at-end", "the last line has no line feed: the text may be cut", start, len(data) - start)
        for found in self._exposition.read(data, report):
            self._add_series(found, raw_path, scraped)
            stated = np.array(found.times_s, np.float64)
            is_stated = ~np.isnan(stated)
            is_early = is_stated & (np.abs(stated) < _FIRST_TIME_S)
            if is_early.any():
                place = int(np.argmax(is_early))
                report(
                    "time-unit-unknown", f"{int(is_early.sum())} samples would be of the year 1970; without # EOF at the end times are milliseconds",
                    found.offsets[place], found.lengths[place], severity="error",
                )
            stated = np.where(is_early, np.inf, stated)  # infinity becomes a missing time
            times = np.where(is_stated, microseconds(np.where(is_stated, stated, 0)), NO_TIME if scraped is None else scraped)
            if scraped is None and not is_stated.all() and not report.has("no-scrape-time"):
                report("no-scrape-time", "neither the samples nor the file's name state a time and its zone, as 20261125T204653Z does")
            numbers = np.array(self._numbers, np.int64)[np.array(found.keys, np.int64)]
            values, offsets, lengths = np.array(found.values), np.array(found.offsets, np.int64), np.array(found.lengths, np.int64)
            blank = is_blank(values) & np.isin(numbers, self._dcgm)
            self._series.samples(raw_path, numbers, times, values, offsets, lengths, report, blank)
            for event in found.events:
                self._add_event(event, found, int(numbers[event.place]), times[event.place], raw_path)
            yield from self._buffer.full()

    def _add_series(self, found: Samples, raw_path: str, scraped: int | None) -> None:
        """The series that were new in what was just read, each with the first line that states it."""
        new = range(len(self._numbers), len(self._exposition.metrics))
        if not new:
            return
        first = {key: place for place, key in reversed(list(enumerate(found.keys)))}
        for key in new:
            metric, place = self._exposition.metrics[key], first[key]
            clock = "stated" if not isnan(found.times_s[place]) else None if scraped is None else "file name"
            self._numbers.append(self._series.add(
                metric.name, metric.labels, raw_path, found.offsets[place], found.lengths[place],
                metric_type=metric.metric_type, unit=metric.unit, target=self._name, clock=clock,
            ))
            if is_dcgm(metric.name):
                self._dcgm.append(self._numbers[-1])

    def _add_event(self, event: Event, found: Samples, number: int, time: np.int64, raw_path: str) -> None:
        place = (raw_path, found.offsets[event.place], found.lengths[event.place])
        sampled_at = None if time == NO_TIME else datetime.fromtimestamp(time / 1e6, UTC)
        if event.exemplar:
            labels, value, moment = event.exemplar
            self._buffer.add(
                "telemetry_exemplar", *place, series_number=number, sampled_at=sampled_at, value=value if isfinite(value) else None,
                labels=canonical_json({clean(key): clean(text) for key, text in labels.items()}).decode(),
                observed_at=datetime.fromtimestamp(moment, UTC) if moment is not None and 0 <= moment < _LAST_TIME_S else None,
            )
        if event.histogram is not None:
            items = {key: clean(text) for key, text in event.histogram.items()}
            count, total, schema = (number_in(items.get(key, "")) for key in ("count", "sum", "schema"))
            self._buffer.add(
                "telemetry_histogram", *place, series_number=number, sampled_at=sampled_at, count=count, sum=total,
                schema=whole(schema), document=canonical_json(items).decode(),
            )
