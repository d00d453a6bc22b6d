"""What each column of one query is computed from, read off the plan that DuckDB's own binder makes of it.

The binder has resolved every name, star, join, alias and union before; this walks operators and counts references, and
guesses nothing: an operator or expression it does not know raises `NotUnderstood`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from warehouse.transform.lineage.column_expressions import Expressions, Note, NotUnderstood, at, nothing_else
from warehouse.transform.lineage.derived import (
    NONE,
    ROWS,
    ColumnRef,
    Derived,
    Refs,
    Relation,
    computed_from,
    merged,
    stacked,
    united,
)
from warehouse.transform.sql.duck import text_literal
from warehouse.transform.sql.file_calls import GENERATORS

if TYPE_CHECKING:
    import duckdb


def query_relation(con: "duckdb.DuckDBPyConnection", sql: str, note: Note = nothing_else) -> Relation:
    """The columns of one query, in a session that has the tables it reads. Temporary tables go by their bare names,
    others by schema and name; what `note` adds goes the way of columns computed with. Raises `NotUnderstood`."""
    # Not optimized: the optimizer drops what it proves to be without effect on today's statistics. Defaults are written
    # out: were an index called something else one day, it must be missed and not be taken for 0.
    call = f"json_serialize_plan({text_literal(sql)}, optimize := false, skip_null := true)"
    try:
        document = json.loads(con.execute(f"select {call}").fetchall()[0][0])
        if document["error"]:
            raise NotUnderstood(str(document["error_message"]).splitlines()[0])
        return _Plan(Expressions(note)).relation(document["plans"][0])
    except RecursionError:
        raise NotUnderstood("its expressions are nested too deeply") from None
    except (KeyError, ValueError) as error:  # another engine, which writes its plans in another way
        raise NotUnderstood(f"a plan of an unknown form ({error})") from error


@dataclass
class _Plan:
    """One walk over one plan. Common table expressions are remembered by their index."""

    expressions: Expressions
    ctes: dict[int, Relation] = field(default_factory=dict)

    def relation(self, node: Mapping[str, Any]) -> Relation:
        kind = node["type"].removeprefix("LOGICAL_")
        if kind not in _OPERATORS:
            raise NotUnderstood(f"operator {kind.replace('_', ' ').lower()}")
        relation = _OPERATORS[kind](self, node)
        if "table_index" in node:
            self.expressions.operators[node["table_index"]] = relation.columns
        return relation

    def child(self, node: Mapping[str, Any]) -> Relation:
        return self.relation(node["children"][0])

    def children(self, node: Mapping[str, Any]) -> list[Relation]:
        return [self.relation(child) for child in node["children"]]

    def used(self, node: Any, columns: tuple[Derived, ...]) -> Refs:
        """Every column that expressions use in any way."""
        return self.expressions.derived({"children": node}, columns).everything

    # --- operators that read ---------------------------------------------------------------------------------------

    def get(self, node: Mapping[str, Any]) -> Relation:
        function = node["qname"]["path"][-1]
        if function != "seq_scan":
            return self._function(node, function)
        catalog, *path = node["function_data"]["qualified_name"]["path"]
        name = path[-1] if catalog == "temp" else ".".join(path)
        if any(node["table_filters"].values()):
            raise NotUnderstood("a filter inside a scan")
        rows = frozenset((ColumnRef(name, ROWS),))
        # Beyond the names is the row id, which follows from the rows; count(*) reads it.
        known = [Derived(frozenset((ColumnRef(name, column),))) for column in node["names"]]
        positions = (each["index"] for each in node["column_indexes"])
        columns = [known[place] if place < len(known) else Derived(conditions=rows) for place in positions]
        return Relation(_picked(columns, node["projection_ids"]), rows)

    def _function(self, node: Mapping[str, Any], function: str) -> Relation:
        if function not in GENERATORS:
            raise NotUnderstood(f"table function {function}")
        outer = self.child(node) if node["children"] else Relation((), NONE)
        passed = node["projected_input"]
        given = [column for place, column in enumerate(outer.columns) if place not in passed]
        made = computed_from(given)
        columns = [made] * len(node["column_indexes"]) + [outer.columns[place] for place in passed]
        return Relation(_picked(columns, node["projection_ids"]), outer.rows | made.everything)

    def expression_get(self, node: Mapping[str, Any]) -> Relation:
        child = self.child(node)
        rows = [[self.expressions.derived(value, child.columns) for value in row] for row in node["expressions"]]
        return Relation(tuple(map(merged, zip(*rows, strict=True))), child.rows)

    def constants(self, node: Mapping[str, Any]) -> Relation:
        """Rows without a source; a dummy scan has one column that nothing uses."""
        types = node.get("return_types") or node.get("chunk_types") or [None]
        return Relation((Derived(),) * len(types), NONE)

    # --- operators on one input ------------------------------------------------------------------------------------

    def projection(self, node: Mapping[str, Any]) -> Relation:
        child = self.child(node)
        return Relation(tuple(self.expressions.derived(each, child.columns) for each in node["expressions"]), child.rows)

    def chosen(self, node: Mapping[str, Any]) -> Relation:
        """Filter, distinct, order, limit, sample: the columns stay, and whatever the clause names decides the rows."""
        child = self.child(node)
        clause = {key: part for key, part in node.items() if key != "children"}
        kept = node.get("projection_map") or node.get("projections")
        return Relation(_picked(child.columns, kept), child.rows | self.used(clause, child.columns))

    def aggregate(self, node: Mapping[str, Any]) -> Relation:
        child = self.child(node)
        groups = tuple(self.expressions.derived(each, child.columns) for each in node["groups"])
        deciding = child.rows | united(group.everything for group in groups)
        made = [self.expressions.derived(each, child.columns) for each in node["expressions"]]
        functions = (Derived(conditions=deciding),) * len(node["grouping_functions"])
        columns = groups + tuple(each.under(deciding) for each in made) + functions
        return Relation(columns, deciding if groups else NONE)  # without groups there is one row, always

    def window(self, node: Mapping[str, Any]) -> Relation:
        child = self.child(node)
        made = (self.expressions.derived(each, child.columns).under(child.rows) for each in node["expressions"])
        return Relation(child.columns + tuple(made), child.rows)

    def unnest(self, node: Mapping[str, Any]) -> Relation:
        child = self.child(node)
        made = tuple(self.expressions.derived(each, child.columns) for each in node["expressions"])
        return Relation(child.columns + made, child.rows | united(each.everything for each in made))

    def pivot(self, node: Mapping[str, Any]) -> Relation:
        """Groups, then lists of values beside the list of their names: any cell may come from any of these."""
        child, pivot = self.child(node), node["bound_pivot"]
        count = pivot["group_count"]
        cell = computed_from(child.columns[count:])
        return Relation(child.columns[:count] + (cell,) * len(pivot["pivot_values"]), child.rows)

    # --- operators on several inputs -------------------------------------------------------------------------------

    def join(self, node: Mapping[str, Any]) -> Relation:
        left, right = self.children(node)
        both = left.columns + right.columns
        deciding = self.used(node.get("condition", {}), both)
        for each in node.get("conditions", ()):
            # A condition that does not compare the two sides is on the left and sees both.
            sides = (left.columns, right.columns) if "right" in each else (both, ())
            deciding |= self.used(each["left"], sides[0]) | self.used(each.get("right", {}), sides[1])
        kept_left = _picked(left.columns, node["left_projection_map"])
        kept_right = _picked(right.columns, node["right_projection_map"])
        rows = left.rows | right.rows | deciding
        match node["join_type"]:
            case "INNER" | "LEFT" | "RIGHT" | "FULL":
                return Relation(kept_left + kept_right, rows)
            case "SEMI" | "ANTI":
                return Relation(kept_left, rows)
            case "SINGLE":  # a scalar subquery: as many rows as on the left
                found = tuple(column.under(deciding | right.rows) for column in kept_right)
                return Relation(kept_left + found, left.rows)
            case "MARK":  # whether the right side has a match, as a column
                return Relation((*kept_left, Derived(computed=deciding, conditions=right.rows)), left.rows)
        raise NotUnderstood(f"{node['join_type'].replace('_', ' ').lower()} join")

    def product(self, node: Mapping[str, Any]) -> Relation:
        left, right = self.children(node)
        return Relation(left.columns + right.columns, left.rows | right.rows)

    def union(self, node: Mapping[str, Any]) -> Relation:
        return stacked(self.children(node))

    def comparison_of_sets(self, node: Mapping[str, Any]) -> Relation:
        """Intersect and except: rows of the first, chosen by all columns of all."""
        inputs = self.children(node)
        deciding = united(column.everything for each in inputs for column in each.columns)
        return Relation(inputs[0].columns, deciding | united(each.rows for each in inputs))

    def cte(self, node: Mapping[str, Any]) -> Relation:
        definition, query = node["children"]
        self.ctes[node["table_index"]] = self.relation(definition)
        return self.relation(query)

    def recursive_cte(self, node: Mapping[str, Any]) -> Relation:
        if node["key_targets"]:
            raise NotUnderstood("recursion using key")
        anchor, step = node["children"]
        index = node["table_index"]
        found, grown = None, self.relation(anchor)
        while found != grown:  # sets of columns only grow, and there are not many
            found = self.ctes[index] = grown
            grown = stacked([found, self.relation(step)])
        if node["union_all"]:
            return grown
        return Relation(grown.columns, grown.rows | united(column.everything for column in grown.columns))

    def cte_reference(self, node: Mapping[str, Any]) -> Relation:
        return self.ctes[node["cte_index"]]


_OPERATORS: dict[str, Callable[[_Plan, Mapping[str, Any]], Relation]] = {
    "AGGREGATE_AND_GROUP_BY": _Plan.aggregate,
    "ANY_JOIN": _Plan.join,
    "ASOF_JOIN": _Plan.join,
    "CHUNK_GET": _Plan.constants,
    "COMPARISON_JOIN": _Plan.join,
    "CROSS_PRODUCT": _Plan.product,
    "CTE_REF": _Plan.cte_reference,
    "DISTINCT": _Plan.chosen,
    "DUMMY_SCAN": _Plan.constants,
    "EMPTY_RESULT": _Plan.constants,
    "EXCEPT": _Plan.comparison_of_sets,
    "EXPRESSION_GET": _Plan.expression_get,
    "FILTER": _Plan.chosen,
    "GET": _Plan.get,
    "INTERSECT": _Plan.comparison_of_sets,
    "LIMIT": _Plan.chosen,
    "MATERIALIZED_CTE": _Plan.cte,
    "ORDER_BY": _Plan.chosen,
    "PIVOT": _Plan.pivot,
    "POSITIONAL_JOIN": _Plan.product,
    "PROJECTION": _Plan.projection,
    "RECURSIVE_CTE": _Plan.recursive_cte,
    "SAMPLE": _Plan.chosen,
    "UNION": _Plan.union,
    "UNNEST": _Plan.unnest,
    "WINDOW": _Plan.window,
}


def _picked(columns: Iterable[Derived], positions: Iterable[int] | None) -> tuple[Derived, ...]:
    """Those of `columns` that an operator passes on; all of them where it does not say."""
    columns = tuple(columns)
    return tuple(at(columns, position) for position in positions) if positions else columns
