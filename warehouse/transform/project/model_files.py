"""A model's file: SQL that any DuckDB client can run, and its header, a YAML comment at the top.

The header says what the table is: description, materialisation, grain, feed, and each column's type, unit, meaning and
tests. Reading a model touches the disk once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from warehouse.errors import WarehouseError, did_you_mean, place_of_byte, printable, together
from warehouse.project.project import Project, is_left_out, parts_below, refuse_special, standard_folder
from warehouse.transform.project.claim import read_claim
from warehouse.transform.project.header import Header, read_header
from warehouse.transform.project.header_tests import column_tests, table_tests
from warehouse.transform.project.model import ROLES, RUN_COLUMN, Column, Model
from warehouse.transform.sql.text import fault_at, first_token

MATERIALISATIONS = ("table", "view", "incremental")
# A model's folder gives its schema.
_SCHEMAS = {"staging": "staging", "reference": "staging", "dims": "main", "facts": "main", "marts": "mart"}
_NAME = re.compile(r"[a-z][a-z0-9_]*")
HEADER_KEYS = {"description", "materialized", "key", "grain", "feeds", "collects", "columns", "tests", "tags", "claim", "retention_tier", "role"}
WARM_TIER = "warm"
_COLUMN_KEYS = {"type", "unit", "description", "tests", "feed", "tolerance"}


@dataclass(frozen=True)
class Sources:
    """The files of one kind: models by name, the faults of files that cannot be models, and the names of those files."""

    models: Mapping[str, Model]
    faults: tuple[WarehouseError, ...]
    unreadable: frozenset[str]

    def sound(self) -> dict[str, Model]:
        """The models. Raises all faults together when there are any."""
        if self.faults:
            raise together(self.faults)
        return dict(self.models)


def load_models(project: Project) -> dict[str, Model]:
    """The project's models by name. Raises WH201 for a bad header and WH205 for a name given twice in a layer."""
    return read_models(project).sound()


def load_queries(project: Project) -> dict[str, Model]:
    """The project's query specs by name: models of the schema `rollup` whose header must state a grain."""
    return read_queries(project).sound()


def read_models(project: Project) -> Sources:
    """The project's models, and what is wrong with the files that cannot be read as such (WH201, WH205)."""
    return _read(project, "models", read_model, _schema_of)


def read_queries(project: Project) -> Sources:
    """The project's query specs, and what is wrong with the files that cannot be read as such (WH201, WH205)."""
    return _read(project, "queries", _read_query, lambda path, layer: "rollup")


def _read(
    project: Project,
    kind: str,
    read: Callable[[Path, str, str], Model],
    schema_of: Callable[[Path, Path], str],
) -> Sources:
    models: dict[str, Model] = {}
    faults: list[WarehouseError] = []
    unreadable: set[str] = set()
    for layer in project.layers(kind):
        in_layer: dict[str, Model] = {}
        rejects = layer == standard_folder() / kind
        for path in sorted(layer.rglob("*.sql")):
            if is_left_out(parts_below(path, layer), kind):
                continue
            try:
                model = replace(read(path, schema_of(path, layer), printable(project.shown(path))), rejects=rejects)
            except WarehouseError as fault:
                faults.append(fault)
                unreadable.add(path.stem)
                continue
            if model.name in in_layer:
                other = in_layer[model.name].place
                faults.append(
                    WarehouseError(
                        "WH205", f"the name {model.name} is taken by {other}", model.place,
                        "names are unique across folders, because models read each other by name: rename one file",
                    )
                )
            in_layer.setdefault(model.name, model)
        models.update(in_layer)
    return Sources(models, tuple(faults), frozenset(unreadable))


def _schema_of(path: Path, layer: Path) -> str:
    parts = parts_below(path, layer)
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
        claim=read_claim(header),
        retention_tier=_retention_tier(header),
        role=_role(header),
    )


def read_sql_file(path: Path, place: str, known: Collection[str]) -> Header:
    """One SQL file and its header, whose keys are among `known`. Raises WH201 for a name that no table can have, text
    that is not UTF-8, and a header that is not valid."""
    if not _NAME.fullmatch(path.stem):
        raise WarehouseError(
            "WH201", f'"{printable(path.stem)}" is not a table name', place,
            "the file's name becomes the table's name: lower-case letters, digits and _, beginning with a letter",
        )
    refuse_special(path, place)
    try:
        text = path.read_text(encoding="utf-8-sig")  # some editors put a byte order mark first
    except UnicodeDecodeError as error:
        raise _not_utf8(error, place) from error
    except OSError as error:
        raise WarehouseError("WH201", f"cannot be read: {error.strerror}", place, "a model must be a file that you may read") from error
    _refuse_nul(text, place)
    header = read_header(text, place)
    for key in header.values:
        if key not in known:
            raise header.unknown_key(key, known=known)
    if not header.values:
        _refuse_unread_header(text, place, known)
    return header


