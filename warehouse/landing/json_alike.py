"""JSON objects that were written alike, all of a block at once: without an object for each value, and without a parser.

A tool writes its records by one line of code: between their scalars stands the same text. One of them is read with care and
gives that text, its template; of the others is proven, by comparing bytes, that they are the template with other scalars in
its holes. Then each of them is one JSON object, with the template's keys, each once; and a column is the texts in one hole.

What proves it: as many commas, and between two of them the template's text before and behind a hole; each hole holds what
JSON has as a number, a literal or a text without escapes; and there is no other quote, backslash or control character.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import gt
from typing import Any, NamedTuple

import msgspec
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from warehouse.landing import columns
from warehouse.landing.json_records import ABSENT, Mixed, Path, Records
from warehouse.landing.numbers_at import Bools, Bytes, Ints, are_at, floats_at, has_open_point, is_at, is_digit, is_plain_number, parts, parts_of

_MOST_HOLES = 400
_COMPANY = 8  # fewer records are decoded in less time
_MOST_LESSONS = 50  # a file whose records differ again and again is decoded
_LOOKED_AT = 3  # of some records, for one that is a template
_MOST_KNOWN = 4
_MOST_SETTLEMENTS = 3
_EXACT, _EXACT_DIGITS = 2**53, 16
_DEEPEST = 100  # as whoever reads with care
_TOKEN = re.compile(rb'[ \t\r\n]*+([{}\[\],:]|"[^"\\\x00-\x1f]*+"|-?[0-9][0-9.eE+-]*+|null|true|false)')
_LITERALS = {b"null": None, b"true": True, b"false": False}
_COMMA, _QUOTE, _SPACE = (ord(mark) for mark in '," ')
_NULL, _LITERAL, _TEXT, _NUMBER, _ODD = range(5)
_BEGINS = np.full(256, _ODD, np.uint8)  # what begins with a byte
_BEGINS[[*b"-0123456789"]] = _NUMBER
_BEGINS[_QUOTE] = _TEXT


@dataclass(frozen=True)
class Template:
    """A record's texts before, between and behind its holes, and the path of keys to each hole; None in an array. Behind each
    hole are `edges` bytes before the next comma, whose number from 0 is in `behind`, or before the record's end. `containers`
    are the paths of its objects and arrays; `settled` is what stands at paths where all records have the same."""

    texts: tuple[bytes, ...]
    edges: tuple[int, ...]
    behind: tuple[int, ...]
    paths: tuple[Path | None, ...]
    commas: int
    containers: frozenset[Path]
    settled: Mapping[Path | None, bytes]

    def count(self, is_wanted: Callable[[Bytes], Bools]) -> int:
        """How many of the texts' bytes are such."""
        return int(np.count_nonzero(is_wanted(np.frombuffer(b"".join(self.texts), np.uint8))))

    def settle(self, filled: Mapping[int, bytes]) -> "Template":
        """The template where some of the holes are filled; the first is not."""
        texts = [self.texts[0]]
        for hole, text in enumerate(self.texts[1:]):
            if hole in filled:
                texts[-1] += filled[hole] + text
            else:
                texts.append(text)
        kept = [hole for hole in range(len(self.paths)) if hole not in filled]
        edges, behind, paths = (tuple(part[hole] for hole in kept) for part in (self.edges, self.behind, self.paths))
        settled = {self.paths[hole]: text for hole, text in filled.items()}
        return Template(tuple(texts), edges, behind, paths, self.commas, self.containers, {**self.settled, **settled})


