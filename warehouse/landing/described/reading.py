"""What a described file states, as landing rows: its runs, their parameters, and each number with the bytes that state it.

A value that is not there is no row. One that is there and cannot be used is an issue at its place. A record that the description refuses is
an issue, and no run.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from datetime import datetime
from fractions import Fraction
from typing import Any

import pyarrow as pa

from warehouse.digest import bytes_digest, file_hasher
from warehouse.landing.contract import Bundle
from warehouse.landing.described import numbers, parts, telemetry, units
from warehouse.landing.described.expressions import Expression, Path, Scope
from warehouse.landing.described.forms.nodes import Node, Number, Numbers
from warehouse.landing.described.forms.sources import CSV, JSON, JSON_LINES, MAX_BYTES, SQL, TEXT, XML, json_tree, lines_tree, table_tree, text_tree
from warehouse.landing.described.forms.sql import sql_tree
from warehouse.landing.described.forms.values import elements, number_of, text_of
from warehouse.landing.described.forms.xml import read_xml
from warehouse.landing.described.layout import Check, Description, Layout, Metric
from warehouse.landing.described.moments import moment_of
from warehouse.landing.described.tables import (
    HARDWARE_COUNTS,
    PARAMETER,
    RESULT,
    RUN_TABLE,
    SERVED,
    VALUE_TABLE,
    WORKLOAD_COLUMNS,
)
from warehouse.landing.readers.records import ABSENT
from warehouse.landing.readers.text import MAX_KEY_CHARACTERS, Data, Report, clean, kept_number, landed_text, loss_of, report_cut
from warehouse.landing.rows import RowBuffer, workload_columns
from warehouse.landing.severity import disagreement

_Batches = Iterator[tuple[str, pa.RecordBatch]]
_NO_NUMBER = ABSENT - {"nan"}
_VALUES = (
    "raw_offset", "raw_length", "run_id", "kind", "key", "sample", "value_type", "value_text", "value_number", "unit", "better", "summary",
)
_VALUES_AT_ONCE = 1 << 14
_EXACT = 2**53


def tree_of(description: Description, layout: Layout, form: str, data: Data, report: Report) -> Node | None:
    """A file as a tree; None, and an issue, where it is damaged."""
    if len(data) > MAX_BYTES and form in (JSON, XML, SQL):
        report("document-too-large", f"{len(data)} bytes", 0, len(data), severity="error")
        return None
    if form == JSON:
        return json_tree(data, report)
    if form == XML:
        return read_xml(bytes(data), report)
    if form == SQL:
        return sql_tree(bytes(data), report)
    if form == JSON_LINES:
        return lines_tree(data, report)
    if form == CSV:
        found = table_tree(data, report, description.dialect, description.columns(layout))
        if found is None and not report.has("duplicate-column"):
            report("no-header", "no row has the required columns", severity="error")
        return found
    return text_tree(data, report, description.patterns)


def landed(description: Description, layout: Layout, form: str, data: Data, bundle: Bundle, raw_path: str, buffer: RowBuffer) -> _Batches:
    """Add the rows of one file; yields batches that are full."""
    report = Report(buffer, raw_path, None)
    root = tree_of(description, layout, form, data, report)
    if root is None:
        return
    if form in (CSV, TEXT):
        report_cut(data, report)
    if form == CSV:
        _report_columns(layout, root, report)
    if layout.telemetry is not None:
        yield from telemetry.Landing(layout.telemetry, raw_path, buffer, report).rows(root)
    if not layout.has_runs:
        return
    names = _Names(description.name, layout, data if form == TEXT else None)
    reader = _Runs(description, layout, raw_path, buffer, report)
    for scopes in runs_of(layout, root, report):
        reader.land(scopes, names)
        if reader.is_full:
            reader.flush()
        yield from buffer.full()
    reader.flush()
    where = f" where {layout.where.text}" if layout.where else ""
    if not names.count and not report.has("refused-record"):
        report("no-records", f"{description.name}: no record in {layout.each.text}{where}", 0, len(data), severity="error")


def _report_columns(layout: Layout, root: Node, report: Report) -> None:
    """Note the columns of metrics that a table does not have, and of telemetry those that nothing reads: they may have another name there."""
    columns = root.value[0].value if root.value else {}
    read = [path for metric in layout.metrics for each in (metric.value, metric.when) if each for path in each.paths]
    read += [path for _, each in layout.parameters if isinstance(each, Expression) for path in each.paths]
    read += [path for rows in (layout.requests, layout.fabric) if rows and not rows.each for each in rows.read for path in each.paths]
    names = [path.steps[0][1] for path in read if path.steps and path.steps[0][0] == "key" and not path.start]
    for name in dict.fromkeys(names):
        if columns and name not in columns and not name.startswith("@"):
            report("no-column", str(name)[:120], root.start, 0, 1, "note")
    if layout.telemetry is not None and not layout.has_runs:  # which has many columns that a file may not have
        known = {path.steps[0][1] for path in layout.telemetry.paths if path.steps}
        for name in columns:
            if name not in known:
                report("unread-column", "a column without a name" if name == "None" else name[:120], root.start, 0, 1, "note")


def runs_of(layout: Layout, root: Node, report: Report) -> Iterator[list[Scope]]:
    """The records of each run, in the order of the file. Records with the same values of `group` are one run."""
    if not layout.has_runs:  # but telemetry alone
        return
    groups: dict[tuple[str | None, ...], list[Scope]] = {}
    for number, scope in enumerate(layout.each.scopes(Scope(root, ""))):
        if layout.where is not None and not layout.where.holds(scope):
            continue
        refused = next((reason for when, reason in layout.refusals if when.holds(scope)), None)
        if refused is not None:
            report.at("refused-record", _text(refused, scope) or refused.text, scope.node, "error")
            continue
        key = tuple(_text(each, scope) for each in layout.group) if layout.group else (str(number),)
        groups.setdefault(key, []).append(scope)
    yield from groups.values()


class _Names:
    """Names the runs of a file in their order: by what the evidence states, else by a digest of what the records of the run say. A digest is of
    values, not of bytes: a record has one name in every layout, and in every file that repeats it. Of equal records the second is another run, `/2`.

    `text` is a file of lines. What a program prints is often rounded and without a time, so two executions may print equal lines: the name
    is also of all that the file states up to the record, which stays the same in a file that grows.
    """

    def __init__(self, family: str, layout: Layout, text: Data | None) -> None:
        self._family, self._text = family, text
        self._outside = list(_outside(layout))
        self._read, self._stop = file_hasher(), 0
        self._seen: dict[str, int] = {}
        self.count = 0

    def __call__(self, stated: str | None, scopes: list[Scope], report: Report) -> str:
        self.count += 1
        name = f"{self._family}/{clean(stated)[:200] if stated else self._digest(scopes)}"
        self._seen[name] = self._seen.get(name, 0) + 1
        if self._seen[name] == 1:
            return name
        if stated:
            report.at("duplicate-run", f"{name} is stated {self._seen[name]} times", scopes[0].node, "warning")
        return f"{name}/{self._seen[name]}"

    def _digest(self, scopes: list[Scope]) -> str:
        first = scopes[0]
        said: list[Any] = [[_plain(scope.node) for scope in scopes]]
        for each, path in self._outside:
            scope = first if each is None else next(each.scopes(first), None)
            said.append([_plain(node) for node in path.nodes(scope)] if scope else None)
        if self._text is not None:
            said.append(self._before(first.node.stop))
        return bytes_digest(json.dumps(said, sort_keys=True, separators=(",", ":")).encode())[:16]

    def _before(self, stop: int) -> str:
        """A digest of the words of a text up to a byte."""
        assert self._text is not None
        if stop < self._stop:  # the records of another path begin
            self._read, self._stop = file_hasher(), 0
        for word in bytes(self._text[self._stop : stop]).split():
            self._read.update(word + b" ")
        self._stop = stop
        return self._read.hexdigest()


def _outside(layout: Layout) -> Iterator[tuple[Path | None, Path]]:
    """The paths of a description that lead out of the record, or read the key that it was found by; of a metric that has one with its `each`."""
    named = (layout.workload, layout.software, layout.hardware, layout.source, layout.texts)
    of_run = [
        *layout.group, *(each for some in named for each in some.values()), *(moment.value for moment in layout.moments.values()),
        *((layout.duration_s.value, layout.duration_s.stated_in) if layout.duration_s else ()),
        layout.reason, *(condition for _, condition in layout.failed_if), layout.serving_point,
        *(each for _, each in layout.parameters),
    ]
    for path in _leading_out(of_run):
        yield None, path
    for metric in layout.metrics:
        for path in _leading_out((metric.each, metric.name, metric.value, metric.stated_in, metric.unit_from, metric.when)):
            yield None if path is metric.each else metric.each, path
    for rows in filter(None, (layout.requests, layout.fabric)):
        for path in _leading_out((rows.each, rows.when, *rows.read)):
            yield None if path is rows.each else rows.each, path


def _leading_out(read: Iterable[Expression | Path | None]) -> Iterator[Path]:
    paths = (path for each in read if each for path in ((each,) if isinstance(each, Path) else each.paths))
    return (path for path in paths if path.start or ("key", "@key") in path.steps)


def _plain(node: Node) -> Any:
    """A value as JSON, without its place and its layout."""
    value = node.value
    if type(value) is Number and (number := number_of(value)) and -_EXACT < number < _EXACT:  # as most are: nothing is lost
        return number
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if (several := elements(node)) is not None:
        return [_plain(each) for each in several]
    if isinstance(value, Number) and (number := number_of(value)) is not None and loss_of(value) is None:
        return number
    return value


class _Runs:
    """Lands the runs of one file, one after another. Their values wait as tuples of `_VALUES`, to become columns at once."""

    def __init__(self, description: Description, layout: Layout, raw_path: str, buffer: RowBuffer, report: Report) -> None:
        self._description, self._layout, self._raw_path, self._buffer, self._report = description, layout, raw_path, buffer, report
        self._values: list[tuple[Any, ...]] = []
        self._moments: dict[tuple[str, str], tuple[datetime, bool] | None] = {}

    @property
    def is_full(self) -> bool:
        return len(self._values) >= _VALUES_AT_ONCE

    def flush(self) -> None:
        if self._values:
            columns = dict(zip(_VALUES, zip(*self._values, strict=True), strict=True))
            self._buffer.add_columns(VALUE_TABLE, self._raw_path, columns.pop("raw_offset"), columns.pop("raw_length"), **columns)
            self._values = []

    def land(self, scopes: list[Scope], names: _Names) -> None:
        self._measured, self._has_metric = 0, False  # values of metrics, and whether there are any metrics
        layout, first = self._layout, scopes[0]
        texts = {key: _text(each, first) for key, each in layout.texts.items()}
        run = names(_text(layout.id, first) if layout.id else None, scopes, self._report)
        parameters = self._parameters(run, first)
        self._metrics(run, scopes)
        if layout.requests is not None:
            requests, failures = parts.add_requests(layout.requests, run, scopes, self._raw_path, self._buffer, self._report)
            self._measured, self._has_metric = self._measured + requests - failures, self._has_metric or requests > 0
        if layout.fabric is not None:
            failed = next((reason or status for status, reason in [self._status(first, scopes)] if status in ("failed", "invalid")), None)
            points = parts.add_points(layout.fabric, run, scopes, failed, self._raw_path, self._buffer, self._report)
            self._measured, self._has_metric = self._measured + points, self._has_metric or points > 0
        status, reason = self._status(first, scopes)
        if not self._has_metric and status != "failed":
            self._report.at("no-metric", "the record states no metric of the description", first.node)
        start, stop = min(each.node.start for each in scopes), max(each.node.stop for each in scopes)
        if (case := texts.pop("case")) is None:
            case = layout.texts["case"].filled(first, "unstated")
            self._report.at("no-case", f"{layout.texts['case'].text} is {case}: {numbers.why_missing(layout.texts['case'], first)}"[:300], first.node)
        workload = {name: value for name, each in layout.workload.items() if (value := _text(each, first)) is not None}
        document = {"tool": self._description.name, "case": case, "parameters": parameters, "workload": workload}
        started, is_assumed = self._moment("started_at", first)
        ended, _ = self._moment("ended_at", first)
        columns: dict[str, Any] = {name: self._short(text) for each in (layout.software, layout.source) for name, text in _texts(each, first)}
        columns |= self._hardware(first)
        columns["is_dirty"] = {"true": True, "false": False}.get(str(columns.pop("is_dirty", None)))
        columns |= {name: workload.get(name) for name in WORKLOAD_COLUMNS}
        self._buffer.add(
            RUN_TABLE, self._raw_path, start, stop - start, run_id=run, family=self._description.name, benchmark_case_id=self._short(case),
            component=self._short(texts.pop("component", None)),
            component_version=texts.pop("component_version", None), node_name=texts.pop("node", None), cluster=texts.pop("cluster", None),
            section=f"{start}+{stop - start}" if not layout.each.is_file else None, status=status, status_reason=reason, started_at=started,
            ended_at=ended, is_zone_assumed=is_assumed, duration_s=self._duration(first),
            serving_point=_text(layout.serving_point, first) if layout.serving_point else None,
            concurrency_point=numbers.count(point, first, self._report) if (point := layout.workload.get("concurrency_point")) else None,
            **columns, **workload_columns(document),
        )
        for check in layout.checks:
            self._compare(check, first)

    def _short(self, text: str | None) -> str | None:
        return None if text is None else clean(text)[:500]

    def _hardware(self, scope: Scope) -> dict[str, Any]:
        return {
            name: numbers.count(each, scope, self._report) if name in HARDWARE_COUNTS else self._short(_text(each, scope))
            for name, each in self._layout.hardware.items()
        }

    def _parameters(self, run: str, scope: Scope) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name, each in self._layout.parameters:
            if isinstance(each, Expression):
                pairs: Iterable[tuple[str, Node]] = [(str(name), node) for node in each.of(scope)]
            elif each.keys:
                pairs = [(name or each.keys[-1], node) for node in each.nodes(scope)]
            else:
                pairs = ((other.key if each.steps[-1][0] == "each" else _last(each.steps), other.node) for other in each.scopes(scope))
            for key, node in pairs:
                value = node.value
                text = str(value) if isinstance(value, str) else self._json(node) if isinstance(value, (dict, list, Numbers)) else text_of(value)
                key = clean(key)[:MAX_KEY_CHARACTERS]
                if key in found and text is not None and found[key] != (text := clean(text)):
                    self._report.at("several-values", f"{key[:80]}: {found[key]}, and {text}: a run has one, the first"[:200], node)
                if key in found or text is None and value is not None:
                    continue
                found[key] = None if text is None else clean(text)
                self._value(run, PARAMETER, key, 1, node, None)
        return found

    def _json(self, node: Node) -> str:
        several = elements(node)
        if several is None:
            if isinstance(node.value, dict):
                return ", ".join(f"{key}={self._json(each)}" for key, each in sorted(node.value.items()))
            return text_of(node.value) or ""
        return ", ".join(map(self._json, several))

    def _value(
        self, run: str, kind: str, key: str, sample: int, node: Node, metric: Metric | None, number: float | None = None, unit: str | None = None
    ) -> None:
        value = node.value
        if isinstance(value, str):
            text: str | None = value
        else:
            text = self._json(node) if isinstance(value, (dict, list, Numbers)) else None if isinstance(value, float) else text_of(value)
        if metric is None and type(value) is Number:
            number = number_of(value)
            if number is None:
                self._report.at("non-finite-number", f"{key[:80]}: {value}"[:200], node, "error")
            elif not number:
                number = kept_number(number, value, key, node, self._report)
        value_type = "number" if number is not None else "null" if value is None else "boolean" if isinstance(value, bool) else "string"
        better, summary = (metric.better, metric.summary) if metric else (None, None)
        text = None if text is None else landed_text(text)
        self._values.append((node.start, node.stop - node.start, run, kind, key, sample, value_type, text, number, unit, better, summary))

    def _metrics(self, run: str, scopes: list[Scope]) -> None:
        samples: dict[tuple[str, str], int] = {}  # of each metric, by kind and key
        for metric in self._layout.metrics:
            for scope in scopes:
                for each in metric.each.scopes(scope) if metric.each else (scope,):
                    if metric.when is None or metric.when.holds(each):
                        self._metric(run, metric, each, samples)
        self._has_metric = bool(samples)

    def _metric(self, run: str, metric: Metric, scope: Scope, samples: dict[tuple[str, str], int]) -> None:
        nodes = metric.value.of(scope)
        name = _text(metric.name, scope)
        if name is None:
            return
        nodes = nodes or self._not_computed(metric, name, scope)
        if not nodes:
            return
        kind = RESULT if metric.column is None else SERVED
        key = metric.column or clean(name)[:MAX_KEY_CHARACTERS]
        factors = numbers.factors(metric, scope, nodes, self._report)
        unit: str | None = metric.unit
        if metric.unit_from is not None and (unit := units.unit_of(_text(metric.unit_from, scope) or "")) is None:
            self._report.at("unknown-unit", f"{key}: {_text(metric.unit_from, scope) or 'no unit is stated'}"[:200], nodes[0], "error")
            return
        unit = None if unit == "1" else unit
        for node, by in zip(nodes, factors, strict=True):
            if by is None:
                continue
            if isinstance(node.value, Numbers):
                self._add_samples(run, kind, key, node.value, metric, by, samples, unit)
                continue
            for one in elements(node) or (node,):
                number = numbers.number(one, key, by, self._report)
                samples[kind, key] = samples.get((kind, key), 0) + 1
                self._measured += number is not None
                self._value(run, kind, key, samples[kind, key], one, metric, number, unit)

    def _not_computed(self, metric: Metric, name: str, scope: Scope) -> list[Node]:
        """For a metric that is computed of values, of which one is no number: that one, without a value."""
        if not metric.value.is_computed:
            return []
        found = [each for path in metric.value.paths for node in path.nodes(scope) for each in elements(node) or [node]]
        bad = [node for node in found if number_of(node.value) is None]
        for node in bad:
            numbers.number(node, name, Fraction(1), self._report)
        return [node._replace(value=None) for node in bad[:1]]

    def _add_samples(
        self, run: str, kind: str, key: str, value: Numbers, metric: Metric, by: Fraction, samples: dict[tuple[str, str], int], unit: str | None
    ) -> None:
        """Many samples at once."""
        nodes = value.nodes()
        if by != 1 or len(nodes) < 8:
            found = [numbers.number(node, key, by, self._report) for node in nodes]
        else:
            found = [number if 0 < abs(number := float(node.value)) < 2**53 else numbers.number(node, key, by, self._report) for node in nodes]
        first = samples.get((kind, key), 0)
        samples[kind, key] = first + len(nodes)
        self._measured += sum(number is not None for number in found)
        self._values += [
            (node.start, node.length, run, kind, key, place, "number", landed_text(node.value), number, unit, metric.better, metric.summary)
            for place, (node, number) in enumerate(zip(nodes, found, strict=True), first + 1)
        ]

    def _status(self, first: Scope, scopes: list[Scope]) -> tuple[str, str | None]:
        for status, condition in self._layout.failed_if:
            for scope in scopes:
                if condition.holds(scope):
                    reason = _text(self._layout.reason, scope) if self._layout.reason else None
                    return status, self._short(reason)
        return self._layout.status or ("succeeded" if self._measured else "unknown"), None

    def _duration(self, scope: Scope) -> float | None:
        duration = self._layout.duration_s
        node = duration.value.one(scope) if duration else None
        by = numbers.factor(duration, scope, node, self._report) if duration and node is not None else None
        number = None if node is None or by is None else numbers.number(node, "duration_s", by, self._report)
        if node is not None and number is not None and number <= 0:
            self._report.at("impossible-duration", f"duration_s: {number:g}", node, "error")
            return None
        return number

    def _moment(self, key: str, scope: Scope) -> tuple[datetime | None, bool | None]:
        stated = self._layout.moments.get(key)
        node = stated.value.one(scope) if stated else None
        text = None if node is None else text_of(node.value)
        if stated is None or node is None or text is None or text.strip().casefold() in ABSENT:
            return None, None
        if (key, text) not in self._moments:
            self._moments[key, text] = moment_of(text.strip(), stated)
        moment = self._moments[key, text]
        if moment is None:
            self._report.at("not-a-time", f"{key}: {text}"[:200], node, "error")
            return None, None
        return moment

    def _compare(self, check: Check, scope: Scope) -> None:
        one, other = check.stated.one(scope), check.of.one(scope)
        first, second = number_of(one.value) if one else None, number_of(other.value) if other else None
        if check.stated_in is not None and check.of_in is not None:
            stated_in, of_in = (_text(each, scope) or "no unit" for each in (check.stated_in, check.of_in))
            by = units.factor(of_in, stated_in)
            if by is None and first is not None and second is not None and one is not None:
                self._report.at("unknown-unit", f"{check.stated.text} in {stated_in}, {check.of.text} in {of_in}: they cannot be compared"[:300], one)
            second = None if second is None or by is None else second * float(by)
        if one is None or first is None or second is None or math.isclose(first, second, rel_tol=check.tolerance, abs_tol=1e-12):
            return
        severity, apart = disagreement(first, second)
        message = f"{check.stated.text} is {first:.15g}, {check.of.text} is {second:.15g}: {apart}"
        self._report.at("statement-disagrees", message[:300], one, severity)


def _last(steps: tuple[tuple[str, Any], ...]) -> str:
    return next((str(name) for kind, name in reversed(steps) if kind == "key"), "value")


def _text(each: Expression | None, scope: Scope) -> str | None:
    """The text of an expression; of several values all, joined."""
    if each is None:
        return None
    nodes = each.of(scope)
    if len(nodes) == 1 and isinstance(text := nodes[0].value, str):
        return text or None
    found = [text for node in nodes for one in elements(node) or (node,) if (text := text_of(one.value))]
    return ", ".join(dict.fromkeys(found)) or None


def _texts(named: Any, scope: Scope) -> Iterator[tuple[str, str | None]]:
    return ((name, _text(each, scope)) for name, each in named.items())
