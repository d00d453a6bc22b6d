"""`summary.csv` of nccl-tests-cluster: one line a test of a log, with the average and the peak bus bandwidth read from it.

The summary is a statement beside the logs: it lands, and where it disagrees with the log that it names, that is an issue.
Source: xxrjun/nccl-tests-cluster, summarize_nccl_logs.py.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from typing import NamedTuple

from warehouse.landing.node_list import expanded
from warehouse.landing.readers.text import Data, Line, Report, decoded, lines, number_in
from warehouse.landing.severity import ERROR, disagreement

HEAD = b"file,test,N,G,nodes,minBytes,maxBytes,avg_bus_bw_GBs,peak_busbw_GBs"
_ROUNDING = 5.1e-7  # the summary has six decimals


class Stated(NamedTuple):
    """A line of the summary: the cells by column name, a blank one as None."""

    line: Line
    cells: dict[str, str | None]


class Measured(NamedTuple):
    """What the log says of the test that a line summarises."""

    nodes: tuple[str, ...]
    average: float | None
    peak: float | None


def statements(data: Data, report: Report) -> Iterator[Stated]:
    """The lines below the header."""
    names: list[str] | None = None
    for line in lines(data, report):
        try:
            cells = next(csv.reader([decoded(line, report)]), [])
        except csv.Error as error:
            report.at("malformed-row", str(error)[:200], line, "error")
            continue
        if names is None:
            names = [cell.strip().lstrip("\ufeff") for cell in cells]
        elif len(cells) != len(names):
            report.at("malformed-row", f"{len(cells)} cells, the header has {len(names)}", line, "error")
        else:
            yield Stated(line, {name: cell.strip() or None for name, cell in zip(names, cells, strict=True)})


def disagreements(stated: Stated, measured: Measured) -> Iterator[tuple[str, str]]:
    """(what the summary says otherwise than the log, how serious that is)."""
    nodes = stated.cells.get("nodes")
    if nodes is not None and measured.nodes:
        named = expanded(nodes)
        if named is None or set(named) != set(measured.nodes):
            yield f"nodes: the summary says {nodes[:200]}, the log {','.join(measured.nodes)[:200]}", ERROR
    for key, value in (("avg_bus_bw_GBs", measured.average), ("peak_busbw_GBs", measured.peak)):
        text = stated.cells.get(key)
        number = None if text is None else number_in(text)
        if (number is None) != (value is None) or (
            number is not None and value is not None and abs(number - value) > _ROUNDING + 1e-12 * abs(value)
        ):
            severity, apart = ERROR, "one of them states none"
            if number is not None and value is not None:
                severity, apart = disagreement(number, value)
            yield f"{key}: the summary says {text}, the log {value}: {apart}", severity
