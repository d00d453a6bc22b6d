"""The frame of a chart: its axes, the band and the mark on them, and which shape is which group."""

from __future__ import annotations

from collections.abc import Iterable

from markupsafe import Markup

from warehouse.errors import printable_lines
from warehouse.surfaces.html.charts.axes import Axis
from warehouse.surfaces.html.charts.plot import MOST_GROUPS, NOTHING, SHAPES, Plot, cut, value_text

_KEY = Markup(
    '<li><svg class="key" width="14" height="14" viewBox="-7 -7 14 14" aria-hidden="true"><path class="point s{}" d="M0 0{}"/></svg> {}</li>'
)


def frame(x: Axis, y: Axis, x_name: str, y_name: str) -> Iterable[Markup]:
    """Two axes: their ticks with lines across, and their names."""
    for value, text in y.ticks():
        at = y.at(value)
        yield Markup('<path class="grid" d="M{:g} {:g}H{:g}"/>').format(x.start, at, x.end)
        yield Markup('<text x="{:g}" y="{:g}" text-anchor="end" dominant-baseline="middle">{}</text>').format(x.start - 7, at, text)
    yield Markup('<text x="2" y="{:g}">{}</text>').format(y.end - 12, y_name)
    yield x_ticks(x, y.start, x_name)


def across(plot: Plot, x: Axis, y: Axis) -> Iterable[Markup]:
    """The band and the mark of values on y."""
    if plot.chart.band:
        low, high = sorted(y.at(each) for each in plot.chart.band)
        yield Markup('<rect class="band" x="{:g}" y="{:g}" width="{:g}" height="{:g}"/>').format(x.start, low, x.end - x.start, max(1.0, high - low))
    if plot.chart.mark is not None:
        yield Markup('<path class="mark" d="M{:g} {:g}H{:g}"/>').format(x.start, y.at(plot.chart.mark), x.end)


def upright(plot: Plot, x: Axis, top: float, bottom: float) -> Iterable[Markup]:
    """The band and the mark of values on x."""
    if plot.chart.band:
        left, right = sorted(x.at(each) for each in plot.chart.band)
        yield Markup('<rect class="band" x="{:g}" y="{:g}" width="{:g}" height="{:g}"/>').format(left, top, max(1.0, right - left), bottom - top)
    if plot.chart.mark is not None:
        yield Markup('<path class="mark" d="M{:g} {:g}V{:g}"/>').format(x.at(plot.chart.mark), top, bottom)


def x_ticks(x: Axis, bottom: float, name: str) -> Markup:
    ticks = x.ticks()
    drawn = [Markup('<path class="axis" d="M{:g} {:g}H{:g}"/>').format(x.start, bottom, x.end)]
    for place, (value, text) in enumerate(ticks):
        at = x.at(value)
        anchor = "end" if at > x.end - 30 and place == len(ticks) - 1 else "start" if at < x.start + 30 and len(text) > 8 else "middle"
        drawn.append(Markup('<path class="axis" d="M{:g} {:g}v5"/><text x="{:g}" y="{:g}" text-anchor="{}">{}</text>').format(
            at, bottom, at, bottom + 20, anchor, text
        ))
    drawn.append(Markup('<text class="name" x="{:g}" y="{:g}" text-anchor="end">{}</text>').format(x.end, bottom + 40, name))
    return NOTHING.join(drawn)


def named(plot: Plot, name: str) -> str:
    """An axis by its name and unit."""
    unit = plot.unit(name)
    return f"{plot.heading(name)}, {unit}" if unit else plot.heading(name)


def legend(plot: Plot) -> Markup:
    """Which shape is which group."""
    shown = plot.groups[:MOST_GROUPS]
    if len(shown) < 2 and len(plot.groups) < 2:
        return NOTHING
    entries = [(place, value_text(value)) for place, value in enumerate(shown)]
    if len(plot.groups) > MOST_GROUPS:
        entries.append((MOST_GROUPS, f"{len(plot.groups) - MOST_GROUPS} others"))
    return Markup('<ul class="legend">{}</ul>').format(Markup("").join(
        _KEY.format(place, SHAPES[place % MOST_GROUPS], printable_lines(cut(text, 60))) for place, text in entries
    ))
