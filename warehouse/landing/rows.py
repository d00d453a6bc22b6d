"""Landing rows: schemas that always say where a row came from, and a buffer that turns rows into bounded batches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from warehouse.digest import bytes_digest
from warehouse.landing.contract import ISSUE_TABLE, canonical_json

BATCH_ROWS = 50_000
_ROWS_BETWEEN_LOOKS = 5_000
_NO_TIMES = (1, 9999)  # Go's zero time, and what many programs write for "never"; the ends of Python's times, which DuckDB gives for infinite ones
_NO_TIME_YEARS = pa.array(_NO_TIMES, pa.int64())
_Integers = Sequence[int] | NDArray[np.int64]

RUN_ID = pa.field("run_id", pa.string(), nullable=False)
WORKLOAD_FIELDS = (  # of a run, as `workload_columns` gives them
    pa.field("workload_document", pa.string(), nullable=False),  # canonical JSON
    pa.field("workload_spec_digest", pa.string(), nullable=False),
)
LINEAGE_FIELDS = (
    pa.field("artifact_manifest_digest", pa.string(), nullable=False),
    pa.field("raw_path", pa.string(), nullable=False),
    pa.field("raw_offset", pa.int64(), nullable=False),  # bytes from the file's start
    pa.field("raw_length", pa.int64(), nullable=False),  # bytes
)


def landing_schema(*fields: pa.Field) -> pa.Schema:
    """The schema of a landing table: `fields`, then the four columns that lead back to the bytes."""
    return pa.schema([*fields, *LINEAGE_FIELDS])


ISSUE_SCHEMA = landing_schema(
    pa.field("severity", pa.string(), nullable=False),  # error, warning or note: see landing.severity
    pa.field("code", pa.string(), nullable=False),  # stable, kebab-case, e.g. identity-mismatch
    pa.field("message", pa.string(), nullable=False),
    pa.field("line_number", pa.int64()),  # 1-based, NULL where a file has no lines
    pa.field("run_id", pa.string()),
)

# What a build leaves out of its tables because it breaks a test: one row a table, test, bundle and run. The build itself fills it.
REJECTED_SCHEMA = landing_schema(
    pa.field("table_name", pa.string(), nullable=False),
    pa.field("test", pa.string(), nullable=False),
    pa.field("row_count", pa.int64(), nullable=False),
    pa.field("severity", pa.string(), nullable=False),
    pa.field("code", pa.string(), nullable=False),
    pa.field("message", pa.string(), nullable=False),
    pa.field("run_id", pa.string()),
)

# The two tables that every bundle fills from its manifest, recognised or not.
BUNDLE_SCHEMA = landing_schema(
    pa.field("family", pa.string(), nullable=False),
    pa.field("ingestor_version", pa.int64()),  # NULL: no ingestor knows the family
    pa.field("identity", pa.string(), nullable=False),  # JSON
    pa.field("source", pa.string(), nullable=False),  # JSON
    pa.field("file_count", pa.int64(), nullable=False),
    pa.field("bytes", pa.int64(), nullable=False),
    pa.field("arrived_at", pa.timestamp("us", tz="UTC")),  # of the first arrival in the ledger
)
FILE_SCHEMA = landing_schema(
    pa.field("bytes", pa.int64(), nullable=False),
    pa.field("sha256", pa.string(), nullable=False),
    pa.field("media_type", pa.string()),
    pa.field("role", pa.string()),
)

# One row a kind of run declaration and folder that has one (`landing.declaration`): what it says of the runs there; nothing,
# where it breaks a rule.
DECLARATION_SCHEMA = landing_schema(
    pa.field("kind", pa.string(), nullable=False),  # BenchmarkRun or WorkloadSpec
    pa.field("raw_folder", pa.string(), nullable=False),  # in the bundle, with its closing slash; empty: the whole bundle
    pa.field("workload_document", pa.string()),  # the frozen document, canonical JSON
    pa.field("declared_spec_digest", pa.string()),  # its sha256
    pa.field("intent", pa.string()),
    pa.field("cadence", pa.string()),
    pa.field("benchmark_grade", pa.string()),
    pa.field("grade_reason", pa.string()),  # why the grade is less than what was declared
    pa.field("scheduler_path", pa.string()),
    pa.field("model", pa.string()),
    pa.field("precision", pa.string()),
    pa.field("protocol", pa.string()),
    pa.field("deployment_model", pa.string()),
    pa.field("batching_policy", pa.string()),
    pa.field("concurrency_point", pa.int64()),
    pa.field("prompt_distribution", pa.string()),
    pa.field("completion_distribution", pa.string()),
)

# Not evidence (`landing.engine_tables`): what the signatures of bundles were found to be, and what was decided about runs, by which
# event of the ledger.
SIGNING_SCHEMA = pa.schema([
    pa.field("artifact_manifest_digest", pa.string(), nullable=False),
    pa.field("signing_state", pa.string(), nullable=False),  # unsigned, valid, untrusted key or invalid
    pa.field("key_id", pa.string()),  # of the signature that decides
    pa.field("key_name", pa.string()),  # what the project calls it, where it is trusted
    pa.field("reason", pa.string()),  # of every signature
])
_EVENT_FIELDS = (
    pa.field("decided_at", pa.timestamp("us", tz="UTC"), nullable=False),
    pa.field("decided_by", pa.string(), nullable=False),  # user and host
    pa.field("event_key", pa.string(), nullable=False),  # in the store
    pa.field("event_sha256", pa.string(), nullable=False),  # of the event's file
)
DECISION_SCHEMA = pa.schema([
    pa.field("run_id", pa.string(), nullable=False),
    pa.field("state", pa.string(), nullable=False),  # retracted or superseded
    pa.field("reason", pa.string(), nullable=False),
    pa.field("superseded_by", pa.string()),  # a run
    *_EVENT_FIELDS,
])
FINDING_SCHEMA = pa.schema([  # the last mark of each finding of `wh changes`, and the finding as it was then
    pa.field("finding_id", pa.string(), nullable=False),
    pa.field("state", pa.string(), nullable=False),
    pa.field("reason", pa.string(), nullable=False),
    pa.field("rule", pa.string()),
    *(pa.field(name, pa.string()) for name in ("series_key", "indicator", "metric", "point", "benchmark_case_id", "status", "outcome")),
    *(pa.field(name, pa.float64()) for name in ("before", "after", "ratio", "ratio_low", "ratio_high", "p")),
    pa.field("changed_at", pa.timestamp("us", tz="UTC")),
    *(pa.field(name, pa.string()) for name in ("last_run_before", "first_run_after")),
    *_EVENT_FIELDS,
])
SETTLEMENT_SCHEMA = pa.schema([
    pa.field("run_id", pa.string(), nullable=False),
    pa.field("bundle_digest", pa.string(), nullable=False),  # of a bundle that states the run
    pa.field("is_evidence", pa.bool_(), nullable=False),  # false: it is set aside
    pa.field("reason", pa.string(), nullable=False),
    *_EVENT_FIELDS,
])


def workload_columns(document: dict[str, Any]) -> dict[str, str]:
    """The columns of a workload document."""
    written = canonical_json(document)
    return {"workload_document": written.decode(), "workload_spec_digest": bytes_digest(written)}  # as of `workload_spec_digest`


def parse_utc(text: str) -> datetime:
    """An ISO 8601 time with a zone, as UTC. Raises `ValueError`, also when the zone is not stated."""
    time = datetime.fromisoformat(text)
    if time.tzinfo is None:
        raise ValueError(f"{text!r} states no zone")
    return time.astimezone(UTC)


class Row(NamedTuple):
    """One row that was read: the place of its bytes, and its columns."""

    offset: int
    length: int
    columns: Mapping[str, Any]


class Rows(NamedTuple):
    """Rows that follow one another: the same, of each."""

    offsets: _Integers
    lengths: _Integers
    columns: Mapping[str, Any]


class RowBuffer:
    """Collects rows of several landing tables for one bundle and yields them as record batches of about `BATCH_ROWS` or fewer.

    `add` takes the row's own columns by name (absent means NULL) and the place of the bytes it was read from; `add_columns`
    many rows of a table at once, where a row at a time costs more than reading it; `add_read` either.
    """

    def __init__(self, tables: Mapping[str, pa.Schema], artifact_manifest_digest: str) -> None:
        self._schemas = {**tables, ISSUE_TABLE: ISSUE_SCHEMA}
        self._names = {name: frozenset(schema.names) for name, schema in self._schemas.items()}
        self._times = {name: [field.name for field in schema if pa.types.is_timestamp(field.type)] for name, schema in self._schemas.items()}
        self._digest = artifact_manifest_digest
        self._rows: dict[str, list[dict[str, Any]]] = {name: [] for name in self._schemas}
        self._batches: dict[str, list[pa.RecordBatch]] = {name: [] for name in self._schemas}  # of rows before those
        self._new_rows = 0  # since `full` looked

    def add(self, table: str, raw_path: str, raw_offset: int, raw_length: int, **columns: Any) -> None:
        self._check_names(table, columns)
        for name in self._times[table]:
            if (time := columns.get(name)) is not None and time.year in _NO_TIMES:
                columns[name] = None
                self._no_time(name, time.year, raw_path, raw_offset, raw_length, columns.get("run_id"))
        columns["raw_path"] = raw_path
        columns["raw_offset"] = raw_offset
        columns["raw_length"] = raw_length
        self._rows[table].append(columns)
        self._new_rows += 1

    def add_columns(
        self, table: str, raw_path: str, raw_offset: _Integers, raw_length: _Integers, **columns: Any
    ) -> None:
        """Rows by columns: of each an array of its type, a sequence of values, or one text that all rows share."""
        self._check_names(table, columns)
        schema, size = self._schemas[table], len(raw_offset)
        columns |= {
            "artifact_manifest_digest": self._digest, "raw_path": raw_path, "raw_offset": raw_offset, "raw_length": raw_length
        }
        arrays = [_column(columns.get(field.name), field.type, size) for field in schema]
        for place in (schema.get_field_index(name) for name in self._times[table]):
            is_none = pc.is_in(pc.year(arrays[place]), _NO_TIME_YEARS)
            if pc.any(is_none).as_py():
                first = pc.index(is_none, True).as_py()
                year = pc.year(arrays[place][first]).as_py()
                self._no_time(schema[place].name, year, raw_path, int(raw_offset[first]), int(raw_length[first]), None)
                arrays[place] = pc.if_else(is_none, None, arrays[place])
        if self._rows[table]:
            self._batches[table].append(self._batch(schema, self._rows[table]))
            self._rows[table] = []
        batch = landing_batch(arrays, schema)
        self._batches[table] += [batch.slice(first, BATCH_ROWS) for first in range(0, size, BATCH_ROWS)]
        self._new_rows += size

    def add_read(self, table: str, raw_path: str, found: Row | Rows, **columns: Any) -> None:
        """Add what was read of a file, with `columns` that its rows share."""
        if isinstance(found, Rows):
            self.add_columns(table, raw_path, found.offsets, found.lengths, **columns, **found.columns)
        else:
            self.add(table, raw_path, found.offset, found.length, **columns, **found.columns)

    def add_all(
        self, table: str, raw_path: str, found: Iterable[Row | Rows], **columns: Any
    ) -> Iterator[tuple[str, pa.RecordBatch]]:
        """Add what is read of a file as it comes; yields batches that are full."""
        for each in found:
            self.add_read(table, raw_path, each, **columns)
            yield from self.full()

    def _no_time(self, name: str, year: int, raw_path: str, raw_offset: int, raw_length: int, run_id: str | None) -> None:
        message = f"{name} is in the year {year}, which programs write where there is no time; it is NULL"
        self.issue("no-time", message, raw_path, raw_offset, raw_length, run_id=run_id)

    def _check_names(self, table: str, columns: Mapping[str, Any]) -> None:
        if not self._names[table].issuperset(columns):
            raise ValueError(f"{table} has no column {sorted(columns.keys() - self._names[table])}")

    def issue(
        self, code: str, message: str, raw_path: str, raw_offset: int = 0, raw_length: int = 0, *,
        severity: str = "warning", line_number: int | None = None, run_id: str | None = None,
    ) -> None:
        self.add(
            ISSUE_TABLE, raw_path, raw_offset, raw_length,
            severity=severity, code=code, message=message, line_number=line_number, run_id=run_id,
        )

    def full(self) -> Iterator[tuple[str, pa.RecordBatch]]:
        """Batches of the tables that have reached `BATCH_ROWS`; call it while adding: it looks every few thousand rows."""
        if self._new_rows >= _ROWS_BETWEEN_LOOKS:
            self._new_rows = 0
            yield from self._take(BATCH_ROWS)

    def rest(self) -> Iterator[tuple[str, pa.RecordBatch]]:
        """All that is left."""
        return self._take(1)

    def _take(self, at_least: int) -> Iterator[tuple[str, pa.RecordBatch]]:
        for table, rows in self._rows.items():
            batches = self._batches[table]
            if len(rows) + sum(batch.num_rows for batch in batches) >= at_least:
                self._rows[table], self._batches[table] = [], []
                yield from ((table, batch) for batch in batches)
                if rows:
                    yield table, self._batch(self._schemas[table], rows)

    def _batch(self, schema: pa.Schema, rows: list[dict[str, Any]]) -> pa.RecordBatch:
        # All columns at once: an array a column takes six times as long for one row, and RecordBatch.from_pylist three times for many.
        batch = pa.RecordBatch.from_struct_array(pa.array(rows, pa.struct(schema)))
        place = schema.get_field_index("artifact_manifest_digest")
        digest = repeated(self._digest, len(rows))
        return batch.set_column(place, schema.field(place).with_type(digest.type), digest)


def landing_batch(columns: Sequence[pa.Array], schema: pa.Schema) -> pa.RecordBatch:
    """Columns of a landing table as a batch. Texts may be `coded`: then the batch's schema says so."""
    fields = [field.with_type(column.type) for field, column in zip(schema, columns, strict=True)]
    return pa.RecordBatch.from_arrays(columns, schema=pa.schema(fields))


