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
from warehouse.analysis.events.findings import Finding, finding_document
from warehouse.analysis.times import parse_since
from warehouse.errors import ExitCode, WarehouseError, counted, printable
from warehouse.evidence.ledger.findings import Mark
from warehouse.surfaces.parts import Chart, Column, Fact, Facts, Page, Part, Table, Text
from warehouse.surfaces.view import OFFSET, Parameter, View, Visit, address
from warehouse.surfaces.views.analysis.wording import between, choices, differences_table, direction, percent, series_name

_PATH = "/changes"
_RUN = "/runs/{run_id:path}"
_MOST = 40  # events of a page, and findings of a table
_DIFFERENCES = 3  # of an event, in the list
_DRAWN = 3  # members of an event that are drawn, the worst first
_STATES = ("open", "acknowledged", "explained", "fixed", "false-alarm")
_WAYS = ("worse", "better", "higher", "lower")
_EVENT_COLUMNS = (
    Column("name", "what", link="/changes?event={event_id}"), Column("status", kind="state"), Column("way", "direction", kind="state"),
    Column("runs", "headline, oldest to newest", kind="spark", tone="way"),
    Column("change", link="/changes?event={event_id}"), Column("interval", "95 %"),
    Column("changed_on", "first run after", kind="moment", link="/runs/{first_run_after:path}"),
    Column("moved", "series moved"), Column("what_else", "what else changed there"),
)
_EVENT_HIDDEN = (
    "event_id", "state", "now", "changed_at", "last_before_at", "ended_at", "last_run_before", "first_run_after", "headline_metric", "members",
    "unmoved", "is_exploratory",
)
_COLUMNS = (
    Column("series", link="/explore?series={series_key}"), Column("status", kind="state"), Column("way", "direction", kind="state"),
    Column("runs", "runs, oldest to newest", kind="spark", tone="way"),
    Column("effect", "effect; grey: not worth acting on", kind="effect", tone="way"),
    Column("change", link="/changes?finding={finding_id}"), Column("interval", "95 %"), Column("levels"),
    Column("changed_on", "first run after", kind="moment", link="/runs/{first_run_after:path}"),
    Column("sides", "compare", link="/compare?base={base}&head={head}&metric={metric}"),
)
_HIDDEN = (
    "finding_id", "event_id", "state", "now", "changed_at", "last_before_at", "series_key", "base", "head", "metric", "point", "benchmark_case_id",
    "unit", "better", "before", "after", "ratio", "ratio_low", "ratio_high", "p", "q", "points_before", "points_after", "is_exploratory",
    "last_run_before", "first_run_after",
)


def _answer(visit: Visit) -> Page:
    if visit["finding"] or visit["event"]:
        return _one(visit, changes(visit.project, None, visit["threshold"], visit.now))
    since = parse_since(visit["since"], visit.now) if visit["since"] else None
    found = changes(visit.project, since, visit["threshold"], visit.now)
    named = [each for each in found.events if _is_named(each, visit["metric"])]
    shown = [each for each in named if visit["way"] in (None, *_ways(each)) and visit["state"] in (None, each.state)]
    first = visit["offset"]
    page = shown[first : first + _MOST]
    more = address(_PATH, **{**visit.values, "offset": first + _MOST}) if len(shown) > first + _MOST else None
    table = event_table(page, visit["threshold"])
    empty = "no event is like that; others are" if found.events else "no change was found"
    if not found.tested:
        empty = "too few dated runs to look for changes"
    members = [each for event in page for each in event.members if _is_metric(each, visit["metric"])]
    parts: list[Part] = [*_filters(visit, found, named), replace(table, total=len(shown), more=more, empty=empty)]
    findings = replace(_table(members[:_MOST], visit["threshold"], found.events), total=len(members), title="Their members", is_folded=True)
    parts += [findings, _outliers(found), _not_judged(found), *_how(found)]
    counts = Counter(each.status for each in found.events)
    moved = len({each.first.series_key for event in found.events for each in event.members})
    said = [f"since {since:%Y-%m-%d}" if since else "", f"{counted(len(found.events), 'event')} in {moved:,} of {len(found.series):,} series"]
    said += [f"{found.tested:,} tested", *(f"{count} {status}" for status, count in sorted(counts.items()))]
    return Page("What changed", tuple(parts), " · ".join(filter(None, said)), next_steps={
        "What regressed in the past year": address(_PATH, since="1y", way="worse"), "Compare two sets of runs": "/compare", "All runs": "/runs",
    })


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
    marked = [(state, state, states[state]) for state in _STATES if states[state] or state == visit["state"]]
    if len(marked) > 1 or visit["state"]:
        yield choices("state", _PATH, values, "state", [("any mark", None, len(named)), *marked])
    metrics = Counter(metric for each in found.events for metric in {one.first.metric for one in each.members})
    if len(metrics) > 1 or visit["metric"]:
        offered_metrics = [(name, name, count) for name, count in metrics.most_common(12)]
        yield choices("metric", _PATH, values, "metric", [("any metric", None, None), *offered_metrics])


