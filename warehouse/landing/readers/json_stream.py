"""JSON too large to hold, for ingestors: a cursor that steps into objects and arrays and decodes one value at a time, each
with its exact bytes. Memory is bounded by the largest single value, not by the file.

    with JsonStream(data, report) as stream:
        for pair in stream.pairs():
            if pair.key == "requests":
                for offset, length, request in stream.objects():
                    ...

What is not stepped into and not decoded is skipped. A document that breaks is reported where it does, and ends there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import partial
from itertools import islice
from types import TracebackType
from typing import Any, NamedTuple

from warehouse.landing.readers import json_records
from warehouse.landing.readers.json_records import Records
from warehouse.landing.readers.json_text import CUT_NUMBER, Written, is_cut_number, noted_object, whole_number
from warehouse.landing.readers.records import Record, shown
from warehouse.landing.readers.text import MAX_ISSUES, Data, Report, clean, not_utf8

MAX_VALUE_BYTES = 16 << 20  # of one value that is decoded whole
_WINDOW_BYTES = 4 << 20
_PIECE_BYTES = 128 << 10  # of an array that is looked at first: it may end soon
_GROWTH = 4
_LARGEST_PIECE_BYTES = 2 << 20
_BLANK = re.compile(r"[ \t\n\r\ufeff]*")
_ASCII_BLANK = re.compile(rb"[ \t\n\r]*")
_OPENING = re.compile(rb'\{[ \t\n\r]*"[^"]*"')  # of an object, and its first key: mostly those of the next one, too
_BETWEEN_ELEMENTS = re.compile(rb"[ \t\n\r]*,[ \t\n\r]*")
# What is between the brackets of a value that is stepped over: one match takes all of it.
_BETWEEN = re.compile(r'(?:[ \t\n\r\ufeff,:]++|"[^"\\\x00-\x1f]*+")*+')


class BrokenJson(ValueError):
    """The document cannot be read on from here."""


class Pair(NamedTuple):
    """A key of an object, and its byte offset."""

    key: str
    offset: int


class Elements(NamedTuple):
    """Elements of an array that follow one another: offsets and lengths in bytes, and their values."""

    offsets: list[int]
    lengths: list[int]
    records: Records


class JsonStream:
    """A cursor over the JSON in `data`. Use as a context: it reports what breaks the document, and goes on without."""

    def __init__(self, data: Data, report: Report) -> None:
        self._data, self._report = data, report
        self._base, self._position = 0, 0  # the window's first byte, and the cursor in its text
        self._bytes, self._is_ascii = b"", True  # the window's, up to what is no UTF-8
        self._characters: str | None = None  # its text, once somebody wants it
        self._is_damaged = self._was_damaged = False  # the window, or any so far, is no UTF-8
        self._counted, self._counted_bytes = 0, 0  # characters of the window whose bytes have been counted
        self._line = (0, 1)  # an offset and its line number, to count on from
        self._duplicates: list[str] = []
        # Not by a method: the cycle would keep each file's windows until the garbage collector comes.
        self._decoder = json.JSONDecoder(object_pairs_hook=partial(noted_object, self._duplicates), parse_int=whole_number, parse_float=Written)
        self._pending = False  # the value at the cursor has not been taken

    def __enter__(self) -> "JsonStream":
        self._fill(0, _WINDOW_BYTES)
        self._pending = True
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        try:
            if error is None and self._pending:
                self.skip()
            if error is None and self._next():
                error = BrokenJson("text after the end of the document")
        except (BrokenJson, RecursionError) as failure:
            error = failure
        if self._was_damaged:
            for place, reason in islice(not_utf8(self._data, self.offset + 1), MAX_ISSUES):
                self._report("invalid-utf8", f"{reason} at byte {place}", place, 1, self.line_number(place))
        if isinstance(error, (BrokenJson, RecursionError)):
            self._report("malformed-json", str(error)[:200], self.offset, 0, self.line_number(self.offset), "error")
            return True
        return False

    @property
    def offset(self) -> int:
        """The cursor, in bytes from the start of `data`."""
        if self._is_ascii:
            return self._base + self._position
        between = self._text[self._counted : self._position]
        self._counted_bytes += len(between) if between.isascii() else len(between.encode(errors="surrogateescape"))
        self._counted = self._position
        return self._base + self._counted_bytes

    def line_number(self, offset: int) -> int:
        """The 1-based line of a byte offset."""
        known, line = self._line if self._line[0] <= offset else (0, 1)
        steps = range(known, offset, _WINDOW_BYTES)
        line += sum(self._data[start : min(start + _WINDOW_BYTES, offset)].count(b"\n") for start in steps)
        self._line = offset, line
        return line

    def kind(self) -> str:
        """The character that the value at the cursor begins with; empty at the end."""
        return self._next()

    def pairs(self) -> Iterator[Pair]:
        """The keys of the object at the cursor, each with the cursor at its value. Nothing, if it is no object."""
        if self._next() != "{":
            self.skip()
            return
        self._step()
        if self._next() == "}":
            self._step()
            return
        seen: set[str] = set()
        while True:
            self._expect('"')
            offset = self.offset
            key = clean(self._decoded())
            if key in seen:
                self._report("duplicate-json-key", key[:120], offset, self.offset - offset, self.line_number(offset))
            seen.add(key)
            self._expect(":")
            self._step()
            self._pending = True
            yield Pair(key, offset)
            if self._pending:
                self.skip()
            if self._expect(",", "}") == "}":
                self._step()
                return
            self._step()

    def elements(self) -> Iterator[int]:
        """The byte offset of each element of the array at the cursor, with the cursor at it. Nothing, if it is no array."""
        if self._next() != "[":
            self.skip()
            return
        self._step()
        if self._next() == "]":
            self._step()
            return
        while True:
            self._next()
            self._pending = True
            yield self.offset
            if self._pending:
                self.skip()
            if self._expect(",", "]") == "]":
                self._step()
                return
            self._step()

    def batches(self) -> Iterator[Elements]:
        """All elements of the array at the cursor, many at a time where they are plain objects of the same first key, else
        one by one, as `elements` and `value` give them."""
        size = _PIECE_BYTES
        for offset in self.elements():
            several = self._several(offset, size)
            if several is None:
                value = self.value()
                several = Elements([offset], [self.offset - offset], Records([value]))
            size = min(_GROWTH * (self.offset - offset), _LARGEST_PIECE_BYTES)
            yield several

    def objects(self) -> Iterator[tuple[int, int, Record]]:
        """(offset, length, what it states) of each object in the array at the cursor; anything else is reported."""
        for several in self.batches():
            yield from self.objects_of(several)

    def objects_of(self, several: Elements) -> Iterator[tuple[int, int, Record]]:
        """The same, of some elements."""
        for offset, length, value in zip(several.offsets, several.lengths, several.records.values, strict=True):

            def flag(code: str, message: str, start: int = offset, size: int = length) -> None:
                self._report(code, message, start, size, self.line_number(start), "error")

            if isinstance(value, dict):
                yield offset, length, Record(value, flag)
            else:
                flag("not-an-object", shown(value))

    def value(self) -> Any:
        """The value at the cursor, decoded; NaN and infinities as floats. Duplicate keys within it are reported."""
        self._next()
        start = self.offset
        self._pending = False
        found = self._decoded()
        if self._duplicates:
            place = (start, self.offset - start, self.line_number(start))
            for name in self._duplicates:
                self._report("duplicate-json-key", name[:120], *place)
            self._duplicates.clear()
        return found

    def _several(self, offset: int, size: int) -> Elements | None:
        """The elements from the cursor on that end in the next `size` bytes, or fewer, where something behind them is not
        plain; the cursor is put after them. None where the first is to be read by itself."""
        start = offset - self._base
        opening = _OPENING.match(self._bytes, start)
        if opening is None:
            return None
        head = opening[0]
        stop = self._bytes.rfind(head, start + len(head), start + size)
        if stop < 0 and start + size > len(self._bytes) and start and not self._is_last and not self._is_damaged:
            self._fill(offset, _WINDOW_BYTES)  # the window's end cuts the element
            start, stop = 0, self._bytes.rfind(head, len(head), size)
        while stop > 0:
            several = self._whole(offset, start, stop)
            if several is not None:
                taken = several.offsets[-1] + several.lengths[-1] - offset
                self._position += taken if self._is_ascii else len(self._bytes[start : start + taken].decode())
                self._counted, self._counted_bytes = self._position, start + taken
                self._pending = False
                return several
            stop = self._bytes.rfind(head, start + len(head), (start + stop) // 2)
        return None

    def _whole(self, offset: int, start: int, stop: int) -> Elements | None:
        """The elements in a part of the window; None where one of them is not plain, or not whole."""
        written = self._bytes[start:stop].rstrip(b" \t\n\r,")
        found = json_records.plain(b"[%b]" % written)
        if found is None:
            return None
        offsets, place = [], 0
        for length in found.lengths:
            offsets.append(offset + place)
            between = _BETWEEN_ELEMENTS.match(written, place + length)
            place = between.end() if between else len(written)
        return Elements(offsets, found.lengths, found.records)

    def skip(self) -> None:
        """Step over the value at the cursor, however large, without holding it."""
        self._pending = False
        open_brackets = bytearray()
        while True:
            if open_brackets and (between := _BETWEEN.match(self._text, self._position)):
                self._position = between.end()
            mark = self._next()
            if mark in ("{", "["):
                open_brackets += b"}" if mark == "{" else b"]"
                self._step()
            elif mark in ("}", "]"):
                if not open_brackets or open_brackets.pop() != ord(mark):
                    raise BrokenJson(f"{mark} closes nothing")
                self._step()
            elif mark in (",", ":") and open_brackets:
                self._step()
            else:
                self._decoded()
            if not open_brackets:
                return

    def _decoded(self) -> Any:
        """Decode the scalar, or the value, at the cursor; the window grows until it holds all of it."""
        self._next()
        size = _WINDOW_BYTES // 2
        while True:
            try:
                found, end = self._decoder.raw_decode(self._text, self._position)
                # A number that ends with the window may go on after it; so may what is decoded of 1.5e+ or 1. there.
                if end + len("e+") < len(self._text) or self._is_last:
                    if is_cut_number(found, self._text, end):
                        raise BrokenJson(CUT_NUMBER)
                    self._position = end
                    return found
            except json.JSONDecodeError as error:
                if self._is_last:
                    raise BrokenJson(error.msg) from error
            self._duplicates.clear()
            size *= 2
            if size > MAX_VALUE_BYTES:
                raise BrokenJson(f"a value of more than {MAX_VALUE_BYTES} bytes")
            self._fill(self.offset, size)

    @property
    def _text(self) -> str:
        if self._characters is None:
            self._characters = self._bytes.decode()
        return self._characters

    @property
    def _is_last(self) -> bool:
        return self._stop >= len(self._data)

    def _fill(self, offset: int, size: int) -> None:
        """Move the window to `offset`, which becomes the cursor."""
        self._stop = min(offset + size, len(self._data))
        part = bytes(self._data[offset : self._stop])
        self._bytes, self._is_ascii, self._characters, self._is_damaged = part, part.isascii(), None, False
        try:
            self._characters = None if self._is_ascii else part.decode()
        except UnicodeDecodeError as error:
            self._bytes = part[: error.start]
            self._characters = part.decode(errors="surrogateescape")
            self._is_damaged = error.end < len(part) or self._is_last  # else the window's end cuts a character
            self._was_damaged = self._was_damaged or self._is_damaged
        self._base, self._position, self._counted, self._counted_bytes = offset, 0, 0, 0

    def _next(self) -> str:
        """The next character that is not blank; the cursor is put on it. Empty at the end."""
        while True:
            blank = _ASCII_BLANK.match(self._bytes, self._position) if self._is_ascii else _BLANK.match(self._text, self._position)
            assert blank
            self._position = blank.end()
            if self._position < len(self._bytes if self._is_ascii else self._text) or self._is_last:
                place = slice(self._position, self._position + 1)
                return self._bytes[place].decode() if self._is_ascii else self._text[place]
            self._fill(self.offset, _WINDOW_BYTES)

    def _step(self) -> None:
        self._pending = False
        self._position += 1

    def _expect(self, *marks: str) -> str:
        mark = self._next()
        if mark not in marks:
            raise BrokenJson(f"expected {' or '.join(marks)}")
        return mark
