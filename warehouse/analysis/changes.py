"""`wh changes`: which series changed, when, by how much, what else changed there, and whether it is still so.

Findings are derived anew by every scan and have ids that the same evidence gives again; what people decide about them is in the ledger
(`marks`). The false discovery rate of one scan is kept at 5 % over all series (Benjamini and Hochberg).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from statistics import median
from typing import Any, Literal

import numpy as np

from warehouse.analysis.compare import THRESHOLD, varying
from warehouse.analysis.conditions import Conditions, Difference, differences, read_conditions
from warehouse.analysis.marks import Precision, precision, read_marks
from warehouse.analysis.measurements import Measured, Measurement, measured
from warehouse.analysis.series import Scanned, scan
from warehouse.analysis.succession import SUCCESSION, Outlier, Succession, outliers, successions
from warehouse.digest import domain_digest
from warehouse.evidence.ledger.findings import FALSE_ALARM, Mark
from warehouse.project.project import Project
from warehouse.statistics.change_points import DETECTOR, Change
from warehouse.statistics.comparisons import ratio_interval
from warehouse.statistics.interval import Interval, NotSupported
from warehouse.statistics.scans import benjamini_hochberg
from warehouse.transform.finished.builds import current_build

STEP_RULE, SUCCESSION_RULE = f"step {DETECTOR}", f"succession {SUCCESSION}"
_Q = 0.05
_NEAR = 5  # runs on each side whose conditions are compared
_AROUND = 64  # runs on each side that the size is computed from
_EVIDENCE = "evidence"  # a kind of condition that always differs: each run has evidence of its own
_LEVEL = 10  # last runs of a series that say where it is now
_STALE = 3  # mean gaps between sessions without a run
_FOR_GAPS = 5  # sessions that have a mean gap
_CONTROL_POINTS = 11
_SAME_PLACE = 10  # runs by which new runs move the place of a change: 99 of 100 moved less (benchmarks/changes)

Now = Literal["still", "recovered"]


@dataclass(frozen=True)
class SeriesState:
    """One series: what the detector says of it, and whether data stopped coming: `is_stale` where no run came for three mean gaps
    between its sessions, `missing` the runs of the same case since then without this metric, failed ones among them."""

    series_key: str
    indicator: str
    metric: str
    point: str
    unit: str | None
    benchmark_case_id: str | None
    points: int
    sessions: int
    status: str
    first_at: datetime | None
    last_at: datetime | None
    is_stale: bool
    missing: int


@dataclass(frozen=True)
class Finding:
    """A change. `before` and `after` are medians in the metric's unit, `ratio` after over before. `p` is of this series alone, `q` after
    so many were scanned. `needs` more runs settle a suspicion; None where runs alone cannot. `variables` are the variables that changed
    there: of a finding with more than one, or another script, the software cannot be named as the cause. `controls` are the series of
    other cases on the same machine: how many changed there too, of how many."""

    finding_id: str
    rule: str
    status: Literal["confirmed", "suspected"]
    outcome: Literal["better", "worse", "higher", "lower"]
    last: Measurement
    first: Measurement
    before: float
    after: float
    ratio: Interval | NotSupported
    points: tuple[int, int]
    sessions_after: int
    p: float
    q: float
    needs: int | None
    variables: tuple[str, ...]
    now: Now
    differences: tuple[Difference, ...] = ()
    controls: tuple[int, int] = (0, 0)
    mark: Mark | None = None
    values: tuple[float, ...] = ()
    run_ids: tuple[str, ...] = ()  # of `values`
    place: int = 0  # in `values`, of the first run after the change

    @property
    def near(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The runs next to the change, before and after it."""
        return self.run_ids[max(0, self.place - _NEAR) : self.place], self.run_ids[self.place : self.place + _NEAR]

    @property
    def state(self) -> str:
        return self.mark.state if self.mark else "open"

    @property
    def is_exploratory(self) -> bool:
        return len(self.variables) > 1 or "script" in self.variables


@dataclass(frozen=True)
class Changes:
    """What a scan found. `tested` series and successions were tested, `dropped` suspicions did not survive that there were so many. `precision`
    is how often findings of each rule were real, by the marks that people made. `not_finite` rows of measurements have no number and were left
    out."""

    findings: tuple[Finding, ...]
    outliers: tuple[Outlier, ...]
    series: tuple[SeriesState, ...]
    tested: int
    dropped: int
    precision: tuple[Precision, ...]
    not_finite: int

    def worst(self) -> str | None:
        """The strongest status of a finding that is worse, still so, and neither fixed, explained nor a false alarm; None without one."""
        bad = {
            each.status for each in self.findings
            if each.outcome != "better" and each.now != "recovered" and each.state in ("open", "acknowledged")
        }
        return next((status for status in ("confirmed", "suspected") if status in bad), None)


