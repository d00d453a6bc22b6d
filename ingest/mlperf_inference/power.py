"""The power daemon's `spl.txt`: one line a second, the whole system first, then each channel of the analyser.

Time stays as the daemon's clock wrote it: its zone is in power/server.json and is applied by the models.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from datetime import datetime
from decimal import ROUND_HALF_EVEN, Decimal, InvalidOperation
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from warehouse.landing.readers.text import Data, Line, Piece, Report, clean, decoded, lines, pieces
from warehouse.landing.rows import Rows, coded

from .power_layout import COLUMNS, TIME, Layout, fields_of, layout_of, mark_of

_TIME = re.compile(r"(\d\d)-(\d\d)-(\d{4}) (\d\d):(\d\d):(\d\d)(?:\.(\d{1,6}))?", re.ASCII)
_EXACT = re.compile(r"[+-]?\d{1,12}(?:\.\d{1,6})?", re.ASCII)
_SIXTH = Decimal("0.000001")
_RETURN = ord("\r")
# What Arrow reads as `_time` and `_decimal` do. It accepts the year 0, and reads 1e-45 as 0.
_USUAL_TIME = r"^(\d\d)-(\d\d)-([1-9]\d{3}) (\d\d:\d\d:\d\d(?:\.\d{1,6})?)$"
_USUAL_MEASURE = r"^(?:[+-]?\d{1,12}(?:\.\d{1,6})?)?$"


def samples(data: Data, report: Report) -> Iterator[Rows]:
    """The readings in the order of the file, of each line the system's and then each channel's, by the landing table's columns.
    A measure that is absent, or no number, is NULL."""
    for piece in pieces(data, report):
        rows = _as_table(piece)
        yield _line_by_line(piece, len(data), report) if rows is None else rows


def _as_table(piece: Piece) -> Rows | None:
    """The samples of lines that all have the fields of the first and the usual values, as the daemon writes them; None where
    one has not."""
    ends = piece.ends - (piece.text[piece.ends - 1] == _RETURN)
    is_line = ends > piece.starts
    starts, ends = piece.starts[is_line], ends[is_line]
    if not len(starts) or not piece.data.endswith(b"\n") or (piece.text[ends - 1] == _RETURN).any():
        return None
    try:
        fields = fields_of(piece.data[starts[0] : ends[0]].decode())
        layout = layout_of(fields)
        if layout is None or not layout.is_whole:
            return None
        columns = _columns(piece.data, fields, layout, len(starts))
    except (pa.ArrowInvalid, UnicodeDecodeError):
        return None
    if columns is None:
        return None
    channels = len(layout.channels)
    return Rows(np.repeat(starts + piece.offset, channels), np.repeat(ends - starts, channels), columns)


def _columns(data: bytes, fields: list[str], layout: Layout, count: int) -> dict[str, pa.Array] | None:
    names = [str(place) for place in range(len(fields))]
    table = csv.read_csv(
        io.BytesIO(data), csv.ReadOptions(use_threads=False, block_size=len(data), column_names=names),
        csv.ParseOptions(quote_char=False), csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string())),
    ).combine_chunks()
    field = [column.chunk(0) for column in table.columns]
    time, measures = field[TIME], pa.concat_arrays([field[place] for _, _, place in layout.measures] or [pa.array([], pa.string())])
    is_usual = (
        table.num_rows == count
        and all(pc.all(pc.equal(field[place], fields[place])).as_py() for place in layout.names)
        and pc.all(pc.match_substring_regex(time, _USUAL_TIME)).as_py()
        and pc.all(pc.match_substring_regex(measures, _USUAL_MEASURE), min_count=0).as_py()
    )
    if not is_usual:
        return None
    channels = len(layout.channels)
    line = np.repeat(np.arange(count), channels)
    found = {
        "sampled_at_local": pc.replace_substring_regex(time, _USUAL_TIME, r"\3-\1-\2 \4").cast(COLUMNS["sampled_at_local"]).take(line),
        "sampled_at_text": time.take(line),
        "channel": coded(layout.channels, np.tile(np.arange(channels), count)),
    }
    if layout.mark is not None:
        marks = field[layout.mark].dictionary_encode()
        found["mark"] = coded([mark_of(mark.strip()) for mark in marks.dictionary.to_pylist()], marks.indices.to_numpy()[line])
    numbers = pc.if_else(pc.equal(measures, ""), None, measures).cast(COLUMNS["watts"])
    for name in {name for _, name, _ in layout.measures}:
        places = np.full((count, channels), -1)
        for index, (channel, column, _) in enumerate(layout.measures):
            if column == name:
                places[:, channel] = np.arange(count) + index * count
        found[name] = numbers.take(pa.array(places.ravel(), mask=places.ravel() < 0))
    return found


def _line_by_line(piece: Piece, file_bytes: int, report: Report) -> Rows:
    offsets: list[int] = []
    lengths: list[int] = []
    columns: dict[str, list[Any]] = {name: [] for name in COLUMNS}
    for line in lines(piece.data, report, start=(piece.offset, piece.number)):
        for sample in _line_samples(line, file_bytes, report):
            offsets.append(line.offset)
            lengths.append(len(line.data))
            for name, values in columns.items():
                values.append(sample.get(name))
    return Rows(offsets, lengths, columns)


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
