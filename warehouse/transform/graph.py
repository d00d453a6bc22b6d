"""Which model reads which table, found by DuckDB's own parser, and the order that follows.

A pure function of the models' text: nothing is bound, no table need exist. Walks are iterative: a chain of thousands of
models is no special case.
"""

from __future__ import annotations

import graphlib
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from warehouse.errors import WarehouseError
from warehouse.transform.duck import text_literal, translated
from warehouse.transform.model import Model

if TYPE_CHECKING:
    import duckdb


@dataclass(frozen=True)
class Reference:
    """A table name as a model's SQL writes it, lower case, and where (byte offset in the SQL)."""

    name: str
    offset: int


@dataclass(frozen=True)
class Graph:
    """For every model, in build order, the models and the landing tables it reads."""

    order: tuple[str, ...]
    models: Mapping[str, frozenset[str]]
    landing: Mapping[str, frozenset[str]]


def references(con: "duckdb.DuckDBPyConnection", model: Model) -> list[Reference]:
    """The tables a model's SQL names, CTEs left out. Raises WH202 at the place of a syntax error."""
    document = json.loads(con.execute(f"select json_serialize_sql({text_literal(model.text)})").fetchall()[0][0])
    if document["error"]:
        error = ValueError(
            json.dumps({"exception_message": document["error_message"], "position": document.get("position")})
        )
        raise translated(error, "WH202", model.text, model.place)
    if len(document["statements"]) != 1:
        raise WarehouseError("WH202", f"{len(document['statements'])} statements, not one", model.place)
    found: dict[str, Reference] = {}
    stack: list[tuple[Any, frozenset[str]]] = [(document["statements"], frozenset())]
    while stack:
        node, scope = stack.pop()
        if isinstance(node, list):
            stack.extend((item, scope) for item in node)
        elif isinstance(node, dict):
            for entry in node.get("cte_map", {}).get("map", []):
                # A CTE sees those before it, and itself only when it recurses: `with t as (select * from t)` reads t.
                name, body = str(entry["key"]).lower(), entry["value"]["query_node"]
                stack.append((body, scope | {name} if body["type"] == "RECURSIVE_CTE_NODE" else scope))
                scope = scope | {name}
            if node.get("type") == "BASE_TABLE":
                schema, table = node["schema_name"].lower(), node["table_name"].lower()
                if schema or table not in scope:
                    name = f"{schema}.{table}" if schema else table
                    found.setdefault(name, Reference(name, node["query_location"]))
            stack.extend((value, scope) for key, value in node.items() if key != "cte_map")
    return sorted(found.values(), key=lambda reference: reference.offset)


def build_graph(
    con: "duckdb.DuckDBPyConnection", models: Mapping[str, Model], landing_tables: Collection[str]
) -> Graph:
    """The graph of `models`, keyed as the mapping is. Raises WH203 (unknown table), WH206 (a circle)."""
    reads: dict[str, frozenset[str]] = {}
    lands: dict[str, frozenset[str]] = {}
    by_reference = {**{model.qualified: name for name, model in models.items()}, **{name: name for name in models}}
    for name, model in models.items():
        from_models, from_landing = set(), set()
        for reference in references(con, model):
            if reference.name in by_reference:
                from_models.add(by_reference[reference.name])
            elif reference.name in landing_tables:
                from_landing.add(reference.name)
            else:
                raise _unknown_table(reference, model, [*by_reference, *landing_tables])
        reads[name], lands[name] = frozenset(from_models), frozenset(from_landing)
    sorter = graphlib.TopologicalSorter({name: sorted(reads[name]) for name in sorted(models)})
    try:
        order = tuple(sorter.static_order())
    except graphlib.CycleError as error:
        circle = " -> ".join(reversed(error.args[1]))
        raise WarehouseError("WH206", circle, models[error.args[1][0]].place) from error
    return Graph(order, reads, lands)


def _unknown_table(reference: Reference, model: Model, known: list[str]) -> WarehouseError:
    import difflib

    near = difflib.get_close_matches(reference.name, known, n=1)
    error = ValueError(
        json.dumps(
            {
                "exception_message": f"no model, feed or landing table is named {reference.name}",
                "position": reference.offset,
                "candidates": near[0] if near else "",
            }
        )
    )
    return translated(error, "WH203", model.text, model.place)
