"""A log's lines that hold the marker, block by block, so that memory is bounded by a block and not by the file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from warehouse.landing.text import MAX_LINE_BYTES, Data, Report

MARKER = b":::MLLOG"
_FIELD = b'"event_type":'  # every line that mlperf_logging writes has it
_BLOCK_BYTES = 4 << 20


class Marked(NamedTuple):
    """The marked lines of a block: where each marker stands in the file, line numbers, and the bytes behind the marker."""

    offsets: list[int]
    numbers: list[int]
    documents: list[bytes]

    def length(self, row: int) -> int:
        """Bytes from the marker to the end of the line's text."""
        return len(MARKER) + len(self.documents[row])


def blocks(data: Data, report: Report) -> Iterator[Marked]:
    """The marked lines of `data`, a block at a time; a line longer than `MAX_LINE_BYTES` is reported and left out, and
    so is a line of mlperf_logging's whose marker is damaged."""
    position, number, end = 0, 1, len(data)
    while position < end:
        stop = end if end - position <= _BLOCK_BYTES else data.rfind(b"\n", position, position + _BLOCK_BYTES) + 1
        if stop == 0:  # the block ends within its first line
            stop = data.find(b"\n", position) + 1 or end
            if stop - position > MAX_LINE_BYTES:
                report("line-too-long", f"{stop - position} bytes", position, stop - position, number, "error")
                position, number = stop, number + 1
                continue
        block = data[position:stop]
        yield _marked(block, position, number, report)
        position, number = stop, number + block.count(b"\n")


def _marked(block: bytes, start: int, number: int, report: Report) -> Marked:
    found = Marked([], [], [])
    offsets, numbers, documents = found
    position, last, first = 0, 0, number
    while (at := block.find(MARKER, position)) >= 0:
        _report_unmarked(block, position, at, start, first, report)
        position = block.find(b"\n", at)
        if position < 0:
            position = len(block)
        number += block.count(b"\n", last, at)
        last = at
        offsets.append(start + at)
        numbers.append(number)
        documents.append(block[at + len(MARKER) : position].rstrip())
    _report_unmarked(block, position, len(block), start, first, report)
    return found


def _report_unmarked(block: bytes, position: int, stop: int, start: int, number: int, report: Report) -> None:
    """Tell of the log lines in [position, stop), where no marker is. The block begins at `start`, in line `number`."""
    while (at := block.find(_FIELD, position, stop)) >= 0:
        begin, end = block.rfind(b"\n", 0, at) + 1, block.find(b"\n", at)
        position = end if end >= 0 else len(block)
        place = (start + begin, position - begin, number + block.count(b"\n", 0, begin))
        report("unmarked-log-line", "a log line without its :::MLLOG", *place, "error")
