"""Read-only SQL on a finished build, and its result in the formats that other tools read."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import date, datetime, time
from math import isfinite, isnan
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TextIO

from warehouse.errors import WarehouseError, printable
from warehouse.project.sql_limits import SqlLimits, out_of_memory, out_of_spill, timed_out, too_many_rows
from warehouse.transform.finished.builds import Build, check_no_log, part_path, part_pattern
from warehouse.transform.finished.result_metadata import described_schema
from warehouse.transform.sql.duck import SEARCH_PATH, connect, quote, text_literal
from warehouse.transform.sql.engine_faults import translated
from warehouse.transform.sql.read_only import check_reads

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

TABLE_ROWS = 1000  # of a printed table, by default
_ROWS_A_BATCH = 10_000
_FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠", "\t", "\r", "\n")  # OWASP, CSV Injection: with these a spreadsheet takes a text for a formula
_CSV_QUOTED = re.compile(r'[",\r\n]')
_HOLDER = re.compile(r"Conflicting lock is held.*?\(PID (?P<pid>\d+)\)")  # as DuckDB words it


def open_build(path: Path) -> "duckdb.DuckDBPyConnection":
    """A read-only session on a build in which bare table names work. Raises WH218 when a log lies beside it, or when it
    cannot be opened."""
    import duckdb

    path = path.resolve()
    check_no_log(path)
    try:
        con = connect(path, read_only=True, files_root=path.parent)
    except duckdb.Error as error:
        hint = "delete the builds folder, then run: wh build"
        if holder := _HOLDER.search(str(error)):
            hint = f"process {holder['pid']} holds its lock: wait until that has closed the file, or stop it"
        raise WarehouseError("WH218", f"it cannot be opened: {str(error).splitlines()[0]}", str(path), hint) from error
    con.execute(f"set search_path = '{SEARCH_PATH}'")
    return con


@contextmanager
def kept_open(build: Build | None) -> Iterator[None]:
    """Keep a build open meanwhile: further sessions on it open in 2 ms, not 35. One that cannot be opened is for these to report."""
    with ExitStack() as stack:
        if build:
            with suppress(WarehouseError):
                stack.callback(open_build(build.path).close)
        yield


@contextmanager
def read_query(path: Path, sql: str) -> "Iterator[duckdb.DuckDBPyConnection]":
    """Run a query of our own on a build; the session holds its result. Unlike `run_query` it locks nothing: sessions of one process on one
    file share their settings, so a locked one would stop all others. Raises WH218."""
    con = open_build(path)
    try:
        yield con.execute(sql)
    finally:
        con.close()


@contextmanager
def run_query(
    path: Path, sql: str, limits: SqlLimits = SqlLimits(), scratch: Path | None = None, tables: "Mapping[str, pa.Table] | None" = None
) -> "Iterator[duckdb.DuckDBPyConnection]":
    """Run a user's query on a build, locked in; the session holds its result. What does not fit into memory goes below `scratch`; `tables` are beside
    those of the build, of which none is hidden by them. Raises what `confined` and `running` raise."""
    with confined(path, limits, scratch, tables) as con, running(con, sql, limits):
        yield con


@contextmanager
def confined(
    path: Path, limits: SqlLimits, scratch: Path | None = None, tables: "Mapping[str, pa.Table] | None" = None
) -> "Iterator[duckdb.DuckDBPyConnection]":
    """A session on a build, locked in, for queries of a user. Raises WH218."""
    con = open_build(path)
    try:
        _add_tables(con, tables or {})
        # As in any client: a build has every bare name in main, and SHOW TABLES lists each once.
        con.execute("set search_path = 'main'")
        with TemporaryDirectory(prefix="wh-sql-", dir=scratch) as spill:
            _confine(con, path.resolve().parent, limits, spill)
            yield con
    finally:
        con.close()


@contextmanager
def running(con: "duckdb.DuckDBPyConnection", sql: str, limits: SqlLimits) -> Iterator[None]:
    """Run a query in a `confined` session, which holds its result. Raises WH213 with the place in the query, for a statement that does not only
    read, too; WH215 when it reaches a limit, also while its rows are fetched."""
    import duckdb

    check_reads(con, sql)
    try:
        con.execute(sql)
        yield
    except duckdb.Error as error:
        raise _limit_reached(error, limits) or _landing_named(con, error, sql) or translated(error, "WH213", sql, "query") from error
    except MemoryError as error:
        raise out_of_memory(limits) from error


def _add_tables(con: "duckdb.DuckDBPyConnection", tables: "Mapping[str, pa.Table]") -> None:
    for name, table in tables.items():
        there = "select table_name as name from duckdb_tables() union all select view_name from duckdb_views() where not internal"
        if not con.execute(f"select 1 from ({there}) where lower(name) = lower(?)", [name]).fetchall():
            con.register("given_table", table)
            con.execute(f"create temp table {quote(name)} as from given_table")
            con.unregister("given_table")


def _parts(con: "duckdb.DuckDBPyConnection") -> list[tuple[str, str]]:
    """Each table that stays in parts with the digest of each."""
    import duckdb

    try:
        return con.execute("select distinct read, file from state.part where read like '%.%'").fetchall()
    except duckdb.CatalogException:  # as a rule no table stays in parts
        return []


def _confine(con: "duckdb.DuckDBPyConnection", builds: Path, limits: SqlLimits, spill: str) -> None:
    """Let a session reach nothing but its build, within limits. The engine refuses to take any of this back."""
    con.execute(f"set temp_directory = {text_literal(spill)}")
    con.execute(f"set memory_limit = {text_literal(limits.memory)}")
    con.execute(f"set max_temp_directory_size = {text_literal(limits.spill)}")
    con.execute(f"set max_execution_time = {max(1, round(limits.timeout * 1000))}")
    if parts := _parts(con):  # a view names them from the folder of the builds, where the engine finds them
        listed = ", ".join(text_literal(name) for table, sha256 in parts for name in (
            part_pattern(table, sha256), str(builds / part_path(table, sha256))
        ))
        con.execute(f"set allowed_paths = [{listed}]")
    con.execute("set enable_external_access = false")
    con.execute("set allowed_configs = ['search_path']")  # for further cursors of the session
    con.execute("set lock_configuration = true")


def _landing_named(con: "duckdb.DuckDBPyConnection", error: Exception, sql: str) -> WarehouseError | None:
    """WH213 for a query that names a landing table, with the models that read it; None for any other error."""
    fault = translated(error, "WH213", sql, "query")
    named = re.match(r"no table is named (?:\w+\.)?(\w+)", fault.message)
    if not named:
        return None
    import duckdb

    try:
        con.execute("from catalog.landing_column limit 0")
    except duckdb.CatalogException:  # the failures of tests have no landing tables
        return None
    found = con.execute(
        "select distinct l.table_name, m.schema_name || '.' || m.name from catalog.landing_column as l"
        " left join catalog.model as m on list_contains(m.reads, l.table_name) where lower(l.table_name) = lower(?) order by all",
        [named[1]],
    ).fetchall()
    if not found:
        return None
    models = [model for _, model in found if model]
    read = f"query a model that reads it: {', '.join(models)}" if models else "write a model that reads it"
    return replace(fault, hint=f"{found[0][0]} is a landing table, which wh sql cannot read: {read}")


def _limit_reached(error: Exception, limits: SqlLimits) -> WarehouseError | None:
    said = str(error)
    if "exceeded maximum execution time" in said:
        return timed_out(limits)
    if "max_temp_directory_size" in said:
        return out_of_spill(limits)
    return out_of_memory(limits) if "Out of Memory" in said or "bad_alloc" in said else None


def write_result(
    result: "duckdb.DuckDBPyConnection", sql: str, form: str, stream: TextIO, limits: SqlLimits, *, for_spreadsheet: bool = False
) -> None:
    """Write the result of a session's query as `csv`, `json` (an array of objects), `parquet` or `arrow` (IPC stream), the last two with
    `result_metadata`. Control characters are escaped in what goes to a terminal. In CSV `for_spreadsheet`, no text is a formula. Raises WH215
    when there are more rows than it may have."""
    match form:
        case "csv":
            _write_csv(result, stream, limits, spreadsheet_cell if for_spreadsheet else plain_cell)
        case "json":
            _write_json(result, stream, limits)
        case "parquet":
            _write_parquet(result, sql, stream, limits)
        case "arrow":
            import pyarrow as pa

            reader = _arrow_reader(result)
            with pa.ipc.new_stream(stream.buffer, described_schema(result, sql, reader.schema)) as writer:
                for batch in _within(reader, limits):
                    writer.write_batch(batch)
        case _:
            raise WarehouseError("WH213", f"no format {form}")


@dataclass(frozen=True)
class Cells:
    """The first rows of a result as text to print, control characters escaped; whether there are more."""

    names: list[str]
    rows: list[list[str]]
    has_more: bool


def read_cells(result: "duckdb.DuckDBPyConnection", most: int) -> Cells:
    """The first `most` rows of a session's result."""
    found = result.fetchmany(most + 1)
    names = [printable(column[0]) for column in result.description]
    rows = [["NULL" if cell is None else str(_terminal_cell(cell)) for cell in row] for row in found[:most]]
    return Cells(names, rows, len(found) > most)


