"""Events: changes of many series that are one change of a machine, folded.

A change point is a place in time on a testbed. Findings of one testbed whose places agree are one event. The place of a finding is only known
to a run or two, or to more where the step is small beside the noise. The findings are therefore taken the clearest first: each joins the event
whose place it may have, the nearest one, or begins an event of its own. Two changes of one series are never one event. Where the testbed is not
stated, the hardware takes its place, and without either the case.

A later event in which the series of an earlier one went back to where they were is the end of the earlier one.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from math import log
from statistics import median
from typing import Any, Literal

from warehouse.analysis.conditions import Difference
from warehouse.analysis.events.findings import Finding, Now, finding_document, time_of
from warehouse.analysis.measurements import Measurement
from warehouse.evidence.ledger.annotations import Annotation
from warehouse.evidence.ledger.findings import FALSE_ALARM, FIXED, OPEN, Mark

_CLEAR = 8.0  # spreads from which on a longer step says no more of its place
SHORT = 20  # runs: what was better for longer than that and is no more got worse
_SOON = 16  # runs after a return that say how far it went: later ones may have moved since
_TOGETHER = 1 / 3  # of the members of an event, how many have to be found to go back for the others to be looked at
_LARGER = 1.25  # times the largest marked step, from which on a series that joined later is not what was marked
Outcome = Literal["better", "worse", "higher", "lower"]


@dataclass(frozen=True)
class Event:
    """Findings that are one change, the clearest first: it gives the place. `returned` are the findings with which it ended. `differences` are what
    differs between the runs next to the place, what differs for most members first. `unmoved` series of the members' cases had runs
    on both sides and did not change; `controls` are other cases on the testbed that did not, each with how many series."""

    event_id: str
    members: tuple[Finding, ...]
    returned: tuple[Finding, ...] = ()
    back_at: Measurement | None = None  # the first run after the return of its members, all of them or not
    stuck: frozenset[str] = frozenset()  # members whose level did not go back then
    differences: tuple[Difference, ...] = ()
    unmoved: int = 0
    controls: tuple[tuple[str, int], ...] = ()
    notes: tuple[Annotation, ...] = ()  # that people made of its machine or series at about its time

    @property
    def clearest(self) -> Finding:
        return self.members[0]

    @property
    def outcome(self) -> Outcome:
        """What got worse decides, unless it is only suspected where something better is confirmed."""
        found = {(each.status, each.outcome) for each in self.members}
        ways: tuple[Outcome, ...] = ("worse", "better")
        return next((way for status in ("confirmed", "suspected") for way in ways if (status, way) in found), self.clearest.outcome)

    @cached_property
    def leading(self) -> tuple[Finding, ...]:
        """The members with the outcome of the event."""
        return tuple(each for each in self.members if each.outcome == self.outcome)

    @property
    def status(self) -> Literal["confirmed", "suspected"]:
        return "confirmed" if any(each.status == "confirmed" for each in self.leading) else "suspected"

    @property
    def headline(self) -> Finding:
        """The member that stands for the event: a rate whose level moved, if there is one, for it sums up a run; of these the clearest."""
        return min(self.leading, key=lambda each: (each.status != self.status, each.kind != "level", not _is_rate(each)))

    @property
    def worst(self) -> Finding:
        """The member that moved most, among those as sure as the event."""
        alike = (each for each in self.leading if (each.status, each.kind) == (self.status, self.headline.kind))
        return max(alike, key=lambda each: abs(each.log_ratio))

    @property
    def now(self) -> Now:
        return "recovered" if self.end or all(each.now == "recovered" for each in self.leading if each.status == self.status) else "still"

    @property
    def way(self) -> str:
        """The direction in a word or two."""
        return self.headline.way

    @property
    def end(self) -> Measurement | None:
        """The first run after it, where all its members went back."""
        return None if self.stuck else self.back_at

    @property
    def needs(self) -> int | None:
        """How many more runs confirm a suspicion; None where runs alone cannot, or none are needed."""
        return min((each.needs for each in self.leading if each.needs), default=None) if self.status == "suspected" else None

    @property
    def is_exploratory(self) -> bool:
        return self.headline.is_exploratory

    @cached_property
    def mark(self) -> Mark | None:
        """The last mark of the event, which those members have that joined later; not one that called a false alarm what has been confirmed
        since. Without one, that of the headline if all members are marked."""
        marks = [each.mark for each in self.members if each.mark]
        of_event = [each for each in marks if each.finding.get("event_id")]
        last = max(of_event, key=lambda mark: mark.event.at, default=self.headline.mark if len(marks) == len(self.members) else None)
        is_confirmed = self.status == "confirmed" and not any(each.mark and each.status == "confirmed" for each in self.members)
        return None if last and last.state == FALSE_ALARM and is_confirmed else last

    @property
    def earlier_mark(self) -> Mark | None:
        return next((each.earlier_mark for each in self.members if each.earlier_mark), None)

    @cached_property
    def joined(self) -> tuple[Finding, ...]:
        """The members that the mark is not of: they joined later, and at another place or with a larger step than what was marked."""
        if not self.mark:
            return ()
        marked = [abs(each.log_ratio) for each in self.members if each.mark]
        return tuple(
            each for each in self.leading
            if not each.mark and (_off(each, self.clearest) or abs(each.log_ratio) > _LARGER * max(marked, default=float("inf")))
        )

    @property
    def is_contradicted(self) -> bool:
        """Whether it was marked as fixed and is still so in runs since then."""
        at = self.headline.fifth_last_at
        return bool(
            self.mark and self.mark.state == FIXED and self.now == "still" and at and at > datetime.fromisoformat(self.mark.event.at)
        )

    @property
    def state(self) -> str:
        return self.mark.state if self.mark and not self.joined and not self.is_contradicted else OPEN

    @property
    def doubt(self) -> str | None:
        """Why the mark does not settle it."""
        if self.mark and self.joined:
            return f"{len(self.joined)} series joined since it was marked {self.mark.state}"
        return "marked fixed, and still so" if self.is_contradicted else None

    @property
    def name(self) -> str:
        """What moved, as people name it: the headline's metric, and of what."""
        if len(self.leading) == 1 or self.headline.label is None:
            return self.headline.name
        return " · ".join(filter(None, (self.headline.label.metric, self.where)))

    @property
    def where(self) -> str | None:
        """Of what: the models and the machines, and the load where all members have one; None where the build does not name them."""
        labels = [each.label for each in self.leading if each.label]
        loads = list(dict.fromkeys(each.load for each in labels if each.load))
        parts = (
            _few([each.subject for each in labels], "models"), _few([each.gpu for each in labels], "kinds of machines"),
            loads[0] if len(loads) == 1 else f"{len(loads)} loads" if loads else None,
        )
        return " · ".join(filter(None, parts)) or None

    @property
    def families(self) -> tuple[tuple[str, int], ...]:
        """The metrics of its members without their statistics, each with how many members it has."""
        return tuple(Counter(each.label.family if each.label else each.first.metric for each in self.members).most_common())

    @property
    def ids(self) -> frozenset[str]:
        """Every id that means this event: its own, those made of its members, and those of the findings that ended it."""
        findings = [each.finding_id for each in (*self.members, *self.returned)]
        return frozenset({self.event_id, *findings, *map(event_id_of, findings)})

    @cached_property
    def rest(self) -> tuple[Finding, ...]:
        """The members that are still so."""
        return tuple(
            each for each in self.members if not (each.now == "recovered" or each.end or self.back_at and each.finding_id not in self.stuck)
        )

    def worst_status(self) -> str | None:
        """The strongest status of a member that is worse and still so; None where none is, or the event was decided about."""
        bad = {
            each.status for each in self.rest
            if each.kind != "spread" and each.outcome != "better"
            and (self.state if not each.mark or self.is_contradicted else each.mark.state) in (OPEN, "acknowledged")
        }
        return next((status for status in ("confirmed", "suspected") if status in bad), None)


