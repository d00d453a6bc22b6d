"""Entries whose value is text, and what is a quantity in a loadgen's summary."""

from __future__ import annotations

import re
from typing import Any

from warehouse.landing.readers.text import Entry, Line, Report, clean, is_non_finite, landed_text, number_in

# Keys of a summary whose value is a quantity: one that cannot be read is a result lost, and must be reported.
_QUANTITY = re.compile(r"(?i:samples|tokens) per second|(?:latency|Token) \(ns\)")


def text_entry(
    line: Line, key: str, text: str, report: Report, place: tuple[int, int] | None = None, *, is_number: bool = True
) -> Entry:
    """An entry whose value is text; `place` is (offset, length) when it is a part of the line."""
    offset, length = place or (line.offset, len(line.data))
    number = number_in(text) if is_number else None
    if number is None and is_number and is_non_finite(text):
        report("non-finite-number", f"{key}: {text[:80]}", offset, length, line.number)
    elif number is None and is_number and _QUANTITY.search(key):
        report("not-a-number", f"{key}: {text[:80]}", offset, length, line.number, "error")
    value = landed_text(text)
    if value is None:
        report("value-too-long", f"{key}: {len(text)} characters", offset, length, line.number, "note")
    return Entry(offset, length, line.number, clean(key), value, number)


def first(stated: dict[tuple[str, str], Any], *names: tuple[str, str]) -> Any:
    """The first of several (source, key) that is stated."""
    return next((stated[name] for name in names if name in stated), None)