def read_arrow(result: "duckdb.DuckDBPyConnection", sql: str, limits: SqlLimits) -> "pa.Table":
    """All of the result of a session's query, with `result_metadata`. Raises WH215 when it has more rows than it may."""
    import pyarrow as pa

    table = _arrow_reader(result).read_all()
    if limits.rows is not None and table.num_rows > limits.rows:
        raise too_many_rows(limits)
    return pa.Table.from_arrays(table.columns, schema=described_schema(result, sql, table.schema))


@dataclass(frozen=True)
class FirstRows:
    """The first rows of a result, and whether there are more."""

    table: "pa.Table"
    has_more: bool


def read_first(result: "duckdb.DuckDBPyConnection", sql: str, most: int) -> FirstRows:
    """The first `most` rows of a session's result, with `result_metadata`; at most one row beyond them is kept."""
    import pyarrow as pa

    reader, batches, left = _arrow_reader(result), [], most + 1
    for batch in reader:
        batches.append(batch.slice(0, left))
        left -= batches[-1].num_rows
        if left <= 0:
            break
    table = pa.Table.from_batches(batches, reader.schema)
    first = table.slice(0, most)
    return FirstRows(pa.Table.from_arrays(first.columns, schema=described_schema(result, sql, table.schema)), table.num_rows > most)


