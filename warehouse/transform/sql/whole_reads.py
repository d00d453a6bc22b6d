"""What a part of a query reads at any depth, where it does not matter how."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from warehouse.transform.sql.from_clause import with_ctes
from warehouse.transform.sql.tree import FILE_FUNCTIONS
from warehouse.transform.sql.tree_nodes import Node, inner


def queries_of(block: Node) -> Iterator[Node]:
    """What the expressions of a block query; its relations are looked at by themselves."""
    pending = inner(block, "cte_map")
    while pending:
        node = pending.pop()
        if type(node) is not list and node.get("class") == "SUBQUERY":
            yield node["subquery"]["node"]
            pending += inner([node.get("child")])  # of `child in (select ...)`
        elif type(node) is list or node.get("type") != "SUBQUERY":
            pending += inner(node)


def inputs_of(query: Node, ctes: Mapping[str, Any]) -> Iterator[Node]:
    """The nodes of the tables and files that a query reads, through CTEs too, those in scope being as `with_ctes` gives them."""
    pending: list[tuple[Any, Mapping[str, Any]]] = [(query, ctes)]
    seen: set[int] = set()
    while pending:
        node, scope = pending.pop()
        if type(node) is not list:
            scope = with_ctes(node, scope)
            is_table = node.get("type") == "BASE_TABLE"
            if is_table and not node["schema_name"] and node["table_name"].lower() in scope:
                read, outer, _ = scope[node["table_name"].lower()]
                if id(read) not in seen:
                    seen.add(id(read))
                    pending.append((read, outer))
            elif is_table or _reads_files(node):
                yield node
        pending += [(under, scope) for under in inner(node, "cte_map")]


def _reads_files(node: Node) -> bool:
    return node.get("type") == "TABLE_FUNCTION" and node["function"]["function_name"].lower() in FILE_FUNCTIONS
