"""JSON from strangers, for ingestors: every value with the exact bytes that state it, numbers as written, and an issue for
what standard JSON does not have (duplicate keys, NaN, infinities, text after the end).

A document is walked pair by pair, so that a broken one still yields what comes before the break. Its depth is bounded by
the interpreter's recursion limit: what is nested deeper is malformed.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

from warehouse.landing.readers.json_numbers import mended
from warehouse.landing.readers.text import MAX_KEY_CHARACTERS, Entry, Report, clean, landed_text, loss_of, number_in

_BLANK = re.compile(r"[\s\ufeff]*")
# A pair whose value is a scalar without escapes, as most are: one match takes the place of five steps of the walk.
_PLAIN_PAIR = re.compile(
    r"""[\s\ufeff]*+("[^"\\\x00-\x1f]*+")[\s\ufeff]*+:[\s\ufeff]*+"""
    r"""(?:("[^"\\\x00-\x1f]*+")|(-?(?:0|[1-9][0-9]{0,300}+))"""
    r"""|(-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++(?:[eE][+-]?[0-9]++)?|[eE][+-]?[0-9]++))|(null|true|false))(?=[\s\ufeff,}])"""
)
_REST_OF_CUT = re.compile(r"(?:\.|[eE][+-]?)?\Z")
CUT_NUMBER = "the text ends with a number, which may not be whole"
_LITERALS = {"null": None, "true": True, "false": False}


class Written(float):
    """A float that remembers how it was written: the text lands beside the number."""

    __slots__ = ("text",)
    text: str

    def __new__(cls, text: str) -> "Written":
        number = super().__new__(cls, text)
        number.text = text
        return number


class Json:
    """A JSON decoder that keeps numbers as written and remembers the duplicate keys it met."""

    def __init__(self) -> None:
        self.duplicates: list[str] = []
        self._decoder = json.JSONDecoder(
            object_pairs_hook=partial(noted_object, self.duplicates), parse_float=Written, parse_constant=Written
        )
        self.value = self._decoder.decode
        self.value_at = self._decoder.raw_decode


