"""What the expressions of a query's plan are made of: the columns that they count by, and by which of them they choose."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from warehouse.transform.lineage.derived import NONE, ColumnRef, Derived, Refs

# What else than columns an expression of a plan is made of, for who wants to know it.
Note = Callable[[Mapping[str, Any]], Refs]


def nothing_else(expression: Mapping[str, Any]) -> Refs:
    return NONE


# Keys of an expression under which lies what chooses rows or groups, not what goes into the value.
_CHOOSING = frozenset(
    {"filter", "filters", "order_bys", "orders", "arg_orders", "partitions", "start_expr", "end_expr"}
)
# Keys under which no column of the query lies. A lambda's body counts its own parameters; what it takes from the
# query is among the arguments of the function that takes the lambda.
_CLOSED = frozenset({"function_data", "return_type", "value", "arguments", "qname", "lambda_expr", "binding"})
_EXPRESSIONS = frozenset(
    "BOUND_" + name
    for name in (
        "AGGREGATE BETWEEN CASE CAST COLUMN_REF COMPARISON CONJUNCTION CONSTANT EXPANDED FUNCTION LAMBDA OPERATOR REF "
        "UNNEST WINDOW"
    ).split()
)


class NotUnderstood(Exception):
    """A part of the plan whose meaning is not known here; the text says which."""


class Expressions:
    """The expressions of one plan. `operators` are the columns of its operators by their index, as far as they are known; what
    `note` finds in an expression beside columns goes the way of columns computed with."""

    def __init__(self, note: Note) -> None:
        self._note = note
        self.operators: dict[int, tuple[Derived, ...]] = {}

    def derived(self, node: Any, columns: tuple[Derived, ...]) -> Derived:
        """What an expression over `columns` is made of."""
        if node.get("expression_class") in ("BOUND_REF", "BOUND_COLUMN_REF"):
            return self._referenced(node, columns)
        computed, conditions = set[ColumnRef](), set[ColumnRef]()
        stack: list[tuple[Any, bool]] = [(node, False)]
        while stack:
            part, is_choosing = stack.pop()
            if isinstance(part, list):
                stack.extend((item, is_choosing) for item in part)
            elif isinstance(part, dict):
                kind = part.get("expression_class")
                if kind in ("BOUND_REF", "BOUND_COLUMN_REF"):
                    found = self._referenced(part, columns)
                    (conditions if is_choosing else computed).update(found.copied, found.computed)
                    conditions.update(found.conditions)
                elif kind is not None and kind not in _EXPRESSIONS:
                    raise NotUnderstood(f"expression {kind.removeprefix('BOUND_').replace('_', ' ').lower()}")
                else:
                    if kind is not None:
                        (conditions if is_choosing else computed).update(self._note(part))
                    stack.extend((x, is_choosing or key in _CHOOSING) for key, x in part.items() if key not in _CLOSED)
        return Derived(NONE, frozenset(computed), frozenset(conditions))

    def _referenced(self, node: Mapping[str, Any], columns: tuple[Derived, ...]) -> Derived:
        if node["expression_class"] == "BOUND_REF":
            return at(columns, node["index"])
        # The binder leaves the arguments of a lateral table function unresolved: they name an operator by its index.
        binding = node["binding"]
        return at(self.operators.get(binding["table_index"], ()), binding["column_index"])


def at(columns: tuple[Derived, ...], position: int) -> Derived:
    """The column at a position. Raises `NotUnderstood` where there is none."""
    if position >= len(columns):
        raise NotUnderstood("a reference to a column that its input does not have")
    return columns[position]
