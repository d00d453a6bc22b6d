"""A JSON document of the suite, walked down to its values, each with the bytes that state it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from warehouse.landing.contract import Bundle
from warehouse.landing.readers.entries import document
from warehouse.landing.readers.json_text import Element, json_elements, json_pairs
from warehouse.landing.readers.records import Record, shown
from warehouse.landing.readers.text import Report, clean

_MAX_DEPTH = 16  # of lists within lists; what lies deeper is one value
_KEY = re.compile(rb'"(?:[^"\\]|\\.)*"\s*:\s*', re.DOTALL)
# What tells the elements of a list apart beside their texts.
AXES = frozenset({"rank", "round", "gpu", "node", "device", "size_bytes", "m", "n", "k", "groups", "repeat", "attempt"})
_NO_NAMES = frozenset({"status", "hostname", "error", "reason"})
_MAX_NAME_CHARACTERS = 64


class Document:
    """The pairs of a document that is an object; of any other none, which is reported."""

    def __init__(self, bundle: Bundle, raw_path: str, report: Report) -> None:
        self.report = report
        self.data = document(bundle, raw_path, report)
        self.pairs: Mapping[str, Element] = {str(pair.key): pair for pair in json_pairs(self.data, report)} if self.data.strip() else {}

    def value(self, key: str) -> Any:
        """What a key states; None where it is not there."""
        return self.pairs[key].value if key in self.pairs else None

    def text(self, key: str) -> str | None:
        """The text under a key."""
        value = self.value(key)
        return clean(value)[:4096] if isinstance(value, str) and value.strip() else None

    def inside(self, element: Element) -> Iterator[Element]:
        """The elements of a list, or the pairs of an object."""
        return _inside(self.data[element.offset : element.offset + element.length], element, self.report)

    def values(self, without: frozenset[str] = frozenset()) -> Iterator[Element]:
        """Every value that is no object and no list of objects, under its path."""
        for key, pair in self.pairs.items():
            if key not in without:
                yield from _values(self.data[pair.offset : pair.offset + pair.length], pair, self.report, key, _MAX_DEPTH)

    def record(self, element: Element) -> Record:
        """An element of a list as an object; an empty one, and an issue, if it is something else."""
        flag = self.report.flag(element)
        if not isinstance(element.value, dict):
            flag("not-an-object", shown(element.value))
        return Record(element.value if isinstance(element.value, dict) else {}, flag)


def _inside(raw: bytes, element: Element, report: Report) -> Iterator[Element]:
    key = _KEY.match(raw) if element.key is not None else None
    skipped = key.end() if key else 0
    start = (element.offset + skipped, element.line_number + raw.count(b"\n", 0, skipped))
    walk = json_pairs if isinstance(element.value, dict) else json_elements
    return walk(raw[skipped:], report, start=start)


def _values(raw: bytes, element: Element, report: Report, path: str, depth: int) -> Iterator[Element]:
    value = element.value
    is_open = isinstance(value, dict) or (isinstance(value, list) and any(isinstance(item, (dict, list)) for item in value))
    if not is_open or not depth:
        yield element._replace(key=path)
        return
    names = _names(value) if isinstance(value, list) else None
    for index, inner in enumerate(_inside(raw, element, report)):
        name = names[index] if names and index < len(names) else inner.key if inner.key is not None else str(index)
        begin = inner.offset - element.offset
        yield from _values(raw[begin : begin + inner.length], inner, report, f"{path}/{name}", depth - 1)


def _names(values: list[Any]) -> list[str] | None:
    """Names of a list's elements, of what each states of itself; None where two have the same, or one has none."""
    names = ["_".join(_stated(value)) for value in values]
    return names if all(names) and len(set(names)) == len(names) else None


def _stated(value: Any) -> Iterator[str]:
    for key, stated in value.items() if isinstance(value, dict) else ():
        is_name = isinstance(stated, str) and key not in _NO_NAMES and 0 < len(stated) <= _MAX_NAME_CHARACTERS
        if is_name and re.fullmatch(r"[\w.:+ -]+", stated):
            yield clean(stated).replace(" ", "_")
        elif key in AXES and type(stated) is int:
            yield str(stated)
        elif key == "shape":
            yield from _stated(stated)
