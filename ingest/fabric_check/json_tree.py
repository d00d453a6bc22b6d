"""Steps into a JSON document, level by level, with the bytes of each value."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from warehouse.landing.readers.json_numbers import mended
from warehouse.landing.readers.json_text import Element, json_elements, json_pairs, json_text
from warehouse.landing.readers.records import Record, shown
from warehouse.landing.readers.text import MAX_KEY_CHARACTERS, Data, Line, Place, Report, clean, count_of, lines

MAX_DOCUMENT_BYTES = 32 << 20  # a document is held whole: a tool's result is some kilobytes
_OPENING = re.compile(rb"^[^\S\n]*\{", re.MULTILINE)
_LIST = re.compile(rb"\s*\[")
_CLOSING = re.compile(rb"^\}[^\S\n]*\n", re.MULTILINE)  # of a document that is indented, as these tools write theirs
_BEHIND = re.compile(rb"\s*[^\s{}\[\],:][^\n]*")  # the first line of what a tool or a shell wrote below the last document
KEY = re.compile(rb'"(?:[^"\\]|\\.)*"\s*:\s*', re.DOTALL)
_NOWHERE = Place(0, 0)


def documents(data: Data, report: Report, start: int = 0) -> Iterator["Document"]:
    """The documents of a file from a place on, one at least: `iperf3 --logfile` and `>>` append theirs."""
    line_number = 1 + count_of(b"\n", data, 0, start)
    while (closing := _CLOSING.search(data, start)) and _OPENING.search(data, closing.end()):
        yield Document(data, report, start, closing.end(), line_number)
        line_number += count_of(b"\n", data, start, closing.end())
        start = closing.end()
    stop = len(data)
    if closing and (behind := _BEHIND.match(data, closing.end())):
        stop = closing.end()
        message = behind[0].decode(errors="replace").strip()[:200]
        report("text-after-document", message, behind.start(), len(behind[0]), line_number + count_of(b"\n", data, start, stop), "error")
    yield Document(data, report, start, stop, line_number)


class Document:
    """A JSON object in a part of a file that begins with a line, after whatever text a tool wrote before it."""

    def __init__(self, data: Data, report: Report, start: int, stop: int, line_number: int) -> None:
        self._report = report
        self._is_list = _LIST.match(data, start) is not None
        opening = None if self._is_list else _OPENING.search(data, start, stop)
        self.start = opening.end() - 1 if opening else start
        self.data = b""
        if stop - self.start > MAX_DOCUMENT_BYTES:
            report("document-too-large", f"{stop - self.start} bytes", severity="error")
        else:
            self.data = bytes(data[self.start : stop])
        self._first_line = line_number + count_of(b"\n", data, start, self.start)
        # Once for the document: parts of it are walked again and again.
        self.data = mended(self.data, report, (self.start, self._first_line))

    @property
    def whole(self) -> Line:
        """The document as one line."""
        return Line(self._first_line, self.start, self.data)

    def pairs(self) -> Iterator[Element]:
        """The pairs of the document itself."""
        return json_pairs(self.data, self._report, start=(self.start, self._first_line))

    def elements(self) -> Iterator[Element]:
        """The pairs of the document, or, where the file is a list, its elements."""
        if self._is_list:
            return json_elements(self.data, self._report, start=(self.start, self._first_line))
        return self.pairs()

    def lines(self) -> Iterator[dict[str, Element]]:
        """The pairs of each line, where every line is an object of its own."""
        for line in lines(self.data, self._report):
            start = (self.start + line.offset, self._first_line + line.number - 1)
            yield by_key(json_pairs(line.data, self._report, start=start))

    def inside(self, element: Element) -> Iterator[Element]:
        """The pairs of an object or the elements of an array; nothing of any other value."""
        if not isinstance(element.value, (dict, list)):
            return iter(())
        begin = element.offset - self.start
        raw = self.data[begin : begin + element.length]
        key = KEY.match(raw) if element.key is not None else None
        skipped = key.end() if key else 0
        start = (element.offset + skipped, element.line_number + raw[:skipped].count(b"\n"))
        walk = json_pairs if isinstance(element.value, dict) else json_elements
        return walk(raw[skipped:], self._report, start=start)

    def line(self, element: Element) -> Line:
        """The element's bytes as a line, for rows that are placed by lines."""
        begin = element.offset - self.start
        return Line(element.line_number, element.offset, self.data[begin : begin + element.length])

    def expect(self, found: Mapping[str, Any], keys: Iterable[str]) -> None:
        """Tell which of the keys that the tool always writes are not there."""
        missing = ", ".join(key for key in keys if key not in found)
        if missing:
            self._report("missing-key", missing[:200], self.start, len(self.data), self._first_line)

    def record(self, element: Element | None) -> Record:
        """The object that an element is, for its numbers; what cannot be used is reported at the element. Empty for any other."""
        value, flag = element.value if element is not None else None, self._report.flag(element or _NOWHERE)
        if element is not None and value is not None and not isinstance(value, dict):
            flag("not-an-object", f"{element.key}: {shown(value)}")
        return Record(value if isinstance(value, dict) else {}, flag)

    def number(self, element: Element | None) -> float | None:
        """The number that an element states, as `record` takes one."""
        key = (element.key if element is not None else None) or "value"
        return Record({key: element.value if element is not None else None}, self._report.flag(element or _NOWHERE)).number(key)


def by_key(elements: Iterator[Element]) -> dict[str, Element]:
    """The pairs by their keys; the last one for a key that occurs twice, as JSON decoders do."""
    return {element.key: element for element in elements if element.key is not None}


def text(value: Any, key: str) -> str | None:
    """The text under a key of an object, as valid Unicode and no longer than a name is."""
    found = value.get(key) if isinstance(value, dict) else None
    return None if found is None or isinstance(found, (dict, list)) else clean(json_text(found) or "")[:MAX_KEY_CHARACTERS]
