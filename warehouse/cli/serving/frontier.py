"""`wh frontier`."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from warehouse.cli.change.shares import Plot
from warehouse.cli.output import counted, notice, print_json, say, table
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
    for frontier in found.frontiers:
        _print(frontier, found)
    starred = [point for frontier in found.frontiers for point in frontier.points if point.is_on_frontier]
    if invalid := sum(point.validity == "invalid" for point in starred):
        notice(f"{counted(invalid, 'point')} on the frontier of invalid runs; wh validity names the rules that they break")
    without = Counter(str(frontier.probability) for frontier in found.frontiers if frontier.probability)
    for reason, count in without.items():
        notice(f"probabilities of {counted(count, 'scope')}: {reason}")
    for reason, count in sorted(found.left_out.items()):
        notice(f"{counted(count, 'row')} left out: {printable(reason)}")
    return ExitCode.OK


def _print(frontier: "Frontier", found: "Frontiers") -> None:
    from warehouse.analysis.serving.frontier import at_text, within_text
    from warehouse.analysis.serving.text_plots import curve_letters, frontier_plot

    scope = ", ".join(f"{name} {printable(str(value))}" for name, value in frontier.scope.items() if value is not None)
    on = sum(point.is_on_frontier for point in frontier.points)
    say(f"{scope or 'all points'}: {on} of {counted(len(frontier.points), 'point')} on the frontier")
    axes = [f"{axis.column} ({axis.better})" for axis in (found.x, found.y)]
    headers = ["", *axes, "load", "runs", "probability", "validity", "configuration", "curve"]
    letters = curve_letters(frontier)
    say(table(headers, [_row(point, letters.get(point.curve_key, "")) for point in frontier.points]))
    if plot := frontier_plot(frontier, found):
        say(plot)
    if frontier.at is not None:
        say(at_text(frontier.at, found))
    if found.within is not None:
        say(within_text(frontier.within, found))
    say("")


def _row(point: "Point", letter: str) -> list[Any]:
    load = "" if point.load is None else f"{point.load_kind} {point.load:g}"
    probability = "" if point.probability is None else f"{point.probability:.2f}"
    labels = " ".join(printable(str(value)) for value in point.labels.values())
    return [
        "*" if point.is_on_frontier else "", f"{point.x:.6g}", f"{point.y:.6g}", load, len(point.run_ids), probability, point.validity or "", labels,
        f"{letter} {point.curve_key[:8]}".strip(),
    ]
