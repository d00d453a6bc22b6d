"""The records of a result file and the bytes of their pairs, without decoding what is not used.

A record is an object with a run's numbers, and in a detailed file arrays of megabytes, which are stepped over at the speed of
a search. A file holds one record, several on after another (the tools append), or a list of them, which may be the only value of
an object (`{"results": [...]}`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from warehouse.landing.readers.json_text import Json
from warehouse.landing.readers.text import Data, Report, clean, count_of

_SCALARS = Json()
MAX_PAIRS = 2_000  # of one record; real ones have under a hundred
_BLANK = re.compile(rb"[ \t\r\n]*+")
_BETWEEN = re.compile(rb"(?:\xef\xbb\xbf)?[ \t\r\n,\[\]]*+")  # appended with or without a line end, or elements of a list
_LISTED = re.compile(rb'(?:\xef\xbb\xbf)?[ \t\r\n]*+\{[ \t\r\n]*+"(?:[^"\\]++|\\.)*+"[ \t\r\n]*+:[ \t\r\n]*+(?=\[[ \t\r\n]*+\{)', re.DOTALL)
_LISTED_END = re.compile(rb"[ \t\r\n]*+\}[ \t\r\n]*+\Z")
_TO_BRACKETS = re.compile(rb'(?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+")*+(?:([\[{]++)|([\]}]++))', re.DOTALL)  # outside of texts
# A pair without escapes whose value is a text or a scalar, and what follows it: nearly all pairs, at once.
_PLAIN_PAIR = re.compile(rb'("[^"\\]*+")[ \t\r\n]*+:[ \t\r\n]*+("[^"\\]*+"|[^ \t\r\n,\[\]{}":]++)[ \t\r\n]*+([,}])')
_SHORT_KEY = 100  # bytes
_SCALAR = re.compile(rb'[^ \t\r\n,\[\]{}":]++')
_AFTER_NUMBERS = re.compile(rb"[ \t\r\n]*+(?:,[ \t\r\n]*+|\}[ \t\r\n]*+(?:,?[ \t\r\n]*+\{[ \t\r\n]*+)?)")
_NESTED = re.compile(rb"\[[ \t\r\n]*+\[")
_NESTED_END = re.compile(rb"\][ \t\r\n]*+\]\Z")


class Pair(NamedTuple):
    """A key and the places of `"key": value` and of its value in the file."""

    key: str
    offset: int
    start: int
    stop: int
    line_number: int

    @property
    def length(self) -> int:
        return self.stop - self.offset


class Record(NamedTuple):
    """One object of the file. `is_whole` is false where it breaks off."""

    offset: int
    stop: int
    line_number: int
    pairs: tuple[Pair, ...]
    is_whole: bool

    @property
    def length(self) -> int:
        return self.stop - self.offset


def records(data: Data, report: Report) -> Iterator[Record]:
    """The records of a file. What breaks one is reported, and the search goes on at the next line that begins one."""
    walk = _Walk(data)
    walk.position, end = list_within(data) or (0, len(data))
    while (position := walk.past(_BETWEEN)) < end:
        line_number = walk.line_number(position)
        pairs: list[Pair] = []
        walk.begun = position
        try:
            walk.expect(b"{")
            for pair in walk.pairs():
                if len(pairs) == MAX_PAIRS:
                    raise ValueError(f"more than {MAX_PAIRS} keys")
                pairs.append(pair)
        except ValueError as error:
            report("malformed-json", str(error), walk.position, 0, walk.line_number(walk.position), "error")
            following = data.find(b"\n{", walk.begun)
            walk.position = len(data) if following < 0 else following + 1
            if pairs:
                yield Record(position, walk.position, line_number, tuple(pairs), False)
            continue
        yield Record(position, walk.position, line_number, tuple(pairs), True)


def list_within(data: Data) -> tuple[int, int] | None:
    """The place of a list of objects that is the only value of the object that a file is. One that breaks off ends with the file."""
    opening = _LISTED.match(data)
    if opening is None:
        return None
    try:
        stop = _Walk(data).container_stop(opening.end())
    except ValueError:
        return opening.end(), len(data)
    return (opening.end(), stop) if _LISTED_END.match(data, stop) else None


def first_keys(head: bytes) -> list[str]:
    """The keys of a file's first record, as far as its first bytes go; none where it does not begin as a record."""
    walk = _Walk(head)
    keys: list[str] = []
    walk.position = (list_within(head) or (0,))[0]
    try:
        walk.past(_BETWEEN)
        walk.expect(b"{")
        keys.extend(pair.key for pair in walk.pairs())
    except ValueError:  # the head ends, or it is no JSON
        pass
    return keys


