"""`wh changes`."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from warehouse.cli.change.changes_text import print_changes, print_event, print_finding
from warehouse.cli.change.shares import FailOn, Plot, Threshold, checked_level, exit_code, share
from warehouse.cli.decisions.decided import Sign
from warehouse.cli.output import counted, notice, print_json, say
from warehouse.cli.program import usage
from warehouse.errors import ExitCode, WarehouseError, printable

if TYPE_CHECKING:
    from warehouse.analysis.changes import Changes
    from warehouse.analysis.events.event import Event
    from warehouse.analysis.events.findings import Finding
    from warehouse.analysis.events.shown import Shown
    from warehouse.project.project import Project

PAGE = "docs/changes.md"
EXAMPLES = (
    "wh changes",
    "wh changes --since 1y --regressed",
    "wh changes --json --fail-on confirmed",
    "wh changes --bisect e-4f2a9c01b7d3",
)


def command(
    what: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="EVENT", help="one event or finding; or mark EVENT STATE, which is open, acknowledged, explained, fixed or false-alarm"
        ),
    ] = None,
    since: Annotated[str | None, typer.Option(metavar="TIME", help="only changes since then: 1y, 6m, 2w, 10d, or a date")] = None,
    regressed: Annotated[bool, typer.Option("--regressed", help="only what got worse, with whether it still is")] = False,
    threshold: Threshold = "2%",
    fail_on: FailOn = None,
    plot: Plot = None,
    record: Annotated[bool, typer.Option("--record", help="write new confirmed findings into the ledger, for the table regression_fact")] = False,
    bisect: Annotated[str | None, typer.Option(metavar="EVENT", help="print the runs that would show what made an event or a finding")] = None,
    reason: Annotated[str | None, typer.Option(metavar="TEXT", help="why, for mark")] = None,
    sign: Sign = None,
    as_json: Annotated[bool, typer.Option("--json", help="print what was found as JSON")] = False,
) -> ExitCode:
    """Scans every series over time. Series that changed together are one event: confirmed by five runs of two sessions after it, else suspected."""
    words = what or []
    limit = share(threshold, "--threshold")
    if fail_on:
        checked_level(fail_on)
    if words[:1] == ["mark"] and len(words) != 3 or words[:1] != ["mark"] and len(words) > 1:
        raise usage("wh changes takes one event or finding, or mark EVENT STATE")
    if words[:1] == ["mark"] and reason is None:
        raise usage("mark needs --reason TEXT")
    if bisect and words:
        raise usage("--bisect takes one event or finding, and nothing beside it")
    from warehouse.analysis.changes import changes
    from warehouse.analysis.times import parse_since
    from warehouse.project.project import find_project

    project = find_project()
    start = parse_since(since, datetime.now(UTC)) if since and not words and not bisect else None
    found = changes(project, start, limit)
    if bisect:
        return _bisect(project, found, bisect, as_json=as_json)
    if words[:1] == ["mark"]:
        return _mark(project, found, words[1], words[2], reason or "", sign, as_json=as_json)
    if words:
        events, findings = _named(found, words[0], as_json=as_json)
    else:
        events = [each for each in found.events if not regressed or any(one.outcome == "worse" for one in each.members)]
        findings = [each for each in found.findings if not (regressed and each.outcome != "worse")]
    if record:
        _record(project, findings)
    if as_json:
        print_json(_document(found, events, findings, found.passed.named(words[0]) if words else {}))
    elif not words:
        print_changes(found, events, is_regressed=regressed)
    if plot:
        from warehouse.analysis.drawing import changes_svg

        Path(plot).write_text(changes_svg(findings if words else [each.headline for each in events]), encoding="utf-8")
        notice(f"drawn: {plot}")
    return exit_code(fail_on, found.worst())


def _named(found: "Changes", any_id: str, *, as_json: bool) -> "tuple[list[Event], list[Finding]]":
    """The event and the findings that an id means, which are printed; of what is no longer detected, what it was. Raises WH503."""
    event = found.event(any_id)
    finding = next((each for each in (*event.members, *event.returned) if each.finding_id == any_id), None) if event else None
    passed = found.passed.named(any_id) if finding is None else {}
    if event is None and not passed:
        raise WarehouseError("WH503", "no event or finding has this id", printable(any_id), "wh changes lists them", ExitCode.NOT_FOUND)
    if as_json:
        return [event] if event else [], [finding] if finding else [*event.members] if event else []
    for finding_id, each in passed.items():
        say(printable(f"{finding_id}  not detected, or smaller than the threshold; it was {each.words} (shown on {each.shown_on})"))
    if event and finding:
        print_finding(finding, event)
    elif event:
        print_event(event)
    return [event] if event else [], [finding] if finding else [*event.members] if event else []


def _bisect(project: "Project", found: "Changes", any_id: str, *, as_json: bool) -> ExitCode:
    """Print the runs that would settle an event as a script: what they show are its comments."""
    import shlex
    from dataclasses import asdict, replace

    from warehouse.analysis.events.bisect import bisect
    from warehouse.cli.output import is_project_given

    event = found.event(any_id)
    if event is None:
        raise WarehouseError("WH503", "no event or finding of now has this id", printable(any_id), "wh changes lists them", ExitCode.NOT_FOUND)
    members = [*event.members, *event.returned]
    finding = next((each for each in members if each.finding_id == any_id), event.clearest)
    settling = bisect(project, finding, Path.cwd())
    of_project = f" --project {shlex.quote(str(project.root))}" if is_project_given() else ""
    steps = tuple(
        replace(step, commands=tuple(f"{line}{of_project}" if line.startswith("wh ") else line for line in step.commands)) for step in settling.steps
    )
    settling = replace(settling, steps=steps)
    if as_json:
        print_json({"event_id": event.event_id, "finding_id": finding.finding_id, "runs_left": settling.runs_left, **asdict(settling)})
        return ExitCode.OK
    say(printable(f"# {event.event_id} lies between {settling.last_good} and {settling.first_bad}"))
    for note in settling.notes:
        say(printable(f"# {note}"))
    if len(settling.commits) == 1:
        found_by = "by the runs at commits between, it is" if settling.span > 1 else "there is one between them:"
        say(f"# {found_by} commit {settling.commits[0]}")
    elif settling.commits:
        say(f"# {len(settling.commits)} commits may have made it: {counted(settling.runs_left, 'measurement')} to the one")
    for step in settling.steps:
        say(printable(f"# {step.what}"))
        for line in step.commands:
            say(printable(line))
    if settling.steps:
        say(printable(f"wh build{of_project} && wh changes --bisect {any_id}{of_project}"))
    return ExitCode.OK


def _mark(project: "Project", found: "Changes", any_id: str, state: str, reason: str, sign: str | None, *, as_json: bool) -> ExitCode:
    """Mark a finding, or all members of an event."""
    from warehouse.analysis.marks import mark_event
    from warehouse.cli.decisions.decided import signing_key

    events = mark_event(project, found.event(any_id), any_id, state, reason, signing_key(sign))
    if as_json:
        last = [*events.values()][-1]
        print_json({
            "finding_id": any_id, "state": state, "reason": reason, "at": last.at, "by": last.by, "event": last.key,
            "marks": [{"finding_id": finding_id, "event": each.key} for finding_id, each in events.items()],
        })
    else:
        notice(f"{any_id} is {state}. To update the table regression_fact: wh build")
        for each in events.values():
            say(each.key)
    return ExitCode.OK


def _record(project: "Project", findings: "list[Finding]") -> None:
    from warehouse.analysis.events.findings import finding_document
    from warehouse.analysis.marks import mark

    new = [each for each in findings if each.status == "confirmed" and each.mark is None]
    for each in new:
        mark(project, each.finding_id, "open", f"found by the rule {each.rule}", finding_document(each))
    notice(f"{counted(len(new), 'finding')} recorded. To update the table regression_fact: wh build")


def _document(
    found: "Changes", events: "list[Event]", findings: "list[Finding]", passed: "Mapping[str, Shown]"
) -> dict[str, Any]:
    from dataclasses import asdict

    from warehouse.analysis.events.event import event_document
    from warehouse.analysis.events.findings import finding_document

    return {
        "events": [event_document(each) for each in events],
        "findings": [
            {
                **finding_document(each), "state": each.state, "reason": each.mark.reason if each.mark else None,
                "marked_by": each.mark.event.by if each.mark else None, "marked_at": each.mark.event.at if each.mark else None,
                "values": list(each.values), "place": each.place,
            }
            for each in findings
        ],
        "outliers": [
            {
                "run_id": each.measurement.run_id, "indicator": each.measurement.indicator, "metric": each.measurement.metric,
                "point": each.measurement.point, "value": each.measurement.value, "unit": each.measurement.unit, "node": each.measurement.node,
                "expected": each.expected, "others": len(each.others), "p": each.p, "series_key": each.measurement.series_key,
            }
            for each in found.outliers
        ],
        "series": [asdict(each) for each in found.series],
        "tested": found.tested, "dropped": found.dropped, "precision": [{**asdict(each), "share": each.share} for each in found.precision],
        "not_finite": found.not_finite, "lost": list(found.lost),
        "passed": [{"finding_id": finding_id, **asdict(each)} for finding_id, each in passed.items()],
    }
