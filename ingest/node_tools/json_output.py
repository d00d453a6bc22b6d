"""The JSON that a tool printed, and its objects."""

from __future__ import annotations

import json
from typing import Any

from warehouse.landing.readers.text import Data, Place, Report

_MOST_BYTES = 256 << 20


def json_output(data: Data, report: Report) -> tuple[Place, dict[str, Any]]:
    """The first object in an output and its place: messages may come before it. Without one, an issue and an empty object."""
    whole = bytes(data[:_MOST_BYTES])
    begin = max(whole.find(b"{"), 0)
    place = Place(begin, len(data) - begin, whole.count(b"\n", 0, begin) + 1)
    try:
        document, _ = json.JSONDecoder().raw_decode(whole[begin:].decode(errors="replace"))
    except (ValueError, RecursionError) as error:
        report.at("not-json", str(error)[:200], place, "error")
        return place, {}
    return place, document if isinstance(document, dict) else {}


def items(value: Any) -> list[tuple[str, Any]]:
    """The keys and values of an object; none of anything else."""
    return list(value.items()) if isinstance(value, dict) else []


def elements(value: Any) -> list[Any]:
    """The elements of an array; of anything else, but null, itself."""
    return value if isinstance(value, list) else [] if value is None else [value]


def objects(value: Any) -> list[dict[str, Any]]:
    """The elements of an array that are objects."""
    return [each for each in elements(value) if isinstance(each, dict)]
