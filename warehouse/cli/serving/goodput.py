"""`wh goodput`."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from warehouse.cli.change.shares import Plot
from warehouse.cli.output import counted, is_verbose, notice, print_json, say, table
from warehouse.errors import ExitCode, printable

if TYPE_CHECKING:
    from warehouse.analysis.serving.goodput import CurveGoodput, Goodput, LoadGoodput

PAGE = "docs/serving.md"
_CURVES = 10  # that are listed where --verbose is not given
EXAMPLES = (
    "wh goodput 'ttft_ms<=500,itl_mean_ms<=50'",
    "wh goodput chat --plot goodput.svg",
    "wh goodput 'ttft_ms<=500,e2e_ms<=10000' --where 'model=MiniMax*' --target 95% --json",
)


def command(
    slo: Annotated[str, typer.Argument(
        metavar="SLO", help="limits that each request must meet together, e.g. 'ttft_ms<=500,itl_mean_ms<=50', or the name of an SLO (serving_slo)"
    )],
    where: Annotated[str | None, typer.Option(metavar="NAME=VALUE,...", help="only curves that match; * stands for any characters")] = None,
    target: Annotated[
        str | None, typer.Option(metavar="SHARE", help="the share of requests that must meet it, e.g. 95% or 0.95 (default: the SLO's own, else 99%)")
    ] = None,
    plot: Plot = None,
    as_json: Annotated[bool, typer.Option("--json", help="print the curves as JSON")] = False,
) -> ExitCode:
    """Per curve and load: the share of requests that met all limits, with its 95 % interval over runs, and the largest load that meets the
    target. A failed request meets none."""
    from dataclasses import asdict

    from warehouse.analysis.serving.goodput import goodput
    from warehouse.cli.change.shares import share
    from warehouse.project.project import find_project

    found = goodput(find_project(), slo, where, share(target, "--target") if target is not None else None)
    if plot:
        from warehouse.analysis.serving.drawing import goodput_svg

        Path(plot).write_text(goodput_svg(found), encoding="utf-8")
        notice(f"drawn: {plot}")
    if as_json:
        print_json(asdict(found))
        return ExitCode.OK
    without = [curve for curve in found.curves if not any(each.total for each in curve.loads)]
    told = sorted((curve for curve in found.curves if curve not in without), key=lambda curve: curve.largest_load is None)
    shown = told if is_verbose() else told[:_CURVES]
    for curve in shown:
        _print(curve, found, is_alone=len(told) == 1 or is_verbose())
    if len(shown) < len(told):
        say(f"and {counted(len(told) - len(shown), 'more curve')}: -v lists all")
    if len(told) > 1 and not is_verbose():
        options = ["--target", target] if target else []
        one = shlex.join(["wh", "goodput", slo, *options, "--where", f"curve_key={told[0].curve_key}"])
        notice(f"one curve with its loads and its plot: {one}")
    if without:
        curves, first = counted(len(without), "curve"), printable(str(without[0].loads[0].reason))
        notice(f"not supported for {curves}: no requests of their runs are in the database (the first: {first})")
    for reason, count in sorted(found.left_out.items()):
        notice(f"{counted(count, 'row')} left out: {printable(reason)}")
    return ExitCode.OK


def _print(curve: "CurveGoodput", found: "Goodput", *, is_alone: bool) -> None:
    """A curve's answer, and if it is alone its loads and their plot."""
    named = [*(f"{name} {value}" for name, value in curve.scope.items()), " ".join(map(str, curve.labels.values()))]
    say(f"curve {curve.curve_key[:8]}: {printable(', '.join(filter(None, named)))}")
    if is_alone:
        _print_loads(curve, found)
    say(_answer(curve, found))


def _print_loads(curve: "CurveGoodput", found: "Goodput") -> None:
    from warehouse.analysis.serving.text_plots import share_plot

    say(table([curve.load_kind or "load", "share", "95 % interval", "goodput [1/s]", "requests", "runs", ""], [_row(each) for each in curve.loads]))
    say(share_plot(curve, found.target))


def _answer(curve: "CurveGoodput", found: "Goodput") -> str:
    limits = " and ".join(f"{name} <= {value:g}" for name, value in found.limits.items())
    if all(each.share is None for each in curve.loads):
        return f"  not known of any load whether {found.target:.3g} of its requests are within {limits}"
    if curve.largest_load is None:
        return f"  no measured load has {found.target:.3g} of its requests within {limits}"
    sure = "no load's interval does" if curve.largest_sure_load is None else f"the interval does up to {curve.largest_sure_load:g}"
    return f"  largest measured load with {found.target:.3g} of its requests within {limits}: {curve.largest_load:g} ({sure})"


def _row(each: "LoadGoodput") -> list[Any]:
    from warehouse.statistics.interval import Interval

    interval = f"{each.interval.low:.4f} to {each.interval.high:.4f}" if isinstance(each.interval, Interval) else ""
    return [
        "" if each.load is None else f"{each.load:g}", "" if each.share is None else f"{each.share:.4f}", interval,
        "" if each.goodput_per_s is None else f"{each.goodput_per_s:.4g}", each.total, len(each.run_ids),
        f"not supported: {printable(each.reason)}" if each.reason else "",
    ]
