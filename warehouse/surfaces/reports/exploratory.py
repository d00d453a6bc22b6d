"""The exploratory sections of a report: what changed in the current build, as each audience needs it. Nothing here is published."""

from __future__ import annotations

import json
import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from warehouse.analysis.changes import changes
from warehouse.analysis.conditions import Conditions, listed, read_conditions
from warehouse.analysis.events.findings import Finding, finding_document
from warehouse.analysis.measurements import measured
from warehouse.errors import WarehouseError, counted
from warehouse.project.project import Project
from warehouse.statistics.interval import Interval
from warehouse.surfaces.parts import Chart, Column, Part, Table, Text
from warehouse.surfaces.reports.split import SPLIT, side_of, smallest_change
from warehouse.surfaces.reports.wording import AREAS, area, impact, way
from warehouse.surfaces.views.analysis.wording import between, percent
from warehouse.transform.export.docs.published_pages import short
from warehouse.transform.finished.builds import Build

MOST_FINDINGS = 20
_MOST_REPROS = 8
_MOST_DIFFERENCES = 12  # of a finding
_COMMANDS = frozenset({"command", "argv", "cmd", "command_line", "server_flags"})  # the last word of a condition with what was run
_DIFFERS = (Column("kind"), Column("name"), Column("before"), Column("after"))
_ENVIRONMENT = frozenset({"env", "environment"})


@dataclass(frozen=True)
class Findings:
    """What is open, the most certain first: the headline of each event, with the event's id. `conditions` are those of the runs next to each
    change, by run, and `names` those of the events, by id. `why_none` says why there are none where they were not looked for."""

    findings: tuple[Finding, ...] = ()
    total: int = 0
    conditions: Mapping[str, Conditions] | None = None
    names: Mapping[str, str] = field(default_factory=dict)
    why_none: str = ""
    notes: Mapping[str, str] = field(default_factory=dict)  # that people made near an event, by its id

    def name(self, found: Finding) -> str:
        return self.names.get(found.finding_id, found.name)


def read_findings(project: Project, build: Build | None, run_ids: Collection[str] | None) -> Findings:
    """The events that are open, still so, and about any of these runs (all where None)."""
    if build is None:
        return Findings(why_none="nothing is built")
    try:
        found = changes(project)
    except WarehouseError as error:
        if error.code != "WH501":
            raise
        return Findings(why_none="this project has no table of measurements")
    events = [
        each for each in found.events
        if each.state in ("open", "acknowledged") and each.now == "still"
        and (run_ids is None or not all(set(one.run_ids).isdisjoint(run_ids) for one in each.members))
    ]
    shown = tuple(
        replace(each.headline, finding_id=each.event_id, differences=each.differences, mark=each.mark) for each in events[:MOST_FINDINGS]
    )
    names = {each.event_id: f"{each.name}{_and_more(len(each.members) - 1)}" for each in events}
    runs = {run for each in shown for run in (each.last.run_id, each.first.run_id)}
    with measured(build) as tables:
        conditions = read_conditions(tables, runs) if runs else {}
    notes = {each.event_id: "; ".join(map(str, each.notes)) for each in events if each.notes}
    return Findings(shown, len(events), conditions, names, notes=notes)


def _and_more(count: int) -> str:
    return f", and {counted(count, 'more series', 'more series')}" if count else ""


def engineering(found: Findings) -> Iterator[Part]:
    """Each finding with its hypothesis, the experiment that would settle it, its runs, and how to repeat them."""
    columns = (
        Column("finding", kind="code"), Column("series"), Column("status", kind="state"), Column("direction", kind="state"), Column("change"),
        Column("hypothesis"), Column("experiment", "proposed experiment"), Column("mark", kind="state"),
        *([Column("noted")] if found.notes else []),
    )
    rows = tuple(
        (
            each.finding_id, found.name(each), each.status, _way(each), change_words(each), hypothesis(each), experiment(each), each.state,
            *([found.notes.get(each.finding_id)] if found.notes else []),
        )
        for each in found.findings
    )
    yield _findings(columns, rows, found)
    for number, each in enumerate(found.findings[:_MOST_REPROS], 1):
        yield _trend(number, each)
        differs = tuple(
            (one.kind, one.name, short(listed(one.base)), short(listed(one.head))) for one in each.differences[:_MOST_DIFFERENCES]
        )
        yield Table(f"differs-{number}", _DIFFERS, differs, f"{each.finding_id}: what else changed there", total=len(each.differences))
        text = _repro(each, found.conditions or {}, with_environment=True)
        yield Text(f"repro-{number}", text, "commands", f"{each.finding_id}: minimal repro", "As the evidence records it.")


