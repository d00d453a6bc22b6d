"""A log's lines that hold the marker, block by block, so that memory is bounded by a block and not by the file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from warehouse.landing.text import MAX_LINE_BYTES, Data, Report

MARKER = b":::MLLOG"
_BLOCK_BYTES = 4 << 20


class Marked(NamedTuple):
    """The marked lines of a block, from the marker to the line's end: offsets in the file, line numbers and bytes."""

    offsets: list[int]
    numbers: list[int]
    texts: list[bytes]


def blocks(data: Data, report: Report) -> Iterator[Marked]:
    """The marked lines of `data`, a block at a time; a line longer than `MAX_LINE_BYTES` is reported and left out."""
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
        yield _marked(block, position, number)
        position, number = stop, number + block.count(b"\n")


def _marked(block: bytes, start: int, number: int) -> Marked:
    found = Marked([], [], [])
    offset = start
    for number, line in enumerate(block.split(b"\n"), number):
        at = line.find(MARKER)
        if at >= 0:
            found.offsets.append(offset + at)
            found.numbers.append(number)
            found.texts.append(line[at:].rstrip())
        offset += len(line) + 1
    return found
