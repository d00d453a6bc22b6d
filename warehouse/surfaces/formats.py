"""A page's values in the formats of programs: one JSON document, or one of its tables as CSV, Arrow or Parquet."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from warehouse.errors import ExitCode, WarehouseError, did_you_mean, printable
from warehouse.project.project import Project
from warehouse.surfaces.parts import Entry, Page, Part, Table
from warehouse.transform.finished.query import csv_line, json_value, plain_cell, spreadsheet_cell

if TYPE_CHECKING:
    import pyarrow as pa

MEDIA_TYPES = {
    "json": "application/json",
    "csv": "text/csv; charset=utf-8",
    "arrow": "application/vnd.apache.arrow.stream",
    "parquet": "application/vnd.apache.parquet",
}


def page_document(page: Page) -> dict[str, Any]:
    """A page as JSON has it. Each row of a table is an object; `links` has where its values lead."""
    return {
        "title": page.title, "subtitle": page.subtitle, "states": list(page.states), "notices": list(page.notices),
        "parts": [_part(part) for part in page.parts],
    }


def _part(part: Part) -> dict[str, Any]:
    if isinstance(part, Entry):
        return {"part": part.part, **_plain(replace(part, figures=())), "figures": [_part(each) for each in part.figures]}
    if not isinstance(part, Table):
        return {"part": part.part, **_plain(part)}
    records = part.records()
    columns = [
        {
            "name": column.name, "title": column.heading, "kind": column.kind, "unit": column.unit, "link": column.link,
            "is_hidden": column.is_hidden,
        }
        for column in part.columns
    ]
    return {
        "part": part.part, "name": part.name, "title": part.title, "note": part.note, "columns": columns,
        "rows": [json_value(record) for record in records], "total": None if part.is_cut else part.total or len(records),
        "truncated": part.is_cut or (part.total or 0) > len(records), "more": part.more,
        **({} if records else {"empty": part.empty}),
    }


def _plain(value: Any) -> Any:
    """A part's fields, down to plain values."""
    if hasattr(value, "__dataclass_fields__"):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return json_value(value)


def public(error: WarehouseError, project: Project) -> WarehouseError:
    """An error for visitors: without where the project lies on this machine."""
    return replace(error, place=error.place and error.place.replace(f"{project.root}{os.sep}", ""))


def error_document(error: WarehouseError, project: Project) -> dict[str, Any]:
    """An error as JSON has it."""
    found = public(error, project)
    return {"code": found.code, "message": found.message, "place": found.place, "hint": found.hint}


def chosen_table(page: Page, name: str | None) -> Table:
    """The table of that name, or the first. Raises WH601 where there is none."""
    found = page.tables[0] if name is None and page.tables else page.table(name or "")
    if found is None:
        names = [table.name for table in page.tables]
        hint = (name and did_you_mean(name, names)) or (f"it has: {', '.join(names)}" if names else "ask for json")
        raise WarehouseError("WH601", f"this page has no table {printable(name or '')!r}", "table", hint, ExitCode.USAGE)
    return found


def json_bytes(document: Mapping[str, Any]) -> bytes:
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "backslashreplace")


def csv_bytes(table: Table) -> bytes:
    """A table as CSV, its lines as RFC 4180 ends them. A text that a spreadsheet would take for a formula gets an apostrophe in front; numbers
    stay as they are."""
    lines = [[column.name for column in table.columns], *table.rows]
    return "".join(f"{csv_line(map(spreadsheet_cell, line))}\r\n" for line in lines).encode("utf-8", "backslashreplace")


def arrow_table(table: Table) -> "pa.Table":
    """A table as Arrow; a column of values that have no common type is text. Units are in the metadata of the fields."""
    import pyarrow as pa

    arrays, declared = [], []
    for place, column in enumerate(table.columns):
        values = [row[place] for row in table.rows]
        try:
            array = pa.array(values)
        except (pa.ArrowInvalid, pa.ArrowTypeError):
            array = pa.array([None if value is None else str(plain_cell(value)) for value in values], pa.string())
        arrays.append(array)
        declared.append(pa.field(column.name, array.type, metadata={"unit": column.unit} if column.unit else None))
    return pa.Table.from_arrays(arrays, schema=pa.schema(declared))


def table_bytes(table: Table, form: str) -> bytes:
    """A table in one of the `MEDIA_TYPES`, but JSON."""
    if form == "csv":
        return csv_bytes(table)
    import pyarrow as pa

    found, sink = arrow_table(table), pa.BufferOutputStream()
    if form == "arrow":
        with pa.ipc.new_stream(sink, found.schema) as writer:
            writer.write_table(found)
    else:
        import pyarrow.parquet as pq

        pq.write_table(found, sink)
    return bytes(sink.getvalue())
