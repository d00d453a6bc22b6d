"""Events of what changed as people read them: an entry with its worst members drawn, and events and findings as tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from warehouse.analysis.compare import THRESHOLD
from warehouse.analysis.events.event import Event
from warehouse.analysis.events.findings import Finding, finding_document
from warehouse.errors import counted
from warehouse.surfaces.notebook.fragments import kind_of
from warehouse.surfaces.parts import Choice, Column, Entry, Fact, Form, Table
from warehouse.surfaces.view import address
from warehouse.surfaces.views.analysis.wording import between, direction, percent

_PATH = "/changes"
_DIFFERENCES = 3  # of an event, in the list
_DRAWN = 3  # members of an event that are drawn, the worst first
# Words, the state of a finding, and what its reason may be.
_DECISIONS = (
    ("acknowledge", "acknowledged", "who looks at it"), ("explained by…", "explained", "what made it"),
    ("false alarm", "false-alarm", "why it is none"),
)
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
    Column("series", link="/explore?series={series_key}"), Column("short", "series", link="/explore?series={series_key}", is_hidden=True),
    Column("status", kind="state"), Column("way", "direction", kind="state"),
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


def event_table(
    events: Sequence[Event], threshold: float = THRESHOLD, title: str = "", total: int | None = None, more: str | None = None
) -> Table:
    marked = (Column("marked", kind="state"),) if any(each.mark or each.earlier_mark for each in events) else ()
    columns = (*_EVENT_COLUMNS, *marked, *(Column(each, is_hidden=True) for each in _EVENT_HIDDEN))
    records = [event_record(each, threshold) for each in events]
    return Table("events", columns, tuple(tuple(record[column.name] for column in columns) for record in records), title, total=total, more=more)


def event_record(event: Event, threshold: float) -> dict[str, Any]:
    headline = finding_record(event.headline, threshold, event.event_id)
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


def _short(found: Finding) -> str:
    """A member's name below that of its event: what was measured at which load; the model too where the event has several."""
    return " · ".join(filter(None, (found.label.metric, found.label.subject, found.label.load, found.label.apart))) if found.label else found.name


def _marked(event: Event) -> str:
    return f"{event.earlier_mark.state}, under an earlier rule" if event.earlier_mark and not event.mark else event.state


def _way(found: Finding) -> str | None:
    return direction(found.outcome, found.first.unit) if found.kind == "level" else found.way


def finding_table(findings: Sequence[Finding], threshold: float, events: Sequence[Event], name: str = "findings") -> Table:
    event_of = {each.finding_id: event.event_id for event in events for each in event.members}
    columns = (*_COLUMNS, *(Column(each, is_hidden=True) for each in _HIDDEN))
    records = [finding_record(each, threshold, event_of[each.finding_id]) for each in findings]
    return Table(name, columns, tuple(tuple(record[column.name] for column in columns) for record in records))


