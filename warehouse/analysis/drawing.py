"""Drawings that need nothing else: a sparkline for a terminal, and small SVG files. The same values give the same bytes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from statistics import median

from warehouse.analysis.compare import Comparison
from warehouse.analysis.events.findings import Finding
from warehouse.statistics.interval import Interval

_BARS = "▁▂▃▄▅▆▇█"
_WIDTH = 40  # characters of a sparkline
_PANEL = (640, 150)
_MARGIN = 24
_STYLE = (
    "text{font:12px sans-serif;fill:#222}.point{fill:#456}.level{stroke:#b22;stroke-width:2}.change{stroke:#b22;stroke-dasharray:4 3}"
    ".band{fill:#dde6ee}.none{stroke:#888}.interval{stroke:#345;stroke-width:3}"
    ".grid{stroke:#e4e4e4}.small{font-size:10px;fill:#555}.frontier{fill:none;stroke:#222;stroke-width:1.5}"
    ".interpolated{fill:none;stroke:#b22;stroke-width:1.5;stroke-dasharray:5 4}"
)


def sparkline(values: Sequence[float], place: int | None = None) -> str:
    """The values as bars from lowest to highest, with `│` before the value at `place`; several values a bar where there are many."""
    if not values:
        return ""
    cuts = [0, *([place] if place else []), len(values)]
    size = -(-len(values) // _WIDTH)
    pieces = [values[start:end] for start, end in zip(cuts, cuts[1:], strict=False)]
    parts = [[median(piece[at : at + size]) for at in range(0, len(piece), size)] for piece in pieces]
    low, high = min(map(min, parts)), max(map(max, parts))
    scale = (len(_BARS) - 1) / (high - low) if high > low else 0.0
    return "│".join("".join(_BARS[round((value - low) * scale)] for value in part) for part in parts)


def changes_svg(findings: Iterable[Finding]) -> str:
    """Each finding's series around its change: the runs, the levels before and after, and where it changed."""
    panels = [_finding_panel(each, number * _PANEL[1]) for number, each in enumerate(findings)]
    return svg_document(_PANEL[0], max(1, len(panels)) * _PANEL[1], panels)


def comparison_svg(found: Comparison) -> str:
    """The interval of each metric's ratio, beside the threshold's band."""
    metrics = [(each, each.judged.ratio) for each in found.metrics if isinstance(each.judged.ratio, Interval)]
    height, left, width = 22, 300, _PANEL[0] - 300 - _MARGIN
    ends = [end for _, ratio in metrics for end in (ratio.low, ratio.high)]
    low, high = min([*ends, 1 - found.threshold]), max([*ends, 1 + found.threshold])

    def x(value: float) -> float:
        return left + (value - low) / (high - low or 1) * width

    total = (len(metrics) + 2) * height
    parts = [
        f'<rect class="band" x="{x(1 - found.threshold):.1f}" y="0" width="{x(1 + found.threshold) - x(1 - found.threshold):.1f}" height="{total}"/>',
        f'<line class="none" x1="{x(1):.1f}" x2="{x(1):.1f}" y1="0" y2="{total}"/>',
    ]
    for number, (each, ratio) in enumerate(metrics):
        y = (number + 1) * height
        name = str(each.label)
        parts += [
            f'<text x="4" y="{y + 4}">{escape(name[:44])}</text>',
            f'<line class="interval" x1="{x(ratio.low):.1f}" x2="{x(ratio.high):.1f}" y1="{y}" y2="{y}"/>',
            f'<circle class="point" cx="{x(ratio.estimate):.1f}" cy="{y}" r="4"><title>{escape(name)}: {ratio.estimate:.4f}'
            f" ({ratio.low:.4f} to {ratio.high:.4f}), {escape(each.headline)}</title></circle>",
        ]
    parts.append(f'<text x="{left}" y="{total - 4}">head / base, from {low:.3f} to {high:.3f}</text>')
    return svg_document(_PANEL[0], total, parts)


def svg_document(width: int, height: int, parts: Iterable[str]) -> str:
    """An SVG file of parts, with the styles of this project's drawings."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">'
        f"<style>{_STYLE}</style>{''.join(parts)}</svg>\n"
    )


def _finding_panel(found: Finding, top: int) -> str:
    values, (width, height) = found.values, _PANEL
    low, high = min(values), max(values)

    def x(place: float) -> float:
        return _MARGIN + place / max(1, len(values) - 1) * (width - 2 * _MARGIN)

    def y(value: float) -> float:
        return top + height - _MARGIN - (value - low) / ((high - low) or 1) * (height - 3 * _MARGIN)

    unit = f" {found.first.unit}" if found.first.unit else ""
    name = f"{found.first.metric} {found.first.point}".strip()
    title = f"{found.finding_id}  {name}: {found.before:.5g} to {found.after:.5g}{unit}, {found.status} {found.outcome}"
    points = "".join(f'<circle class="point" cx="{x(place):.1f}" cy="{y(value):.1f}" r="2.5"/>' for place, value in enumerate(values))
    change = x(found.place - 0.5)
    return (
        f'<text x="{_MARGIN}" y="{top + 16}">{escape(title)}</text>{points}'
        f'<line class="level" x1="{x(0):.1f}" x2="{change:.1f}" y1="{y(found.before):.1f}" y2="{y(found.before):.1f}"/>'
        f'<line class="level" x1="{change:.1f}" x2="{x(len(values) - 1):.1f}" y1="{y(found.after):.1f}" y2="{y(found.after):.1f}"/>'
        f'<line class="change" x1="{change:.1f}" x2="{change:.1f}" y1="{top + _MARGIN}" y2="{top + height - _MARGIN}"/>'
    )