def event_id_of(finding_id: str) -> str:
    """The id of an event that this finding began."""
    return f"e-{finding_id.removeprefix('f-')}"


def fold(findings: Iterable[Finding], known: Mapping[str, str]) -> tuple[Event, ...]:
    """The events of findings: those without a decision first, of these the confirmed ones, then what got worse, then the latest. `known` is the
    event that each finding was shown in before: an event keeps its id while one of its members stays."""
    groups = _groups(sorted(findings, key=_clearness))
    of_series = _by_series(groups)
    returns = _returns(groups, of_series)
    hidden = {each.finding_id for back in returns for each in back.hidden}
    begun = {event_id_of(each.finding_id) for group in groups for each in group}
    events: list[Event] = []
    taken: set[str] = set()
    for whole, back in zip(groups, returns, strict=True):
        group = [each for each in whole if each.finding_id not in hidden]
        if not group:
            continue
        own = [event_id_of(each.finding_id) for each in group]
        before = [known[each.finding_id] for each in group if each.finding_id in known]
        event_id = next((each for each in before if each in own or each not in begun and each not in taken), own[0])
        taken.add(event_id)
        events.append(_ended(Event(event_id, tuple(group), back.hidden), back, of_series))
    return tuple(sorted(events, key=lambda each: (
        each.state not in (OPEN, "acknowledged"), each.status != "confirmed", each.outcome != "worse", each.now != "still",
        -time_of(each.clearest.first).timestamp(), each.event_id,
    )))


