"""Columns that a model passes through unchanged: what their source's header promises of them is promised of them too.

A header leaves such a column out, or states only what differs. Reads the parser's tree; what is not plainly a copy inherits nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from warehouse.errors import WarehouseError
from warehouse.project.project import STANDARD_PREFIX
from warehouse.transform.project.model import Column, Model
from warehouse.transform.sql.block import Block
from warehouse.transform.sql.from_clause import ColumnsOf, FromClauses, branches, with_ctes
from warehouse.transform.sql.tree_nodes import Node

Types = Mapping[str, str]
# Columns of tables, by the names that the SQL has for these.
Sources = frozenset[tuple[str, str]]
# An output column: its name, and what it is a copy of. Nothing: of no column, or of which is not plain.
_Output = tuple[str, Sources]


def unstated(model: Model, found: Types) -> list[str]:
    """Those of a model's columns of which its header promises no type. None if the header promises nothing at all."""
    return [name for name in found if name not in model.columns or not model.columns[name].type] if model.columns else []


def passed_columns(model: Model, tree: Node, columns_of: ColumnsOf) -> dict[str, list[list[str]]]:
    """For each output column (in lower case) that is a copy of a column of a table, or in the branches of a union of several: these
    tables and columns, sorted, as JSON has them."""
    try:
        outputs = _Walk(FromClauses(model, columns_of)).outputs(tree["node"], {})
    except WarehouseError:  # a join or a clause that the walk does not read
        return {}
    return {name: sorted(map(list, sources)) for name, sources in _by_name(outputs).items() if sources}


def with_inherited(
    model: Model, found: Types, passed: Mapping[str, list[list[str]]], models: Mapping[str, Model], columns: Mapping[str, Types]
) -> Model:
    """The model with a promise for each unstated column that inherits one, its columns in the order of its SQL. `passed` is what
    `passed_columns` found; `models` (with their promises complete) and `columns` are by the names that the SQL uses.

    Where a column has several sources, nothing is inherited unless they agree. A header's own words come first. Tests are not
    inherited: they hold where they are stated, and of `not_null` and `unique` a join may make something else.
    """
    inherited: dict[str, Column] = {}
    for name in unstated(model, found):
        promised = {
            _promised(models[table], model, name, column, found[name]) if table in models and columns[table].get(column) == found[name] else None
            for table, column in passed.get(name.lower(), ())
        }
        if len(promised) == 1 and (source := promised.pop()) is not None:
            own = model.columns.get(name)
            inherited[name] = source if own is None else replace(
                own, type=source.type, description=own.description or source.description, unit=own.unit or source.unit,
                tolerance=own.tolerance or source.tolerance,
            )
    if not inherited:
        return model
    in_order = [*found, *(name for name in model.columns if name not in found)]
    promises = {**model.columns, **inherited}
    return replace(model, columns={name: promises[name] for name in in_order if name in promises})


def _promised(source: Model, model: Model, name: str, column: str, kind: str) -> Column | None:
    """What a column called `name` of a model inherits from a column of another. A standard model inherits the type alone from one that
    has no header for columns: so that a project's own may take the place of a described one."""
    if not source.columns and model.place.startswith(STANDARD_PREFIX):
        return Column(name, kind, "")
    return replace(source.columns[column], name=name, tests=(), in_feed=True) if column in source.columns else None


class _Walk:
    """One walk down a model's tree. Each query is looked into once."""

    def __init__(self, from_clauses: FromClauses) -> None:
        self._from = from_clauses
        self._known: dict[int, list[_Output] | None] = {}

    def outputs(self, node: Node, ctes: Mapping[str, Any]) -> list[_Output] | None:
        """The output columns of a query, in order; None where their places are not known."""
        if id(node) not in self._known:
            self._known[id(node)] = None  # of a query that reads itself
            self._known[id(node)] = self._outputs(node, with_ctes(node, ctes))
        return self._known[id(node)]

    def _outputs(self, node: Node, ctes: Mapping[str, Any]) -> list[_Output] | None:
        if node["type"] == "SELECT_NODE":
            return self._of_block(node, ctes)
        if node["type"] != "SET_OPERATION_NODE":
            return None
        found = [self.outputs(branch, ctes) for branch in branches(node)]
        if any(branch is None for branch in found):
            return None
        each = [branch for branch in found if branch is not None]
        if "BY_NAME" not in node["setop_type"]:
            return [(columns[0][0], _agreed([sources for _, sources in columns])) for columns in zip(*each, strict=False)]
        named = [_by_name(branch) for branch in each]
        # A branch without the column has NULL there.
        names = dict.fromkeys(name for branch in each for name, _ in branch)
        return [(name, _agreed([branch[name] for branch in named if name in branch])) for name in names]

    def _of_block(self, node: Node, ctes: Mapping[str, Any]) -> list[_Output] | None:
        relations, _ = self._from.relations(node.get("from_table"), ctes)
        block = Block(node, relations)
        found: list[_Output] = []
        for name, expression in block.outputs():
            if name is None:
                return None
            found.append((name, self._sources(block, expression) if len(node["group_sets"]) < 2 else frozenset()))
        return found

    def _sources(self, block: Block, expression: Node) -> Sources:
        column = block.resolve(expression)
        if column is None:
            return frozenset()
        relation = block.relations[column[0]]
        if relation.is_opaque or relation.reads_nothing or column[1] in relation.made:
            return frozenset()
        # A column that `using` merges is the first relation's, which may have it without being known to.
        if column[1] in relation.merged and any(other.is_opaque for other in block.relations[: column[0]]):
            return frozenset()
        if relation.query is None:
            return frozenset(((self._from.name(relation.node), relation.inner_name(column[1])),))
        inside = self.outputs(relation.query, relation.ctes)
        place = relation.place(column[1])
        return inside[place][1] if inside is not None and place < len(inside) else frozenset()


def _agreed(sources: list[Sources]) -> Sources:
    """What the branches of a union are copies of; nothing if one of them is no copy."""
    return frozenset().union(*sources) if all(sources) else frozenset()


def _by_name(outputs: list[_Output] | None) -> dict[str, Sources]:
    found: dict[str, Sources] = {}
    for name, sources in outputs or ():
        found[name] = frozenset() if name in found else sources
    return found
