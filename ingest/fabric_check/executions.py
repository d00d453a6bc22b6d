"""Tells which reports are of one execution: client and server of a test, a launcher's log and a rank's, a log and its copy.

Only what the reports state proves it. An execution's `origin` is drawn at random by the tool (perftest's queue pairs and packet
numbers, iperf3's cookie) or names its processes (nccl-tests' ranks); then the figures must be the same, too, and so must the
average and every verdict: a report that failed and one that did not are never one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from .check import Check, Row, Rows
from .collective import AVERAGE
from .tables import ENTRY, POINT, TEST

_TWO_ENDED = frozenset({"perftest", "iperf3"})  # of whose two ends each may report
_HELD = _TWO_ENDED | {"nccl-tests", "rccl-tests"}  # whose rows wait: they are few
_ENOUGH_FIGURES = 8  # of processes whose numbers a container may repeat
_NO_FIGURES = frozenset({"line_number", "point_index", "test_index"})


@dataclass(eq=False)
class Execution:
    """A check under way or over, by its place in its file from 1; `rows` wait where a report may turn out to be a second one."""

    raw_path: str
    index: int
    check: Check
    test: str | None  # as it was known when the check began
    rows: list[Row] = field(default_factory=list)
    figures: dict[int, list[str]] = field(default_factory=dict)  # of each test
    conclusions: list[str] = field(default_factory=list)  # statuses and errors of points, statuses of tests, averages

    @property
    def is_held(self) -> bool:
        return self.check.tool in _HELD

    @property
    def has_two_ends(self) -> bool:
        return self.check.tool in _TWO_ENDED

    def note(self, row: Row) -> None:
        if row.table == POINT:
            figures = _figures(row.columns)
            self.figures.setdefault(row.columns["test_index"], []).append(figures)
            wrong = row.columns.get("wrong_count") or row.columns.get("max_error")
            self.conclusions.append(f"{figures} {row.columns['status']} {wrong or ''}")
        elif row.table == TEST:
            self.conclusions.append(str(row.columns["status"]))
        elif row.table == ENTRY and row.columns["key"] == AVERAGE and row.columns["value_number"] is not None:
            self.conclusions.append(f"{row.columns['value_number']:.6g}")  # as the text has it; JSON has more digits

    def has_figures_of(self, other: "Execution") -> bool:
        """Whether both measured the same in every test."""
        return all(self.figures_digest(test) == other.figures_digest(test) for test in (*self.figures, *other.figures))

    def concludes_as(self, other: "Execution") -> bool:
        """Whether both say the same of what they measured."""
        return self.check.status == other.check.status and sorted(self.conclusions) == sorted(other.conclusions)

    def figures_digest(self, test_index: int) -> str | None:
        """A digest of what a test measured: the same for two tests that state the same figures. None: it measured nothing."""
        stated = self.figures.get(test_index)
        return hashlib.sha256("\n".join(sorted(stated)).encode()).hexdigest() if stated else None


def _figures(stated: Mapping[str, Any]) -> str:
    """What a point states. Of a collective its rates as the text has them: JSON and reports have more digits."""
    if stated.get("bus_bandwidth_gb_per_s") is not None:
        rates = (_rounded(stated[f"{kind}_bandwidth_gb_per_s"] or 0) for kind in ("alg", "bus"))
        return " ".join(map(str, (stated.get("placement"), stated.get("message_bytes"), *rates)))
    return " ".join(f"{key}={value}" for key, value in sorted(stated.items()) if value is not None and key not in _NO_FIGURES)


def _rounded(rate: float) -> float:
    """As nccl-tests 2.17 prints a rate in six characters; before it had two decimals always."""
    return round(rate, 2 if rate < 1000 else 1 if rate < 10000 else 0)


def executions(sources: Iterable[Rows], raw_path: str) -> Iterator[tuple[Execution, Row]]:
    """Each row of a file's checks with the execution that it is of. Its last row has no table."""
    under_way: dict[Check, Execution] = {}
    count = 0
    for rows in sources:
        for row in rows:
            execution = under_way.get(row.check)
            if execution is None:
                count += 1
                execution = under_way[row.check] = Execution(raw_path, count, row.check, row.check.test)
            if row.table is None:
                del under_way[row.check]
            execution.note(row)
            yield execution, row


def are_one(execution: Execution, other: Execution) -> bool:
    """Whether two reports are proven to be of one execution."""
    one, two = execution.check, other.check
    if one.origin is None or one.origin != two.origin or one.test != two.test and None not in (one.test, two.test):
        return False
    if one.tool == "iperf3" and one.side == two.side and not (execution.figures and other.figures):
        return True  # one was copied, or broke off, before its end report
    if (one.status == "failed") != (two.status == "failed"):
        return False
    if one.agreed is not None and two.agreed is not None:
        return one.agreed == two.agreed
    if one.is_origin_random and not (execution.figures and other.figures):
        return one.side != two.side  # the end that waited measured nothing
    return execution.has_figures_of(other) and (one.is_origin_random or _is_enough(execution) and execution.concludes_as(other))


def _is_enough(execution: Execution) -> bool:
    return len({figures for test in execution.figures.values() for figures in test}) >= _ENOUGH_FIGURES


class Reports:
    """The executions that have been reported so far. Of a group that is one execution the first is the fullest."""

    def __init__(self) -> None:
        self.groups: list[list[Execution]] = []
        self._by_origin: dict[str, list[list[Execution]]] = {}

    def add(self, execution: Execution) -> list[Execution]:
        """The group that a report, which is over, now belongs to."""
        origin = execution.check.origin
        alike = self._by_origin.setdefault(origin, []) if origin is not None else []
        group = next((group for group in alike if are_one(group[0], execution)), None)
        if group is None:
            group = []
            alike.append(group)
            self.groups.append(group)
        group.append(execution)
        group.sort(key=lambda report: -sum(map(len, report.figures.values())))
        return group

    @property
    def contradictory(self) -> Iterator[tuple[Execution, Execution]]:
        """Reports that seem to be of one execution and contradict each other: two ends of it with other figures, or the same
        processes and figures with another average or verdict."""
        for groups in self._by_origin.values():
            for group in groups[1:]:
                first, other = groups[0][0], group[0]
                if None not in (first.check.test, other.check.test) and first.check.test != other.check.test:
                    continue  # one connection may carry several tests
                is_other_end = other.check.is_origin_random and other.check.side != first.check.side
                if is_other_end or _is_enough(other) and other.has_figures_of(first):
                    yield first, other
