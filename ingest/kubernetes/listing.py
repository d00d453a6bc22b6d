"""The table that `kubectl events` prints: ages instead of times, so that no moment is known."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from warehouse.landing.readers.text import Data, Line, Report, clean, decoded, landed_text, lines

from .bundles import HEADER

_NAME = re.compile(r"\S+(?: \S+)*")
_SEEN = re.compile(r"(\S+)(?: \(x(\d{1,12}) over (\S+)\))?")
_AGE = re.compile(r"(?:\d+[dhmsy])+")
_NOTHING = frozenset({"", "<unknown>", "<invalid>", "<none>"})


def rows(data: Data, report: Report) -> Iterator[tuple[Line, dict[str, Any]]]:
    """The columns of each event. What precedes the header is another tool's; a line that does not fit under it is reported."""
    columns: list[tuple[str, int]] = []
    for line in lines(data, report):
        text = decoded(line, report)
        if HEADER.match(line.data):
            columns = [(found[0], found.start()) for found in _NAME.finditer(text)]
            continue
        if not columns:
            continue
        ends = [start for _, start in columns[1:]] + [len(text)]
        cells = {name: clean(text[start:end]).strip() for (name, start), end in zip(columns, ends, strict=True)}
        fits = all(start == 0 or text[start - 1 : start] == " " for _, start in columns)
        seen = _SEEN.fullmatch(cells["LAST SEEN"])
        kind, _, name = cells["OBJECT"].partition("/")
        if not fits or not seen or not name or (not _AGE.fullmatch(seen[1]) and seen[1] not in _NOTHING):
            report.at("malformed-row", text.strip()[:120], line, "error")
            continue
        yield line, {
            "namespace": _stated(cells.get("NAMESPACE")), "object_namespace": _stated(cells.get("NAMESPACE")),
            "last_seen_age": _stated(seen[1]), "first_seen_age": seen[3] or _stated(cells.get("FIRST SEEN")),
            "count": int(seen[2]) if seen[2] else _count(cells.get("COUNT")), "event_type": _stated(cells["TYPE"]),
            "reason": _stated(cells["REASON"]), "object_kind": _kind(kind), "object_name": name, "name": _stated(cells.get("NAME")),
            "component": _stated(cells.get("SOURCE")), "message": landed_text(cells["MESSAGE"]), "line_number": line.number,
        }


def _stated(text: str | None) -> str | None:
    return None if text is None or text in _NOTHING else landed_text(text)


def _count(text: str | None) -> int | None:
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 13 else None


def _kind(text: str) -> str | None:
    """`kubectl get events` writes the kind in lower case."""
    return (text[:1].upper() + text[1:]) or None