def noted_object(duplicates: list[str], pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A decoded object; keys that occur twice in it are added to `duplicates`."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        duplicates += sorted({name for name in names if names.count(name) > 1})
    return found


def is_cut_number(value: Any, text: str, stop: int) -> bool:
    """Whether `text` ends within a number: with the one that `stop` is behind, or what such a number goes on with. It may have been
    longer, so what is there is no value."""
    return _REST_OF_CUT.match(text, stop) is not None and isinstance(value, (int, float)) and not isinstance(value, bool)


def json_text(value: Any) -> str | None:
    """A JSON value as text: strings unquoted, numbers as written, objects and arrays as JSON, null as None."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, Written):
        return value.text
    try:
        return json.dumps(value, ensure_ascii=False)
    except (ValueError, RecursionError):
        return None


def whole_number(digits: str) -> int | float:
    """An integer as JSON has it; with more digits than the interpreter takes, infinite, as it would be as a double."""
    try:
        return int(digits)
    except ValueError:
        return float(digits)


def json_number(value: Any) -> float | None:
    """The finite number a JSON value is or contains; a boolean is not a number. One that a double cannot tell from zero (1e-400) is none."""
    if isinstance(value, str) or isinstance(value, Written) and not value:
        text = value if isinstance(value, str) else value.text
        number = number_in(text)
        return None if number == 0 and loss_of(text) else number
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def is_lost_number(value: Any) -> bool:
    """A JSON number that a double does not hold (NaN, Infinity, 1e999, 1e-400)."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and json_number(value) is None


def lost_code(value: Any) -> str:
    """The code of the issue of such a number."""
    return "too-small" if isinstance(value, Written) and not value else "non-finite-number"


class Element(NamedTuple):
    """A value of a JSON document and the exact bytes that state it. `key` is None for an element of an array."""

    offset: int
    length: int
    line_number: int
    key: str | None
    value: Any


def json_entries(data: bytes, report: Report, *, scalars_only: bool = False) -> Iterator[Entry]:
    """One entry for each key of the object `data` is, in the order of the document; a key that occurs twice gives two entries. Objects
    and arrays within it are values."""
    for element in json_pairs(data, report):
        if scalars_only and isinstance(element.value, (dict, list)):
            continue
        assert element.key is not None
        if is_lost_number(element.value):
            report.at(lost_code(element.value), element.key[:120], element, "error")
        value = json_text(element.value)
        key = element.key[:MAX_KEY_CHARACTERS]
        yield Entry(*element[:3], key, None if value is None else landed_text(value), json_number(element.value))


def json_pairs(data: bytes, report: Report, *, depth: int = 1, start: tuple[int, int] = (0, 1)) -> Iterator[Element]:
    """The pairs of the object `data` is, each with its decoded value and the place of `"key": value`.

    An object within it is a value, or, down to `depth` levels, walked too: its keys are named by their path, `a/b`. Arrays are
    values. `start` is the byte offset and line number of `data` in its file, if it is a part of one, such as a line.
    """
    walk = _Walk(data, report, start)
    seen: set[str] = set()
    for element in walk.elements(walk.object("", depth)):
        if element.key in seen:
            report.at("duplicate-json-key", str(element.key)[:120], element)
        seen.add(str(element.key))
        yield element


def json_elements(data: bytes, report: Report, *, start: tuple[int, int] = (0, 1)) -> Iterator[Element]:
    """The elements of the array `data` is, in order."""
    walk = _Walk(data, report, start)
    return walk.elements(walk.array())


class _Value(NamedTuple):
    key: str | None
    value: Any
    start: int  # characters
    stop: int


class _Walk:
    """A cursor in a document's text."""

    def __init__(self, data: bytes, report: Report, start: tuple[int, int]) -> None:
        self._report = report
        self._start = start
        self._text = self._decoded(data)
        self._decoder = Json()
        self._position = 0

    def _decoded(self, data: bytes) -> str:
        data = mended(data, self._report, self._start)
        try:
            return data.decode()
        except UnicodeDecodeError as error:
            offset, line_number = self._start
            line_number += data.count(b"\n", 0, error.start)
            self._report("invalid-utf8", f"{error.reason} at byte {error.start}", offset + error.start, 1, line_number)
            return data.decode(errors="surrogateescape")

    def elements(self, values: Iterator[_Value]) -> Iterator[Element]:
        """`values` with their places; then what breaks the document, and what follows its end, is reported."""
        places = _Places(self._text, *self._start)
        try:
            for value in values:
                offset, line_number = places(value.start)
                length = places(value.stop)[0] - offset
                for name in self._decoder.duplicates:
                    message = f"{value.key[:80]}: {name[:80]}" if value.key else name[:80]
                    self._report("duplicate-json-key", message, offset, length, line_number)
                self._decoder.duplicates.clear()
                yield Element(offset, length, line_number, None if value.key is None else clean(value.key), value.value)
            if self._next():
                raise ValueError("text after the end of the document")
        except (ValueError, RecursionError) as error:
            offset, line_number = _Places(self._text, *self._start)(self._position)
            self._report("malformed-json", str(error)[:200], offset, 0, line_number, "error")

    def object(self, path: str, depth: int) -> Iterator[_Value]:
        """The pairs of the object at the cursor, each from its key's first character to its value's last."""
        if self._opened("{", "}"):
            while True:
                if plain := _PLAIN_PAIR.match(self._text, self._position):
                    self._position = plain.end()
                    yield _Value(path + plain[1][1:-1], _plain_value(plain), plain.start(1), plain.end())
                    if self._closed("}"):
                        break
                    continue
                self._expect('"')
                start = self._position
                name = path + self._value()
                self._expect(":")
                self._position += 1
                if depth > 1 and self._next() == "{":
                    yield from self.object(f"{name}/", depth - 1)
                else:
                    yield _Value(name, self._value(), start, self._position)
                if self._closed("}"):
                    break

    def array(self) -> Iterator[_Value]:
        """The elements of the array at the cursor."""
        if self._opened("[", "]"):
            while True:
                self._next()
                start = self._position
                yield _Value(None, self._value(), start, self._position)
                if self._closed("]"):
                    break

    def _next(self) -> str:
        """The next character that is not blank; the cursor is put on it. Empty at the end."""
        blank = _BLANK.match(self._text, self._position)
        assert blank
        self._position = blank.end()
        return self._text[self._position : self._position + 1]

    def _expect(self, *marks: str) -> str:
        mark = self._next()
        if mark not in marks:
            raise ValueError(f"expected {' or '.join(marks)}")
        return mark

    def _value(self) -> Any:
        self._next()
        value, stop = self._decoder.value_at(self._text, self._position)
        if is_cut_number(value, self._text, stop):
            raise ValueError(CUT_NUMBER)
        self._position = stop
        return value

    def _opened(self, opening: str, closing: str) -> bool:
        """Step over the opening bracket; over the closing one, too, when nothing is between them."""
        self._expect(opening)
        self._position += 1
        if self._next() != closing:
            return True
        self._position += 1
        return False

    def _closed(self, closing: str) -> bool:
        if self._text.startswith(",", self._position):  # no blanks, as mostly
            self._position += 1
            return False
        mark = self._expect(",", closing)
        self._position += 1
        return mark == closing


def _plain_value(pair: re.Match[str]) -> Any:
    """The value of a `_PLAIN_PAIR`, as the decoder gives it."""
    _, text, integer, number, literal = pair.groups()
    if text is not None:
        return text[1:-1]
    if integer is not None:
        return int(integer)
    return _LITERALS[literal] if number is None else Written(number)


class _Places:
    """Byte offset and line number of ever later characters, counted once."""

    def __init__(self, text: str, offset: int, line_number: int) -> None:
        self._text, self._character, self._offset, self._line = text, 0, offset, line_number
        self._is_plain = text.isascii() and "\n" not in text  # as JSON lines mostly are

    def __call__(self, character: int) -> tuple[int, int]:
        if self._is_plain:
            return self._offset + character, self._line
        between = self._text[self._character : character]
        self._offset += len(between) if between.isascii() else len(between.encode(errors="surrogateescape"))
        self._line += between.count("\n")
        self._character = character
        return self._offset, self._line
