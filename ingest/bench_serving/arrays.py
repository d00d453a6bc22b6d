"""Arrays of numbers in a record's bytes, as Arrow: quickly where they are plain, with care where they are not.

What is no finite number is NULL and reported; its neighbours stay in their places.
"""

from __future__ import annotations

import json
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
_PLAIN = re.compile(rb"[0-9eE+\-., \t\r\n]*+")
_ROW = re.compile(rb"[ \t\r\n,]*+\[([^\[\]]*+)\]")
_END = re.compile(rb"[ \t\r\n,]*+\]\Z")
_TEXT = re.compile(rb'[ \t\r\n,]*+("(?:[^"\\]++|\\.)*+"|[^ \t\r\n,\[\]{}":]++)', re.DOTALL)
_ONE_COLUMN = pyarrow.csv.ReadOptions(column_names=["number"], use_threads=False)
_DOUBLE = pyarrow.csv.ConvertOptions(column_types={"number": pa.float64()}, null_values=[], strings_can_be_null=False)


class Gaps(NamedTuple):
    """The rows of an array of arrays: all numbers in one sequence, and how many each row has (NULL: it is no array)."""

    numbers: pa.ChunkedArray
    counts: list[int | None]


def numbers_in(data: Data, pair: Pair, report: Report) -> pa.Array | None:
    """The numbers of the array that is `pair`'s value; None, and an issue, where it is none."""
    if data[pair.start : pair.start + 1] != b"[":
        report("not-an-array", pair.key[:120], pair.offset, pair.stop - pair.offset, pair.line_number, "error")
        return None
    return _numbers(data[pair.start + 1 : pair.stop - 1], pair, report)


def gaps_in(data: Data, pair: Pair, report: Report) -> Gaps | None:
    """The numbers of an array of arrays, a few megabytes at a time; None, and an issue, where it is none."""
    if data[pair.start : pair.start + 1] != b"[":
        report("not-an-array", pair.key[:120], pair.offset, pair.stop - pair.offset, pair.line_number, "error")
        return None
    chunks: list[pa.Array] = []
    counts: list[int | None] = []
    rows: list[bytes] = []
    size, position = 0, pair.start + 1
    while found := _ROW.match(data, position, pair.stop - 1):
        position = found.end()
        row = found[1].strip()
        counts.append(row.count(b",") + 1 if row else 0)
        if row:
            rows.append(row)
            size += len(row)
        if size > _PIECE:
            chunks.append(_numbers(b",".join(rows), pair, report))
            rows, size = [], 0
    if not _END.match(data, position, pair.stop):
        return _odd_gaps(data, pair, report)
    if rows:
        chunks.append(_numbers(b",".join(rows), pair, report))
    numbers = pa.chunked_array(chunks, type=pa.float64())
    if len(numbers) != sum(count or 0 for count in counts):
        return _odd_gaps(data, pair, report)
    return Gaps(numbers, counts)


def texts_in(data: Data, pair: Pair) -> Iterator[str | None]:
    """The texts of an array, NULL where an element is none."""
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


def _numbers(written: bytes, pair: Pair, report: Report) -> pa.Array:
    """The comma-separated numbers in `written`."""
    if _BLANK_ONLY.fullmatch(written):
        return pa.array([], pa.float64())
    if _PLAIN.fullmatch(written):
        try:
            column = pyarrow.csv.read_csv(
                pa.BufferReader(written.translate(None, b" \t\r\n").replace(b",", b"\n")),
                read_options=_ONE_COLUMN, convert_options=_DOUBLE,
            ).column(0)
            if len(column) == written.count(b",") + 1 and pc.all(pc.is_finite(column)).as_py():
                return column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
        except pa.ArrowInvalid:  # such as 1.2.3: looked at one by one below
            pass
    return _careful(_decoded(b"[" + written + b"]"), pair, report)


def _careful(values: list[Any] | None, pair: Pair, report: Report) -> pa.Array:
    numbers = [json_number(value) for value in values or ()]
    lost = sum(number is None and value is not None for number, value in zip(numbers, values or (), strict=True))
    if values is None or lost:
        what = f"{pair.key}: {lost} values are no finite numbers" if lost else f"{pair.key} is no array of numbers"
        report("not-a-number", what, pair.offset, pair.stop - pair.offset, pair.line_number, "error")
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


_BLANK_ONLY = re.compile(rb"[ \t\r\n]*+")
