"""One SELECT block as a value: its relations, what a name in it means, which columns a star brings.

Knows names only, no keys; reads DuckDB's own tree. Names are lower case: the engine ignores their case.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from warehouse.transform.sql_tree import Node

_PLACES = ("query_location", "query_location_length", "alias")


@dataclass(frozen=True)
class Relation:
    """One relation of a FROM clause. `query` is set for a subquery or CTE, `node` is its place in the tree."""

    alias: str
    columns: tuple[str, ...]
    node: Node
    query: Node | None = None
    ctes: Mapping[str, Any] = field(default_factory=dict)
    is_nullable: bool = False  # on the side of a left join that may be missing
    is_opaque: bool = False  # which columns it has, or what they are inside, cannot be told


# A column of a relation: (place in the block's list of relations, column).
Column = tuple[int, str]


class Block:
    """One SELECT with its relations: what a name in it means."""

    def __init__(self, node: Node | None, relations: list[Relation]) -> None:
        self.node: Node = node or {}
        self.relations = relations

    def split(self, names: Sequence[str]) -> tuple[int, str, list[str]] | None:
        """Which relation's column a dotted name means, and the struct fields after it."""
        parts = [name.lower() for name in names]
        for skip in range(len(parts) - 1):  # schema and catalog may stand before the table
            for number, relation in enumerate(self.relations):
                if parts[skip] == relation.alias and skip + 1 < len(parts) and parts[skip + 1] in relation.columns:
                    return number, parts[skip + 1], list(names[skip + 2 :])
        for number, relation in enumerate(self.relations):
            if parts[0] in relation.columns:
                return number, parts[0], list(names[1:])
        return None

    def resolve(self, expression: Node | None) -> Column | None:
        """The column that an expression plainly is."""
        expression = self.meant(expression) if expression else None
        if not expression or expression.get("class") != "COLUMN_REF":
            return None
        found = self.split(expression["column_names"])
        return (found[0], found[1]) if found and not found[2] else None

    def owners(self, expression: Node) -> set[int]:
        """The relations whose columns an expression uses; -1 for a name of no relation's."""
        found = (self.split(node["column_names"]) for node in inside(expression) if node.get("class") == "COLUMN_REF")
        return {item[0] if item else -1 for item in found}

    def meant(self, expression: Node) -> Node:
        """An expression, or the one of the SELECT list whose alias it names where no column has that name."""
        if expression.get("class") == "COLUMN_REF" and len(expression["column_names"]) == 1:
            if not self.split(expression["column_names"]):
                name = expression["column_names"][0].lower()
                for item in self.node.get("select_list", ()):
                    if (item.get("alias") or "").lower() == name:
                        return item
        return expression

    def group(self, expression: Node) -> Node:
        """A grouping expression; a number means an item of the SELECT list."""
        literal = expression.get("literal") or {}
        if expression.get("class") == "CONSTANT" and str(literal.get("text", "")).isdigit():
            index = int(literal["text"]) - 1
            if 0 <= index < len(self.node["select_list"]):
                return self.node["select_list"][index]
        return expression

    def output(self, column: str) -> Node | None:
        """The expression of an output column: an item of the SELECT list, or a column that a star brings."""
        for item in self.node["select_list"]:
            if item.get("class") != "STAR":
                own = item["column_names"][-1] if item.get("class") == "COLUMN_REF" else ""
                if (item.get("alias") or own).lower() == column:
                    return item
        for item in self.node["select_list"]:
            if item.get("class") == "STAR" and column in (self._star(item) or ()):
                qualifier = (item.get("relation_name") or "").lower()
                for relation in self.relations:
                    if column in relation.columns and qualifier in ("", relation.alias):
                        return column_node(relation.alias, column)
        return None

    def names(self) -> list[str] | None:
        """The names of the output columns; None where a pattern chooses them."""
        found: list[str] = []
        for item in self.node["select_list"]:
            if item.get("class") == "STAR":
                columns = self._star(item)
                if columns is None:
                    return None
                found += columns
            else:
                own = item["column_names"][-1] if item.get("class") == "COLUMN_REF" else ""
                found.append((item.get("alias") or own).lower())
        return found

    def _star(self, item: Node) -> list[str] | None:
        """The columns that a star brings unchanged; None for a pattern."""
        if item.get("columns") or item.get("expr") or item.get("rename_list"):
            return None
        qualifier = (item.get("relation_name") or "").lower()
        left_out = {str(name).lower() for name in _excluded(item)}
        replaced = {str(entry["key"]).lower() for entry in item.get("replace_list") or ()}
        found: dict[str, None] = {}  # a column that `using` shares comes once
        for relation in self.relations:
            if qualifier in ("", relation.alias):
                found.update(dict.fromkeys(name for name in relation.columns if name not in left_out | replaced))
        return list(found)


def _excluded(item: Node) -> Iterator[str]:
    for entry in [*(item.get("exclude_list") or ()), *(item.get("qualified_exclude_list") or ())]:
        yield entry if isinstance(entry, str) else entry.get("column") or entry.get("name") or ""


def inside(node: Any, *, skip_windows: bool = False) -> Iterator[dict[str, Any]]:
    """Every node of an expression or query; subqueries' insides too, unless they are expressions' own."""
    stack = [node]
    while stack:
        found = stack.pop()
        if isinstance(found, list):
            stack.extend(reversed(found))
        elif isinstance(found, dict):
            if found.get("type") or found.get("class") or found.get("cte_map"):
                yield found
            if not (skip_windows and found.get("class") == "WINDOW"):
                stack.extend(reversed(list(found.values())))


def equalities(condition: Node | None) -> list[tuple[Node, Node]]:
    """The pairs of columns that a condition's conjuncts equate."""
    pending, found = [condition] if condition else [], []
    while pending:
        node = pending.pop()
        if node.get("type") == "CONJUNCTION_AND":
            pending.extend(node["children"])
        elif node.get("type") == "COMPARE_EQUAL":
            if node["left"].get("class") == node["right"].get("class") == "COLUMN_REF":
                found.append((node["left"], node["right"]))
    return found


def column_node(alias: str, name: str) -> Node:
    return {"class": "COLUMN_REF", "type": "COLUMN_REF", "alias": "", "column_names": [alias, name]}


def shape(node: Any) -> str:
    """An expression without its places and alias: equal for what is written alike."""
    def bare(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: bare(item) for key, item in value.items() if key not in _PLACES}
        return [bare(item) for item in value] if isinstance(value, list) else value

    return json.dumps(bare(node), sort_keys=True)
