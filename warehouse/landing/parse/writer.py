"""Writes one landing batch: a Parquet file a table, streamed, visible under its final name only when whole."""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import TracebackType

import pyarrow as pa
import pyarrow.parquet as pq

from warehouse.digest import open_file_digest
from warehouse.errors import WarehouseError
from warehouse.evidence.durable import make_folder
from warehouse.landing.contract import ISSUE_TABLE, Bundle, Ingestor
from warehouse.landing.declaration.placing import ROLE
from warehouse.landing.logs.reader import LogReader
from warehouse.landing.parse.batches import BUNDLE_TABLE, DECLARATION_TABLE, FILE_TABLE, LandingFile
from warehouse.landing.rows import (
    BATCH_ROWS,
    BUNDLE_SCHEMA,
    DECLARATION_SCHEMA,
    FILE_SCHEMA,
    ISSUE_SCHEMA,
    RowBuffer,
    decoded_schema,
    parse_utc,
)
from warehouse.landing.twins import is_twin

# A batch of one row takes kilobytes: so many are copied into one while they wait.
_WAITING_BATCHES = 500
_FEW_ROWS = 500  # of a chunk: to write fewer takes up to four times as long as to join them first, more a tenth less
_SOUGHT = ["artifact_manifest_digest", "raw_path", "run_id"]  # rows are looked for by these; to note least and most of all
# other columns took a fifth of the time
_DICTIONARY_BYTES = 64 << 10  # texts of more are mostly all different: to look for equal ones took half of their time


class BundleWriter:
    """Gives the rows of bundles, table by table, to `_write`."""

    def add_bundle(self, bundle: Bundle, ingestor: Ingestor | None, arrived_at: str | None) -> None:
        """Write a bundle's rows. Raises WH105 or WH106 when its stored bytes are damaged; a fault of the ingestor's own
        becomes an `ingest_issue`."""
        is_of_logs = isinstance(ingestor, LogReader)  # what the manifest states is in the batch of its family
        if not is_of_logs:
            self._write_manifest_rows(bundle, ingestor, arrived_at)
        if ingestor is None or is_twin(bundle.manifest):
            return
        if not is_of_logs and any(file.role == ROLE for file in bundle.manifest.files):
            from warehouse.landing.declaration.rows import add_declarations, without_declarations  # with YAML: few need it

            declared = RowBuffer({DECLARATION_TABLE: DECLARATION_SCHEMA}, bundle.digest)
            add_declarations(bundle, declared)
            self._write_all(declared)
            bundle = without_declarations(bundle)
        expected = {**ingestor.tables, ISSUE_TABLE: ISSUE_SCHEMA}
        try:
            for table, rows in ingestor.parse(bundle):
                if table not in expected or not decoded_schema(rows.schema).equals(expected[table]):
                    raise TypeError(f"rows of {table} do not have the declared schema")
                self._write(table, rows)
        except WarehouseError:
            raise
        except Exception as error:  # a plug-in's fault loses its own rows, is reported, and stops no other ingestor
            buffer = RowBuffer({}, bundle.digest)
            buffer.issue(
                "ingestor-failed", f"{ingestor.name} {ingestor.version}: {type(error).__name__}: {error}",
                bundle.manifest.own_path, severity="error",
            )
            self._write_all(buffer)

    def _write_manifest_rows(self, bundle: Bundle, ingestor: Ingestor | None, arrived_at: str | None) -> None:
        buffer = RowBuffer({BUNDLE_TABLE: BUNDLE_SCHEMA, FILE_TABLE: FILE_SCHEMA}, bundle.digest)
        manifest = bundle.manifest
        buffer.add(
            BUNDLE_TABLE, manifest.own_path, 0, len(manifest.canonical),
            family=manifest.family,
            ingestor_version=ingestor.version if ingestor else None,
            identity=json.dumps(dict(manifest.identity), sort_keys=True, ensure_ascii=False),
            source=json.dumps(dict(manifest.source), sort_keys=True, ensure_ascii=False),
            file_count=len(manifest.files),
            bytes=sum(file.bytes for file in manifest.files),
            arrived_at=parse_utc(arrived_at) if arrived_at else None,
        )
        for file in manifest.files:
            buffer.add(
                FILE_TABLE, file.raw_path, 0, file.bytes,
                bytes=file.bytes, sha256=file.sha256, media_type=file.media_type, role=file.role,
            )
        self._write_all(buffer)

    def _write_all(self, buffer: RowBuffer) -> None:
        for table, rows in buffer.rest():
            self._write(table, rows)

    def _write(self, table: str, rows: pa.RecordBatch) -> None:
        raise NotImplementedError


