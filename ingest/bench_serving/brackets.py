"""The brackets of a piece of JSON, by which it is stepped over without being decoded."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warehouse.landing.readers.numbers_at import Ints

_QUOTE = ord('"')
_BACKSLASH = ord("\\")
_STEPS = np.zeros(256, np.int8)  # what a bracket does to the depth
_STEPS[[ord("["), ord("{")]] = 1
_STEPS[[ord("]"), ord("}")]] = -1


class Brackets(NamedTuple):
    """The brackets that stand outside of texts, each a step up or down; and where the last text that is not whole begins, or
    the end."""

    places: Ints
    steps: NDArray[np.int8]
    stop: int


def brackets_in(data: bytes) -> Brackets:
    """The brackets in `data`, which begins outside of a text."""
    if rb"\\" in data:  # escaped backslashes stand in texts only: then a backslash before a quote escapes the quote
        data = data.replace(rb"\\", b"__")
    codes = np.frombuffer(data, np.uint8)
    is_quote = codes == _QUOTE
    is_quote[1:] &= codes[:-1] != _BACKSLASH
    folded = codes | 0x20  # [ and { are one then, as are ] and }
    places = np.flatnonzero(is_quote | (folded == ord("{")) | (folded == ord("}")))
    quotes = is_quote[places]
    is_within = np.logical_xor.accumulate(quotes)
    stop = int(places[quotes][-1]) if len(places) and is_within[-1] else len(data)
    places = places[~(is_within | quotes)]
    return Brackets(places, _STEPS[codes[places]], stop)
