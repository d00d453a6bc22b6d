"""The JSON numbers in a block's marked lines, all at once: where they stand, and their values."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from warehouse.landing.readers.numbers_at import (
    Bools,
    Bytes,
    Ints,
    floats_at,
    has_open_point,
    is_digit,
    is_plain_number,
    places_where,
    texts_at,
)

from .lines import Lines

_LONGEST = 32  # bytes; a longer one is no producer's measurement
# With so small an exponent that it is finite.
_JSON_NUMBER = r"^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,2})?$"


class Numbers(NamedTuple):
    """Numbers in their order: where they begin and end in the block, and their values, which are finite. Of each line, the
    index of the first, and how many it has. What looks like one within a JSON string is one here, too."""

    starts: Ints
    stops: Ints
    values: NDArray[np.float64]
    first: Ints
    counts: Ints


def numbers_in(lines: Lines) -> Numbers:
    text = lines.block.text
    starts = places_where(_may_begin, text[:-1], text[1:]) + 1
    ends = places_where(_may_end, text[:-1], text[1:]) + 1
    is_paired = len(starts) == len(ends) and (starts < ends).all() and (ends[:-1] < starts[1:]).all()
    if not is_paired or not _is_all_in(lines, starts):
        row = np.searchsorted(lines.starts, starts, side="right") - 1
        starts = starts[(row >= 0) & (starts < lines.stops[row])] if len(lines.stops) else starts[:0]
        ends = np.append(ends, len(text))[np.searchsorted(ends, starts, side="right")]
    is_short = ends - starts <= _LONGEST
    if not is_short.all():
        starts, ends = starts[is_short], ends[is_short]
    try:
        values = floats_at(text, starts, ends)
        is_number = np.isfinite(values) & _is_json(text, starts, ends)
    except pa.ArrowInvalid:  # among them is what is no number: asking of each takes thrice as long as reading it
        written = texts_at(text, starts, ends - starts)
        is_number = pc.match_substring_regex(written, _JSON_NUMBER).to_numpy(zero_copy_only=False)
        values = written.filter(is_number).cast(pa.float64()).to_numpy()
        starts, ends, is_number = starts[is_number], ends[is_number], np.ones(len(values), np.bool_)
    if not is_number.all():
        starts, ends, values = starts[is_number], ends[is_number], values[is_number]
    first, behind = np.searchsorted(starts, lines.starts), np.searchsorted(starts, lines.stops)
    return Numbers(starts, ends, values, first, behind - first)


def _may_begin(before: Bytes, byte: Bytes) -> Bools:
    stands: Bools = (before == ord(" ")) | (before == ord(":")) | (before == ord(",")) | (before == ord("["))
    begins: Bools = stands & (is_digit(byte) | (byte == ord("-")))
    return begins


def _may_end(byte: Bytes, behind: Bytes) -> Bools:
    ends: Bools = is_digit(byte) & ((behind == ord(",")) | (behind == ord("}")) | (behind == ord("]")))
    return ends


def _is_all_in(lines: Lines, places: Ints) -> bool:
    """Whether no place is outside of the marked lines."""
    first, behind = np.searchsorted(places, lines.starts), np.searchsorted(places, lines.stops)
    return int((behind - first).sum()) == len(places)


def _is_json(text: Bytes, starts: Ints, ends: Ints) -> Bools:
    """Whether what could be read as a number, and ends with a digit, is written as JSON has it."""
    is_one = is_plain_number(text, starts, ends)
    if not has_open_point(text):
        return is_one
    points = places_where(_is_open_point, text[:-1], text[1:])  # 1.e5
    numbers = np.searchsorted(starts, points, side="right") - 1
    within = numbers >= 0  # others stand before the first number
    is_one[numbers[within][points[within] < ends[numbers[within]]]] = False
    return is_one


def _is_open_point(byte: Bytes, behind: Bytes) -> Bools:
    is_open: Bools = (byte == ord(".")) & ~is_digit(behind)
    return is_open
