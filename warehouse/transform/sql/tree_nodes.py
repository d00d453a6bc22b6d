"""Walking the tree of a statement, as the engine's parser writes it in JSON (`transform.sql.tree`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

Node = Mapping[str, Any]

_KINDS = frozenset((dict, list))  # of all that is in a tree, what can hold a node: seven values of eight are words and numbers


def inner(node: Node | list[Any], *left_out: str) -> list[Any]:
    """The nodes and lists of nodes right under one, in order, without those under the keys `left_out`."""
    if isinstance(node, list):
        return [value for value in node if type(value) in _KINDS]
    return [value for key, value in node.items() if type(value) in _KINDS and key not in left_out]


def nodes(*trees: Node | list[Any]) -> Iterator[Node]:
    """Every node of these trees, in no order."""
    pending: list[Any] = list(trees)
    while pending:  # as `inner` does, without a call a node
        node = pending.pop()
        if type(node) is list:
            pending += [value for value in node if type(value) in _KINDS]
        else:
            yield node
            pending += [value for value in node.values() if type(value) in _KINDS]


def has_order(select: Node) -> bool:
    """Whether the rows of a statement come in an order that it states."""
    return any(modifier["type"] == "ORDER_MODIFIER" for modifier in select["node"]["modifiers"])