def _within(reader: "pa.RecordBatchReader", limits: SqlLimits) -> "Iterator[pa.RecordBatch]":
    """The batches of a result. Raises WH215 after as many rows as it may have."""
    left = limits.rows
    for batch in reader:
        yield batch if left is None else batch.slice(0, left)
        if left is not None:
            if batch.num_rows > left:
                raise too_many_rows(limits)
            left -= batch.num_rows


def _write_parquet(result: "duckdb.DuckDBPyConnection", sql: str, stream: TextIO, limits: SqlLimits) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    reader = _arrow_reader(result)
    try:
        with pq.ParquetWriter(stream.buffer, described_schema(result, sql, reader.schema)) as writer:
            for batch in _within(reader, limits):
                writer.write_batch(batch)
    except pa.ArrowNotImplementedError as error:
        raise WarehouseError("WH213", f"Parquet cannot hold it: {error}", "query", "cast it to varchar") from error


def _arrow_reader(result: "duckdb.DuckDBPyConnection") -> "pa.RecordBatchReader":
    import warnings

    with warnings.catch_warnings():
        # DuckDB would rather run the query for Arrow alone; run once, its errors come before the first byte.
        warnings.simplefilter("ignore", UserWarning)
        return result.to_arrow_reader(_ROWS_A_BATCH)