def changes(
    project: Project, since: datetime | None = None, threshold: float = THRESHOLD, now: datetime | None = None
) -> Changes:
    """Scan all series of the current build. Findings of changes before `since` are left out, and those smaller than the threshold. `now` is
    what staleness is counted to. Raises WH501, WH504, WH211, WH218, WH107."""
    build = current_build(project)
    marks = read_marks(project)
    with measured(build) as found:
        scanned = scan(found, project.builds)
        statuses = {key: each.status for key, each in scanned.items()}
        replaced, tested = successions(found, statuses, threshold)
        steps = [(each, change) for each in scanned.values() for change in each.changes]
        p = [*(change.p for _, change in steps), *(each.p for each in replaced)]
        tested += sum(each.points >= _CONTROL_POINTS for each in scanned.values())
        q = benjamini_hochberg([*p, *[1.0] * max(0, tested - len(p))])[: len(p)]
        stands = [float(each) <= _Q for each in q]
        series_keys = {each.series_key for (each, _), is_kept in zip(steps, stands, strict=False) if is_kept}
        points = {key: found.read("m.series_key = ? and m.started_at is not null", [key]) for key in series_keys}
        kept = [
            replace(_step(points[each.series_key], change, each), q=float(q[place]))
            for place, (each, change) in enumerate(steps) if stands[place]
        ] + [replace(_succession(each), q=float(q[place])) for place, each in enumerate(replaced, len(steps)) if stands[place]]
        listed = [each for each in kept if _is_large(each, threshold) and (since is None or _time(each.first) >= since)]
        alone = tuple(outliers(found, statuses, threshold))
        series = _series(found, statuses, alone, now or datetime.now(UTC))
        described = _described(found, listed, points, _control_counts(found, listed, kept))
    ordered = sorted(described, key=lambda each: (each.status != "confirmed", each.outcome != "worse", -_time(each.first).timestamp()))
    findings = tuple(
        replace(each, mark=found_mark) if (found_mark := marks.get(each.finding_id)) and _is_marked(each, found_mark, points) else each
        for each in ordered
    )
    return Changes(findings, alone, series, tested, len(p) - len(kept), precision(marks.values()), found.not_finite)


def _step(points: Sequence[Measurement], change: Change, scanned: Scanned) -> Finding:
    """A change that the detector found, as a finding that nothing else is known of yet."""
    following = next((each.index for each in scanned.changes if each.index > change.index), len(points))
    previous = max((each.index for each in scanned.changes if each.index < change.index), default=0)
    before = points[max(previous, change.index - _AROUND) : change.index]
    after = points[change.index : min(following, change.index + _AROUND)]
    status: Literal["confirmed", "suspected"] = "confirmed" if change.is_confirmed else "suspected"
    level = points[previous].run_id if previous else "first"
    now = _now(points, change, following)
    return _finding(STEP_RULE, status, before, after, change.p, change.needs or None, now, points, change.index, [level])


def _succession(each: Succession) -> Finding:
    needs = max(1, 5 - len(each.after)) if len(each.variables) < 2 and "script" not in each.variables else None
    values = (*each.before, *each.after)
    variants = [side[0].comparable_key for side in (each.before, each.after)]
    return _finding(SUCCESSION_RULE, "suspected", each.before, each.after, each.p, needs, "still", values, len(each.before), variants)


def _finding(
    rule: str, status: Literal["confirmed", "suspected"], before: Sequence[Measurement], after: Sequence[Measurement], p: float,
    needs: int | None, now: Now, points: Sequence[Measurement], place: int, interrupts: Sequence[str],
) -> Finding:
    """Its id is that of the level that it ends, and of its direction: where it changed moves by a run or two as more runs come."""
    last, first = before[-1], after[0]
    levels = [median(each.value for each in side) for side in (before, after)]
    is_higher = levels[1] > levels[0]
    if first.better in ("higher", "lower"):
        outcome: Literal["better", "worse", "higher", "lower"] = "better" if is_higher == (first.better == "higher") else "worse"
    else:
        outcome = "higher" if is_higher else "lower"
    identity = domain_digest("wh/finding/1", [rule, first.series_key, *first.name, *interrupts, is_higher])
    start = max(0, place - _AROUND)
    around = points[start : place + _AROUND]
    return Finding(
        f"f-{identity[:12]}", rule, status, outcome, last, first, levels[0], levels[1], _size(before, after), (len(before), len(after)),
        len({each.session for each in after}), p, p, needs, varying(before[-_NEAR:], after[:_NEAR], {}), now,
        values=tuple(each.value for each in around), run_ids=tuple(each.run_id for each in around), place=place - start,
    )


