"""Charts as SVG, drawn from the rows of a table. Every point is a link; colours and fonts come from the style sheet."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from markupsafe import Markup

from warehouse.surfaces.parts import Table


def chart(table: Table, pinned: Callable[[str], str]) -> Markup:
    """The chart of a table; empty where it has none, or nothing can be drawn."""
    return Markup("")


def spark(value: Mapping[str, Any], tone: str) -> Markup:
    """A series in a cell: its values in order, with the level before and after the place of a change."""
    return Markup("")


def effect(value: Mapping[str, Any], tone: str) -> Markup:
    """A ratio with its interval, beside the band that is not worth acting on."""
    return Markup("")
