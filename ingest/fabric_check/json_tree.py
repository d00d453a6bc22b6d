"""Steps into a JSON document, level by level, with the bytes of each value."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from warehouse.landing.json_text import Element, json_elements, json_number, json_pairs, json_text
from warehouse.landing.text import MAX_KEY_CHARACTERS, Data, Line, Report, clean

MAX_DOCUMENT_BYTES = 32 << 20  # a document is held whole: a tool's result is some kilobytes
_OPENING = re.compile(rb"^[^\S\n]*\{", re.MULTILINE)
_KEY = re.compile(rb'"(?:[^"\\]|\\.)*"\s*:\s*', re.DOTALL)


class Document:
    """A JSON object in a file, after whatever text a tool wrote before it."""

    def __init__(self, data: Data, report: Report) -> None:
        self._report = report
        opening = _OPENING.search(data)
        self.start = opening.end() - 1 if opening else 0
        self.data = b""
        if len(data) - self.start > MAX_DOCUMENT_BYTES:
            report("document-too-large", f"{len(data)} bytes", severity="error")
        else:
            self.data = bytes(data[self.start :])
        self._first_line = data[: self.start].count(b"\n") + 1

    @property
    def whole(self) -> Line:
        """The document as one line."""
        return Line(self._first_line, self.start, self.data)

    def pairs(self) -> Iterator[Element]:
        """The pairs of the document itself."""
        return json_pairs(self.data, self._report, start=(self.start, self._first_line))

    def inside(self, element: Element) -> Iterator[Element]:
        """The pairs of an object or the elements of an array; nothing of any other value."""
        if not isinstance(element.value, (dict, list)):
            return iter(())
        begin = element.offset - self.start
        raw = self.data[begin : begin + element.length]
        key = _KEY.match(raw) if element.key is not None else None
        skipped = key.end() if key else 0
        start = (element.offset + skipped, element.line_number + raw[:skipped].count(b"\n"))
        walk = json_pairs if isinstance(element.value, dict) else json_elements
        return walk(raw[skipped:], self._report, start=start)

    def line(self, element: Element) -> Line:
        """The element's bytes as a line, for rows that are placed by lines."""
        begin = element.offset - self.start
        return Line(element.line_number, element.offset, self.data[begin : begin + element.length])


def by_key(elements: Iterator[Element]) -> dict[str, Element]:
    """The pairs by their keys; of a key that stands twice, the last, as JSON decoders do."""
    return {element.key: element for element in elements if element.key is not None}


def number(value: Any, key: str) -> float | None:
    """The number under a key of an object."""
    return json_number(value.get(key)) if isinstance(value, dict) else None


def integer(value: Any, key: str) -> int | None:
    """The whole number under a key of an object."""
    found = number(value, key)
    return int(found) if found is not None and found.is_integer() and abs(found) < 2**63 else None


def text(value: Any, key: str) -> str | None:
    """The text under a key of an object, as valid Unicode and no longer than a name is."""
    found = value.get(key) if isinstance(value, dict) else None
    return None if found is None or isinstance(found, (dict, list)) else clean(json_text(found) or "")[:MAX_KEY_CHARACTERS]
