"""The individual responses: an array of flat objects, one a request.

They are read many at a time, by columns, where all that a batch states is of the kinds that the tool writes; one by one
where it is not.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from warehouse.landing.readers.columns import as_column
from warehouse.landing.readers.json_records import Records
from warehouse.landing.readers.json_stream import JsonStream
from warehouse.landing.readers.records import Record
from warehouse.landing.readers.text import Data, Report
from warehouse.landing.rows import Row, Rows

_NUMBERS = (
    "ttft_s", "inter_token_latency_s", "end_to_end_latency_s", "request_output_throughput_token_per_s",
)
_COUNTS = ("number_input_tokens", "number_output_tokens")
_TEXTS = ("error_code", "error_msg")
_NAMES_OF_STARTS = ("request_start_time", "start_time")  # of forks and later versions


def _values() -> "dict[str, array[Any]]":
    return {**{key: array("d") for key in _NUMBERS}, **{key: array("q") for key in _COUNTS}}


@dataclass
class Detail:
    """What the responses state, for the check of the summary: values of the requests without an error, by key."""

    requests: int = 0
    failed: int = 0
    values: "dict[str, array[float]]" = field(default_factory=_values)
    computed_throughput: "array[float]" = field(default_factory=lambda: array("d"))  # output tokens / end-to-end latency
    wrong_throughputs: int = 0


def request_rows(data: Data, report: Report, detail: Detail) -> Iterator[Row | Rows]:
    """All requests, in their order; `detail` is filled on the way."""
    with JsonStream(data, report) as stream:
        for several in stream.batches():
            columns = _columns_of_all(several.records, detail)
            if columns is not None:
                yield Rows(several.offsets, several.lengths, columns)
                continue
            for offset, length, record in stream.objects_of(several):
                yield Row(offset, length, _columns(record, detail))


def _columns_of_all(records: Records, detail: Detail) -> dict[str, Any] | None:
    """What `_columns` gives for each of the records; None where one of them is to be looked at by itself."""
    if len(records) == 1:
        return None
    stated = [name for name in _NAMES_OF_STARTS if records.has(name).any()]
    if stated and not records.has(stated[0]).all():
        return None
    found = {key: records.numbers(key) for key in _NUMBERS}
    if stated:
        found["started_s"] = records.numbers(stated[0])
    floats = {key: column for key, column in found.items() if column is not None}
    whole = {key: records.counts(key) for key in _COUNTS}
    codes, messages = (records.texts(key) for key in _TEXTS)
    if codes is None or messages is None or len(floats) < len(found) or any(column is None for column in whole.values()):
        return None
    failed = [index for index, code in enumerate(codes) if code is not None]
    latency = floats["end_to_end_latency_s"]
    unanswered = [index for index in failed if not latency[index] or np.isnan(latency[index])]
    if unanswered:
        for key in _NUMBERS:
            floats[key][unanswered] = np.nan
        is_answered = np.ones(len(records), np.bool_)
        is_answered[unanswered] = False
        whole["number_output_tokens"] = pc.if_else(pa.array(is_answered), whole["number_output_tokens"], None)
    _note(floats, whole, failed, detail)
    first = detail.requests
    detail.requests += len(records)
    return {
        **{name: as_column(column) for name, column in floats.items()}, **whole, "error_code": codes, "error_msg": messages,
        "request_index": np.arange(first, detail.requests),
    }


def _note(
    floats: Mapping[str, NDArray[np.float64]], whole: Mapping[str, pa.Array], failed: list[int], detail: Detail
) -> None:
    """What `_columns` notes of each."""
    detail.failed += len(failed)
    is_answered = np.ones(len(whole["number_output_tokens"]), np.bool_)
    is_answered[failed] = False
    for key in _NUMBERS:
        detail.values[key].frombytes(floats[key][is_answered & ~np.isnan(floats[key])].tobytes())
    for key, column in whole.items():
        stated = column.filter(pa.array(is_answered)).drop_null() if failed or column.null_count else column
        detail.values[key].frombytes(stated.to_numpy().tobytes())
    tokens = whole["number_output_tokens"].to_numpy(zero_copy_only=False).astype(np.float64)
    latency, throughput = floats["end_to_end_latency_s"], floats["request_output_throughput_token_per_s"]
    is_told = is_answered & (latency != 0) & ~np.isnan(latency) & ~np.isnan(tokens)
    with np.errstate(over="ignore"):
        computed = tokens[is_told] / latency[is_told]
    detail.computed_throughput.frombytes(computed.tobytes())
    detail.wrong_throughputs += int(np.count_nonzero(np.abs(throughput[is_told] - computed) > 1e-9 * computed))


def _columns(record: Record, detail: Detail) -> dict[str, Any]:
    columns: dict[str, Any] = {key: record.number(key) for key in _NUMBERS}
    columns |= {key: record.count(key) for key in _COUNTS}
    start = next((name for name in _NAMES_OF_STARTS if name in record.values), None)
    columns["started_s"] = record.number(start) if start else None
    columns |= {key: record.text(key) for key in _TEXTS}
    columns["request_index"] = detail.requests
    detail.requests += 1
    if columns["error_code"] is not None:
        detail.failed += 1
        # A request that got no answer has zeros in all its fields: nothing was measured.
        if not columns["end_to_end_latency_s"]:
            columns |= dict.fromkeys((*_NUMBERS, "number_output_tokens"))
        return columns
    for key, values in detail.values.items():
        if columns[key] is not None:
            values.append(columns[key])
    _check_throughput(columns, detail)
    return columns


def _check_throughput(columns: dict[str, Any], detail: Detail) -> None:
    latency, tokens = columns["end_to_end_latency_s"], columns["number_output_tokens"]
    if not latency or tokens is None:
        return
    computed = tokens / latency
    stated = columns["request_output_throughput_token_per_s"]
    detail.computed_throughput.append(computed)
    detail.wrong_throughputs += stated is not None and abs(stated - computed) > 1e-9 * computed
