"""The elements of a JSON array, many at a time: decoded by a library, each with the exact bytes that state it.

Only what is beyond doubt is taken: objects and arrays of standard JSON without duplicate keys, nested like records are. Of
anything else nothing is said here; who asks goes on with care, element by element, and comes to the same values.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from warehouse.landing.json_alike import Templates
from warehouse.landing.json_records import Decoded, Records
from warehouse.landing.numbers_at import Ints

_DEEPEST = 100  # the careful reader ends at the interpreter's recursion limit; records have ten levels at most
_decode = msgspec.json.Decoder(list[Any]).decode
_decode_value = msgspec.json.Decoder().decode
_COLON = ord(":")
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
    for scan in (_scan_flat, _scan):
        found = scan(data)
        if found is None:
            continue
        starts, stops, pairs = found
        separators = [data[stop:start] for stop, start in zip(stops.tolist(), starts[1:].tolist(), strict=False)]
        some = templates.of_some(data, starts, stops, _plain_values) if templates else None
        if some is not None and all(separator.strip(_BLANK) == b"," for separator in separators):
            return Elements(starts, stops - starts, some)
        try:
            values = _decode(b"[%b]" % data[: stops[-1]])
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
            continue
        # Fewer values than brackets: a text between them. Fewer keys than colons: one stands twice in an object.
        if len(values) == len(starts) and _has_pairs(values, pairs):
            if templates and separators:
                templates.learn(data[starts[0] : stops[0]], separators[0])
            return Elements(starts, stops - starts, Decoded(values))
    return None


def line_records(data: bytes, starts: Ints, stops: Ints, templates: Templates) -> Records | None:
    """The values of JSON lines, from `starts` to `stops` with nothing but line ends between them, as `whole_elements` gives
    them; None where one of them is not plain, or is malformed."""
    records = templates.of_lines(data, starts, stops) or templates.of_some(data, starts, stops, _plain_values)
    if records is None:
        records = _plain_values([data[start:stop] for start, stop in zip(starts.tolist(), stops.tolist(), strict=True)])
        if records is not None and len(records):
            templates.learn(data[starts[0] : stops[0]])
    return records


def _plain_values(written: list[bytes]) -> Decoded | None:
    try:
        values = [_decode_value(each) for each in written]
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None
    brackets = brackets_in(b"\n".join(written))
    if np.cumsum(brackets.steps, dtype=np.int32).max(initial=0) > _DEEPEST or not _has_pairs(values, len(brackets.colons)):
        return None
    return Decoded(values)


_Scan = tuple[NDArray[np.int64], NDArray[np.int64], int]  # where elements start and stop, and how many keys are in them


def _scan_flat(data: bytes) -> _Scan | None:
    """As `_scan`, for objects of scalars alone: quicker by half of what decoding takes. It counts the marks in texts, too,
    which is then found by whoever counts the values and the keys."""
    if b"[" in data or b"\\" in data:
        return None
    codes = np.frombuffer(data, np.uint8)
    starts, stops = np.flatnonzero(codes == ord("{")), np.flatnonzero(codes == ord("}")) + 1
    starts = starts[: len(stops)]
    if not len(stops) or len(starts) < len(stops) or (starts >= stops).any() or (starts[1:] < stops[:-1]).any():
        return None
    return starts, stops, int(np.count_nonzero(codes[: stops[-1]] == _COLON))


def _scan(data: bytes) -> _Scan | None:
    """Where the outermost brackets open and close, and how many keys stand between them; None where nothing closes."""
    brackets = brackets_in(data)
    depths = np.cumsum(brackets.steps, dtype=np.int32)
    end = int((depths < 0).argmax()) if (depths < 0).any() else len(depths)  # where the array ends
    places, steps, depths = brackets.places[:end], brackets.steps[:end], depths[:end]
    stops = places[(depths == 0) & (steps < 0)] + 1
    if not len(stops) or depths.max() > _DEEPEST:
        return None
    starts = places[(depths == 1) & (steps > 0)][: len(stops)]
    return starts, stops, int(np.searchsorted(brackets.colons, stops[-1]))


class Brackets(NamedTuple):
    """What stands outside of texts: brackets, each a step up or down, and colons; and where the last text that is not whole
    begins, or the end."""

    places: NDArray[np.int64]
    steps: NDArray[np.int8]
    colons: NDArray[np.int64]
    stop: int


def brackets_in(data: bytes) -> Brackets:
    """The brackets in `data`, which begins outside of a text."""
    if rb"\\" in data:  # escaped backslashes stand in texts only: then a backslash before a quote escapes the quote
        data = data.replace(rb"\\", b"__")
    codes = np.frombuffer(data, np.uint8)
    is_quote = codes == _QUOTE
    is_quote[1:] &= codes[:-1] != _BACKSLASH
    folded = codes | 0x20  # [ and { are one then, as are ] and }
    places = np.flatnonzero(is_quote | (codes == _COLON) | (folded == ord("{")) | (folded == ord("}")))
    quotes = is_quote[places]
    is_within = np.logical_xor.accumulate(quotes)
    stop = int(places[quotes][-1]) if len(places) and is_within[-1] else len(data)
    places = places[~(is_within | quotes)]
    marks = codes[places]
    is_colon = marks == _COLON
    return Brackets(places[~is_colon], _STEPS[marks[~is_colon]], places[is_colon], stop)


def _has_pairs(values: list[Any], pairs: int) -> bool:
    """Whether all objects in `values`, however deep, have so many keys."""
    if set(map(type, values)) == {dict} and sum(map(len, values)) == pairs:  # there are none within
        return True
    return _pairs_in(values) == pairs


def _pairs_in(values: list[Any]) -> int:
    count = 0
    within: Iterable[Any] = values
    while containers := [value for value in within if type(value) in _CONTAINERS]:
        objects = [value for value in containers if type(value) is dict]
        arrays = [value for value in containers if type(value) is list and not _CONTAINERS.isdisjoint(map(type, value))]
        count += sum(map(len, objects))
        within = chain(chain.from_iterable(map(dict.values, objects)), chain.from_iterable(arrays))
    return count


_CONTAINERS = frozenset({dict, list})
