"""JSON as a tree of values, each with the bytes that state it. Deep nesting is refused, and a document that breaks says where."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from warehouse.landing.readers.json_numbers import mended
from warehouse.landing.readers.text import Report, clean

MAX_DEPTH = 64
_WS = rb"[ \t\r\n]*+"
_TEXT = rb'"(?:[^"\\\x00-\x1f]++|\\.)*+"'
_NUMBER = rb"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?"
_BLANK = re.compile(_WS)
_KEY = re.compile(_WS + b"(" + _TEXT + b")" + _WS + b":" + _WS)
_SCALAR = re.compile(b"(" + _TEXT + b")|(" + _NUMBER + b")|(true|false|null)|(NaN|-?Infinity)")
_END = re.compile(_WS + rb"([,}\]])" + _WS)
_PAIR = re.compile(_KEY.pattern + b"(?:(" + _TEXT + b")|(" + _NUMBER + b")|(true|false|null))" + _END.pattern)  # as most are: read at once
_NUMBERS = re.compile(rb"\[" + _WS + _NUMBER + b"(?:" + _WS + b"," + _WS + _NUMBER + b")*+" + _WS + rb"\]")
_EACH_NUMBER = re.compile(_NUMBER)
_LITERALS = {b"true": True, b"false": False, b"null": None}


class Number(str):
    """A number as it is written."""

    __slots__ = ()


class NoNumber(str):
    """A text that looks like a number, but not as the file writes them: `1.5` where a point stands between groups of three digits."""

    __slots__ = ()


class Measured(str):
    """The number of a text such as `1.5 ms`, and the unit that it states."""

    __slots__ = ("unit",)
    unit: str

    def __new__(cls, number: str, unit: str) -> "Measured":
        found = super().__new__(cls, number)
        found.unit = unit
        return found


class Node(NamedTuple):
    """A value and its bytes. The value is a text, a `Number`, a boolean, None, a dict of nodes, a list of nodes, or `Numbers`."""

    value: Any
    start: int
    stop: int

    @property
    def offset(self) -> int:
        return self.start

    @property
    def length(self) -> int:
        return self.stop - self.start

    @property
    def line_number(self) -> int | None:
        return None


_node = partial(tuple.__new__, Node)  # Node((value, start, stop)): half the time of Node(value, start, stop), and most of reading is making them


class Fields(dict[str, Node]):
    """The fields of a line of text, `own`, and what the lines before it stated, each under its name."""

    def __init__(self, before: dict[str, Node], own: dict[str, Node]) -> None:
        super().__init__(before)
        self.update(own)
        self.own = own


class Numbers(NamedTuple):
    """A list of numbers alone, as the bytes that state it: samples are many."""

    text: bytes
    start: int

    def nodes(self) -> list[Node]:
        text, start = self.text.decode(), self.start
        spans = [found.span() for found in _EACH_NUMBER.finditer(self.text)]
        return [_node((Number(text[begin:end]), start + begin, start + end)) for begin, end in spans]


class BrokenError(ValueError):
    """What breaks a document, and where."""

    def __init__(self, message: str, position: int) -> None:
        super().__init__(message)
        self.position = position


class Parser:
    """Reads JSON. `root` is what was read of a document before it broke, with what was read of its last element if `keeps_open`; `duplicates` are
    the keys that occurred twice in one object."""

    def __init__(self, data: bytes, start: int = 0, *, keeps_open: bool = False) -> None:
        self._data, self._start = data, start
        self._keeps_open = keeps_open
        self._attach: Callable[[Node], None] | None = None  # the object or array that is read next to the one that it is in
        self.root: Node | None = None
        self.duplicates: list[tuple[str, int]] = []
        self.undecodable: list[int] = []

    def document(self) -> Node:
        """The one value that the data is. Raises `BrokenError`."""
        position = self._blank(3 if self._data.startswith(b"\xef\xbb\xbf") else 0)
        node, stop = self._value(position, 0)
        if self._blank(stop) < len(self._data):
            raise BrokenError("text after the end of the document", self._start + stop)
        return node

    def _blank(self, position: int) -> int:
        found = _BLANK.match(self._data, position)
        assert found
        return found.end()

    def _value(self, position: int, depth: int) -> tuple[Node, int]:
        if depth > MAX_DEPTH:
            raise BrokenError(f"nested deeper than {MAX_DEPTH} levels", self._start + position)
        mark = self._data[position : position + 1]
        if mark == b"{":
            return self._object(position, depth)
        if mark == b"[":
            if numbers := _NUMBERS.match(self._data, position):
                return self._node(Numbers(numbers[0], self._start + position), position, numbers.end(), depth), numbers.end()
            return self._array(position, depth)
        found = _SCALAR.match(self._data, position)
        if not found:
            raise BrokenError("the document breaks off" if position >= len(self._data) else "not a JSON value", self._start + position)
        text, number, literal, lost = found.groups()
        if text is not None:
            value: Any = self._text(text, position)
        elif literal is not None:
            value = _LITERALS[literal]
        else:
            value = Number((number or lost).decode())
        return self._node(value, position, found.end(), depth), found.end()

    def _node(self, value: Any, start: int, stop: int, depth: int) -> Node:
        node = Node(value, self._start + start, self._start + stop)
        if not depth:
            self.root = node
        elif self._attach is not None:
            self._attach(node)
        self._attach = None
        return node

    def _text(self, text: bytes, position: int) -> str:
        try:
            return text[1:-1].decode() if b"\\" not in text else clean(json.loads(text))
        except UnicodeDecodeError:
            self.undecodable.append(self._start + position)
            return text[1:-1].decode(errors="replace")
        except ValueError as error:
            raise BrokenError(str(error)[:120], self._start + position) from error

    def _object(self, position: int, depth: int) -> tuple[Node, int]:
        found: dict[str, Node] = {}
        self._node(found, position, len(self._data), depth)
        stop = self._blank(position + 1)
        if self._data[stop : stop + 1] != b"}":
            data, start = self._data, self._start
            while True:
                if pair := _PAIR.match(data, stop):
                    raw, text, number, literal, mark = pair.groups()
                    name = self._text(raw, pair.start(1))
                    if name in found:
                        self.duplicates.append((name, start + pair.start(1)))
                    stop = pair.end()
                    if number is not None:
                        begin, end = pair.span(3)
                        found[name] = _node((Number(number.decode()), start + begin, start + end))
                    elif text is not None:
                        begin, end = pair.span(2)
                        found[name] = _node((self._text(text, begin), start + begin, start + end))
                    else:
                        begin, end = pair.span(4)
                        found[name] = _node((_LITERALS[literal], start + begin, start + end))
                    if mark == b"}":
                        stop = pair.start(5)
                        break
                    continue
                key = _KEY.match(data, stop)
                if not key:
                    raise BrokenError("expected a key", self._start + stop)
                name = self._text(key[1], key.start(1))
                if name in found:
                    self.duplicates.append((name, self._start + key.start(1)))
                if self._keeps_open:
                    self._attach = partial(found.__setitem__, name)
                value, stop = self._value(key.end(), depth + 1)
                found[name] = value
                if self._next(stop) == b"}":
                    stop = self._end.start(1)
                    break
                stop = self._end.end()
        return self._node(found, position, stop + 1, depth), stop + 1

    def _array(self, position: int, depth: int) -> tuple[Node, int]:
        found: list[Node] = []
        self._node(found, position, len(self._data), depth)
        stop = self._blank(position + 1)
        if self._data[stop : stop + 1] != b"]":
            while True:
                before = len(found)
                if self._keeps_open:
                    self._attach = found.append
                value, stop = self._value(stop, depth + 1)
                found[before:] = [value]
                if self._next(stop) == b"]":
                    stop = self._end.start(1)
                    break
                stop = self._end.end()
        return self._node(found, position, stop + 1, depth), stop + 1

    def _next(self, position: int) -> bytes:
        found = _END.match(self._data, position)
        if not found:
            is_cut = self._blank(position) >= len(self._data)
            raise BrokenError("the document breaks off" if is_cut else "expected a comma or an end", self._start + position)
        self._end = found
        mark: bytes = found[1]
        return mark


def read_json(data: bytes, report: Report, start: int = 0, line_number: int | None = None) -> Node | None:
    """A document, or None and an issue where it is broken. Numbers that miss a digit (`.5`) are mended, as for all readers of JSON."""
    parser = Parser(data, start)
    try:
        try:
            root = parser.document()
        except BrokenError:
            parser = Parser(mended(data, report, (start, line_number or 1)), start)
            root = parser.document()
    except BrokenError as error:
        line = line_number or data.count(b"\n", 0, error.position - start) + 1
        report("malformed-json", str(error), min(error.position, start + len(data)), 0, line, "error")
        return None
    for name, position in parser.duplicates:
        report("duplicate-json-key", name[:120], position, 0, line_number or data.count(b"\n", 0, position - start) + 1)
    for position in parser.undecodable:
        report("invalid-utf8", "a text is not UTF-8", position, 0, line_number)
    return root


def begun_json(data: bytes) -> Node | None:
    """What the beginning of a document states, for recognition."""
    parser = Parser(data, keeps_open=True)
    try:
        return parser.document()
    except BrokenError:
        return parser.root
