"""A log's lines that hold the marker, block by block, so that memory is bounded by a block and not by the file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from warehouse.landing.readers.numbers_at import Bytes, Ints, places_where
from warehouse.landing.readers.text import MAX_LINE_BYTES, Data, Report

MARKER = b":::MLLOG"
_FIELD = b'"event_type":'  # every line that mlperf_logging writes has it
_BLOCK_BYTES = 4 << 20
_NEWLINE = ord("\n")
_COLOUR_END = ord("m")
# Blanks and a terminal's colours (ECMA-48, 8.3.117), read from the end: so a line is looked at once, however many it has.
_BEHIND = re.compile(rb"(?:\s|m[0-9;]*+\[\x1b)*+")
_IS_SPACE = np.array([bytes([byte]).isspace() for byte in range(256)])


class Block(NamedTuple):
    """Whole lines: where they begin in the file, and the number of the first, from 1."""

    data: bytes
    offset: int
    number: int

    @property
    def text(self) -> Bytes:
        return np.frombuffer(self.data, np.uint8)


class Lines(NamedTuple):
    """The marked lines of a block: each one's number, and where in the block its first marker is, what is behind it, and
    the end of that without blanks and colours."""

    block: Block
    numbers: Ints
    markers: Ints
    starts: Ints
    stops: Ints

    def marked(self, rows: Ints) -> Marked:
        """Some of them, to be read one by one."""
        data, offset, _ = self.block
        places = zip(self.starts[rows].tolist(), self.stops[rows].tolist(), strict=True)
        documents = [data[start:stop] for start, stop in places]
        return Marked((self.markers[rows] + offset).tolist(), self.numbers[rows].tolist(), documents)


class Marked(NamedTuple):
    """Marked lines: where each marker stands in the file, line numbers, and the bytes behind the marker."""

    offsets: list[int]
    numbers: list[int]
    documents: list[bytes]

    def length(self, row: int) -> int:
        """Bytes from the marker to the end of the line's text."""
        return len(MARKER) + len(self.documents[row])


def blocks(data: Data, report: Report) -> Iterator[Block]:
    """The lines of `data`; one longer than `MAX_LINE_BYTES` is reported and left out."""
    position, number, end = 0, 1, len(data)
    while position < end:
        stop = end if end - position <= _BLOCK_BYTES else data.rfind(b"\n", position, position + _BLOCK_BYTES) + 1
        if stop == 0:  # the block ends within its first line
            stop = data.find(b"\n", position) + 1 or end
            if stop - position > MAX_LINE_BYTES:
                report("line-too-long", f"{stop - position} bytes", position, stop - position, number, "error")
                position, number = stop, number + 1
                continue
        block = Block(data[position:stop], position, number)
        yield block
        position, number = stop, number + int(np.count_nonzero(block.text == _NEWLINE))


def marked_lines(block: Block, report: Report) -> Lines:
    """The marked lines of a block; a line of mlperf_logging's whose marker is damaged is reported."""
    text = block.text
    ends = places_where(lambda part: part == _NEWLINE, text)
    if text[-1] != _NEWLINE:
        ends = np.append(ends, len(text))
    markers = _found(text, MARKER)
    rows = np.searchsorted(ends, markers)
    is_first = np.ones(len(rows), np.bool_)
    is_first[1:] = rows[1:] != rows[:-1]
    markers, rows = markers[is_first], rows[is_first]
    starts, stops = markers + len(MARKER), ends[rows]
    _report_unmarked(block, markers, stops, report)
    for row in np.flatnonzero(_IS_SPACE[text[stops - 1]] | (text[stops - 1] == _COLOUR_END)).tolist():
        behind = _BEHIND.match(block.data[starts[row] : stops[row]][::-1])
        assert behind
        stops[row] -= behind.end()
    return Lines(block, rows + block.number, markers, starts, stops)


def _found(text: Bytes, sought: bytes) -> Ints:
    """Where `sought` stands, also where it overlaps itself."""
    places = places_where(lambda part: part == sought[-1], text[len(sought) - 1 :])
    for index, byte in enumerate(sought[:-1]):
        places = places[text[places + index] == byte]
    return places


def _report_unmarked(block: Block, markers: Ints, ends: Ints, report: Report) -> None:
    """Tell of the log lines in what is between marked ones, `markers` to `ends`."""
    data, offset, number = block
    starts, stops = np.append(0, ends), np.append(markers, len(data))
    is_wide = stops - starts >= len(_FIELD)
    between = list(zip(starts[is_wide].tolist(), stops[is_wide].tolist(), strict=True))
    if _FIELD not in b"".join([data[start:stop] for start, stop in between]):
        return
    last = 0
    for position, stop in between:
        while (at := data.find(_FIELD, position, stop)) >= 0:
            begin, end = data.rfind(b"\n", 0, at) + 1, data.find(b"\n", at)
            position = end if end >= 0 else len(data)
            number += data.count(b"\n", last, begin)
            last = begin
            report("unmarked-log-line", "a log line without its :::MLLOG", offset + begin, position - begin, number, "error")
