"""What AIPerf scraped of the servers' Prometheus metrics while it measured: statistics of each series, in JSON (also by
windows) or CSV, or every scrape, a line each.

A series is an endpoint, a metric and a set of labels. A gauge has a mean, a counter an increase, a histogram a count and a sum.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from typing import Any

from warehouse.landing.contract import canonical_json
from warehouse.landing.readers.json_lines import json_lines
from warehouse.landing.readers.json_stream import JsonStream
from warehouse.landing.readers.records import Record, shown
from warehouse.landing.readers.text import Data, Place, Report, clean, decoded, landed_text, lines, number_in
from warehouse.landing.rows import Row

STATISTICS = ("avg", "min", "max", "total", "rate", "count", "sum")
_HEADER = ["Endpoint", "Type", "Metric", "Unit"]
# Columns of the CSV that are no labels: those above, what a series of a kind has for statistics, and these.
_NO_LABELS = frozenset({
    *STATISTICS, "std", "rate_avg", "rate_min", "rate_max", "rate_std", "count_rate", "sum_rate", "Description", "buckets",
})


def json_rows(data: Data, report: Report) -> Iterator[Row]:
    """Each series; one of which windows are stated, by window."""
    collected: dict[str, tuple[int | None, int | None]] = {}
    with JsonStream(data, report) as stream:
        for pair in stream.pairs():
            if pair.key == "summary":
                collected = _collected(stream.value(), pair.offset, report)
            elif pair.key == "metrics":
                for metric in stream.pairs():
                    offset = metric.offset
                    found = stream.value()
                    yield from _metric(metric.key, found, offset, stream.offset - offset, collected, report)
            else:
                stream.skip()


def _collected(summary: Any, offset: int, report: Report) -> dict[str, tuple[int | None, int | None]]:
    """When each endpoint was first scraped, and last."""
    info = summary.get("endpoint_info") if isinstance(summary, dict) else None
    found = {}
    for endpoint, stated in info.items() if isinstance(info, dict) else ():
        if isinstance(stated, dict):
            record = Record(stated, report.flag(Place(offset, 0)))
            found[str(endpoint)] = record.count("first_fetch_ns"), record.count("last_fetch_ns")
    return found


def _metric(
    name: str, found: Any, offset: int, length: int, collected: dict[str, tuple[int | None, int | None]], report: Report
) -> Iterator[Row]:
    flag = report.flag(Place(offset, length))
    metric = Record(found if isinstance(found, dict) else {}, flag)
    listed = metric.values.get("series")
    if not isinstance(listed, list):
        flag("not-an-object", f"{clean(name)[:80]}: {shown(found)}")
        return
    for series in (Record(item, flag) for item in listed if isinstance(item, dict)):
        endpoint = series.text("endpoint_url") or series.text("endpoint")
        stated = {
            "endpoint": endpoint, "labels": _labels(series.within("labels").values), "metric": clean(name)[:200],
            "metric_type": metric.text("type"), "unit": metric.text("unit"),
        }
        windows = series.values.get("timeslices")
        for window in windows if isinstance(windows, list) and windows else [None]:
            record = series.within("stats") if window is None else Record(window if isinstance(window, dict) else {}, flag)
            moments = (
                collected.get(endpoint or "", (None, None)) if window is None else (record.count("start_ns"), record.count("end_ns"))
            )
            numbers = {f"value_{key}": record.number(key) for key in STATISTICS}
            yield Row(offset, length, {**stated, "start_ns": moments[0], "end_ns": moments[1], **numbers})


def csv_rows(data: Data, report: Report) -> Iterator[Row]:
    """Each series. The tables of gauges, counters and histograms follow one another, each below its header."""
    header: list[str] = []
    for line in lines(data, report):
        text = decoded(line, report).lstrip("\ufeff")
        if not text.strip() or text.startswith("#"):
            continue
        try:
            cells = next(csv.reader([text]))
        except (csv.Error, StopIteration) as error:
            report.at("malformed-csv", str(error), line, "error")
            continue
        if cells[:4] == _HEADER:
            header = cells
            continue
        if len(cells) != len(header):
            report.at("malformed-csv", f"{len(cells)} cells under {len(header)} columns: {cells[0][:80]}", line, "error")
            continue
        stated = dict(zip(header, cells, strict=True))
        labels = {key: value for key, value in stated.items() if value and not _is_no_label(key)}
        yield Row(line.offset, line.length, {
            "endpoint": landed_text(stated["Endpoint"]), "labels": _labels(labels), "metric": clean(stated["Metric"])[:200],
            "metric_type": stated["Type"] or None, "unit": stated["Unit"] or None, "start_ns": None, "end_ns": None,
            **{f"value_{key}": number_in(stated.get(key, "")) for key in STATISTICS},
        })


def _is_no_label(column: str) -> bool:
    is_percentile = column[:1] == "p" and column[1:].removesuffix("_estimate").isdigit()
    return column in _HEADER or column in _NO_LABELS or is_percentile


def scrape_rows(data: Data, report: Report) -> Iterator[Row]:
    """Each series with a plain value, over all scrapes: its mean, least and greatest, from the first scrape to the last."""
    series: dict[tuple[str, str, str], list[float]] = {}
    moments: list[int] = []
    for several in json_lines(data, report):
        for _, record in several.objects(report):
            moment, endpoint = record.count("timestamp_ns"), record.text("endpoint_url")
            moments += [] if moment is None else [moment]
            for name, samples in record.within("metrics").values.items():
                for sample in samples if isinstance(samples, list) else ():
                    value = sample.get("value") if isinstance(sample, dict) else None
                    if isinstance(value, (int, float)) and not isinstance(value, bool) and value - value == 0:
                        key = endpoint or "", name, _labels(sample.get("labels") or {}) or ""
                        mean = series.setdefault(key, [0.0, 0.0, value, value])
                        mean[0] += 1
                        mean[1] += value
                        mean[2], mean[3] = min(mean[2], value), max(mean[3], value)
    for (endpoint, name, labels), (number, total, least, greatest) in series.items():
        yield Row(0, len(data), {
            "endpoint": endpoint or None, "labels": labels or None, "metric": clean(name)[:200], "metric_type": None, "unit": None,
            "start_ns": min(moments, default=None), "end_ns": max(moments, default=None), "value_avg": total / number,
            "value_min": least, "value_max": greatest,
        })


def _labels(found: Mapping[str, Any]) -> str | None:
    return landed_text(canonical_json({clean(str(key)): clean(str(value)) for key, value in found.items()}).decode()) if found else None