class _Walk:
    """A cursor in a file's bytes."""

    def __init__(self, data: Data) -> None:
        self.position = 0
        self.begun = 0  # where the pair begins that is being read
        self._data = data
        self._counted, self._lines = 0, 1

    def past(self, pattern: re.Pattern[bytes]) -> int:
        found = pattern.match(self._data, self.position)
        assert found
        self.position = found.end()
        return self.position

    def line_number(self, position: int) -> int:
        """The 1-based line of ever later positions, counted once."""
        if self._counted < position:
            self._lines += count_of(b"\n", self._data, self._counted, position)
            self._counted = position
        return self._lines

    def expect(self, *marks: bytes) -> bytes:
        """Step over one of `marks` and the blanks before it."""
        self.past(_BLANK)
        mark = self._data[self.position : self.position + 1]
        if mark not in marks:
            raise ValueError(f"expected {' or '.join(mark.decode() for mark in marks)}")
        self.position += 1
        return mark

    def pairs(self) -> Iterator[Pair]:
        """The pairs of the object whose opening bracket was just passed, its closing one included."""
        self.past(_BLANK)
        if self._data[self.position : self.position + 1] == b"}":
            self.position += 1
            return
        while True:
            self.past(_BLANK)
            offset = self.begun = self.position
            if plain := _PLAIN_PAIR.match(self._data, offset):
                self.position = plain.end(2)
                yield Pair(key_text(plain[1]), offset, plain.start(2), plain.end(2), self.line_number(offset))
                self.position = plain.end()
                if plain[3] == b"}":
                    return
                continue
            if self._data[offset : offset + 1] != b'"':
                raise ValueError("expected a key")
            self.position = self._string_stop(offset)
            key = self._data[offset : self.position]
            self.expect(b":")
            start = self.past(_BLANK)
            line_number = self.line_number(offset)
            self.position = self._value_stop(start)
            yield Pair(key_text(key), offset, start, self.position, line_number)
            if self.expect(b",", b"}") == b"}":
                return

    def _value_stop(self, start: int) -> int:
        first = self._data[start : start + 1]
        if first == b'"':
            return self._string_stop(start)
        if first in (b"[", b"{"):
            return self._numbers_stop(start) or self.container_stop(start)
        scalar = _SCALAR.match(self._data, start)
        if not scalar:
            raise ValueError("expected a value")
        if scalar.end() == len(self._data):
            raise ValueError("the file ends with a value, which may not be whole")
        return scalar.end()

    def _string_stop(self, start: int) -> int:
        stop = start
        while (stop := self._data.find(b'"', stop + 1)) >= 0:
            before = stop
            while self._data[before - 1 : before] == b"\\":
                before -= 1
            if (stop - before) % 2 == 0:
                return stop + 1
        raise ValueError("a text has no end")

    def _numbers_stop(self, start: int) -> int | None:
        """The end of an array without texts: the last bracket before the next key. None where that is not sure."""
        quote = self._data.find(b'"', start)
        stop = self._data.rfind(b"]", start, quote if quote >= 0 else len(self._data)) + 1
        if not stop or self._data[start : start + 1] != b"[":
            return None
        after = _AFTER_NUMBERS.match(self._data, stop)
        if not after or after.end() not in (quote, len(self._data)):
            return None
        if _NESTED.match(self._data, start):
            return stop if _NESTED_END.search(self._data[max(start, stop - 64) : stop]) else None
        return stop if self._data.find(b"[", start + 1, stop) < 0 else None

    def container_stop(self, start: int) -> int:
        """The end of any array or object, by counting brackets outside of texts."""
        depth, position = 0, start
        while found := _TO_BRACKETS.match(self._data, position):
            position = found.end()
            if found[1]:
                depth += len(found[1])
            elif len(found[2]) < depth:
                depth -= len(found[2])
            else:
                return found.start(2) + depth
        raise ValueError("an array or object has no end")


def key_text(written: bytes) -> str:
    """A key as text. Raises `ValueError` when it is no JSON string."""
    return _known_key(written) if len(written) <= _SHORT_KEY else clean(str(scalar(written)))


@lru_cache(maxsize=4096)  # files of one tool have the same keys
def _known_key(written: bytes) -> str:
    return clean(str(scalar(written)))


def scalar(written: bytes) -> Any:
    """A value that is neither object nor array. Raises `ValueError` when it is no JSON."""
    return _SCALARS.value(written.decode(errors="surrogateescape"))
