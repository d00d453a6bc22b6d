"""A model: one SQL file any DuckDB client can run, and its header, a YAML comment at the top.

The header says what the table is: description, materialisation, grain, feed, and each column's type, unit, meaning and
tests. Reading a model touches the disk once; a `Model` is a value.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from warehouse.errors import WarehouseError
from warehouse.project import Project
from warehouse.transform.sql_text import canonical

MATERIALISATIONS = ("table", "view")
COLUMN_TESTS = ("not_null", "unique", "accepted_values", "relationships", "range")
# A model's folder gives its schema.
_SCHEMAS = {"staging": "staging", "reference": "staging", "dims": "main", "facts": "main", "marts": "mart"}
_HEADER = re.compile(r"\s*/\*(.*?)\*/", re.DOTALL)
_NAME = re.compile(r"[a-z][a-z0-9_]*")
_HEADER_KEYS = {"description", "materialized", "grain", "feeds", "collects", "columns", "claim"}
_COLUMN_KEYS = {"type", "unit", "description", "tests", "feed"}


@dataclass(frozen=True)
class Column:
    """One column of a contract. `unit` None: dimensionless or stated elsewhere in the row. `in_feed`: whether feeders of
    the table may fill it."""

    name: str
    type: str
    description: str
    unit: str | None = None
    tests: tuple[tuple[str, Any], ...] = ()
    in_feed: bool = True


@dataclass(frozen=True)
class Model:
    """A model as written. `place` is the file as messages show it; `line_offset` 0: messages count the file's lines."""

    name: str
    schema: str
    place: str
    text: str
    description: str = ""
    materialized: str = "table"
    grain: tuple[str, ...] = ()
    feeds: str | None = None
    collects: str | None = None
    columns: Mapping[str, Column] = field(default_factory=dict)
    claim: Mapping[str, Any] = field(default_factory=dict)

    @property
    def qualified(self) -> str:
        return f"{self.schema}.{self.name}"

    @cached_property
    def canonical_sql(self) -> str:
        return canonical(self.text)

    @cached_property
    def contract(self) -> dict[str, Any]:
        """What a digest covers beside the SQL: a change of it changes what the table promises."""
        return {
            "materialized": self.materialized,
            "grain": list(self.grain),
            "columns": [[column.name, column.type, column.unit] for column in self.columns.values()],
        }


def load_models(project: Project) -> dict[str, Model]:
    """The project's models by name. Raises WH201 for a bad header and WH205 for a name given twice in a layer."""
    return _load(project, "models", lambda path, layer: _schema_of(path, layer))


def load_queries(project: Project) -> dict[str, Model]:
    """The project's query specs by name: models of the schema `rollup` whose header must state a grain."""
    specs = _load(project, "queries", lambda path, layer: "rollup")
    for spec in specs.values():
        if not spec.grain:
            raise WarehouseError(
                "WH201", "a query spec states its grain", spec.place, "add to the header: grain: [column, ...]"
            )
    return specs


def _load(project: Project, kind: str, schema_of: Any) -> dict[str, Model]:
    models: dict[str, Model] = {}
    for layer in project.layers(kind):
        in_layer: dict[str, Model] = {}
        for path in sorted(layer.rglob("*.sql")):
            if any(part.startswith((".", "_")) for part in path.relative_to(layer).parts):
                continue
            model = read_model(path, schema_of(path, layer), project.shown(path))
            if model.name in in_layer:
                raise WarehouseError("WH205", f"also defined in {in_layer[model.name].place}", model.place, "rename one")
            in_layer[model.name] = model
        models.update(in_layer)
    return models


def _schema_of(path: Path, layer: Path) -> str:
    parts = path.relative_to(layer).parts
    return _SCHEMAS.get(parts[0], "main") if len(parts) > 1 else "main"


def read_model(path: Path, schema: str, place: str) -> Model:
    """Read one file. Raises WH201 with the place when its name or header is not valid."""
    if not _NAME.fullmatch(path.stem):
        raise WarehouseError("WH201", f"{path.stem!r} is no table name", place, "use lower-case letters, digits and _")
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise WarehouseError("WH201", f"cannot be read: {error}", place) from error
    header = _header(text, place)
    return Model(
        name=path.stem,
        schema=schema,
        place=place,
        text=text,
        description=str(header.get("description", "")).strip(),
        materialized=_one_of(header, "materialized", MATERIALISATIONS, "table", place),
        grain=tuple(_list(header, "grain", place)),
        feeds=header.get("feeds"),
        collects=header.get("collects"),
        columns=_columns(header, place),
        claim=header.get("claim", {}),
    )


def _header(text: str, place: str) -> dict[str, Any]:
    match = _HEADER.match(text)
    if not match:
        return {}
    import yaml  # 50 ms that a build with nothing to do need not pay

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        header = yaml.load(match[1], Loader=loader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = text[: match.start(1)].count("\n") + 1 + (mark.line if mark else 0)
        column = mark.column + 1 if mark else 1
        raise WarehouseError("WH201", f"not YAML: {getattr(error, 'problem', error)}", f"{place}:{line}:{column}") from error
    if not isinstance(header, dict):
        return {}  # an ordinary comment
    unknown = set(map(str, header)) - _HEADER_KEYS
    if unknown:
        raise WarehouseError(
            "WH201", f"unknown key {sorted(unknown)[0]!r} in the header", f"{place}:1", f"known: {', '.join(sorted(_HEADER_KEYS))}"
        )
    return header


def _columns(header: Mapping[str, Any], place: str) -> dict[str, Column]:
    columns = {}
    for name, body in (header.get("columns") or {}).items():
        where = f"{place}: column {name}"
        if not isinstance(body, dict) or "type" not in body:
            raise WarehouseError("WH201", "a column states its type", where, f"{name}: {{type: varchar}}")
        unknown = body.keys() - _COLUMN_KEYS
        if unknown:
            raise WarehouseError("WH201", f"unknown key {sorted(unknown)[0]!r}", where)
        columns[name] = Column(
            name=name,
            type=str(body["type"]).upper(),
            description=str(body.get("description", "")),
            unit=body.get("unit"),
            tests=tuple(_test(test, where) for test in body.get("tests", ())),
            in_feed=bool(body.get("feed", True)),
        )
    return columns


def _test(test: Any, where: str) -> tuple[str, Any]:
    name, argument = (test, None) if isinstance(test, str) else next(iter(test.items()))
    if name not in COLUMN_TESTS:
        raise WarehouseError("WH201", f"unknown test {name!r}", where, f"known: {', '.join(COLUMN_TESTS)}")
    return name, argument


def _list(header: Mapping[str, Any], key: str, place: str) -> list[str]:
    value = header.get(key) or []
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise WarehouseError("WH201", f"{key} is a list of column names", place, f"{key}: [run_id]")
    return value


def _one_of(header: Mapping[str, Any], key: str, allowed: tuple[str, ...], default: str, place: str) -> str:
    value = header.get(key, default)
    if value not in allowed:
        raise WarehouseError("WH201", f"{key} {value!r} is not known", place, f"one of: {', '.join(allowed)}")
    return str(value)
