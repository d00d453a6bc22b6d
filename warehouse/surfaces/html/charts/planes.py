"""Charts on two axes: values over time, and points with a line of steps through the best of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import Any

from markupsafe import Markup

from warehouse.errors import printable_lines
from warehouse.surfaces.html.charts.axes import Axis, axis, number
from warehouse.surfaces.html.charts.frames import across, frame, named
from warehouse.surfaces.html.charts.plot import BROAD, NOTHING, Drawn, Mark, Plot, cut, value_text

SPANS = 50  # of an envelope
_MOST_NOTES = 8  # with words; more are lines
_APART, _BROADEST = 9.0, 45.0  # pixels between repeats that stand beside each other, and of all of them
_LEFT, _NEAR_LEFT, _RIGHT, _TOP, BOTTOM = 76, 62, 14, 30, 46


def plane(plot: Plot, marks: Sequence[Mark], size: tuple[int, int]) -> tuple[Axis, Axis]:
    """The axes of points with two values."""
    chart = plot.chart
    xs = [mark.x for mark in marks if mark.x is not None]
    ys = [mark.y for mark in marks if mark.y is not None]
    ys += [each for mark in marks for each in plot.bounds(mark.record, "y") or ()]
    ys += plot.fixed("y")
    is_time = hasattr(next((mark.record[chart.x] for mark in marks if mark.x is not None), None), "year")
    left = _LEFT if size is BROAD else _NEAR_LEFT
    return (
        axis(xs, left, size[0] - _RIGHT, "x" in chart.logs, is_time), axis(ys, size[1] - BOTTOM, _TOP, "y" in chart.logs),
    )


def trend(plot: Plot, marks: Sequence[Mark], size: tuple[int, int], shared: Sequence[Mark] | None, name: str = "") -> Drawn:
    """Values over time. Where a value is missing, the line has a gap."""
    said = plot.left_out(marks, plot.chart.x, plot.chart.y)
    placed = [mark for mark in marks if mark.is_placed]
    if not placed:
        return NOTHING, said
    x, y = plane(plot, [*(shared or ()), *marks], size)
    inside = [*frame(x, y, named(plot, plot.chart.x), named(plot, plot.chart.y)), *across(plot, x, y)]
    inside += _notes(plot, marks, x, y)
    joined: dict[tuple[int, Any], list[Mark]] = {}
    for mark in sorted((mark for mark in marks if mark.x is not None), key=lambda mark: mark.x or 0.0):
        line = mark.record[plot.chart.line] if plot.chart.line and (plot.chart.middle or len(placed) <= plot.most) else None
        joined.setdefault((mark.group, line), []).append(mark)
    at = {id(mark): x.at(mark.x or 0.0) for mark in placed}
    for (group, _), of_line in joined.items():
        if plot.chart.beside:
            at |= _dodged(plot.chart.beside, of_line, at, x)
        if plot.chart.middle and len(of_line) > 1:
            inside += _medians(plot, of_line, at, y, f"s{group}")
        elif len(placed) > plot.most:
            inside += _envelope(plot, of_line, x, y)
        elif 1 < len(of_line) == len({mark.x for mark in of_line}):  # of several values at one place none leads to the next
            inside.append(_line([None if mark.y is None else (x.at(mark.x or 0.0), y.at(mark.y)) for mark in of_line], f"s{group}"))
    if len(placed) <= plot.most:
        inside += [_point(plot, mark, at[id(mark)], y) for mark in placed]
    elif plot.chart.middle:
        inside += _crowd(placed, at, y)
        doors = placed[:: -(-len(placed) // max(1, plot.most // 2))]
        inside += [Markup('<g class="crowded">'), *(_point(plot, mark, at[id(mark)], y) for mark in doors), Markup("</g>")]
        said.append("Every run is drawn, and some of them lead to their run. The figures have every row")
    else:
        said.append(f"{len(placed):,} points: each span is drawn with its least, median and greatest value; the figures have every row")
    failed = [mark for mark in marks if mark.y is None and mark.x is not None and plot.is_hatched(mark.record)]
    inside += [plot.point(mark, x.at(mark.x or 0.0), y.start) for mark in failed[:plot.most]]  # they have a time, and no value: at the foot
    return plot.svg(*size, inside, name), said


def _dodged(beside: str, marks: Sequence[Mark], at: Mapping[int, float], x: Axis) -> dict[int, float]:
    """Pixels of marks that belong together, such as the repeats of a session, beside each other where they would lie on each other."""
    together: dict[Any, list[Mark]] = {}
    for mark in marks:
        if mark.y is not None and mark.record[beside] is not None:
            together.setdefault(mark.record[beside], []).append(mark)
    found: dict[int, float] = {}
    for of_one in together.values():
        places = [at[id(mark)] for mark in of_one]
        step = min(_APART, _BROADEST / len(of_one))
        if max(places) - min(places) < step * (len(of_one) - 1):
            first = sum(places) / len(places) - step * (len(of_one) - 1) / 2
            found |= {id(mark): round(min(max(first + place * step, x.start), x.end), 1) for place, mark in enumerate(of_one)}
    return found


def _crowd(marks: Sequence[Mark], at: Mapping[int, float], y: Axis) -> Iterator[Markup]:
    """More points than can be doors, as small dots."""
    of_group: dict[int, list[str]] = {}
    for mark in marks:
        of_group.setdefault(mark.group, []).append(f"M{at[id(mark)]:g} {y.at(mark.y or 0.0):g}h0")
    for group, dots in of_group.items():
        yield Markup('<path class="crowd s{}" d="{}"/>').format(group, "".join(dots))


def _point(plot: Plot, mark: Mark, at: float, y: Axis) -> Markup:
    """A point with its interval."""
    bounds = plot.bounds(mark.record, "y")
    whisker = plot.whisker(mark, f"M{at:g} {y.at(bounds[0]):g}V{y.at(bounds[1]):g}") if bounds else NOTHING
    return plot.point(mark, at, y.at(mark.y or 0.0), whisker)


def _line(places: Sequence[tuple[float, float] | None], kind: str) -> Markup:
    drawn, is_broken = [], True
    for place in places:
        if place is not None:
            drawn.append(f"{'M' if is_broken else 'L'}{place[0]:g} {place[1]:g}")
        is_broken = place is None
    return Markup('<path class="line {}" d="{}"/>').format(kind, "".join(drawn))


def _medians(plot: Plot, marks: Sequence[Mark], at: Mapping[int, float], y: Axis, kind: str) -> Iterator[Markup]:
    """Steps through the medians of marks that belong together, each from its first to its last and on to the next, with the intervals of these."""
    middle, around = plot.chart.middle or "", plot.chart.around
    together: dict[Any, list[Mark]] = {}
    for place, mark in enumerate(marks):
        if mark.y is not None:
            key = mark.record[middle]
            together.setdefault(place if key is None else key, []).append(mark)
    steps: list[str] = []
    for of_one in together.values():
        places, level = sorted(at[id(mark)] for mark in of_one), y.at(median(mark.y or 0.0 for mark in of_one))
        steps.append(f"{'H' if steps else 'M'}{places[0]:g}{'V' if steps else ' '}{level:g}H{places[-1]:g}")
        low, high = (number(of_one[0].record[name]) for name in around) if around else (None, None)
        if low is not None and high is not None:
            drawn = f"M{places[0]:g} {y.at(low):g}H{places[-1]:g}V{y.at(high):g}H{places[0]:g}z"
            yield Markup('<path class="envelope {}" d="{}"/>').format(kind, drawn)
    yield Markup('<path class="line medians {}" d="{}"/>').format(kind, "".join(steps))


def _envelope(plot: Plot, marks: Sequence[Mark], x: Axis, y: Axis) -> Iterator[Markup]:
    """Spans of many points: an area from the least to the greatest value, and the median, which is a row and its link."""
    placed = [mark for mark in marks if mark.is_placed]
    if not placed:
        return
    of_spans = spans(placed, min(SPANS, plot.most // 2))
    middles = [span[(len(span) - 1) // 2] for span in of_spans]
    at = [x.at(mark.x or 0.0) for mark in middles]
    edges = [
        *(f"{place:g} {y.at(span[0].y or 0.0):g}" for place, span in zip(at, of_spans, strict=True)),
        *(f"{place:g} {y.at(span[-1].y or 0.0):g}" for place, span in reversed(list(zip(at, of_spans, strict=True)))),
    ]
    yield Markup('<path class="envelope s{}" d="M{}z"/>').format(placed[0].group, "L".join(edges))
    yield _line([(place, y.at(mark.y or 0.0)) for place, mark in zip(at, middles, strict=True)], f"s{placed[0].group}")
    for place, mark in zip(at, middles, strict=True):
        yield plot.point(mark, place, y.at(mark.y or 0.0))


def _notes(plot: Plot, marks: Sequence[Mark], x: Axis, y: Axis) -> Iterator[Markup]:
    """A line at each row with a note; the words of the first few."""
    if plot.chart.note is None:
        return
    found: dict[float, Mark] = {}
    for mark in marks:
        if mark.x is not None and mark.record[plot.chart.note] is not None:
            found.setdefault(x.at(mark.x), mark)
    has_words = len(found) <= _MOST_NOTES and x.end - x.start > 300
    for place, at in enumerate(sorted(found)):
        record = found[at].record
        drawn = Markup('<path class="note" d="M{:g} {:g}V{:g}"/>').format(at, y.start, y.end)
        if has_words:
            is_late = at > (x.start + x.end) / 2
            words = cut(printable_lines(value_text(record[plot.chart.note])), 34)
            drawn += Markup('<text class="words" x="{:g}" y="{:g}" text-anchor="{}">{}</text>').format(
                at - 4 if is_late else at + 4, y.end + 10 + place % 3 * 15, "end" if is_late else "start", words
            )
        yield plot.door(record, drawn)


def steps_of(plot: Plot, marks: Sequence[Mark], size: tuple[int, int], shared: Sequence[Mark] | None, name: str = "") -> Drawn:
    """Points of two values. The line through those on it says what was measured: at a value of x, what one at least as good has."""
    said = plot.left_out(marks, plot.chart.x, plot.chart.y)
    placed = [mark for mark in marks if mark.is_placed]
    if not placed:
        return NOTHING, said
    x, y = plane(plot, [*(shared or ()), *placed], size)
    inside = [*frame(x, y, named(plot, plot.chart.x), named(plot, plot.chart.y)), *across(plot, x, y)]
    chosen = [mark for mark in placed if plot.chart.on_line and mark.record[plot.chart.on_line]]
    lines: dict[Any, list[Mark]] = {}
    for mark in chosen:
        lines.setdefault(mark.record[plot.chart.line] if plot.chart.line else None, []).append(mark)
    inside += [_steps(plot, of_line, x, y) for of_line in lines.values()]
    others = [mark for mark in placed if not (plot.chart.on_line and mark.record[plot.chart.on_line])]
    if len(placed) > plot.most:
        said.append(f"{len(placed):,} points: those on the line are drawn, and of the others the least, median and greatest of each span")
        others = [span[place] for span in spans(others, min(SPANS, plot.most // 3)) for place in sorted({0, (len(span) - 1) // 2, len(span) - 1})]
        chosen = chosen[:plot.most]
    inside += [_point(plot, mark, x.at(mark.x or 0.0), y) for mark in (*others, *chosen)]
    if plot.chart.label and not name:
        inside += _labels(plot, [min(of_line, key=lambda mark: x.at(mark.x or 0.0)) for of_line in lines.values()], x, y, plot.chart.label)
    return plot.svg(*size, inside, name), said


def _labels(plot: Plot, marks: Sequence[Mark], x: Axis, y: Axis, label: str) -> Iterator[Markup]:
    """The words of points above them, where they do not run into those of another or beyond the edge. The legend has them all."""
    taken: list[tuple[float, float, float]] = []
    for mark in sorted(marks, key=lambda mark: -(mark.y or 0.0)):
        words = cut(printable_lines(value_text(mark.record[label])), 40)
        left, top, width = x.at(mark.x or 0.0) + 6, y.at(mark.y or 0.0) - 9, 7 * len(words)
        left = min(left, x.end - width)
        if all(abs(top - other[1]) > 15 or left > other[0] + other[2] or other[0] > left + width for other in taken):
            taken.append((left, top, width))
            yield Markup('<text class="label s{}" x="{:g}" y="{:g}">{}</text>').format(mark.group, left, top, words)


def _steps(plot: Plot, marks: Sequence[Mark], x: Axis, y: Axis) -> Markup:
    corners = sorted({(x.at(mark.x or 0.0), y.at(mark.y or 0.0)) for mark in marks})
    steps = [f"M{corners[0][0]:g} {corners[0][1]:g}"]
    for left, top in corners[1:]:
        steps.append(f"H{left:g}V{top:g}" if plot.chart.better == "lower" else f"V{top:g}H{left:g}")
    return Markup('<path class="steps{}" d="{}"/>').format(f" s{marks[0].group}" if plot.chart.line else "", "".join(steps))


def spans(marks: Sequence[Mark], count: int) -> list[list[Mark]]:
    """Placed marks in spans of equal width along x; each span in the order of y."""
    placed = [mark for mark in marks if mark.x is not None and mark.y is not None]
    if not placed:
        return []
    low, high = min(mark.x or 0.0 for mark in placed), max(mark.x or 0.0 for mark in placed)
    found: dict[int, list[Mark]] = {}
    for mark in placed:
        place = min(count - 1, int(((mark.x or 0.0) - low) / (high - low) * count)) if high > low else 0
        found.setdefault(place, []).append(mark)
    return [sorted(found[place], key=lambda mark: mark.y or 0.0) for place in sorted(found)]
