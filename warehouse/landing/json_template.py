"""What JSON records have in common that were written by one line of code: the texts between their scalars."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from warehouse.landing.json_records import Path
from warehouse.landing.numbers_at import Bools, Bytes

_MOST_HOLES = 400
_DEEPEST = 100  # as whoever reads with care
_TOKEN = re.compile(rb'[ \t\r\n]*+([{}\[\],:]|"[^"\\\x00-\x1f]*+"|-?[0-9][0-9.eE+-]*+|null|true|false)')


@dataclass(frozen=True)
class Template:
    """A record's texts before, between and behind its holes, and the path of keys to each hole; None in an array. Behind each
    hole are `edges` bytes before the next comma, whose number from 0 is in `behind`, or before the record's end. `containers`
    are the paths of its objects and arrays; `settled` is what stands at paths where all records have the same."""

    texts: tuple[bytes, ...]
    edges: tuple[int, ...]
    behind: tuple[int, ...]
    paths: tuple[Path | None, ...]
    commas: int
    containers: frozenset[Path]
    settled: Mapping[Path | None, bytes]

    def count(self, is_wanted: Callable[[Bytes], Bools]) -> int:
        """How many of the texts' bytes are such."""
        return int(np.count_nonzero(is_wanted(np.frombuffer(b"".join(self.texts), np.uint8))))

    def settle(self, filled: Mapping[int, bytes]) -> "Template":
        """The template where some of the holes are filled; the first is not."""
        texts = [self.texts[0]]
        for hole, text in enumerate(self.texts[1:]):
            if hole in filled:
                texts[-1] += filled[hole] + text
            else:
                texts.append(text)
        kept = [hole for hole in range(len(self.paths)) if hole not in filled]
        settled = {self.paths[hole]: text for hole, text in filled.items()}
        return Template(
            tuple(texts), tuple(self.edges[hole] for hole in kept), tuple(self.behind[hole] for hole in kept),
            tuple(self.paths[hole] for hole in kept), self.commas, self.containers, {**self.settled, **settled},
        )


def template_of(record: bytes) -> Template | None:
    """The template of a record that a library could decode; None where it is none: it is no object, a comma or an escape is in a
    text, a key stands twice, or nothing but brackets stands between two commas."""
    if not record.startswith(b"{"):  # an array has no columns by key
        return None
    walk = _Walk()
    position, end = 0, len(record)
    while position < end and (found := _TOKEN.match(record, position)):
        position = found.end()
        following = _TOKEN.match(record, position)
        if not walk.step(found[1], found.start(1), is_key=following is not None and following[1] == b":"):
            return None
    holes, commas = walk.holes, walk.commas
    if position != end or record.count(b",") != len(commas) or len(holes) != len(commas) + 1 or len(holes) > _MOST_HOLES:
        return None
    ends = [*commas, end]
    edges = [0, *(hole.stop for hole in holes)]
    if any(hole.stop > end for hole, end in zip(holes, ends, strict=True)):
        return None
    if any(comma > hole.start for comma, hole in zip(commas, holes[1:], strict=True)):
        return None
    texts = [record[edge : hole.start] for edge, hole in zip(edges, holes, strict=False)]
    return Template(
        (*texts, record[edges[-1] :]), tuple(end - hole.stop for hole, end in zip(holes, ends, strict=True)),
        tuple(range(len(holes))), tuple(hole.path for hole in holes), len(commas), frozenset(walk.containers), {},
    )


class _Hole(NamedTuple):
    start: int
    stop: int
    path: Path | None


class _Walk:
    """A walk over the tokens of a record, which is known to be JSON."""

    def __init__(self) -> None:
        self.holes: list[_Hole] = []
        self.commas: list[int] = []
        self.containers: list[Path] = []
        self._open: list[tuple[Path | None, set[str] | None]] = []  # each container's path, and the keys of an object
        self._path: Path | None = ()  # of the value to come

    def step(self, token: bytes, start: int, *, is_key: bool) -> bool:
        """Whether a record with this token may have a template."""
        if token in (b"{", b"["):
            if self._path is not None:
                self.containers.append(self._path)
            self._open.append((self._path, set() if token == b"{" else None))
            if token == b"[":
                self._path = None
            return len(self._open) <= _DEEPEST
        if token in (b"}", b"]"):
            self._open.pop()
        elif token == b",":
            self.commas.append(start)
            if self._open[-1][1] is None:
                self._path = None
        elif is_key:
            above, keys = self._open[-1]
            name = token[1:-1].decode()
            if keys is None or name in keys:
                return False
            keys.add(name)
            self._path = None if above is None else (*above, name)
        elif token != b":":
            self.holes.append(_Hole(start, start + len(token), self._path))
        return True
