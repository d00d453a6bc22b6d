"""What changed: the findings of a scan of all series, what stopped coming, and what was not judged, with the reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from warehouse.analysis.changes import Changes, changes
from warehouse.analysis.compare import THRESHOLD
from warehouse.analysis.findings import Finding, finding_document
from warehouse.analysis.times import parse_since
from warehouse.errors import ExitCode, WarehouseError, counted, printable
from warehouse.surfaces.parts import Chart, Column, Fact, Facts, Page, Part, Table, Text
from warehouse.surfaces.view import OFFSET, Parameter, View, Visit, address
from warehouse.surfaces.views.analysis.wording import between, choices, differences_table, direction, percent, series_name

_PATH = "/changes"
_RUN = "/runs/{run_id:path}"
_MOST = 40  # findings of a page
_DIFFERENCES = 3  # of a finding, in the list
_STATES = ("open", "acknowledged", "explained", "fixed", "false-alarm")
_WAYS = ("worse", "better", "higher", "lower")
_COLUMNS = (
    Column("series", link="/explore?series={series_key}"), Column("status", kind="state"), Column("way", "direction", kind="state"),
    Column("runs", "runs, oldest to newest", kind="spark", tone="way"),
    Column("effect", "effect; grey: not worth acting on", kind="effect", tone="way"),
    Column("change", link="/changes?finding={finding_id}"), Column("interval", "95 %"),
    Column("changed_on", "first run after", kind="moment", link="/runs/{first_run_after:path}"),
    Column("what_else", "what else changed there"), Column("sides", "compare", link="/compare?base={base}&head={head}&metric={metric}"),
)
_HIDDEN = (
    "finding_id", "state", "now", "changed_at", "last_before_at", "series_key", "base", "head", "metric", "point", "benchmark_case_id", "unit",
    "better", "before", "after", "ratio", "ratio_low", "ratio_high", "p", "q", "points_before", "points_after", "is_exploratory",
    "last_run_before", "first_run_after",
)


def _answer(visit: Visit) -> Page:
    since = parse_since(visit["since"], visit.now) if visit["since"] else None
    found = changes(visit.project, since, visit["threshold"], visit.now)
    if visit["finding"]:
        return _one(visit, found)
    named = [each for each in found.findings if _is_named(each, visit["metric"])]
    shown = [each for each in named if visit["way"] in (None, each.outcome) and visit["state"] in (None, each.state)]
    first = visit["offset"]
    page = shown[first : first + _MOST]
    more = address(_PATH, **{**visit.values, "offset": first + _MOST}) if len(shown) > first + _MOST else None
    table = _table(page, visit["threshold"])
    empty = "no finding is like that; others are" if found.findings else "no change was found"
    if not found.tested:
        empty = "no series has enough runs with times to be judged"
    parts: list[Part] = [*_filters(visit, found, named), replace(table, total=len(shown), more=more, empty=empty)]
    parts += [_outliers(found), _not_judged(found), *_how(found)]
    counts = Counter(each.status for each in found.findings)
    said = [f"since {since:%Y-%m-%d}" if since else "", f"{len(found.series):,} series, {found.tested:,} tested"]
    said += [f"{count} {status}" for status, count in sorted(counts.items())]
    return Page("What changed", tuple(parts), " · ".join(filter(None, said)), next_steps={
        "What regressed in the past year": address(_PATH, since="1y", way="worse"), "Compare two sets of runs": "/compare", "All runs": "/runs",
    })


def _is_named(found: Finding, metric: str | None) -> bool:
    from fnmatch import fnmatchcase

    return metric is None or fnmatchcase(found.first.metric, metric)


def _filters(visit: Visit, found: Changes, named: Sequence[Finding]) -> Iterable[Facts]:
    values = {**visit.values, "offset": None, "finding": None, "threshold": visit["threshold"] if visit["threshold"] != THRESHOLD else None}
    spans = (("any time", None), ("past 14 days", "14d"), ("past 30 days", "30d"), ("past 6 months", "6m"), ("past year", "1y"))
    yield choices("since", _PATH, values, "since", [(words, value, None) for words, value in spans])
    ways = Counter(str(each.outcome) for each in named)
    offered = [(way, way, ways[way]) for way in _WAYS if ways[way] or way == visit["way"] or way == "worse"]
    yield choices("way", _PATH, values, "way", [("either direction", None, len(named)), *offered])
    states = Counter(each.state for each in named)
    marked = [(state, state, states[state]) for state in _STATES if states[state] or state == visit["state"]]
    if len(marked) > 1 or visit["state"]:
        yield choices("state", _PATH, values, "state", [("any mark", None, len(named)), *marked])
    metrics = Counter(each.first.metric for each in found.findings)
    if len(metrics) > 1 or visit["metric"]:
        offered_metrics = [(name, name, count) for name, count in metrics.most_common(12)]
        yield choices("metric", _PATH, values, "metric", [("any metric", None, None), *offered_metrics])


def _table(findings: Sequence[Finding], threshold: float, name: str = "findings") -> Table:
    marked = (Column("marked", kind="state"),) if any(each.mark for each in findings) else ()
    columns = (*_COLUMNS, *marked, *(Column(each, is_hidden=True) for each in _HIDDEN))
    rows = []
    for each in findings:
        record = _record(each, threshold)
        rows.append(tuple(record[column.name] for column in columns))
    return Table(name, columns, tuple(rows))


def _record(found: Finding, threshold: float) -> dict[str, Any]:
    document = finding_document(found)
    low, high = document["ratio_low"], document["ratio_high"]
    unit = f" {found.first.unit}" if found.first.unit else ""
    return {
        **document, "series": series_name(found.first.benchmark_case_id, found.first.metric, found.first.point),
        "series_key": found.first.series_key, "way": direction(found.outcome, found.first.unit),
        "runs": {"values": found.values, "place": found.place, "before": found.points[0], "after": found.points[1]},
        "effect": {"ratio": document["ratio"], "low": low, "high": high, "threshold": threshold} if document["ratio"] else None,
        "change": percent(document["ratio"]) or "from zero", "interval": between(low, high) or "no interval",
        "marked": found.state, "levels": f"{found.before:,.6g} → {found.after:,.6g}{unit}",
        "changed_on": found.first.started_at and found.first.started_at.date(), "changed_at": found.first.started_at, "what_else": _what_else(found),
        "state": found.state, "sides": f"{len(found.near[0])} v {len(found.near[1])}", "base": ",".join(found.near[0]),
        "head": ",".join(found.near[1]), "last_before_at": found.last.started_at,
    }


def _what_else(found: Finding) -> str:
    words = [] if found.now == "still" else ["recovered since"]
    words += [f"{each.name}: {_few(each.base)} → {_few(each.head)}" for each in found.differences[:_DIFFERENCES]]
    if len(found.differences) > _DIFFERENCES:
        words.append(f"{len(found.differences) - _DIFFERENCES} more")
    if not found.differences:
        words.append(", ".join(found.variables) or "nothing, as far as the evidence says")
    moved, controls = found.controls
    words.append(f"{moved} of {controls} control series changed too" if controls else "no control series on this machine")
    if found.needs:
        words.append(f"needs {counted(found.needs, 'more run')}")
    return "; ".join(words)


def _few(values: Sequence[str]) -> str:
    text = ", ".join(values[:2]) + (f" and {len(values) - 2} more" if len(values) > 2 else "")
    return text if len(text) <= 60 else f"{text[:59]}…"


def _one(visit: Visit, found: Changes) -> Page:
    """One finding, with its runs on the axis of their order and everything else that changed there."""
    chosen = next((each for each in found.findings if each.finding_id == visit["finding"]), None)
    if chosen is None:
        raise WarehouseError("WH503", "no finding has this id", printable(visit["finding"]), "/changes lists them", ExitCode.NOT_FOUND)
    record = _record(chosen, visit["threshold"])
    unit = chosen.first.unit
    facts = [
        Fact("change", f"{record['change']} ({record['interval']})", note=record["levels"]), Fact("direction", record["way"], kind="state"),
        Fact("changed_between", f"{chosen.last.started_at:%Y-%m-%d %H:%M} and {chosen.first.started_at:%Y-%m-%d %H:%M} UTC"),
        Fact("last_run_before", chosen.last.run_id, link=address(_RUN, run_id=chosen.last.run_id), kind="code"),
        Fact("first_run_after", chosen.first.run_id, link=address(_RUN, run_id=chosen.first.run_id), kind="code"),
        Fact("runs", f"{chosen.points[0]} before, {chosen.points[1]} after in {counted(chosen.sessions_after, 'session')}"),
        Fact("now", {"still": "still so", "recovered": "recovered since"}[chosen.now]),
        Fact("rule", chosen.rule, note=f"p {chosen.p:.2g}; among all that were tested q {chosen.q:.2g}"),
        Fact("controls", f"{chosen.controls[0]} of {chosen.controls[1]} changed there too" if chosen.controls[1] else "none on this machine"),
    ]
    if chosen.needs:
        facts.append(Fact("needs", counted(chosen.needs, "more run"), note="to be confirmed"))
    if chosen.mark:
        facts.append(Fact("mark", chosen.mark.state, kind="state", note=f"{chosen.mark.reason}, {chosen.mark.event.by}, {chosen.mark.event.at}"))
    columns = (
        Column("place", "run in order", kind="number"), Column("run_id", "run", kind="code", link=_RUN),
        Column("value", chosen.first.metric, kind="number", unit=unit), Column("side"), Column("note", is_hidden=True),
    )
    rows = tuple(
        (place + 1, run_id, value, "after" if place >= chosen.place else "before", "the change" if place == chosen.place else None)
        for place, (run_id, value) in enumerate(zip(chosen.run_ids, chosen.values, strict=True))
    )
    chart = Chart("trend", "place", "value", group="side", note="note", link=_RUN, title="The runs around the change, oldest to newest")
    mark = f"wh changes mark {chosen.finding_id} acknowledged --reason 'why'\nwh changes {chosen.finding_id}"
    return Page(
        record["series"], (
            Facts("finding", tuple(facts)), Table("values", columns, rows, chart=chart, is_folded=True),
            differences_table(chosen.differences, "What else changed there", ("before", "after")),
            Text("commands", mark, "commands", "Mark it"),
        ), f"finding {chosen.finding_id}", (chosen.status, record["way"] or "", chosen.state), crumbs=(("What changed", _PATH),),
        next_steps={
            "Compare the runs before and after": address("/compare", base=record["base"], head=record["head"], metric=chosen.first.metric),
            "The series": address("/explore", series=chosen.first.series_key),
        },
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
        "A finding is confirmed by five runs of two sessions after it; the others are suspected. At most 5 % of what is reported is expected to be"
        " false (Benjamini and Hochberg).",
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
        "Which series of measurements changed, when, by how much, whether they still are changed, and what else changed there.",
        _answer, (
            Parameter("since", "Only changes since then: 1y, 6m, 2w, 10d, or a date."),
            Parameter("way", "Only changes in this direction.", choices=_WAYS),
            Parameter("state", "Only findings marked so.", choices=_STATES),
            Parameter("metric", "Only metrics of this name; * stands for any characters."),
            Parameter("threshold", "The smallest change worth a finding, as a share.", float, THRESHOLD, bounds=(0.0, 10.0)),
            Parameter("finding", "One finding by its id, with all that is known of it."),
            OFFSET,
        ), menu="What changed", is_costly=True,
    ),
)
