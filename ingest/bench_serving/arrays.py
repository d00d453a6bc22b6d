"""Arrays of numbers in a record's bytes, as Arrow: quickly where they are plain, with care where they are not.

What is no finite number is NULL and reported; its neighbours stay in their places.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from warehouse.landing.json_text import json_number
from warehouse.landing.text import Data, Report, clean

from .records import Pair

_PIECE = 4 << 20  # bytes parsed at once
_BLANK = b" \t\r\n"
_END = re.compile(rb"[ \t\r\n,]*+\]\Z")
_TEXT = re.compile(rb'[ \t\r\n,]*+("(?:[^"\\]++|\\.)*+"|[^ \t\r\n,\[\]{}":]++)', re.DOTALL)
_ONE_COLUMN = pyarrow.csv.ReadOptions(column_names=["number"], use_threads=False)
_NO_QUOTES = pyarrow.csv.ParseOptions(quote_char=False)
_DOUBLE = pyarrow.csv.ConvertOptions(column_types={"number": pa.float64()}, null_values=[])


class Gaps(NamedTuple):
    """The rows of an array of arrays: all numbers in one sequence, and how many each row has (NULL: it is no array)."""

    numbers: pa.ChunkedArray
    counts: list[int | None]


def numbers_in(data: Data, pair: Pair, report: Report) -> pa.Array | None:
    """The numbers of the array that is `pair`'s value; None, and an issue, where it is none."""
    if data[pair.start : pair.start + 1] != b"[":
        report("not-an-array", pair.key[:120], pair.offset, pair.stop - pair.offset, pair.line_number, "error")
        return None
    written = data[pair.start + 1 : pair.stop - 1].strip(_BLANK)
    return _numbers(written, written.count(b",") + 1 if written else 0, pair, report)


def gaps_in(data: Data, pair: Pair, report: Report) -> Gaps | None:
    """The numbers of an array of arrays, a few megabytes at a time; None, and an issue, where it is none."""
    if data[pair.start : pair.start + 1] != b"[":
        report("not-an-array", pair.key[:120], pair.offset, pair.stop - pair.offset, pair.line_number, "error")
        return None
    chunks: list[pa.Array] = []
    counts: list[int | None] = []
    rows: list[bytes] = []
    size, gaps, position = 0, 0, pair.start + 1
    while (stop := data.find(b"]", position, pair.stop - 1)) >= 0:
        before, bracket, row = data[position:stop].partition(b"[")
        if before.strip(b" \t\r\n,") or not bracket or b"[" in row:
            return _odd_gaps(data, pair, report)
        position = stop + 1
        row = row.strip(_BLANK)
        counts.append(row.count(b",") + 1 if row else 0)
        if row:
            rows.append(row)
            size += len(row)
            gaps += counts[-1] or 0
        if size > _PIECE:
            chunks.append(_numbers(b",".join(rows), gaps, pair, report))
            rows, size, gaps = [], 0, 0
    if not _END.match(data, position, pair.stop):
        return _odd_gaps(data, pair, report)
    if rows:
        chunks.append(_numbers(b",".join(rows), gaps, pair, report))
    numbers = pa.chunked_array(chunks, type=pa.float64())
    if len(numbers) != sum(count or 0 for count in counts):
        return _odd_gaps(data, pair, report)
    return Gaps(numbers, counts)


def texts_in(data: Data, pair: Pair) -> Iterator[str | None]:
    """The texts of an array, NULL where an element is none."""
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


def _numbers(written: bytes, count: int, pair: Pair, report: Report) -> pa.Array:
    """The `count` comma-separated numbers in `written`."""
    if not written:
        return pa.array([], pa.float64())
    try:
        column = pyarrow.csv.read_csv(
            pa.BufferReader(written.replace(b",", b"\n")),
            read_options=_ONE_COLUMN, parse_options=_NO_QUOTES, convert_options=_DOUBLE,
        ).column(0)
        if len(column) == count and math.isfinite(pc.sum(column).as_py()):
            return column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
    except pa.ArrowInvalid:  # such as null or 1.2.3: looked at one by one below
        pass
    return _careful([_element(text) for text in written.split(b",")], pair, report)


def _element(written: bytes) -> Any:
    """One element by itself, so that a broken one leaves its neighbours."""
    try:
        return json.loads(written)
    except (ValueError, RecursionError):
        return written


def _careful(values: list[Any], pair: Pair, report: Report) -> pa.Array:
    numbers = [json_number(value) for value in values]
    lost = sum(number is None and value is not None for number, value in zip(numbers, values, strict=True))
    if lost:
        message = f"{pair.key}: {lost} values are no finite numbers"
        report("not-a-number", message, pair.offset, pair.stop - pair.offset, pair.line_number, "error")
    return pa.array(numbers, pa.float64())


def _odd_gaps(data: Data, pair: Pair, report: Report) -> Gaps | None:
    """The same, for an array of which some elements are no plain arrays."""
    rows = _decoded(data[pair.start : pair.stop])
    if rows is None:
        report("not-an-array", pair.key[:120], pair.offset, pair.stop - pair.offset, pair.line_number, "error")
        return None
    if any(not isinstance(row, list) for row in rows):
        report("not-an-array", f"an element of {pair.key}", pair.offset, pair.stop - pair.offset, pair.line_number, "error")
    arrays = [_careful(row, pair, report) for row in rows if isinstance(row, list)]
    counts = [len(row) if isinstance(row, list) else None for row in rows]
    return Gaps(pa.chunked_array(arrays, type=pa.float64()), counts)


def _decoded(written: bytes) -> list[Any] | None:
    try:
        value = json.loads(written)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, list) else None

