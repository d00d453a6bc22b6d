"""A file of records that a start is made from: CSV with any delimiter, JSON lines, a JSON array of objects, or one JSON object. Its columns and
their types are read, and nothing is guessed beyond what the file states."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from warehouse.errors import ExitCode, WarehouseError, printable
from warehouse.starting.table import table_of
from warehouse.transform.sql.text import RESERVED

_MOST_BYTES = 64 << 20
_MOST_SHOWN = 40  # characters of a value
_NAME = re.compile(r"[a-z][a-z0-9_]*")
_WHOLE = re.compile(r"[+-]?\d{1,18}")
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
# Units that column names end in (docs/models.md); a column without such an ending has none.
_UNITS = {
    "ms": "ms", "us": "us", "s": "s", "bytes": "bytes", "w": "W", "pct": "%", "gb_per_s": "GB/s", "tokens_per_s": "tokens/s", "per_s": "1/s",
}
# Before _s, these may count what happens in a second: tok_s, GB/s. Such a column has no unit.
_COUNTED = frozenset(
    (
        "b kb mb gb tb kib mib gib tib bit bits kbit mbit gbit byte bytes flop flops gflop gflops tflop tflops op ops tok toks token tokens "
        "req reqs request requests query queries it iter iters iteration iterations step steps sample samples img image images row rows "
        "record records file files packet packets message messages"
    ).split()
)
# Words that are not reserved, but that DuckDB, sqlglot or YAML does not read as a column's name without quotes.
_NO_COLUMN = frozenset(
    (
        "alter anti asof at authorization between binary by collation concurrently cross cube drop force freeze full generated glob grant ilike "
        "inner insert install is isnull join left like lock map natural no notnull off outer overlaps positional revoke right rollback rollup "
        "semi similar tablesample unpack verbose yes"
    ).split()
)
_LINEAGE = frozenset({"artifact_manifest_digest", "raw_path", "raw_offset", "raw_length"})  # which landing rows have already


@dataclass(frozen=True)
class SampleColumn:
    """A column as the file names it, its name in SQL, its type (`varchar`, `bigint` or `double`), and why it is `varchar` if its values are not all
    text."""

    stated: str
    name: str
    type: str
    why_text: str = ""

    @property
    def unit(self) -> str | None:
        *_, before, last = "", *self.name.split("_")
        if last == "s" and (self.stated.endswith("/s") or before in _COUNTED):
            return None
        return next((unit for ending, unit in sorted(_UNITS.items(), key=lambda each: -len(each[0])) if self.name.endswith(f"_{ending}")), None)


@dataclass(frozen=True)
class Sample:
    """A file's form (`csv`, `json lines`, `json array` or `json object`), its ending, its columns, and how the cells of a CSV are written."""

    form: str
    suffix: str
    columns: tuple[SampleColumn, ...]
    dialect: Mapping[str, str] = field(default_factory=dict)


def read_sample(file: Path) -> Sample:
    """The columns of a file. Raises WH004 for no such file, and WH007 where it is not a table of records in one of these forms."""
    place = printable(str(file))
    try:
        if file.stat().st_size > _MOST_BYTES:
            raise _fault("it is too large to start from", place, "give a file with its first records")
        text = file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise _fault("it is not UTF-8", place) from error
    except OSError as error:
        raise _fault(f"cannot be read: {error.strerror}", place, code="WH004") from error
    dialect: Mapping[str, str] = {}
    if text.lstrip()[:1] == "{":
        form, rows = _json_objects(text, place)
    elif text.lstrip()[:1] == "[":
        form, rows = "json array", _objects(_decoded(text, place), place)
    else:
        table = table_of(text, place)
        if table is None:
            raise _fault("it is not a CSV file with a header and records, JSON lines, or a JSON array of objects", place)
        form, dialect = "csv", table.dialect
        rows = [{name: _csv_value(cell) for name, cell in row.items()} for row in table.rows]
    columns = _columns(rows)
    if not columns:
        raise _fault("it has no records", place)
    return Sample(form, file.suffix.lower(), columns, dialect)


def _csv_value(cell: str) -> Any:
    text = cell.strip()
    return None if not text else int(text) if _WHOLE.fullmatch(text) else float(text) if _NUMBER.fullmatch(text) else text


def _json_objects(text: str, place: str) -> tuple[str, list[Mapping[str, Any]]]:
    """An object a line, or one object over several lines."""
    lines = [line for line in text.splitlines() if line.strip()]
    try:
        json.loads(lines[0])
    except ValueError:
        return "json object", _objects([_decoded(text, place)], place)
    return "json lines", _objects([_decoded(line, place) for line in lines], place)


def _decoded(text: str, place: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _fault(f"it is not JSON: {error}", place) from error


def _objects(rows: Any, place: str) -> list[Mapping[str, Any]]:
    if not all(isinstance(row, dict) for row in rows):
        raise _fault("its records are not objects", place)
    return list(rows)


def _columns(rows: Iterable[Mapping[str, Any]]) -> tuple[SampleColumn, ...]:
    values: dict[str, list[Any]] = {}
    for row in rows:
        for name, value in row.items():
            values.setdefault(name, []).append(value)
    found: list[SampleColumn] = []
    for stated, all_values in values.items():
        taken = {column.name for column in found} | _LINEAGE | RESERVED | _NO_COLUMN
        name = re.sub(r"[^a-z0-9]+", "_", stated.lower()).strip("_")
        name = name if _NAME.fullmatch(name) else f"c_{name}".rstrip("_")
        while name in taken:
            name += "_"
        found.append(SampleColumn(stated, name, *_type([value for value in all_values if value is not None])))
    return tuple(found)


def _type(values: list[Any]) -> tuple[str, str]:
    """The type of a column, and why it is text if its values are not all text."""
    kinds = {type(value) for value in values}
    if not kinds:
        return "varchar", "it has no value in the sample"
    if kinds <= {int, float}:
        is_whole = kinds == {int} and all(abs(value) < 1 << 63 for value in values)
        return "bigint" if is_whole else "double", ""
    if kinds & {int, float}:
        other = next(value for value in values if type(value) not in (int, float))
        return "varchar", f"its values are numbers and others, such as {printable(json.dumps(other, ensure_ascii=False))[:_MOST_SHOWN]}"
    return "varchar", "" if kinds == {str} else "its values are kept as JSON"


def _fault(message: str, place: str, hint: str | None = None, code: str = "WH007") -> WarehouseError:
    return WarehouseError(code, message, place, hint, ExitCode.USAGE)
