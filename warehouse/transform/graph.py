"""Which model reads which table and which files, and the order that follows.

A pure function of the models' text: nothing is bound, no table need exist. Walks are iterative: a chain of thousands of
models is no special case.
"""

from __future__ import annotations

import graphlib
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from warehouse.errors import WarehouseError
from warehouse.transform.duck import translated
from warehouse.transform.model import Model
from warehouse.transform.sql_tree import FileRead, Node, Reference, parse, readings

if TYPE_CHECKING:
    import duckdb


@dataclass(frozen=True)
class Graph:
    """For every model, in build order: the models, landing tables and files it reads, and its SQL's tree."""

    order: tuple[str, ...]
    models: Mapping[str, frozenset[str]]
    landing: Mapping[str, frozenset[str]]
    files: Mapping[str, tuple[FileRead, ...]]
    trees: Mapping[str, Node]


def build_graph(
    con: "duckdb.DuckDBPyConnection", models: Mapping[str, Model], landing_tables: Collection[str]
) -> Graph:
    """The graph of `models`, keyed as the mapping is. Raises WH203 (unknown table), WH206 (a circle), WH220, WH226."""
    reads: dict[str, frozenset[str]] = {}
    lands: dict[str, frozenset[str]] = {}
    files: dict[str, tuple[FileRead, ...]] = {}
    trees = dict(zip(models, parse(con, list(models.values())), strict=True))
    by_reference = {**{model.qualified: name for name, model in models.items()}, **{name: name for name in models}}
    for name, model in models.items():
        found = readings(trees[name], model)
        from_models, from_landing = set(), set()
        for reference in found.tables:
            if reference.name in by_reference:
                from_models.add(by_reference[reference.name])
            elif reference.name in landing_tables:
                from_landing.add(reference.name)
            else:
                raise _unknown_table(reference, model, [*by_reference, *landing_tables])
        reads[name], lands[name], files[name] = frozenset(from_models), frozenset(from_landing), found.files
    sorter = graphlib.TopologicalSorter({name: sorted(reads[name]) for name in sorted(models)})
    try:
        order = tuple(sorter.static_order())
    except graphlib.CycleError as error:
        circle = " -> ".join(reversed(error.args[1]))
        raise WarehouseError("WH206", circle, models[error.args[1][0]].place) from error
    return Graph(order, reads, lands, files, trees)


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