def template_of(record: bytes) -> Template | None:
    """The template of a record that a library could decode; None where it is none: a comma or an escape is in a text, a key
    stands twice, or nothing but brackets stands between two commas."""
    walk = _Walk()
    position, end = 0, len(record)
    while position < end and (found := _TOKEN.match(record, position)):
        position = found.end()
        following = _TOKEN.match(record, position)
        if not walk.step(found[1], found.start(1), is_key=following is not None and following[1] == b":"):
            return None
    holes, commas = walk.holes, walk.commas
    if position != end or record.count(b",") != len(commas) or len(holes) != len(commas) + 1 or len(holes) > _MOST_HOLES:
        return None
    ends = [*commas, end]
    edges = [0, *(hole.stop for hole in holes)]
    if any(hole.stop > end for hole, end in zip(holes, ends, strict=True)) or any(map(gt, commas, (hole.start for hole in holes[1:]))):
        return None
    texts = [record[edge : hole.start] for edge, hole in zip(edges, holes, strict=False)]
    return Template(
        (*texts, record[edges[-1] :]), tuple(end - hole.stop for hole, end in zip(holes, ends, strict=True)),
        tuple(range(len(holes))), tuple(hole.path for hole in holes), len(commas), frozenset(walk.containers), {},
    )


class _Hole(NamedTuple):
    start: int
    stop: int
    path: Path | None


class _Walk:
    """A walk over the tokens of a record, which is known to be JSON."""

    def __init__(self) -> None:
        self.holes: list[_Hole] = []
        self.commas: list[int] = []
        self.containers: list[Path] = []
        self._open: list[tuple[Path | None, set[str] | None]] = []  # each container's path, and the keys of an object
        self._path: Path | None = ()  # of the value to come

    def step(self, token: bytes, start: int, *, is_key: bool) -> bool:
        """Whether a record with this token may have a template."""
        if token in (b"{", b"["):
            if self._path is not None:
                self.containers.append(self._path)
            self._open.append((self._path, set() if token == b"{" else None))
            if token == b"[":
                self._path = None
            return len(self._open) <= _DEEPEST
        if token in (b"}", b"]"):
            self._open.pop()
        elif token == b",":
            self.commas.append(start)
            if self._open[-1][1] is None:
                self._path = None
        elif is_key:
            above, keys = self._open[-1]
            name = token[1:-1].decode()
            if keys is None or name in keys:
                return False
            keys.add(name)
            self._path = None if above is None else (*above, name)
        elif token != b":":
            self.holes.append(_Hole(start, start + len(token), self._path))
        return True


class Alike(Records):
    """Records that are a template with scalars in its holes: where these begin and end in `data`, a row a hole."""

    def __init__(
        self, data: bytes, template: Template, starts: Ints, stops: Ints, kinds: NDArray[np.uint8],
        numbers: tuple[Ints, NDArray[np.float64]],
    ) -> None:
        self._data, self._template, self._starts, self._stops, self._kinds = data, template, starts, stops, kinds
        self._begun, self._numbers = numbers  # of all holes, as they follow one another: where they begin, and what they are
        self._holes = {path: hole for hole, path in enumerate(template.paths) if path is not None}

    def __len__(self) -> int:
        return self._starts.shape[1]

    def values(self) -> list[Any]:
        first = self._starts[0] - len(self._template.texts[0])
        last = self._stops[-1] + len(self._template.texts[-1])
        return _decoded(self._data, first, last)

    def raw_column(self, path: Path) -> list[Any] | None:
        if path in self._holes:
            return self._texts_of(self._holes[path])
        if path in self._template.settled:
            return [msgspec.json.decode(self._template.settled[path])] * len(self)
        if path not in self._template.containers:
            return [ABSENT] * len(self)
        found: list[Any] = self.values()
        for key in path:
            found = [value[key] for value in found]
        return found

    def has(self, *path: str) -> list[bool]:
        template = self._template
        return [path in self._holes or path in template.settled or path in template.containers] * len(self)

    def settled(self) -> Template:
        """The template with what is a text or a literal, and the same in all of these records."""
        filled: dict[int, bytes] = {}
        for hole, kinds in enumerate(self._kinds):
            first = self._data[self._starts[hole, 0] : self._stops[hole, 0]]
            if hole and kinds[0] != _NUMBER and self._are_all(hole, first):
                filled[hole] = first
        return self._template.settle(filled)

    def _are_all(self, hole: int, text: bytes) -> bool:
        starts, stops = self._starts[hole], self._stops[hole]
        return bool((stops - starts == len(text)).all()) and are_at(self._data, starts, text)

    def _texts_of(self, hole: int) -> list[Any]:
        """What stands in a hole, decoded: once, where it is the same everywhere."""
        starts, stops = self._starts[hole], self._stops[hole]
        first = self._data[starts[0] : stops[0]]
        return [msgspec.json.decode(first)] * len(self) if self._are_all(hole, first) else _decoded(self._data, starts, stops)

    def numbers(self, *path: str) -> NDArray[np.float64] | None:
        hole = self._holes.get(path)
        if hole is None:
            return super().numbers(*path)
        kinds = self._kinds[hole]
        is_number = kinds == _NUMBER
        if not (is_number | (kinds == _NULL)).all():
            return None
        found = np.full(len(self), np.nan)
        found[is_number] = self._numbers[np.searchsorted(self._begun, self._starts[hole][is_number])]
        return found

    def texts(self, *path: str) -> list[str | None] | None:
        if path not in self._template.settled:
            return super().texts(*path)
        found = columns.texts([msgspec.json.decode(self._template.settled[path])])
        return found and found * len(self)

    def counts(self, *path: str) -> pa.Array | None:
        hole = self._holes.get(path)
        if hole is None or not (self._kinds[hole] == _NUMBER).all():
            return super().counts(*path)
        starts, stops = self._starts[hole], self._stops[hole]
        if (stops - starts).max() < _EXACT_DIGITS:  # and a double has all of them; with a point or an exponent, few
            found = self._numbers[np.searchsorted(self._begun, starts)]
            return pa.array(found.astype(np.int64)) if (found == np.floor(found)).all() and (np.abs(found) < _EXACT).all() else None
        try:
            cast = parts(np.frombuffer(self._data, np.uint8), starts, stops).cast(pa.int64())
        except pa.ArrowInvalid:
            return None
        return pa.array(np.frombuffer(cast.buffers()[1], np.int64)[: 2 * len(starts) : 2])


