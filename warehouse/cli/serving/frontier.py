"""`wh frontier`."""

from __future__ import annotations

import shlex
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from warehouse.cli.change.shares import Plot
from warehouse.cli.output import counted, is_verbose, notice, print_json, say, table
from warehouse.errors import ExitCode, printable

if TYPE_CHECKING:
    from warehouse.analysis.serving.frontier import Frontier, Frontiers, Point

PAGE = "docs/serving.md"
EXAMPLES = (
    "wh frontier --where 'model=MiniMax*,input_length=1024'",
    "wh frontier --x ttft_p99_ms --y cost_per_million_output_tokens_usd --scope model --json",
    "wh frontier --where 'model=MiniMax*' --at 40",
    "wh frontier --x ttft_p99_ms --y output_token_throughput_per_s --scope model --within 500",
    "wh frontier --where 'model=MiniMax*' --plot frontier.svg",
)
_SCOPES, _POINTS = 13, 8  # of those that are listed where --verbose is not given
_X, _Y = "interactivity_p50_tokens_per_s", "output_token_throughput_per_accelerator_per_s"


def command(
    x: Annotated[str, typer.Option("--x", metavar="COLUMN", help="the first axis; :higher or :lower behind it says which is better")] = _X,
    y: Annotated[str, typer.Option("--y", metavar="COLUMN", help="the second axis")] = _Y,
    where: Annotated[str | None, typer.Option(metavar="NAME=VALUE,...", help="only points that match; * stands for any characters")] = None,
    scope: Annotated[
        str | None, typer.Option(metavar="COLUMN,...", help="points compete where these are equal (default model, lengths, precision)")
    ] = None,
    at: Annotated[float | None, typer.Option(metavar="X", help="the frontier's y at this x, which lies in the measured range")] = None,
    interpolate: Annotated[bool, typer.Option("--interpolate", help="between measured points, for --at; the answer is labelled")] = False,
    within: Annotated[float | None, typer.Option(metavar="X", help="the point with the best y whose x is at least as good as this")] = None,
    plot: Plot = None,
    as_json: Annotated[bool, typer.Option("--json", help="print the frontiers as JSON")] = False,
) -> ExitCode:
    """The measured points that no other point beats on two axes, within each scope; the others stay listed. Nothing is extrapolated."""
    from dataclasses import asdict

    from warehouse.analysis.serving.frontier import frontiers
    from warehouse.project.project import find_project

    names = [name.strip() for name in scope.split(",") if name.strip()] if scope is not None else None
    found = frontiers(find_project(), x, y, where, names, at, interpolate, within)
    if plot:
        from warehouse.analysis.serving.drawing import frontiers_svg

        Path(plot).write_text(frontiers_svg(found, interpolate), encoding="utf-8")
        notice(f"drawn: {plot}")
    if as_json:
        print_json(asdict(found))
        return ExitCode.OK
    if len(found.frontiers) == 1:
        _print(found.frontiers[0], found)
    else:
        _print_answers(found)
        asked = [("--x", x, _X), ("--y", y, _Y), ("--scope", scope, None), ("--at", at, None), ("--within", within, None)]
        first = max(found.frontiers, key=lambda each: len(each.points)).scope
        options = [word for name, value, default in asked if value != default for word in (name, str(value))]
        chosen = ",".join(f"{name}={value}" for name, value in first.items() if value is not None)
        notice(f"one scope with its points and its plot: {shlex.join(['wh', 'frontier', *options, '--where', chosen])}")
    starred = [point for frontier in found.frontiers for point in frontier.points if point.is_on_frontier]
    if invalid := sum(point.validity == "invalid" for point in starred):
        notice(f"{counted(invalid, 'point')} on the frontier of invalid runs; wh validity names the rules that they break")
    without = Counter(str(frontier.probability) for frontier in found.frontiers if frontier.probability)
    for reason, count in without.items():
        notice(f"probabilities of {counted(count, 'scope')}: {reason}")
    for reason, count in sorted(found.left_out.items()):
        notice(f"{counted(count, 'row')} left out: {printable(reason)}")
    return ExitCode.OK


def _print_answers(found: "Frontiers") -> None:
    """Each scope in two lines, those with the most points first: its best point, within the limit if there is one."""
    from warehouse.analysis.serving.frontier import at_text, best_of

    ranked = sorted(found.frontiers, key=lambda each: -len(each.points))
    shown = ranked if is_verbose() else ranked[:_SCOPES]
    limit = "" if found.within is None else f" with {found.limit}"
    say(f"best y of each scope{limit}; y: {found.y.column} ({found.y.better}), x: {found.x.column} ({found.x.better})")
    for each in shown:
        on, best = sum(point.is_on_frontier for point in each.points), best_of(each, found)
        say(f"{_scope(each)}: {on} of {counted(len(each.points), 'point')} on the frontier")
        say(f"  y {best.y:.4g} at x {best.x:.4g}  {_conditions(best)}" if best else "  none")
        if each.at is not None:
            say(f"  {at_text(each.at, found)}")
    if found.within is None:
        say("the best y may have a poor x: --within X asks for the best y whose x is at least that good")
    if len(shown) < len(ranked):
        say(f"and {counted(len(ranked) - len(shown), 'more scope')}: -v lists all")


def _print(frontier: "Frontier", found: "Frontiers") -> None:
    """One scope: its answer, its points, those on the frontier first, and their plot."""
    from warehouse.analysis.serving.frontier import at_text, within_text
    from warehouse.analysis.serving.text_plots import curve_letters, frontier_plot

    on = [point for point in frontier.points if point.is_on_frontier]
    say(f"{_scope(frontier)}: {len(on)} of {counted(len(frontier.points), 'point')} on the frontier")
    if frontier.at is not None:
        say(at_text(frontier.at, found))
    if found.within is not None:
        say(within_text(frontier.within, found))
    most = len(frontier.points) if is_verbose() else max(_POINTS, len(on))
    shown = [*on, *(point for point in frontier.points if not point.is_on_frontier)][:most]
    axes = [f"{axis.column} ({axis.better})" for axis in (found.x, found.y)]
    letters = curve_letters(frontier)
    headers = ["", *axes, "load", "runs", "validity", "curve", "configuration", *(["probability"] if frontier.probability is None else [])]
    rows = [_row(point, letters.get(point.curve_key, "")) for point in frontier.points if point in shown]
    say(table(headers, [row[: len(headers)] for row in rows]))
    if len(shown) < len(frontier.points):
        say(f"and {counted(len(frontier.points) - len(shown), 'more point')} that others beat: -v lists all")
    if plot := frontier_plot(frontier, found):
        say(plot)


def _scope(frontier: "Frontier") -> str:
    return ", ".join(f"{name} {printable(str(value))}" for name, value in frontier.scope.items() if value is not None) or "all points"


def _conditions(point: "Point") -> str:
    """Under which load and configuration a point was measured, how often, and what its runs are worth."""
    return " · ".join(filter(None, (_load(point), _labels(point), counted(len(point.run_ids), "run"), point.validity)))


def _load(point: "Point") -> str:
    return "" if point.load is None else f"{point.load_kind} {point.load:g}"


def _labels(point: "Point") -> str:
    return " ".join(printable(str(value)) for value in point.labels.values())


def _row(point: "Point", letter: str) -> list[Any]:
    probability = "" if point.probability is None else f"{point.probability:.2f}"
    return [
        "*" if point.is_on_frontier else "", f"{point.x:.6g}", f"{point.y:.6g}", _load(point), len(point.run_ids), point.validity or "",
        f"{letter} {point.curve_key[:8]}".strip(), _labels(point), probability,
    ]