def _rows(result: "duckdb.DuckDBPyConnection", limits: SqlLimits) -> Iterator[tuple[Any, ...]]:
    """The rows of a result. Raises WH215 after as many as it may have."""
    left = limits.rows
    while rows := result.fetchmany(_ROWS_A_BATCH):
        if left is not None and len(rows) > left:
            yield from rows[:left]
            raise too_many_rows(limits)
        yield from rows
        left = None if left is None else left - len(rows)


def _write_csv(result: "duckdb.DuckDBPyConnection", stream: TextIO, limits: SqlLimits, plain: Callable[[Any], Any]) -> None:
    def cell(value: Any) -> Any:
        text = plain(value)
        return printable(text) if isinstance(text, str) and stream.isatty() else text

    stream.write(csv_line(cell(column[0]) for column in result.description) + "\n")
    for row in _rows(result, limits):
        stream.write(csv_line(map(cell, row)) + "\n")


def csv_line(cells: Iterable[Any]) -> str:
    """A line of CSV without its end. NULL is an empty cell and an empty text is `""`, as DuckDB and PostgreSQL write them."""
    return ",".join("" if cell is None else _csv_text(str(cell)) for cell in cells)


def _csv_text(text: str) -> str:
    # A carriage return ends a line for many readers.
    return '"{}"'.format(text.replace('"', '""')) if not text or _CSV_QUOTED.search(text) else text


def _terminal_cell(value: Any) -> Any:
    text = plain_cell(value)
    return printable(text) if isinstance(text, str) else text


def spreadsheet_cell(cell: Any) -> Any:
    """As `plain_cell`, but a text that a spreadsheet would take for a formula has an apostrophe in front; numbers stay as they are."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA) else plain_cell(cell)


def plain_cell(cell: Any) -> Any:
    """A value as text; a float, and None, as it is."""
    if isinstance(cell, dict | list | tuple):
        return json.dumps(json_value(cell), ensure_ascii=False)
    return cell if isinstance(cell, float) else _text(cell)


def _text(value: Any) -> Any:
    """A value as text; None stays."""
    match value:
        case None | str():
            return value
        case bool():
            return str(value).lower()
        case date() | datetime() | time():
            return value.isoformat()
        case bytes():
            return value.hex()
    return str(value)


def _write_json(result: "duckdb.DuckDBPyConnection", stream: TextIO, limits: SqlLimits) -> None:
    names = distinct_names([column[0] for column in result.description])
    separator = "["
    for row in _rows(result, limits):
        text = json.dumps(json_value(dict(zip(names, row, strict=True))), ensure_ascii=False)
        stream.write(separator + (printable_json(text) if stream.isatty() else text))
        separator = ",\n "
    stream.write("]\n" if separator != "[" else "[]\n")


def printable_json(text: str) -> str:
    """A JSON document with the characters escaped that would not show: another text of the same document."""
    return "\n".join(
        line if line.isprintable() else "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in line)
        for line in text.split("\n")
    )


def distinct_names(names: list[str]) -> list[str]:
    """Column names, a repeated one with a number: a JSON object would keep only the last."""
    found: list[str] = []
    for name in names:
        number = 1
        free = name
        while free in found:
            free, number = f"{name}_{number}", number + 1
        found.append(free)
    return found


def json_value(value: Any) -> Any:
    """A value as JSON has it. JSON has no NaN and no infinity; a decimal as text keeps its digits, which a JSON number
    would lose in most readers."""
    match value:
        case dict():
            return {str(_text(key)): json_value(item) for key, item in value.items()}
        case list() | tuple():
            return [json_value(item) for item in value]
        case float():
            return value if isfinite(value) else "NaN" if isnan(value) else "Infinity" if value > 0 else "-Infinity"
        case bool() | int():
            return value
    return _text(value)
