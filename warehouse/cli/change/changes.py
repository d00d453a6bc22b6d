"""`wh changes`."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from warehouse.cli.change.shares import FailOn, Plot, Threshold, checked_level, exit_code, share
from warehouse.cli.decisions.decided import Sign
from warehouse.cli.output import counted, notice, print_json, say, warn
from warehouse.cli.program import usage
from warehouse.errors import ExitCode, WarehouseError, printable

if TYPE_CHECKING:
    from warehouse.analysis.changes import Changes, Finding, SeriesState
    from warehouse.analysis.succession import Outlier
    from warehouse.project.project import Project

PAGE = "docs/changes.md"
EXAMPLES = (
    "wh changes",
    "wh changes --since 1y --regressed",
    "wh changes --json --fail-on confirmed",
)
_DIFFERENCES = 6  # of a finding, where --verbose is not given


def command(
    what: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FINDING", help="one finding; or mark FINDING STATE, which is open, acknowledged, explained, fixed or false-alarm"
        ),
    ] = None,
    since: Annotated[str | None, typer.Option(metavar="TIME", help="only changes since then: 1y, 6m, 2w, 10d, or a date")] = None,
    regressed: Annotated[bool, typer.Option("--regressed", help="only what got worse, with whether it still is")] = False,
    threshold: Threshold = "2%",
    fail_on: FailOn = None,
    plot: Plot = None,
    record: Annotated[bool, typer.Option("--record", help="write new confirmed findings into the ledger, for the table regression_fact")] = False,
    reason: Annotated[str | None, typer.Option(metavar="TEXT", help="why, for mark")] = None,
    sign: Sign = None,
    as_json: Annotated[bool, typer.Option("--json", help="print what was found as JSON")] = False,
) -> ExitCode:
    """Scans every series over time. A finding is confirmed by five runs of two sessions after it; the others are suspected."""
    words = what or []
    limit = share(threshold, "--threshold")
    if fail_on:
        checked_level(fail_on)
    if words[:1] == ["mark"] and len(words) != 3 or words[:1] != ["mark"] and len(words) > 1:
        raise usage("wh changes takes one finding, or mark FINDING STATE")
    if words[:1] == ["mark"] and reason is None:
        raise usage("mark needs --reason TEXT")
    from warehouse.analysis.changes import changes
    from warehouse.analysis.times import parse_since
    from warehouse.project.project import find_project

    project = find_project()
    start = parse_since(since, datetime.now(UTC)) if since else None
    found = changes(project, start, limit)
    if words[:1] == ["mark"]:
        return _mark(project, found, words[1], words[2], reason or "", sign, as_json=as_json)
    findings = [each for each in found.findings if not (regressed and each.outcome != "worse") and words in ([], [each.finding_id])]
    if words and not findings:
        raise WarehouseError("WH503", "no finding has this id", printable(words[0]), "wh changes lists them", ExitCode.NOT_FOUND)
    if record:
        _record(project, findings)
    if as_json:
        print_json(_document(found, findings))
    else:
        _print(found, findings, is_one=bool(words), is_regressed=regressed)
    if plot:
        from warehouse.analysis.drawing import changes_svg

        Path(plot).write_text(changes_svg(findings), encoding="utf-8")
        notice(f"drawn: {plot}")
    return exit_code(fail_on, found.worst())


def _mark(project: "Project", found: "Changes", finding_id: str, state: str, reason: str, sign: str | None, *, as_json: bool) -> ExitCode:
    from warehouse.analysis.changes import finding_document
    from warehouse.analysis.marks import mark
    from warehouse.cli.decisions.decided import signing_key

    known = next((finding_document(each) for each in found.findings if each.finding_id == finding_id), None)
    event = mark(project, finding_id, state, reason, known, signing_key(sign))
    if as_json:
        print_json({"finding_id": finding_id, "state": state, "reason": reason, "at": event.at, "by": event.by, "event": event.key})
    else:
        notice(f"{finding_id} is {state}. To update the table regression_fact: wh build")
        say(event.key)
    return ExitCode.OK


def _record(project: "Project", findings: "list[Finding]") -> None:
    from warehouse.analysis.changes import finding_document
    from warehouse.analysis.marks import mark

    new = [each for each in findings if each.status == "confirmed" and each.mark is None]
    for each in new:
        mark(project, each.finding_id, "open", f"found by the rule {each.rule}", finding_document(each))
    notice(f"{counted(len(new), 'finding')} recorded. To update the table regression_fact: wh build")


def _print(found: "Changes", findings: "list[Finding]", *, is_one: bool, is_regressed: bool) -> None:
    for each in findings:
        say(_block(each, is_one=is_one))
    if is_one:
        return
    if not findings:
        say("nothing regressed" if is_regressed else "no change was found")
    if not is_regressed:
        for outlier in found.outliers:
            say(_outlier(outlier))
        for state in found.series:
            if state.is_stale or state.missing:
                warn(_silence(state))
    statuses = ", ".join(f"{count} {status}" for status, count in sorted(Counter(each.status for each in found.series).items()))
    notice(f"{counted(len(found.series), 'series', 'series')}: {statuses or 'none'}; {found.tested} tested")
    if is_regressed and (unknown := sum(each.outcome in ("higher", "lower") for each in found.findings)):
        notice(f"{counted(unknown, 'change')} of metrics without a direction: whether they are worse is not known; wh changes lists them")
    if found.not_finite:
        notice(f"{counted(found.not_finite, 'measurement')} without a number left out")
    if found.dropped:
        notice(f"{counted(found.dropped, 'suspicion')} left out: of so many series, some look so by chance")
    for rule in found.precision:
        notice(f"rule {printable(rule.rule)}: {rule.real} of {rule.real + rule.false_alarms} marked findings were real ({rule.share:.0%})")


def _block(found: "Finding", *, is_one: bool) -> str:
    from warehouse.analysis.drawing import sparkline
    from warehouse.cli.output import is_verbose
    from warehouse.statistics.interval import Interval

    first, unit = found.first, f" {found.first.unit}" if found.first.unit else ""
    size = f"{found.after / found.before:.3f}x" if found.before > 0 else "from zero"
    interval = f" ({found.ratio.low:.3f} to {found.ratio.high:.3f})" if isinstance(found.ratio, Interval) else ""
    needs = f", needs {counted(found.needs, 'more run')}" if found.needs else ""
    now = {"still": "still so", "recovered": "recovered since"}[found.now]
    lines = [
        f"{found.finding_id}  {found.status} {found.outcome}{' (exploratory)' if found.is_exploratory else ''}{needs}  {found.state}",
        f"  {first.indicator} {first.metric} {first.point}".rstrip() + f"  {first.benchmark_case_id or ''}",
        f"  {found.before:.6g} -> {found.after:.6g}{unit}, {size}{interval}, {now}; {found.points[0]} runs before, {found.points[1]} after"
        f" in {counted(found.sessions_after, 'session')}",
        f"  between {found.last.started_at:%Y-%m-%d %H:%M} and {first.started_at:%Y-%m-%d %H:%M}Z, first run {first.run_id}",
        f"  {sparkline(found.values, found.place)}",
    ]
    moved, controls = found.controls
    lines.append(f"  control series on this machine: {moved} of {controls} changed there too" if controls else "  no control series on this machine")
    shown = found.differences if is_one or is_verbose() else found.differences[:_DIFFERENCES]
    if found.variables and not shown:
        lines.append(f"  changed there: {', '.join(found.variables)}")
    elif not shown:
        lines.append("  nothing else changed there, as far as the evidence says")
    lines += [f"  changed there: {each}" for each in shown]
    if len(shown) < len(found.differences):
        lines.append(f"  and {len(found.differences) - len(shown)} more: wh changes {found.finding_id}")
    if found.mark:
        lines.append(f"  {found.mark.state} on {found.mark.event.at} by {found.mark.event.by}: {found.mark.reason}")
    return "\n".join(printable(line) for line in lines) + "\n"


def _outlier(found: "Outlier") -> str:
    each = found.measurement
    unit = f" {each.unit}" if each.unit else ""
    where = f" on {each.node}" if each.node else ""
    others = f"{len(found.others)} other runs are at {found.expected:.6g}"
    return printable(f"outlier  {each.metric} {each.point}: {each.value:.6g}{unit}{where}, while {others}; run {each.run_id}")


def _silence(state: "SeriesState") -> str:
    name = printable(f"{state.metric} {state.point} of {state.benchmark_case_id or state.indicator}")
    if state.missing:
        return f"missing data: {name}: {counted(state.missing, 'run')} since {state.last_at:%Y-%m-%d} without it"
    return f"stale: {name}: no run since {state.last_at:%Y-%m-%d}"


def _document(found: "Changes", findings: "list[Finding]") -> dict[str, Any]:
    from dataclasses import asdict

    from warehouse.analysis.changes import finding_document

    return {
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
        "not_finite": found.not_finite,
    }