class BatchWriter(BundleWriter):
    """Use as a context: `add_bundle` for each bundle, then `finish`. Without `finish` nothing stays. `scratch` is a
    folder on the same file system, for what is not finished."""

    def __init__(self, landing: Path, name: str, scratch: Path) -> None:
        self._landing = landing
        self._name = name
        self._scratch = scratch
        self._open: dict[str, tuple[Path, pq.ParquetWriter]] = {}
        self._rows: dict[str, int] = {}
        self._waiting: dict[str, list[pa.RecordBatch]] = {}
        self._waiting_rows: dict[str, int] = {}

    def __enter__(self) -> "BatchWriter":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for path, writer in self._open.values():
            writer.close()
            path.unlink(missing_ok=True)

    def _write(self, table: str, rows: pa.RecordBatch) -> None:
        if table not in self._open:
            path = self._scratch / f"{table}.parquet"
            self._open[table] = (path, _parquet_writer(path, rows.schema))
        self._rows[table] = self._rows.get(table, 0) + rows.num_rows
        waiting = self._waiting.setdefault(table, [])
        waiting.append(_as_written(rows, self._open[table][1].schema))
        if len(waiting) == _WAITING_BATCHES:
            waiting[:] = pa.Table.from_batches(waiting).combine_chunks().to_batches()
        self._waiting_rows[table] = self._waiting_rows.get(table, 0) + rows.num_rows
        if self._waiting_rows[table] >= BATCH_ROWS:
            self._flush(table)

    def _flush(self, table: str) -> None:
        """Write what waits as one row group: a group a bundle made files five times the size."""
        self._waiting_rows[table] = 0
        batches = self._waiting.pop(table, [])
        if batches:
            writer = self._open[table][1]
            rows = pa.Table.from_batches(batches)
            is_scattered = rows.num_rows < _FEW_ROWS * len(batches)
            writer.write_table(rows.combine_chunks() if is_scattered else rows.unify_dictionaries())

    def finish(self) -> tuple[LandingFile, ...]:
        """Close, fsync and name the files; sorted by table."""
        for table, (_, writer) in self._open.items():
            self._flush(table)
            writer.close()
        paths = {table: path for table, (path, _) in sorted(self._open.items())}
        with ThreadPoolExecutor(max(1, len(paths))) as threads:  # the disk takes as long for all of them as for one
            digests = list(threads.map(_made_durable, paths.values()))
        files = []
        for (table, path), digest in zip(paths.items(), digests, strict=True):
            final = self._landing / table / f"{self._name}.parquet"
            make_folder(final.parent)
            os.replace(path, final)  # a name that a crash loses makes its batch as if it were not: it need not be durable
            files.append(LandingFile(table, final, digest, self._rows[table]))
        self._open = {}
        return tuple(files)


def _made_durable(path: Path) -> str:
    """Put a file's bytes on the disk; their sha256."""
    with open(path, "rb") as stream:
        digest = open_file_digest(stream)
        os.fsync(stream.fileno())
    return digest


def _as_written(rows: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """Rows with the texts coded that are coded in the file's first ones, and no others."""
    if rows.schema.equals(schema):
        return rows
    columns = [
        column if column.type.equals(field.type) else column.dictionary_encode() if pa.types.is_dictionary(field.type)
        else column.dictionary_decode()
        for column, field in zip(rows.columns, schema, strict=True)
    ]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _parquet_writer(path: Path, schema: pa.Schema) -> pq.ParquetWriter:
    """Texts by dictionary, integers by their differences: half the time of a dictionary of everything, and three quarters of
    its bytes, since most measured numbers are all different."""
    texts = [field.name for field in decoded_schema(schema) if pa.types.is_string(field.type)]
    integers = {field.name: "DELTA_BINARY_PACKED" for field in schema if pa.types.is_integer(field.type)}
    return pq.ParquetWriter(
        path, schema, compression="zstd", use_dictionary=texts, dictionary_pagesize_limit=_DICTIONARY_BYTES,
        column_encoding=integers, write_statistics=_SOUGHT, store_schema=False,  # which would have readers give coded texts
    )
