"""The contract of a performance indicator: its standard output holds one JSON object with `name`, `@parameters` and
`@result`, in which there is a number.
"""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

_LINE_START = re.compile(r"^[ \t]*\{", re.MULTILINE)
_READ_BYTES = 8 << 20  # as much of the end as the ingestor of recordings searches


def breach(stdout: Path, name: str) -> str | None:
    """How what a run printed breaks the contract of the indicator `name`; None: it keeps it."""
    with stdout.open("rb") as stream:
        stream.seek(max(0, stdout.stat().st_size - _READ_BYTES))
        document = _document(stream.read().decode(errors="replace"))
    if document is None:
        return f"standard output has no JSON object of the indicator {name}"
    if document.get("name") != name:
        return f"the indicator states the name {str(document.get('name'))[:60]!r}, not {name!r}"
    parameters, result = document.get("@parameters"), document.get("@result")
    if not isinstance(parameters, dict) or not isinstance(result, dict):
        return f"the indicator {name} has no object {'@result' if isinstance(parameters, dict) else '@parameters'}"
    shared = sorted(parameters.keys() & result.keys())
    if shared:
        return f"@parameters and @result of the indicator {name} share the key {shared[0][:60]!r}"
    if not any(_is_number(value) for value in _values(result)):
        return f"@result of the indicator {name} has no number"
    return None


def _document(text: str) -> dict[str, Any] | None:
    """The object that is all of the text; else the last that begins a line and has a section of an indicator."""
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError):
        whole = None
    if isinstance(whole, dict):
        return whole
    found, end, decoder = None, 0, json.JSONDecoder()
    for mark in _LINE_START.finditer(text):
        if mark.start() < end:
            continue
        try:
            document, end = decoder.raw_decode(text, mark.end() - 1)
        except (ValueError, RecursionError):
            continue
        if "@parameters" in document or "@result" in document:
            found = document
    return found


def _values(section: dict[str, Any]) -> list[Any]:
    """The values of an object, and of the objects in it."""
    left, values = [section], []
    while left:
        for value in left.pop().values():
            if isinstance(value, dict):
                left.append(value)
            else:
                values.append(value)
    return values


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
