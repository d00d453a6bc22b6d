"""Landing tables in a session: their Parquet files, each checked against its digest, in an order that has no history.

In which batches evidence was parsed depends on when it arrived; what a query sees must not, or a sum of floats would.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warehouse.errors import WarehouseError
from warehouse.landing.parse.batches import BUNDLE_TABLE, ENGINE_PARSER, Landing, LandingFile, check_landing_file
from warehouse.project.project import Project
from warehouse.transform.sql.duck import parquet, quote

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

FILE_ORDER = "file_row_number"  # the column by which rows of one landing file are in order
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LIST = re.compile(r"list<\w+: (.+)>")
_DECIMAL = re.compile(r"decimal128\((\d+), (-?\d+)\)")
_TIMESTAMP = re.compile(r"timestamp\[(\w+), tz=(.+)\]")


# The tables that every project has, as `landing_tables` gives them where there is no evidence: to say so without pyarrow
# saves 150 ms of a first build over files. A test compares.
_LINEAGE = (
    ("artifact_manifest_digest", "string", "VARCHAR"), ("raw_path", "string", "VARCHAR"),
    ("raw_offset", "int64", "BIGINT"), ("raw_length", "int64", "BIGINT"),
)
_EVENT = (
    ("decided_at", "timestamp[us, tz=UTC]", "TIMESTAMP WITH TIME ZONE"), ("decided_by", "string", "VARCHAR"),
    ("event_key", "string", "VARCHAR"), ("event_sha256", "string", "VARCHAR"),
)
_ENGINE_TABLES = {
    "evidence_bundle": (
        ("family", "string", "VARCHAR"), ("ingestor_version", "int64", "BIGINT"), ("identity", "string", "VARCHAR"),
        ("source", "string", "VARCHAR"), ("file_count", "int64", "BIGINT"), ("bytes", "int64", "BIGINT"),
        ("arrived_at", "timestamp[us, tz=UTC]", "TIMESTAMP WITH TIME ZONE"), *_LINEAGE,
    ),
    "evidence_file": (
        ("bytes", "int64", "BIGINT"), ("sha256", "string", "VARCHAR"), ("media_type", "string", "VARCHAR"),
        ("role", "string", "VARCHAR"), *_LINEAGE,
    ),
    "evidence_declaration": (
        ("kind", "string", "VARCHAR"), ("raw_folder", "string", "VARCHAR"), ("workload_document", "string", "VARCHAR"),
        ("declared_spec_digest", "string", "VARCHAR"),
        ("intent", "string", "VARCHAR"), ("cadence", "string", "VARCHAR"), ("benchmark_grade", "string", "VARCHAR"),
        ("grade_reason", "string", "VARCHAR"), ("scheduler_path", "string", "VARCHAR"), ("model", "string", "VARCHAR"),
        ("precision", "string", "VARCHAR"), ("protocol", "string", "VARCHAR"), ("deployment_model", "string", "VARCHAR"),
        ("batching_policy", "string", "VARCHAR"), ("concurrency_point", "int64", "BIGINT"),
        ("prompt_distribution", "string", "VARCHAR"), ("completion_distribution", "string", "VARCHAR"), *_LINEAGE,
    ),
    "evidence_issue": (
        ("severity", "string", "VARCHAR"), ("code", "string", "VARCHAR"), ("message", "string", "VARCHAR"),
        ("line_number", "int64", "BIGINT"), ("run_id", "string", "VARCHAR"), *_LINEAGE,
    ),
    "rejected_row": (
        ("table_name", "string", "VARCHAR"), ("test", "string", "VARCHAR"), ("row_count", "int64", "BIGINT"),
        ("severity", "string", "VARCHAR"), ("code", "string", "VARCHAR"), ("message", "string", "VARCHAR"),
        ("run_id", "string", "VARCHAR"), *_LINEAGE,
    ),
    "evidence_signing": (
        ("artifact_manifest_digest", "string", "VARCHAR"), ("signing_state", "string", "VARCHAR"), ("key_id", "string", "VARCHAR"),
        ("key_name", "string", "VARCHAR"), ("reason", "string", "VARCHAR"),
    ),
    "run_decision": (
        ("run_id", "string", "VARCHAR"), ("state", "string", "VARCHAR"), ("reason", "string", "VARCHAR"),
        ("superseded_by", "string", "VARCHAR"), *_EVENT,
    ),
    "run_settlement": (
        ("run_id", "string", "VARCHAR"), ("bundle_digest", "string", "VARCHAR"), ("is_evidence", "bool", "BOOLEAN"),
        ("reason", "string", "VARCHAR"), *_EVENT,
    ),
    "change_finding": (
        *((name, "string", "VARCHAR") for name in ("finding_id", "state", "reason", "rule")),
        *((name, "string", "VARCHAR") for name in ("series_key", "indicator", "metric", "point", "benchmark_case_id", "status", "outcome")),
        *((name, "double", "DOUBLE") for name in ("before", "after", "ratio", "ratio_low", "ratio_high", "p")),
        ("changed_at", "timestamp[us, tz=UTC]", "TIMESTAMP WITH TIME ZONE"),
        ("last_run_before", "string", "VARCHAR"), ("first_run_after", "string", "VARCHAR"), *_EVENT,
    ),
}

# Types that are known without pyarrow.
_KNOWN_TYPES = {arrow: kind for columns in _ENGINE_TABLES.values() for _, arrow, kind in columns}


@dataclass(frozen=True)
class LandingTable:
    """One landing table: who parses it at which version, its columns (name, Arrow type, engine's type), and its files."""

    name: str
    parsed_by: str
    columns: tuple[tuple[str, str, str], ...]
    files: tuple[LandingFile, ...]

    @property
    def types(self) -> dict[str, str]:
        """The engine's types by column."""
        return {name: kind for name, _, kind in self.columns}


@dataclass(frozen=True)
class LandingTables:
    """All landing tables by name, and what of the evidence could not be parsed."""

    tables: Mapping[str, LandingTable]
    damaged: tuple[WarehouseError, ...] = ()

    @property
    def types(self) -> dict[str, dict[str, str]]:
        return {name: table.types for name, table in self.tables.items()}

    def as_json(self, landing: Path) -> dict[str, Any]:
        """As a build's record keeps it: paths from the landing folder."""
        return {
            table.name: {
                "parsed_by": table.parsed_by,
                "columns": [list(column) for column in table.columns],
                "files": [[file.path.relative_to(landing).as_posix(), file.sha256, file.rows] for file in table.files],
            }
            for table in self.tables.values()
        }


def from_json(document: Mapping[str, Any], landing: Path) -> LandingTables:
    """What `as_json` wrote. Raises KeyError or TypeError for anything else."""
    return LandingTables(
        {
            name: LandingTable(
                name, entry["parsed_by"], tuple((column, arrow, kind) for column, arrow, kind in entry["columns"]),
                tuple(LandingFile(name, landing / path, sha256, rows) for path, sha256, rows in entry["files"]),
            )
            for name, entry in document.items()
        }
    )


def built_rows(document: Mapping[str, Any], landing: Path, table: str, columns: Sequence[str]) -> list[dict[str, Any]]:
    """Some columns of a landing table as a build had it, by what `as_json` wrote. Raises WH123."""
    known = from_json(document, landing).tables
    rows: list[dict[str, Any]] = []
    for file in known[table].files if table in known else ():
        import pyarrow.parquet as pq

        check_landing_file(file)
        rows += pq.read_table(file.path, columns=list(columns)).to_pylist()
    return rows


def arrivals(landing: LandingTables) -> dict[str, datetime]:
    """When each bundle first arrived (UTC), by manifest digest, as far as the ledger knows. Raises WH123."""
    from warehouse.transform.sql.duck import asking

    files = landing.tables[BUNDLE_TABLE].files
    if not files:
        return {}
    for file in files:
        check_landing_file(file)
    con = asking()  # the engine is there by now; pyarrow would take 100 ms to import
    try:
        sql = f"select artifact_manifest_digest, epoch_us(arrived_at) from ({landing_rows(files)}) where arrived_at is not null"
        return {digest: _EPOCH + timedelta(microseconds=time) for digest, time in con.execute(sql).fetchall()}
    finally:
        con.close()


def no_evidence() -> LandingTables:
    """The landing tables of a project without evidence and without ingestors."""
    return LandingTables(
        {name: LandingTable(name, ENGINE_PARSER, columns, ()) for name, columns in _ENGINE_TABLES.items()}
    )


def landing_tables(landing: Landing) -> LandingTables:
    """The landing tables that a refresh found."""
    types = landing_types(landing.schemas)
    return LandingTables(
        {
            table: LandingTable(
                table, landing.parsers[table],
                tuple((field.name, str(field.type), types[table][field.name]) for field in schema),
                tuple(landing.files(table)),
            )
            for table, schema in landing.schemas.items()
        },
        landing.damaged,
    )


def project_landing_types(project: Project) -> dict[str, dict[str, str]]:
    """The columns (name to the engine's type) of a project's landing tables, from its ingestors alone."""
    from warehouse.landing.parse.batches import schemas
    from warehouse.landing.registry import find_ingestors

    return landing_types(schemas(find_ingestors(project)))


def landing_types(schemas: Mapping[str, "pa.Schema"]) -> dict[str, dict[str, str]]:
    """The engine's types of the columns of landing tables."""
    kinds = _engine_types(tuple(dict.fromkeys(field.type for schema in schemas.values() for field in schema)))
    return {table: {field.name: kinds[field.type] for field in schema} for table, schema in schemas.items()}


def engine_type(arrow: str) -> str | None:
    """The engine's type of a column, by its Arrow type as a spec has it; None where that is not known: of structs and maps."""
    if arrow in _KNOWN_TYPES:
        return _KNOWN_TYPES[arrow]
    found = _arrow_type(arrow)
    return _engine_types((found,))[found] if found else None


def _arrow_type(text: str) -> "pa.DataType | None":
    """The type whose text this is, which pyarrow itself reads of few."""
    import pyarrow as pa

    try:
        if found := _LIST.fullmatch(text):
            element = _arrow_type(found[1])
            return pa.list_(element) if element else None
        if found := _DECIMAL.fullmatch(text):
            return pa.decimal128(int(found[1]), int(found[2]))
        if found := _TIMESTAMP.fullmatch(text):
            return pa.timestamp(found[1], tz=found[2])
        return pa.type_for_alias(text)
    except ValueError:
        return None


@lru_cache(maxsize=8)  # a replay asks for the same before and after it has parsed
def _engine_types(types: tuple["pa.DataType", ...]) -> dict["pa.DataType", str]:
    """The engine's type of each Arrow type."""
    import pyarrow as pa

    from warehouse.transform.sql.duck import asking

    # One question for all: a table of every type that there is.
    con = asking()
    try:
        con.register("kind", pa.schema([(str(number), kind) for number, kind in enumerate(types)]).empty_table())
        found = [row[1] for row in con.execute("describe kind").fetchall()] if types else []
    finally:
        con.close()
    return dict(zip(types, found, strict=True))


def open_landing_table(
    con: "duckdb.DuckDBPyConnection", table: str, types: Mapping[str, str], files: Sequence[LandingFile]
) -> None:
    """Give a session the columns `types` of one landing table under its name. Raises WH123 when a file is missing or not what its batch
    says."""
    for file in files:
        check_landing_file(file)
    names = ", ".join(map(quote, types))  # a replay reads those that its query's record has
    if not files:
        columns = ", ".join(f"{quote(name)} {kind}" for name, kind in types.items())
        con.execute(f"create or replace temp table {quote(table)} ({columns})")
    else:
        # A table, not a view: the optimizer may drop a view's order under an aggregate that it takes for insensitive. Of one file too: a file
        # has other statistics, and ends its vectors elsewhere, than a table of the same rows.
        con.execute(
            f"create or replace temp table {quote(table)} as select {names} from ({landing_rows(files)})"
            f" order by {', '.join(landing_order(types))}"
        )


def landing_order(columns: Iterable[str]) -> tuple[str, ...]:
    """The columns, of those that `landing_rows` gives, by which the rows of a landing table are in order: bundle by bundle; those that are
    of no bundle, such as decisions, are all in one file."""
    return ("artifact_manifest_digest", FILE_ORDER) if "artifact_manifest_digest" in columns else (FILE_ORDER,)


def landing_rows(files: Sequence[LandingFile], *more: str) -> str:
    """SQL for the rows of landing files, in no order, with `FILE_ORDER` and any `more` columns."""
    return f"select {', '.join(['*', *more])} from {parquet((file.path for file in files), 'file_row_number = true')}"
