"""Loadgen's logs and the reports beside them, as entries: summary, detail, accuracy, verification.

Every function yields what it can read and reports the rest; none raises for bad text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from warehouse.landing.readers.json_text import Json, is_lost_number, json_number, json_text
from warehouse.landing.readers.text import (
    MAX_KEY_CHARACTERS,
    Data,
    Entry,
    Line,
    Report,
    clean,
    decoded,
    is_non_finite,
    landed_text,
    lines,
    number_in,
)

from .text import text_entry

_MARKER = ":::MLLOG"
_LINE_END = "\r\n"
_COUNT = re.compile(r"(\S+) (warnings?|errors?) encountered\b.*", re.IGNORECASE)
_PARAGRAPHS = frozenset({"WARNING", "ERROR"})  # free text that goes on until the next statement
_EARLY_STOPPING = "Early Stopping Result"
_ESCAPE = re.compile(r'\\["\\/bfnrtu]?')  # without one of these it escapes nothing: a load generator copies texts as they are: D:\inference
_TITLES = frozenset({"MLPerf Results Summary", "Additional Stats", "Test Parameters Used"})

_NUMBER = r"[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?%?|(?i:nan|inf(?:inity)?))"
_ENDS = r"(?=[\s,;}\])'\"]|$)"
_METRICS = re.compile(
    rf"""['"](?P<quoted>[^'"]{{1,120}})['"]\s*:\s*(?P<mark>['"]?)(?P<quoted_number>{_NUMBER})(?P=mark){_ENDS}"""
    rf"""|(?<![\w.])(?P<name>[A-Za-z_][\w@./-]{{0,120}})\s*=\s*(?P<number>{_NUMBER}){_ENDS}"""
    rf"""|^\s*(?P<title>[A-Za-z][A-Za-z0-9 _-]{{0,60}}?)\s*:\s*(?P<titled>{_NUMBER}){_ENDS}"""
    r"""|\b(?P<hash_name>hash)\s*=\s*(?P<hash>[0-9a-fA-F]{16,128})\b""",
    re.ASCII,
)
_COCO_METRIC = re.compile(rf"\s*(?P<name>Average [^\]]*\])\s*=\s*(?P<number>{_NUMBER})\s*", re.ASCII)
_MAX_REPORT_LINE = 65536  # characters; longer lines are dumps, not metrics
_VERDICTS = frozenset({"PASS", "FAIL", "PASSED", "FAILED"})


def summary_entries(data: Data, report: Report) -> Iterator[Entry]:
    """`key : value` lines; lines below a heading (`Early Stopping Result:`) or a WARNING have the heading as key. The count of
    errors is the last line that a load generator writes."""
    heading: str | None = None
    is_ended = False
    for line in lines(data, report):
        text = decoded(line, report).strip()
        if text.startswith("====") or text in _TITLES:
            heading, is_ended = None, False
            continue
        key, value = _summary_pair(text, heading)
        if key is None or len(key) > MAX_KEY_CHARACTERS:
            report.at("unrecognised-line", text[:120], line)
        elif value is None:
            heading = key
        else:
            heading = key if key in _PARAGRAPHS or key == heading else heading if text.startswith("*") else None
            is_ended = is_ended or key == "errors encountered"
            yield text_entry(line, key, value, report)
    if len(data) and not is_ended:
        report("truncated-log", "the summary ends before its count of errors: no result is taken from it", len(data), severity="error")


def _summary_pair(text: str, heading: str | None) -> tuple[str | None, str | None]:
    """What a line says: (key, value); (heading, None) for a heading; (None, None) when it is not known."""
    if count := _COUNT.fullmatch(text):
        return f"{count[2].lower().rstrip('s')}s encountered", count[1]
    if text.startswith("*"):
        key, _, value = (part.strip() for part in text[1:].rpartition(":"))
        if not key or (number_in(value) is None and not is_non_finite(value)):
            return heading or "*", text[1:].strip()
        # TTFT and TPOT paragraphs state estimates in the same words as the latency's own, which is another quantity.
        of_what = heading.removesuffix(_EARLY_STOPPING) if heading and heading.endswith(_EARLY_STOPPING) else ""
        return of_what + key, value
    key, colon, value = (part.strip() for part in text.partition(":"))
    if colon and key:
        return key, value or None
    return heading, text if heading else None


def detail_entries(data: Data, report: Report) -> Iterator[Entry]:
    """`:::MLLOG {...}` lines; the marker may follow a prefix."""
    decoder = Json()
    for line in lines(data, report):
        text = decoded(line, report)
        _, marker, document = text.partition(_MARKER)
        behind = len(data) - line.offset - len(line.data)
        if not marker and behind:
            report.at("unrecognised-line", text[:120], line)
            continue
        entry = _detail_entry(document.strip(), line, decoder, report)
        if entry is not None:
            yield entry
        elif behind <= len(_LINE_END):  # an editor may have ended the line
            report.at("truncated-log-line", text[:120], line, "error")
        else:
            report.at("malformed-log-line", document[:120], line, "error")
        for name in decoder.duplicates:
            report.at("duplicate-json-key", name[:120], line)
        decoder.duplicates.clear()


def _detail_entry(document: str, line: Line, decoder: Json, report: Report) -> Entry | None:
    try:
        fields = _decoded(document, line, decoder, report)
        key, value = fields["key"], fields["value"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    if not isinstance(key, str) or len(key) > MAX_KEY_CHARACTERS:
        return None
    if is_lost_number(value):
        report.at("non-finite-number", f"{key}: {(json_text(value) or '')[:80]}", line)
    elif isinstance(value, str) and key.startswith("result_") and key != "result_validity" and json_number(value) is None:
        report.at("not-a-number", f"{key}: {value[:80]}", line, "error")
    # Dumping a list of samples only to find it too long cost a third of all parsing time.
    is_blob = isinstance(value, (dict, list)) and len(document) > 65536
    text = None if is_blob else json_text(value)
    logged = fields.get("time_ms")
    logged_ms = None if isinstance(logged, str) else json_number(logged)
    if logged is not None and logged_ms is None:
        report.at("not-a-number", f"time_ms: {(json_text(logged) or '')[:80]}", line, "error")
    metadata = fields.get("metadata")
    return Entry(
        line.offset, len(line.data), line.number, clean(key),
        None if text is None else landed_text(text), json_number(value),
        logged_ms, isinstance(metadata, dict) and metadata.get("is_error") is True,
    )


def _decoded(document: str, line: Line, decoder: Json, report: Report) -> Any:
    try:
        return decoder.value(document)
    except ValueError:
        mended = _ESCAPE.sub(lambda match: match[0] if len(match[0]) > 1 else r"\\\\", document)
        if mended == document:
            raise
    fields = decoder.value(mended)
    report.at("malformed-escape", f"a backslash that escapes nothing is read as itself: {document[:120]}", line)
    return fields


def accuracy_entries(data: Data, report: Report) -> Iterator[Entry]:
    """The metrics an accuracy script printed: python dicts, JSON, `name=number`, COCO tables, and `hash=`."""
    found = False
    for line in lines(data, report):
        text = decoded(line, report)
        if len(text) > _MAX_REPORT_LINE or "Namespace(" in text:  # the script's own arguments, which look like metrics
            continue
        matches = [coco] if (coco := _COCO_METRIC.fullmatch(text)) else _METRICS.finditer(text)
        for match in matches:
            found = True
            yield _metric(match, text, line, report)
    if len(data) and not found:
        report("no-accuracy-metric", "no metric and no hash found")


def _metric(match: re.Match[str], text: str, line: Line, report: Report) -> Entry:
    groups = match.groupdict()
    key = next(groups[name] for name in ("quoted", "name", "title", "hash_name") if groups.get(name))
    value = next(groups[name] for name in ("quoted_number", "number", "titled", "hash") if groups.get(name))
    # A pattern may take in leading blanks; they are no part of the statement.
    start = match.start() + len(match[0]) - len(match[0].lstrip())
    stop = match.start() + len(match[0].rstrip())
    place = (line.offset + _bytes(text[:start]), _bytes(text[start:stop]))
    return text_entry(line, " ".join(key.split()), value, report, place, is_number="hash" not in key)


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode(errors="surrogateescape"))


def verification_entries(data: Data, report: Report) -> Iterator[Entry]:
    """A compliance test's `name = value` and `name: value` lines and its verdict, e.g. key `TEST`, value `PASS`."""
    for line in lines(data, report):
        text = decoded(line, report).strip()
        *words, last = text.split(" ")
        mark = min((text.find(mark) for mark in "=:" if mark in text), default=-1)
        key, value = text[:mark].rstrip(), text[mark + 1 :].lstrip()
        if mark > 0 and value and len(key) <= MAX_KEY_CHARACTERS:
            yield text_entry(line, key, value, report)
        elif last.upper().strip(".!") in _VERDICTS and len(text) <= MAX_KEY_CHARACTERS:
            yield text_entry(line, " ".join(words).strip() or "verdict", last, report)
