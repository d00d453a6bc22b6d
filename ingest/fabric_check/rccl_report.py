"""The report of rccl-tests (`-x FILE`, `-Z json` or csv): a row a message size and placement, and nothing of the whole test.

Times are microseconds, bandwidths GB/s. The CSV of the first versions has a header without the nodes that its rows begin with.
Source: ROCm/rccl-tests, src/common.cu, class Reporter.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from typing import Any

from warehouse.landing.readers.json_text import json_pairs
from warehouse.landing.readers.records import Record
from warehouse.landing.readers.text import Data, Line, Report, clean, decoded, is_non_finite, lines

from .check import Check, Rows, at, is_missing, one_test, point
from .nccl_text import test_named

MARK = re.compile(
    rb'\A\s*\[?\s*\{(?:"numCycle":\d+, )?"name":"\w+", "(?:nodes|gpus)":\d|\A(?:numCycle,)?collective, ?(?:nodes|ranks|gpus),'
)

_LEFT, _RIGHT = ("numCycle", "name"), ("size", "type", "redop", "inPlace", "time", "algBw", "busBw", "wrong")
_MPI = ("nodes", "ranks", "ranksPerNode", "gpusPerRank")


def rows(data: Data, report: Report, file_name: str) -> Rows:
    """The check of a report."""
    check = Check("rccl-tests", None, 0)
    kinds: dict[str, set[str]] = {"type": set(), "redop": set()}
    wrong_rows = index = 0
    for line, stated in _rows(data, report):
        check.cover(*at(line))
        row = Record(stated, report.flag(line))
        if not stated.keys() >= set(_RIGHT):
            report.at("malformed-row", ", ".join(key for key in _RIGHT if key not in stated), line, "error")
            continue
        if not index:
            check.test = test_named(row.text("name") or "")
            if check.test is None:
                report.at("unknown-test", f"no test is known by the name {row.text('name')!r}"[:200], line)
            check.rank_count, check.node_count = row.count("ranks") or row.count("gpus"), row.count("nodes")
        index += 1
        for kind, seen in kinds.items():
            if (value := row.text(kind)) is not None and len(seen) < 100:
                seen.add(value)
        wrong = row.count("wrong")
        wrong_rows += bool(wrong)
        redop = row.text("redop")
        placement = row.count("inPlace")
        yield point(
            check, line, 1, index, status="failed" if wrong else "measured",
            placement=None if placement is None else "in_place" if placement else "out_of_place",
            message_bytes=row.count("size"), element_type=row.text("type"), redop=None if is_missing(redop or "") else redop,
            time_us=row.number("time"), alg_bandwidth_gb_per_s=row.number("algBw"), bus_bandwidth_gb_per_s=row.number("busBw"),
            wrong_count=wrong,
        )
        for key in ("time", "algBw", "busBw", "wrong"):
            if isinstance(value := stated[key], str) and is_non_finite(value):
                report.at("non-finite-number", f"{key}: {value}", line, "error")
    if not index:
        report("no-test", "the report has no rows", 0, len(data), 1, "error")
    check.parameters |= {f"{kind}s": sorted(seen) for kind, seen in kinds.items() if seen}
    reason = None if index and not wrong_rows else f"{wrong_rows} rows with wrong values" if index else "the report has no rows"
    yield from one_test(check, reason)


def _rows(data: Data, report: Report) -> Iterator[tuple[Line, dict[str, Any]]]:
    """The rows under the names that JSON gives them."""
    names: tuple[str, ...] | None = None
    first = last = b""
    for line in lines(data, report):
        text = line.data.strip()
        first, last = first or text, text
        if text.startswith(b"{"):
            lead = line.data.index(b"{")
            start = (line.offset + lead, line.number)
            yield line, {pair.key: pair.value for pair in json_pairs(text.rstrip(b","), report, start=start) if pair.key}
        elif text in (b"", b"[", b"]"):
            continue
        elif names is None:
            header = [cell.strip() for cell in decoded(line, report).split(",")]
            names = _names(header)
            if names is None:
                report.at("unknown-column", clean(text.decode(errors="replace"))[:200], line, "error")
                return
        else:
            cells = next(csv.reader([decoded(line, report)], skipinitialspace=True), [])
            if len(cells) == len(names):
                yield line, dict(zip(names, cells, strict=True))
            else:
                report.at("malformed-row", f"{len(cells)} cells, the report has {len(names)} columns", line, "error")
    if first[:1] == b"[" and last[-1:] != b"]":
        report("truncated-document", "the list of rows does not end", len(data), 0, None, "error")


def _names(header: list[str]) -> tuple[str, ...] | None:
    """The columns of a CSV with this header; None where the tool does not write such a header."""
    left = _LEFT if header[0] == "numCycle" else _LEFT[1:]
    middle = ("gpus",) if "gpus" in header else _MPI
    return (*left, *middle, *_RIGHT) if header[-4:] == ["time", "algbw", "busbw", "#wrong"] else None