def product(found: Findings) -> Iterator[Part]:
    """The findings by what they say something about, in words; no run, machine or query."""
    columns = (
        Column("area"), Column("what"), Column("direction", kind="state"), Column("change"), Column("impact", "expected user impact"),
        Column("confidence"), Column("next", "next step"),
    )
    rows = []
    for each in sorted(found.findings, key=lambda each: AREAS.index(area(each.first.metric, each.first.unit))):
        of, ratio = area(each.first.metric, each.first.unit), each.after / each.before if each.before > 0 and each.after > 0 else None
        step = f"repeat it: {counted(each.needs, 'more run')}" if each.needs else (
            "find the cause: several things changed together" if each.is_exploratory else "decide whether it matters to users"
        )
        rows.append((
            of, found.name(each), _way(each), change_words(each), impact(of, ratio) if ratio else "not known", _confidence(each), step,
        ))
    yield _findings(columns, tuple(rows), found)


def partner(found: Findings) -> Iterator[Part]:
    """The findings with what is ours and what is upstream, how to repeat them, and the smallest change to make."""
    columns = (
        Column("finding", kind="code"), Column("series"), Column("status", kind="state"), Column("direction", kind="state"), Column("change"),
        Column("smallest", "smallest change to make"),
    )
    rows = tuple(
        (
            each.finding_id, found.name(each), each.status, _way(each), change_words(each), smallest_change(each.differences),
        )
        for each in found.findings
    )
    yield _findings(columns, rows, found)
    differs = [
        (each.finding_id, side_of(one.kind), one.kind, one.name, short(listed(one.base)), short(listed(one.head)))
        for each in found.findings for one in each.differences if side_of(one.kind) in _SAID
    ]
    differs.sort(key=lambda row: ([each.finding_id for each in found.findings].index(row[0]), _SAID.index(row[1])))
    split = (Column("finding", kind="code"), Column("whose", kind="state"), *_DIFFERS)
    yield Table("split", split, tuple(differs[:100]), "What is upstream and what is ours", total=len(differs), empty="nothing of either differs")
    yield Table(
        "how", (Column("kind", "kind of condition"), Column("whose"), Column("why")),
        tuple((kind, *words) for kind, words in SPLIT.items()), "How the split is made", is_folded=True,
    )
    for number, each in enumerate(found.findings[:_MOST_REPROS], 1):
        text = _repro(each, found.conditions or {}, with_environment=False)
        yield Text(f"repro-{number}", text, "commands", f"{each.finding_id}: minimal repro", "As recorded, without names of ours.")


_SAID = ("upstream", "hardware", "ours")


def _findings(columns: Sequence[Column], rows: tuple[tuple[Any, ...], ...], found: Findings) -> Table:
    empty = found.why_none or "no change is open in this scope"
    return Table("findings", tuple(columns), rows, "What changed", total=found.total, empty=empty)


def _trend(number: int, found: Finding) -> Table:
    columns = (
        Column("place", "run in order", "number"), Column("run_id", "run", "code"),
        Column("value", found.first.metric, "number", unit=found.first.unit), Column("side"), Column("note", is_hidden=True),
    )
    rows = tuple(
        (place + 1, run_id, value, "after" if place >= found.place else "before", "the change" if place == found.place else None)
        for place, (run_id, value) in enumerate(zip(found.run_ids, found.values, strict=True))
    )
    chart = Chart("trend", "place", "value", group="side", note="note", title="The runs around the change, oldest to newest")
    return Table(f"trend-{number}", columns, rows, f"{found.finding_id}: {found.name}", chart=chart, is_folded=True)


