"""Load curves as text for a terminal: points in a grid, shares on a line."""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_lowercase

from warehouse.analysis.serving.frontier import Frontier, Frontiers, best_at
from warehouse.analysis.serving.goodput import CurveGoodput
from warehouse.statistics.frontier import OnFrontier
from warehouse.statistics.interval import Interval

_WIDTH, _HEIGHT = 64, 14
_SHARES = 50  # characters from 0 to 1
_STEP, _SEVERAL = "·", "#"


def frontier_plot(frontier: Frontier, found: Frontiers) -> str:
    """The points of one scope: a letter a curve, in upper case on the frontier and in lower case where another point beats it; with more
    curves than letters `*` and `o`. Dots: the best y that was measured at an x or a better one. Empty where all points are equal."""
    x, y = [point.x for point in frontier.points], [point.y for point in frontier.points]
    if min(x) == max(x) and min(y) == max(y):
        return ""
    marks, height = curve_letters(frontier), min(_HEIGHT, 6 + 2 * len(frontier.points))
    grid = [[" "] * _WIDTH for _ in range(height)]
    for column in range(_WIDTH):
        best = best_at(found, frontier, min(x) + (max(x) - min(x)) * column / (_WIDTH - 1))
        if isinstance(best, OnFrontier):
            grid[_place(best.y, y, height)][column] = _STEP
    taken: set[tuple[int, int]] = set()
    for point in frontier.points:
        row, column = cell = _place(point.y, y, height), _place(point.x, x, _WIDTH)
        letter = marks.get(point.curve_key, "")
        mark = (letter.upper() or "*") if point.is_on_frontier else letter or "o"
        grid[row][column] = _SEVERAL if cell in taken else mark
        taken.add(cell)
    ends = {0: f"{max(y):.4g}", height - 1: f"{min(y):.4g}"}
    lines = [f"{ends.get(row, ''):>9} │{''.join(cells)}".rstrip() for row, cells in enumerate(reversed(grid))]
    left, right = f"{min(x):.4g}", f"{max(x):.4g}"
    return "\n".join([
        f"{'':9} {found.y.column}", *lines, f"{'':9} └{'─' * _WIDTH}", f"{'':10} {left}{right:>{_WIDTH - len(left)}}", f"{'':10} {found.x.column}",
        f"{'':10} upper case or *: on the frontier; lower case or o: beaten; {_SEVERAL}: several points; {_STEP}: best measured",
    ])


def curve_letters(frontier: Frontier) -> dict[str, str]:
    """A letter for each curve of a scope, in the order of its points; none where there are more curves than letters."""
    curves = list(dict.fromkeys(point.curve_key for point in frontier.points))
    return dict(zip(curves, ascii_lowercase, strict=False)) if len(curves) <= len(ascii_lowercase) else {}


def share_plot(curve: CurveGoodput, target: float) -> str:
    """A line a load from 0 to 1: the share and its interval, and the target."""
    names = ["" if each.load is None else f"{each.load:g}" for each in curve.loads]
    width, middle = max(map(len, names)), _place(target, (0, 1), _SHARES)
    lines = []
    for name, each in zip(names, curve.loads, strict=True):
        cells = [" "] * _SHARES
        if isinstance(each.interval, Interval):
            low, high = (_place(end, (0, 1), _SHARES) for end in (each.interval.low, each.interval.high))
            cells[low : high + 1] = "─" * (high + 1 - low)
        cells[middle] = "┊"
        if each.share is not None:
            cells[_place(each.share, (0, 1), _SHARES)] = "●"
        lines.append(f"{name:>{width}} │{''.join(cells)}│{' not supported' if each.share is None else ''}")
    return "\n".join([*lines, f"{'':{width}}  0{'1':>{_SHARES - 1}}   ●: share, ─: its interval, ┊: target"])


def _place(value: float, values: Sequence[float], size: int) -> int:
    low, high = min(values), max(values)
    return round((value - low) / (high - low) * (size - 1)) if high > low else size // 2
