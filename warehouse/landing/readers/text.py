"""Text from strangers, for ingestors: lines with their exact bytes, numbers only where they are numbers, and an issue
report.

Bytes that are not UTF-8 are kept apart while offsets are computed (surrogateescape) and replaced when they land.
"""

from __future__ import annotations

import math
import mmap
import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from warehouse.landing.rows import RowBuffer

MAX_KEY_CHARACTERS = 256
MAX_VALUE_CHARACTERS = 4096
MAX_LINE_BYTES = 16 << 20  # the longest line in real logs, a list of sample indices, is some megabytes
_PIECE_BYTES = 32 << 10  # that is looked at first: the file may end soon
_LARGEST_PIECE_BYTES = 2 << 20  # of half the size, what is done once a piece takes a tenth of the time
MAX_ISSUES = 20  # of one code in one file: a binary file under a log's name must not fill the table
_NEWLINE = ord("\n")
_FEW_BYTES = 4 << 10
_COUNTED_BYTES = 128 << 10  # at once: so much, and what is found of it, stays in a core's own cache
_NOT_ZERO = re.compile(r"[+-]?[0.]*[1-9]")
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_NON_FINITE = re.compile(r"[+-]?(?:nan|inf(?:inity)?)", re.IGNORECASE | re.ASCII)
_NOT_TEXT = re.compile("[\ud800-\udfff]")

Data = bytes | mmap.mmap


class Located(Protocol):
    """What has a place in a file: offset and length in bytes, and a line number from 1 where the file has lines."""

    @property
    def offset(self) -> int: ...

    @property
    def length(self) -> int: ...

    @property
    def line_number(self) -> int | None: ...


class Place(NamedTuple):
    """A place by itself."""

    offset: int
    length: int
    line_number: int | None = None


class Entry(NamedTuple):
    """One key and value, and the exact bytes that state them."""

    offset: int
    length: int
    line_number: int | None
    key: str
    value: str | None
    number: float | None
    logged_ms: float | None = None  # of a line that states when it was written
    is_error: bool = False  # of a line that its writer marks as an error


class Line(NamedTuple):
    number: int
    offset: int
    data: bytes

    @property
    def length(self) -> int:
        return len(self.data)

    @property
    def line_number(self) -> int:
        return self.number


class Piece(NamedTuple):
    """Whole lines that follow one another: the place of the first in the file and its number, and where each begins and ends
    in `data`, without its newline."""

    offset: int
    number: int
    data: bytes
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]

    @property
    def text(self) -> NDArray[np.uint8]:
        return np.frombuffer(self.data, np.uint8)


class Report:
    """Files the issues of one file, at most `MAX_ISSUES` of a code and severity: many notes must not hide an error."""

    def __init__(self, buffer: RowBuffer, raw_path: str, run_id: str | None) -> None:
        self._buffer, self._raw_path, self._run_id = buffer, raw_path, run_id
        self._counts: Counter[tuple[str, str]] = Counter()

    def __call__(
        self, code: str, message: str, offset: int = 0, length: int = 0, line_number: int | None = None,
        severity: str = "warning",
    ) -> None:
        self._counts[code, severity] += 1
        if self._counts[code, severity] > MAX_ISSUES:
            return
        if self._counts[code, severity] == MAX_ISSUES:
            message += f" (further {code} of this file are not listed)"
        self._buffer.issue(
            code, clean(message), self._raw_path, offset, length,
            severity=severity, line_number=line_number, run_id=self._run_id,
        )

    def has(self, code: str) -> bool:
        """Whether an issue of this code was reported of the file."""
        return any(found == code for found, _ in self._counts)

    def at(self, code: str, message: str, place: Located, severity: str = "warning") -> None:
        self(code, message, place.offset, place.length, place.line_number, severity)

    def flag(self, place: Located, severity: str = "error") -> Callable[[str, str], None]:
        """What files an issue at a place, given its code and message: for a `Record`."""
        return lambda code, message: self.at(code, message, place, severity)


def lines(data: Data, report: Report, *, start: tuple[int, int] = (0, 1)) -> Iterator[Line]:
    """The lines that are not blank, without their line ends. `start` is the byte offset and line number of `data` in its
    file, when it is a part of one."""
    first, number = start
    position, end = 0, len(data)
    while position < end:
        stop = data.find(b"\n", position)
        stop = end if stop < 0 else stop
        if stop - position > MAX_LINE_BYTES:
            report("line-too-long", f"{stop - position} bytes", first + position, stop - position, number, "error")
        else:
            line = data[position:stop].rstrip(b"\r")
            if line and not line.isspace():
                yield Line(number, first + position, line)
        number += 1
        position = stop + 1


