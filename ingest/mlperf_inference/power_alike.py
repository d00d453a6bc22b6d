"""Lines of the power daemon that differ in nothing but their readings, all of a piece at once: their fields have the same names
in the same places, and each reading is what its column takes as it is. Other lines are nobody's here: they are read one by one,
and to the same rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from warehouse.landing.readers.numbers_at import Bools, Bytes, Ints, is_at, is_digit, parts, texts_at
from warehouse.landing.readers.text import Piece
from warehouse.landing.rows import coded

from .power_layout import COLUMNS, TIME, Layout, fields_of, layout_of, mark_of

_COMPANY = 24  # fewer lines are read one by one in less time than it takes to see that they are alike
_ROUNDS = 8  # for lines of other fields, or with as many: each finds those that are like the first
_COMMA, _RETURN, _ZERO, _DEL = ord(","), ord("\r"), ord("0"), 0x7F
_TIME = np.frombuffer(b"00-00-0000 00:00:00.000000", np.uint8)  # the daemon's, of any digits
_WHOLE_SECONDS = 19  # bytes
_TIME_BYTES = frozenset({19, *range(21, 27)})  # with no fraction, or some of its digits
_DECIMAL = r"^[+-]?\d{1,12}(?:\.\d{1,6})?$"
_ABSENT, _NO_NUMBER = -1, -2  # in a place among numbers
_LONGEST, _LOWER, _E = 32, 0x20, ord("e")  # bytes of a measure


class Samples(NamedTuple):
    """Samples of some lines of a piece, by columns: of each the row of its line there, and the landing table's columns."""

    rows: Ints
    offsets: Ints
    lengths: Ints
    columns: dict[str, pa.Array]


class _Fields(NamedTuple):
    """Lines of equally many fields: their rows in the piece, and of each line's fields where they begin and end."""

    rows: Ints
    starts: Ints
    stops: Ints

    def of(self, chosen: Bools) -> _Fields:
        return self if chosen.all() else _Fields(self.rows[chosen], self.starts[chosen], self.stops[chosen])

    def texts(self, piece: Piece, row: int) -> list[str]:
        return fields_of(piece.data[self.starts[row, 0] : self.stops[row, -1]].decode())


def find_alike(piece: Piece) -> list[Samples]:
    """The samples of the lines that have company; of one layout after another."""
    if len(piece.ends) < _COMPANY:
        return []
    text = piece.text
    stops = piece.ends - (text[piece.ends - 1] == _RETURN)
    is_left = _is_plain(piece, stops)
    commas = np.flatnonzero(text == _COMMA)
    first = np.searchsorted(commas, piece.starts)
    counts = np.searchsorted(commas, stops) - first
    found = []
    for _ in range(_ROUNDS):
        left = np.flatnonzero(is_left)
        if len(left) < _COMPANY:
            break
        rows = left[counts[left] == np.bincount(counts[left]).argmax()]
        places = commas[first[rows][:, np.newaxis] + np.arange(counts[rows[0]])]
        fields = _Fields(
            rows, np.column_stack((piece.starts[rows], places + 1)), np.column_stack((places, stops[rows]))
        )
        layout, is_alike = _like_the_first(piece, fields)
        is_left[rows[is_alike]] = False
        if layout is not None and np.count_nonzero(is_alike) >= _COMPANY:
            found.append(_samples(piece, fields.of(is_alike), layout))
    return [some for some in found if len(some.rows)]


def _is_plain(piece: Piece, stops: Ints) -> Bools:
    """Which lines are of ASCII, not blank, and ended as the daemon ends them; the last of a log that was cut short is not."""
    is_plain: Bools = (stops > piece.starts) & (piece.text[stops - 1] != _RETURN) & (piece.ends < len(piece.data))
    if not piece.data.isascii():
        is_plain[np.searchsorted(piece.ends, np.flatnonzero(piece.text > _DEL))] = False
    return is_plain


def _like_the_first(piece: Piece, fields: _Fields) -> tuple[Layout | None, Bools]:
    """The layout of the first line, None where it is to be looked at by itself, and which lines have it, too: itself at least."""
    is_first = np.arange(len(fields.rows)) == 0
    layout = layout_of(fields.texts(piece, 0))
    size = fields.stops[0, TIME] - fields.starts[0, TIME] if layout else 0
    if layout is None or not layout.is_whole or size not in _TIME_BYTES:
        return None, is_first
    is_alike = fields.stops[:, TIME] - fields.starts[:, TIME] == size
    for field in layout.names:
        starts, stops = fields.starts[:, field], fields.stops[:, field]
        name = piece.data[starts[0] : stops[0]]
        is_as_long = stops - starts == len(name)
        is_alike &= is_as_long & is_at(piece.data, np.where(is_as_long, starts, starts[0]), name)
    return layout, is_alike


