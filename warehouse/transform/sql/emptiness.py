"""When a query can have no row because tables that it reads have none: then a build need not run it.

Worked out from the SQL alone, by rules for what filters, joins, groups and set operations do with no rows. A clause that is not known
here counts as one that may have rows: to run a query in vain costs a moment, to leave one out would lose rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from warehouse.transform.sql.aggregates import AGGREGATE_MACROS, AGGREGATES
from warehouse.transform.sql.tree import is_cte, table_name
from warehouse.transform.sql.tree_nodes import Node, inner, nodes

# JSON: steps, of which the last is the answer: true, false, the name of a table (true where that has no rows), or `["all", ...]` or
# `["any", ...]` with the places of earlier steps. So a CTE that is read many times is one step.
EmptyWhen = Sequence[Any]
_Scope = Callable[[Node], int]  # the step of a table's node, CTEs as they are there
_ADD_A_ROW = AGGREGATES | AGGREGATE_MACROS


def empty_when(tree: Node) -> EmptyWhen:
    """When a statement has no row for certain, by the names of the tables that it reads."""
    steps = _Steps()
    last = steps.of_query(tree["node"], lambda table: steps.add(table_name(table)))
    return steps.written[: last + 1]


def holds(steps: EmptyWhen, has_no_rows: Callable[[str], bool]) -> bool:
    """Whether a statement has no row for certain, its tables being as `has_no_rows` says of each name."""
    answers: list[bool] = []
    for step in steps:
        if isinstance(step, str):
            answers.append(has_no_rows(step))
        elif isinstance(step, bool):
            answers.append(step)
        else:
            together = all if step[0] == "all" else any
            answers.append(together(answers[place] for place in step[1:]))
    return answers[-1]


class _Steps:
    """The steps that are written so far, each once. A method returns the place of a step."""

    def __init__(self) -> None:
        self.written: list[Any] = []

    def add(self, step: Any) -> int:
        if step not in self.written:
            self.written.append(step)
        return self.written.index(step)

    def _joined(self, word: str, places: Iterable[int]) -> int:
        found = sorted(set(places))
        return found[0] if len(found) == 1 else self.add([word, *found])

    def of_query(self, node: Node, outer: _Scope) -> int:
        scope = self._with_ctes(node, outer)
        match node["type"]:
            case "SELECT_NODE":
                if not _is_empty_of_empty(node):
                    return self.add(False)
                return self.add(True) if _is_false(node["where_clause"]) else self._of_source(node["from_table"], scope)
            case "SET_OPERATION_NODE":
                children = [self.of_query(child, scope) for child in node["children"]]
                match node["setop_type"]:
                    case "EXCEPT":
                        return children[0]
                    case "INTERSECT":
                        return self._joined("any", children)
                return self._joined("all", children)
        return self.add(False)

    def _with_ctes(self, node: Node, outer: _Scope) -> _Scope:
        """The same answer with a query's CTEs in scope: each sees those before it."""
        scope = outer
        for entry in node.get("cte_map", {}).get("map", []):
            scope = _also(scope, str(entry["key"]).lower(), self.of_query(entry["value"]["query_node"], scope))
        return scope

    def _of_source(self, node: Node, scope: _Scope) -> int:
        match node["type"]:
            case "BASE_TABLE":
                return scope(node)
            case "SUBQUERY":
                return self.of_query(node["subquery"]["node"], scope)
            case "JOIN":
                sides = [self._of_source(node["left"], scope), self._of_source(node["right"], scope)]
                if node["ref_type"] == "POSITIONAL":
                    return self._joined("all", sides)
                match node["join_type"]:
                    case "INNER" | "SEMI":
                        return self._joined("any", sides)
                    case "LEFT" | "ANTI":
                        return sides[0]
                    case "RIGHT":
                        return sides[1]
                return self._joined("all", sides)
        return self.add(False)


def _also(scope: _Scope, name: str, answer: int) -> _Scope:
    return lambda table: answer if is_cte(table, {name}) else scope(table)


def _is_false(condition: Node | None) -> bool:
    """Whether no row fulfils a condition: `false`, as it is written where a table is to have columns and no rows."""
    if not condition or condition.get("class") != "CONSTANT":
        return False
    return bool(condition["literal"] == {"kind": "BOOLEAN", "text": "false"})


def _is_empty_of_empty(select: Node) -> bool:
    """Whether a block over no rows has none. An aggregate over all rows has one all the same, as has an empty grouping set."""
    sets = select["group_sets"]
    if sets:
        return all(sets)
    if select.get("having"):  # makes one group of all rows
        return False
    # GROUP BY ALL too: a plain name beside an aggregate may be that of the aggregate, or of a constant, by which nothing is grouped.
    # An aggregate in a subquery may be of its own rows.
    return not any(_adds_a_row(node) for node in nodes(*inner(select, "from_table", "cte_map")))


def _adds_a_row(node: Node) -> bool:
    return node.get("class") == "FUNCTION" and str(node["function_name"]).lower() in _ADD_A_ROW
