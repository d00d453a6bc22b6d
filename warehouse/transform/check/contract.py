"""What a model's header promises, compared with what its SQL yields: columns, types, grain, key, and the tables that its
tests name. Nothing is bound here; every fault is reported at the line of the header, or of the SQL, that states it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from warehouse.errors import WarehouseError, did_you_mean
from warehouse.transform.project.model import BUNDLE_COLUMN, RESERVED_COLUMNS, ROLES, RUN_COLUMN, Model
from warehouse.transform.sql.text import fault_at, output_column

if TYPE_CHECKING:
    import duckdb

Types = Mapping[str, str]
# A published cell's type must have an exact form (`exact.exact`); of others the digits or the meaning would be lost.
_EXACT_TYPES = re.compile(
    r"BOOLEAN|U?(?:TINY|SMALL|BIG|HUGE)?INT(?:EGER)?|FLOAT|DOUBLE|DECIMAL\(\d+,\d+\)|VARCHAR|DATE|TIMESTAMP(?: WITH TIME ZONE)?"
)
_TYPES = ("varchar", "integer", "bigint", "double", "boolean", "date", "timestamp", "timestamptz", "decimal(18, 3)")


def contract_types(
    con: "duckdb.DuckDBPyConnection", models: Mapping[str, Model]
) -> tuple[dict[str, Types], list[WarehouseError]]:
    """The columns whose type a model's header promises, with the types as the engine writes them (`timestamptz` is TIMESTAMP WITH
    TIME ZONE), and a WH201 for every type that does not exist. A model with such a fault is not among them, nor is its feed."""
    known: dict[str, str | None] = {}
    contracts: dict[str, Types] = {}
    faults: list[WarehouseError] = []
    for name, model in models.items():
        found = {column.name: _engine_type(con, known, column.type) for column in model.columns.values() if column.type}
        contract = {column: kind for column, kind in found.items() if kind}
        if len(contract) == len(found):
            contracts[name] = contract
        elif model.schema != "feed":  # a feed's columns are those of its collector
            faults += (_no_type(model, column) for column in found if column not in contract)
    return contracts, faults


def _engine_type(con: "duckdb.DuckDBPyConnection", known: dict[str, str | None], written: str) -> str | None:
    import duckdb

    if written not in known:
        try:
            known[written] = str(con.type(written))
        except duckdb.Error:
            known[written] = None
    return known[written]


def _no_type(model: Model, column: str) -> WarehouseError:
    written = model.columns[column].type
    hint = did_you_mean(written, _TYPES) or f"types are those of DuckDB: {', '.join(_TYPES[:6])}, ..."
    return model.header_fault("WH201", f"column {column}: there is no type {written}", "columns", column, "type", hint=hint)


def contract_faults(model: Model, found: Types, promised: Types) -> Iterator[WarehouseError]:
    """Where the columns that a model's SQL yields differ from its header: WH207, and WH201 for a column without a type. `promised` are
    the types that the header states or leaves to the source of a column."""
    unpromised = [name for name in found if model.columns and name not in promised and name not in model.columns]
    unstated = [name for name in found if name not in model.columns]
    slips: set[str] = set()  # columns of the SQL that were named as the correction of a missing one: they are reported once
    for name in model.columns:
        if name not in found:
            near = did_you_mean(name, unstated)
            slips |= {column for column in unpromised if near == f"did you mean {column}?"}
            yield model.header_fault(
                "WH207", f"the header has column {name}, the SQL does not", "columns", name,
                hint=near or "select it, or take it out of the header",
            )
        elif name not in promised:
            yield _untyped(model, name)
        elif found[name] != promised[name]:
            written = model.columns[name].type
            yield model.header_fault(
                "WH207", f"column {name} is {found[name]}, the header says {written}", "columns", name, "type",
                hint=f"cast it: {name}::{written}, or change the header's type",
            )
    for name in unpromised:
        if name not in slips:
            yield _unpromised(model, name)
    for name in (RUN_COLUMN, BUNDLE_COLUMN) if model.retention_tier else ():
        if found.get(name) != "VARCHAR":
            yield model.header_fault(
                "WH207", f"the rows of a retention tier are identified by {name}, a varchar; the SQL has none", "retention_tier",
                hint=f"select {name}, or take the tier out",
            )
    for name in ROLES[model.role] if model.role else ():
        if found.get(name) != "VARCHAR":
            message = f"role {model.role} needs the column {name} as varchar; the SQL has {found.get(name, 'none')}"
            yield model.header_fault("WH207", message, "role", hint=f"select {name}::varchar as {name}, or take the role out")
    for part in ("grain", "key"):
        for name in getattr(model, part):
            if name not in found:
                yield model.header_fault(
                    "WH207", f"the {part} names column {name}, the SQL does not", part, name,
                    hint=did_you_mean(name, found) or f"columns are: {', '.join(found)}",
                )


def _untyped(model: Model, name: str) -> WarehouseError:
    hint = f"write it like this: {name}: {{type: varchar}}; only a copy of a column that a header describes inherits its type"
    return model.header_fault("WH201", f"column {name} states no type", "columns", name, hint=hint)


def _unpromised(model: Model, name: str) -> WarehouseError:
    hint = "add it to the header's columns, or leave it out"
    message = f"the SQL has column {name}, the header does not"
    offset = output_column(model.text, name)
    if offset is None:
        return model.header_fault("WH207", message, "columns", hint=hint)
    return fault_at("WH207", message, model.text, model.place, offset, hint)


def rollup_faults(spec: Model, types: Types) -> Iterator[WarehouseError]:
    """WH201 for columns that cannot be published."""
    for name, kind in types.items():
        if not _EXACT_TYPES.fullmatch(kind.rstrip("[]")):  # a list is as exact as what it holds
            message = f"column {name} is {kind}, which has no exact form"
            yield spec.column_fault("WH201", message, name, f"cast it: {name}::varchar")
        if name.lower() in RESERVED_COLUMNS:
            yield spec.column_fault("WH201", f"the column name {name} is the warehouse's own", name, "rename it")
    if types.keys() <= set(spec.grain):
        message = "every column is in the grain: nothing is left to publish"
        yield spec.header_fault("WH201", message, "grain", hint="select what is measured too")