def event_table(
    events: Sequence[Event], threshold: float = THRESHOLD, title: str = "", total: int | None = None, more: str | None = None
) -> Table:
    marked = (Column("marked", kind="state"),) if any(each.mark or each.earlier_mark for each in events) else ()
    columns = (*_EVENT_COLUMNS, *marked, *(Column(each, is_hidden=True) for each in _EVENT_HIDDEN))
    records = [_event_record(each, threshold) for each in events]
    return Table("events", columns, tuple(tuple(record[column.name] for column in columns) for record in records), title, total=total, more=more)


def _event_record(event: Event, threshold: float) -> dict[str, Any]:
    headline = _record(event.headline, threshold, event.event_id)
    last, first, of = event.clearest.last, event.clearest.first, len(event.members) + event.unmoved
    return {
        **{name: headline[name] for name in ("runs", "change", "interval")},
        "event_id": event.event_id, "name": event.name, "status": event.status, "way": _way(event.headline),
        "changed_on": first.started_at and first.started_at.date(), "changed_at": first.started_at, "last_before_at": last.started_at,
        "ended_at": event.end.started_at if event.end else None, "last_run_before": last.run_id, "first_run_after": first.run_id,
        "moved": f"{len(event.members)} of {of}",
        "what_else": _what_else(event), "marked": _marked(event), "state": event.state, "now": event.now,
        "headline_metric": event.headline.first.metric,
        "members": ",".join(each.finding_id for each in event.members), "unmoved": event.unmoved, "is_exploratory": event.is_exploratory,
    }


def _marked(event: Event) -> str:
    return f"{event.earlier_mark.state}, under an earlier rule" if event.earlier_mark and not event.mark else event.state


def _way(found: Finding) -> str | None:
    return direction(found.outcome, found.first.unit) if found.kind == "level" else found.way


def _table(findings: Sequence[Finding], threshold: float, events: Sequence[Event], name: str = "findings") -> Table:
    event_of = {each.finding_id: event.event_id for event in events for each in event.members}
    columns = (*_COLUMNS, *(Column(each, is_hidden=True) for each in _HIDDEN))
    records = [_record(each, threshold, event_of[each.finding_id]) for each in findings]
    return Table(name, columns, tuple(tuple(record[column.name] for column in columns) for record in records))


def _record(found: Finding, threshold: float, event_id: str) -> dict[str, Any]:
    document = finding_document(found)
    low, high = document["ratio_low"], document["ratio_high"]
    unit = f" {found.first.unit}" if found.first.unit else ""
    return {
        **document, "series": found.name, "event_id": event_id, "way": _way(found),
        "runs": {"values": found.values, "place": found.place, "before": found.points[0], "after": found.points[1]},
        "effect": {"ratio": document["ratio"], "low": low, "high": high, "threshold": threshold} if document["ratio"] else None,
        "change": percent(document["ratio"]) or "from zero", "interval": between(low, high) or "no interval",
        "levels": f"{found.before:,.4g} → {found.after:,.4g}{unit}", "state": found.state,
        "changed_on": found.first.started_at and found.first.started_at.date(), "changed_at": found.first.started_at,
        "sides": f"{len(found.near[0])} v {len(found.near[1])}", "base": ",".join(found.near[0]), "head": ",".join(found.near[1]),
        "last_before_at": found.last.started_at,
    }


def _what_else(event: Event) -> str:
    words = [f"until {event.end.started_at:%Y-%m-%d}"] if event.end else ["recovered since"] if event.now == "recovered" else []
    words += [f"{each.name}: {_few(each.base)} → {_few(each.head)}" for each in event.differences[:_DIFFERENCES]]
    if len(event.differences) > _DIFFERENCES:
        words.append(f"{len(event.differences) - _DIFFERENCES} more")
    if not event.differences:
        words.append(", ".join(event.headline.variables) or "nothing, as far as the evidence says")
    still = [label for label, _ in event.controls[:_DIFFERENCES]]
    words.append(f"{', '.join(still)} did not move" if still else "no control series on this machine")
    if event.needs:
        words.append(f"needs {counted(event.needs, 'more run')}")
    return "; ".join(words)


def _few(values: Sequence[str]) -> str:
    text = ", ".join(values[:2]) + (f" and {len(values) - 2} more" if len(values) > 2 else "")
    return text if len(text) <= 60 else f"{text[:59]}…"


