"""The additions of floats that a published value passes through: what makes its column of class T (`claims.trace.determinism`).

They are read off the engine's own plans, of the query and of every table under it; an operation that is not known, and a plan
that is not understood, is taken for one. No data is read.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from warehouse.trace.catalog import BuiltModel, Catalog
from warehouse.trace.determinism import DEFAULT_TOLERANCE, EXACT, TOLERANT, UNDETERMINED, Determinism
from warehouse.trace.empty_tables import EmptyTables
from warehouse.transform.check.text_facts import TextFacts
from warehouse.transform.lineage.column_expressions import Note, NotUnderstood
from warehouse.transform.lineage.derived import NONE, ColumnRef, Refs
from warehouse.transform.project.model import RESERVED_COLUMNS

if TYPE_CHECKING:
    import duckdb

# Aggregates that give the same in any order of rows, or hand some of them on as they are (then a tie is tried, `tie_probe`).
_EXACT = frozenset(
    (
        "any_value", "arbitrary", "arg_max", "arg_min", "argmax", "argmin", "array_agg", "bit_and", "bit_or", "bit_xor",
        "bitstring_agg", "bool_and", "bool_or", "count", "count_if", "count_star", "countif", "first", "group_concat", "histogram",
        "histogram_exact", "last", "list", "listagg", "mad", "max", "max_by", "median", "min", "min_by", "mode", "quantile",
        "quantile_cont", "quantile_disc", "regr_count", "string_agg",
    )
)
# Those that add exactly what is no float. Any other may add or multiply floats inside, of integers too: entropy, stddev.
_EXACT_OF_INTEGERS = frozenset(("avg", "mean", "sum", "sum_no_overflow", "decimal_average"))
_Types = tuple[tuple[str, tuple[tuple[str, str], ...]], ...]  # by table its columns and their types
_FLOATS = frozenset(("DOUBLE", "FLOAT"))
_PLACES = frozenset(("alias", "query_location", "query_location_length"))
_OPERATION = ""  # in place of a table's name: what a value passes through beside columns
_TOLD = 3


def determinism_of(
    catalog: Catalog, query: str, tolerances: Mapping[str, float], columns: Collection[str], facts: TextFacts | None = None
) -> dict[str, Determinism]:
    """The class of some value columns of a query. `tolerances` are those its header declares. Reads no data. What goes into the columns of
    each text is taken from `facts`, which verification has none of."""
    top = catalog.models[f"rollup.{query}"]
    operations = _operations(catalog, _all_sources(catalog, tuple(ColumnRef(top.qualified, column) for column in columns), facts))
    found = {}
    for column in columns:
        names = sorted(operations[ColumnRef(top.qualified, column)])
        found[column] = _class_of(catalog.types[top.qualified][column], names, tolerances.get(column, DEFAULT_TOLERANCE))
    return found


@dataclass(frozen=True)
class Additions:
    """Where values of a query pass through additions of floats: the `columns` of the query that do so for some row, and the
    columns of tables, its own among them, whose SQL does it (`places`)."""

    columns: frozenset[str]
    places: frozenset[ColumnRef]


def additions(catalog: Catalog, query: str, columns: Collection[str]) -> Additions:
    """The operations of some value columns of a query. Reads no data."""
    top = f"rollup.{query}"
    sources = _all_sources(catalog, tuple(ColumnRef(top, column) for column in columns))
    found = _operations(catalog, sources)
    behind_views = _operations(catalog, sources, stops=lambda table: catalog.models[table].has_rows)
    return Additions(
        frozenset(column for column in columns if found[ColumnRef(top, column)]),
        frozenset(ref for ref, names in behind_views.items() if names and catalog.models[ref.table].has_rows),
    )


def _class_of(kind: str, names: list[str], tolerance: float) -> Determinism:
    if not names:
        return Determinism(EXACT)
    more = f" and {len(names) - _TOLD} more" if len(names) > _TOLD else ""
    is_float = kind.rstrip("[]") in _FLOATS
    why = ", ".join(names[:_TOLD]) + more
    return Determinism(TOLERANT, tolerance, why) if is_float else Determinism(UNDETERMINED, None, why)


def _all_sources(catalog: Catalog, asked: tuple[ColumnRef, ...], facts: TextFacts | None = None) -> Mapping[ColumnRef, Refs]:
    """By column, of those that are asked for and of all that go into their values, what goes into it directly."""
    tables = _known_tables(tuple(catalog.models.items()), _hashable(catalog.types), _hashable(catalog.landing_types))
    sources: dict[ColumnRef, Refs] = {}
    pending = list(asked)
    with closing(EmptyTables(catalog)) as empty:
        while pending:
            ref = pending.pop()
            if ref in sources or ref.table not in catalog.models:
                continue
            if ref.table not in tables:
                tables[ref.table] = _sources_of(catalog, catalog.models[ref.table], empty, facts)
            sources[ref] = tables[ref.table].get(ref.column, NONE)
            pending += sources[ref]
    return sources


def _sources_of(catalog: Catalog, model: BuiltModel, empty: EmptyTables, facts: TextFacts | None) -> Mapping[str, Refs]:
    """What goes into each column of a table."""
    names = [name for name in catalog.types[model.qualified] if name not in RESERVED_COLUMNS]

    def found() -> list[list[list[str]]]:
        return [[[ref.table, ref.column] for ref in refs] for refs in _sources(empty.reading(model), model, len(names))]

    meaning = [model.qualified, model.sql, [[table, list(catalog.types_of(table).items())] for table in sorted(model.reads)]]
    sources = facts.recall("sources", meaning, found) if facts else found()
    return {name: frozenset(ColumnRef(*ref) for ref in refs) for name, refs in zip(names, sources, strict=True)}


# A publication asks for its exactness and for its additions, and each replay asks again, of a catalog of its own.
@lru_cache(maxsize=8)
def _known_tables(models: tuple[tuple[str, BuiltModel], ...], types: _Types, landing: _Types) -> dict[str, Mapping[str, Refs]]:
    """By table the sources of its columns, as far as they were asked for: they follow from these texts."""
    return {}


def _hashable(types: Mapping[str, Mapping[str, str]]) -> _Types:
    return tuple((table, tuple(columns.items())) for table, columns in types.items())


def _operations(
    catalog: Catalog, sources: Mapping[ColumnRef, Refs], stops: Callable[[str], bool] = lambda table: False
) -> dict[ColumnRef, frozenset[str]]:
    """By column the additions of floats that its value passes through, up to the tables at which it `stops`."""
    found: dict[ColumnRef, frozenset[str]] = {}
    place = {name: number for number, name in enumerate(catalog.models)}
    for ref in sorted(sources, key=lambda ref: place[ref.table]):  # as they are built: what a model reads comes before it
        own = frozenset(source.column for source in sources[ref] if source.table == _OPERATION)
        found[ref] = own.union(*(found.get(source, frozenset()) for source in sources[ref] if source in found and not stops(source.table)))
    return found


def _sources(con: "duckdb.DuckDBPyConnection", model: BuiltModel, count: int) -> Iterable[Refs]:
    """For each column of a model, the columns that go into its value, and the operations as columns of `_OPERATION`."""
    import duckdb

    from warehouse.transform.lineage.columns import relation_of

    try:
        relation = relation_of(con, model.sql, _noting(model.qualified))
        if len(relation.columns) != count:
            raise NotUnderstood(f"{len(relation.columns)} columns were found, not {count}")
    except (NotUnderstood, duckdb.Error):
        return [frozenset((ColumnRef(_OPERATION, f"something unknown in {model.qualified}"),))] * count
    return [column.copied | column.computed for column in relation.columns]


def _noting(table: str) -> Note:
    """What tells the additions of floats among the expressions of a plan."""

    def note(expression: Mapping[str, Any]) -> Refs:
        if expression["expression_class"] not in ("BOUND_AGGREGATE", "BOUND_WINDOW") or "qname" not in expression:
            return NONE
        name = str(expression["qname"]["path"][-1])
        is_sum_of_exact = name in _EXACT_OF_INTEGERS and (_is_ordered(expression) or not any(map(_is_float, expression.get("children", []))))
        return NONE if name in _EXACT or is_sum_of_exact else frozenset((ColumnRef(_OPERATION, f"{name} in {table}"),))

    return note


def _is_float(expression: Mapping[str, Any]) -> bool:
    return expression.get("return_type", {}).get("id") in _FLOATS


def _is_ordered(expression: Mapping[str, Any]) -> bool:
    """Whether what is added is ordered by itself, so that rows that tie are equal: `sum(x order by x)`."""
    orders = (expression.get("order_bys") or {}).get("orders") or expression.get("arg_orders") or ()
    ordered = {_shape(order["expression"]) for order in orders}
    return bool(ordered) and all(_shape(argument) in ordered for argument in expression["children"] if _is_float(argument))


def _shape(expression: Mapping[str, Any]) -> str:
    return json.dumps({key: part for key, part in expression.items() if key not in _PLACES}, sort_keys=True)
