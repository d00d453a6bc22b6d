"""Whether a query can have no row because tables that it reads have none: then a build need not run it.

Found in the SQL alone, by rules for what filters, joins, groups and set operations do with no rows. A clause that is not known here
counts as not empty: a query that is run for nothing costs a moment, a query that is wrongly not run would lose rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from warehouse.transform.build.state import TableState
from warehouse.transform.check.checked_project import CheckedProject
from warehouse.transform.inputs.landing_tables import LandingTables
from warehouse.transform.project.model import model_names
from warehouse.transform.sql.aggregates import AGGREGATE_MACROS, AGGREGATES
from warehouse.transform.sql.tree import is_cte, table_name
from warehouse.transform.sql.tree_nodes import Node, inner, nodes

Scope = Callable[[Node], bool]  # whether a table's node has no rows, CTEs as they are there
_ADD_A_ROW = AGGREGATES | AGGREGATE_MACROS


class Emptiness:
    """What is known to have no rows in one build, whose tables' states `states` are as far as they are made."""

    def __init__(self, checked: CheckedProject, landing: LandingTables, states: Mapping[str, TableState]) -> None:
        self._checked = checked
        self._landing = landing
        self._states = states
        self._names = model_names(checked.models)
        self._views: dict[str, bool] = {}

    def of_model(self, name: str) -> bool:
        """Whether a model's SQL has no row for certain, all that it reads being made."""
        return is_empty(self._checked.graph.trees[name], self._of_reference)

    def _of_reference(self, reference: str) -> bool:
        name = self._names.get(reference)
        if name is None:
            table = self._landing.tables.get(reference)
            return table is not None and not any(file.rows for file in table.files)
        if self._checked.models[name].materialized == "view":
            if name not in self._views:
                self._views[name] = self.of_model(name)
            return self._views[name]
        content = self._states[name].content
        return content is not None and not content.rows


def is_empty(tree: Node, has_no_rows: Callable[[str], bool]) -> bool:
    """Whether a statement has no row for certain, its tables being as `has_no_rows` says of each name that it writes."""
    return _query(tree["node"], lambda table: has_no_rows(table_name(table)))


def _query(node: Node, outer: Scope) -> bool:
    scope = _with_ctes(node, outer)
    match node["type"]:
        case "SELECT_NODE":
            return (_source(node["from_table"], scope) or _is_false(node["where_clause"])) and _is_empty_of_empty(node)
        case "SET_OPERATION_NODE":
            children = [_query(child, scope) for child in node["children"]]
            match node["setop_type"]:
                case "EXCEPT":
                    return children[0]
                case "INTERSECT":
                    return any(children)
            return all(children)
    return False


def _with_ctes(node: Node, outer: Scope) -> Scope:
    """The same answer with a query's CTEs in scope: each sees those before it."""
    scope = outer
    for entry in node.get("cte_map", {}).get("map", []):
        scope = _also(scope, str(entry["key"]).lower(), _query(entry["value"]["query_node"], scope))
    return scope


def _also(scope: Scope, name: str, answer: bool) -> Scope:
    return lambda table: answer if is_cte(table, {name}) else scope(table)


def _source(node: Node, scope: Scope) -> bool:
    match node["type"]:
        case "BASE_TABLE":
            return scope(node)
        case "SUBQUERY":
            return _query(node["subquery"]["node"], scope)
        case "JOIN":
            left, right = _source(node["left"], scope), _source(node["right"], scope)
            if node["ref_type"] == "POSITIONAL":
                return left and right
            match node["join_type"]:
                case "INNER" | "SEMI":
                    return left or right
                case "LEFT" | "ANTI":
                    return left
                case "RIGHT":
                    return right
            return left and right
    return False


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
