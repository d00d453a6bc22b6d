"""What a described file states of metrics over time: samples of series, which the telemetry tables of all families hold."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from fractions import Fraction

import numpy as np
import pyarrow as pa

from warehouse.landing.described import units
from warehouse.landing.described.expressions import Scope
from warehouse.landing.described.forms.nodes import Node
from warehouse.landing.described.forms.values import number_of, text_of
from warehouse.landing.described.layout import Metric, Telemetry
from warehouse.landing.described.moments import moment_of
from warehouse.landing.readers.records import ABSENT
from warehouse.landing.readers.text import Report, is_non_finite, kept_number
from warehouse.landing.rows import RowBuffer
from warehouse.landing.telemetry import NO_TIME, Series, microseconds_of

SOURCE = "described"  # of the names of metrics: they are canonical ones
_UNITS = {"°C": "C"}  # as staging.telemetry_unit knows them
_NOTHING = re.compile(r"\[[A-Za-z/][A-Za-z/ ]{1,60}\]?")  # in words: [N/A], [Not
_AT_ONCE = 1 << 14


@dataclass
class _Samples:
    """Samples that wait to be landed at once."""

    numbers: list[int] = field(default_factory=list)
    times: list[int] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    places: list[Node] = field(default_factory=list)


class Landing:
    """Lands the samples of one file, in its order."""

    def __init__(self, telemetry: Telemetry, raw_path: str, buffer: RowBuffer, report: Report) -> None:
        self._telemetry, self._raw_path, self._buffer, self._report = telemetry, raw_path, buffer, report
        self._series = Series(buffer, SOURCE)
        self._numbers: dict[tuple[str, tuple[tuple[str, str], ...]], int] = {}
        self._moments: dict[str, tuple[datetime, bool] | None] = {}
        self._waiting = _Samples()

    def rows(self, root: Node) -> Iterator[tuple[str, pa.RecordBatch]]:
        count = 0
        for scope in self._telemetry.each.scopes(Scope(root, "")):
            if self._telemetry.where is None or self._telemetry.where.holds(scope):
                count += 1
                self._record(scope)
                if len(self._waiting.numbers) >= _AT_ONCE:
                    self._flush()
                    yield from self._buffer.full()
        self._flush()
        if not count:
            self._report("no-records", f"no record in {self._telemetry.each.text}", root.start, 0, severity="error")

    def _record(self, scope: Scope) -> None:
        node = self._telemetry.at.value.one(scope)
        text = None if node is None else text_of(node.value)
        if text not in self._moments:
            self._moments[text or ""] = moment_of((text or "").strip(), self._telemetry.at)
        moment = self._moments[text or ""]
        if moment is None:
            self._report.at("not-a-time", f"at: {text or 'none is stated'}"[:200], node or scope.node, "error")
        named = {name: text_of(found.value) for name, each in self._telemetry.labels.items() if (found := each.one(scope)) is not None}
        labels = {name: value for name, value in named.items() if value}
        for metric in self._telemetry.series:
            for each in metric.each.scopes(scope) if metric.each else (scope,):
                if metric.when is None or metric.when.holds(each):
                    self._sample(metric, each, moment, labels)

    def _sample(self, metric: Metric, scope: Scope, moment: tuple[datetime, bool] | None, labels: dict[str, str]) -> None:
        node, named = metric.value.one(scope), metric.name.one(scope)
        name = None if named is None else text_of(named.value)
        if node is None or not name:
            return
        stated_in = None if metric.stated_in is None else metric.stated_in.one(scope)
        by = Fraction(1) if metric.stated_in is None else units.factor(text_of(stated_in.value) or "" if stated_in else "", metric.unit)
        if by is None:
            self._report.at("unknown-unit", f"{name}: the unit that is stated is not known"[:200], node, "error")
            return
        key = name, tuple(labels.items())
        if key not in self._numbers:
            clock = None if moment is None else "zone assumed" if moment[1] else "stated"
            self._numbers[key] = self._series.add(
                name, labels, self._raw_path, node.start, node.length, metric_type=metric.kind, unit=_UNITS.get(metric.unit, metric.unit), clock=clock
            )
        self._waiting.numbers.append(self._numbers[key])
        self._waiting.times.append(NO_TIME if moment is None else microseconds_of(moment[0]))
        self._waiting.values.append(self._number(node, name, by))
        self._waiting.places.append(node)

    def _number(self, node: Node, name: str, by: Fraction) -> float:
        """NaN for a value that is missing, in words such as [N/A], or that is no number, which is told."""
        number = number_of(node.value)
        if number is not None:
            kept = kept_number(number, node.value, name, node, self._report) if isinstance(node.value, str) else number
            return float("nan") if kept is None else kept if by == 1 else float(kept * by)
        text = (text_of(node.value) or "").strip()
        if text.casefold() not in ABSENT - {"nan"} and not _NOTHING.fullmatch(text):
            self._report.at("non-finite-number" if is_non_finite(text) else "not-a-number", f"{name[:80]}: {text}"[:200], node, "error")
        return float("nan")

    def _flush(self) -> None:
        waiting, self._waiting = self._waiting, _Samples()
        values = np.array(waiting.values, np.float64)
        offsets, lengths = (np.array([getattr(node, what) for node in waiting.places], np.int64) for what in ("start", "length"))
        numbers, times = np.array(waiting.numbers, np.int64), np.array(waiting.times, np.int64)
        self._series.samples(self._raw_path, numbers, times, values, offsets, lengths, self._report, np.isnan(values))