def _one(visit: Visit, found: Changes) -> Page:
    """The event or the finding that an id means; of what is no longer detected, what it was."""
    any_id = visit["finding"] or visit["event"]
    event, passed = found.event(any_id), found.passed.named(any_id)
    chosen = next((each for each in (*event.members, *event.returned) if each.finding_id == any_id), None) if event else None
    if event and chosen:
        return _finding_page(chosen, event, visit["threshold"])
    if event:
        return _event_page(event, visit["threshold"])
    if not passed:
        raise WarehouseError("WH503", "no event or finding has this id", printable(any_id), "/changes lists them", ExitCode.NOT_FOUND)
    columns = (Column("finding_id", "finding", kind="code"), Column("words", "it was"), Column("shown_on", "last shown on"))
    rows = tuple((finding_id, each.words, each.shown_on) for finding_id, each in passed.items())
    return Page(
        "No longer detected", (Table("passed", columns, rows[:_MOST], total=len(rows)),), any_id, crumbs=(("What changed", _PATH),),
        next_steps={"What changed": _PATH},
    )


def _event_page(event: Event, threshold: float) -> Page:
    """One event: its place, its worst members drawn, what differs, what did not move, and all members."""
    record = _event_record(event, threshold)
    worst = sorted(event.leading, key=lambda each: (each.finding_id != event.headline.finding_id, each.status != event.status, -abs(each.log_ratio)))
    facts = [
        Fact("change", f"{record['change']} ({record['interval']})", note=event.headline.name),
        Fact("worst", percent(exp(event.worst.log_ratio)) if isfinite(event.worst.log_ratio) else "from zero", note=event.worst.name),
        *_place(event.clearest), Fact("now", event.now if event.now == "recovered" else "still so", kind="state"),
        Fact("moved", record["moved"], note=", ".join(f"{count} {family}" for family, count in event.families)),
        Fact("needs", counted(event.needs, "more run") if event.needs else None, note="to be confirmed"),
    ]
    if event.end:
        run_id = event.end.run_id
        facts.append(Fact("ended_before", f"{event.end.started_at:%Y-%m-%d %H:%M} UTC", link=address(_RUN, run_id=run_id), note=run_id))
    facts += _decided(event.mark, event.earlier_mark)
    columns = (Column("case", "what did not move"), Column("series", kind="number"))
    drawn = _table(worst[:_DRAWN], threshold, [event], "drawn")
    members = _table(event.members[:_MOST], threshold, [event], "members")
    near = _record(event.headline, threshold, event.event_id)
    return Page(
        event.name, (
            Facts("event", tuple(each for each in facts if each.value is not None)),
            replace(drawn, title=f"{counted(len(worst[:_DRAWN]), 'series', 'series')} of it drawn, worst first"),
            differences_table(event.differences, "What differs", ("before", "after")),
            Table("controls", columns, event.controls[:_MOST], "Control series on the same machine", total=len(event.controls)),
            replace(members, title="Its members", total=len(event.members), is_folded=True),
            _commands(event.event_id),
        ), f"event {event.event_id}", (event.status, record["way"] or "", event.state), crumbs=(("What changed", _PATH),),
        next_steps={
            "Compare the runs before and after": address("/compare", base=near["base"], head=near["head"]),
            "Explain the first run after": address("/explain", run=event.clearest.first.run_id),
        },
    )


def _finding_page(chosen: Finding, event: Event, threshold: float) -> Page:
    """One finding, with its runs on the axis of their order and everything else that changed there."""
    record = _record(chosen, threshold, event.event_id)
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
        Column("value", chosen.first.metric, kind="number", unit=unit), Column("side"), Column("note", is_hidden=True),
    )
    rows = tuple(
        (place + 1, run_id, value, "after" if place >= chosen.place else "before", "the change" if place == chosen.place else None)
        for place, (run_id, value) in enumerate(zip(chosen.run_ids, chosen.values, strict=True))
    )
    chart = Chart("trend", "place", "value", group="side", note="note", link=_RUN, title="The runs around the change, oldest to newest")
    return Page(
        record["series"], (
            Facts("finding", tuple(facts)), Table("values", columns, rows, chart=chart, is_folded=True),
            differences_table(chosen.differences, "What else changed there", ("before", "after")), _commands(chosen.finding_id),
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


def _commands(any_id: str) -> Text:
    return Text("commands", f"wh changes mark {any_id} acknowledged --reason 'why'\nwh changes {any_id}", "commands", "Mark it")


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
            "insufficient": "fewer runs with a time than the detector needs: not judged",
        }[word]
        rows.append((word, case, len(series), why, last))
    columns = (
        Column("state", kind="state"), Column("case", link="/runs?case={case}"),
        Column("series", kind="number", link="/explore?case={case}"), Column("why"),
        Column("last_run_at", "last run", kind="moment", is_minor=True),
    )
    return Table("not_judged", columns, tuple(rows[:_MOST]), "Not judged, or no longer measured", total=len(rows), empty="every series was judged")


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
            Parameter("state", "Only events marked so.", choices=_STATES),
            Parameter("metric", "Only events of metrics of this name; * stands for any characters."),
            Parameter("threshold", "The smallest change worth a finding, as a share.", float, THRESHOLD, bounds=(0.0, 10.0)),
            Parameter("event", "One event by its id, or by that of any event that it was before, with its members."),
            Parameter("finding", "One finding by its id, with all that is known of it."),
            OFFSET,
        ), menu="What changed", is_costly=True,
    ),
)
