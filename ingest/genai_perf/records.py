"""AIPerf's records: a JSON object a line, one a request; each metric states its unit. The first versions have other names for
the phase, the moments and the time to the first token.

They are read many at a time, by columns, where all that a batch states is of the kinds that the tool writes; one by one
where it is not.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from warehouse.landing.readers.columns import as_column, never
from warehouse.landing.readers.json_lines import Lines, json_lines
from warehouse.landing.readers.json_records import Records
from warehouse.landing.readers.records import Record
from warehouse.landing.readers.text import Data, Report
from warehouse.landing.rows import Row, Rows

from .units import MILLISECONDS, milliseconds

_TIMES = ("time_to_first_token", "inter_token_latency", "request_latency")
_LENGTHS = ("input_sequence_length", "output_sequence_length")
_MOMENTS = ("request_start_ns", "request_end_ns")
_ISSUED, _CANCELLED = "credit_issued_ns", "was_cancelled"
_WARM_UP = "warmup"


def record_rows(data: Data, report: Report) -> Iterator[Row | Rows]:
    """The records of the measured phase, one by one or many by columns; warm-up requests are no part of the result."""
    index = 0
    for several in json_lines(data, report):
        rows = _rows_of_all(several, index)
        if rows is not None:
            index += len(rows.offsets)
            yield rows
            continue
        for line, record in several.objects(report):
            metadata = record.within("metadata")
            if (metadata.text("benchmark_phase") or metadata.text("credit_phase")) != _WARM_UP:
                yield Row(line.offset, line.length, {"request_index": index, "point_index": 0, **_columns(record)})
                index += 1


def _rows_of_all(several: Lines, first: int) -> Rows | None:
    """What `_columns` gives for each of the records; None where one of them is to be looked at by itself."""
    records = several.records
    phases = records.texts("metadata", "benchmark_phase")
    if len(records) == 1 or phases is None or not records.has("metadata", "benchmark_phase").all():
        return None
    columns: dict[str, Any] = {key: records.counts("metadata", key) for key in (*_MOMENTS, _ISSUED)}
    for key in _TIMES:
        columns[f"{key}_ms"] = _milliseconds(records, key)
    for key in _LENGTHS:
        columns[key] = records.counts("metrics", key, "value")
    if any(column is None for column in columns.values()) or _are_of_the_first_versions(records, phases, columns):
        return None
    if any(records.column("error") or ()):
        errors = [_error(Record(value, never)) for value in records.values]
        columns |= {key: pa.array([error[key] for error in errors], pa.string()) for key in _ERROR}
    cancelled = records.column("metadata", _CANCELLED) or []
    columns[_CANCELLED] = pa.array([value if isinstance(value, bool) else None for value in cancelled], pa.bool_())
    columns["session"] = pa.array([_session(Record(value, never).within("metadata")) for value in records.values], pa.string())
    turns = records.counts("metadata", "turn_index")
    if turns is None:
        return None
    columns["turn_index"] = pc.if_else(pc.is_valid(columns["session"]), turns, None)
    offsets, lengths = several.offsets, several.lengths
    if _WARM_UP in phases:
        kept = np.array([phase != _WARM_UP for phase in phases])
        columns = {key: pa.array(column).filter(pa.array(kept)) for key, column in columns.items()}
        offsets, lengths = offsets[kept], lengths[kept]
    columns |= {"request_index": np.arange(first, first + len(offsets)), "point_index": np.zeros(len(offsets), np.int64)}
    return Rows(offsets, lengths, columns)


def _are_of_the_first_versions(records: Records, phases: list[str | None], columns: dict[str, Any]) -> bool:
    """Whether what is missing may be under the name that it had then."""
    then = (
        (not all(phases), ("metadata", "credit_phase")),
        (columns[_MOMENTS[0]].null_count, ("metadata", "timestamp_ns")),
        (columns[f"{_TIMES[0]}_ms"].null_count, ("metrics", "ttft")),
    )
    return any(is_missing and records.has(*name).any() for is_missing, name in then)


def _milliseconds(records: Records, key: str) -> pa.Array | None:
    """What `milliseconds` gives of each metric; None where one is to be looked at by itself."""
    found, units = records.numbers("metrics", key, "value"), records.texts("metrics", key, "unit")
    if found is None or units is None:
        return None
    factors = {unit: MILLISECONDS.get((unit or "").strip(), np.nan) for unit in set(units)}
    by_row = list(factors.values())[0] if len(factors) == 1 else np.array([factors[unit] for unit in units], np.float64)
    with np.errstate(over="ignore"):
        in_ms: NDArray[np.float64] = found * by_row
    return as_column(in_ms) if np.array_equal(np.isnan(in_ms), np.isnan(found)) else None


def _columns(record: Record) -> dict[str, Any]:
    metadata = record.within("metadata")
    columns: dict[str, Any] = {key: metadata.count(key) for key in (*_MOMENTS, _ISSUED)} | _error(record)
    cancelled = metadata.values.get(_CANCELLED)
    columns[_CANCELLED] = cancelled if isinstance(cancelled, bool) else None
    columns["session"] = _session(metadata)
    columns["turn_index"] = metadata.count("turn_index") if columns["session"] else None
    if "timestamp_ns" in metadata.values and _MOMENTS[0] not in metadata.values:
        columns[_MOMENTS[0]] = metadata.count("timestamp_ns")
        columns[_MOMENTS[1]] = record.within("metrics", "max_response_timestamp").count("value")
    for key in _TIMES:
        metric = record.within("metrics", key if key != _TIMES[0] or key in record.within("metrics").values else "ttft")
        columns[f"{key}_ms"] = milliseconds(metric, "value", key)
    for key in _LENGTHS:
        columns[key] = record.within("metrics", key).count("value")
    return columns


def _session(metadata: Record) -> str | None:
    """AIPerf gives all turns of a session one correlation id. What an agent's helpers ask is within a turn of the agent's session."""
    return metadata.text("x_correlation_id") or metadata.text("conversation_id") if not metadata.count("agent_depth") else None


_ERROR = ("error_type", "error_message")


def _error(record: Record) -> dict[str, str | None]:
    error = record.within("error")
    kind = error.text("type") or error.text("code") or ("error" if record.values.get("error") else None)
    return {"error_type": kind, "error_message": error.text("message")}