def hypothesis(found: Finding) -> str:
    """The one variable that changed there; or that several did, and no cause can be named."""
    if not found.variables:
        return "No variable that runs are compared by changed there: chance, the machine, or what the evidence does not state."
    if len(found.variables) == 1:
        (name,) = found.variables
        kind = name.partition(" ")[0]
        told = [str(each) for each in found.differences if each.kind == kind or (kind == "software" and each.kind == "package")]
        said = f": {'; '.join(told[:3])}" if told else ""
        doubt = " What was measured may be another thing." if kind == "script" else ""
        return f"Only {name} changed{said}.{doubt}"
    return f"Several variables changed together ({', '.join(found.variables)}): no single cause can be named."


def experiment(found: Finding) -> str:
    """What would settle it: how many runs, in which sessions, and what is changed."""
    changed = f"only {found.variables[0]} changed" if len(found.variables) == 1 else (
        "one of these changed at a time" if found.variables else "nothing changed"
    )
    if found.needs:
        sessions = max(1, 2 - found.sessions_after)
        return f"{counted(found.needs, 'more run')} of the state after, in at least {counted(sessions, 'more session')}, with {changed}."
    if found.variables:
        return f"Runs of both states in turn, in the same sessions, with {changed}. More runs of the state after alone do not settle it."
    return "It is confirmed: repeat the state before in a session with the state after, to see whether it can still be measured."


def _repro(found: Finding, conditions: Mapping[str, Conditions], *, with_environment: bool) -> str:
    lines = []
    for side, run_id in (("before", found.last.run_id), ("after", found.first.run_id)):
        known = conditions.get(run_id, {})
        lines.append(f"# {side}: run {run_id}" if with_environment else f"# {side}")
        commands = list(_commands(known))
        lines += commands or ["# the evidence records no command"]
        images = [text for (_, name), (text, _) in sorted(known.items()) if name == "image_digest"]
        lines.append(f"# image: {images[0] if images else 'not stated'}")
        if with_environment:
            lines += [f"# {name}: {text}" for name, text in _environment(known)]
    return "\n".join(" ".join(line.splitlines()) for line in lines)


def _commands(known: Conditions) -> Iterator[str]:
    for (_, name), (text, _) in sorted(known.items()):
        if name.rpartition(".")[2] in _COMMANDS:
            yield _joined(text)


def _joined(text: str) -> str:
    """A command as it is typed; one that is kept as a JSON list of words is joined."""
    try:
        words = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return shlex.join(map(str, words)) if isinstance(words, list) else text


def _environment(known: Conditions) -> Iterable[tuple[str, str]]:
    return [
        (name, text) for (_, name), (text, _) in sorted(known.items())
        if _ENVIRONMENT & set(name.split(".")) or name in ("framework", "framework_version", "server_version", "driver_version", "cuda_version")
    ]


def _way(found: Finding) -> str:
    ratio = found.after / found.before if found.before > 0 and found.after > 0 else None
    of = area(found.first.metric, found.first.unit)
    return way(of, ratio) if ratio and of in AREAS[:2] + AREAS[3:4] else str(found.outcome)


def change_words(found: Finding) -> str:
    """A change with its interval, in words."""
    document = finding_document(found)
    unit = f" {found.first.unit}" if found.first.unit else ""
    interval = between(document["ratio_low"], document["ratio_high"])
    change = f"{percent(document['ratio']) or 'from zero'}, {f'95 %: {interval}' if interval else 'no interval'}"
    return f"{found.before:,.6g} → {found.after:,.6g}{unit} ({change})"


def _confidence(found: Finding) -> str:
    said = f"{found.status}: {found.points[0]} runs before, {found.points[1]} after"
    said += "" if isinstance(found.ratio, Interval) else ", no interval"
    return said + (", and what else changed there may be the cause" if found.is_exploratory else "")

