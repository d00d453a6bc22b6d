"""The elements of a JSON array, many at a time: decoded by a library, each with the exact bytes that state it.

Only what is beyond doubt is taken: objects and arrays of standard JSON without duplicate keys, nested like records are. Of
anything else nothing is said here; who asks goes on with care, element by element, and comes to the same values.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import simdjson
from numpy.typing import NDArray

from warehouse.landing.json_records import Decoded, Records
from warehouse.landing.json_templates import Templates
from warehouse.landing.numbers_at import Ints, parts_of

_DEEPEST = 100  # the careful reader ends at the interpreter's recursion limit; records have ten levels at most
_QUOTE = ord('"')
_BACKSLASH = ord("\\")
_BLANK = b" \t\r\n"
_STEPS = np.zeros(256, np.int8)  # what a bracket does to the depth
_STEPS[[ord("["), ord("{")]] = 1
_STEPS[[ord("]"), ord("}")]] = -1


@dataclass(frozen=True)
class Elements:
    """Elements that follow one another: offsets and lengths in bytes, int64, and what they are. Iterating gives offset,
    length and value of each."""

    offsets: NDArray[np.int64]
    lengths: NDArray[np.int64]
    records: Records

    def __iter__(self) -> Iterator[tuple[int, int, Any]]:
        return zip(self.offsets.tolist(), self.lengths.tolist(), self.records.values(), strict=True)

    @property
    def stop(self) -> int:
        """The byte after the last one."""
        return int(self.offsets[-1] + self.lengths[-1])


def whole_elements(data: bytes, templates: Templates | None = None) -> Elements | None:
    """The elements that are whole in `data`, which begins with one: what they are, and their places. None where there is
    none, or where one is a scalar, is not plain, or is malformed. With `templates`, those that were written as others before
    them are read by columns; they learn from the others."""
    if templates and (alike := templates.of_array(data)):
        starts, stops, records = alike
        return Elements(starts, stops - starts, records)
    for cut in ([templates.cut] if templates else []) + [_cut]:
        places = cut(data)
        if places is None:
            continue
        starts, stops = places
        separators = parts_of(data, stops[:-1], starts[1:])
        # Each part is one value and between them stand commas: then these are the elements, however they were found.
        if starts[0] == 0 and all(separator.strip(_BLANK) == b"," for separator in separators):
            found = _values(data, starts, stops, templates, separators[0] if separators else b"")
            if found is not None:
                return Elements(starts, stops - starts, found)
    return None


def line_records(data: bytes, starts: Ints, stops: Ints, templates: Templates) -> Records | None:
    """The values of JSON lines, from `starts` to `stops` with nothing but line ends between them, as `whole_elements` gives
    them; None where one of them is not plain, or is malformed."""
    return templates.of_lines(data, starts, stops) or _values(data, starts, stops, templates, b"")


def _values(data: bytes, starts: Ints, stops: Ints, templates: Templates | None, separator: bytes) -> Records | None:
    if templates and templates.is_new:  # all are decoded only where the first one teaches nothing
        first = parts_of(data, starts[:1], stops[:1])
        if _decoded(first):
            templates.learn(first, separator)
    some = templates.of_some(data, starts, stops, _decoded) if templates else None
    if some is not None:
        return some
    written = parts_of(data, starts, stops)
    found = _decoded(written)
    if found is not None and templates:
        templates.learn(written, separator)
    return found


def _decoded(written: list[bytes]) -> Decoded | None:
    """The values of parts; None where one of them is not plain, or is malformed."""
    parser = simdjson.Parser()
    values: list[Any] = []
    try:
        for each in written:
            parsed: Any = parser.parse(each)  # a scalar is given as it is
            value = parsed.as_dict() if isinstance(parsed, simdjson.Object) else parsed.as_list()
            if not _is_plain(parsed, value, _DEEPEST):
                return None
            values.append(value)
            del parsed  # the parser's memory is for the next one
    except (ValueError, RuntimeError, AttributeError):
        return None
    return Decoded(values)


def _is_plain(parsed: Any, value: Any, depth: int) -> bool:
    """Whether no object in a value has a key twice: the library has counted them all. And whether it is not too deep."""
    if depth == 0 or len(parsed) != len(value):
        return False
    if type(value) is dict:
        for key, each in value.items():  # no generator: this is done for every record
            # The library looks for what stands before a \0 in a key.
            if type(each) in _CONTAINERS and ("\0" in key or not _is_plain(parsed[key], each, depth - 1)):
                return False
        return True
    if not _has_containers(value):
        return True
    for one, each in zip(parsed, value, strict=True):
        if type(each) is dict and _CONTAINERS.isdisjoint(map(type, each.values())):  # as most
            if len(one) != len(each):
                return False
        elif type(each) in _CONTAINERS and not _is_plain(one, each, depth - 1):
            return False
    return True


def _has_containers(array: list[Any]) -> bool:
    try:
        sum(array)  # of numbers alone, as long arrays are: to look at the type of each takes ten times as long
    except TypeError:
        return not _CONTAINERS.isdisjoint(map(type, array))
    return False


_CONTAINERS = frozenset({dict, list})


def _cut(data: bytes) -> tuple[Ints, Ints] | None:
    """Where the outermost brackets open and close; None where nothing closes."""
    brackets = brackets_in(data)
    depths = np.cumsum(brackets.steps, dtype=np.int32)
    end = int((depths < 0).argmax()) if (depths < 0).any() else len(depths)  # where the array ends
    places, steps, depths = brackets.places[:end], brackets.steps[:end], depths[:end]
    stops = places[(depths == 0) & (steps < 0)] + 1
    return (places[(depths == 1) & (steps > 0)][: len(stops)], stops) if len(stops) else None


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