def _is_marked(found: Finding, mark: Mark, points: Mapping[str, Sequence[Measurement]]) -> bool:
    """Whether a mark with the id of a finding is of this change: not where it was of a suspicion at another place of the same level, that
    passed, and not where it called a false alarm what has been confirmed since."""
    if mark.state == FALSE_ALARM and mark.finding.get("status") == "suspected" and found.status == "confirmed":
        return False
    marked_at = mark.finding.get("changed_at")
    if found.rule != STEP_RULE or not isinstance(marked_at, str):
        return True
    times = [_time(each) for each in points[found.first.series_key]]
    places = [bisect_left(times, at) for at in (datetime.fromisoformat(marked_at), _time(found.first))]
    return abs(places[0] - places[1]) <= _SAME_PLACE


def _size(before: Sequence[Measurement], after: Sequence[Measurement]) -> Interval | NotSupported:
    sides = [[each.value for each in side] for side in (before, after)]
    if min(map(min, sides)) <= 0:
        return NotSupported("values of zero or less have no ratio", "run", len(sides[0]), len(sides[0]))
    sessions = [[each.session for each in side] for side in (before, after)]
    if min(len(set(side)) for side in sessions) >= 2:
        return ratio_interval(sides[0], sides[1], 0.95, sessions[0], sessions[1])
    return ratio_interval(sides[0], sides[1])


def _now(points: Sequence[Measurement], change: Change, following: int) -> Now:
    """Whether the level is nearer to that after the change than to that before it."""
    if following >= len(points):
        return "still"
    level = median(each.value for each in points[max(following, len(points) - _LEVEL) :])
    middle = (change.before + change.after) / 2
    if (level > middle) == (change.after > middle):
        return "still"
    return "recovered"


def _is_large(found: Finding, threshold: float) -> bool:
    if found.before <= 0 or found.after <= 0:
        return found.before != found.after
    return bool(abs(np.log(found.after / found.before)) > np.log1p(threshold))


def _time(measurement: Measurement) -> datetime:
    assert measurement.started_at  # series are of runs with times
    return measurement.started_at


def _described(
    found: Measured, listed: Sequence[Finding], points: Mapping[str, Sequence[Measurement]], controls: Mapping[str, tuple[int, int]]
) -> list[Finding]:
    """The findings with what else changed there and with their controls."""
    sides = {each.finding_id: _near(found, each, points) for each in listed}
    runs = {run for pair in sides.values() for side in pair for run in side}
    conditions: Mapping[str, Conditions] = read_conditions(found, runs) if runs else {}
    return [
        replace(
            each, controls=controls[each.finding_id],
            differences=tuple(
                found for found in differences(*([conditions[run] for run in side] for side in sides[each.finding_id]))
                if found.kind != _EVIDENCE
            ),
        )
        for each in listed
    ]


def _near(found: Measured, finding: Finding, points: Mapping[str, Sequence[Measurement]]) -> tuple[list[str], list[str]]:
    """The runs next to a change, before and after it."""
    if finding.rule == STEP_RULE:
        around = [each.run_id for each in points[finding.first.series_key]]
        place = around.index(finding.first.run_id)
        return around[max(0, place - _NEAR) : place], around[place : place + _NEAR]
    before = found.read("m.comparable_key = ? and m.started_at is not null", [finding.last.comparable_key])[-_NEAR:]
    after = found.read("m.comparable_key = ? and m.started_at is not null", [finding.first.comparable_key])[:_NEAR]
    return [each.run_id for each in before], [each.run_id for each in after]


