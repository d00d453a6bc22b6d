"""Which records of InferenceX restate a run of AIPerf.

InferenceX (`process_agentic_result.py`) computes its agentic records from AIPerf's requests: means, linear percentiles and
population deviations of the requests that succeeded, in seconds. AIPerf's summary states the same statistics, with a unit. A
record restates a summary if the counts are equal, every statistic that both state agrees to the last digit written, and
enough of them are written with digits that no second run repeats. Where the files lie proves nothing.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any, NamedTuple

from warehouse.landing.contract import Tree

from .units import MILLISECONDS

_MARKS = (b'"num_requests_successful"', b'"hw"', b'"framework"')
_MAX_BYTES = 64 << 20
_HEAD_BYTES = 1 << 16
# By the names in a record: AIPerf's metric, and whether it is a time.
_METRICS = {
    "ttft": ("time_to_first_token", True), "e2el": ("request_latency", True), "tpot": ("inter_token_latency", True),
    "itl": ("inter_token_latency", True), "input_tokens": ("input_sequence_length", False),
    "output_tokens_actual": ("output_sequence_length", False),
}
_STATISTICS = {"mean": "avg", "median": "p50", "p50": "p50", "p75": "p75", "p90": "p90", "p95": "p95", "p99": "p99", "std": "std"}
_NESTED = {"input_tokens": ("tokens", "input"), "output_tokens_actual": ("tokens", "output_actual")}
_ENOUGH = 6  # statistics written with enough digits
_TELLING_DIGITS = 5
_EXACT = Decimal("1e-9")  # of sums in another order


class Restatement(NamedTuple):
    """A record that restates a run: the file's path, and the record's number in it, from 0."""

    path: str
    number: int
    is_of_list: bool


def restatements(tree: Tree, summaries: list[str]) -> dict[str, list[Restatement]]:
    """The records in the tree that restate each of AIPerf's summaries, single records first. A record that several summaries
    agree with, which then are copies, is given to the nearest."""
    records = list(_records(tree)) if summaries else []
    stated = {path: statistics for path in summaries if records and (statistics := _statistics(tree, path))}
    by_count: dict[Decimal, list[str]] = defaultdict(list)
    for path, statistics in stated.items():
        by_count[statistics["request_count", "avg"]].append(path)
    found: dict[str, list[Restatement]] = defaultdict(list)
    for place, record in records:
        same = [path for path in by_count.get(record["num_requests_successful"], ()) if _is_same(record, stated[path])]
        if same:
            found[min(same, key=lambda path: (-_shared_folders(path, place.path), path))].append(place)
    return {path: sorted(places, key=lambda place: (place.is_of_list, place)) for path, places in found.items()}


def _records(tree: Tree) -> Iterator[tuple[Restatement, Mapping[str, Any]]]:
    for path, file in tree.files.items():
        if not path.endswith(".json") or file.bytes > _MAX_BYTES:
            continue
        head = tree.head(path, _HEAD_BYTES)
        found = _decoded(tree.head(path, _MAX_BYTES)) if all(mark in head for mark in _MARKS) else None
        elements = elements_of(found)
        records = [record for record in ([found] if elements is None else elements) if isinstance(record, dict)]
        for number, record in enumerate(records):
            if _number(record.get("num_requests_successful")) is not None:
                yield Restatement(path, number, elements is not None), record


def elements_of(document: Any) -> list[Any] | None:
    """The elements of a list, which may be the only value of an object; None of anything else."""
    if isinstance(document, dict) and len(document) == 1:
        [document] = document.values()
    return document if isinstance(document, list) else None


def _statistics(tree: Tree, path: str) -> dict[tuple[str, str], Decimal]:
    """AIPerf's statistics by metric and name: times in milliseconds, the rest as stated. None without a count of requests."""
    document = _decoded(tree.head(path, _MAX_BYTES))
    found = {}
    for name, metric in document.items() if isinstance(document, dict) else ():
        if isinstance(metric, dict):
            factor = Decimal(repr(MILLISECONDS.get(str(metric.get("unit")), 1.0)))
            for statistic, value in metric.items():
                if (number := _number(value)) is not None:
                    found[name, statistic] = number * factor
    return found if ("request_count", "avg") in found else {}


def _is_same(record: Mapping[str, Any], statistics: Mapping[tuple[str, str], Decimal]) -> bool:
    telling = set()
    for name, (metric, is_time) in _METRICS.items():
        for key, statistic in _STATISTICS.items():
            written, stated = _number(_value(record, name, key)), statistics.get((metric, statistic))
            if written is None or stated is None:
                continue
            digits, exponent = written.as_tuple().digits, int(written.as_tuple().exponent)
            factor = 1000 if is_time else 1
            if abs(written * factor - stated) > factor * Decimal(5).scaleb(exponent - 1) + abs(stated) * _EXACT:
                return False
            if len(digits) >= _TELLING_DIGITS:
                telling.add((metric, statistic))
    return len(telling) >= _ENOUGH and {("time_to_first_token", "avg"), ("request_latency", "avg")} <= telling


def _value(record: Mapping[str, Any], name: str, statistic: str) -> Any:
    """A statistic of a record, flat (`mean_ttft`) or by `request_metrics`."""
    if "request_metrics" not in record:
        return record.get(f"{statistic}_{name}")
    found: Any = record
    for key in ("request_metrics", *_NESTED.get(name, ("latency", name)), statistic):
        found = found.get(key) if isinstance(found, dict) else None
    return found


def _decoded(data: bytes) -> Any:
    try:
        return json.loads(data, parse_float=Decimal)
    except (ValueError, RecursionError):
        return None


def _number(value: Any) -> Decimal | None:
    if isinstance(value, bool) or not isinstance(value, (int, Decimal)):
        return None
    return Decimal(value)


def _shared_folders(one: str, other: str) -> int:
    pairs = zip(one.split("/")[:-1], other.split("/")[:-1], strict=False)
    return next((index for index, (a, b) in enumerate(pairs) if a != b), min(one.count("/"), other.count("/")))
