"""The power daemon's `spl.txt`: one line a second, the whole system first, then each channel of the analyser.

Time stays as the daemon's clock wrote it: its zone is in power/server.json and is applied by the models.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from decimal import ROUND_HALF_EVEN, Decimal, InvalidOperation
from typing import Any

import numpy as np
import pyarrow as pa

from warehouse.landing.readers.columns import Rows
from warehouse.landing.readers.numbers_at import Ints
from warehouse.landing.readers.text import Data, Line, Piece, Report, clean, decoded, lines, pieces

from .power_alike import Samples, find_alike
from .power_layout import COLUMNS, TIME, fields_of, layout_of, mark_of

_TIME = re.compile(r"(\d\d)-(\d\d)-(\d{4}) (\d\d):(\d\d):(\d\d)(?:\.(\d{1,6}))?", re.ASCII)
_EXACT = re.compile(r"[+-]?\d{1,12}(?:\.\d{1,6})?", re.ASCII)
_SIXTH = Decimal("0.000001")


def samples(data: Data, report: Report) -> Iterator[Rows]:
    """The readings in the order of the file, of each line the system's and then each channel's, by the landing table's columns.
    A measure that is absent, or no number, is NULL."""
    for piece in pieces(data, report):
        found = find_alike(piece)
        is_alone = np.ones(len(piece.ends), np.bool_)
        for several in found:
            is_alone[several.rows] = False
        one_by_one = _one_by_one(piece, np.flatnonzero(is_alone), len(data), report)
        if len(one_by_one.rows):
            found.append(one_by_one)
        if found:
            yield _in_order(found)


def _in_order(found: Sequence[Samples]) -> Rows:
    if len(found) == 1:
        return Rows(found[0].offsets, found[0].lengths, found[0].columns)
    rows, offsets, lengths = (np.concatenate([getattr(some, name) for some in found]) for name in ("rows", "offsets", "lengths"))
    order = np.argsort(rows, kind="stable")
    columns = {
        name: pa.concat_arrays([_plain(some.columns.get(name), kind, len(some.rows)) for some in found]).take(pa.array(order))
        for name, kind in COLUMNS.items()
    }
    return Rows(offsets[order], lengths[order], columns)


def _plain(column: pa.Array | None, kind: pa.DataType, size: int) -> pa.Array:
    if column is None:
        return pa.nulls(size, kind)
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


def _one_by_one(piece: Piece, rows: Ints, file_bytes: int, report: Report) -> Samples:
    """The samples of lines that may be anything."""
    places: list[tuple[int, int, int]] = []
    columns: dict[str, list[Any]] = {name: [] for name in COLUMNS}
    for stretch in np.split(rows, np.flatnonzero(np.diff(rows) > 1) + 1) if len(rows) else ():
        start, stop = int(piece.starts[stretch[0]]), int(piece.ends[stretch[-1]])
        for line in lines(piece.data[start:stop], report, start=(piece.offset + start, piece.number + int(stretch[0]))):
            for sample in _line_samples(line, file_bytes, report):
                places.append((line.number - piece.number, line.offset, len(line.data)))
                for name, values in columns.items():
                    values.append(sample.get(name))
    numbers = np.array(places, np.int64).reshape(-1, 3)
    arrays = {name: pa.array(values, COLUMNS[name]) for name, values in columns.items()}
    return Samples(numbers[:, 0], numbers[:, 1], numbers[:, 2], arrays)


def _line_samples(line: Line, file_bytes: int, report: Report) -> Iterator[dict[str, Any]]:
    fields = fields_of(decoded(line, report))
    layout = layout_of(fields)
    if layout is None:
        report.at("malformed-power-line", ",".join(fields)[:120], line, "error")
        return
    if file_bytes - line.offset == len(line.data):  # the daemon ends every line
        report.at("truncated-power-line", ",".join(fields)[-120:], line, "error")
    measures: list[dict[str, Any]] = [{} for _ in layout.channels]
    for channel, column, place in layout.measures:
        measures[channel][column] = _decimal(fields[place - 1], fields[place], line, report)
    if not layout.is_whole:
        report.at("malformed-power-line", f"{fields[layout.names[-1]][:80]} has no value", line)
    shared = {
        "sampled_at_local": _time(fields[TIME], line, report), "sampled_at_text": clean(fields[TIME])[:256],
        "mark": None if layout.mark is None else mark_of(fields[layout.mark]),
    }
    for name, measured in zip(layout.channels, measures, strict=True):
        yield {**shared, "channel": name, **measured}


def _time(text: str, line: Line, report: Report) -> datetime | None:
    try:
        if match := _TIME.fullmatch(text):
            month, day, year, hour, minute, second = map(int, match.groups()[:6])
            return datetime(year, month, day, hour, minute, second, int((match[7] or "").ljust(6, "0")))
    except ValueError:
        pass
    report.at("malformed-time", text[:80], line, "error")
    return None


def _decimal(name: str, text: str, line: Line, report: Report) -> Decimal | None:
    if _EXACT.fullmatch(text):
        return Decimal(text)
    try:
        number = Decimal(text)
        if number.is_finite() and abs(number) < 10**12:
            rounded = number.quantize(_SIXTH, ROUND_HALF_EVEN)
            if rounded != number:
                report.at("rounded-number", f"{name}: {text[:80]} has more than six decimals", line, "note")
            return rounded
    except InvalidOperation:
        pass
    if text:
        report.at("not-a-number", f"{name}: {text[:80]}", line, "error")
    return None
