"""Documents that belong to a submission: system, measurement and power-session JSON, and user.conf.

A JSON document is walked pair by pair, so that each entry leads to the exact bytes of its `"key": value` and a broken
document still yields what stands before the break.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from .logs import Json, is_lost_number, json_number, json_text
from .text import Data, Entry, Report, clean, decoded, landed_text, lines, text_entry

_MAX_KEY_CHARACTERS = 256
_BLANK = re.compile(r"[\s\ufeff]*")


class _Pair(NamedTuple):
    key: str
    value: Any
    start: int  # characters
    stop: int


def json_entries(data: bytes, report: Report, *, scalars_only: bool = False) -> Iterator[Entry]:
    """One entry a top-level key, in the order of the document; a key that stands twice gives two entries."""
    text = _decoded(data, report)
    decoder = Json()
    seen: set[str] = set()
    at = _Positions(text)
    for pair in _pairs(text, decoder, report):
        offset, line_number = at(pair.start)
        length = at(pair.stop)[0] - offset
        if pair.key in seen:
            report("duplicate-json-key", pair.key[:120], offset, length, line_number)
        seen.add(pair.key)
        for name in decoder.duplicates:
            report("duplicate-json-key", f"{pair.key[:80]}: {name[:80]}", offset, length, line_number)
        decoder.duplicates.clear()
        if scalars_only and isinstance(pair.value, (dict, list)):
            continue
        if is_lost_number(pair.value):
            report("non-finite-number", pair.key[:120], offset, length, line_number)
        value = json_text(pair.value)
        yield Entry(
            offset, length, line_number, clean(pair.key[:_MAX_KEY_CHARACTERS]),
            None if value is None else landed_text(value), json_number(pair.value),
        )


def _decoded(data: bytes, report: Report) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line_number = data.count(b"\n", 0, error.start) + 1
        report("invalid-utf8", f"{error.reason} at byte {error.start}", error.start, 1, line_number)
        return data.decode(errors="surrogateescape")


def _pairs(text: str, decoder: Json, report: Report) -> Iterator[_Pair]:
    position = 0

    def expect(*marks: str) -> str:
        nonlocal position
        position = _BLANK.match(text, position).end()
        mark = text[position : position + 1]
        if mark not in marks or not mark:
            raise ValueError(f"expected {' or '.join(marks)}")
        return mark

    try:
        expect("{")
        position += 1
        position = _BLANK.match(text, position).end()
        if text[position : position + 1] == "}":
            position += 1
        else:
            while True:
                expect('"')
                start = position
                key, position = decoder.value_at(text, position)
                expect(":")
                position = _BLANK.match(text, position + 1).end()
                value, position = decoder.value_at(text, position)
                yield _Pair(key, value, start, position)
                mark = expect(",", "}")
                position += 1
                if mark == "}":
                    break
        if _BLANK.fullmatch(text, position) is None:
            raise ValueError("text after the end of the document")
    except (ValueError, RecursionError) as error:
        before = text[:position].encode(errors="surrogateescape")
        report("malformed-json", str(error)[:200], len(before), 0, before.count(b"\n") + 1, "error")


class _Positions:
    """Byte offset and line number of ever later characters, counted once."""

    def __init__(self, text: str) -> None:
        self._text, self._character, self._offset, self._line = text, 0, 0, 1

    def __call__(self, character: int) -> tuple[int, int]:
        between = self._text[self._character : character]
        self._offset += len(between) if between.isascii() else len(between.encode(errors="surrogateescape"))
        self._line += between.count("\n")
        self._character = character
        return self._offset, self._line


def conf_entries(data: Data, report: Report) -> Iterator[Entry]:
    """`model.scenario.key = value` lines with the left side as key; comments are skipped."""
    for line in lines(data, report):
        text = decoded(line, report).partition("#")[0].strip()
        key, mark, value = (part.strip() for part in text.partition("="))
        if mark and 0 < len(key) <= _MAX_KEY_CHARACTERS:
            yield text_entry(line, key, value, report)
        elif text:
            report.at("unrecognised-line", text[:120], line)
