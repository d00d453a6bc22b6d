"""Series and samples in JSON: answers of Prometheus to `query` and `query_range`, exports of VictoriaMetrics as JSON lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from math import nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warehouse.landing.contract import canonical_json
from warehouse.landing.readers.exposition import number
from warehouse.landing.readers.json_lines import json_lines
from warehouse.landing.readers.json_stream import JsonStream
from warehouse.landing.readers.json_text import json_number
from warehouse.landing.readers.records import shown
from warehouse.landing.readers.text import Data, Place, Report, clean
from warehouse.landing.rows import RowBuffer
from warehouse.landing.telemetry import NO_TIME, Series, microseconds

from .dcgm import is_blank, is_dcgm

_OPEN_BRACKET = ord("[")
_HISTOGRAMS = ("histogram", "histograms")
_SAID: Mapping[str, tuple[str, str]] = {  # what an answer says of itself: the code and severity
    "error": ("query-error", "error"), "warnings": ("query-warning", "warning"), "infos": ("query-info", "note"),
}


class AnsweredSeries:
    """The series of all answers and exports of a bundle: one that several files state is one series."""

    def __init__(self, series: Series, buffer: RowBuffer) -> None:
        self._series, self._buffer = series, buffer
        self._numbers: dict[bytes, int] = {}

    def answer(self, data: Data, raw_path: str, report: Report) -> Iterator[None]:
        """Add what `query` or `query_range` answered, a series at a time."""
        query: str | None = None
        with JsonStream(_without_wrapper(data), report) as stream:
            for pair in stream.pairs():
                if pair.key == "query":
                    found = stream.value()
                    query = found if isinstance(found, str) else None
                elif pair.key == "data":
                    for part in stream.pairs():
                        if part.key == "result":
                            for offset in stream.elements():
                                self._result(stream, data, offset, query, raw_path, report)
                                yield
                elif pair.key == "result":
                    for offset in stream.elements():
                        self._result(stream, data, offset, query, raw_path, report)
                        yield
                elif pair.key in _SAID:
                    _tell(pair.key, stream, pair.offset, report)
                elif pair.key == "isPartial" and stream.value() is True:  # VictoriaMetrics
                    message = "not all storage nodes answered, so series or samples may be missing"
                    report("partial-answer", message, pair.offset, stream.offset - pair.offset)

    def _result(self, stream: JsonStream, data: Data, offset: int, query: str | None, raw_path: str, report: Report) -> None:
        labels: Mapping[str, Any] = {}
        pairs: list[Any] = []
        histograms: list[Any] = []
        start, opening = offset, 0
        for pair in stream.pairs():
            if pair.key == "metric":
                found = stream.value()
                labels = found if isinstance(found, dict) else {}
            elif pair.key in ("values", "value"):
                start, opening = pair.offset, int(pair.key == "values")
                found = stream.value()
                pairs = (found if isinstance(found, list) else []) if opening else [found]
            elif pair.key in _HISTOGRAMS:
                found = stream.value()
                histograms = (found if isinstance(found, list) else []) if pair.key == "histograms" else [found]
        place = Place(offset, stream.offset - offset, stream.line_number(offset))
        times, values, kept = _numbers(pairs, report, place)
        body = np.frombuffer(bytes(data[start : stream.offset]), np.uint8)
        opens = np.flatnonzero(body == _OPEN_BRACKET)[opening:]
        if len(opens) == len(pairs):  # each begins with its own bracket
            offsets, lengths = start + opens[kept], (np.append(opens[1:], len(body)) - opens)[kept]
        else:
            offsets, lengths = np.full(len(kept), place.offset), np.full(len(kept), place.length)
        self._add(labels, query, times, values, offsets, lengths, raw_path, report)
        if histograms:
            self._add_histograms(histograms, labels, query, place, raw_path, report)

    def _add_histograms(
        self, histograms: list[Any], labels: Mapping[str, Any], query: str | None, place: Place, raw_path: str, report: Report,
    ) -> None:
        """Add native histograms: their counts and sums are samples, named as those of a histogram with buckets."""
        found = {part: [[pair[0], pair[1].get(part)] if _is_histogram(pair) else pair for pair in histograms] for part in ("count", "sum")}
        for part, pairs in found.items():
            times, values, kept = _numbers(pairs, report, place)
            offsets, lengths = np.full(len(kept), place.offset), np.full(len(kept), place.length)
            number = self._add(labels, query, times, values, offsets, lengths, raw_path, report, f"_{part}")
            for index, time in zip(kept, times, strict=True) if part == "count" and number is not None else ():
                items = histograms[index][1]
                count, total = (json_number(items.get(name)) for name in ("count", "sum"))
                self._buffer.add(
                    "telemetry_histogram", raw_path, place.offset, place.length, series_number=number, count=count, sum=total,
                    sampled_at=None if time == NO_TIME else datetime.fromtimestamp(time / 1e6, UTC), document=canonical_json(items).decode(),
                )

    def export(self, data: Data, raw_path: str, report: Report) -> Iterator[None]:
        """Add what VictoriaMetrics exported: an object a line, with values and times in milliseconds."""
        for several in json_lines(data, report):
            for place, record in several.objects(report):
                values, times = record.values.get("values"), record.values.get("timestamps")
                if not isinstance(values, list) or not isinstance(times, list) or len(values) != len(times):
                    report.at("malformed-series", "as many values as timestamps are needed", place, "error")
                    continue
                pairs = [[time / 1000 if isinstance(time, (int, float)) else time, value] for time, value in zip(times, values, strict=True)]
                when, what, kept = _numbers(pairs, report, place)
                offsets, lengths = np.full(len(kept), place.offset), np.full(len(kept), place.length)
                self._add(record.within("metric").values, None, when, what, offsets, lengths, raw_path, report)
                yield

    def _add(
        self, labels: Mapping[str, Any], query: str | None, times: NDArray[np.int64], values: NDArray[np.float64],
        offsets: NDArray[np.int64], lengths: NDArray[np.int64], raw_path: str, report: Report, suffix: str = "",
    ) -> int | None:
        """Add samples of one series. Returns its number; None if there are none."""
        if not len(values):
            return None
        texts = {clean(str(key)): clean(str(value)) for key, value in labels.items()}
        # An expression's result has no name; then the query is what was measured.
        name = texts.pop("__name__", None) or clean(query or "") or raw_path.rpartition("/")[2]
        name += suffix
        key = canonical_json([name, texts])
        if key not in self._numbers:
            self._numbers[key] = self._series.add(name, texts, raw_path, int(offsets[0]), int(lengths[0]), clock="stated")
        numbers = np.full(len(values), self._numbers[key])
        blank = is_blank(values) if is_dcgm(name) else None
        self._series.samples(raw_path, numbers, times, values, offsets, lengths, report, blank)
        return self._numbers[key]


def _without_wrapper(data: Data) -> Data:
    """The document that holds the result, where lines of other JSON come before it: those are blanked, so that places stay."""
    start = data.rfind(b"\n{", 0, max(0, data.find(b'"resultType"'))) + 1
    return data if start == 0 else b" " * start + data[start:]


def _is_histogram(pair: Any) -> bool:
    return isinstance(pair, list) and len(pair) == 2 and isinstance(pair[1], dict)


def _tell(key: str, stream: JsonStream, offset: int, report: Report) -> None:
    """Report what an answer says of itself: that it failed, or that data may be missing from it."""
    found = stream.value()
    code, severity = _SAID[key]
    for each in found if isinstance(found, list) else [found]:
        if isinstance(each, str) and each:
            report(code, clean(each)[:200], offset, stream.offset - offset, severity=severity)


def _numbers(pairs: list[Any], report: Report, place: Any) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int64]]:
    """Times and values of pairs of seconds and a text, and which pairs these are; any other pair is reported."""
    plain = _plain(pairs)
    if plain is not None:
        return (*plain, np.arange(len(pairs)))
    times, values, kept = [], [], []
    for index, pair in enumerate(pairs):
        try:
            moment, value = pair
            if isinstance(moment, bool) or not isinstance(moment, (int, float)) or isinstance(value, bool):
                raise ValueError
            found = number(value) if isinstance(value, str) else nan if value is None else float(value)
        except (ValueError, TypeError, OverflowError):
            report.at("malformed-sample", f"not a time and a value: {shown(pair)}", place, "error")
            continue
        times.append(float(moment))
        values.append(found)
        kept.append(index)
    return microseconds(np.array(times, np.float64)), np.array(values, np.float64), np.array(kept, np.int64)


def _plain(pairs: list[Any]) -> tuple[NDArray[np.int64], NDArray[np.float64]] | None:
    """All pairs at once, if each is a number and the text of one, as Prometheus writes them."""
    if not pairs or set(map(type, pairs)) != {list} or set(map(len, pairs)) != {2}:
        return None
    moments, texts = zip(*pairs, strict=True)
    if not {int, float}.issuperset(map(type, moments)) or set(map(type, texts)) != {str} or "_" in "".join(texts):
        return None
    try:
        return microseconds(np.array(moments, np.float64)), np.array(list(map(float, texts)), np.float64)
    except (ValueError, OverflowError):
        return None
