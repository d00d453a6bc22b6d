"""XML as a tree of values, each with the bytes that state it.

An element is an object: its attributes by name, under each tag the list of its elements of that tag, or under `<tag>` where an attribute has
that name, and its text without blanks around as `#text`, the first part of it where elements are between. The document is an object with the
list of its one root element. Entities other than the five of XML, and a DOCTYPE, are refused: nothing outside of the file is read.
"""

from __future__ import annotations

import re
from html import unescape

from warehouse.landing.described.forms.nodes import MAX_DEPTH, BrokenError, Node
from warehouse.landing.readers.text import Report, clean

_NAME = rb"[A-Za-z_:\x80-\xff][\w:.\x80-\xff-]*+"
_STATED = _NAME + rb"\s*+=\s*+(?:\"[^\"<]*+\"|'[^'<]*+')"
_MARK = re.compile(
    rb"<!--(?:(?!-->)[\s\S])*+-->|<\?(?:(?!\?>)[\s\S])*+\?>|<!\[CDATA\[(?P<raw>(?:(?!\]\]>)[\s\S])*+)\]\]>|<(?P<bad>!)"
    rb"|</(?P<end>" + _NAME + rb")\s*+>|<(?P<tag>" + _NAME + rb")(?P<rest>(?:\s++" + _STATED + rb")*+)\s*+(?P<alone>/?)>"
)
_ATTRIBUTE = re.compile(rb"(" + _NAME + rb")\s*+=\s*+(?:\"([^\"<]*+)\"|'([^'<]*+)')")
_ENTITY = re.compile(rb"&(?!(?:lt|gt|amp|quot|apos|#\d{1,7}|#x[0-9A-Fa-f]{1,6});)")


class Reader:
    """Reads XML. `root` is what was read of a document before it broke."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.root: Node | None = None
        self.undecodable: list[int] = []

    def document(self) -> Node:
        """The document. Raises `BrokenError`."""
        top: dict[str, Node] = {}
        self.root = Node(top, 0, len(self._data))
        open_elements: list[tuple[bytes, dict[str, Node], int]] = [(b"", top, 0)]
        try:
            self._read(top, open_elements)
            if len(open_elements) > 1 or not top:
                raise BrokenError("the document breaks off", len(self._data))
        except BrokenError:
            for (_, above, _), (tag, value, start) in zip(open_elements[-2::-1], open_elements[:0:-1], strict=True):
                self._close(above, tag, value, start, len(self._data))
            raise
        return self.root

    def _read(self, top: dict[str, Node], open_elements: list[tuple[bytes, dict[str, Node], int]]) -> None:
        data, position = self._data, 3 if self._data.startswith(b"\xef\xbb\xbf") else 0
        while (mark := data.find(b"<", position)) >= 0:
            self._text(open_elements[-1][1], position, mark, len(open_elements) > 1)
            found = _MARK.match(data, mark)
            if not found or found["bad"] is not None and not data.startswith(b"<!DOCTYPE", mark):
                raise BrokenError("the document breaks off" if data.find(b">", mark) < 0 else "not an element", mark)
            if found["bad"] is not None:
                raise BrokenError("a document with a DOCTYPE is not read", mark)
            position = found.end()
            if found["raw"] is not None:
                self._text(open_elements[-1][1], *found.span("raw"), len(open_elements) > 1, is_raw=True)
            elif found["end"] is not None:
                tag, value, start = open_elements[-1]
                if tag != found["end"] or len(open_elements) == 1:
                    raise BrokenError(f"</{found['end'].decode(errors='replace')[:40]}> ends no element", mark)
                open_elements.pop()
                self._close(open_elements[-1][1], tag, value, start, position)
            elif found["tag"] is not None:
                if len(open_elements) > MAX_DEPTH or len(open_elements) == 1 and top:
                    raise BrokenError(f"nested deeper than {MAX_DEPTH} levels" if top or len(open_elements) > 1 else "a second root element", mark)
                value = self._attributes(found)
                if found["alone"]:
                    self._close(open_elements[-1][1], found["tag"], value, mark, position)
                else:
                    open_elements.append((found["tag"], value, mark))
        self._text(open_elements[-1][1], position, len(data), len(open_elements) > 1)

    def _attributes(self, tag: re.Match[bytes]) -> dict[str, Node]:
        found: dict[str, Node] = {}
        for each in _ATTRIBUTE.finditer(self._data, *tag.span("rest")):
            start, stop = each.span(2 if each[2] is not None else 3)
            name = each[1].decode(errors="replace")
            if name in found:
                raise BrokenError(f"{name[:40]} is stated twice", each.start())
            found[name] = Node(self._plain(start, stop), start, stop)
        return found

    def _close(self, above: dict[str, Node], tag: bytes, value: dict[str, Node], start: int, stop: int) -> None:
        name = tag.decode(errors="replace")
        if name in above and not isinstance(above[name].value, list):
            name = f"<{name}>"
        listed = above.get(name)
        if listed is None:
            above[name] = Node([Node(value, start, stop)], start, stop)
        else:
            listed.value.append(Node(value, start, stop))
            above[name] = listed._replace(stop=stop)

    def _text(self, element: dict[str, Node], start: int, stop: int, is_in_element: bool, is_raw: bool = False) -> None:
        raw = self._data[start:stop]
        text = raw.strip(b" \t\r\n")
        if not text or "#text" in element:
            return
        if not is_in_element:
            raise BrokenError("text outside of the root element", start)
        begin = start + raw.find(text)
        element["#text"] = Node(self._plain(begin, begin + len(text), is_raw), begin, begin + len(text))

    def _plain(self, start: int, stop: int, is_raw: bool = False) -> str:
        raw = self._data[start:stop]
        if not is_raw and (entity := _ENTITY.search(raw)):
            raise BrokenError("an entity that XML does not have", start + entity.start())
        try:
            text = raw.decode()
        except UnicodeDecodeError:
            self.undecodable.append(start)
            text = raw.decode(errors="replace")
        return clean(unescape(text)) if "&" in text and not is_raw else clean(text)


def read_xml(data: bytes, report: Report) -> Node | None:
    """A document, or None and an issue where it is broken."""
    reader = Reader(data)
    try:
        root = reader.document()
    except BrokenError as error:
        report("malformed-xml", str(error), min(error.position, len(data)), 0, data.count(b"\n", 0, error.position) + 1, "error")
        return None
    for position in reader.undecodable:
        report("invalid-utf8", "a text is not UTF-8", position, 0, data.count(b"\n", 0, position) + 1)
    return root


def begun_xml(data: bytes) -> Node | None:
    """What the beginning of a document states, for recognition."""
    reader = Reader(data)
    try:
        return reader.document()
    except BrokenError:
        return reader.root
