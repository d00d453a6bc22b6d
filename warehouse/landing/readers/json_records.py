"""JSON values that follow one another in a document: decoded many at a time where every reader takes them for the same, and
read as columns by key path.

msgspec refuses what standard JSON does not have (NaN, infinities, numbers beyond a double, control characters, lone surrogates,
bytes that are not UTF-8), and gives for everything else what Python's decoder gives, except that it drops all but the last of
duplicate keys. `plain` finds those by counting, and leaves all of these to the caller's careful reading, as it does numbers that a double may not
tell from zero.
"""

from __future__ import annotations

import re
from itertools import chain
from typing import Any, Final, NamedTuple

import msgspec
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from warehouse.landing.readers import columns

ABSENT: Final = msgspec.UNSET  # in a column: the key is not there
_ELEMENTS = msgspec.json.Decoder(list[msgspec.Raw])
_VALUES = msgspec.json.Decoder(list[Any])
_BLANK = b" \t\r\n"
# A number that a double may not tell from zero, 1e-400; and what it ends with, which is looked for in a tenth of the time.
_TINY, _TINY_END = re.compile(rb"\d[eE]-[3-9]\d\d"), re.compile(rb"-[3-9]\d\d[,}\]\s]")
_QUOTE, _COLON, _BACKSLASH = b'":\\'
_IS_BLANK = np.isin(np.arange(256), list(_BLANK))
_COUNTED_BYTES = 128 << 10  # at once: this much, and what is found in it, stays in a core's own cache
_MOST_BEFORE_COLON = 64  # blanks and backslashes that are looked at
_CONTAINERS = frozenset({dict, list})

Path = tuple[str, ...]  # of keys, from a record to what it states


class Records:
    """Values that follow one another, by columns."""

    def __init__(self, values: list[Any]) -> None:
        self.values = values
        self._columns: dict[Path, list[Any]] = {(): values}
        self._are_objects = set(map(type, values)) <= {dict}

    def __len__(self) -> int:
        return len(self.values)

    def column(self, *path: str) -> list[Any] | None:
        """What each object states at a path of keys, None where it states nothing; None where not all are objects."""
        found = self._column(path)
        if found is None or ABSENT not in found:
            return found
        return [None if value is ABSENT else value for value in found]

    def has(self, *path: str) -> NDArray[np.bool_]:
        """Whether each has the key at the end of a path, whatever its value; empty where not all are objects."""
        return np.array([value is not ABSENT for value in self._column(path) or ()], np.bool_)

    def numbers(self, *path: str) -> NDArray[np.float64] | None:
        """`columns.numbers` of a column."""
        return columns.numbers(self.column(*path))

    def counts(self, *path: str) -> pa.Array | None:
        """`columns.counts` of a column."""
        return columns.counts(self.column(*path))

    def texts(self, *path: str) -> list[str | None] | None:
        """`columns.texts` of a column."""
        return columns.texts(self.column(*path))

    def _column(self, path: Path) -> list[Any] | None:
        if not self._are_objects:
            return None
        for depth, key in enumerate(path, 1):
            if path[:depth] not in self._columns:
                above = self._columns[path[: depth - 1]]
                self._columns[path[:depth]] = [value.get(key, ABSENT) if type(value) is dict else ABSENT for value in above]
        return self._columns[path]


class Plain(NamedTuple):
    """The elements of an array: the length of each in bytes, and their values."""

    lengths: list[int]
    records: Records


def plain(array: bytes) -> Plain | None:
    """The elements of a JSON array; None where anything in it is to be read with care, or is no JSON."""
    if _TINY_END.search(array) and _TINY.search(array):
        return None
    try:
        lengths = [len(memoryview(element)) for element in _ELEMENTS.decode(array)]
        values = _VALUES.decode(array)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    # No fewer keys are written than there are, and no more are decoded: if both counts are equal, no key occurs twice.
    return Plain(lengths, Records(values)) if _written_keys(array) == _decoded_keys(values) else None


def _written_keys(text: bytes) -> int:
    """How many keys JSON text has; more where a string begins with a colon."""
    codes = np.frombuffer(text, np.uint8)
    steps = range(0, len(codes), _COUNTED_BYTES)
    colons = np.concatenate([np.flatnonzero(codes[step : step + _COUNTED_BYTES] == _COLON) + step for step in steps])
    before = codes[colons - 1]
    quoted = colons[before == _QUOTE]
    escaped = quoted[codes[quoted - 2] == _BACKSLASH]
    doubtful = chain(escaped[codes[escaped - 3] == _BACKSLASH].tolist(), colons[_IS_BLANK[before]].tolist())
    return len(quoted) - len(escaped) + sum(_may_end_key(text, colon) for colon in doubtful)


def _may_end_key(text: bytes, colon: int) -> bool:
    """Whether a quote that is not escaped precedes a colon, or more text than is checked."""
    before = text[max(0, colon - _MOST_BEFORE_COLON) : colon].rstrip(_BLANK)
    without = before[:-1].rstrip(b"\\")
    return not without or (before.endswith(b'"') and (len(before) - 1 - len(without)) % 2 == 0)


def _decoded_keys(values: list[Any]) -> int:
    count, level = 0, values
    while level:
        objects = [value for value in level if type(value) is dict]
        count += sum(map(len, objects))
        arrays = [value for value in level if type(value) is list]
        within = chain.from_iterable(chain(map(dict.values, objects), arrays))
        level = [value for value in within if type(value) in _CONTAINERS]
    return count
