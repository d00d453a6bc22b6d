"""Read-only SQL on a finished build, and its result in the formats that other tools read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, datetime, time
from math import isfinite, isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from warehouse.errors import WarehouseError
from warehouse.transform.duck import SEARCH_PATH, connect
from warehouse.transform.engine_faults import second_statement, translated
from warehouse.transform.sql_text import fault_at, tokens

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

_ROWS_A_BATCH = 10_000
_HOLDER = re.compile(r"Conflicting lock is held.*?\(PID (?P<pid>\d+)\)")  # as DuckDB words it


def open_build(path: Path) -> "duckdb.DuckDBPyConnection":
    """A read-only session on a build in which bare table names work."""
    import duckdb

    try:
        con = connect(path, read_only=True)
    except duckdb.Error as error:
        hint = "delete the builds folder, then run: wh build"
        if holder := _HOLDER.search(str(error)):
            hint = f"process {holder['pid']} holds its lock: wait until that has closed the file, or stop it"
        raise WarehouseError("WH218", f"it cannot be opened: {str(error).splitlines()[0]}", str(path), hint) from error
    con.execute(f"set search_path = '{SEARCH_PATH}'")
    return con


@contextmanager
def run_query(path: Path, sql: str) -> "Iterator[duckdb.DuckDBPyConnection]":
    """Run one query on a build; the session holds its result. Raises WH213 with the place in the query."""
    import duckdb

    # The engine would run several and show the last.
    if second := second_statement(tokens(sql)):
        raise fault_at(
            "WH213", "a second statement: wh sql runs one", sql, "query", second.offset, "run it by a wh sql of its own"
        )
    con = open_build(path)
    # The query of a person reads this build and nothing else: it must not be able to write into the store beside it.
    # The engine itself refuses to take this back.
    con.execute("set enable_external_access = false")
    try:
        try:
            con.execute(sql)
        except duckdb.Error as error:
            raise translated(error, "WH213", sql, "query") from error
        if con.description is None:
            raise WarehouseError("WH213", "there is no statement in it", "query")
        yield con
    finally:
        con.close()


def write_result(result: "duckdb.DuckDBPyConnection", form: str, stream: TextIO) -> None:
    """Write a session's result as `table`, `csv`, `json` (an array of objects), `parquet` or `arrow` (IPC stream)."""
    match form:
        case "table":
            _write_table(result, stream)
        case "csv":
            _write_csv(result, stream)
        case "json":
            _write_json(result, stream)
        case "parquet":
            _write_parquet(result, stream)
        case "arrow":
            import pyarrow as pa

            reader = _arrow_reader(result)
            with pa.ipc.new_stream(stream.buffer, reader.schema) as writer:
                for batch in reader:
                    writer.write_batch(batch)
        case _:
            raise WarehouseError("WH213", f"no format {form}")


def read_arrow(result: "duckdb.DuckDBPyConnection") -> "pa.Table":
    """All of a session's result."""
    return _arrow_reader(result).read_all()


def _write_parquet(result: "duckdb.DuckDBPyConnection", stream: TextIO) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    reader = _arrow_reader(result)
    try:
        with pq.ParquetWriter(stream.buffer, reader.schema) as writer:
            for batch in reader:
                writer.write_batch(batch)
    except pa.ArrowNotImplementedError as error:
        raise WarehouseError("WH213", f"Parquet cannot hold it: {error}", "query", "cast it to varchar") from error


def _arrow_reader(result: "duckdb.DuckDBPyConnection") -> "pa.RecordBatchReader":
    import warnings

    with warnings.catch_warnings():
        # DuckDB would rather run the query for Arrow alone; run once, its errors come before the first byte.
        warnings.simplefilter("ignore", UserWarning)
        return result.to_arrow_reader(_ROWS_A_BATCH)


def _rows(result: "duckdb.DuckDBPyConnection") -> Iterator[tuple[Any, ...]]:
    while rows := result.fetchmany(_ROWS_A_BATCH):
        yield from rows


def _write_csv(result: "duckdb.DuckDBPyConnection", stream: TextIO) -> None:
    import csv

    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow([column[0] for column in result.description])
    writer.writerows([_csv_cell(cell) for cell in row] for row in _rows(result))


def _csv_cell(cell: Any) -> Any:
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


def _write_json(result: "duckdb.DuckDBPyConnection", stream: TextIO) -> None:
    names = _distinct([column[0] for column in result.description])
    separator = "["
    for row in _rows(result):
        stream.write(separator + json.dumps(json_value(dict(zip(names, row, strict=True))), ensure_ascii=False))
        separator = ",\n "
    stream.write("]\n" if separator != "[" else "[]\n")


def _distinct(names: list[str]) -> list[str]:
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


def _write_table(result: "duckdb.DuckDBPyConnection", stream: TextIO) -> None:
    import shutil

    names = [column[0] for column in result.description]
    rows = [["NULL" if cell is None else str(_csv_cell(cell)) for cell in row] for row in _rows(result)]
    widths = [max([len(name), *(len(row[i]) for row in rows)]) for i, name in enumerate(names)]
    if sum(widths) + 2 * len(widths) > shutil.get_terminal_size().columns:
        _write_records(names, rows, stream)
        return
    for cells in [names, ["-" * width for width in widths], *rows]:
        stream.write("  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip() + "\n")


def _write_records(names: list[str], rows: list[list[str]], stream: TextIO) -> None:
    """A row too wide for the terminal, one column a line."""
    width = max(map(len, names))
    for number, row in enumerate(rows, 1):
        stream.write(f"-- row {number}\n")
        for name, cell in zip(names, row, strict=True):
            stream.write(f"{name.ljust(width)}  {cell}\n")
