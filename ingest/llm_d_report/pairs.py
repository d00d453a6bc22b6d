"""The pairs of a report, in JSON or YAML."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from warehouse.landing.readers.json_text import Element, json_number, json_pairs
from warehouse.landing.readers.text import Report, clean, exact_number
from warehouse.landing.readers.yaml_text import yaml_pairs

_DEPTH = 12


def pairs_in(path: str, data: bytes, report: Report, depth: int = _DEPTH) -> Iterator[Element]:
    """The pairs of a report, in JSON or YAML as its name says."""
    return (json_pairs if path.casefold().endswith(".json") else yaml_pairs)(data, report, depth=depth)


def plain(value: Any, levels: int = 50) -> Any:
    """A value as YAML and JSON both give it: numbers as numbers where they are exact, all else as text or structure.
    What is nested deeper than any load is left out: the interpreter's stack is short."""
    number = json_number(value)
    if number is not None:
        return exact_number(number)
    if levels == 0 and isinstance(value, (dict, list)):
        return None
    if isinstance(value, dict):
        return {clean(str(key)): plain(item, levels - 1) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item, levels - 1) for item in value]
    if isinstance(value, str):
        return clean(value)
    return None if value is None else str(value).casefold()