def _control_counts(found: Measured, listed: Sequence[Finding], kept: Sequence[Finding]) -> dict[str, tuple[int, int]]:
    """For each finding: of the series of other cases on its machine that had runs on both sides of it, how many changed there, and how many
    there are."""
    spans = found.con.execute(
        "select series_key, any_value(hardware), any_value(testbed), any_value(benchmark_case_id), min(started_at), max(started_at)"
        f" from {found.measurements.sql} where started_at is not null"
        f" group by series_key having count(*) >= {_CONTROL_POINTS}"
    ).fetchall() if listed else []
    counts = {}
    for each in listed:
        variables, case = each.first.variables, each.first.benchmark_case_id
        since, until = _time(each.last), _time(each.first)
        others = {
            key for key, hardware, testbed, of, first, last in spans
            if (hardware, testbed) == (variables["hardware"], variables["testbed"]) and of != case and first <= since and last >= until
        }
        moved = {
            other.first.series_key for other in kept
            if other.first.series_key in others and _time(other.last) <= until and _time(other.first) >= since
        }
        counts[each.finding_id] = len(moved), len(others)
    return counts


def _series(
    found: Measured, statuses: Mapping[str, str], alone: Sequence[Outlier], now: datetime
) -> tuple[SeriesState, ...]:
    """The state of every series, those without times included."""
    sql = (
        "select series_key, any_value(indicator), any_value(metric), any_value(point), any_value(unit), any_value(benchmark_case_id),"
        f" count(*), count(distinct session), min(started_at), max(started_at) from {found.measurements.sql}"
        " group by series_key order by 2, 3, 4, 1"
    )
    lone = {each.measurement.series_key for each in alone}
    missing = _missing(found)
    states = []
    for key, indicator, metric, point, unit, case, points, sessions, first, last in found.con.execute(sql).fetchall():
        status = "outlier" if key in lone else statuses.get(key, "insufficient")
        has_stopped = is_stale(first, last, sessions, now)
        states.append(
            SeriesState(key, indicator, metric, point, unit, case, points, sessions, status, first, last, has_stopped, missing.get(key, 0))
        )
    return tuple(states)


def is_stale(first: datetime | None, last: datetime | None, sessions: int, now: datetime) -> bool:
    """Whether data stopped coming in a series of so many sessions between these times."""
    return bool(first and last and sessions >= _FOR_GAPS and now - last > _STALE * (last - first) / (sessions - 1))


def _missing(found: Measured) -> dict[str, int]:
    """How many runs of its case and workload, on its machine, began after the last point of each series; none where the table of runs does not
    say. A retracted run is not missing."""
    runs = found.runs
    needed = {"benchmark_case_id", "workload_spec_digest", "hardware_topology_key", "cluster_region_key", "started_at", "state", "mode"}
    if runs is None or not needed <= runs.columns or not {"workload", "hardware", "testbed"} <= found.measurements.columns:
        return {}
    sql = (
        "with last as (select series_key, any_value(benchmark_case_id) as benchmark_case_id, any_value(workload) as workload,"
        f" any_value(hardware) as hardware, any_value(testbed) as testbed, max(started_at) as last_at from {found.measurements.sql}"
        " group by series_key)"
        f" select last.series_key, count(*) from last inner join {runs.sql} as run on run.benchmark_case_id = last.benchmark_case_id"
        " and run.workload_spec_digest is not distinct from last.workload and run.hardware_topology_key is not distinct from last.hardware"
        " and run.cluster_region_key is not distinct from last.testbed and run.started_at > last.last_at"
        " where run.state = 'admitted' and run.mode = 'performance' group by all"
    )
    return dict(found.con.execute(sql).fetchall())


def finding_document(found: Finding) -> dict[str, Any]:
    """A finding as plain values: what `--json` prints, and what a mark in the ledger keeps."""
    from warehouse.analysis.documents import interval_document

    first, ratio = found.first, found.ratio
    return {
        "finding_id": found.finding_id, "rule": found.rule, "status": found.status, "outcome": found.outcome, "series_key": first.series_key,
        "indicator": first.indicator, "metric": first.metric, "point": first.point, "unit": first.unit, "better": first.better,
        "benchmark_case_id": first.benchmark_case_id, "before": found.before, "after": found.after,
        "ratio": found.after / found.before if found.before else None,
        "ratio_low": ratio.low if isinstance(ratio, Interval) else None, "ratio_high": ratio.high if isinstance(ratio, Interval) else None,
        "interval": interval_document(ratio), "p": found.p, "q": found.q, "needs": found.needs, "points_before": found.points[0],
        "points_after": found.points[1], "sessions_after": found.sessions_after, "last_run_before": found.last.run_id,
        "first_run_after": first.run_id, "last_before_at": _time(found.last).isoformat(), "changed_at": _time(first).isoformat(),
        "variables": list(found.variables), "is_exploratory": found.is_exploratory, "now": found.now,
        "controls_moved": found.controls[0], "controls": found.controls[1],
        "differences": [str(each) for each in found.differences],
    }