def _decoded(data: bytes, starts: Ints, stops: Ints) -> list[Any]:
    found: list[Any] = msgspec.json.decode(b"[%b]" % b",".join(parts_of(data, starts, stops)))
    return found


def alike(data: bytes, commas: Ints, starts: Ints, stops: Ints, between: int, template: Template) -> Alike | None:
    """The records from `starts` to `stops`, which follow one another, by all `commas` in the data; None where one of them is not proven to be of the
    template. Between them stands what the caller knows: `between` control characters in all, and no quotes."""
    text = np.frombuffer(data, np.uint8)
    found = _holes(data, commas, starts, stops, template)
    if found is None or b"\\" in data or has_open_point(text):
        return None
    begins, ends = found
    kinds = _kinds(data, text, begins, ends)
    part = text[starts[0] : stops[-1]]
    quotes, controls = np.count_nonzero(part == _QUOTE), np.count_nonzero(part < _SPACE)
    quotes -= 2 * np.count_nonzero(kinds == _TEXT) + len(starts) * template.count(lambda byte: byte == _QUOTE)
    if quotes or controls != between + len(starts) * template.count(lambda byte: byte < _SPACE) or (kinds == _ODD).any():
        return None
    numbers = _numbers(text, begins, ends, kinds == _NUMBER)
    if numbers is None or not _is_utf8(data):
        return None
    return Alike(data, template, begins, ends, kinds, numbers)


def are_alike(data: bytes, starts: Ints, stops: Ints, template: Template) -> Bools:
    """Which records have the template's texts; more is not proven of them."""
    commas = _commas(data)
    counts = np.searchsorted(commas, stops) - np.searchsorted(commas, starts)
    is_alike: Bools = counts == template.commas
    begins, ends = _bounds(commas, starts[is_alike], stops[is_alike], template)
    kept = (begins < ends).all(axis=0) & (ends[-1] + len(template.texts[-1]) == stops[is_alike])
    for places, between in zip((starts[is_alike], *ends), template.texts, strict=True):
        kept[kept] = is_at(data, places[kept], between)
    is_alike[is_alike] = kept
    return is_alike


