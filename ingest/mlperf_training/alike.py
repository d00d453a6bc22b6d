"""Lines that differ in nothing but their numbers, all of a block at once.

Nearly all lines of a long log are written by a few lines of code: between their numbers stands the same text. One of them is
read with care, with marks in the numbers' places, and tells what each number is; of the others only the numbers are read.
Lines that have no such company are nobody's here: they are read one by one, and to the same rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute

from warehouse.landing.readers.numbers_at import Bools, Ints, is_at, texts_at
from warehouse.landing.readers.text import MAX_VALUE_CHARACTERS
from warehouse.landing.rows import coded

from .lines import Lines
from .mllog import NO_TIME, Event
from .numbers import Numbers, numbers_in
from .template import NOWHERE, Template, template_of

_CROWD = 500  # fewer lines in a block are read one by one in less time than it takes to look who is like whom
_COMPANY = 24  # and so are fewer of a kind
_ROUNDS = 8  # for lines that look alike and are not: each round finds those that are like the first
_MOST_NUMBERS = 64  # in a line
_MOST_TEMPLATES = 1000  # that are kept for the blocks to come
_WEIGHTS = np.random.default_rng(0).integers(1 << 62, size=_MOST_NUMBERS + 2)

# The texts of a line between its numbers, to what the numbers are; None where such lines are read one by one.
Templates = dict[tuple[bytes, ...], Template | None]


class Alike(NamedTuple):
    """The lines of a block that have company: their rows in it, in order, and of each the number of its template and the
    index of its first number."""

    lines: Lines
    numbers: Numbers
    templates: list[Template]
    rows: Ints
    codes: Ints
    first: Ints

    def alone(self) -> Ints:
        """The rows of the other lines."""
        is_alone = np.ones(len(self.lines.starts), np.bool_)
        is_alone[self.rows] = False
        return np.flatnonzero(is_alone)

    def events(self, is_wanted: Callable[[str], bool]) -> Iterator[Event]:
        """The lines with wanted keys."""
        if not len(self.rows):
            return
        wanted = [code for code, template in enumerate(self.templates) if is_wanted(template.key)]
        chosen = np.flatnonzero(np.isin(self.codes, wanted))
        if len(chosen):
            columns = self.event_columns(chosen)
            for event in pa.table(columns).to_pylist():
                yield Event(
                    event["key"], event["value"], event["value_number"], event["time_ms"], event["status"],
                    event["raw_offset"], event["raw_length"], event["line_number"],
                )

    def event_columns(self, chosen: Ints | None = None) -> dict[str, pa.Array]:
        rows, codes, first = (self.rows, self.codes, self.first) if chosen is None else (
            self.rows[chosen], self.codes[chosen], self.first[chosen]
        )
        numbers = ("value_number", "samples_count", "step", "epoch_num", "learning_rate")
        return {
            **self._places(rows),
            "time_ms": self._number("time_ms", codes, first).cast(pa.int64()),
            "value": self._values(rows, codes, first),
            **{name: self._number(name, codes, first) for name in numbers},
            **{name: self._text(name, codes) for name in ("event_type", "key", "status", "metric", "producer")},
        }

    def _number(self, name: str, codes: Ints, first: Ints) -> pa.Array:
        holes = [getattr(template, name) for template in self.templates]
        if all(hole == NOWHERE for hole in holes):
            return pa.nulls(len(codes), pa.float64())
        chosen = np.array(holes)[codes]
        values = np.where(chosen == NOWHERE, np.nan, self.numbers.values[first + np.maximum(chosen, 0)])
        return pa.array(values, from_pandas=True)

    def _text(self, name: str, codes: Ints) -> pa.Array:
        texts = [getattr(template, name) for template in self.templates]
        return coded(texts, codes)

    def _values(self, rows: Ints, codes: Ints, first: Ints) -> pa.Array:
        start, stop = (self._edge(rows, codes, first, side) for side in (0, 1))
        lengths = stop - start
        is_null = np.array([template.value is None for template in self.templates])[codes] | (lengths > MAX_VALUE_CHARACTERS)
        text = self.lines.block.text
        texts = texts_at(text, start, np.where(is_null, 0, lengths))
        return pa.compute.if_else(pa.array(is_null), None, texts)

    def _edge(self, rows: Ints, codes: Ints, first: Ints, side: int) -> Ints:
        """Where the values begin (`side` 0) or end (1)."""
        edges = [template.value[side] if template.value else None for template in self.templates]
        holes = np.array([place.number if place else NOWHERE for place in edges])[codes]
        behind = np.array([place.bytes if place else 0 for place in edges])[codes]
        at_number = self.numbers.stops[first + np.maximum(holes, 0)]
        edge: Ints = np.where(holes == NOWHERE, self.lines.starts[rows], at_number) + behind
        return edge

    def stat_columns(self) -> dict[str, pa.Array]:
        stats = [stat for template in self.templates for stat in template.stats]
        counts = np.array([len(template.stats) for template in self.templates], np.int64)
        of_line = counts[self.codes]
        line = np.repeat(np.arange(len(self.rows)), of_line)
        nth = np.arange(len(line)) - np.repeat(np.cumsum(of_line) - of_line, of_line)
        stat = (np.cumsum(counts) - counts)[self.codes[line]] + nth
        index = self.first[line] + np.array([hole for _, hole in stats], np.int64)[stat]
        numbers, text = self.numbers, self.lines.block.text
        return {
            **self._places(self.rows[line]),
            "stat": coded([name for name, _ in stats], stat),
            "value": texts_at(text, numbers.starts[index], numbers.stops[index] - numbers.starts[index]),
            "value_number": pa.array(numbers.values[index]),
        }

    def _places(self, rows: Ints) -> dict[str, Any]:
        lines = self.lines
        return {
            "line_number": pa.array(lines.numbers[rows]),
            "raw_offset": pa.array(lines.markers[rows] + lines.block.offset),
            "raw_length": pa.array(lines.stops[rows] - lines.markers[rows]),
        }


def find_alike(lines: Lines, known: Templates) -> Alike:
    """The lines of a block that have company. `known` is filled with what is learnt, for the blocks to come."""
    if len(lines.starts) < _CROWD:
        nothing = np.empty(0, np.int64)
        return Alike(lines, Numbers(nothing, nothing, np.empty(0), nothing, nothing), [], nothing, nothing, nothing)
    numbers = numbers_in(lines)
    codes = np.full(len(lines.starts), -1)
    templates: list[Template] = []
    for rows in _look_alikes(lines, numbers):
        for _ in range(_ROUNDS):
            if len(rows) < _COMPANY:
                break
            is_same, texts = _like_the_first(rows, lines, numbers)
            if np.count_nonzero(is_same) >= _COMPANY:
                if texts not in known:
                    if len(known) == _MOST_TEMPLATES:
                        known.clear()
                    known[texts] = template_of(texts)
                if (template := known[texts]) is not None:
                    codes[rows[is_same]] = len(templates)
                    templates.append(template)
            rows = rows[~is_same]
    rows = np.flatnonzero(codes >= 0)
    codes, first = codes[rows], numbers.first[rows]
    if len(rows):
        times = numbers.values[first + np.array([template.time_ms for template in templates])[codes]]
        is_time = (np.abs(times) < NO_TIME) & (times == np.floor(times))
        rows, codes, first = rows[is_time], codes[is_time], first[is_time]
    return Alike(lines, numbers, templates, rows, codes, first)


def _look_alikes(lines: Lines, numbers: Numbers) -> Iterator[Ints]:
    """Rows of lines with as many numbers and, most likely, texts of the same lengths between them."""
    counts, first = numbers.counts, numbers.first
    previous = np.append(0, numbers.stops[:-1]) if len(numbers.stops) else numbers.stops
    filled = np.flatnonzero(counts)
    if not len(filled):
        return
    previous[first[filled]] = lines.starts[filled]
    line = np.repeat(np.arange(len(counts)), counts)
    nth = np.arange(len(line)) - first[line]
    parts = (numbers.starts - previous) * _WEIGHTS[np.minimum(nth, _MOST_NUMBERS)]
    last = lines.stops[filled] - numbers.stops[first[filled] + counts[filled] - 1]
    signatures = np.add.reduceat(parts, first[filled]) + last * _WEIGHTS[-1] + counts[filled] * _WEIGHTS[-2]
    order = np.argsort(signatures, kind="stable")
    edges = np.flatnonzero(np.diff(signatures[order], prepend=signatures[order[0]] - 1, append=signatures[order[-1]] - 1))
    for index in np.flatnonzero(np.diff(edges) >= _COMPANY).tolist():
        rows = filled[order[edges[index] : edges[index + 1]]]
        if counts[rows[0]] <= _MOST_NUMBERS:
            yield rows


def _like_the_first(rows: Ints, lines: Lines, numbers: Numbers) -> tuple[Bools, tuple[bytes, ...]]:
    """Which of some lines have the texts of their first one, and these texts."""
    data, count = lines.block.data, int(numbers.counts[rows[0]])
    texts: list[bytes] = []
    is_alike = numbers.counts[rows] == count
    alike = np.flatnonzero(is_alike)
    for index in range(count + 1):
        kept = rows[alike]
        first = numbers.first[kept] + index
        starts = numbers.stops[first - 1] if index else lines.starts[kept]
        stops = numbers.starts[first] if index < count else lines.stops[kept]
        text = data[starts[0] : stops[0]]
        is_same = stops - starts == len(text)
        is_same &= is_at(data, np.where(is_same, starts, starts[0]), text)
        texts.append(text)
        is_alike[alike[~is_same]] = False
        alike = alike[is_same]
    return is_alike, tuple(texts)
