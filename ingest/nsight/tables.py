"""Rows of CSV tables within text, and the numbers and units in their cells."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from typing import NamedTuple

from warehouse.landing.readers.text import Data, Line, Report, decoded, is_non_finite, lines, number_in

SECONDS = {
    "ns": 1e-9, "nsecond": 1e-9, "us": 1e-6, "usecond": 1e-6, "ms": 1e-3, "msecond": 1e-3, "s": 1.0, "second": 1.0,
}
_GROUPED = re.compile(r"[-+]?\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_ABSENT = frozenset({"", "n/a", "no data"})


class Row(NamedTuple):
    """One line of a table: its cells, and where they are. `fault` says why it has none."""

    line: Line
    cells: list[str]
    fault: str | None = None


def rows(data: Data, report: Report) -> Iterator[Row]:
    """Every line, split at its commas."""
    for line in lines(data, report):
        text = decoded(line, report).removeprefix("\ufeff")
        try:
            yield Row(line, next(csv.reader([text], strict=True), []))
        except csv.Error as error:
            yield Row(line, [], str(error)[:200])


def number(text: str, report: Report, line: Line) -> float | None:
    """The number in a cell, with or without separators of thousands; None, and an issue, where it is no number."""
    text = text.strip()
    if text.casefold() in _ABSENT:
        return None
    found = number_in(text.replace(",", "") if _GROUPED.fullmatch(text) else text)
    if found is None:
        report.at("non-finite-number" if is_non_finite(text) else "not-a-number", text[:120], line, "error")
    return found
