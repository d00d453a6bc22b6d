"""Documents that land in long form, one row a key: so that a published value leads to the very bytes that state it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pyarrow as pa

from warehouse.landing.contract import Bundle
from warehouse.landing.readers.json_text import Element, is_lost_number, json_number, json_text
from warehouse.landing.readers.records import ABSENT
from warehouse.landing.readers.text import MAX_KEY_CHARACTERS, Entry, Report, is_non_finite, landed_text
from warehouse.landing.rows import RowBuffer

_MOST_COUNTED = 2**53  # what a double holds exactly; nobody counts so far
_LAST_MOMENT_S = 253_402_300_800  # the year 10000, of the Unix epoch
MAX_DOCUMENT_BYTES = 64 << 20  # of a document that is held whole; the largest in the wild are some hundred kilobytes

ENTRY_FIELDS = (
    pa.field("run_id", pa.string(), nullable=False),
    pa.field("source", pa.string(), nullable=False),  # which document of the run
    pa.field("key", pa.string(), nullable=False),  # its path, a/b/c
    pa.field("value", pa.string()),  # as written; NULL when longer than 4096 characters
    pa.field("value_number", pa.float64()),
    pa.field("line_number", pa.int64()),  # 1-based
)


def document(bundle: Bundle, raw_path: str, report: Report) -> bytes:
    """A document's bytes; none, and an issue, where it is too large to be one."""
    size = bundle.manifest.by_path[raw_path].bytes
    if size > MAX_DOCUMENT_BYTES:
        report("document-too-large", f"{size} bytes", 0, size, severity="error")
        return b""
    data = bundle.read(raw_path)
    if not data.strip():
        report("empty-document", "the file states nothing", severity="error")
    return data


def element_entry(element: Element, report: Report) -> Entry:
    """A pair of a document as an entry; a number that has no finite value is told."""
    key = str(element.key)
    if element.value is None:
        return Entry(element.offset, element.length, element.line_number, key[:MAX_KEY_CHARACTERS], None, None)
    text, number = json_text(element.value), json_number(element.value)
    if is_lost_number(element.value) or (isinstance(element.value, str) and is_non_finite(element.value.removeprefix("."))):
        report("non-finite-number", key[:120], element.offset, element.length, element.line_number, "error")
    landed = None if text is None else landed_text(text)
    if landed is None and (text is None or isinstance(element.value, str)):  # a long list is a tool's own state
        report("value-too-large", key[:120], element.offset, element.length, element.line_number, "note")
    return Entry(element.offset, element.length, element.line_number, key[:MAX_KEY_CHARACTERS], landed, number)


def is_count(number: float) -> bool:
    """Whether something can be counted so: whole, not below 0, and exact in a double."""
    return 0 <= number <= _MOST_COUNTED and number.is_integer()


def possible(entry: Entry, report: Report, *, counts: bool = False, tells_time: bool = False) -> Entry:
    """The entry of a key that counts something, or tells a moment in seconds of the Unix epoch; without its number, and
    told, where it cannot be one. What is written stays in its value."""
    number = entry.number
    if number is None:
        return entry
    if counts and not is_count(number):
        code = "impossible-count"
    elif tells_time and not 0 <= number < _LAST_MOMENT_S:
        code = "impossible-time"
    else:
        return entry
    report(code, f"{entry.key[:80]}: {entry.value}"[:200], entry.offset, entry.length, entry.line_number, "error")
    return entry._replace(number=None)


def numeric(entry: Entry, report: Report) -> Entry:
    """The entry of a key that states a number; reported where its value is something else. null and N/A say that there is none,
    and `element_entry` has reported NaN."""
    value = (entry.value or "").strip()
    if entry.number is None and not is_non_finite(value) and value.casefold() not in ABSENT:
        report("not-a-number", f"{entry.key[:80]}: {value}"[:200], entry.offset, entry.length, entry.line_number, "error")
    return entry


def check_total(entries: Mapping[str, Entry], total: str, parts: Iterable[str], report: Report, severity: str = "error") -> None:
    """Report requests that completed, failed or did not end, in `parts`, where they are more than all of them. One of the counts
    is wrong then, and so is an error rate computed of them."""
    whole = entries[total].number if total in entries else None
    found = {part: number for part in parts if part in entries and (number := entries[part].number) is not None}
    if whole is not None and sum(found.values()) > whole:
        folder, entry = total.rpartition("/")[0] + "/", entries[total]
        stated = " and ".join(f"{part.removeprefix(folder)} is {number:.15g}" for part, number in found.items())
        message = f"{stated}, but {total.removeprefix(folder)} is {whole:.15g}"
        report("impossible-count", message, entry.offset, entry.length, entry.line_number, severity)


def landed_entries(
    buffer: RowBuffer, table: str, raw_path: str, run_id: str, source: str, entries: Iterable[Entry], **columns: Any
) -> Iterator[Entry]:
    """Add a row for each entry, with the family's own `columns`, and give it on."""
    for entry in entries:
        buffer.add(
            table, raw_path, entry.offset, entry.length,
            run_id=run_id, source=source, key=entry.key, value=entry.value, value_number=entry.number,
            line_number=entry.line_number, **columns,
        )
        yield entry