def _holes(data: bytes, commas: Ints, starts: Ints, stops: Ints, template: Template) -> tuple[Ints, Ints] | None:
    """Where each hole begins and ends, a row a hole, if between them stand the template's texts."""
    if (np.searchsorted(commas, stops) - np.searchsorted(commas, starts) != template.commas).any():
        return None
    begins, ends = _bounds(commas, starts, stops, template)
    places = zip((starts, *ends), template.texts, strict=True)
    is_within = (begins < ends).all() and (ends[-1] + len(template.texts[-1]) == stops).all()
    return (begins, ends) if is_within and all(are_at(data, *place) for place in places) else None


def _commas(data: bytes) -> Ints:
    return np.flatnonzero(np.frombuffer(data, np.uint8) == _COMMA)


def _bounds(commas: Ints, starts: Ints, stops: Ints, template: Template) -> tuple[Ints, Ints]:
    """Where each hole would begin and end by the commas, of which each record has as many as the template."""
    # Where there is no comma any more, the record's end.
    ends = np.append(commas, 0)[np.searchsorted(commas, starts) + np.array(template.behind)[:, None]]
    if template.behind[-1] == template.commas:
        ends[-1] = stops
    ends -= np.array(template.edges)[:, None]
    begins = np.vstack([starts, ends[:-1]]) + np.array(list(map(len, template.texts[:-1])))[:, None]
    return begins, ends


def _kinds(data: bytes, text: Bytes, begins: Ints, ends: Ints) -> NDArray[np.uint8]:
    """What each hole holds, by its first byte, and a text by its last one, too; `_ODD` where it is nothing that JSON has."""
    kinds = _BEGINS[text[begins]]
    is_text = kinds == _TEXT
    if is_text.any():
        kinds[is_text & ((text[ends - 1] != _QUOTE) | (ends - begins < 2))] = _ODD
    is_other = kinds == _ODD
    if not is_other.any():
        return kinds
    starts, sizes = begins[is_other], (ends - begins)[is_other]
    found = np.full(len(starts), _ODD, np.uint8)
    for written, value in _LITERALS.items():
        fits = np.flatnonzero(sizes == len(written))
        found[fits[is_at(data, starts[fits], written)]] = _NULL if value is None else _LITERAL
    kinds[is_other] = found
    return kinds


def _numbers(text: Bytes, begins: Ints, ends: Ints, is_number: Bools) -> tuple[Ints, NDArray[np.float64]] | None:
    """Where the numbers begin, and what they are; None where one of them is no finite number as JSON has it, or is -0, which
    is an integer without a sign."""
    starts, stops = begins.T[is_number.T], ends.T[is_number.T]
    try:
        values = floats_at(text, starts, stops)
    except pa.ArrowInvalid:
        return None
    is_fit = np.isfinite(values) & is_digit(text[stops - 1]) & is_plain_number(text, starts, stops)
    is_fit &= ~((stops - starts == 2) & np.signbit(values) & (values == 0))
    return (starts, values) if is_fit.all() else None


def _is_utf8(data: bytes) -> bool:
    try:
        return data.isascii() or bool(data.decode())
    except UnicodeDecodeError:
        return False


