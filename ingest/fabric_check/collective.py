"""What the figures of a collective test must obey, whichever format states them: rows without wrong values, algorithm bandwidths
that follow from sizes and times, bus bandwidths that follow from these, one figure a size, and one average that the rows can have.

Landing keeps every figure. A point that cannot be right is `failed`, so no fact has its figures, and the average of a test with
such a point loses its number. Source of the factors: NVIDIA/nccl-tests doc/PERFORMANCE.md.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from typing import Any

from warehouse.landing.readers.text import Report
from warehouse.landing.severity import ERROR, WARNING, disagreement

from .check import Check, Row
from .tables import ENDPOINT, ENTRY, POINT, TEST

AVERAGE, OUT_OF_BOUNDS = "Avg bus bandwidth", "Out of bounds values"
TOOLS = frozenset({"nccl-tests", "rccl-tests"})
_MOST_RANKS = 65_536
_ROUNDING, _RELATIVE_ROUNDING = 0.0051, 1e-4  # GB/s: two decimals, and six characters for large rates
_RELATIVE_TIME_ROUNDING = 2e-3  # scripts round again
_BY_ALL_OTHERS = ("all_gather", "reduce_scatter", "alltoall", "gather", "scatter")
_FACTORS: dict[str, Callable[[int], float]] = {
    "all_reduce": lambda ranks: 2 * (ranks - 1) / ranks,
    **dict.fromkeys(_BY_ALL_OTHERS, lambda ranks: (ranks - 1) / ranks),
    **dict.fromkeys(("broadcast", "reduce", "sendrecv"), lambda ranks: 1.0),
}
# What else tells two rows of one size apart.
_SIZE = ("message_bytes", "placement", "element_type", "redop", "root")
_DAMAGED = ("malformed-row", "truncated-row", "blank-cell", "not-a-number", "non-finite-number", "unknown-unit")


def settled(check: Check, rows: list[Row], report: Report) -> list[Row]:
    """The rows of a check that is over, with what contradicts itself failed and reported; each check has one test."""
    if not check.are_hosts_known:
        rows = [row._replace(columns={**row.columns, "node_name": None}) if row.table == ENDPOINT else row for row in rows]
    points = [row for row in rows if row.table == POINT]
    faults = {id(row): reason for find in (_off_factor, _off_time, _stated_twice) for row, reason in find(check, points, report)}
    reason = next(iter(faults.values()), None)
    averages = [row for row in rows if row.table == ENTRY and row.columns["key"] == AVERAGE]
    reason = _wrong_values(rows, points, report) or reason or _no_average_of(points, averages, report)
    rows = [row._replace(columns={**row.columns, "test": check.test}) if row.table == TEST else row for row in rows]
    if reason is None:
        return rows
    check.fail(reason)
    failed = {"status": "failed", "status_reason": check.status_reason}
    found = []
    for row in rows:
        if id(row) in faults:
            row = row._replace(columns={**row.columns, "status": "failed", "status_reason": faults[id(row)]})
        elif row.table == TEST:
            row = row._replace(columns={**row.columns, **failed})
        elif row in averages:
            row = row._replace(columns={**row.columns, "value_number": None})
        found.append(row)
    return found


def _wrong_values(rows: list[Row], points: list[Row], report: Report) -> str | None:
    """Why the results of the collective were wrong. The tools print their times all the same, and `FAILED` below them."""
    wrong = [row for row in points if row.columns["status"] == "failed"]
    if wrong:
        message = f"{len(wrong)} of {len(points)} points have wrong values: nothing was measured there"
        report.at("wrong-values", message, wrong[0], ERROR)
        return message
    for row in rows:
        if row.table == ENTRY and row.columns["key"] == OUT_OF_BOUNDS and row.columns["value_number"]:
            message = f"{OUT_OF_BOUNDS}: {row.columns['value']}"
            report.at("wrong-values", message, row, ERROR)
            return message
    return None


def _off_factor(check: Check, points: list[Row], report: Report) -> list[tuple[Row, str]]:
    """The points whose bus bandwidth is not the algorithm bandwidth times the factor of the collective."""
    name = (check.test or "").removesuffix("_perf")
    factor_of, ranks = _FACTORS.get(name), check.rank_count
    rates = {
        id(row): (float(alg), float(bus)) for row in points
        if (alg := row.columns.get("alg_bandwidth_gb_per_s")) is not None and (bus := row.columns.get("bus_bandwidth_gb_per_s")) is not None
    }
    if factor_of is None or not ranks or not check.are_ranks_one_group:
        return []
    factor = factor_of(ranks)
    if all(_follow(*pair, factor) for pair in rates.values()):
        return []
    largest = max(rates.values())
    stated = f"the bus bandwidths are {largest[1] / largest[0] if largest[0] else 0:.4g} times the algorithm bandwidths; {name}"
    stated += f" on {ranks} ranks, as listed, has {factor:.4g} times (nccl-tests, PERFORMANCE.md)"
    # Processes write into one log, and a line that lists a rank may be lost.
    others = [many for many in range(ranks + 1, _MOST_RANKS) if all(_follow(*pair, factor_of(many)) for pair in rates.values())]
    if others and others[-1] < 2 * others[0]:
        message = f"{stated}: that is the factor of {others[0]} ranks, and the lines of some ranks may be lost"
        report.at("rank-count-contradicted", message, points[0], WARNING)
        return []
    if not check.is_test_stated:
        message = f"{stated}: the rows are of another collective than the command line or the file's name says, and none is taken"
        report.at("test-name-disagrees", message, points[0], WARNING)
        check.test = None
        return []
    found = []
    for row in points:
        if id(row) in rates and not _follow(*rates[id(row)], factor):
            alg, bus = rates[id(row)]
            reason = f"the bus bandwidth is {bus:.6g} GB/s, the algorithm bandwidth {alg:.6g} GB/s times {factor:.6g} for {ranks} ranks"
            report.at("bandwidth-contradicted", f"{row.columns['message_bytes']} bytes: {reason}", row, ERROR)
            found.append((row, reason))
    return found


def _off_time(check: Check, points: list[Row], report: Report) -> list[tuple[Row, str]]:
    """The points whose size over their time is far from the algorithm bandwidth (nccl-tests, PERFORMANCE.md). Only the worst
    is reported, with a severity that grows with the disagreement. Nothing is checked where the log reports CPU time instead of wall time."""
    if check.parameters.get("report_cputime") or check.test is not None and check.test.removesuffix("_perf") not in _FACTORS:
        return []
    worst: tuple[float, Row, str, str] | None = None
    found = []
    off = 0
    for row in points:
        size, time, alg = (row.columns.get(name) for name in ("message_bytes", "time_us", "alg_bandwidth_gb_per_s"))
        if not size or not time or alg is None or time < 0:
            continue
        rate = size / time / 1e3
        if abs(alg - rate) <= _rounding(alg) + rate * (_time_rounding(time) / time + _RELATIVE_TIME_ROUNDING):
            continue
        severity, apart = disagreement(alg, rate)
        reason = f"the algorithm bandwidth is {alg:.6g} GB/s, but {size} bytes in {time:.6g} us are {rate:.6g} GB/s: {apart}"
        off += 1
        if severity == ERROR:
            found.append((row, reason))
        distance = abs(alg - rate) / max(abs(alg), rate)
        if worst is None or distance > worst[0]:
            worst = distance, row, reason, severity
    if worst is not None:
        _, row, reason, severity = worst
        report.at("time-contradicted", reason + (f" (and {off - 1} more rows)" if off > 1 else ""), row, severity)
    return found


def _follow(alg: float, bus: float, factor: float) -> bool:
    return abs(bus - alg * factor) <= _rounding(bus) + factor * _rounding(alg)


def _rounding(rate: float) -> float:
    """Half a unit of the last digit that it may have been written with; scripts may write fewer than two decimals."""
    decimals = repr(rate).partition(".")[2]
    return max(_ROUNDING if len(decimals) > 1 else 0.051, _RELATIVE_ROUNDING * abs(rate))


def _time_rounding(time: float) -> float:
    """Half a unit of the last digit that a time in us is written with: two decimals, one from 100 on, none from 10,000 on."""
    return 0.0051 if time < 100 else 0.051 if time < 10_000 else 0.51


def _stated_twice(check: Check, points: list[Row], report: Report) -> list[tuple[Row, str]]:
    """The points of a size that has other figures in another row. Each size comes as often as the test has cycles; sizes that
    are rounded down may become 0, or the same where they grow by less than one element a rank."""
    by_size: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for row in points:
        if row.columns.get("message_bytes"):
            by_size[tuple(row.columns.get(name) for name in _SIZE)].append(row)
    times = Counter(map(len, by_size.values()))
    if len(times) < 2 or check.parameters.get("step_kind") == "bytes":
        return []
    found = []
    for rows in by_size.values():
        if len(rows) > min(times) and len({(row.columns.get("time_us"), row.columns.get("bus_bandwidth_gb_per_s")) for row in rows}) > 1:
            reason = f"{rows[0].columns['message_bytes']} bytes is stated {len(rows)} times with different figures"
            report.at("conflicting-sizes", reason, rows[1], ERROR)
            found += [(row, reason) for row in rows]
    return found


def _no_average_of(points: list[Row], averages: list[Row], report: Report) -> str | None:
    """Why a test has no average: it states two, or one that its rows cannot have."""
    stated = [(row, float(number)) for row in averages if (number := row.columns["value_number"]) is not None]
    if len({number for _, number in stated}) > 1:
        reason = f"two averages of the bus bandwidth: {stated[0][1]:.6g} and {stated[-1][1]:.6g} GB/s"
        report.at("conflicting-averages", reason, stated[-1][0], ERROR)
        return reason
    if stated and not points and not any(map(report.has, _DAMAGED)):
        reason = f"an average of {stated[0][1]:.6g} GB/s without a row: nothing was measured"
        report.at("average-without-rows", reason, stated[0][0], ERROR)
        return reason
    rates = [float(rate) for row in points if (rate := row.columns.get("bus_bandwidth_gb_per_s")) is not None]
    if not stated or not rates and stated[0][1] >= 0:
        return None
    row, average = stated[0]
    if average < 0:
        report.at("impossible-average", reason := f"the average bus bandwidth is {average:.6g} GB/s", row, ERROR)
        return reason
    mean, tolerance = sum(rates) / len(rates), _ROUNDING + _RELATIVE_ROUNDING * max(rates)
    if abs(average - mean) <= tolerance or any(map(report.has, _DAMAGED)):
        return None
    severity, apart = disagreement(average, mean)
    reason = f"the average bus bandwidth is stated as {average:.6g} GB/s, the rows have a mean of {mean:.6g}: {apart}"
    if not min(rates) - tolerance <= average <= max(rates) + tolerance:
        severity, reason = ERROR, f"{reason}; they lie between {min(rates):.6g} and {max(rates):.6g}"
    report.at("average-disagrees", reason, row, severity)
    return reason if severity == ERROR else None