def _samples(piece: Piece, fields: _Fields, layout: Layout) -> Samples:
    """Of those lines that state a time and numbers."""
    text, measures = piece.text, [field for _, _, field in layout.measures]
    written = text[fields.starts[:, TIME, np.newaxis] + np.arange(fields.stops[0, TIME] - fields.starts[0, TIME])]
    times, is_time = _times(written)
    numbers, places = _numbers(text, fields.starts[:, measures], fields.stops[:, measures])
    is_read = is_time & (places != _NO_NUMBER).all(axis=1)
    fields, written, times, places = fields.of(is_read), written[is_read], times[is_read], places[is_read]
    count, channels = len(fields.rows), len(layout.channels)
    line = np.repeat(np.arange(count), channels)
    columns = {
        "sampled_at_local": pa.array(times[line]).cast(pa.timestamp("us")),
        "sampled_at_text": _texts(written).take(pa.array(line)),
        "channel": coded(layout.channels, np.tile(np.arange(channels), count)),
    }
    if layout.mark is not None:
        start = fields.starts[:, layout.mark]
        marks = texts_at(text, start, fields.stops[:, layout.mark] - start).dictionary_encode()
        known = [mark_of(mark.strip()) for mark in marks.dictionary.to_pylist()]
        columns["mark"] = coded(known, marks.indices.to_numpy()[line])
    for column in {column for _, column, _ in layout.measures}:
        chosen = np.full((count, channels), _ABSENT)
        for index, (channel, name, _) in enumerate(layout.measures):
            if name == column:
                chosen[:, channel] = places[:, index]
        columns[column] = numbers.take(pa.array(chosen.ravel(), mask=chosen.ravel() == _ABSENT))
    start, stop = fields.starts[:, 0], fields.stops[:, -1]
    return Samples(fields.rows[line], (start + piece.offset)[line], (stop - start)[line], columns)


def _times(written: Bytes) -> tuple[Ints, Bools]:
    """Microseconds since 1970 that a row of bytes says each, and which rows are a time."""
    digits = (written - _ZERO).astype(np.int64)
    month, day, century, year, hour, minute, second = (10 * digits[:, at] + digits[:, at + 1] for at in (0, 3, 6, 8, 11, 14, 17))
    year += 100 * century
    months = (12 * (year - 1970) + month - 1).astype("datetime64[M]")
    days = months.astype("datetime64[D]")
    days_of_month = ((months + 1).astype("datetime64[D]") - days).astype(np.int64)
    is_time: Bools = (np.where(is_digit(written), _ZERO, written) == _TIME[: written.shape[1]]).all(axis=1)
    is_time &= (year > 0) & (month > 0) & (month < 13) & (day > 0) & (day <= days_of_month)
    is_time &= (hour < 24) & (minute < 60) & (second < 60)
    fraction = digits[:, _WHOLE_SECONDS + 1 :] @ 10 ** np.arange(5, 5 - max(0, written.shape[1] - _WHOLE_SECONDS - 1), -1)
    seconds = 86_400 * (days.astype(np.int64) + day - 1) + 3600 * hour + 60 * minute + second
    return 1_000_000 * seconds + fraction, is_time


def _texts(written: Bytes) -> pa.StringArray:
    """Texts of equal length, a row of bytes each."""
    count, size = written.shape
    offsets = np.arange(0, count * size + 1, size, dtype=np.int32)
    return pa.StringArray.from_buffers(count, pa.py_buffer(offsets), pa.py_buffer(np.ascontiguousarray(written)))


def _may_be_misread(text: Bytes, starts: Ints, stops: Ints) -> bool:
    """Whether there is an exponent, or many digits: to Arrow's decimals 1e-45 is 0, and 2**128 + 1 is 1."""
    exponents = np.flatnonzero((text | _LOWER) == _E)
    fields = np.searchsorted(starts, exponents, side="right") - 1
    return bool((stops - starts > _LONGEST).any() or (len(starts) and (exponents < stops[fields])[fields >= 0].any()))


def _numbers(text: Bytes, starts: Ints, stops: Ints) -> tuple[pa.Array, Ints]:
    """Numbers, and of each field of each line its place among them; `_ABSENT` where nothing is stated."""
    is_stated = stops > starts
    starts, stops = starts[is_stated], stops[is_stated]
    written = parts(text, starts, stops)
    is_number = is_stated
    try:
        if _may_be_misread(text, starts, stops):
            raise pa.ArrowInvalid
        numbers = written.cast(COLUMNS["watts"]).drop_null()
    except pa.ArrowInvalid:  # among them is what is no number: asking of each takes as long as all the rest
        texts = written.drop_null()
        is_decimal = pc.match_substring_regex(texts, _DECIMAL)
        numbers = texts.filter(is_decimal).cast(COLUMNS["watts"])
        is_number = is_stated.copy()
        is_number[is_stated] = is_decimal.to_numpy(zero_copy_only=False)
    places = np.where(is_stated, _NO_NUMBER, _ABSENT)
    places[is_number] = np.arange(len(numbers))
    return numbers, places