@dataclass(frozen=True)
class Span:
    """A series with the times of its first and its last run."""

    series_key: str
    hardware: str | None
    testbed: str | None
    case: str | None
    first_at: datetime
    last_at: datetime
    subject: str | None  # what people call the case


def with_context(event: Event, spans: Iterable[Span], moved: Iterable[Finding]) -> Event:
    """The event with what differs there and what did not move, of all series and all findings of the scan."""
    on, since, until = machine(event.clearest), time_of(event.clearest.last), time_of(event.clearest.first)
    members = {each.first.series_key for each in event.members}
    others = {
        each.first.series_key for each in moved if time_of(each.last) <= until and time_of(each.first) >= since
    } | members
    cases = {each.first.benchmark_case_id for each in event.members}
    still = [
        (each.case, each.subject or each.case or "") for each in spans
        if each.series_key not in others and each.first_at <= since and each.last_at >= until
        if _machine(each.testbed, each.hardware, each.case) == on
    ]
    controls = Counter(subject for case, subject in still if case not in cases)
    return replace(event, differences=_differences(event), unmoved=sum(case in cases for case, _ in still), controls=tuple(controls.most_common()))


def machine(finding: Finding) -> tuple[str, str | None]:
    """What the findings of an event have in common."""
    return _machine(finding.first.variables["testbed"], finding.first.variables["hardware"], finding.first.benchmark_case_id)


def _machine(testbed: str | None, hardware: str | None, case: str | None) -> tuple[str, str | None]:
    return next(((name, value) for name, value in (("testbed", testbed), ("hardware", hardware)) if value), ("case", case))


