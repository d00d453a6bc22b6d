"""Charts as SVG, drawn from the rows of a table. Every point is a link; colours and fonts come from the style sheet. The same rows give the
same bytes."""

from __future__ import annotations

from warehouse.surfaces.html.charts.cells import effect, spark
from warehouse.surfaces.html.charts.drawing import chart

__all__ = ["chart", "effect", "spark"]
