"""Load curves as SVG: a panel for each scope of a frontier, and for each curve of goodput. Between measured points nothing is drawn but the
step function of what was measured, and, where it is asked for, an interpolation, dashed and labelled. The same values give the same bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from html import escape
from math import ceil, floor, log10

from warehouse.analysis.drawing import svg_document
from warehouse.analysis.serving.frontier import Axis, Frontier, Frontiers, Point, best_at
from warehouse.analysis.serving.goodput import CurveGoodput, Goodput, LoadGoodput
from warehouse.statistics.frontier import OnFrontier
from warehouse.statistics.interval import Interval

_WIDTH, _LEFT, _RIGHT = 900, 80, 600  # the plot's own part is between left and right; the legend is right of it
_TOP, _BOTTOM, _PANEL = 48, 344, 394
_LINE = 18  # height of a line of the legend
_SAMPLES = 100  # of an interpolation
_LETTERS = 125  # of a line across the drawing
_GOODPUT = 220  # height of a panel of goodput
Scale = Callable[[float], float]


def frontiers_svg(found: Frontiers, interpolate: bool = False) -> str:
    """Each scope: full points are on the frontier, hollow ones are beaten; a ring is around points that are equal."""
    parts, top = list[str](), 0
    for frontier in found.frontiers:
        curves = list(dict.fromkeys(point.curve_key for point in frontier.points))
        parts.append(f'<g transform="translate(0 {top})">{"".join(_frontier(frontier, found, curves, interpolate))}</g>')
        top += max(_PANEL, _TOP + _LINE * (len(curves) + 6))
    return svg_document(_WIDTH, max(top, _LINE), parts)


def goodput_svg(found: Goodput) -> str:
    """Each curve that has requests: the share of each load with its interval, and the target."""
    curves = [curve for curve in found.curves if any(each.total for each in curve.loads)]
    limits = " and ".join(f"{name} <= {value:g}" for name, value in found.limits.items())
    parts = [
        f'<g transform="translate(0 {number * _GOODPUT})">{"".join(_goodput(curve, found.target, limits))}</g>'
        for number, curve in enumerate(curves)
    ]
    return svg_document(_WIDTH, max(len(curves) * _GOODPUT, _LINE), parts)


def _frontier(frontier: Frontier, found: Frontiers, curves: Sequence[str], interpolate: bool) -> Iterable[str]:
    points = frontier.points
    x, x_axis = _axis([point.x for point in points], _LEFT, _RIGHT)
    y, y_axis = _axis([point.y for point in points], _BOTTOM, _TOP)
    colours = {key: _colour(number) for number, key in enumerate(curves)}
    scope = ", ".join(f"{name} {value}" for name, value in frontier.scope.items() if value is not None) or "all points"
    yield _text(8, 18, scope)
    yield _text(8, _TOP - 10, f"up: {_named(found.y)}", kind="small")
    for at in x_axis:
        yield _line("grid", x(at), _TOP, x(at), _BOTTOM) + _text(x(at), _BOTTOM + 16, f"{at:g}", "middle")
    for at in y_axis:
        yield _line("grid", _LEFT, y(at), _RIGHT, y(at)) + _text(_LEFT - 6, y(at) + 4, f"{at:g}", "end")
    yield _text((_LEFT + _RIGHT) / 2, _BOTTOM + 32, _named(found.x), "middle", "small")
    yield f'<path class="frontier" d="{_steps(frontier, found, x, y)}"/>'
    if interpolate:
        yield f'<path class="interpolated" d="{_interpolated(frontier, found, x, y)}"/>'
    yield from (_point(point, points, colours[point.curve_key], x(point.x), y(point.y)) for point in points)
    yield from _legend(points, colours, interpolate)


def _steps(frontier: Frontier, found: Frontiers, x: Scale, y: Scale) -> str:
    """The best y that was measured at each x or at a better one: of one point up to the next, on its worse side."""
    on = sorted({(point.x, point.y) for point in frontier.points if point.is_on_frontier})
    path = [f"M{x(on[0][0]):.1f} {y(on[0][1]):.1f}"]
    for next_x, next_y in on[1:]:
        first, second = (f"V{y(next_y):.1f}", f"H{x(next_x):.1f}")
        path += [first, second] if found.x.better == "higher" else [second, first]
    return "".join(path)


def _interpolated(frontier: Frontier, found: Frontiers, x: Scale, y: Scale) -> str:
    on = [point.x for point in frontier.points if point.is_on_frontier]
    places = [min(on) + (max(on) - min(on)) * number / _SAMPLES for number in range(_SAMPLES)] + [max(on)]
    values = [each for each in (best_at(found, frontier, at, interpolate=True) for at in places) if isinstance(each, OnFrontier)]
    return "M" + "L".join(f"{x(each.x):.1f} {y(each.y):.1f}" for each in values)


def _point(point: Point, points: Sequence[Point], colour: str, x: float, y: float) -> str:
    load = "load not stated" if point.load is None else f"{point.load_kind} {point.load:g}"
    state = "on the frontier" if point.is_on_frontier else "beaten"
    title = f"{' '.join(map(str, point.labels.values()))}, {load}: {point.x:.6g}, {point.y:.6g}, {state}, runs: {len(point.run_ids)}"
    equal = sum((other.x, other.y) == (point.x, point.y) for other in points)
    name = "" if point.load is None or not point.is_on_frontier else f"{point.load:g}"
    ring, fill = "", colour if point.is_on_frontier else "#fff"
    if equal > 1:
        name = f"{equal} equal points"
        ring = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="8" fill="none" stroke="{colour}"/>'
    drawn = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5" fill="{fill}" stroke="{colour}" stroke-width="1.5"><title>{escape(title)}</title></circle>'
    return ring + drawn + (_text(x + 8, y - 8, name, kind="small") if name else "")


def _legend(points: Sequence[Point], colours: dict[str, str], interpolate: bool) -> Iterable[str]:
    left, line = _RIGHT + 20, _TOP + 6
    for key, colour in colours.items():
        name = " ".join(map(str, next(point for point in points if point.curve_key == key).labels.values()))
        yield f'<circle cx="{left}" cy="{line - 4}" r="4.5" fill="{colour}"/>{_text(left + 12, line, f"{name[:34]}  {key[:8]}")}'
        line += _LINE
    line += _LINE // 2
    keys = [("frontier", "best measured at an x or a better one")]
    keys += [("interpolated", "interpolated (PCHIP), not measured")] if interpolate else []
    for kind, text in keys:
        yield f'<path class="{kind}" d="M{left - 6} {line - 4}h14"/>{_text(left + 12, line, text)}'
        line += _LINE
    yield _text(left - 6, line, "full: on the frontier, with its load; hollow: beaten", kind="small")


def _goodput(curve: CurveGoodput, target: float, limits: str) -> Iterable[str]:
    top, bottom = 34, _GOODPUT - 50
    places = {each.load: _LEFT + (_RIGHT - _LEFT) * (number + 0.5) / len(curve.loads) for number, each in enumerate(curve.loads)}
    named = [*(f"{name} {value}" for name, value in curve.scope.items()), " ".join(map(str, curve.labels.values()))]
    name = f"{curve.curve_key[:8]}: {', '.join(filter(None, named))}"
    yield _text(8, 18, name if len(name) <= _LETTERS else f"{name[: _LETTERS - 1]}…")

    def y(share: float) -> float:
        return bottom - share * (bottom - top)

    for share in (0, 0.25, 0.5, 0.75, 1):
        yield _line("grid", _LEFT, y(share), _RIGHT, y(share)) + _text(_LEFT - 6, y(share) + 4, f"{share:g}", "end")
    yield _line("change", _LEFT, y(target), _RIGHT, y(target)) + _text(_RIGHT + 6, y(target) + 4, f"target {target:g}")
    for each in curve.loads:
        yield _load(each, places[each.load], y)
        yield _text(places[each.load], bottom + 16, "not stated" if each.load is None else f"{each.load:g}", "middle")
    yield _text((_LEFT + _RIGHT) / 2, bottom + 34, f"{curve.load_kind or 'load'}, as measured; share of requests with {limits}", "middle", "small")


def _load(each: LoadGoodput, x: float, y: Scale) -> str:
    if each.share is None:
        title = f"<title>not supported: {escape(each.reason or '')}</title>"
        return f'<g>{title}{_text(x, y(0) - 6, "×", "middle")}{_text(x, y(0) - 20, "not supported", "middle", "small")}</g>'
    interval, title = "", f"{each.met} of {each.total} requests, runs: {len(each.run_ids)}"
    if isinstance(each.interval, Interval):
        interval = _line("interval", x, y(each.interval.low), x, y(each.interval.high))
        title += f", 95 % interval {each.interval.low:.4f} to {each.interval.high:.4f}"
    else:
        title += ", no interval"
    mark = f'<circle class="point" cx="{x:.1f}" cy="{y(each.share):.1f}" r="5"><title>{escape(title)}</title></circle>'
    return f"{interval}{mark}{_text(x + 9, y(each.share) + 4, f'{each.share:.3f}', kind='small')}"


def _axis(values: Sequence[float], start: float, end: float) -> tuple[Scale, list[float]]:
    """From values to places on the paper, and round values for ticks."""
    low, high = min(values), max(values)
    margin = (high - low) * 0.06 or abs(high) * 0.1 or 1.0
    low, high = low - margin, high + margin
    rough = (high - low) / 5
    power = 10.0 ** floor(log10(rough))
    step = power * next(each for each in (1, 2, 5, 10) if each * power >= rough * 0.999)
    ticks = [round(number * step, 12) for number in range(ceil(low / step), floor(high / step) + 1)]
    return lambda value: start + (value - low) / (high - low) * (end - start), ticks


def _named(axis: Axis) -> str:
    return f"{axis.column} ({axis.better} is better)"


def _colour(number: int) -> str:
    return f"hsl({round(number * 137.5) % 360},65%,40%)"  # the golden angle: neighbours differ


def _line(kind: str, x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def _text(x: float, y: float, text: str, anchor: str = "start", kind: str = "") -> str:
    written = f' class="{kind}"' if kind else ""
    return f'<text{written} x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'
