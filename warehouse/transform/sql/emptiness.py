"""When a query can have no row because tables that it reads have none: then a build need not run it.

Worked out from the SQL alone, by rules for what filters, joins, groups and set operations do with no rows. A clause that is not known
here counts as one that may have rows: to run a query in vain costs a moment, to leave one out would lose rows.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any

from warehouse.transform.sql.aggregates import AGGREGATE_MACROS, AGGREGATES
from warehouse.transform.sql.tree import is_cte, table_name
from warehouse.transform.sql.tree_nodes import Node, inner, nodes

# JSON: steps, of which the last is the answer: true, false, the name of a table (true where that has no rows), `["column", table, name]`
# (true where it has no rows, and has a column of that name), or `["all", ...]` or `["any", ...]` with the places of earlier steps. So a CTE
# that is read many times is one step.
EmptyWhen = Sequence[Any]
_Scope = Callable[[Node], int]  # the step of a table's node, CTEs as they are there
_ADD_A_ROW = AGGREGATES | AGGREGATE_MACROS


def empty_when(tree: Node) -> EmptyWhen:
    """When a statement has no row for certain, by the names of the tables that it reads."""
    steps = _Steps({str(entry["key"]).lower() for node in nodes(tree) for entry in (node.get("cte_map") or {}).get("map", ())})
    last = steps.of_query(tree["node"], lambda table: steps.add(table_name(table)))
    return steps.written[: last + 1]


def holds(steps: EmptyWhen, has_no_rows: Callable[[str], bool], has_column: Callable[[str, str], bool]) -> bool:
    """Whether a statement has no row for certain, its tables being as `has_no_rows` says of each name, and `has_column` of one and a name in
    lower case."""
    answers: list[bool] = []
    for step in steps:
        if isinstance(step, str):
            answers.append(has_no_rows(step))
        elif isinstance(step, bool):
            answers.append(step)
        elif step[0] == "column":
            answers.append(has_no_rows(step[1]) and has_column(step[1], step[2]))
        else:
            together = all if step[0] == "all" else any
            answers.append(together(answers[place] for place in step[1:]))
    return answers[-1]


class _Steps:
    """The steps that are written so far, each once. A method returns the place of a step."""

    def __init__(self, ctes: Collection[str]) -> None:
        self.written: list[Any] = []
        self._ctes = ctes  # the names of all, wherever they are

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
                if _is_false(node["where_clause"]):
                    return self.add(True)
                return self._joined("any", [self._of_source(node["from_table"], scope), *self._of_demanded(node)])
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

    def _of_demanded(self, select: Node) -> list[int]:
        """The steps of tables that a block joins and of which it wants a row: it asks that a column of theirs is not null. `s.x` is another
        table's field `x` where `s` has no such column."""
        named = {(node["alias"] or node["table_name"]).lower(): node for node in _tables_of(select["from_table"])}
        found = [(named[alias], column) for alias, column in _not_null(select["where_clause"]) if alias in named]
        return [
            self.add(["column", table_name(table), column]) for table, column in found
            if not is_cte(table, self._ctes) and not table.get("column_name_alias")
        ]

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


def _tables_of(source: Node) -> Iterator[Node]:
    pending = [source]
    while pending:
        node = pending.pop()
        if node["type"] == "JOIN":
            pending += [node["left"], node["right"]]
        elif node["type"] == "BASE_TABLE":
            yield node


def _not_null(condition: Node | None) -> Iterator[tuple[str, str]]:
    """The columns, each with its table, in lower case, that are not null wherever a condition is true."""
    pending = [condition] if condition else []
    while pending:
        node = pending.pop()
        if node["type"] == "CONJUNCTION_AND":
            pending += node["children"]
        elif node["type"] == "OPERATOR_IS_NOT_NULL":
            [child] = node["children"]
            if child["class"] == "COLUMN_REF" and len(child["column_names"]) == 2:
                table, column = child["column_names"]
                yield table.lower(), column.lower()


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
