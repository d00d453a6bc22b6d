"""What the values of a tree are: elements, numbers, texts."""

from __future__ import annotations

import math
from typing import Any

from warehouse.landing.described.forms.nodes import Node, NoNumber, Number, Numbers
from warehouse.landing.readers.json_text import json_number
from warehouse.landing.readers.text import number_in

Values = list[Node]


def elements(node: Node) -> list[Node] | None:
    """The elements of a list."""
    return node.value.nodes() if isinstance(node.value, Numbers) else node.value if isinstance(node.value, list) else None


def flat(nodes: Values) -> Values:
    """Values, with the elements of lists in their place."""
    return [each for node in nodes for each in elements(node) or [node]]


def number_of(value: Any) -> float | None:
    """The finite number that a value is, also one written as text."""
    if type(value) is Number:
        try:
            number = float(value)
        except ValueError:
            return None
        return number if math.isfinite(number) else None
    if type(value) is NoNumber:
        return None
    return number_in(value.strip()) if isinstance(value, str) else json_number(value)


def text_of(value: Any) -> str | None:
    """A value as text; None for one that is missing, a list or an object."""
    if isinstance(value, str):
        return str(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:.15g}"
    return str(value) if isinstance(value, int) else None
