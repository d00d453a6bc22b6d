"""Unit tests as written: YAML files of cases, each a model, the rows given to its inputs, and the rows it must yield.

A value keeps the very text of its file and its place, so that nothing is rounded before its column's type is known and
every fault is reported at its line and column. Whether a model or a column is there is not this module's business.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from warehouse.errors import WarehouseError
from warehouse.project.project import Project, refuse_special

if TYPE_CHECKING:
    import yaml

FOLDER = "unit_tests"
CASE_KEYS = ("name", "model", "given", "expect", "ordered", "tolerance")
_TEXT_TAG = "tag:yaml.org,2002:str"


@dataclass(frozen=True)
class Value:
    """A value as its file writes it: text, None, a list or a mapping."""

    content: "str | None | tuple[Value, ...] | Mapping[str, Value]"
    place: str


@dataclass(frozen=True)
class Row:
    cells: Mapping[str, Value]
    place: str


@dataclass(frozen=True)
class Rows:
    rows: tuple[Row, ...]
    place: str


@dataclass(frozen=True)
class UnitCase:
    """One case. `tolerance` is the largest difference of floats that still counts as equal; None: none does."""

    name: str
    model: Value
    given: Mapping[str, Rows]
    expect: Rows
    ordered: bool
    tolerance: float | None
    place: str


def load_unit_cases(project: Project) -> tuple[UnitCase, ...]:
    """Every case of the project's unit tests; a file of a later layer replaces the one at the same path in an earlier
    layer. Raises WH240 at the place of what is not written as it must be."""
    files: dict[str, Path] = {}
    for layer in project.layers(FOLDER):
        for path in sorted([*layer.rglob("*.yaml"), *layer.rglob("*.yml")]):
            inside = path.relative_to(layer)
            if not any(part.startswith((".", "_")) for part in inside.parts):
                files[inside.as_posix()] = path
    return tuple(case for path in files.values() for case in read_unit_cases(path, project.shown(path)))


def read_unit_cases(path: Path, place: str) -> tuple[UnitCase, ...]:
    """The cases of one file, in order. Raises WH240."""
    refuse_special(path, place)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise WarehouseError("WH240", f"cannot be read: {error}", place) from error
    cases = _items(place, _composed(text, place), "a file of unit tests is a list of cases", "- model: name")
    read: list[UnitCase] = []
    for node in cases:
        case = _case(place, node, len(read) + 1)
        if any(other.name == case.name for other in read):
            _refuse(place, node, f"another case of this file is named {case.name!r}", "give each a name")
        read.append(case)
    return tuple(read)


def _composed(text: str, place: str) -> "yaml.Node | None":
    import yaml

    try:
        return yaml.compose(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f"{place}:{mark.line + 1}:{mark.column + 1}" if mark else place
        raise WarehouseError("WH240", f"not YAML: {error.problem}", where) from error
    except yaml.YAMLError as error:  # a character that YAML does not allow
        raise WarehouseError("WH240", f"not YAML: {error}", place) from error


def _case(place: str, node: "yaml.Node", number: int) -> UnitCase:
    parts = _mapping(place, node, "a case is a mapping", "model, given, expect")
    for key, _ in node.value:
        if key.value not in CASE_KEYS:
            _refuse(place, key, f"unknown key {key.value!r}", f"known: {', '.join(CASE_KEYS)}")
    for key in ("model", "expect"):
        if key not in parts:
            _refuse(place, node, f"a case states its {key}", {"expect": "expect: [] where no row must come"}.get(key))
    model, name = _value(place, parts["model"]), _value(place, parts["name"]) if "name" in parts else None
    if not isinstance(model.content, str):
        _refuse(place, parts["model"], "model is the name of a model, feed or query")
    if name and not isinstance(name.content, str):
        _refuse(place, parts["name"], "a case's name is text")
    return UnitCase(
        name=str(name.content) if name else f"case {number}",
        model=model,
        given=_given(place, parts["given"]) if "given" in parts else {},
        expect=Rows(_rows(place, parts["expect"]), _at(place, parts["expect"])),
        ordered=_ordered(place, parts),
        tolerance=_tolerance(place, parts),
        place=_at(place, node),
    )


def _given(place: str, node: "yaml.Node") -> dict[str, Rows]:
    """The rows of each input, at the place of its name."""
    tables = _mapping(place, node, "given is a mapping: input to rows", "given: {table: [...]}")
    places = {key.value: _at(place, key) for key, _ in node.value}
    return {table: Rows(_rows(place, rows), places[table]) for table, rows in tables.items()}


def _ordered(place: str, parts: Mapping[str, "yaml.Node"]) -> bool:
    if "ordered" in parts and parts["ordered"].value not in ("true", "false"):
        _refuse(place, parts["ordered"], "ordered is true or false")
    return "ordered" in parts and parts["ordered"].value == "true"


def _tolerance(place: str, parts: Mapping[str, "yaml.Node"]) -> float | None:
    if "tolerance" not in parts:
        return None
    try:
        tolerance = float(parts["tolerance"].value)
    except (TypeError, ValueError):
        tolerance = -1.0
    if not 0 < tolerance < float("inf"):
        _refuse(place, parts["tolerance"], "tolerance is a number above 0", "tolerance: 1e-9")
    return tolerance


def _rows(place: str, node: "yaml.Node") -> tuple[Row, ...]:
    import yaml

    if isinstance(node, yaml.ScalarNode) and node.tag == _TEXT_TAG:
        return tuple(_csv_rows(place, node))
    form = "[{column: value}] or text in CSV"
    items = _items(place, node, "rows are a list of mappings, or text in CSV", form)
    rows = []
    for item in items:
        cells = _mapping(place, item, "a row is a mapping of columns to values", form)
        rows.append(Row({name: _value(place, cell) for name, cell in cells.items()}, _at(place, item)))
    return tuple(rows)


def _csv_rows(place: str, node: "yaml.ScalarNode") -> Iterator[Row]:
    """The rows of a text in CSV: an empty cell is NULL, `""` is empty text."""
    import pyarrow as pa
    from pyarrow.csv import ConvertOptions, ParseOptions, ReadOptions, read_csv

    if not node.value.strip():
        return
    names = next(csv.reader(io.StringIO(node.value)))
    if len(set(names)) < len(names):
        _refuse(place, node, f"a column is there twice: {', '.join(names)}")
    try:
        table = read_csv(
            io.BytesIO(node.value.encode()),
            ReadOptions(use_threads=False),
            ParseOptions(newlines_in_values=True),
            # Text, whatever it looks like; the csv module of Python 3.11 cannot tell an empty cell from a quoted one.
            ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()), null_values=[""], strings_can_be_null=True,
                quoted_strings_can_be_null=False,
            ),
        )
    except pa.ArrowInvalid as error:
        _refuse(place, node, f"not CSV: {error}")
    is_line_a_row = node.style == "|" and len(node.value.splitlines()) == table.num_rows + 1
    for number, cells in enumerate(table.to_pylist(), 2):
        where = f"{place}:{node.start_mark.line + 1 + number}:1" if is_line_a_row else _at(place, node)
        yield Row({name: Value(cell, where) for name, cell in cells.items()}, where)


def parsed_text(value: Value) -> Value:
    """The list or mapping that a text writes, as a cell of CSV holds one. Raises WH240."""
    try:
        node = _composed(str(value.content), "")
        return _value("", node, value.place) if node else Value(None, value.place)
    except WarehouseError as error:
        raise replace(error, place=value.place) from error


def _value(place: str, node: "yaml.Node", at: str | None = None) -> Value:
    import yaml

    at_node = at or _at(place, node)
    if isinstance(node, yaml.SequenceNode):
        return Value(tuple(_value(place, item, at) for item in node.value), at_node)
    if isinstance(node, yaml.MappingNode):
        fields = _mapping(place, node, "", None)
        return Value({name: _value(place, item, at) for name, item in fields.items()}, at_node)
    if node.tag == "tag:yaml.org,2002:null":
        return Value(None, at_node)
    is_special = node.tag == "tag:yaml.org,2002:float" and node.value.lower().endswith(("nan", "inf"))
    return Value(node.value.replace(".", "").lower() if is_special else node.value, at_node)


def _items(place: str, node: "yaml.Node | None", message: str, hint: str) -> list[Any]:
    import yaml

    if node is None:
        return []
    if not isinstance(node, yaml.SequenceNode):
        _refuse(place, node, message, hint)
    items: list[yaml.Node] = node.value
    return items


def _mapping(place: str, node: "yaml.Node", message: str, hint: str | None) -> "dict[str, yaml.Node]":
    import yaml

    if not isinstance(node, yaml.MappingNode):
        _refuse(place, node, message, hint)
    found: dict[str, yaml.Node] = {}
    for key, value in node.value:
        if not isinstance(key, yaml.ScalarNode):
            _refuse(place, key, "a key is text")
        if key.value in found:
            _refuse(place, key, f"{key.value} is there twice")
        found[key.value] = value
    return found


def _at(place: str, node: "yaml.Node") -> str:
    return f"{place}:{node.start_mark.line + 1}:{node.start_mark.column + 1}"


def _refuse(place: str, node: "yaml.Node", message: str, hint: str | None = None) -> NoReturn:
    raise WarehouseError("WH240", message, _at(place, node), hint)
