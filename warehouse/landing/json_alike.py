"""JSON objects that were written alike, all of a block at once: without an object for each value, and without a parser.

A tool writes its records by one line of code: between their scalars stands the same text. One of them is read with care and
gives that text, its template; of the others is proven, by comparing bytes, that they are the template with other scalars in
its holes. Then each of them is one JSON object, with the template's keys, each once; and a column is the texts in one hole.

What proves it: as many commas, and between two of them the template's text before and behind a hole; each hole holds what
JSON has as a number, a literal or a text without escapes; and there is no other quote, backslash or control character.
"""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
import pyarrow as pa

from warehouse.landing import columns
from warehouse.landing.json_records import ABSENT, Path, Records
from warehouse.landing.json_template import Template
from warehouse.landing.numbers_at import (
    Bools,
    Bytes,
    Floats,
    Ints,
    are_at,
    floats_at,
    has_open_point,
    is_at,
    is_digit,
    is_plain_number,
    parts,
    parts_of,
)

_EXACT, _EXACT_DIGITS = 2**53, 16  # integers that a double holds
_LITERALS = {b"null": None, b"true": True, b"false": False}
_COMMA, _QUOTE, _SPACE = (ord(mark) for mark in '," ')
_NULL, _LITERAL, _TEXT, _NUMBER, _ODD = range(5)
_BEGINS = np.full(256, _ODD, np.uint8)  # what begins with a byte
_BEGINS[[*b"-0123456789"]] = _NUMBER
_BEGINS[_QUOTE] = _TEXT


class Alike(Records):
    """Records that are a template with scalars in its holes: where these begin and end in `data`, a row a hole."""

    def __init__(
        self, data: bytes, template: Template, starts: Ints, stops: Ints, kinds: Bytes,
        numbers: tuple[Ints, Floats],
    ) -> None:
        self._data, self._template, self._starts, self._stops, self._kinds = data, template, starts, stops, kinds
        self._begun, self._numbers = numbers  # of all holes, as they follow one another: where they begin, and what they are
        self._holes = {path: hole for hole, path in enumerate(template.paths) if path is not None}

    def __len__(self) -> int:
        return int(self._starts.shape[1])

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

    def numbers(self, *path: str) -> Floats | None:
        hole = self._holes.get(path)
        if hole is None:
            return super().numbers(*path)
        kinds = self._kinds[hole]
        is_number = kinds == _NUMBER
        if not (is_number | (kinds == _NULL)).all():
            return None
        if is_number.all():
            return self._read(hole).copy()
        found = np.full(len(self), np.nan)
        found[is_number] = self._numbers[np.searchsorted(self._begun, self._starts[hole][is_number])]
        return found

    def _read(self, hole: int) -> Floats:
        """What stands in a hole of numbers."""
        are_numbers: list[bool] = (self._kinds[:, 0] == _NUMBER).tolist()
        step = sum(are_numbers)
        if len(self._numbers) == step * len(self) and (self._begun[sum(are_numbers[:hole]) :: step] == self._starts[hole]).all():
            return self._numbers[sum(are_numbers[:hole]) :: step]  # every record has as many
        found: Floats = self._numbers[np.searchsorted(self._begun, self._starts[hole])]
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
            found = self._read(hole)
            is_exact = (found == np.floor(found)) & (np.abs(found) < _EXACT)
            return pa.array(found.astype(np.int64)) if is_exact.all() else None
        try:
            cast = parts(np.frombuffer(self._data, np.uint8), starts, stops).cast(pa.int64())
        except pa.ArrowInvalid:
            return None
        return pa.array(np.frombuffer(cast.buffers()[1], np.int64)[: 2 * len(starts) : 2])


def _decoded(data: bytes, starts: Ints, stops: Ints) -> list[Any]:
    found: list[Any] = msgspec.json.decode(b"[%b]" % b",".join(parts_of(data, starts, stops)))
    return found


def alike(data: bytes, commas: Ints, starts: Ints, stops: Ints, between: int, template: Template) -> Alike | None:
    """The records from `starts` to `stops`, which follow one another, by all `commas` in the data; None where one of them is
    not proven to be of the template. Between them stands what the caller knows: `between` control characters in all, and no
    quotes."""
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
    commas = commas_in(data)
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


def commas_in(data: bytes) -> Ints:
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


def _kinds(data: bytes, text: Bytes, begins: Ints, ends: Ints) -> Bytes:
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


def _numbers(text: Bytes, begins: Ints, ends: Ints, is_number: Bools) -> tuple[Ints, Floats] | None:
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