def event_document(event: Event) -> dict[str, Any]:
    """An event as plain values: what `--json` prints."""
    headline, worst = finding_document(event.headline), event.worst
    first, last = event.clearest.first, event.clearest.last
    kept = ("name", "metric", "point", "unit", "benchmark_case_id", "series_key", "before", "after", "ratio", "ratio_low", "ratio_high")
    return {
        "event_id": event.event_id, "name": event.name, "status": event.status, "outcome": event.outcome,
        "kind": event.headline.kind, "now": event.now, "state": event.state,
        "reason": event.mark.reason if event.mark else None, "is_exploratory": event.is_exploratory, "needs": event.needs,
        "last_run_before": last.run_id, "first_run_after": first.run_id, "last_before_at": time_of(last).isoformat(),
        "changed_at": time_of(first).isoformat(), "ended_at": time_of(event.end).isoformat() if event.end else None,
        "headline": {"finding_id": event.headline.finding_id, **{name: headline[name] for name in kept}},
        "worst": {
            "finding_id": worst.finding_id, "name": worst.name, "metric": worst.first.metric,
            "ratio": worst.after / worst.before if worst.before else None,
        },
        "metrics": sorted({each.first.metric for each in event.members}),
        "cases": sorted({each.first.benchmark_case_id or "" for each in event.members}),
        "members": [each.finding_id for each in event.members], "returned": [each.finding_id for each in event.returned],
        "differences": [str(each) for each in event.differences], "unmoved": event.unmoved,
        "notes": [{"at": each.at.isoformat(), "of": each.place, "subject": each.subject, "text": each.text} for each in event.notes],
        "controls": [{"name": label, "series": count} for label, count in event.controls],
    }


def _groups(findings: Sequence[Finding]) -> list[list[Finding]]:
    """The findings, given the clearest first, by event."""
    groups: list[list[Finding]] = []
    of_machine: dict[tuple[bool, str, str | None], list[list[Finding]]] = {}
    for each in findings:
        near = of_machine.setdefault((each.kind == "drift", *machine(each)), [])  # a drift has no place in time
        fits = [
            (off, place) for place, group in enumerate(near)
            if (off := _off(each, group[0])) <= each.jitter
            and all((each.first.series_key, each.kind) != (other.first.series_key, other.kind) for other in group)
        ]
        if fits:
            near[min(fits)[1]].append(each)
        else:
            group = [each]
            near.append(group)
            groups.append(group)
    return groups


def _clearness(found: Finding) -> tuple[Any, ...]:
    """The clearest first: of a level, confirmed, far beyond the noise, and with the shortest time between the last run before and the first after."""
    width = time_of(found.first) - time_of(found.last)
    return found.kind != "level", found.status != "confirmed", -min(found.distance, _CLEAR), width, -found.distance, found.finding_id


def _off(found: Finding, clear: Finding) -> int:
    """How many of its runs lie between the place of a finding and that of a clear one; 0 where they agree."""
    low, high = bisect_right(found.times, time_of(clear.last)), bisect_left(found.times, time_of(clear.first))
    return max(0, low - found.place, found.place - max(low, high))


def _by_series(groups: Sequence[Sequence[Finding]]) -> dict[str, list[Finding]]:
    """The changes of level of each series, in the order of time."""
    of_series: dict[str, list[Finding]] = {}
    for each in sorted((each for group in groups for each in group if each.kind == "level"), key=lambda each: time_of(each.first)):
        of_series.setdefault(each.first.series_key, []).append(each)
    return of_series


@dataclass(frozen=True)
class _Return:
    """Where members of an event went back together: the findings of that which are no events of their own, the clearest first; the first run after
    it; and the series that were seen to go back."""

    hidden: tuple[Finding, ...] = ()
    at: Measurement | None = None
    series: frozenset[str] = frozenset()


def _returns(groups: Sequence[Sequence[Finding]], of_series: Mapping[str, Sequence[Finding]]) -> list[_Return]:
    """The return of each event. What got worse again, after it had long been better, is an event of its own."""
    places = {each.finding_id: number for number, group in enumerate(groups) for each in group}
    returns = []
    for group in groups:
        pairs = [(each, back) for each in group if (back := _back(each, of_series.get(each.first.series_key, ())))]
        counts = Counter(places[back.finding_id] for _, back in pairs).most_common(1)
        if not counts or counts[0][1] < _TOGETHER * len(group):
            returns.append(_Return())
            continue
        end = groups[counts[0][0]]
        own = {back.finding_id for each, back in pairs if back.outcome != "worse" or each.points[1] <= SHORT}
        better = {each.finding_id for each in end if each.outcome == "better"}
        if 2 * len(better & own) >= len(end):  # what improved with most of them is of the same return
            own |= better
        backs = [*end, *(back for _, back in pairs if places[back.finding_id] != counts[0][0])]
        first = next(each.first for each in end if any(each is back for _, back in pairs))
        series = frozenset(each.first.series_key for each, _ in pairs)
        returns.append(_Return(tuple(each for each in backs if each.finding_id in own), first, series))
    return returns


