"""The chart of a table. What it leaves out it says below: rows without a value, and more points than are drawn one by one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from markupsafe import Markup

from warehouse.errors import counted, printable_lines
from warehouse.surfaces.html.charts.frames import legend
from warehouse.surfaces.html.charts.lanes import bars, dots, effects
from warehouse.surfaces.html.charts.matrix import grid, matrix
from warehouse.surfaces.html.charts.planes import steps_of, trend
from warehouse.surfaces.html.charts.plot import BROAD, MOST_POINTS, NOTHING, Drawn, Plot, value_text
from warehouse.surfaces.html.charts.timeline import timeline
from warehouse.surfaces.parts import Table

_PANEL = (320, 190)
_MOST_PANELS = 16
_FEWEST = 24  # points of a panel that are drawn one by one, however many panels there are


def chart(table: Table, pinned: Callable[[str], str]) -> Markup:
    """The chart of a table; empty where it has none, or nothing can be drawn."""
    if table.chart is None or not table.rows:
        return NOTHING
    records = table.records()
    groups = tuple(dict.fromkeys(record[table.chart.group] for record in records)) if table.chart.group else ()
    plot = Plot(table, table.chart, groups, pinned)
    draw = _KINDS[table.chart.kind]
    if table.chart.facet is None:
        drawn, said = draw(plot, plot.marks(records), BROAD, None)
    else:
        drawn, said = _panels(plot, draw, records, table.chart.facet)
    if not drawn:
        return NOTHING
    if (table.total or 0) > len(table.rows):
        said = [f"drawn: the first {len(table.rows):,} of {table.total:,} rows", *said]
    caption = Markup("").join(Markup("<p>{}</p>").format(printable_lines(each)) for each in dict.fromkeys(said))
    title = Markup("<b>{}</b>").format(printable_lines(table.chart.title)) if table.chart.title else NOTHING
    return Markup("{}{}<figcaption>{}{}</figcaption>").format(title, drawn, legend(plot) if table.chart.kind != "timeline" else NOTHING, caption)


def _panels(plot: Plot, draw: Callable[..., Drawn], records: Sequence[Mapping[str, Any]], facet: str) -> Drawn:
    """One drawing for each value of the facet, all on the same axes, those with the most rows first, unless each has axes of its own."""
    of_panel: dict[Any, list[Mapping[str, Any]]] = {}
    for record in records:
        of_panel.setdefault(record[facet], []).append(record)
    shared = [mark for mark in plot.marks(records) if mark.x is not None and (mark.y is not None or not plot.chart.y)]
    panels: list[Markup] = []
    said: list[str] = []
    plot = replace(plot, most=max(_FEWEST, MOST_POINTS * 3 // 2 // min(len(of_panel), _MOST_PANELS)))
    if plot.chart.kind == "trend":
        of_panel, few = _without_few(of_panel)
        said += [f"{counted(few, 'panel')} of one or two points left out: choose one to see it"] if few else []
    is_ordered = plot.chart.is_own and plot.chart.kind != "trend"
    ordered = [*of_panel.items()] if is_ordered else sorted(of_panel.items(), key=lambda item: -len(item[1]))
    for value, of_one in ordered[:_MOST_PANELS]:
        drawn, words = draw(plot, plot.marks(of_one), _PANEL, None if plot.chart.is_own else shared, value_text(value))
        if drawn:
            is_named = any(each.isalpha() for each in value_text(value))  # 16 says nothing by itself, node-17 does
            heading = printable_lines(value_text(value) if is_named else f"{plot.heading(facet)} {value_text(value)}")
            panels.append(Markup('<div class="panel"><p>{}</p>{}</div>').format(heading, drawn))
        said += [each if each[:1].isupper() else f"{value_text(value)}: {each}" for each in words]
    if len(of_panel) > _MOST_PANELS:
        said.append(f"{_MOST_PANELS} of {len(of_panel)} panels are drawn")
    return (Markup('<div class="panels">{}</div>').format(NOTHING.join(panels)) if panels else NOTHING), said


def _without_few(of_panel: Mapping[Any, list[Mapping[str, Any]]]) -> tuple[dict[Any, list[Mapping[str, Any]]], int]:
    """The panels of which a reader learns how something went, if there are such, and how many others were left out."""
    found = {value: rows for value, rows in of_panel.items() if len(rows) > 2}
    return (found, len(of_panel) - len(found)) if found else (dict(of_panel), 0)


_KINDS: dict[str, Callable[..., Drawn]] = {
    "trend": trend, "steps": steps_of, "dots": dots, "effects": effects, "bars": bars, "matrix": matrix, "grid": grid, "timeline": timeline,
}
