"""Numbers and texts in a block of bytes, many at once, by their places: without an object for each, and without a copy."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Bytes = NDArray[np.uint8]
Floats = NDArray[np.float64]


def floats_at(text: Bytes, starts: Ints, ends: Ints) -> Floats:
    """The numbers in parts that follow one another. Raises `pa.ArrowInvalid` where one is none."""
    return np.frombuffer(parts(text, starts, ends).cast(pa.float64()).buffers()[1], np.float64)[: 2 * len(starts) : 2]


def parts(text: Bytes, starts: Ints, ends: Ints) -> pa.StringArray:
    """Parts of `text` that follow one another, and behind each a NULL for what stands before the next: nothing is copied."""
    offsets = np.empty(2 * len(starts) + 1, np.int32)
    offsets[:-1:2], offsets[1::2] = starts, ends
    offsets[-1] = ends[-1] if len(ends) else 0
    is_part = pa.py_buffer(b"\x55" * (len(starts) // 4 + 1))  # every other bit
    return pa.StringArray.from_buffers(2 * len(starts), pa.py_buffer(offsets), pa.py_buffer(text), is_part, len(starts))


def parts_of(data: bytes, starts: Ints, ends: Ints) -> list[bytes]:
    """Parts of `data`, each by itself."""
    return [data[start:end] for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]