def _ended(event: Event, back: _Return, of_series: Mapping[str, Sequence[Finding]]) -> Event:
    """The event with the run by which its members went back, if they did, and which of them did not."""
    ended, back_at = [each.end for each in event.leading if each.end], back.at
    if back_at is None and len(ended) >= _TOGETHER * len(event.leading):
        back_at = next(iter(ended), None)
    if back_at is None:
        return event
    stuck = {
        each.finding_id for each in event.members
        if each.first.series_key not in back.series and not each.end and each.now != "recovered" and _is_stuck(each, back_at, of_series)
    }
    return replace(event, back_at=back_at, stuck=frozenset(stuck))


def _is_stuck(found: Finding, back_at: Measurement, of_series: Mapping[str, Sequence[Finding]]) -> bool:
    """Whether more than half of its step was left in the runs after the others went back, until its next change."""
    since = time_of(back_at)
    later = (time_of(each.first) for each in of_series.get(found.first.series_key, ()) if time_of(each.last) > since)
    first, end = bisect_left(found.times, since), bisect_left(found.times, min(later, default=datetime.max.replace(tzinfo=UTC)))
    end = min(end, first + _SOON)
    if first >= end or found.kind != "level":
        return found.kind == "level"
    start, level = _level(found.before), _level(found.after)
    return (_level(median(found.values[first:end])) - start) / (level - start) > 0.5 if level != start else False


def _back(found: Finding, of_series: Sequence[Finding]) -> Finding | None:
    """The later change of its series that took it back to where it was, if it stayed on its side until then. A suspicion does not undo what is
    confirmed."""
    start, level = _level(found.before), _level(found.after)
    for each in of_series if found.kind == "level" else ():
        if time_of(each.first) > time_of(found.first):
            if each.end and is_excursion(each.points_since(found), each.points[1]):
                continue
            soon = each.values[each.place : each.place + min(each.points[1], _SOON)]
            left = _level(median(soon)) - start
            if abs(left) < abs(level - start) / 2 or (left > 0) != (level > start):
                is_sure = each.status == "confirmed" or found.status == "suspected"
                return each if is_sure and abs(left) <= found.tolerance(len(soon)) else None
    return None


def is_excursion(before: int, runs: int) -> bool:
    """Whether a level of so many runs, after one of so many, was only a short interruption of that one."""
    return runs <= min(SHORT, before / 2)


def _level(value: float) -> float:
    return log(value) if value > 0 else value


def _differences(event: Event) -> tuple[Difference, ...]:
    """What differs next to the place, once each; what differs for the headline and for most members comes first."""
    sides = {each.near: each.differences for each in (event.headline, *event.members)}
    found: dict[tuple[str, str], Difference] = {}
    counts: Counter[tuple[str, str]] = Counter()
    for differences in sides.values():
        for each in differences:
            found.setdefault((each.kind, each.name), each)
            counts[each.kind, each.name] += 1
    return tuple(each for _, each in sorted(
        enumerate(found.values()), key=lambda item: (not item[1].is_apart, -counts[item[1].kind, item[1].name], item[0])
    ))


def _few(values: Iterable[str | None], plural: str) -> str | None:
    """One or two values by name, more by their number."""
    distinct = list(dict.fromkeys(value for value in values if value))
    return f"{len(distinct)} {plural}" if len(distinct) > 2 else ", ".join(distinct) or None


def _is_rate(found: Finding) -> bool:
    return found.first.better == "higher" and (found.first.unit or "").endswith("/s")
