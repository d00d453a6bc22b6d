"""Charts of one axis: values as dots, effects in lanes, and bars."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from warehouse.errors import printable_lines
from warehouse.surfaces.html.charts.axes import Axis, axis
from warehouse.surfaces.html.charts.frames import frame, named, upright, x_ticks
from warehouse.surfaces.html.charts.planes import BOTTOM, plane
from warehouse.surfaces.html.charts.plot import NOTHING, Drawn, Mark, Plot, cut, value_text

MOST_LANES = 20
_PITCH = 38


def dots(plot: Plot, marks: Sequence[Mark], size: tuple[int, int], shared: Sequence[Mark] | None, name: str = "") -> Drawn:
    """Values on one axis; those at the same place are stacked, so that each is seen."""
    said = plot.left_out(marks, plot.chart.x)
    placed = sorted((mark for mark in marks if mark.x is not None), key=lambda mark: mark.x or 0.0)
    if not placed:
        return NOTHING, said
    x = _axis(plot, [*placed, *(shared or ())], size)
    if len(placed) > plot.most:
        said.append(f"{len(placed):,} values: {plot.most} of them are drawn, evenly chosen in their order; the figures have every row")
        placed = [placed[place * (len(placed) - 1) // (plot.most - 1)] for place in range(plot.most)]
    lanes: list[float] = []  # the last pixel of each lane
    at_lane = []
    for mark in placed:
        at = x.at(mark.x or 0.0)
        lane = next((place for place, last in enumerate(lanes) if at - last >= 9), len(lanes))
        lanes[lane : lane + 1] = [at]
        at_lane.append((mark, at, lane))
    gap = min(10.0, 150 / max(1, len(lanes)))
    bottom = 26 + max(2, len(lanes)) * gap
    inside = [*upright(plot, x, 4, bottom), x_ticks(x, bottom, named(plot, plot.chart.x))]
    for mark, at, lane in at_lane:
        bounds = plot.bounds(mark.record, "x")
        height = bottom - 12 - lane * gap
        whisker = plot.whisker(mark, f"M{x.at(bounds[0]):g} {height:g}H{x.at(bounds[1]):g}") if bounds else NOTHING
        inside.append(plot.point(mark, at, height, whisker))
    return plot.svg(size[0], round(bottom + 48), inside, name), said


def effects(plot: Plot, marks: Sequence[Mark], size: tuple[int, int], shared: Sequence[Mark] | None, name: str = "") -> Drawn:
    """One lane a row: its words, and below them its value with the interval, beside the band."""
    said = plot.left_out(marks, plot.chart.x)
    placed = _first([mark for mark in marks if mark.x is not None], said)
    if not placed:
        return NOTHING, said
    x = _axis(plot, placed, size)
    bottom = _PITCH * len(placed) + 8
    inside = list(upright(plot, x, 8, bottom))
    for place, mark in enumerate(placed):
        middle = _PITCH * place + 35
        bounds = plot.bounds(mark.record, "x")
        whisker = plot.whisker(mark, f"M{x.at(bounds[0]):g} {middle:g}H{x.at(bounds[1]):g}") if bounds else NOTHING
        inside.append(plot.point(mark, x.at(mark.x or 0.0), middle, _label(mark, plot.chart.y, middle - 12) + whisker))
    inside.append(x_ticks(x, bottom, named(plot, plot.chart.x)))
    return plot.svg(size[0], bottom + 48, inside, name), said


def bars(plot: Plot, marks: Sequence[Mark], size: tuple[int, int], shared: Sequence[Mark] | None, name: str = "") -> Drawn:
    """A bar from zero for each row: upright along x in time or number, or a lane for each where x is a text."""
    chart = plot.chart
    is_upright = any(mark.x is not None for mark in marks)
    said = plot.left_out(marks, *([chart.x] if is_upright else []), chart.y)
    if is_upright:
        placed = sorted((mark for mark in marks if mark.is_placed), key=lambda mark: mark.x or 0.0)
        if len(placed) > plot.most:
            said.append(f"the first {plot.most} of {len(placed):,} rows are drawn")
            placed = placed[:plot.most]
        if not placed:
            return NOTHING, said
        x, _ = plane(plot, placed, size)
        y = axis([mark.y or 0.0 for mark in (*placed, *(shared or ()))], size[1] - BOTTOM, 30, is_from_zero=True)
        half = max(1.0, min(24.0, (x.end - x.start) / len(placed) - 1)) / 2
        inside = list(frame(x, y, named(plot, chart.x), named(plot, chart.y)))
        for mark in placed:
            at = x.at(mark.x or 0.0)
            inside.append(_bar(plot, mark, (at - half, y.at(0.0)), (at + half, y.at(mark.y or 0.0))))
        return plot.svg(*size, inside, name), said
    placed = _first([mark for mark in marks if mark.y is not None], said)
    if not placed:
        return NOTHING, said
    along = axis([mark.y or 0.0 for mark in placed], 10, size[0] - 14, is_from_zero=True)
    bottom = _PITCH * len(placed) + 8
    inside = []
    for place, mark in enumerate(placed):
        top = _PITCH * place + 29
        inside.append(_bar(plot, mark, (along.at(0.0), top), (along.at(mark.y or 0.0), top + 12), _label(mark, chart.x, top - 6)))
    inside.append(x_ticks(along, bottom, named(plot, chart.y)))
    return plot.svg(size[0], bottom + 48, inside, name), said


def _axis(plot: Plot, marks: Sequence[Mark], size: tuple[int, int]) -> Axis:
    values = [mark.x for mark in marks if mark.x is not None] + [each for mark in marks for each in plot.bounds(mark.record, "x") or ()]
    return axis([*values, *plot.fixed("x")], 14, size[0] - 14, "x" in plot.chart.logs)


def _first(marks: list[Mark], said: list[str]) -> list[Mark]:
    if len(marks) > MOST_LANES:
        said.append(f"the first {MOST_LANES} of {len(marks):,} rows are drawn")
    return marks[:MOST_LANES]


def _label(mark: Mark, name: str, y: float) -> Markup:
    words = cut(printable_lines(value_text(mark.record[name])), 58)
    return Markup('<text class="lane" x="10" y="{:g}">{}</text>').format(y, words)


def _bar(plot: Plot, mark: Mark, first: tuple[float, float], last: tuple[float, float], label: Markup = NOTHING) -> Markup:
    left, right = sorted((first[0], last[0]))
    top, bottom = sorted((first[1], last[1]))
    hollow = " hollow" if plot.is_hatched(mark.record) else ""
    drawn = Markup('<rect class="bar{} {}" x="{:g}" y="{:g}" width="{:g}" height="{:g}"/>').format(
        hollow, plot.tone(mark.record, mark.group), left, top, max(0.5, right - left), max(0.5, bottom - top)
    )
    return plot.door(mark.record, label + drawn)
