"""A model: one SQL file any DuckDB client can run, and its header, a YAML comment at the top.

The header says what the table is: description, materialisation, grain, feed, and each column's type, unit, meaning and
tests. Reading a model touches the disk once; a `Model` is a value.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from warehouse.digest import canonical_json
from warehouse.errors import WarehouseError
from warehouse.project import Project
from warehouse.transform.header import Header, read_header
from warehouse.transform.header_tests import HeaderTest, column_tests, table_tests
from warehouse.transform.sql_text import canonical

MATERIALISATIONS = ("table", "view", "incremental")
# A model's folder gives its schema.
_SCHEMAS = {"staging": "staging", "reference": "staging", "dims": "main", "facts": "main", "marts": "mart"}
_NAME = re.compile(r"[a-z][a-z0-9_]*")
HEADER_KEYS = {"description", "materialized", "key", "grain", "feeds", "collects", "columns", "tests", "tags", "claim"}
_COLUMN_KEYS = {"type", "unit", "description", "tests", "feed"}


@dataclass(frozen=True)
class Column:
    """One column of a contract. `unit` None: dimensionless or stated elsewhere in the row. `in_feed`: whether feeders of
    the table may fill it."""

    name: str
    type: str
    description: str
    unit: str | None = None
    tests: tuple[HeaderTest, ...] = ()
    in_feed: bool = True


@dataclass(frozen=True)
class Model:
    """A model as written. `place` is the file as messages show it; `key` is what an incremental model is brought up to
    date by, empty for every other."""

    name: str
    schema: str
    place: str
    text: str
    description: str = ""
    materialized: str = "table"
    key: tuple[str, ...] = ()
    grain: tuple[str, ...] = ()
    feeds: str | None = None
    collects: str | None = None
    columns: Mapping[str, Column] = field(default_factory=dict)
    tests: tuple[HeaderTest, ...] = ()
    tags: tuple[str, ...] = ()
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
            **({"key": list(self.key)} if self.key else {}),
            "grain": list(self.grain),
            "columns": [[column.name, column.type, column.unit] for column in self.columns.values()],
        }


def load_models(project: Project) -> dict[str, Model]:
    """The project's models by name. Raises WH201 for a bad header and WH205 for a name given twice in a layer."""
    return _load(project, "models", lambda path, layer: _schema_of(path, layer))


def model_names(models: Mapping[str, Model]) -> dict[str, str]:
    """Every name by which SQL may call a model, `schema.name` too, to its key in `models`."""
    return {**{model.qualified: name for name, model in models.items()}, **{name: name for name in models}}


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
    header = read_sql_file(path, place, HEADER_KEYS)
    return Model(
        name=path.stem,
        schema=schema,
        place=place,
        text=header.file,
        description=(header.text("description") or "").strip(),
        materialized=_materialized(header),
        key=tuple(header.names("key")),
        grain=tuple(header.names("grain")),
        feeds=header.text("feeds"),
        collects=header.text("collects"),
        columns={name: _column(header, name) for name in header.mapping("columns")},
        tests=table_tests(header),
        tags=tuple(header.names("tags")),
        claim=_claim(header),
    )


def read_sql_file(path: Path, place: str, known: Collection[str]) -> Header:
    """One SQL file and its header, whose keys are among `known`. Raises WH201 for a name that no table can have, text
    that is not UTF-8, and a header that is not valid."""
    if not _NAME.fullmatch(path.stem):
        raise WarehouseError("WH201", f"{path.stem!r} is no table name", place, "use lower-case letters, digits and _")
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise WarehouseError("WH201", f"cannot be read: {error}", place) from error
    header = read_header(text, place)
    for key in header.values:
        if key not in known:
            raise header.fault(
                f"unknown key {key!r} in the header", str(key), hint=f"known: {', '.join(sorted(known))}"
            )
    return header


def _materialized(header: Header) -> str:
    value = header.text("materialized") or "table"
    if value not in MATERIALISATIONS:
        raise header.fault(
            f"materialized {value!r} is not known", "materialized", hint=f"one of: {', '.join(MATERIALISATIONS)}"
        )
    if (value == "incremental") != bool(header.names("key")):
        at = "key" if header.value("key") else "materialized"
        raise header.fault("an incremental model, and no other, states its key", at, hint="key: [run_id]")
    return value


def _claim(header: Header) -> Mapping[str, Any]:
    claim = header.mapping("claim")
    try:
        canonical_json(claim)
    except (TypeError, ValueError) as error:
        raise header.fault(f"claim cannot be written as JSON: {error}", "claim", hint="put dates in quotes") from error
    return claim


def _column(header: Header, name: str) -> Column:
    path = ("columns", name)
    body = header.value(*path)
    if not isinstance(body, dict) or not isinstance(body.get("type"), str):
        raise header.fault(f"column {name} states no type", *path, hint=f"{name}: {{type: varchar}}")
    header.mapping(*path, known=_COLUMN_KEYS)
    return Column(
        name=name,
        type=body["type"],
        description=header.text(*path, "description") or "",
        unit=header.text(*path, "unit"),
        tests=column_tests(header, *path),
        in_feed=bool(body.get("feed", True)),
    )