def _read_query(path: Path, schema: str, place: str) -> Model:
    spec = read_model(path, schema, place)
    if not spec.grain:
        hint = "name the columns that identify a row in the header, for example grain: [run_id]"
        raise spec.header_fault("WH201", "a query spec must state its grain", "grain", hint=hint)
    if spec.retention_tier:
        hint = "state it in the tables that it reads"
        raise spec.header_fault("WH201", "a rollup has no detail that retention could remove", "retention_tier", hint=hint)
    if spec.role:
        raise spec.header_fault("WH201", "only a model in models/ can have a role", "role", hint="state it in the table that the query reads")
    return spec


def _not_utf8(error: UnicodeDecodeError, place: str) -> WarehouseError:
    return WarehouseError(
        "WH201", f"the byte 0x{error.object[error.start]:02x} is not UTF-8", f"{place}:{place_of_byte(error)}",
        "save the file as UTF-8",
    )


def _refuse_nul(text: str, place: str) -> None:
    # The engine reads a text up to its first NUL: the rest of the model would silently be no part of it.
    if "\0" in text:
        raise fault_at("WH202", "a NUL character is not SQL", text, place, text.index("\0"), "take it out")


def _refuse_unread_header(text: str, place: str, known: Collection[str]) -> None:
    """Raise WH201 when the comments above the SQL, none of which is a header, look like one."""
    line = re.search(rf"^[ \t]*(--|/\*)?[ \t]*({'|'.join(sorted(known))})[ \t]*:", text[: first_token(text)], re.MULTILINE)
    if line:
        hint = "put it in a block comment /* ... */ of its own at the very top of the file"
        raise fault_at("WH201", f"{line[2]} is not read here, because this comment is not the header", text, place, line.start(2), hint)


def _materialized(header: Header) -> str:
    value = header.text("materialized") or "table"
    if value not in MATERIALISATIONS:
        hint = did_you_mean(value, MATERIALISATIONS) or f"one of: {', '.join(MATERIALISATIONS)}"
        raise header.fault(f"materialized {value!r} is not known", "materialized", hint=hint)
    has_key = bool(header.names("key"))
    if value == "incremental" and not has_key:
        hint = "add the columns by which it is brought up to date: key: [run_id]"
        raise header.fault("an incremental model must state its key", "materialized", hint=hint)
    if value != "incremental" and has_key:
        hint = "add materialized: incremental, or remove the key"
        raise header.fault("only an incremental model can have a key", "key", hint=hint)
    return value


def _retention_tier(header: Header) -> str | None:
    value = header.text("retention_tier")
    if value is None:
        return None
    if value != WARM_TIER:
        raise header.fault(f"retention_tier {value!r} is not known", "retention_tier", hint=f"write it like this: retention_tier: {WARM_TIER}")
    if header.value("materialized") == "view":
        raise header.fault("a view has no rows that could be removed by retention", "retention_tier", hint="state it in the tables that it reads")
    if header.value("materialized") == "incremental" and list(header.names("key")) != [RUN_COLUMN]:
        hint = f"key: [{RUN_COLUMN}], or take the tier out"
        raise header.fault("the rows of the warm tier leave run by run: the key is another", "key", hint=hint)
    return value


def _role(header: Header) -> str | None:
    value = header.text("role")
    if value is not None and value not in ROLES:
        hint = did_you_mean(value, ROLES) or f"roles are: {', '.join(ROLES)}"
        raise header.fault(f"role {value!r} is not known", "role", hint=hint)
    return value


def _column(header: Header, name: str) -> Column:
    path = ("columns", name)
    body = header.value(*path)
    if not isinstance(body, dict):
        raise header.fault(f"column {name} states no type", *path, hint=f"write it like this: {name}: {{type: varchar}}")
    header.mapping(*path, known=_COLUMN_KEYS)
    return Column(
        name=name,
        type=header.text(*path, "type") or "",
        description=header.text(*path, "description") or "",
        unit=header.text(*path, "unit"),
        tests=column_tests(header, *path),
        in_feed=bool(body.get("feed", True)),
        tolerance=_tolerance(header, *path),
    )


def _tolerance(header: Header, *path: str) -> float | None:
    value = header.value(*path, "tolerance")
    if value is None:
        return None
    try:
        tolerance = float(value)  # of 1e-9 YAML makes text
    except (TypeError, ValueError):
        tolerance = 0.0
    if isinstance(value, bool) or not 0 < tolerance < 1:
        raise header.fault("tolerance is a number between 0 and 1", *path, "tolerance", hint="tolerance: 1e-9")
    return tolerance
