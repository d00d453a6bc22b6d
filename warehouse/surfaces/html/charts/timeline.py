"""Charts of several quantities over one time: a lane each, with values of its own, above one axis."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from markupsafe import Markup

from warehouse.errors import printable_lines
from warehouse.surfaces.html.charts.axes import Axis, axis
from warehouse.surfaces.html.charts.frames import named, x_ticks
from warehouse.surfaces.html.charts.plot import NOTHING, Drawn, Mark, Plot, cut, value_text

_WIDTH, _LANE, _GAP, _LEFT, _RIGHT = 760, 44, 36, 130, 12  # the name of a lane stands above it
_MOST_LANES, _MOST_LINES = 8, 8
_NAME = 40  # characters
_LEAST_SPAN = 4  # pixels, of a last value


def timeline(plot: Plot, marks: Sequence[Mark], size: tuple[int, int], shared: Sequence[Mark] | None, name: str = "") -> Drawn:
    """One lane for each value of `group`, a line in it for each of `line`, from its least to its greatest value; behind it the spans of `hatched`."""
    chart, said = plot.chart, list[str]()
    assert chart.group
    lanes: dict[Any, list[Mark]] = {}
    for mark in marks:
        if mark.is_placed:
            lanes.setdefault(mark.record[chart.group], []).append(mark)
    if not lanes:
        return NOTHING, said
    if len(lanes) > _MOST_LANES:
        said.append(f"{_MOST_LANES} of {len(lanes)} quantities are drawn")
    shown = list(lanes.items())[:_MOST_LANES]
    x = axis([mark.x or 0.0 for _, of_lane in shown for mark in of_lane], _LEFT, _WIDTH - _RIGHT, False, False)
    inside = []
    for place, (lane, of_lane) in enumerate(shown):
        top = place * (_LANE + _GAP) + _GAP - 6
        bottom = top + _LANE
        values = [mark.y or 0.0 for mark in of_lane]
        low, high = min(values), max(values)
        unit = next((mark.record[chart.value] for mark in of_lane), None) if chart.value else None
        inside.append(Markup('<path class="grid" d="M{} {}H{}"/><text class="lane" x="{}" y="{}">{}</text>').format(
            _LEFT, bottom, _WIDTH - _RIGHT, _LEFT, top - 8, printable_lines(cut(value_text(lane), _NAME))
        ))
        ends = [(top + 8, f"{value_text(high)}{f' {unit}' if unit else ''}")] + ([(bottom, value_text(low))] if high > low else [])
        inside += [Markup('<text x="{}" y="{}" text-anchor="end">{}</text>').format(_LEFT - 7, at, printable_lines(words)) for at, words in ends]
        inside += _outside(plot, of_lane, x, top)
        inside += _lines(plot, of_lane, x, bottom, (low, high))
    foot = len(shown) * (_LANE + _GAP) + 6
    inside.append(x_ticks(x, foot, named(plot, chart.x)))
    words = printable_lines(chart.title or plot.table.title)
    return Markup('<svg class="chart timeline" viewBox="0 0 {} {}" role="group" aria-label="{}">{}</svg>').format(
        _WIDTH, foot + 46, words, Markup("\n").join(inside)
    ), said


def _outside(plot: Plot, marks: Sequence[Mark], x: Axis, top: float) -> Iterator[Markup]:
    """The spans of time in which a value is in a state that is shown: each from its mark to the next one."""
    places = sorted({x.at(mark.x or 0.0) for mark in marks})
    shown = {x.at(mark.x or 0.0) for mark in marks if plot.is_hatched(mark.record)}
    begun = None
    for at, following in zip(places, [*places[1:], places[-1] + _LEAST_SPAN], strict=True):
        begun = begun if begun is not None else at if at in shown else None
        if begun is not None and (following not in shown):
            yield Markup('<rect class="outside" x="{:g}" y="{:g}" width="{:.1f}" height="{}"/>').format(begun, top, following - begun, _LANE)
            begun = None


def _lines(plot: Plot, marks: Sequence[Mark], x: Any, bottom: float, ends: tuple[float, float]) -> list[Markup]:
    """Lines within a lane; where a value stands alone, a point."""
    of_lines: dict[Any, list[Mark]] = {}
    for mark in sorted(marks, key=lambda mark: mark.x or 0.0):
        of_lines.setdefault(mark.record[plot.chart.line] if plot.chart.line else None, []).append(mark)
    low, high = ends
    drawn = []
    for place, (line, of_line) in enumerate(list(of_lines.items())[:_MOST_LINES]):
        at = [
            f"{x.at(mark.x or 0.0):g} {bottom - (((mark.y or 0.0) - low) / (high - low) if high > low else 0.5) * _LANE:.1f}" for mark in of_line
        ]
        path = f"M{'L'.join(at)}" if len(at) > 1 else f"M{at[0]}h0"
        words = printable_lines(f"{value_text(line)}, {len(of_line)} values" if line is not None else f"{len(of_line)} values")
        drawn.append(Markup('<g><title>{}</title><path class="lane-line s{}" d="{}"/></g>').format(words, place % 6, path))
    return drawn
