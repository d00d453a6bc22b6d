"""What the numbers of a line mean, learnt from one line of many that differ in nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from warehouse.landing.readers.json_text import Element, json_pairs
from warehouse.landing.readers.text import Report
from warehouse.landing.rows import RowBuffer

from .lines import Marked
from .mllog import read_block

_FIRST_MARK = 4_321_987_650_000_001  # exact as a float, and as a time
NOWHERE = -1  # in a hole's place: the value is NULL; in an anchor's: the start of the line's document


@dataclass(frozen=True)
class Place:
    """A place in a line, as many bytes behind the end of a number of it."""

    number: int
    bytes: int


@dataclass(frozen=True)
class Template:
    """The texts of a line, and which of its numbers, counted from 0, are what. `value` is the range of the value's text,
    None where it is NULL."""

    key: str
    event_type: str | None
    status: str | None
    metric: str | None
    producer: str | None
    value: tuple[Place, Place] | None
    time_ms: int
    value_number: int
    samples_count: int
    step: int
    epoch_num: int
    learning_rate: int
    stats: tuple[tuple[str, int], ...]


class _Unfit(Exception):
    """The lines are to be read one by one."""


def template_of(texts: Sequence[bytes]) -> Template | None:
    """The template of lines that have these texts before, between and behind their numbers; None where such lines are not
    wholly what mlperf_logging writes, or say with their numbers what a column does not."""
    marks = [str(_FIRST_MARK + index) for index in range(len(texts) - 1)]
    document = b"".join(text + mark.encode() for text, mark in zip(texts, [*marks, ""], strict=True))
    buffer = RowBuffer({}, "")
    report = Report(buffer, "", None)
    block = read_block(Marked([0], [1], [document]), len(document), set(), report)
    pairs = {pair.key: pair for pair in json_pairs(document, report)}
    is_odd = list(buffer.rest()) or len(block.keys) != 1 or not document.isascii()
    if is_odd or any(mark.encode() in text for mark in marks for text in texts):
        return None
    holes = {float(mark): index for index, mark in enumerate(marks)}

    def hole(number: float | None) -> int:
        if number is None:
            return NOWHERE
        if number not in holes:
            raise _Unfit
        return holes[number]

    def text(stated: str | None) -> str | None:
        if stated is not None and any(mark in stated for mark in marks):
            raise _Unfit
        return stated

    def place(position: int) -> Place:
        number, end, at = NOWHERE, 0, 0
        for index, (before, mark) in enumerate(zip(texts, marks, strict=False)):
            at += len(before) + len(mark)
            if at <= position:
                number, end = index, at
        return Place(number, position - end)

    def stat(name: str, value: str | None, number: float | None) -> tuple[str, int]:
        index = hole(number)
        if index == NOWHERE or value != marks[index] or text(name) is None:
            raise _Unfit
        return name, index

    columns = {name: values[0] for name, values in block.event_columns().items()}
    stats = zip(block.stats, block.stat_values, block.stat_numbers, strict=True)
    try:
        key = text(columns["key"])
        value = _value_range(document, pairs["value"], columns["value"])
        if key is None or columns["time_ms"] is None:
            raise _Unfit
        return Template(
            key, text(columns["event_type"]), text(columns["status"]), text(columns["metric"]), text(columns["producer"]),
            None if value is None else (place(value[0]), place(value[1])),
            hole(columns["time_ms"]), hole(columns["value_number"]), hole(columns["samples_count"]), hole(columns["step"]),
            hole(columns["epoch_num"]), hole(columns["learning_rate"]),
            tuple(stat(name, value, number) for name, value, number in stats),
        )
    except _Unfit:
        return None


def _value_range(document: bytes, pair: Element, value: str | None) -> tuple[int, int] | None:
    """Where the text of the value stands."""
    written = document[pair.offset : pair.offset + pair.length]
    if not written.startswith(b'"value"'):
        raise _Unfit
    start, stop = pair.offset + len(written) - len(written.partition(b":")[2].lstrip()), pair.offset + len(written)
    if value is None and document[start:stop] == b"null":
        return None
    if document[start:stop].startswith(b'"'):
        start, stop = start + 1, stop - 1
    if document[start:stop].decode() != value:
        raise _Unfit
    return start, stop
