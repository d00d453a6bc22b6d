"""One SELECT block as a value: its relations, what a name in it means, which columns a star brings.

Knows names only, no keys; reads DuckDB's own tree. Names are lower case: the engine ignores their case.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from warehouse.transform.sql.tree_nodes import Node, inner

_PLACES = ("query_location", "query_location_length", "alias")


@dataclass(frozen=True)
class Relation:
    """One relation of a FROM clause. `query` is set for a subquery or CTE, `node` is its place in the tree; `inner` are
    the names its columns have inside, and `places` their places there, where a list of aliases or UNPIVOT gives them others."""

    alias: str
    columns: tuple[str, ...]
    node: Node
    query: Node | None = None
    ctes: Mapping[str, Any] = field(default_factory=dict)
    inner: tuple[str, ...] = ()
    places: tuple[int, ...] = ()
    made: frozenset[str] = frozenset()  # by UNPIVOT, of the names and values of columns
    merged: frozenset[str] = frozenset()  # shared with an earlier relation by `using`: a star brings them once
    is_nullable: bool = False  # on the side of a left join that may be missing
    is_hidden: bool = False  # on the right of a semi or anti join: only the join's condition sees it
    is_opaque: bool = False  # which columns it has, or what they are inside, is not known
    reads_nothing: bool = False  # a function of its arguments, or values

    def inner_name(self, column: str) -> str:
        return (self.inner or self.columns)[self.columns.index(column)]

    def place(self, column: str) -> int:
        found = self.columns.index(column)
        return self.places[found] if self.places else found


# A column of a relation: (place in the block's list of relations, column).
Column = tuple[int, str]
# An output column: its name and expression. `_UNKNOWN` means any number of columns.
Output = tuple[str | None, Node]
_UNKNOWN: Output = (None, {})


class Block:
    """One SELECT with its relations: what a name in it means."""

    def __init__(self, node: Node | None, relations: Sequence[Relation]) -> None:
        self.node: Node = node or {}
        self.relations = relations
        self._visible = [(number, relation) for number, relation in enumerate(relations) if not relation.is_hidden]

    def split(self, names: Sequence[str]) -> tuple[int, str, list[str]] | None:
        """Which relation's column a dotted name means, and the struct fields after it."""
        parts = [name.lower() for name in names]
        for skip in range(len(parts) - 1):  # schema and catalog may precede the table
            for number, relation in self._visible:
                if parts[skip] == relation.alias and (relation.is_opaque or parts[skip + 1] in relation.columns):
                    return None if relation.is_opaque else (number, parts[skip + 1], list(names[skip + 2 :]))
        for number, relation in self._visible:
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
                items: Sequence[Node] = self.node.get("select_list", ())
                for item in items:
                    if (item.get("alias") or "").lower() == name:
                        return item
        return expression

    def group(self, expression: Node) -> Node:
        """A grouping expression; a number means an item of the SELECT list."""
        literal = expression.get("literal") or {}
        if expression.get("class") == "CONSTANT" and str(literal.get("text", "")).isdigit():
            before: Sequence[Node] = self.node["select_list"][: int(literal["text"])]
            if before and len(before) == int(literal["text"]) and not any(map(_is_several, before)):
                return before[-1]
        return expression

    def distinct_target(self, expression: Node) -> Node | None:
        """What an expression of DISTINCT ON means: there, unlike elsewhere, an alias comes before a column. None where
        that is not known."""
        aliased: dict[str, Node] = {item["alias"].lower(): item for item in self.node["select_list"] if item.get("alias")}
        if expression.get("class") == "COLUMN_REF" and len(expression["column_names"]) == 1:
            return aliased.get(expression["column_names"][0].lower(), expression)
        names = (found["column_names"][0] for found in inside(expression) if found.get("class") == "COLUMN_REF")
        return None if any(name.lower() in aliased for name in names) else expression

    def outputs(self) -> Iterator[Output]:
        """The output columns in order, `_UNKNOWN` where a pattern or a struct chooses how many there are."""
        for item in self.node["select_list"]:
            if item.get("class") == "STAR":
                yield from self._star(item)
            elif _is_several(item):
                yield _UNKNOWN
            else:
                own = item["column_names"][-1] if item.get("class") == "COLUMN_REF" else ""
                yield (item.get("alias") or own).lower(), item

    def output(self, place: int) -> Node | None:
        """The expression of an output column; None where it is not known."""
        for number, (name, expression) in enumerate(self.outputs()):
            if name is None:
                return None
            if number == place:
                return expression
        return None

    def names(self) -> list[str | None]:
        """The names of the output columns, up to the first that is not known, which is None."""
        found: list[str | None] = []
        for name, _ in self.outputs():
            found.append(name)
            if name is None:
                break
        return found

    def _star(self, item: Node) -> Iterator[Output]:
        qualifier = (item.get("relation_name") or "").lower()
        relations = [relation for _, relation in self._visible if qualifier in ("", relation.alias)]
        patterns = ("columns", "expr", "rename_list", "qualified_exclude_list")
        if any(item.get(pattern) for pattern in patterns) or not relations:
            yield _UNKNOWN
            return
        left_out = {str(name).lower() for name in item.get("exclude_list") or ()}
        replaced = {str(entry["key"]).lower(): entry["value"] for entry in item.get("replace_list") or ()}
        for relation in relations:
            if relation.is_opaque:
                yield _UNKNOWN
                return
            for name in relation.columns:
                if name not in left_out and (qualifier or name not in relation.merged):
                    yield name, replaced.get(name) or column_node(relation.alias, name)


def _is_several(item: Node) -> bool:
    """Whether an item of a SELECT list may yield several columns: a star does, and a struct that is unnested."""
    return item.get("class") == "STAR" or (item.get("function_name") or "").lower() == "unnest"


def inside(node: Any, *, closed: Collection[str] = ()) -> Iterator[dict[str, Any]]:
    """Every node of an expression or query, but for what lies inside nodes of the classes `closed`."""
    stack = inner([node])
    while stack:
        found = stack.pop()
        if type(found) is not list:
            if found.get("type") or found.get("class") or found.get("cte_map"):
                yield found
            if found.get("class") in closed:
                continue
        stack.extend(reversed(inner(found)))


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
