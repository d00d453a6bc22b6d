"""`wh compare`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Annotated

import typer

from warehouse.cli.change.shares import FailOn, Plot, Threshold, checked_level, exit_code, share
from warehouse.cli.output import counted, folded, next_step, notice, print_json, say, terminal_width, warn, wrapped
from warehouse.errors import ExitCode, printable

if TYPE_CHECKING:
    from warehouse.analysis.compare import Comparison, MetricComparison, Noise
    from warehouse.analysis.sides import Side

PAGE = "docs/changes.md"
EXAMPLES = (
    "wh compare recorded_run/01KG8Q3V5T2M4N6P8R0S1W3X5Y/run-01 recorded_run/01KG8Q3V5T2M4N6P8R0S1W3X5Y/run-02",
    "wh compare accelerator='*H100*',until=2026-02-01 accelerator='*H100*',since=2026-02-01",
    "wh compare 'cluster=node-1,run_id!=*/run-02' '*/run-02' --metric elapsed_ms --threshold 2% --json",
)
# Listed where --verbose is not given: with the two sides and what was left out they fit a screen.
_METRICS, _NOTES, _DIFFERENCES = 12, 6, 8
_NARROW, _FEW_METRICS = 140, 5  # columns of a terminal in which labels take some lines
_LEAST_LABEL = 24  # characters of a line that labels get before a column is dropped
_COLUMNS = ("verdict", "ratio", "95 % interval", "needs", "runs", "sessions", "finds", "base", "head", "A/A")
_FIRST_DROPPED = ("A/A", "head", "base", "sessions", "needs", "finds", "runs", "95 % interval")  # the others always stand
_SIDE = "run ids with commas, a file of them, or conditions such as software='vllm 0.6*' or accelerator='*H100*',since=2026-01-31"


def command(
    base: Annotated[str, typer.Argument(metavar="BASE", help=_SIDE)],
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
    from warehouse.cli.output import is_verbose

    ranked = found.ranked()
    if ranked:
        _say(", ".join(f"{count} {headline}" for headline, count in found.headlines().items()))
    for name, side in (("base", found.base), ("head", found.head)):
        sessions = len({each.session for each in side.measurements})
        _say(f"{name}  {printable(side.asked)}: {counted(len(side.run_ids), 'run')}, {counted(sessions, 'session')}{_uncounted(side)}")
    if ranked:
        most = _FEW_METRICS if (terminal_width() or _NARROW) < _NARROW else _METRICS
        shown = ranked if is_verbose() else ranked[:most]
        say("")
        _print_metrics(shown)
        if more := Counter(each.headline for each in ranked[len(shown) :]):
            _say(f"and {more.total()} more: {', '.join(f'{count} {headline}' for headline, count in more.items())}; -v lists all")
        say("")
        notes = list(dict.fromkeys(line for each in shown for line in each.notes))
        for line in notes if is_verbose() else notes[:_NOTES]:
            _say(line)
        if len(notes) > _NOTES and not is_verbose():
            _say(f"and {counted(len(notes) - _NOTES, 'more note', 'more notes')}; -v lists all")
        _say(f"finds: what is found in four of five cases; an effect of {found.threshold * 100:.3g} %, the threshold, by chance alone")
    else:
        notice("the sides have no metric in common")
        if found.head.run_ids:
            next_step(f"wh similar {found.head.run_ids[0]}")
    _print_differences(found)
    for line in found.left_out:
        notice(line)


def _say(text: str) -> None:
    """A line, which goes on in the next where the terminal ends, or COLUMNS says that it does."""
    say(folded(text, terminal_width()))


def _print_metrics(metrics: "Sequence[MetricComparison]") -> None:
    """A table whose labels stand last and go on in the next line, so that nothing is cut; columns that do not fit a terminal are dropped, and
    named."""
    rows = [_row(each) for each in metrics]
    columns = [name for name in _COLUMNS if any(row[name] for row in rows)]
    widths = {name: max(len(name), *(len(row[name]) for row in rows)) for name in columns}
    longest = max(len(row["metric"]) for row in rows)
    room = terminal_width()
    dropped = []
    for name in _FIRST_DROPPED:
        if room is None or sum(widths[each] + 2 for each in columns) + min(longest, _LEAST_LABEL) <= room:
            break
        if name in columns:
            columns.remove(name)
            dropped.append(name)
    left = sum(widths[each] + 2 for each in columns)
    for row in ({name: name for name in (*columns, "metric")}, {name: "-" * widths.get(name, 6) for name in (*columns, "metric")}, *rows):
        figures = "".join(f"{row[name].ljust(widths[name])}  " for name in columns)
        label = wrapped(row["metric"], max(room - left, _LEAST_LABEL)) if room else [row["metric"]]
        _say(f"{figures}{label[0]}")
        for line in label[1:]:
            _say(f"{' ' * left}{line}")
    if dropped:
        _say(f"not shown in {room} columns: {', '.join(dropped)} (--json has all)")


def _uncounted(side: "Side") -> str:
    reasons = ", ".join(f"{count} {reason}" for reason, count in side.uncounted.items())
    return f"; not counted: {reasons}" if reasons else ""


def _row(found: "MetricComparison") -> dict[str, str]:
    from warehouse.statistics.interval import Interval

    judged = found.judged
    ratio = judged.ratio if isinstance(judged.ratio, Interval) else None
    unit = f" [{found.unit}]" if found.unit else ""
    base, head = (f"{median(each.value for each in side):.6g}" for side in (found.base, found.head))
    return {
        "verdict": found.headline, "ratio": f"{ratio.estimate:.3f}" if ratio else "",
        "95 % interval": f"{ratio.low:.3f} to {ratio.high:.3f}" if ratio else "", "needs": found.needs,
        "runs": f"{len(found.base)} v {len(found.head)}", "sessions": f"{judged.design.base_sessions} v {judged.design.head_sessions}",
        "finds": f"{found.finds - 1:.1%}" if found.finds else "", "base": base, "head": head, "A/A": _noise(found.noise),
        "metric": printable(f"{found.label}{unit}"),
    }


def _noise(noise: "Noise | None") -> str:
    if noise is None:
        return ""
    parts = [f"runs {noise.run:.1%}" if noise.run is not None else "", f"sessions {noise.session:.1%}" if noise.session is not None else ""]
    return ", ".join(filter(None, parts))


def _print_differences(found: "Comparison") -> None:
    from warehouse.analysis.conditions import in_lines
    from warehouse.cli.output import is_verbose

    lines = in_lines(found.differences, is_short=not is_verbose())
    shown = lines if is_verbose() else lines[:_DIFFERENCES]
    _say("what differs between the runs:" if lines else "nothing else differs between the runs, as far as their evidence says")
    for line in shown:
        _say(f"  {printable(line)}")
    if len(shown) < len(lines):
        notice(f"{len(lines) - len(shown)} more; -v lists all")
