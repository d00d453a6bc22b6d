"""Read-only SQL on a finished build, and its result in the formats that other tools read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from warehouse.errors import WarehouseError
from warehouse.transform.duck import SEARCH_PATH, connect, translated

if TYPE_CHECKING:
    import duckdb

_ROWS_A_BATCH = 10_000


def open_build(path: Path) -> "duckdb.DuckDBPyConnection":
    """A read-only session on a build in which bare table names work."""
    con = connect(path, read_only=True)
    con.execute(f"set search_path = '{SEARCH_PATH}'")
    return con


@contextmanager
def run_query(path: Path, sql: str) -> "Iterator[duckdb.DuckDBPyConnection]":
    """Run one query on a build; the session holds its result. Raises WH213 with the place in the query."""
    import duckdb

    con = open_build(path)
    try:
        try:
            con.execute(sql)
        except duckdb.Error as error:
            raise translated(error, "WH213", sql, "query") from error
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
            import pyarrow.parquet as pq

            pq.write_table(result.to_arrow_table(), stream.buffer)
        case "arrow":
            import pyarrow as pa

            reader = result.to_arrow_reader(_ROWS_A_BATCH)
            with pa.ipc.new_stream(stream.buffer, reader.schema) as writer:
                for batch in reader:
                    writer.write_batch(batch)
        case _:
            raise WarehouseError("WH213", f"no format {form}")


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
        return json.dumps(cell, default=_json_value, ensure_ascii=False)
    if isinstance(cell, bool):
        return str(cell).lower()
    return cell.isoformat() if isinstance(cell, date | datetime) else cell


def _write_json(result: "duckdb.DuckDBPyConnection", stream: TextIO) -> None:
    names = [column[0] for column in result.description]
    separator = "["
    for row in _rows(result):
        stream.write(separator + json.dumps(dict(zip(names, row, strict=True)), default=_json_value, ensure_ascii=False))
        separator = ",\n "
    stream.write("]\n" if separator != "[" else "[]\n")


def _json_value(value: Any) -> Any:
    # A decimal as text keeps its digits; a JSON number would lose them in most readers.
    return value.isoformat() if isinstance(value, date | datetime) else str(value) if isinstance(value, Decimal) else str(value)


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
