"""Landing tables of telemetry, which all families that hold samples of metrics over time fill: series, and their samples.

Each sample carries the last one before it in its series that has a value. So an increase, a time-weighted mean or a gap follows from one
row, and models never sort samples. A sample without a value ends nothing: a counter's increase goes on past it.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from warehouse.landing.contract import canonical_json
from warehouse.landing.readers.text import MAX_VALUE_CHARACTERS, Report, clean
from warehouse.landing.rows import RowBuffer, landing_schema

SERIES_TABLE, SAMPLE_TABLE = "telemetry_series", "telemetry_sample"
NO_TIME = np.iinfo(np.int64).min  # of a sample without a time
_EPOCH, _MICROSECOND = datetime(1970, 1, 1, tzinfo=UTC), timedelta(microseconds=1)

TELEMETRY_TABLES: Mapping[str, pa.Schema] = {
    SERIES_TABLE: landing_schema(
        pa.field("series_number", pa.int64(), nullable=False),  # in its bundle, from 0
        pa.field("source", pa.string(), nullable=False),  # whose metric names these are: prometheus, akamas, host
        pa.field("metric", pa.string(), nullable=False),  # as the source names it
        pa.field("metric_type", pa.string()),  # as the source states it: counter, gauge, histogram
        pa.field("unit", pa.string()),  # as the source states it
        pa.field("labels", pa.string(), nullable=False),  # a JSON object of texts
        pa.field("target", pa.string()),  # which file or endpoint, where its name tells targets apart
        pa.field("run_id", pa.string()),  # where the evidence itself states the run
        pa.field("clock", pa.string()),  # where the times are from: stated, zone assumed, file name; NULL: there are none
    ),
    SAMPLE_TABLE: landing_schema(
        pa.field("series_number", pa.int64(), nullable=False),
        pa.field("sampled_at", pa.timestamp("us", tz="UTC")),
        pa.field("value", pa.float64()),  # in the source's unit; NULL if there is none
        pa.field("no_value", pa.string()),  # why there is none: NaN, Inf, -Inf, or blank: the source's mark for a missing value
        pa.field("previous_at", pa.timestamp("us", tz="UTC")),  # of the last sample with a value before it in its series; NULL: it is the first
        pa.field("previous_value", pa.float64()),
    ),
}


class Series:
    """The series of a bundle, and the last sample with a value of each. Samples are added in the order of time."""

    def __init__(self, buffer: RowBuffer, source: str) -> None:
        self._buffer, self._source = buffer, source
        self._count = 0
        self._times = np.full(64, NO_TIME, np.int64)
        self._values = np.full(64, np.nan)

    def add(
        self, metric: str, labels: Mapping[str, str], raw_path: str, offset: int, length: int, *,
        metric_type: str | None = None, unit: str | None = None, target: str | None = None, run_id: str | None = None,
        clock: str | None = None,
    ) -> int:
        """A new series, and the place of the bytes that first state it. Returns its number."""
        number, self._count = self._count, self._count + 1
        if number == len(self._times):
            self._times = np.append(self._times, np.full(number, NO_TIME, np.int64))
            self._values = np.append(self._values, np.full(number, np.nan))
        texts = {clean(key): clean(value)[:MAX_VALUE_CHARACTERS] for key, value in labels.items()}
        self._buffer.add(
            SERIES_TABLE, raw_path, offset, length, series_number=number, source=self._source, metric=clean(metric),
            metric_type=metric_type, unit=unit, labels=canonical_json(texts).decode(), target=target, run_id=run_id, clock=clock,
        )
        return number

    def samples(
        self, raw_path: str, numbers: NDArray[np.int64], times: NDArray[np.int64], values: NDArray[np.float64],
        offsets: NDArray[np.int64], lengths: NDArray[np.int64], report: Report, is_blank: NDArray[np.bool_] | None = None,
    ) -> None:
        """Add samples of any series: microseconds since the epoch or `NO_TIME`, and values, of which some may be `is_blank`. A sample that
        is not after the one before it in its series has no previous sample; this is reported, as are values that are not finite."""
        if not len(numbers):
            return
        order = np.lexsort((times, numbers))  # a stable sort: samples of equal time stay as the file has them
        numbers, times, offsets, lengths = (column[order] for column in (numbers, times, offsets, lengths))
        values = values[order]
        blank = np.zeros(len(values), np.bool_) if is_blank is None else is_blank[order]
        is_value = np.isfinite(values) & ~blank
        if not (is_value | blank).all():
            first = int(np.argmin(is_value | blank))
            report(
                "non-finite-sample", f"{int((~(is_value | blank)).sum())} samples are NaN or infinite; their values are NULL",
                int(offsets[first]), int(lengths[first]), severity="note",
            )
        places = np.arange(len(numbers))
        is_first = np.append(True, numbers[1:] != numbers[:-1])
        begin = np.maximum.accumulate(np.where(is_first, places, 0))  # of the series
        last = np.maximum.accumulate(np.where(is_value & (times != NO_TIME), places, -1))  # so far that has a value
        before = np.append(-1, last[:-1])
        is_here = before >= begin  # the sample before is among these
        before_times = np.where(is_here, times[before], self._times[numbers])
        before_values = np.where(is_here, values[before], self._values[numbers])
        has_before = (before_times != NO_TIME) & (times > before_times)
        _report_order(before_times, times, offsets, lengths, report)
        self._buffer.add_columns(
            SAMPLE_TABLE, raw_path, offsets, lengths,
            series_number=numbers,
            sampled_at=_timestamps(times, times != NO_TIME),
            value=pa.array(values, mask=~is_value),
            no_value=None if is_value.all() else pa.array(np.where(blank, "blank", _names(values)), pa.string(), mask=is_value),
            previous_at=_timestamps(before_times, has_before),
            previous_value=pa.array(before_values, mask=~has_before),
        )
        is_last = np.append(numbers[1:] != numbers[:-1], True) & (last >= begin)
        later = last[is_last][times[last[is_last]] >= self._times[numbers[is_last]]]
        self._times[numbers[later]], self._values[numbers[later]] = times[later], values[later]


def microseconds_of(moment: datetime) -> int:
    """Microseconds since the epoch, exactly."""
    return (moment - _EPOCH) // _MICROSECOND


def microseconds(seconds: NDArray[np.float64]) -> NDArray[np.int64]:
    """Seconds since the epoch as microseconds; `NO_TIME` outside the years 1678 to 2262."""
    is_in_range = np.abs(seconds) < 9.2e9
    return np.where(is_in_range, np.round(np.where(is_in_range, seconds, 0) * 1e6).astype(np.int64), NO_TIME)


def _report_order(
    before: NDArray[np.int64], times: NDArray[np.int64], offsets: NDArray[np.int64], lengths: NDArray[np.int64], report: Report
) -> None:
    is_late = (before != NO_TIME) & (times != NO_TIME) & (times <= before)
    if is_late.any():
        first = int(np.argmax(is_late))
        report(
            "sample-not-later", f"{int(is_late.sum())} samples are not later than the one before them in their series",
            int(offsets[first]), int(lengths[first]),
        )


def _timestamps(times: NDArray[np.int64], is_known: NDArray[np.bool_]) -> Any:
    return pa.array(np.where(is_known, times, 0), mask=~is_known).cast(pa.timestamp("us", tz="UTC"))


def _names(values: NDArray[np.float64]) -> NDArray[np.str_]:
    return np.where(np.isnan(values), "NaN", np.where(values > 0, "Inf", "-Inf"))