class Templates:
    """What a file's records are expected to be like: learnt from those that came before."""

    def __init__(self) -> None:
        self._known: list[Template] = []  # the latest first
        self._separator = b""  # between two elements of an array
        self._between = b""  # the same, and the brackets and the first key beside it
        self._lessons, self._settlements = 0, 0

    def learn(self, records: Sequence[bytes], separator: bytes = b"") -> None:
        """Records that a library could decode, and what stood between the first two, if they were elements of an array."""
        if self._lessons == _MOST_LESSONS:
            return
        self._lessons += 1
        templates = (template_of(records[len(records) * part // _LOOKED_AT]) for part in range(_LOOKED_AT))
        template = next((template for template in templates if template), None)
        if template is not None and template not in self._known:
            self._known = [template, *self._known[: _MOST_KNOWN - 1]]
            self._settlements = 0
        if separator:
            self._separator = separator
            self._between = b"}%b%b" % (separator, records[0][: records[0].find(b":") + 1])

    def of_array(self, data: bytes) -> tuple[Ints, Ints, Alike] | None:
        """Where the elements begin and end with which `data` begins, and which another follows, if all of them are alike."""
        separator = self._separator
        if not self._known or not separator:
            return None
        every = self._known[0].commas + 1
        commas = _commas(data)
        stops = commas[every - 1 :: every] - separator.find(b",")
        stops = stops[stops + len(separator) <= len(data)]
        if len(stops) < _COMPANY or not are_at(data, stops, separator):
            return None
        starts = np.append(0, stops[:-1] + len(separator))
        found = self._alike(data, commas, starts, stops, (len(stops) - 1) * sum(map(_SPACE.__gt__, separator)))
        return (starts, stops, found) if found else None

    def cut(self, data: bytes) -> tuple[Ints, Ints] | None:
        """Where elements may begin and end, by what stood between those before them: no text is looked for, so that each is
        yet to be tried. Of what follows the last one that is cut off so nothing is said."""
        if not self._between:
            return None
        sizes = [len(part) for part in data.split(self._between)[:-1]]
        if not sizes:
            return None
        first = len(self._between) - len(self._separator) - 1  # of the bytes that are looked for, those of the next element
        stops = np.cumsum([size + len(self._between) for size in sizes]) - len(self._separator) - first
        return np.append(0, stops[:-1] + len(self._separator)), stops

    def of_lines(self, data: bytes, starts: Ints, stops: Ints) -> Alike | None:
        """The records from `starts` to `stops`, with nothing but line ends between them, if all of them are alike."""
        if len(starts) < _COMPANY:
            return None
        return self._alike(data, _commas(data), starts, stops, int((starts[1:] - stops[:-1]).sum()))

    def _alike(self, data: bytes, commas: Ints, starts: Ints, stops: Ints, between: int) -> Alike | None:
        for template in self._known[:2]:
            found = alike(data, commas, starts, stops, between, template)
            if found:
                if template is not self._known[0] or not (template.settled or self._settlements):
                    self._settle(template, found)
                return found
        return None

    def _settle(self, template: Template, found: Alike) -> None:
        """Expect of the next records what is the same in all of these, unless that was wrong too often."""
        self._settlements += 1
        others = [known for known in self._known if not known.settled and known is not template]
        settled = [found.settled()] if self._settlements < _MOST_SETTLEMENTS else []
        self._known = [*settled, template, *others]

    def of_some(
        self, data: bytes, starts: Ints, stops: Ints, decoded: Callable[[list[bytes]], Records | None]
    ) -> Records | None:
        """The values from `starts` to `stops`, if some are alike; `decoded` gives the others, or None where it cannot."""
        parts: list[Records] = []
        rows: list[Ints] = []
        waiting = np.arange(len(starts))
        for template in self._known:
            rows_alike = waiting[are_alike(data, starts[waiting], stops[waiting], template)]
            if len(rows_alike) < _COMPANY:
                continue
            written = parts_of(data, starts[rows_alike], stops[rows_alike])
            is_plain = np.array([b"\\" not in record for record in written])
            together = b"\n".join([record for record in written if b"\\" not in record])
            ends = np.cumsum((stops - starts)[rows_alike[is_plain]] + 1) - 1
            found = len(ends) and alike(
                together, _commas(together), np.append(0, ends[:-1] + 1), ends, len(ends) - 1, template
            )
            if found:
                parts.append(found)
                rows.append(rows_alike[is_plain])
                waiting = np.setdiff1d(waiting, rows[-1], assume_unique=True)
        if not parts:
            return None
        if len(waiting):
            others = decoded(parts_of(data, starts[waiting], stops[waiting]))
            if others is None:
                return None
            if len(waiting) >= _COMPANY:
                self.learn(parts_of(data, starts[waiting], stops[waiting]))
            parts.append(others)
            rows.append(waiting)
        return Mixed(parts, np.argsort(np.concatenate(rows)))
