"""Documents that land in long form, one row a key: so that a published value leads to the very bytes that state it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

import pyarrow as pa

from warehouse.landing.consistency import impossible_measurement
from warehouse.landing.contract import Bundle
from warehouse.landing.readers.json_text import Element, is_lost_number, json_number, json_text, lost_code
from warehouse.landing.readers.records import ABSENT
from warehouse.landing.readers.text import MAX_KEY_CHARACTERS, Entry, Report, is_non_finite, kept_number, landed_text
from warehouse.landing.rows import RUN_ID, RowBuffer
from warehouse.landing.severity import ERROR, NOTE, disagreement

_MOST_COUNTED = 2**53  # what a double holds exactly; no count is larger
_LAST_MOMENT_S = 253_402_300_800  # the year 10000, of the Unix epoch
_LONGEST_S = 1e9  # 30 years
MAX_DOCUMENT_BYTES = 64 << 20  # of a document that is held whole; the largest in the wild are some hundred kilobytes

ENTRY_FIELDS = (
    RUN_ID,
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
    """A pair of a document as an entry. A number without a finite value, or that a double cannot tell from zero, is reported and missing."""
    key = str(element.key)
    if element.value is None:
        return Entry(*element[:3], key[:MAX_KEY_CHARACTERS], None, None)
    text, number = json_text(element.value), json_number(element.value)
    if is_lost_number(element.value) or (isinstance(element.value, str) and is_non_finite(element.value.removeprefix("."))):
        report.at(lost_code(element.value), key[:120], element, "error")
    landed = None if text is None else landed_text(text)
    if landed is None and (text is None or isinstance(element.value, str)):  # a long list is a tool's own state
        report.at("value-too-large", key[:120], element, "note")
    return Entry(*element[:3], key[:MAX_KEY_CHARACTERS], landed, number)


def is_count(number: float) -> bool:
    """Whether something can be counted so: whole, not below 0, and exact in a double."""
    return 0 <= number <= _MOST_COUNTED and number.is_integer()


class Kind(StrEnum):
    """What a key states, by its name in an issue's code."""

    COUNT = "count"
    MOMENT = "time"  # seconds of the Unix epoch
    DURATION = "duration"  # seconds
    CONCURRENCY = "concurrency"  # requests in flight that were asked for
    REQUEST_RATE = "request-rate"  # that was asked for


_IS_POSSIBLE: Mapping[Kind, Callable[[float], bool]] = {
    Kind.COUNT: is_count,
    Kind.MOMENT: lambda number: 0 <= number < _LAST_MOMENT_S,
    Kind.DURATION: lambda number: 0 < number < _LONGEST_S,
    Kind.CONCURRENCY: lambda number: number > 0 and is_count(number),
    Kind.REQUEST_RATE: lambda number: number > 0,
}


def is_possible(kind: Kind, number: float) -> bool:
    """Whether a number can be of a kind."""
    return _IS_POSSIBLE[kind](number)


def possible(entry: Entry, report: Report, kind: Kind | None = None) -> Entry:
    """The entry of a key that states something of a kind, or by its name a latency or a rate. Where it cannot be one, an issue is
    reported and the entry has no number; what is written stays in its value."""
    number = entry.number
    if number is None:
        return entry
    if kind is not None and not is_possible(kind, number):
        code = f"impossible-{kind}"
    elif (found := impossible_measurement(entry.key, number)) is not None:
        code = found
    else:
        return entry
    report.at(code, f"{entry.key[:80]}: {entry.value}"[:200], entry, "error")
    return entry._replace(number=None)


def numeric(entry: Entry, report: Report) -> Entry:
    """The entry of a key that states a number; reported where its value is something else, or has more digits than a double holds. null and N/A say
    that there is none, and `element_entry` has reported NaN."""
    value = (entry.value or "").strip()
    if entry.number is not None and abs(entry.number) >= 2**53:
        kept_number(entry.number, value, entry.key, entry, report)
    if entry.number is None and not is_non_finite(value) and value.casefold() not in ABSENT:
        report.at("not-a-number", f"{entry.key[:80]}: {value}"[:200], entry, "error")
    return entry


def check_total(
    entries: Mapping[str, Entry], total: str, parts: Iterable[str], report: Report, severity: str = ERROR, *, are_all: bool = True
) -> None:
    """Report requests that completed, failed or did not end, in `parts`, where they are more or fewer than all of them. If they are
    more, a count is wrong, and so is an error rate computed of them. If they are fewer, `severity` is the highest; where failures are not
    stated, as by older tools, the rest may be those, and without the completed ones, the first of `parts`, nothing is known. `are_all`:
    whether no other parts make up the total."""
    parts = tuple(parts)
    whole = entries[total].number if total in entries else None
    found = {part: number for part in parts if part in entries and (number := entries[part].number) is not None}
    if whole is None or not found:
        return
    difference = sum(found.values()) - whole
    if difference > 0 or difference and are_all and parts[0] in found:
        folder, entry = total.rpartition("/")[0] + "/", entries[total]
        stated = " and ".join(f"{part.removeprefix(folder)} is {number:.15g}" for part, number in found.items())
        message = f"{stated}, but {total.removeprefix(folder)} is {whole:.15g}"
        if difference < 0:
            graded, apart = disagreement(whole, whole + difference)
            message += f": {-difference:.15g} requests are unaccounted for, {apart}"
            severity = NOTE if len(found) < len(parts) else severity if graded == ERROR else graded
        code = "impossible-count" if difference > 0 else "unaccounted-requests"
        report.at(code, message, entry, severity)


def check_span(entries: Mapping[str, Entry], start: str, end: str, report: Report) -> None:
    """Report an end that is before its start."""
    began, ended = (_seconds(entries[key]) if key in entries else None for key in (start, end))
    if began is not None and ended is not None and ended < began:
        message = f"{end} is {entries[end].value}, before {start}, {entries[start].value}"
        report.at("impossible-duration", message[:200], entries[end], ERROR)


def _seconds(entry: Entry) -> float | None:
    """A moment in seconds of the Unix epoch, or as ISO 8601; without a zone it is only good to be compared with others of its document."""
    if entry.number is not None:
        return entry.number
    try:
        moment = datetime.fromisoformat(entry.value or "")
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None


def check_computed(entry: Entry, computed: float, report: Report, unit: str = "") -> None:
    """Report an aggregate of which the requests give another value."""
    if entry.number is not None:
        severity, apart = disagreement(entry.number, computed)
        report.at("aggregate-disagrees", f"{entry.key} is {entry.value}{unit}, of the requests {computed!r}: {apart}", entry, severity)


def land_entry(buffer: RowBuffer, table: str, raw_path: str, run_id: str | None, source: str, entry: Entry, **columns: Any) -> None:
    """Add the row of an entry, with the family's own `columns`."""
    buffer.add(
        table, raw_path, entry.offset, entry.length, run_id=run_id, source=source, key=entry.key, value=entry.value,
        value_number=entry.number, line_number=entry.line_number, **columns,
    )


def land_entries(
    buffer: RowBuffer, table: str, raw_path: str, run_id: str, source: str, entries: Iterable[Entry], **columns: Any
) -> dict[str, Entry]:
    """Add the rows of a document's entries; the entries by key, the last one for a key that occurs twice."""
    found = {}
    for entry in entries:
        land_entry(buffer, table, raw_path, run_id, source, entry, **columns)
        found[entry.key] = entry
    return found