def finding_record(found: Finding, threshold: float, event_id: str) -> dict[str, Any]:
    document = finding_document(found)
    low, high = document["ratio_low"], document["ratio_high"]
    unit = f" {found.first.unit}" if found.first.unit else ""
    return {
        **document, "series": found.name, "short": _short(found), "event_id": event_id, "way": _way(found),
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
    words += [f"noted {each}" for each in event.notes]
    words += [f"{each.called}: {_few(each.base)} → {_few(each.head)}" for each in event.differences[:_DIFFERENCES]]
    if len(event.differences) > _DIFFERENCES:
        words.append(f"{len(event.differences) - _DIFFERENCES} more")
    if not event.differences:
        words.append(", ".join(event.headline.variables) or "nothing, as far as the evidence says")
    still = [label for label, _ in event.controls[:_DIFFERENCES]]
    words.append(f"{', '.join(still)} did not move" if still else "no control series on this machine")
    if event.needs:
        words.append(f"needs {counted(event.needs, 'more run')}")
    return "; ".join(words)


def event_entry(event: Event, threshold: float, may_decide: bool, is_first: bool) -> Entry:
    """An event in a few lines: what moved, by how much and since when, what differs there, its worst members, and what can be done about it."""
    record, status = event_record(event, threshold), event.status
    place = address(_PATH, event=event.event_id)
    worst = worst_members(event)[:_DRAWN]
    title = f"{counted(len(worst), 'series', 'series')} of {len(event.members):,} drawn, worst first"
    columns = ("short", "runs", "effect", "change", "interval", "levels")
    drawn = finding_table(worst, threshold, [event], f"drawn-{event.event_id}")
    drawn = only_read(drawn, columns)
    since = f"{record['changed_on']:%-d %b %Y}" if record["changed_on"] else "a run without a time"
    until = f" until {event.end.started_at:%-d %b %Y}" if event.end and event.end.started_at else ", recovered" if event.now == "recovered" else ""
    way = str(record["way"])
    near = finding_record(event.headline, threshold, event.event_id)
    actions: list[Fact | Form] = [
        Fact("what differs", None, link=f"{place}#differences"),
        Fact("explain a run", None, link=address("/explain", run=event.clearest.first.run_id)),
        Fact("compare before and after", None, link=address("/compare", base=near["base"], head=near["head"])),
    ]
    return Entry(
        f"event-{event.event_id}", event_title(event), place,
        tuple(dict.fromkeys(filter(None, (status, "" if event.state == "open" else _marked(event))))),
        tuple(filter(None, (*(f"noted {each}" for each in event.notes), _differs(event), _moved(event), event.doubt))),
        record["change"], _tone(status, way), record["interval"],
        f"{_called(event.headline)}, {way} since {since}{until}", (replace(drawn, title=title, is_folded=not is_first),),
        (*actions, *(deciding(event.event_id) if may_decide else ())),
    )


def only_read(table: Table, names: Sequence[str]) -> Table:
    """The table with these columns to read, in this order; the data formats have all."""
    known = [each.name for each in table.columns]
    first = [known.index(name) for name in names]
    order = [*first, *(place for place in range(len(known)) if place not in first)]
    columns = tuple(
        replace(table.columns[place], is_hidden=place not in first, is_minor=table.columns[place].kind == "effect") for place in order
    )
    return replace(table, columns=columns, rows=tuple(tuple(row[place] for place in order) for row in table.rows))


def event_title(event: Event) -> str:
    """What moved and how: of what, and how many of its series; of a single series its name."""
    if len(event.members) == 1 or event.where is None:
        return event.name
    leading, of = len(event.leading), len(event.members) + event.unmoved
    moved = "all" if leading == of else f"{leading:,} of"
    return f"{event.where}: {moved} {of:,} series {_way(event.headline) or 'changed'}"


def worst_members(event: Event) -> list[Finding]:
    """The members with the outcome of the event: its headline, then the surest, then those that moved most."""
    return sorted(event.leading, key=lambda each: (each.finding_id != event.headline.finding_id, each.status != event.status, -abs(each.log_ratio)))


def deciding(any_id: str) -> Iterator[Form]:
    """What a visitor who may can say of an event or a finding."""
    for words, state, hint in _DECISIONS:
        fields = (Choice("state", value=state, form="hidden"), Choice("reason", "why", hint=hint))
        yield Form(f"{state}-{any_id}", address("/changes/{any_id}/mark", any_id=any_id), fields, "Save", words, "post", is_folded=True)


def _tone(status: str, way: str) -> str:
    kind = kind_of(way)
    return "" if kind == "plain" else kind if status == "confirmed" else "warn"


def _called(found: Finding) -> str:
    return found.label.metric if found.label else found.first.metric


def _differs(event: Event) -> str:
    """What differs next to the place, in one line."""
    words = [f"{each.called} {_few(each.base)} → {_few(each.head)}" for each in event.differences[:_DIFFERENCES]]
    if len(event.differences) > _DIFFERENCES:
        words.append(f"{len(event.differences) - _DIFFERENCES} more")
    return " · ".join(words) or ", ".join(event.headline.variables) or "nothing differs, as far as the evidence says"


def _moved(event: Event) -> str:
    """How many series moved and how many did not, and what stands still beside them."""
    moved = counted(len(event.members), "series", "series")
    words = [f"{moved} moved, {event.unmoved:,} of the same cases did not" if event.unmoved else f"{moved} moved, and no other of the same cases"]
    still = [label for label, _ in event.controls[:_DIFFERENCES]]
    words.append(f"{', '.join(still)} on the same machine did not move" if still else "nothing else ran on this machine")
    if event.needs:
        words.append(f"{counted(event.needs, 'more run')} would decide it")
    return " · ".join(words)


def _few(values: Sequence[str]) -> str:
    text = ", ".join(values[:2]) + (f" and {len(values) - 2} more" if len(values) > 2 else "")
    return text if len(text) <= 60 else f"{text[:59]}…"
