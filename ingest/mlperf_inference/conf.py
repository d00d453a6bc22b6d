"""A submission's user.conf."""

from __future__ import annotations

from collections.abc import Iterator

from warehouse.landing.readers.text import MAX_KEY_CHARACTERS, Data, Entry, Report, decoded, lines

from .text import text_entry


def conf_entries(data: Data, report: Report) -> Iterator[Entry]:
    """`model.scenario.key = value` lines with the left side as key; comments are skipped."""
    for line in lines(data, report):
        text = decoded(line, report).partition("#")[0].strip()
        key, mark, value = (part.strip() for part in text.partition("="))
        if mark and 0 < len(key) <= MAX_KEY_CHARACTERS:
            yield text_entry(line, key, value, report)
        elif text:
            report.at("unrecognised-line", text[:120], line)
