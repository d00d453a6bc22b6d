"""What the fields of a line of the power daemon are.

`Time,07-28-2025 04:17:29.622,Watts,2887.000000,...,Mark,testing,Ch1,Watts,977.000000,...`: names, each with a value behind it,
and channels, whose own names and values follow.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from warehouse.landing.readers.text import clean
from warehouse.landing.rows import LINEAGE_FIELDS

from .tables import TABLES

# The columns that a sample states, and their types.
COLUMNS = {
    field.name: field.type for field in TABLES["mlperf_inference_power_sample"]
    if field.name != "run_id" and field not in LINEAGE_FIELDS
}
TIME = 1  # the field that has it
_MEASURES = {"Watts": "watts", "Volts": "volts", "Amps": "amps", "PF": "power_factor"}
_CHANNEL = re.compile(r"Ch\w+")


class Layout(NamedTuple):
    """The fields by their places. `names` are those that say what others are; `channels` are the texts of the table's
    column, the whole system first; a measure is its channel's place there, its column, and the field of its value."""

    names: tuple[int, ...]
    channels: tuple[str | None, ...]
    measures: tuple[tuple[int, str, int], ...]
    mark: int | None
    is_whole: bool  # false: the last name has no value


def fields_of(text: str) -> list[str]:
    return [field.strip() for field in text.split(",")]


def layout_of(fields: Sequence[str]) -> Layout | None:
    """None where they are no line of the daemon's."""
    if len(fields) < 4 or fields[0] != "Time" or not fields[TIME]:
        return None
    names, mark = [0], None
    channels: list[str | None] = [None]
    measures: list[tuple[int, str, int]] = []
    position = 2
    while position < len(fields):
        name = fields[position]
        names.append(position)
        if name not in _MEASURES and _CHANNEL.fullmatch(name):
            channels.append(clean(name)[:256])
            position += 1
            continue
        if position + 1 < len(fields):
            if name in _MEASURES:
                measures.append((len(channels) - 1, _MEASURES[name], position + 1))
            elif name == "Mark":
                mark = position + 1
        position += 2  # a measure that the table has no column for is a name and a value, too
    return Layout(tuple(names), tuple(channels), tuple(measures), mark, position == len(fields))


def mark_of(field: str) -> str | None:
    """The power session and phase."""
    return clean(field)[:256] or None
