"""Charts of pairs, and grids: a cell for each, as dark as its value is great; what stands out is in the colour of what is bad, and crossed."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from warehouse.errors import printable_lines
from warehouse.surfaces.html.charts.axes import number
from warehouse.surfaces.html.charts.plot import NOTHING, Drawn, Mark, Plot, cut

_CELL, _LEFT, _NAME = 15, 110, 17  # pixels; characters of a name
_LONGEST, _LETTER = 40, 6.8  # characters of a row's name in a grid, and pixels of one
_LEAST, _MOST = 0.15, 0.75  # opacities of the least and the greatest value


def matrix(plot: Plot, marks: Sequence[Mark], size: tuple[int, int], shared: Sequence[Mark] | None, name: str = "") -> Drawn:
    """A pair is drawn on both sides of the diagonal: no order of two is meant."""
    chart = plot.chart
    assert chart.value
    values = [number(mark.record[chart.value]) for mark in marks]
    known = [each for each in values if each is not None]
    if not known:
        return NOTHING, []
    names = sorted({str(mark.record[side]) for mark in marks for side in (chart.x, chart.y)})
    places = {each: place for place, each in enumerate(names)}
    usual = [each for mark, each in zip(marks, values, strict=True) if each is not None and not plot.is_hatched(mark.record)] or known
    low, high = min(usual), max(usual)
    inside = []
    for mark, value in zip(marks, values, strict=True):
        if value is None:
            continue
        share = min(1.0, max(0.0, (value - low) / (high - low))) if high > low else 0.5
        pair = places[str(mark.record[chart.x])], places[str(mark.record[chart.y])]
        inside.append(plot.door(mark.record, NOTHING.join(
            _cell(_LEFT + across * (_CELL + 1), down * (_CELL + 1), plot.is_hatched(mark.record), share) for across, down in (pair, pair[::-1])
        )))
    for each, place in places.items():
        shown = printable_lines(each if len(each) <= _NAME else f"…{each[-_NAME + 1 :]}")
        inside.append(Markup('<text x="{}" y="{}" text-anchor="end">{}</text>').format(_LEFT - 6, place * (_CELL + 1) + 12, cut(shown, _NAME)))
    side = len(names) * (_CELL + 1)
    words = printable_lines(chart.title or plot.table.title)
    drawn = Markup('<svg class="chart matrix" width="{}" viewBox="0 0 {} {}" role="group" aria-label="{}">{}</svg>').format(
        _LEFT + side, _LEFT + side, side, words, Markup("\n").join(inside)
    )
    return drawn, [f"the stronger the colour, the more: {low:.3g} to {high:.3g}{f' {plot.unit(chart.value)}' if plot.unit(chart.value) else ''}"]


def grid(plot: Plot, marks: Sequence[Mark], size: tuple[int, int], shared: Sequence[Mark] | None, name: str = "") -> Drawn:
    """A column for each x and a row for each y. A cell without a value that is not hatched is empty: nothing is known of it."""
    chart = plot.chart
    assert chart.value
    across, down = (
        {each: place for place, each in enumerate(dict.fromkeys(str(mark.record[side]) for mark in marks))} for side in (chart.x, chart.y)
    )
    values = [number(mark.record[chart.value]) for mark in marks]
    known = [each for each in values if each is not None]
    low, high = min(known, default=0.0), max(known, default=0.0)
    left = round(_LETTER * min(_LONGEST, max(map(len, down)))) + 12
    inside = []
    for mark, value in zip(marks, values, strict=True):
        is_odd = plot.is_hatched(mark.record)
        if value is None and not is_odd:
            continue
        share = (value - low) / (high - low) if value is not None and high > low else 0.5
        x, y = left + across[str(mark.record[chart.x])] * (_CELL + 1), _CELL + 2 + down[str(mark.record[chart.y])] * (_CELL + 1)
        inside.append(plot.door(mark.record, _cell(x, y, is_odd, share)))
    free = 0.0
    for each, place in across.items():
        middle, half = left + place * (_CELL + 1) + _CELL // 2, _LETTER * len(each) / 2
        if middle - half < free:  # it would be over the one before
            continue
        free = middle + half + 2
        inside.append(Markup('<text x="{}" y="11" text-anchor="middle">{}</text>').format(middle, printable_lines(each)))
    for each, place in down.items():
        words = cut(printable_lines(each), _LONGEST)
        inside.append(Markup('<text x="{}" y="{}" text-anchor="end">{}</text>').format(left - 6, _CELL + 2 + place * (_CELL + 1) + 12, words))
    width, height = left + len(across) * (_CELL + 1), _CELL + 2 + len(down) * (_CELL + 1)
    drawn = Markup('<svg class="chart matrix" width="{}" viewBox="0 0 {} {}" role="group" aria-label="{}">{}</svg>').format(
        width, width, height, printable_lines(chart.title or plot.table.title), Markup("\n").join(inside)
    )
    said = [f"the stronger the colour, the more: {low:.3g} to {high:.3g}; a cross: no result"] if known else ["a cross: no result"]
    return drawn, said


def _cell(x: int, y: int, is_odd: bool, share: float) -> Markup:
    if is_odd:
        return Markup('<path class="cell odd" d="M{} {}h{}v{}h-{}z"/>').format(x, y, _CELL, _CELL, _CELL) + Markup(
            '<path class="cross" d="M{} {}l{} {}m0-{}l-{} {}"/>').format(x + 4, y + 4, _CELL - 8, _CELL - 8, _CELL - 8, _CELL - 8, _CELL - 8)
    opacity = _LEAST + share * (_MOST - _LEAST)
    return Markup('<path class="cell" fill-opacity="{:.2f}" d="M{} {}h{}v{}h-{}z"/>').format(opacity, x, y, _CELL, _CELL, _CELL)
