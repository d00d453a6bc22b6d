"""What changed: the events of a scan of all series, what stopped coming, and what was not judged, with the reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import exp, isfinite
from typing import Any

from warehouse.analysis.changes import Changes, changes
from warehouse.analysis.compare import THRESHOLD
from warehouse.analysis.events.event import Event
from warehouse.analysis.events.findings import Finding
from warehouse.analysis.marks import mark_event
from warehouse.analysis.times import parse_since
from warehouse.errors import ExitCode, WarehouseError, counted, printable
from warehouse.evidence.ledger.findings import MARKS, Mark
from warehouse.statistics.splits import LEAST
from warehouse.surfaces.parts import Chart, Choice, Column, Fact, Facts, Form, Page, Part, Table, Text
from warehouse.surfaces.view import OFFSET, Parameter, View, Visit, address
from warehouse.surfaces.views.analysis.event_entry import (
    event_entry,
    event_record,
    event_table,
    event_title,
    finding_record,
    finding_table,
    worst_members,
)
from warehouse.surfaces.views.analysis.wording import choices, differences_table, percent, series_name

_PATH = "/changes"
_MOST_METRICS = 12  # that the page offers to choose from
_MARK = "/changes/{any_id}/mark"
_RUN = "/runs/{run_id:path}"
_MOST = 40  # findings of a table
_MOST_EVENTS = 10  # of a page
_MOST_MEMBERS = 20  # of all events of a page, to read
_LISTED_CASES = 10  # that were not judged, to read
_DRAWN = 3  # members of an event
_FAMILIES = 6  # of metrics, by name
_WAYS = ("worse", "better", "higher", "lower")


def _answer(visit: Visit) -> Page:
    if visit["finding"] or visit["event"]:
        return _one(visit, changes(visit.project, None, visit["threshold"], visit.now))
    since = parse_since(visit["since"], visit.now) if visit["since"] else None
    found = changes(visit.project, since, visit["threshold"], visit.now)
    named = [each for each in found.events if _is_named(each, visit["metric"])]
    shown = [each for each in named if visit["way"] in (None, *_ways(each)) and visit["state"] in (None, each.state)]
    first = visit["offset"]
    page = shown[first : first + _MOST_EVENTS]
    more = address(_PATH, **{**visit.values, "offset": first + _MOST_EVENTS}) if len(shown) > first + _MOST_EVENTS else None
    table = _as_data(event_table(page, visit["threshold"]))
    empty = "no event is like that; others are" if found.events else "no change was found" if found.tested else _not_tested(found)
    members = [each for event in page for each in event.members if _is_metric(each, visit["metric"])]
    parts: list[Part] = [*_filters(visit, found, named)]
    parts += [event_entry(each, visit["threshold"], visit.role == "admin", each is page[0]) for each in page]
    as_table = replace(table, total=len(shown), more=more, empty=empty, title="All as a table" if page else "")
    findings = _as_data(finding_table(members[:_MOST], visit["threshold"], found.events))
    data = [as_table, *([replace(findings, total=len(members), title="Their members", listed=_MOST_MEMBERS)] if members else [])]
    parts += [*([] if page else [as_table]), *([_outliers(found)] if found.outliers else []), _not_judged(found), *(data if page else data[1:])]
    parts += _how(found)
    counts = Counter(each.status for each in found.events)
    moved = len({each.first.series_key for event in found.events for each in event.members})
    said = [f"since {since:%Y-%m-%d}" if since else ""]
    said += [f"{counted(len(found.events), 'event')} in {moved:,} of {len(found.series):,} series"] if found.events or found.tested else []
    # Series that are one measurement, such as a rate and its inverse, are one test.
    tests = f"{counted(found.tested, 'test')} of {len(found.series):,} series" if found.tested else f"none of {len(found.series):,} series tested"
    said += [*(f"{count} {status}" for status, count in sorted(counts.items())), tests]
    return Page("What changed", tuple(parts), " · ".join(filter(None, said)), next_steps={
        "What regressed in the past year": address(_PATH, since="1y", way="worse"), "Compare two sets of runs": "/compare", "All runs": "/runs",
    })


def _not_tested(found: Changes) -> str:
    """Why no series was tested, and what ends that."""
    longest = max((each.points for each in found.series if each.last_at), default=0)
    has = f"the longest has {longest}" if longest else "no run states its time"
    return f"too few dated runs to look for changes: a series is tested from {counted(LEAST, 'run')} with a time on, and {has}"


def _as_data(table: Table) -> Table:
    """The table folded, with its drawings in the data formats alone."""
    columns = tuple(replace(each, is_hidden=each.is_hidden or each.kind in ("spark", "effect")) for each in table.columns)
    return replace(table, columns=columns, is_folded=True)


def _ways(event: Event) -> set[str]:
    """The directions in which an event is asked for: its own, and worse where anything got worse."""
    return {event.outcome, *(each.outcome for each in event.members if each.outcome == "worse")}


def _is_metric(found: Finding, metric: str | None) -> bool:
    from fnmatch import fnmatchcase

    return metric is None or fnmatchcase(found.first.metric, metric)


def _is_named(event: Event, metric: str | None) -> bool:
    return any(_is_metric(each, metric) for each in event.members)


def _filters(visit: Visit, found: Changes, named: Sequence[Event]) -> Iterable[Facts]:
    threshold = visit["threshold"] if visit["threshold"] != THRESHOLD else None
    values = {**visit.values, "offset": None, "finding": None, "event": None, "threshold": threshold}
    spans = (("any time", None), ("past 14 days", "14d"), ("past 30 days", "30d"), ("past 6 months", "6m"), ("past year", "1y"))
    yield choices("since", _PATH, values, "since", [(words, value, None) for words, value in spans])
    ways = Counter(str(each.outcome) for each in named)
    offered = [(way, way, ways[way]) for way in _WAYS if ways[way] or way == visit["way"] or way == "worse"]
    yield choices("way", _PATH, values, "way", [("either direction", None, len(named)), *offered])
    states = Counter(each.state for each in named)
    marked = [(state, state, states[state]) for state in MARKS if states[state] or state == visit["state"]]
    if len(marked) > 1 or visit["state"]:
        yield choices("state", _PATH, values, "state", [("any mark", None, len(named)), *marked])
    names = {one.first.metric: one.label.metric if one.label else one.first.metric for each in found.events for one in each.members}
    metrics = Counter(metric for each in found.events for metric in {one.first.metric for one in each.members})
    if len(metrics) > 1 or visit["metric"]:
        often = sorted(metrics.items(), key=lambda each: (-each[1], names[each[0]]))[:_MOST_METRICS]
        offered_metrics = [(names[name], name, count) for name, count in often]
        yield choices("metric", _PATH, values, "metric", [("any metric", None, None), *offered_metrics])


def _one(visit: Visit, found: Changes) -> Page:
    """The event or the finding that an id means; of what is no longer detected, what it was."""
    any_id = visit["finding"] or visit["event"]
    event, passed = found.event(any_id), found.passed.named(any_id)
    chosen = next((each for each in (*event.members, *event.returned) if each.finding_id == any_id), None) if event else None
    if event and chosen:
        return _finding_page(chosen, event, visit)
    if event:
        return _event_page(event, visit)
    if not passed:
        raise WarehouseError("WH503", "no event or finding has this id", printable(any_id), "/changes lists them", ExitCode.NOT_FOUND)
    columns = (Column("finding_id", "finding", kind="code"), Column("words", "it was"), Column("shown_on", "last shown on"))
    rows = tuple((finding_id, each.words, each.shown_on) for finding_id, each in passed.items())
    return Page(
        "No longer detected", (Table("passed", columns, rows[:_MOST], total=len(rows)),), any_id, crumbs=(("What changed", _PATH),),
        next_steps={"What changed": _PATH},
    )


def _event_page(event: Event, visit: Visit) -> Page:
    """One event: its place, its worst members drawn, what differs, what did not move, and all members."""
    threshold = visit["threshold"]
    record, worst = event_record(event, threshold), worst_members(event)
    facts = [
        Fact("change", f"{record['change']} ({record['interval']})", note=event.headline.name),
        Fact("worst", percent(exp(event.worst.log_ratio)) if isfinite(event.worst.log_ratio) else "from zero", note=event.worst.name),
        *_place(event.clearest), Fact("now", event.now if event.now == "recovered" else "still so", kind="state"),
        Fact("moved", record["moved"], note=_families(event)),
        Fact("needs", counted(event.needs, "more run") if event.needs else None, note="to be confirmed"),
    ]
    if event.end:
        run_id = event.end.run_id
        facts.append(Fact("ended_before", f"{event.end.started_at:%Y-%m-%d %H:%M} UTC", link=address(_RUN, run_id=run_id), note=run_id))
    facts += [Fact("noted", str(each), note=f"on the {each.place} {each.subject}, by {each.event.by}") for each in event.notes]
    facts += _decided(event.mark, event.earlier_mark)
    columns = (Column("case", "what did not move"), Column("series", kind="number"))
    drawn = finding_table(worst[:_DRAWN], threshold, [event], "drawn")
    members = finding_table(event.members[:_MOST], threshold, [event], "members")
    near = finding_record(event.headline, threshold, event.event_id)
    return Page(
        event_title(event), (
            Facts("event", tuple(each for each in facts if each.value is not None)),
            replace(drawn, title=f"{counted(len(worst[:_DRAWN]), 'series', 'series')} of it drawn, worst first"),
            differences_table(event.differences, "What differs", ("before", "after")),
            Table("controls", columns, event.controls[:_MOST], "Control series on the same machine", total=len(event.controls)),
            replace(members, title="Its members", total=len(event.members), is_folded=True),
            *_deciding(event.event_id, visit),
        ), f"event {event.event_id}", (event.status, record["way"] or "", event.state), crumbs=(("What changed", _PATH),),
        next_steps={
            "Compare the runs before and after": address("/compare", base=near["base"], head=near["head"]),
            "Explain the first run after": address("/explain", run=event.clearest.first.run_id),
        },
    )


def _families(event: Event) -> str:
    """What moved by family, the first few."""
    said = [f"{count} {family}" for family, count in event.families[:_FAMILIES]]
    return ", ".join([*said, *([f"and {len(event.families) - _FAMILIES} more"] if len(event.families) > _FAMILIES else [])])


def _finding_page(chosen: Finding, event: Event, visit: Visit) -> Page:
    """One finding, with its runs on the axis of their order and everything else that changed there."""
    record = finding_record(chosen, visit["threshold"], event.event_id)
    unit = chosen.first.unit
    facts = [
        Fact("change", f"{record['change']} ({record['interval']})", note=record["levels"]), Fact("direction", record["way"], kind="state"),
        Fact("event", event.name, link=address(_PATH, event=event.event_id), note=counted(len(event.members), "member")),
        *_place(chosen), Fact("runs", f"{chosen.points[0]} before, {chosen.points[1]} after in {counted(chosen.sessions_after, 'session')}"),
        Fact("now", {"still": "still so", "recovered": "recovered since"}[chosen.now]),
        Fact("rule", chosen.rule, note=f"p {chosen.p:.2g}; among all that were tested q {chosen.q:.2g}"),
        Fact("controls", f"{chosen.controls[0]} of {chosen.controls[1]} changed there too" if chosen.controls[1] else "none on this machine"),
    ]
    if chosen.needs:
        facts.append(Fact("needs", counted(chosen.needs, "more run"), note="to be confirmed"))
    facts += _decided(chosen.mark, chosen.earlier_mark)
    columns = (
        Column("place", "run in order", kind="number"), Column("run_id", "run", kind="code", link=_RUN),
        Column("value", chosen.label.metric if chosen.label else chosen.first.metric, kind="number", unit=unit), Column("side"),
        Column("note", is_hidden=True),
    )
    rows = tuple(
        (place + 1, run_id, value, "after" if place >= chosen.place else "before", "the change" if place == chosen.place else None)
        for place, (run_id, value) in enumerate(zip(chosen.run_ids, chosen.values, strict=True))
    )
    chart = Chart("trend", "place", "value", group="side", note="note", link=_RUN, title="The runs around the change, oldest to newest")
    return Page(
        record["series"], (
            Facts("finding", tuple(facts)), Table("values", columns, rows, chart=chart, is_folded=True),
            differences_table(chosen.differences, "What else changed there", ("before", "after")), *_deciding(chosen.finding_id, visit),
        ), f"finding {chosen.finding_id}", (chosen.status, record["way"] or "", chosen.state), crumbs=(("What changed", _PATH),),
        next_steps={
            "Compare the runs before and after": address("/compare", base=record["base"], head=record["head"], metric=chosen.first.metric),
            "The series": address("/explore", series=chosen.first.series_key),
        },
    )


def _place(found: Finding) -> Iterable[Fact]:
    yield Fact("changed_between", f"{found.last.started_at:%Y-%m-%d %H:%M} and {found.first.started_at:%Y-%m-%d %H:%M} UTC")
    for name, run_id in (("last_run_before", found.last.run_id), ("first_run_after", found.first.run_id)):
        yield Fact(name, run_id, link=address(_RUN, run_id=run_id), kind="code")


def _decided(mark: Mark | None, earlier: Mark | None) -> Iterable[Fact]:
    if mark:
        yield Fact("mark", mark.state, kind="state", note=f"{mark.reason}, {mark.event.by}, {mark.event.at}")
    elif earlier:
        yield Fact("marked_under_an_earlier_rule", earlier.state, kind="state", note=f"{earlier.reason}, {earlier.event.by}, {earlier.event.at}")


def _deciding(any_id: str, visit: Visit) -> Iterable[Part]:
    """How to say what it is: on the page, where the visitor may, and by command."""
    if visit.role == "admin":
        fields = (Choice("state", value="acknowledged", choices=MARKS), Choice("reason", "why"))
        yield Form("mark", address(_MARK, any_id=any_id), fields, "Save", "Decide about it", "post")
    yield Text("commands", f"wh changes mark {any_id} acknowledged --reason 'why'\nwh changes {any_id}", "commands", "The same by command")


def _mark(visit: Visit) -> Page:
    """Write into the ledger what a visitor says of an event or a finding, as `wh changes mark` does."""
    any_id, state = visit["any_id"], visit["state"]
    if visit.role != "admin":
        raise WarehouseError("WH603", "only an admin marks events", printable(any_id), "wh token new NAME --role admin", ExitCode.FAILED)
    found = changes(visit.project, None, visit["threshold"], visit.now)
    marks = mark_event(visit.project, found.event(any_id), any_id, state or "", visit["reason"] or "", visitor=visit.visitor)
    rows = tuple((finding_id, each.at, each.by, each.key) for finding_id, each in marks.items())
    columns = (
        Column("finding_id", "finding", kind="code", link="/changes?finding={finding_id}"), Column("at", kind="moment"), Column("by"),
        Column("event", "in the ledger", kind="code"),
    )
    return Page(
        f"{any_id} is {state}", (Table("marks", columns, rows),), visit["reason"], (state,), crumbs=(("What changed", _PATH),),
        next_steps={"What changed": _PATH, "Back to it": address(_PATH, **{"event" if any_id.startswith("e-") else "finding": any_id})},
    )


def _outliers(found: Changes) -> Table:
    columns = (
        Column("series", link="/explore?series={series_key}"), Column("run_id", "run", kind="code", link=_RUN),
        Column("node", is_minor=True), Column("value", kind="number"), Column("expected", "the others", kind="number"), Column("unit"),
        Column("others", kind="number", is_minor=True), Column("series_key", is_hidden=True),
    )
    rows = tuple(
        (
            series_name(each.measurement.benchmark_case_id, each.measurement.metric, each.measurement.point), each.measurement.run_id,
            each.measurement.node, each.measurement.value, each.expected, each.measurement.unit, len(each.others), each.measurement.series_key,
        )
        for each in found.outliers[:_MOST]
    )
    return Table("outliers", columns, rows, "Single runs that stand out among few", total=len(found.outliers))


def _not_judged(found: Changes) -> Table:
    """What was not judged or stopped coming, by case, with the reason."""
    groups: dict[tuple[str, str | None], list[Any]] = {}
    for each in found.series:
        words = [word for word, holds in (("stale", each.is_stale), ("missing", each.missing > 0)) if holds]
        if not words and each.status == "insufficient":
            words = ["insufficient"]
        for word in words:
            groups.setdefault((word, each.benchmark_case_id), []).append(each)
    rows = []
    order = ("stale", "missing", "insufficient")
    for (word, case), series in sorted(groups.items(), key=lambda item: (order.index(item[0][0]), -len(item[1]), str(item[0][1]))):
        last = max((each.last_at for each in series if each.last_at), default=None)
        why = {
            "stale": f"no run since {last:%Y-%m-%d}, three times the usual gap between sessions" if last else "",
            "missing": f"{counted(max(each.missing for each in series), 'run')} of the case since {last:%Y-%m-%d} without the metric" if last else "",
            "insufficient": f"at most {counted(max(each.points for each in series), 'run')} a series" if last else "no run has a time",
        }[word]
        rows.append((word, case, len(series), why, last))
    columns = (
        Column("state", kind="state"), Column("case", link="/runs?case={case}"),
        Column("series", kind="number", link="/explore?case={case}"), Column("why"),
        Column("last_run_at", "last run", kind="moment", is_minor=True),
    )
    return Table(
        "not_judged", columns, tuple(rows[:_MOST]), "Not judged, or no longer measured",
        f"A series is judged from {LEAST} runs with a time on." if rows else "", "every series was judged", len(rows), listed=_LISTED_CASES,
    )


def _how(found: Changes) -> Iterable[Part]:
    lines = [
        "Series of one testbed that change together are one event. A finding is confirmed by five runs of two sessions after it; the others are"
        " suspected. At most 5 % of what is reported is expected to be false (Benjamini and Hochberg).",
    ]
    if found.dropped:
        lines.append(f"{counted(found.dropped, 'suspicion')} left out: of so many series, some look so by chance.")
    if found.not_finite:
        lines.append(f"{counted(found.not_finite, 'measurement')} without a number left out.")
    lines += [f"Rule {each.rule}: {each.real} of {each.real + each.false_alarms} marked findings were real." for each in found.precision]
    yield Text("how", "\n".join(lines), title="How this is decided")


VIEWS = (
    View(
        "changes", _PATH, "What changed",
        "Which events changed series of measurements, when, by how much, whether it is still so, what differs there, and what did not move.",
        _answer, (
            Parameter("since", "Only changes since then: 1y, 6m, 2w, 10d, or a date."),
            Parameter("way", "Only changes in this direction.", choices=_WAYS),
            Parameter("state", "Only events marked so.", choices=MARKS),
            Parameter("metric", "Only events of metrics of this name; * stands for any characters."),
            Parameter("threshold", "The smallest change worth a finding, as a share.", float, THRESHOLD, bounds=(0.0, 10.0)),
            Parameter("event", "One event by its id, or by that of any event that it was before, with its members."),
            Parameter("finding", "One finding by its id, with all that is known of it."),
            OFFSET,
        ), menu="What changed", is_costly=True, is_by_role=True,
    ),
    View(
        "mark", _MARK, "Mark an event", "Write into the ledger what you say of an event or a finding: the same as wh changes mark.", _mark, (
            Parameter("any_id", "The id of an event or a finding."), Parameter("state", "What it is.", choices=MARKS),
            Parameter("reason", "Why."),
            Parameter("threshold", "The smallest change worth a finding, as a share.", float, THRESHOLD, bounds=(0.0, 10.0)),
        ), is_costly=True, is_act=True,
    ),
)
