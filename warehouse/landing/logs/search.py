"""Searches one log for the lines that rules know, and folds the other warnings and errors into templates.

All patterns are searched at once, in whole pieces of the file; only lines that have one are looked at rule by rule. So a log costs about what
`grep -E` takes for the same patterns.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from warehouse.landing.logs.rules import Rule, in_lines
from warehouse.landing.readers.text import Data, Piece, Report, pieces

TEXT_BYTES = 1000  # of a line that is kept
# A level as loggers write it, or an exception's name: not a column that is called error, nor a sentence about errors.
LEVEL = (
    r"\b(?:ERROR|WARNING|WARN|FATAL|CRITICAL)\b|\b(?:[Ee]rror|[Ww]arning|[Ff]atal|[Cc]ritical)(?: [\w-]+)?[:\]]"
    r"|\b[A-Z]\w*(?:Error|Exception|Warning)\b|\b[Ff]ailed to \w"
)
_IS_WARNING = re.compile(r"\bWARN(?:ING)?\b|\b[Ww]arning\b|Warning\b")
_VARIABLE = (  # what differs between lines that say the same, and what is put in its place
    (r"\x1b\[[0-9;]*[A-Za-z]", ""),
    (r"(?:[A-Za-z]:)?(?:[\\/][\w.+@%~-]+){2,}[\\/]?", "<path>"),
    (r"\b0[xX][0-9a-fA-F]+\b|\b[0-9a-fA-F]+(?:-[0-9a-fA-F]+){3,}\b|\b[0-9a-fA-F]*[0-9][0-9a-fA-F]{7,}\b", "<hex>"),
    (r"[0-9]+(?:[.,:_-][0-9]+)*", "<n>"),
    (r"\s+", " "),
)
_TEMPLATE_BYTES = 300  # of a line that its template is made of
_TEMPLATED = 200_000  # lines of one file: more are counted, and not folded
_TEMPLATES = 5_000  # of one file that are counted
_KEPT = 40  # of those, the most frequent
_WAITING = 20_000  # lines that rules are tried on together
_WAITING_BYTES = 8 << 20


@dataclass
class Seen:
    """How often something was found in a file; the first and the last line that has it: number, offset, length."""

    count: int
    first: tuple[int, int, int]
    last: tuple[int, int, int]
    text: bytes  # of the first


@dataclass
class Found:
    """What a log has. `unknown` are templates of warnings and errors that no rule knows, the most frequent first."""

    line_count: int = 0
    unknown_count: int = 0
    known: dict[str, Seen] = field(default_factory=dict)
    unknown: dict[str, Seen] = field(default_factory=dict)


@dataclass(frozen=True)
class _Lines:
    """Some lines of a file, with their numbers, offsets and lengths."""

    texts: pa.BinaryArray
    numbers: NDArray[np.int64]
    offsets: NDArray[np.int64]
    lengths: NDArray[np.int64]

    def chosen(self, mask: pa.BooleanArray) -> _Lines:
        places = np.flatnonzero(mask.to_numpy(zero_copy_only=False))
        return _Lines(self.texts.take(pa.array(places)), self.numbers[places], self.offsets[places], self.lengths[places])

    def place(self, index: int) -> tuple[int, int, int]:
        return int(self.numbers[index]), int(self.offsets[index]), int(self.lengths[index])


def search(data: Data, rules: Sequence[Rule], report: Report) -> Found:
    """What is found in a file; lines that are too long are reported and left out."""
    search = _Search(tuple(rules))
    for piece in pieces(data, report):
        search.add(piece)
    return search.found()


def is_warning(template: str) -> bool:
    """Whether its line calls itself a warning."""
    return bool(_IS_WARNING.search(template))


@cache
def _together(patterns: tuple[str, ...]) -> str:
    return in_lines("|".join(f"(?:{pattern})" for pattern in patterns))


class _Search:
    def __init__(self, rules: tuple[Rule, ...]) -> None:
        self._rules = rules
        patterns = tuple(rule.pattern for rule in rules)
        self._any, self._known = _together((*patterns, LEVEL)), _together(patterns) if patterns else None
        self._found = Found()
        self._waiting: list[_Lines] = []
        self._waiting_bytes = 0

    def add(self, piece: Piece) -> None:
        self._found.line_count += len(piece.starts)
        bounds = np.append(piece.starts, len(piece.data)).astype(np.int32)
        texts = pa.Array.from_buffers(pa.binary(), len(piece.starts), [None, pa.py_buffer(bounds), pa.py_buffer(piece.data)])
        mask = pc.match_substring_regex(texts, self._any)
        if not pc.any(mask).as_py():
            return
        numbers = np.arange(piece.number, piece.number + len(piece.starts))
        lines = _Lines(texts, numbers, piece.starts + piece.offset, piece.ends - piece.starts).chosen(mask)
        self._waiting.append(lines)
        self._waiting_bytes += int(lines.lengths.sum())
        if sum(len(each.texts) for each in self._waiting) > _WAITING or self._waiting_bytes > _WAITING_BYTES:
            self._look()

    def found(self) -> Found:
        self._look()
        unknown = sorted(self._found.unknown.items(), key=lambda item: (-item[1].count, item[1].first))
        self._found.unknown = dict(unknown[:_KEPT])
        return self._found

    def _look(self) -> None:
        """Try each rule on the lines that wait."""
        if not self._waiting:
            return
        lines = _Lines(
            pa.concat_arrays([each.texts for each in self._waiting]),
            *(np.concatenate([getattr(each, name) for each in self._waiting]) for name in ("numbers", "offsets", "lengths")),
        )
        self._waiting, self._waiting_bytes = [], 0
        if self._known is not None:
            is_known = pc.match_substring_regex(lines.texts, self._known)
            known = lines.chosen(is_known)
            for rule in self._rules if len(known.texts) else ():
                of_rule = known.chosen(pc.match_substring_regex(known.texts, in_lines(rule.pattern)))
                if count := len(of_rule.texts):
                    _note(self._found.known, rule.name, count, of_rule, 0, count - 1)
            lines = lines.chosen(pc.invert(is_known))
        self._fold(lines)

    def _fold(self, lines: _Lines) -> None:
        folded = max(0, min(len(lines.texts), _TEMPLATED - self._found.unknown_count))
        self._found.unknown_count += len(lines.texts)
        if not folded:
            return
        texts = pc.binary_slice(lines.texts.slice(0, folded), 0, _TEMPLATE_BYTES)
        for pattern, instead in _VARIABLE:
            texts = pc.replace_substring_regex(texts, pattern, instead)
        coded = texts.dictionary_encode()
        codes = coded.indices.to_numpy()
        _, firsts, counts = np.unique(codes, return_index=True, return_counts=True)
        lasts = len(codes) - 1 - np.unique(codes[::-1], return_index=True)[1]
        templates = self._found.unknown
        for template, first, last, count in zip(coded.dictionary.to_pylist(), firsts, lasts, counts, strict=True):
            name = template.decode(errors="replace").strip()
            if name in templates or len(templates) < _TEMPLATES:
                _note(templates, name, int(count), lines, int(first), int(last))


def _note(seen: dict[str, Seen], name: str, count: int, lines: _Lines, first: int, last: int) -> None:
    if (earlier := seen.get(name)) is not None:
        earlier.count += count
        earlier.last = lines.place(last)
    else:
        text = lines.texts[first].as_py()[:TEXT_BYTES].rstrip(b"\r\n")
        seen[name] = Seen(count, lines.place(first), lines.place(last), text)
