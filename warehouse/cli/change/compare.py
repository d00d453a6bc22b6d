"""`wh compare`."""

from __future__ import annotations

from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Annotated, Any

import typer

from warehouse.cli.change.shares import FailOn, Plot, Threshold, checked_level, exit_code, share
from warehouse.cli.output import counted, notice, print_json, say, table, warn
from warehouse.errors import ExitCode, printable

if TYPE_CHECKING:
    from warehouse.analysis.compare import Comparison, MetricComparison, Noise
    from warehouse.analysis.sides import Side

PAGE = "docs/changes.md"
EXAMPLES = (
    "wh compare recorded_run/01KG8Q3V5T2M4N6P8R0S1W3X5Y/run-01 recorded_run/01KG8Q3V5T2M4N6P8R0S1W3X5Y/run-02",
    "wh compare 'cluster=node-1,run_id!=*/run-02' '*/run-02' --metric elapsed_ms --threshold 2% --json",
)
_DIFFERENCES = 20  # listed where --verbose is not given


def command(
    base: Annotated[str, typer.Argument(metavar="BASE", help="run ids with commas, a file of them, or conditions such as software='vllm 0.6*'")],
    head: Annotated[str, typer.Argument(metavar="HEAD", help="the same, of the runs to judge")],
    metric: Annotated[str | None, typer.Option(metavar="NAME", help="only metrics of this name; * stands for any characters")] = None,
    threshold: Threshold = "2%",
    fail_on: FailOn = None,
    plot: Plot = None,
    as_json: Annotated[bool, typer.Option("--json", help="print the comparison as JSON")] = False,
) -> ExitCode:
    """Per metric: head over base with its 95 % interval, and what that is worth. Nothing is confirmed by one session a side."""
    limit = share(threshold, "--threshold")
    if fail_on:
        checked_level(fail_on)
    from warehouse.analysis.compare import compare
    from warehouse.analysis.documents import comparison_document
    from warehouse.project.project import find_project

    found = compare(find_project(), base, head, limit, metric)
    if as_json:
        print_json(comparison_document(found))
    else:
        _print(found)
    if plot:
        from warehouse.analysis.drawing import comparison_svg

        Path(plot).write_text(comparison_svg(found), encoding="utf-8")
        notice(f"drawn: {plot}")
    if fail_on and found.untested:
        metrics, few = counted(len(found.metrics), "metric"), found.untested
        warn(f"--fail-on checked {len(found.metrics) - few or 'none'} of {metrics}: {few} {'has' if few == 1 else 'have'} too few runs")
    if fail_on and found.untested == len(found.metrics):  # a check that compared nothing has not passed
        return ExitCode.NOT_FOUND
    return exit_code(fail_on, found.worst())


def _print(found: "Comparison") -> None:
    for name, side in (("base", found.base), ("head", found.head)):
        sessions = len({each.session for each in side.measurements})
        say(f"{name}  {printable(side.asked)}: {counted(len(side.run_ids), 'run')}, {counted(sessions, 'session')}{_uncounted(side)}")
    if found.metrics:
        ordered = found.ranked()
        headers = ["metric", "point", "base", "head", "ratio", "95 % interval", "verdict", "runs", "sessions", "finds", "A/A"]
        say("")
        say(table(headers, [_row(each) for each in ordered]))
        say("")
        for line in dict.fromkeys(line for each in ordered for line in each.notes):
            say(line)
    else:
        notice("the sides have no metric in common")
    _print_differences(found)
    for line in found.left_out:
        notice(line)


def _uncounted(side: "Side") -> str:
    reasons = ", ".join(f"{count} {reason}" for reason, count in side.uncounted.items())
    return f"; not counted: {reasons}" if reasons else ""


def _row(found: "MetricComparison") -> list[Any]:
    from warehouse.statistics.interval import Interval

    judged = found.judged
    ratio = judged.ratio if isinstance(judged.ratio, Interval) else None
    interval = f"{ratio.low:.3f} to {ratio.high:.3f}" if ratio else ""
    unit = f" [{found.unit}]" if found.unit else ""
    return [
        f"{found.metric}{unit}", found.point, *(f"{median(each.value for each in side):.6g}" for side in (found.base, found.head)),
        f"{ratio.estimate:.3f}" if ratio else "", interval, found.verdict, f"{len(found.base)} v {len(found.head)}",
        f"{judged.design.base_sessions} v {judged.design.head_sessions}",
        f"{judged.least_detectable - 1:.1%}" if judged.least_detectable else "", _noise(found.noise),
    ]


def _noise(noise: "Noise | None") -> str:
    if noise is None:
        return ""
    parts = [f"runs {noise.run:.1%}" if noise.run is not None else "", f"sessions {noise.session:.1%}" if noise.session is not None else ""]
    return ", ".join(filter(None, parts))


def _print_differences(found: "Comparison") -> None:
    from warehouse.cli.output import is_verbose

    shown = found.differences if is_verbose() else found.differences[:_DIFFERENCES]
    say("what differs between the runs:" if found.differences else "nothing else differs between the runs, as far as their evidence says")
    for each in shown:
        say(f"  {printable(str(each))}")
    if len(shown) < len(found.differences):
        notice(f"{len(found.differences) - len(shown)} more; -v lists all")
