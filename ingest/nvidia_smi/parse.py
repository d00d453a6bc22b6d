"""Turns logs of nvidia-smi into landing rows.

Only `Bundle.read` and `Bundle.map` may raise here (tampered or missing bytes); everything else becomes an issue.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from xml.parsers import expat

import numpy as np
import pyarrow as pa

from warehouse.landing.contract import Bundle
from warehouse.landing.readers.entries import document
from warehouse.landing.readers.text import Place, Report, clean, is_non_finite, landed_text, number_in, report_cut
from warehouse.landing.rows import RowBuffer
from warehouse.landing.telemetry import Series

_ROOT, _END = b"<nvidia_smi_log", b"</nvidia_smi_log>"
_LEFT_OUT = frozenset({"supported_clocks"})  # some hundred values, the same for each GPU of a kind
_MAX_DEPTH = 30
_MAX_VALUES = 20_000  # of a GPU; real ones have some hundred
# A number as nvidia-smi writes one, and its unit; 0000 and 08 are parts of an address.
_NUMBER = re.compile(r"(-?(?:0|[1-9]\d{0,17})(?:\.\d{1,9})?)(?:x|\s*([A-Za-z%][A-Za-z/%()]{0,8}))?")
_UNITS = frozenset({"W", "C", "MHz", "MiB", "KB/s", "MB/s", "GB/s", "%", "mV", "J", "ms", "us", "bank(s)"})
_NOTHING = frozenset({  # what nvidia-smi writes for a value that it does not have; drivers drop fields one after another
    "", *(
        written for words in ("N/A", "Not Supported", "Unknown Error", "Insufficient Permissions", "Function Not Found",
                              "Requested functionality has been deprecated", "Deprecated")
        for written in (words, f"[{words}]")
    ),
})
_FLAGS = {"Active": 1.0, "Not Active": 0.0}  # of reasons for which clocks are held back
# The elements that become samples. Their values are numbers, flags or N/A.
_SAMPLED = re.compile(
    r"(?:applications_)?clocks/\w+_clock|temperature/(?:gpu|memory)_temp|(?:gpu_)?power_readings/\w*(?:power_draw|power_limit)"
    r"|utilization/\w+_util|fb_memory_usage/\w+|pci/pci_gpu_link_info/(?:pcie_gen|link_widths)/(?:current|max)_link_(?:gen|width)"
    r"|pci/replay_counter|ecc_errors/(?:volatile|aggregate)/\w*correctable\w*"
    r"|clocks_(?:event|throttle)_reasons/\w+|clocks_event_reasons_counters/\w+"
)


@dataclass
class _Element:
    name: str
    offset: int
    line: int
    text: list[str] = field(default_factory=list)
    children: Counter[str] = field(default_factory=Counter)
    size: int = 0


class _Broken(Exception):
    """The log cannot be read further: nvidia-smi writes none of this size or depth."""


def landed(bundle: Bundle, buffer: RowBuffer) -> Iterator[tuple[str, pa.RecordBatch]]:
    """Add all rows of a bundle; yields batches that are full."""
    samples = _Samples(Series(buffer, "nvidia_smi"))
    for raw_path in bundle.manifest.by_path:
        report = Report(buffer, raw_path, None)
        data = document(bundle, raw_path, report)
        row_count, position, index, after = 0, data.find(_ROOT), 0, 0
        while position >= 0:
            _report_headless(data, after, position, report)
            stop = data.find(_END, position)
            after = len(data) if stop < 0 else stop + len(_END)
            line = data.count(b"\n", 0, position)
            rows = _Log(data[position:after], position, line, report).rows()
            row_count += len(rows)
            for row in rows:
                buffer.add("nvidia_smi_entry", raw_path, log_index=index, **row)
                yield from buffer.full()
            samples.add(rows, raw_path, report)
            position, index = data.find(_ROOT, after), index + 1
        _report_headless(data, after, len(data), report)
        report_cut(data, report)
        if not row_count:
            report("no-values", "no log of nvidia-smi could be read", 0, len(data), severity="error")


def _report_headless(data: bytes, start: int, stop: int, report: Report) -> None:
    """Report a log between two others whose beginning is damaged, so that it was not found."""
    end = data.find(_END, start, stop)
    if end >= 0:
        report("malformed-xml", "a log ends here that does not begin", start, end - start, data.count(b"\n", 0, start) + 1, "error")


class _Samples:
    """What changes of GPUs as samples of series: one a GPU and key."""

    def __init__(self, series: Series) -> None:
        self._series = series
        self._numbers: dict[tuple[str, str], int] = {}

    def add(self, rows: list[dict[str, Any]], raw_path: str, report: Report) -> None:
        """Add the values of one log, if it states its time."""
        stated = next((row["value"] for row in rows if row["key"] == "timestamp" and "gpu_index" not in row), None)
        try:
            moment = datetime.strptime(stated or "", "%a %b %d %H:%M:%S %Y").replace(tzinfo=UTC)
        except ValueError:
            if rows:
                report("no-log-time", f"the log's timestamp cannot be read: {stated}"[:200], rows[0]["raw_offset"], rows[0]["raw_length"])
            return
        found = [row for row in rows if row.get("gpu_uuid") and _SAMPLED.fullmatch(row["key"])]
        for row in found:
            text = row["value"] or ""
            if row["value_number"] is None and text not in _NOTHING and text not in _FLAGS and not _is_reported(text):
                place = Place(row["raw_offset"], row["raw_length"], row["line_number"])
                report.at("not-a-number", f"{row['key']}: {row['value']}"[:200], place, "error")
        numbers = [self._number(row, raw_path) for row in found]
        time = round(moment.timestamp()) * 1_000_000
        offsets, lengths = (np.array([row[key] for row in found], np.int64) for key in ("raw_offset", "raw_length"))
        values = np.array([_FLAGS.get(row["value"], row["value_number"]) for row in found], np.float64)  # NaN where there is none
        times = np.full(len(found), time)
        self._series.samples(raw_path, np.array(numbers, np.int64), times, values, offsets, lengths, report, np.isnan(values))

    def _number(self, row: dict[str, Any], raw_path: str) -> int:
        key = row["gpu_uuid"], row["key"]
        if key not in self._numbers:
            labels = {"gpu": str(row["gpu_index"]), "gpu_uuid": row["gpu_uuid"]}
            self._numbers[key] = self._series.add(
                row["key"], labels, raw_path, row["raw_offset"], row["raw_length"], unit=row["unit"], clock="zone assumed",
            )
        return self._numbers[key]


def _is_reported(text: str) -> bool:
    """Whether a value without a number was reported when it was read: its unit, or NaN, says that it should be one."""
    number, _, unit = text.rpartition(" ")
    return unit in _UNITS or is_non_finite(number or text)


class _Log:
    """One log, by itself: it begins behind its document type, so that it has no entities but those of XML."""

    def __init__(self, data: bytes, offset: int, line: int, report: Report) -> None:
        self._data, self._offset, self._line, self._report = data, offset, line, report
        self._open: list[_Element] = []
        self._rows: list[dict[str, Any]] = []
        self._gpu: dict[str, Any] = {}  # of the GPU under way
        self._first = 0  # its first row
        self._gpu_count = 0

    def rows(self) -> list[dict[str, Any]]:
        """A row a value."""
        parser = expat.ParserCreate()
        parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = self._start, self._end, self._characters
        self._parser = parser
        try:
            parser.Parse(self._data, True)
        except (expat.ExpatError, _Broken) as error:
            place = self._offset + max(parser.CurrentByteIndex, 0)
            self._report("malformed-xml", str(error)[:200], min(place, self._offset + len(self._data)), 0, self._at_line, "error")
            self._close_gpu()
        return self._rows

    @property
    def _at_line(self) -> int:
        return self._line + int(self._parser.CurrentLineNumber)

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if len(self._open) >= _MAX_DEPTH:
            raise _Broken(f"more than {_MAX_DEPTH} levels")
        if self._open:
            self._open[-1].children[name] += 1
        self._open.append(_Element(name, self._offset + self._parser.CurrentByteIndex, self._at_line))
        if name == "gpu" and len(self._open) == 2:
            self._gpu = {"gpu_index": self._gpu_count, "gpu_id": landed_text(attributes.get("id", "")) or None, "gpu_uuid": None}
            self._first = len(self._rows)
            self._gpu_count += 1

    def _characters(self, text: str) -> None:
        if self._open and self._open[-1].size < 1 << 16:
            self._open[-1].text.append(text)
            self._open[-1].size += len(text)

    def _end(self, name: str) -> None:
        element = self._open.pop()
        if not element.children and self._open and not any(each.name in _LEFT_OUT for each in (*self._open, element)):
            self._add(element)
        if name == "gpu" and len(self._open) == 1:
            self._close_gpu()

    def _add(self, element: _Element) -> None:
        if len(self._rows) - self._first > _MAX_VALUES:
            raise _Broken(f"more than {_MAX_VALUES} values")
        path = [*self._open[2 if self._gpu else 1 :], element]
        above = self._open[1 if self._gpu else 0 :]
        # A name that its element holds more than once has a number, from 0: mig_device[1].
        names = [
            f"{each.name}[{parent.children[each.name] - 1}]" if each.name in ("mig_device", "process_info") or parent.children[each.name] > 1
            else each.name
            for parent, each in zip(above, path, strict=False)
        ]
        value = " ".join("".join(element.text).split())
        length = self._offset + self._parser.CurrentByteIndex - element.offset
        number, unit = self._number(value, element, length)
        key = clean("/".join(names))[:256]
        if self._gpu and key == "uuid":
            self._gpu["gpu_uuid"] = landed_text(value)
        if (landed := landed_text(value)) is None:
            self._report("value-too-large", key, element.offset, length, element.line)
        row = {"key": key, "value": landed or None, "value_number": number, "unit": unit, "line_number": element.line}
        self._rows.append(row | {"raw_offset": element.offset, "raw_length": length, **self._gpu})

    def _number(self, value: str, element: _Element, length: int) -> tuple[float | None, str | None]:
        found = _NUMBER.fullmatch(value)
        if found is not None:
            return number_in(found[1]), found[2]
        first, _, unit = value.rpartition(" ")
        if is_non_finite(first or value):
            self._report("non-finite-number", f"{element.name}: {value}"[:200], element.offset, length, element.line, "error")
        elif unit in _UNITS and first not in _NOTHING:
            self._report("not-a-number", f"{element.name}: {value}"[:200], element.offset, length, element.line, "error")
        return None, None

    def _close_gpu(self) -> None:
        """The uuid comes after other values: set it in all rows of its GPU."""
        for row in self._rows[self._first :] if self._gpu else ():
            row["gpu_uuid"] = self._gpu["gpu_uuid"]
        self._gpu = {}
        self._first = len(self._rows)
