"""Numbers and texts in a block of bytes, many at once, by where they stand: without an object for each, and without a copy."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

_CHUNK_BYTES = 128 << 10  # of text and what is computed from it: so much stays in a core's own cache

_OPEN_POINT, _LOWER = np.uint16(int.from_bytes(b".e", "little")), np.uint16(0x20 << 8)  # two bytes as one number

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Bytes = NDArray[np.uint8]
Floats = NDArray[np.float64]


def places_where(is_wanted: Callable[..., Bools], *texts: Bytes) -> Ints:
    """The places where something holds for texts of equal length."""
    return np.concatenate([
        np.flatnonzero(is_wanted(*(text[start : start + _CHUNK_BYTES] for text in texts))) + start
        for start in range(0, max(1, len(texts[0])), _CHUNK_BYTES)
    ])


def is_digit(byte: Bytes) -> Bools:
    return (byte - ord("0")) < 10  # a byte below "0" wraps round


def is_at(data: bytes, places: Ints, text: bytes) -> Bools:
    """Whether `text` stands at each of the places, each of which has as many bytes behind it."""
    if not text or not len(places):
        return np.ones(len(places), np.bool_)
    found = _items(data, len(text))[places]
    if found.tobytes() == text * len(found):
        return np.ones(len(places), np.bool_)
    is_there: Bools = (found.view(np.uint8).reshape(-1, len(text)) == np.frombuffer(text, np.uint8)).all(axis=1)
    return is_there


def _items(data: bytes, size: int) -> NDArray[np.void]:
    """Every so many bytes of the block, as one item each: many times as quick as a row of bytes each."""
    return np.ndarray((len(data) - size + 1,), f"V{size}", data, strides=(1,))


def floats_at(text: Bytes, starts: Ints, ends: Ints) -> Floats:
    """The numbers in parts that follow one another. Raises `pa.ArrowInvalid` where one is none."""
    return np.frombuffer(parts(text, starts, ends).cast(pa.float64()).buffers()[1], np.float64)[: 2 * len(starts) : 2]


def is_plain_number(text: Bytes, starts: Ints, ends: Ints) -> Bools:
    """Whether what could be read as a number, and ends with a digit, begins as JSON has it: see `has_open_point`."""
    begin = starts + (text[starts] == ord("-"))
    second = np.minimum(begin + 1, ends - 1)  # or the first again: no text may stand behind it
    is_one: Bools = is_digit(text[begin]) & ~((text[begin] == ord("0")) & (second > begin) & is_digit(text[second]))
    return is_one


def has_open_point(text: Bytes) -> bool:
    """Whether there may be a 1.e5, which is no number of JSON's, and could be read as one."""
    pairs = (text[first : first + (len(text) - first) // 2 * 2].view("<u2") for first in (0, 1))
    return any(bool(((pair | _LOWER) == _OPEN_POINT).any()) for pair in pairs)


def texts_at(text: Bytes, starts: Ints, lengths: Ints) -> pa.StringArray:
    """Parts of ASCII text, which do not overlap."""
    order = np.argsort(starts, kind="stable")
    places = np.empty(len(order), np.int64)
    places[order] = np.arange(0, 2 * len(order), 2)
    return parts(text, starts[order], (starts + lengths)[order]).take(pa.array(places))


def parts(text: Bytes, starts: Ints, ends: Ints) -> pa.StringArray:
    """Parts of `text` that follow one another, and behind each a NULL for what stands before the next: nothing is copied."""
    offsets = np.empty(2 * len(starts) + 1, np.int32)
    offsets[:-1:2], offsets[1::2] = starts, ends
    offsets[-1] = ends[-1] if len(ends) else 0
    is_part = pa.py_buffer(b"\x55" * (len(starts) // 4 + 1))  # every other bit
    return pa.StringArray.from_buffers(2 * len(starts), pa.py_buffer(offsets), pa.py_buffer(text), is_part, len(starts))
