"""JSON that wraps what tools wrote: their output as a text, or their own JSON somewhere inside of it.

Every row points to the bytes of the wrapper that state it, also where the text is escaped.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Callable
from typing import Any

from warehouse.landing.readers.json_text import Element
from warehouse.landing.readers.text import Data, Report

from .check import Row, Rows
from .json_tree import KEY, Document, documents

Parser = Callable[[Data, Report, str], Rows]

# A tool's first line and a line of its results, in one text.
TEXT = re.compile(
    rb'(?:"|\\n)(?:\[[^"\\\]]{1,40}\](?:<\w+>)?:?|\d{1,6}:)? *(?:'
    rb'#\s*(?:nThread|nccl-tests version)[^"]*\\n#\s+size\s+count'
    rb'|(?:RDMA_Write|RDMA_Read|Send|Atomic)\b[^"\\]{0,60}Test\s*\\n[^"]*#bytes'
    rb'|nvbandwidth Version:[^"]*\\nRunning \w+'
    rb'|(?:Connecting to host|Accepted connection from) [^"]*\\n[^"]*bits/sec'
    rb'|[^"\\(\n]{1,80}: \(groupid=\d+, jobs=\d+\): err='
    rb'|(?:Burning for|Tested) \d+ (?:seconds|GPUs))'
)
_OWN_KEYS = ({"fio version", "jobs"}, {"start", "end", "intervals"}, {"nccl_version", "config", "results"})
_PIECE = re.compile(rb"(?:\\u[0-9a-fA-F]{4})+|\\.|[^\\]+", re.DOTALL)
_STRUCTURE = re.compile(rb'"(?:[^"\\]|\\.)*"|[{\[\]}]', re.DOTALL)


def holds_a_tool(head: bytes, marks: re.Pattern[bytes]) -> bool:
    """Whether the JSON that begins here has a tool's output in a text, or its JSON (`marks`) deeper than a tool writes it."""
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    if start[:1] not in (b"{", b"["):
        return False
    if TEXT.search(head):
        return True
    found = marks.search(head)
    if found is None:
        return False
    depth = 0
    for token in _STRUCTURE.finditer(head, 0, found.start()):
        depth += {b"{": 1, b"[": 1, b"}": -1, b"]": -1}.get(token[0], 0)
    return depth > 1 + (b'"iperf' in found[0])  # iperf3's version is in `start`


def rows(data: Data, report: Report, file_name: str, parsers: Callable[[bytes], list[Parser]]) -> Rows:
    """The checks of everything that is wrapped; `parsers` are those of the tools that wrote some bytes."""
    for document in documents(data, report):
        for element in document.elements():
            yield from _within(document, element, report, file_name, parsers)


def _within(document: Document, element: Element, report: Report, name: str, parsers: Callable[[bytes], list[Parser]]) -> Rows:
    value = element.value
    start, raw = _value(document, element)
    if isinstance(value, dict) and _is_a_tools(value):
        yield from _placed(raw, report, name, parsers, lambda offset: start + offset, element.line_number - 1)
    elif isinstance(value, (dict, list)):
        for inner in document.inside(element):
            yield from _within(document, inner, report, name, parsers)
    elif isinstance(value, str) and TEXT.search(raw):
        text, places = _decoded(raw, start)
        yield from _placed(text, report, name, parsers, places, None, element.line_number)


def _is_a_tools(value: dict[str, Any]) -> bool:
    inner = value.get("nvbandwidth")
    return isinstance(inner, dict) and "testcases" in inner or any(keys <= value.keys() for keys in _OWN_KEYS)


def _value(document: Document, element: Element) -> tuple[int, bytes]:
    """Where the value of an element begins in the file, and its bytes."""
    line = document.line(element)
    key = KEY.match(line.data) if element.key is not None else None
    skipped = key.end() if key else 0
    return line.offset + skipped, line.data[skipped:]


def _placed(
    data: bytes, report: Report, name: str, parsers: Callable[[bytes], list[Parser]], place: Callable[[int], int],
    lines_before: int | None, line_number: int | None = None,
) -> Rows:
    """What tools read from a part of a file, at its places in the file. A text in a string has one line of the file."""

    def line_of(inner: int | None) -> int | None:
        return line_number if lines_before is None else None if inner is None else lines_before + inner

    within = _Within(report, place, line_of)
    for parser in parsers(data):
        for row in parser(data, within, name):
            if row.table is None:
                begin, stop = place(row.check.offset), place(row.check.offset + row.check.length)
                row.check.offset, row.check.length = begin, stop - begin
                yield row
                continue
            offset = place(row.offset)
            columns = {**row.columns, "line_number": line_of(row.columns["line_number"])} if "line_number" in row.columns else row.columns
            yield Row(row.check, row.table, offset, place(row.offset + row.length) - offset, columns, row.issue)


def _decoded(literal: bytes, start: int) -> tuple[bytes, Callable[[int], int]]:
    """The bytes of a JSON string's text, and where each of them is stated in the file."""
    text, decoded_at, raw_at = bytearray(), [0], [start + 1]
    for piece in _PIECE.finditer(literal, 1, len(literal) - 1):
        decoded_at.append(len(text))
        raw_at.append(start + piece.start())
        plain = piece[0] if piece[0][:1] != b"\\" else json.loads(b'"' + piece[0] + b'"').encode(errors="replace")
        text += plain
    decoded_at.append(len(text))
    raw_at.append(start + len(literal) - 1)

    def place(offset: int) -> int:
        index = bisect_right(decoded_at, offset) - 1
        following = raw_at[index + 1] if index + 1 < len(raw_at) else raw_at[index]
        return min(raw_at[index] + offset - decoded_at[index], max(following, raw_at[index]))

    return bytes(text), place


class _Within(Report):
    """The report of a file, for a part of it."""

    def __init__(self, outer: Report, place: Callable[[int], int], line_of: Callable[[int | None], int | None]) -> None:
        self._outer, self._place, self._line_of = outer, place, line_of

    def __call__(
        self, code: str, message: str, offset: int = 0, length: int = 0, line_number: int | None = None, severity: str = "warning"
    ) -> None:
        begin = self._place(offset)
        self._outer(code, message, begin, self._place(offset + length) - begin, self._line_of(line_number), severity)
