"""`wh changes`: which series changed, when, by how much, what else changed there, and whether it is still so.

Findings are derived anew by every scan and have ids that the same evidence gives again; what people decide about them is in the ledger
(`marks`). The false discovery rate of one scan is kept at 5 % over all series (Benjamini and Hochberg).
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from statistics import median
from typing import Any, Literal

import numpy as np

from warehouse.analysis.compare import THRESHOLD, varying
from warehouse.analysis.conditions import EVIDENCE, Conditions, differences, read_conditions
from warehouse.analysis.events.annotations import Places
from warehouse.analysis.events.distinct import distinct
from warehouse.analysis.events.event import Event, Span, fold, is_excursion, with_context
from warehouse.analysis.events.findings import FARTHEST, LEFT, NEAR, Finding, Now, time_of
from warehouse.analysis.events.shown import Memory, read_memory, remember
from warehouse.analysis.events.silence import SeriesState, Silence, series_states, silences
from warehouse.analysis.labels import Label, labels
from warehouse.analysis.marks import Precision, decided_events, precision
from warehouse.analysis.measurements import Measured, Measurement, measured
from warehouse.analysis.series import Scanned, scan
from warehouse.analysis.succession import SUCCESSION, Outlier, Succession, outliers, successions
from warehouse.digest import domain_digest
from warehouse.evidence.ledger.annotations import dated_notes
from warehouse.evidence.ledger.findings import FALSE_ALARM, Mark, standing_marks
from warehouse.project.project import Project
from warehouse.statistics.change import Change, Kind
from warehouse.statistics.change_points import DETECTOR
from warehouse.statistics.detector.drifts import line_through
from warehouse.statistics.interval import Interval, NotSupported
from warehouse.statistics.scans import benjamini_hochberg
from warehouse.transform.finished.builds import current_build

RULES: Mapping[Kind, str] = {"level": f"step {DETECTOR}", "spread": f"spread {DETECTOR}", "drift": f"drift {DETECTOR}"}
SUCCESSION_RULE = f"succession {SUCCESSION}"
_Q = 0.05
_AROUND = 64  # runs on each side that the size is computed from
_LEVEL = 10  # last runs of a series that say where it is now
_RECENT = 5  # runs from the end of a series, by which a mark is contradicted
_CONTROL_POINTS = 11


@dataclass(frozen=True)
class Changes:
    """What a scan found: `events`, and the `findings` that are their members. `tested` measurements and successions were tested, `dropped` suspicions
    did not survive that there were so many. `precision` is how often findings of each rule were real, by the marks that people made.
    `not_finite` rows of measurements have no number and were left out. `passed` is what was shown before and is not now, `lost` the
    confirmed events of these that are no longer detected, whatever the threshold."""

    events: tuple[Event, ...]
    findings: tuple[Finding, ...]
    outliers: tuple[Outlier, ...]
    series: tuple[SeriesState, ...]
    silences: tuple[Silence, ...]
    tested: int
    dropped: int
    precision: tuple[Precision, ...]
    not_finite: int
    passed: Memory
    lost: tuple[str, ...]

    def worst(self) -> str | None:
        """The strongest status of an event that is worse, still so, and neither fixed, explained nor a false alarm; None without one."""
        bad = {each.worst_status() for each in self.events}
        return next((status for status in ("confirmed", "suspected") if status in bad), None)

    def event(self, any_id: str) -> Event | None:
        """The event that an id means: its own, that of a member, or one that it had before."""
        known = {any_id, *(each.event_id for each in self.passed.named(any_id).values())}
        return next((each for each in self.events if known & each.ids), None)


def changes(
    project: Project, since: datetime | None = None, threshold: float = THRESHOLD, now: datetime | None = None
) -> Changes:
    """Scan all series of the current build. Events that began and ended before `since` are left out, and changes smaller than the threshold. `now` is
    what staleness is counted to. Raises WH501, WH504, WH211, WH218, WH107."""
    build, now = current_build(project), now or datetime.now(UTC)
    decided, memory = decided_events(project), read_memory(project.builds)
    marks = standing_marks(decided)
    with measured(build) as found:
        scanned = scan(found, project.builds)
        statuses = {key: each.status for key, each in scanned.items()}
        replaced, tested = successions(found, statuses, threshold)
        steps = [(each, change) for each in scanned.values() for change in each.changes]
        stands = distinct(found)
        measurements = {stands.get(each.series_key, each.series_key) for each in scanned.values() if each.points >= _CONTROL_POINTS}
        q, dropped = _false_discovery_rates(steps, replaced, stands, tested + len(measurements))
        points = _points(found, {each.series_key for (each, _), rate in zip(steps, q, strict=False) if rate <= _Q})
        kept = [
            replace(_step(points[each.series_key], change, each), q=rate) for (each, change), rate in zip(steps, q, strict=False) if rate <= _Q
        ] + [replace(_succession(each), q=rate) for each, rate in zip(replaced, q[len(steps) :], strict=True) if rate <= _Q]
        listed = [each for each in kept if _is_large(each, threshold)]
        alone = tuple(outliers(found, statuses, threshold))
        series = series_states(found, statuses, {each.measurement.series_key for each in alone}, now)
        silent = silences(found, series)
        names = labels(found) if listed else {}
        spans = _spans(found, names) if listed else []
        described = [
            replace(_marked(each, marks, points), label=names.get(each.first.series_key))
            for each in _described(found, listed, _control_counts(spans, listed, kept))
        ]
        events = [with_context(each, spans, kept) for each in fold(described, memory.events)]
        if noted := dated_notes(decided):
            places = Places(found, noted)
            events = [replace(each, notes=places.near(each)) for each in events]
    remember(project.builds, memory, events, now)
    shown = tuple(each for each in events if since is None or time_of(each.end or each.clearest.first) >= since)
    findings = tuple(
        finding for each in shown for finding in (*each.members, *each.returned) if since is None or time_of(finding.first) >= since
    )
    return Changes(
        shown, findings, alone, series, silent, tested + len(measurements), dropped, precision(marks.values()), found.not_finite,
        memory.without(each.finding_id for each in described), memory.without(each.finding_id for each in kept).lost(events, now),
    )


def _false_discovery_rates(
    steps: Sequence[tuple[Scanned, Change]], replaced: Sequence[Succession], stands: Mapping[str, str], tested: int
) -> tuple[list[float], int]:
    """q of each step and succession among so many tested, and how many tests were dropped. What is one measurement is one test, with the least p."""
    tests: list[tuple[str, ...]] = []
    numbers: Counter[str] = Counter()
    for each, change in steps:
        key = f"{each.series_key} {change.kind}"
        tests.append((stands.get(each.series_key, each.series_key), change.kind, str(numbers[key])))
        numbers[key] += 1
    tests += [tuple(stands.get(side[0].series_key, side[0].series_key) for side in (each.before, each.after)) + ("",) for each in replaced]
    least: dict[tuple[str, ...], float] = {}
    for test, p in zip(tests, [*(change.p for _, change in steps), *(each.p for each in replaced)], strict=True):
        least[test] = min(p, least.get(test, 1.0))
    q = benjamini_hochberg([*least.values(), *[1.0] * max(0, tested - len(least))])[: len(least)]
    found = dict(zip(least, (float(each) for each in q), strict=True))
    return [found[test] for test in tests], sum(each > _Q for each in found.values())


def _points(found: Measured, series_keys: Collection[str]) -> dict[str, list[Measurement]]:
    """The measurements of these series, each in the order of time."""
    points: dict[str, list[Measurement]] = {key: [] for key in series_keys}
    where = "m.series_key in (select unnest(?::varchar[])) and m.started_at is not null"
    for each in found.read(where, [list(series_keys)]) if series_keys else ():
        points[each.series_key].append(each)
    return points


def _step(points: Sequence[Measurement], change: Change, scanned: Scanned) -> Finding:
    """A change that the detector found, as a finding that nothing else is known of yet."""
    of_kind = [each for each in scanned.changes if each.kind == change.kind]
    if change.kind == "drift":
        change = _drift_by_now(points, change, scanned.changes)
    place = max(1, change.index)
    following = next((each.index for each in of_kind if each.index > place), len(points))
    previous = max((each.index for each in of_kind if each.index < place), default=0)
    before = points[max(previous, place - _AROUND) : place]
    after = points[place : min(following, place + _AROUND)]
    status: Literal["confirmed", "suspected"] = "confirmed" if change.is_confirmed else "suspected"
    level = points[previous].run_id if previous else "first"
    ended_at = _ended_at(change, of_kind)
    end = points[ended_at] if ended_at is not None and ended_at < len(points) else None
    if end and change.kind == "level" and _now(points[:_until(ended_at, of_kind, len(points))], change) == "still":
        end = None  # it only moved some of the way back
    now: Now = ("recovered" if end else "still") if change.kind == "spread" else _now(points, change)
    if change.kind == "drift" and now == "still":
        end = None  # it stopped, and has not gone back
    is_plain = change.kind == "level" and change.low is None  # no step on a drift
    sizes = None if is_plain else (change.before, change.after)
    found = _finding(RULES[change.kind], status, before, after, change.p, change.needs or None, now, points, place, [level], sizes)
    found = replace(found, kind=change.kind, end=end, may_be_mode=change.may_be_mode)
    if is_plain:
        return found
    ratio: Interval | NotSupported = NotSupported("values of zero or less have no ratio", "run", len(before), len(before))
    if change.low is not None and change.high is not None and change.before > 0 and min(each.value for each in (*before, *after)) > 0:
        ratio = Interval(change.after / change.before, change.low, change.high, 0.95, change.kind, {"run": len(before) + len(after)})
    if change.kind == "spread":
        return replace(found, stated_ratio=ratio, outcome="higher" if change.after > change.before else "lower")
    return replace(found, stated_ratio=ratio)


def _until(place: int | None, of_kind: Sequence[Change], length: int) -> int:
    """Where the level that begins at a place ends."""
    return next((each.index for each in of_kind if place is not None and each.index > place), length)


def _drift_by_now(points: Sequence[Measurement], change: Change, changes: Sequence[Change]) -> Change:
    """A drift with the size that it has reached, up to where it ended or the level changed, and not only up to where it was first seen; its end is
    where a step took the level back, if one did."""
    steps = [each for each in changes if each.kind == "level" and each.index > change.index]
    ended_at = change.ended_at_index or len(points)
    until = max(change.seen_at + 1, min([ended_at, *(each.index for each in steps)]))
    values = np.array([each.value for each in points[change.index : until]])
    is_ratio = change.before > 0 and bool(values.min() > 0)
    line = line_through(np.log(values) if is_ratio else values)
    ends = np.array([line.first, line.last, line.low, line.high])
    before, after, low, high = (np.exp(ends) if is_ratio else ends).tolist()
    found = replace(change, before=before, after=after, low=low, high=high)
    back = next((each.index for each in steps if found.is_undone_by(each.after)), None)
    return replace(found, ended_at_index=change.ended_at_index if back is None else back)


def _ended_at(change: Change, of_kind: Sequence[Change]) -> int | None:
    """Where a change ended; not where its level was only left for a short while."""
    ended_at = change.ended_at_index
    other = next((each for each in of_kind if change.index < each.index and (each.after > each.before) != (change.after > change.before)), None)
    if ended_at is None or other is None or other.ended_at_index is None:
        return ended_at
    return None if is_excursion(other.index - change.index, other.ended_at_index - other.index) else ended_at


def _succession(each: Succession) -> Finding:
    needs = max(0, 5 - len(each.after)) or None if len(each.variables) < 2 and "script" not in each.variables else None
    values = (*each.before, *each.after)
    variants = [side[0].comparable_key for side in (each.before, each.after)]
    found = _finding(SUCCESSION_RULE, "suspected", each.before, each.after, each.p, needs, "still", values, len(each.before), variants)
    return replace(found, variables=each.variables)


def _finding(
    rule: str, status: Literal["confirmed", "suspected"], before: Sequence[Measurement], after: Sequence[Measurement], p: float,
    needs: int | None, now: Now, points: Sequence[Measurement], place: int, interrupts: Sequence[str], sizes: tuple[float, float] | None = None,
) -> Finding:
    """Its id is that of the level that it ends, and of its direction: where it changed moves by a run or two as more runs come. Its `sizes` are the
    medians of both sides unless others are given."""
    last, first = before[-1], after[0]
    levels = sizes or (median(each.value for each in before), median(each.value for each in after))
    is_higher = levels[1] > levels[0]
    if first.better in ("higher", "lower"):
        outcome: Literal["better", "worse", "higher", "lower"] = "better" if is_higher == (first.better == "higher") else "worse"
    else:
        outcome = "higher" if is_higher else "lower"
    identity = domain_digest("wh/finding/1", [rule, first.series_key, *first.name, *interrupts, is_higher])
    start = max(0, place - _AROUND)
    around = points[start : place + _AROUND]
    return Finding(
        f"f-{identity[:12]}", rule, status, outcome, last, first, levels[0], levels[1], None, (len(before), len(after)),
        len({each.session for each in after}), p, p, needs, varying(before[-NEAR:], after[:NEAR], {}), now,
        values=tuple(each.value for each in around), run_ids=tuple(each.run_id for each in around),
        fifth_last_at=time_of(points[-_RECENT]) if len(points) >= _RECENT else None,
        times=tuple(time_of(each) for each in around), sessions=tuple(each.session for each in around), place=place - start,
    )


def _marked(found: Finding, marks: Mapping[str, Mark], points: Mapping[str, Sequence[Measurement]]) -> Finding:
    """The finding with its mark; or with the last one of the same change by an earlier version of its rule, which is only shown."""
    mark = marks.get(found.finding_id)
    if mark and _is_marked(found, mark, points):
        return replace(found, mark=mark)
    earlier = [
        each for each in marks.values()
        if each.finding.get("series_key") == found.first.series_key and each.finding.get("rule") != found.rule
        and each.finding.get("outcome") == found.outcome and _is_there(found, each, points)
    ]
    return replace(found, earlier_mark=max(earlier, key=lambda each: each.event.at, default=None))


def _is_marked(found: Finding, mark: Mark, points: Mapping[str, Sequence[Measurement]]) -> bool:
    """Whether a mark with the id of a finding is of this change: not where it was of a suspicion at another place of the same level, that
    passed, and not where it called a false alarm what has been confirmed since."""
    if mark.state == FALSE_ALARM and mark.finding.get("status") == "suspected" and found.status == "confirmed":
        return False
    return found.rule == SUCCESSION_RULE or not isinstance(mark.finding.get("changed_at"), str) or _is_there(found, mark, points)


def _is_there(found: Finding, mark: Mark, points: Mapping[str, Sequence[Measurement]]) -> bool:
    """Whether a mark was of a change at about the same place."""
    try:
        marked_at = datetime.fromisoformat(str(mark.finding.get("changed_at")))
    except ValueError:
        return False
    times = [time_of(each) for each in points[found.first.series_key]] if found.first.series_key in points else list(found.times)
    places = [bisect_left(times, at) for at in (marked_at, time_of(found.first))]
    return abs(places[0] - places[1]) <= FARTHEST


def _now(points: Sequence[Measurement], change: Change) -> Now:
    """Whether the last runs are on the side of the change: not where they are back, but for what noise can do, or beyond."""
    values = [each.value for each in points[max(change.index, len(points) - _LEVEL) :]]
    before, after = change.before, change.after
    least = 0.0
    if min(*values, before, after) > 0:
        before, after, *values = np.log([before, after, *values]).tolist()
        least = np.log1p(LEFT)
    level = median(values)
    spread = 1.4826 * median(abs(each - level) for each in values)
    left = (level - before) * (1 if after > before else -1)
    return "recovered" if left <= min(abs(after - before) / 2, max(least, 3 * spread / len(values) ** 0.5)) else "still"


def _is_large(found: Finding, threshold: float) -> bool:
    if found.before <= 0 or found.after <= 0:
        return found.before != found.after
    return bool(abs(np.log(found.after / found.before)) > np.log1p(threshold))


def _described(found: Measured, listed: Sequence[Finding], controls: Mapping[str, tuple[int, int]]) -> list[Finding]:
    """The findings with what else changed there and with their controls."""
    sides = {each.near for each in listed}
    runs = {run for pair in sides for side in pair for run in side}
    conditions: Mapping[str, Conditions] = read_conditions(found, runs) if runs else {}
    differ = {
        pair: tuple(
            each for each in differences(*([conditions[run] for run in side] for side in pair), in_time=True) if each.kind != EVIDENCE
        )
        for pair in sides
    }
    return [replace(each, controls=controls[each.finding_id], differences=differ[each.near]) for each in listed]


def _spans(found: Measured, names: Mapping[str, Label]) -> list[Span]:
    """The series that are long enough to be controls."""
    rows = found.con.execute(
        "select series_key, any_value(hardware), any_value(testbed), any_value(benchmark_case_id), min(started_at), max(started_at)"
        f" from {found.measurements.sql} where started_at is not null"
        f" group by series_key having count(*) >= {_CONTROL_POINTS}"
    ).fetchall()
    return [Span(key, hardware, testbed, case, first, last, names[key].subject) for key, hardware, testbed, case, first, last in rows]


def _control_counts(spans: Sequence[Span], listed: Sequence[Finding], kept: Sequence[Finding]) -> dict[str, tuple[int, int]]:
    """For each finding: of the series of other cases on its machine that had runs on both sides of it, how many changed there, and how many
    there are."""
    known: dict[tuple[Any, ...], tuple[int, int]] = {}
    counts = {}
    for each in listed:
        variables, case = each.first.variables, each.first.benchmark_case_id
        since, until = time_of(each.last), time_of(each.first)
        place = (variables["hardware"], variables["testbed"], case, since, until)
        if place not in known:
            others = {
                span.series_key for span in spans
                if (span.hardware, span.testbed) == place[:2] and span.case != case and span.first_at <= since and span.last_at >= until
            }
            moved = {
                other.first.series_key for other in kept
                if other.first.series_key in others and time_of(other.last) <= until and time_of(other.first) >= since
            }
            known[place] = len(moved), len(others)
        counts[each.finding_id] = known[place]
    return counts
