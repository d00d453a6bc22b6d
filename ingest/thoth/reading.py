"""What all parts of Thoth's evidence share: values of a document by their path, its moments, its lists, and packages."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from warehouse.landing.contract import Bundle, canonical_json
from warehouse.landing.readers.entries import document
from warehouse.landing.readers.json_text import Element, json_elements, json_pairs
from warehouse.landing.readers.records import Record, shown
from warehouse.landing.readers.text import Report, clean, landed_text
from warehouse.landing.rows import RowBuffer

_LIST_TEXT = 1 << 20  # bytes of a JSON text that is kept whole


class Stated:
    """A JSON document: its values by their path, `a/b/c`, down to some depth, each with its place. The paths begin with `prefix`."""

    def __init__(self, data: bytes, report: Report, depth: int, start: tuple[int, int] = (0, 1), prefix: str = "") -> None:
        self.data, self.report, self._start = data, report, start
        self.elements = {f"{prefix}{element.key}": element for element in json_pairs(data, report, depth=depth, start=start)}
        self.record = Record({key: element.value for key, element in self.elements.items()}, self._flag)

    def _flag(self, code: str, message: str) -> None:
        element = self.elements.get(message.partition(":")[0])
        if element is not None:
            self.report.at(code, message, element, "error")
        else:
            self.report(code, message, self._start[0], len(self.data), severity="error")

    def value(self, key: str) -> Any:
        element = self.elements.get(key)
        return None if element is None else element.value

    def text(self, key: str) -> str | None:
        """The string of a key; another type is reported."""
        value = self.value(key)
        if value is not None and not isinstance(value, str):
            self.report.at("not-a-string", f"{key}: {shown(value)}", self.elements[key], "error")
            return None
        return landed_text(clean(value)) if value else None

    def moment(self, key: str) -> tuple[datetime | None, bool | None]:
        """The time of a key as UTC, and whether its zone was assumed: Thoth writes UTC without a zone."""
        text = self.text(key)
        if text is None:
            return None, None
        try:
            found = datetime.fromisoformat(text)
            return (found.replace(tzinfo=UTC), True) if found.tzinfo is None else (found.astimezone(UTC), False)
        except (ValueError, OverflowError):
            self.report.at("not-a-time", f"{key}: {shown(text)}", self.elements[key], "error")
            return None, None

    def items(self, key: str) -> Iterator[Element]:
        """The elements of the array of a key, each with its place."""
        element = self.elements.get(key)
        if element is None or element.value is None:
            return
        if not isinstance(element.value, list):
            self.report.at("not-a-list", f"{key}: {shown(element.value)}", element, "error")
            return
        first, line = self._start
        stated = self.data[element.offset - first : element.offset - first + element.length]
        opening = stated.index(b"[", stated.index(b":"))
        yield from json_elements(
            stated[opening:], self.report, start=(element.offset + opening, element.line_number + stated.count(b"\n", 0, opening))
        )

    def objects(self, key: str) -> Iterator[Element]:
        """Those of them that are objects; others are reported."""
        for element in self.items(key):
            if isinstance(element.value, dict):
                yield element
            else:
                self.report.at("not-an-object", f"{key}: {shown(element.value)}", element, "error")

    def within(self, element: Element, depth: int) -> Stated:
        """An object of an array of this document."""
        first = self._start[0]
        data = self.data[element.offset - first : element.offset - first + element.length]
        return Stated(data, self.report, depth, (element.offset, element.line_number))


def stated_in(bundle: Bundle, raw_path: str, report: Report, depth: int, prefix: str = "") -> Stated:
    """A document of a bundle."""
    return Stated(document(bundle, raw_path, report), report, depth, prefix=prefix)


def is_object(value: Any) -> bool:
    return isinstance(value, dict)


def json_of(value: Any) -> str | None:
    """A value as JSON text with sorted keys; NULL where it is missing, or no JSON can hold it."""
    if value is None:
        return None
    try:
        text = clean(json.dumps(value, sort_keys=True, ensure_ascii=False, allow_nan=False))
    except (ValueError, RecursionError):
        return None
    return text if len(text) <= _LIST_TEXT else None


def packages_digest(packages: Iterable[tuple[str, str | None]]) -> str | None:
    """sha256 of the sorted list of `name==version`: two stacks that share it are one. None for no package."""
    names = sorted(f"{name}=={version or ''}" for name, version in packages)
    return hashlib.sha256(canonical_json(names)).hexdigest() if names else None


def add_lock(
    buffer: RowBuffer, raw_path: str, stated_by: str, lock: Stated, prefix: str
) -> str | None:
    """Add the packages of a Pipfile.lock that lies at a path of a document; their digest."""
    sources = lock.value(f"{prefix}_meta/sources")
    listed = [source for source in sources if is_object(source)] if isinstance(sources, list) else []
    urls = {str(source.get("name")): text_of(source, "url") for source in listed}
    found = []
    section = f"{prefix}default/"
    for key, element in lock.elements.items():
        name = key.removeprefix(section)
        if name == key or not name or "/" in name:
            continue
        if not isinstance(element.value, dict):
            lock.report.at("not-an-object", f"{key}: {shown(element.value)}", element, "error")
            continue
        record = Record(element.value, lock.report.flag(element))
        version = _text(record, "version")
        version = version.removeprefix("==") if version else None
        found.append((name, version))
        url = urls.get(str(element.value.get("index")))
        add_package(buffer, raw_path, element, stated_by, "lock", name, version, url, element.value.get("hashes"))
    if not found:
        lock.report("no-lock", f"{stated_by}: no locked Python packages are stated", severity="note")
    return packages_digest(found)


def add_package(
    buffer: RowBuffer, raw_path: str, place: Element, stated_by: str, source: str, name: str, version: str | None,
    index_url: str | None = None, hashes: Any = None,
) -> None:
    buffer.add(
        "thoth_package", raw_path, place.offset, place.length, stated_by=stated_by, source=source, name=clean(name)[:256],
        version=version and clean(version)[:256], index_url=index_url and landed_text(clean(index_url)),
        hashes=json_of(hashes) if isinstance(hashes, list) and hashes else None,
    )


def _text(record: Record, key: str) -> str | None:
    value = record.values.get(key)
    if value is not None and not isinstance(value, str):
        record.flag("not-a-string", f"{key}: {shown(value)}")
    return record.text(key) if isinstance(value, str) else None


def text_of(values: Mapping[str, Any], key: str) -> str | None:
    """The string of a key of an object of no great weight; NULL where it is another type."""
    value = values.get(key)
    return landed_text(clean(value)) if isinstance(value, str) and value else None