def pieces(data: Data, report: Report) -> Iterator[Piece]:
    """All lines of a file, many at a time; one longer than `MAX_LINE_BYTES` is reported and left out."""
    position, number, size = 0, 1, _PIECE_BYTES
    while position < len(data):
        stop = len(data) if len(data) - position <= size else data.rfind(b"\n", position, position + size) + 1
        if not stop:  # a line longer than the piece
            end = data.find(b"\n", position + size)
            stop = end + 1 or len(data)
            if (length := (stop if end < 0 else end) - position) > MAX_LINE_BYTES:
                report("line-too-long", f"{length} bytes", position, length, number, "error")
                position, number = stop, number + 1
                continue
        piece = bytes(data[position:stop])
        ends = np.flatnonzero(np.frombuffer(piece, np.uint8) == _NEWLINE)
        if piece[-1] != _NEWLINE:
            ends = np.append(ends, len(piece))
        yield Piece(position, number, piece, np.append(0, ends[:-1] + 1), ends)
        position, number, size = stop, number + len(ends), min(4 * size, _LARGEST_PIECE_BYTES)


def decoded(line: Line, report: Report) -> str:
    """The line's text, with undecodable bytes as lone surrogates, which `clean` replaces; they are reported."""
    try:
        return line.data.decode()
    except UnicodeDecodeError as error:
        report.at("invalid-utf8", f"{error.reason} at byte {error.start} of the line", line)
        return line.data.decode(errors="surrogateescape")


def not_utf8(data: Data, stop: int) -> Iterator[tuple[int, str]]:
    """The places before `stop` at which some bytes are no UTF-8, and why."""
    offset, stop = 0, min(stop, len(data))
    while offset < stop:
        part = bytes(data[offset : offset + _LARGEST_PIECE_BYTES])
        try:
            part.decode()
            offset += len(part)
        except UnicodeDecodeError as error:
            place = offset + error.start
            is_cut = error.end == len(part) and offset + len(part) < len(data)  # by the part's end alone
            if not is_cut and place < stop:
                yield place, error.reason
            offset = place if is_cut else offset + error.end


def count_of(byte: bytes, data: Data, start: int = 0, stop: int | None = None) -> int:
    """How often a byte occurs in `data`, or a part of it, by numpy: `bytes.count` looks at one after the other, and takes four
    times as long, but of a short part."""
    if (len(data) if stop is None else stop) - start < _FEW_BYTES:
        return bytes(data[start:stop]).count(byte)
    text = np.frombuffer(data, np.uint8)[start:stop]
    steps = range(0, len(text), _COUNTED_BYTES)
    return sum(int(np.count_nonzero(text[step : step + _COUNTED_BYTES] == ord(byte))) for step in steps)


def report_cut(data: Data, report: Report) -> None:
    """Report a text whose last line has no end: its writer ends every line, so that the file may have been cut."""
    if len(data) and data[-1:] != b"\n":
        report("no-line-end", "the last line has no end: the file may have been cut", len(data), severity="note")


def clean(text: str) -> str:
    """`text` as valid Unicode; also for the lone surrogates that JSON escapes can smuggle in."""
    return text if text.isascii() else _NOT_TEXT.sub("\ufffd", text)


def landed_text(text: str) -> str | None:
    return clean(text) if len(text) <= MAX_VALUE_CHARACTERS else None


def number_in(text: str) -> float | None:
    """The number, if the text is exactly one finite number."""
    if len(text) > 400 or not _NUMBER.fullmatch(text):
        return None
    number = float(text)
    return number if math.isfinite(number) else None


def loss_of(text: str) -> str | None:
    """What a number as written loses as a double: it is `too large`, `too small` to differ from zero, or an integer that is `not exact`. None:
    nothing but the rounding that fractions have."""
    if not _NUMBER.fullmatch(text):
        return None
    number = abs(float(text))
    if 0 < number < 2**53:
        return None
    if math.isinf(number):
        return "too large"
    if not number:
        return "too small" if _NOT_ZERO.match(text) else None
    return "not exact" if text.lstrip("+-").isdigit() and int(text.lstrip("+-")) != int(number) else None


def kept_number(number: float, text: str, name: str, place: Located, report: Report) -> float | None:
    """The number that a text is. One that a double cannot tell from zero is missing; an integer with too many digits is the nearest double. Both
    are reported."""
    loss = loss_of(text.strip())
    if loss == "too small":
        report.at("too-small", f"{name[:80]}: {text[:80]} cannot be told from zero and is NULL", place, "error")
        return None
    if loss == "not exact":
        report.at("not-exact", f"{name[:80]}: {text[:80]} has more digits than a double holds and is stored as {number:.0f}", place)
    return number


def whole(number: float | None) -> int | None:
    """The number as an integer, where it is one that a double holds exactly."""
    return int(number) if number is not None and number.is_integer() and abs(number) < 2**53 else None


def exact_number(number: float) -> int | float:
    """The number as a document states it: 16, not 16.0."""
    integer = whole(number)
    return number if integer is None else integer


def is_non_finite(text: str) -> bool:
    """Whether the text is a number that has no finite value: nan, inf, 1e999."""
    return bool(_NON_FINITE.fullmatch(text)) or (bool(_NUMBER.fullmatch(text)) and number_in(text) is None)
