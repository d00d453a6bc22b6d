"""The CSV export, for runs that have no JSON: two decimals, and a unit in brackets after each name."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator

from warehouse.landing.records import ABSENT
from warehouse.landing.text import Data, Entry, Report, clean, decoded, landed_text, lines, number_in

_LABEL = re.compile(r"(.+?)(?:\s*\(([^()]*)\))?")


def csv_entries(data: Data, report: Report) -> Iterator[Entry]:
    """An entry for each cell and each unit, keyed as in the JSON: `time_to_first_token/avg`, `time_to_first_token/unit`."""
    header: list[str] = []
    for line in lines(data, report):
        try:
            cells = next(csv.reader([decoded(line, report).lstrip("\ufeff")]))
        except (csv.Error, StopIteration) as error:
            report.at("malformed-csv", str(error), line, "error")
            continue
        if cells[0] == "Metric":
            header = ["avg" if name == "Value" else name for name in cells[1:]]
            continue
        label = _LABEL.fullmatch(cells[0])
        if not header or label is None:
            continue
        name = clean(re.sub(r"\W+", "_", label[1].strip().lower()))[:120]
        place = (line.offset, len(line.data), line.number)
        if label[2]:
            yield Entry(*place, f"{name}/unit", clean(label[2])[:80], None)
        for statistic, cell in zip(header, cells[1:], strict=False):
            number = number_in(cell.replace(",", ""))
            if number is None and cell.strip().casefold() not in ABSENT:
                report.at("not-a-number", f"{name}/{statistic}: {cell[:80]}", line, "error")
            yield Entry(*place, f"{name}/{clean(statistic)[:80]}", landed_text(cell), number)
