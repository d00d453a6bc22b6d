"""Arrays of numbers in a record's bytes: quickly where they are plain, with care where they are not.

What is no finite number is NaN, which no number is, and reported; its neighbours stay in their places.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from warehouse.landing.readers.json_text import json_number
from warehouse.landing.readers.text import Data, Report, clean

from .records import Pair

_PIECE = 1 << 20  # bytes parsed at once
_BLANK = b" \t\r\n"
_ROW, _ROWS = msgspec.json.Decoder(list[float]), msgspec.json.Decoder(list[list[float]])
_END = re.compile(rb"[ \t\r\n,]*+\]\Z")
_TEXT = re.compile(rb'[ \t\r\n,]*+("(?:[^"\\]++|\\.)*+"|[^ \t\r\n,\[\]{}":]++)', re.DOTALL)

Numbers = NDArray[np.float64]


class Gaps(NamedTuple):
    """The rows of an array of arrays: all numbers in one sequence, and how many each row has (None: it is no array)."""

    numbers: Numbers
    counts: Sequence[int | None]


def numbers_in(data: Data, pair: Pair, report: Report) -> Numbers | None:
    """The numbers of the array that is `pair`'s value; None, and an issue, if it is not such an array."""
    if data[pair.start : pair.start + 1] != b"[":
        report.at("not-an-array", pair.key[:120], pair, "error")
        return None
    written = data[pair.start + 1 : pair.stop - 1].strip(_BLANK)
    return _numbers(written, pair, report)


def gaps_in(data: Data, pair: Pair, report: Report) -> Gaps | None:
    """The numbers of an array of arrays, a megabyte at a time; None, and an issue, if it is something else."""
    if data[pair.start : pair.start + 1] != b"[":
        report.at("not-an-array", pair.key[:120], pair, "error")
        return None
    pieces: list[Numbers] = [np.empty(0)]
    counts: list[int | None] = []
    position, end = pair.start + 1, pair.stop - 1
    while (stop := _piece_stop(data, position, end)) > position:
        piece = _plain_rows(data[position:stop]) or _odd_rows(data[position:stop], pair, report)
        if piece is None:
            return _odd_gaps(data, pair, report)
        pieces.append(piece.numbers)
        counts += piece.counts
        position = stop
    if not _END.match(data, position, pair.stop):
        return _odd_gaps(data, pair, report)
    return Gaps(np.concatenate(pieces), counts)


def _piece_stop(data: Data, start: int, end: int) -> int:
    """The place after the last bracket that closes in about a megabyte; `start` where none closes any more."""
    stop = data.rfind(b"]", start, min(start + _PIECE, end))
    return (stop if stop >= 0 else data.find(b"]", start, end)) + 1 or start


def _plain_rows(piece: bytes) -> Gaps | None:
    """Arrays of numbers, as the tools write them; None where something else is among them."""
    try:
        rows = _ROWS.decode(b"[%b]" % piece.lstrip(_BLANK).removeprefix(b","))
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    counts = list(map(len, rows))
    return Gaps(np.fromiter(chain.from_iterable(rows), np.float64, sum(counts)), counts)


def _odd_rows(piece: bytes, pair: Pair, report: Report) -> Gaps | None:
    """Arrays of which some elements may be no numbers; None where one of them is no array of scalars."""
    values: list[Any] = []
    counts: list[int | None] = []
    for written in piece.split(b"]")[:-1]:
        before, bracket, row = written.partition(b"[")
        if before.strip(b" \t\r\n,") or not bracket or b"[" in row:
            return None
        elements = row.split(b",") if row.strip(_BLANK) else []
        values += map(_element, elements)
        counts.append(len(elements))
    return Gaps(_careful(values, pair, report), counts)


def texts_in(data: Data, pair: Pair) -> Iterator[str | None]:
    """The texts of an array, NULL where an element is not a text."""
    if pair.stop - pair.start < _PIECE and not (written := data[pair.start : pair.stop]).strip(b'[]", \t\r\n'):
        yield from [""] * (written.count(b'"') // 2)  # the common case: no errors at all
        return
    position = pair.start + 1
    while found := _TEXT.match(data, position, pair.stop - 1):
        position = found.end()
        if found[1] == b'""':
            yield ""
            continue
        try:
            value = json.loads(found[1].decode(errors="surrogateescape"), strict=False)
        except ValueError:
            value = None
        yield clean(value) if isinstance(value, str) else None


def _numbers(written: bytes, pair: Pair, report: Report) -> Numbers:
    """The comma-separated numbers in `written`."""
    try:
        return np.array(_ROW.decode(b"[%b]" % written), np.float64)
    except (msgspec.DecodeError, UnicodeDecodeError):  # such as null or 1.2.3: looked at one by one
        pass
    return _careful([_element(text) for text in written.split(b",")], pair, report)


def _element(written: bytes) -> Any:
    """One element by itself, so that a broken one leaves its neighbours."""
    try:
        return json.loads(written)
    except (ValueError, RecursionError):
        return written


def _careful(values: list[Any], pair: Pair, report: Report) -> Numbers:
    numbers = [json_number(value) for value in values]
    lost = sum(number is None and value is not None for number, value in zip(numbers, values, strict=True))
    if lost:
        report.at("not-a-number", f"{pair.key}: {lost} values are no finite numbers", pair, "error")
    return np.array(numbers, np.float64)


def _odd_gaps(data: Data, pair: Pair, report: Report) -> Gaps | None:
    """The same, for an array of which some elements are no plain arrays."""
    rows = _decoded(data[pair.start : pair.stop])
    if rows is None:
        report.at("not-an-array", pair.key[:120], pair, "error")
        return None
    if any(not isinstance(row, list) for row in rows):
        report.at("not-an-array", f"an element of {pair.key}", pair, "error")
    arrays = [_careful(row, pair, report) for row in rows if isinstance(row, list)]
    counts = [len(row) if isinstance(row, list) else None for row in rows]
    return Gaps(np.concatenate([np.empty(0), *arrays]), counts)


def _decoded(written: bytes) -> list[Any] | None:
    try:
        value = json.loads(written)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, list) else None

