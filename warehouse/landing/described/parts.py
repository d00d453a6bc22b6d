"""The parts of a run that are rows of their own: its requests, and the points that tests of a fabric measured."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from warehouse.digest import bytes_digest
from warehouse.landing.contract import canonical_json
from warehouse.landing.described import numbers
from warehouse.landing.described.expressions import Scope
from warehouse.landing.described.forms.values import text_of
from warehouse.landing.described.layout import Metric, Moment, Rows
from warehouse.landing.described.moments import moment_of
from warehouse.landing.described.tables import COUNTS, FABRIC_TABLE, REQUEST_TABLE
from warehouse.landing.readers.entries import is_count
from warehouse.landing.readers.records import ABSENT
from warehouse.landing.readers.text import Report, clean
from warehouse.landing.rows import RowBuffer

_MOST_CHARACTERS = 500


def add_requests(requests: Rows, run: str, scopes: list[Scope], raw_path: str, buffer: RowBuffer, report: Report) -> tuple[int, int]:
    """Add the requests of a run: how many there are, and how many of them failed. One with an error has failed; without a word on failures none
    has a status."""
    count, failed = 0, 0
    is_told = "error" in requests.texts or any(name == "failed" for name, _ in requests.statuses)
    for scope in _elements(requests, scopes):
        columns = _columns(requests, scope, report)
        status = next((name for name, condition in requests.statuses if condition.holds(scope)), None)
        status = status or ("failed" if columns.get("error") else "succeeded" if is_told else None)
        started = _moment(requests.started_at, scope, report) if requests.started_at else None
        columns |= {"request_index": count, "status": status, "started_at": started}
        buffer.add(REQUEST_TABLE, raw_path, scope.node.start, scope.node.length, run_id=run, **columns)
        count, failed = count + 1, failed + (status == "failed")
    return count, failed


def add_points(fabric: Rows, run: str, scopes: list[Scope], reason: str | None, raw_path: str, buffer: RowBuffer, report: Report) -> int:
    """Add the tests of a run, one for each text that its points have as `test`, and the points: how many were measured. `reason`: the run failed."""
    tests: dict[str | None, list[dict[str, Any]]] = {}
    for scope in _elements(fabric, scopes):
        columns = _columns(fabric, scope, report)
        points = tests.setdefault(columns.get("test"), [])
        columns |= {"test_index": [*tests].index(columns.get("test")) + 1, "point_index": len(points) + 1}
        columns["status"] = "failed" if any(condition.holds(scope) for _, condition in fabric.statuses) else "measured"
        points.append({"scope": "point", **columns})
        buffer.add(FABRIC_TABLE, raw_path, scope.node.start, scope.node.length, run_id=run, **points[-1])
    measured = 0
    for number, (test, points) in enumerate((tests or {_text(fabric, "test", scopes[0]): []}).items(), 1):
        figures = [{name: value for name, value in point.items() if value is not None} for point in points if point["status"] == "measured"]
        why_not = reason or (None if figures else "no point was measured")
        measured += len(figures)
        buffer.add(
            FABRIC_TABLE, raw_path, scopes[0].node.start, scopes[-1].node.stop - scopes[0].node.start, run_id=run, scope="test", test=test,
            test_index=number, status="failed" if why_not else "measured", status_reason=why_not,
            figures_digest=bytes_digest(canonical_json(figures)) if figures else None, rank_count=points[0].get("rank_count") if points else None,
        )
    return measured


def _elements(rows: Rows, scopes: list[Scope]) -> Iterator[Scope]:
    for scope in scopes:
        for each in rows.each.scopes(scope) if rows.each else (scope,):
            if rows.when is None or rows.when.holds(each):
                yield each


def _columns(rows: Rows, scope: Scope, report: Report) -> dict[str, Any]:
    found: dict[str, Any] = {name: _text(rows, name, scope) for name in rows.texts}
    for metric in rows.numbers:
        assert metric.column
        if metric.when is None or metric.when.holds(scope):
            found[metric.column] = _number(metric, metric.column, scope, report)
    return found


def _number(metric: Metric, column: str, scope: Scope, report: Report) -> float | int | None:
    if column in COUNTS and metric.stated_in is None:
        return numbers.count(metric.value, scope, report)
    node = metric.value.one(scope)
    by = None if node is None else numbers.factor(metric, scope, node, report)
    found = None if node is None or by is None else numbers.number(node, column, by, report)
    if column not in COUNTS or found is None:
        return found
    counted = round(found)  # 0.977 KiB are 1000 bytes
    if is_count(float(counted)) and bool(counted) == bool(found):
        return counted
    report.at("impossible-count", f"{column}: {found:.15g}", node or scope.node, "error")
    return None


def _text(rows: Rows, name: str, scope: Scope) -> str | None:
    node = rows.texts[name].one(scope) if name in rows.texts else None
    text = None if node is None else text_of(node.value)
    return None if text is None or text.strip().casefold() in ABSENT else clean(text)[:_MOST_CHARACTERS]


def _moment(stated: Moment, scope: Scope, report: Report) -> datetime | None:
    node = stated.value.one(scope)
    text = None if node is None else text_of(node.value)
    if node is None or text is None or text.strip().casefold() in ABSENT:
        return None
    moment = moment_of(text.strip(), stated)
    if moment is None:
        report.at("not-a-time", f"started_at: {text}"[:200], node, "error")
        return None
    return moment[0]