def coded(texts: Sequence[str | None], codes: NDArray[np.integer[Any]]) -> pa.DictionaryArray:
    """One of a few texts for each row, by its place among them: written as it is, where to look for equal texts among so many
    would take longer than to write all numbers of their rows."""
    known = {text: place for place, text in enumerate(dict.fromkeys(text for text in texts if text is not None))}
    places = np.array([known.get(text, -1) if text is not None else -1 for text in texts], np.int32)[codes]
    return pa.DictionaryArray.from_arrays(pa.array(places, mask=places < 0), pa.array(known, pa.string()))


def repeated(text: str, count: int) -> pa.DictionaryArray:
    """One text for all rows."""
    return pa.DictionaryArray.from_arrays(pa.array(np.zeros(count, np.int32)), pa.array([text], pa.string()))


def decoded_schema(schema: pa.Schema) -> pa.Schema:
    """The schema of a batch with its texts not `coded`."""
    return pa.schema([
        field.with_type(field.type.value_type) if pa.types.is_dictionary(field.type) else field for field in schema
    ])


def _column(values: Any, kind: pa.DataType, size: int) -> pa.Array:
    if values is None:
        return pa.nulls(size, kind)
    if isinstance(values, str):
        return repeated(values, size)
    return values if isinstance(values, pa.Array) else pa.array(values, kind)
