"""The CSV export, for runs that have no JSON: two decimals, and a unit in brackets after each name. Of single values AIPerf
leaves it out where it is a count (`MetricsCsvExporter._format_metric_name`), genai-perf never.

Its tables follow one another, each below its own header. Those of the GPUs, whose rows are not of the run alone, are not read.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator

from warehouse.landing.readers.records import ABSENT
from warehouse.landing.readers.text import Data, Entry, Report, clean, decoded, is_non_finite, landed_text, lines, number_in

_COUNT = "count"
_SINGLE = ["avg"]  # the header of single values
_LABEL = re.compile(r"(.+?)(?:\s*\(([^()]*)\))?")


def csv_entries(data: Data, report: Report) -> Iterator[Entry]:
    """An entry for each cell and each unit, keyed as in the JSON: `time_to_first_token/avg`, `time_to_first_token/unit`."""
    header: list[str] | None = None
    is_read = True
    for line in lines(data, report):
        try:
            cells = next(csv.reader([decoded(line, report).lstrip("\ufeff")]))
        except (csv.Error, StopIteration) as error:
            report.at("malformed-csv", str(error), line, "error")
            continue
        if "Metric" in cells:
            header = ["avg" if name == "Value" else name for name in cells[1:]]
            is_read = cells[0] == "Metric" and header[:1] != ["GPU"]
            if not is_read:
                report.at("table-not-read", ",".join(cells)[:120], line)
            elif not all(name.isidentifier() for name in header):
                report.at("malformed-csv", f"no names of statistics: {','.join(header)[:120]}", line, "error")
            continue
        if not is_read:
            continue
        label = _LABEL.fullmatch(cells[0])
        if header is None or label is None or len(cells) != len(header) + 1:
            told = "no header" if header is None else f"{len(header) + 1} columns"
            report.at("malformed-csv", f"{len(cells)} cells under {told}: {cells[0][:80]}", line, "error")
            continue
        name = clean(re.sub(r"\W+", "_", label[1].strip().lower()))[:120]
        place = (line.offset, len(line.data), line.number)
        unit = label[2] or (_COUNT if header == _SINGLE else None)
        if unit:
            yield Entry(*place, f"{name}/unit", clean(unit)[:80], None)
        for statistic, cell in zip(header, cells[1:], strict=True):
            number = number_in(cell.replace(",", ""))
            if is_non_finite(cell.strip()):
                report.at("non-finite-number", f"{name}/{statistic}: {cell[:80]}", line, "error")
            elif number is None and cell.strip().casefold() not in ABSENT:
                report.at("not-a-number", f"{name}/{statistic}: {cell[:80]}", line, "error")
            yield Entry(*place, f"{name}/{clean(statistic)[:80]}", landed_text(cell), number)
    if len(data) and data[len(data) - 1 :] != b"\n":
        # Both tools end every row, the last one too.
        report("truncated-row", "the file ends within a row", len(data), 0, severity="error")
