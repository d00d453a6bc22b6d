"""The engine's aggregate functions, and those whose last bits depend on how the rows lie in memory.

A test compares with the engine, and tries which are which.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from warehouse.transform.sql.block import shape
from warehouse.transform.sql.tree_nodes import Node, inner, nodes

AGGREGATES = frozenset(
    (
        "any_value", "approx_count_distinct", "approx_quantile", "approx_top_k", "arbitrary", "arg_max", "arg_max_null",
        "arg_max_nulls_last", "arg_min", "arg_min_null", "arg_min_nulls_last", "argmax", "argmin", "array_agg", "avg",
        "bit_and", "bit_or", "bit_xor", "bitstring_agg", "bool_and", "bool_or", "combine_aggr", "corr", "count", "count_if",
        "count_star", "countif", "covar_pop", "covar_samp", "decimal_average", "entropy", "favg", "first", "fsum",
        "group_concat", "histogram", "histogram_exact", "kahan_sum", "kurtosis", "kurtosis_pop", "last", "list", "listagg",
        "lttb", "mad", "max", "max_by", "mean", "median", "min", "min_by", "mode", "product", "quantile", "quantile_cont",
        "quantile_disc", "regr_avgx", "regr_avgy", "regr_count", "regr_intercept", "regr_r2", "regr_slope", "regr_sxx",
        "regr_sxy", "regr_syy", "reservoir_quantile", "sem", "skewness", "stddev", "stddev_pop", "stddev_samp",
        "string_agg", "sum", "sum_no_overflow", "sumkahan", "var_pop", "var_samp", "variance", "variant_group_object",
    )
)
# Macros over them.
AGGREGATE_MACROS = frozenset(
    "geomean geometric_mean wavg weighted_avg json_group_array json_group_object json_group_structure "
    "variant_group_array".split()
)
# For a vector of one value they add value x count, else one value after another: 100 times 0.1 is 10.0 or
# 9.99999999999998. Such vectors come from tables that are compressed already, where rows of one value fill a vector.
# With them the macros over them.
FLOAT_SUMS = frozenset(("sum", "avg", "mean", "wavg", "weighted_avg", "geomean", "geometric_mean"))


# Aggregates of which the value is the same in whatever order their rows come, and in however many pieces the engine takes them.
STEADY_AGGREGATES = frozenset(
    "approx_count_distinct bit_and bit_or bit_xor bitstring_agg bool_and bool_or count count_if count_star countif histogram histogram_exact"
    " mad max median min quantile quantile_cont quantile_disc regr_count".split()
)
# What keeps all that it is given until its group is complete; so does any aggregate with an order of its own.
_KEEPING_ROWS = frozenset(
    "list array_agg string_agg group_concat listagg histogram histogram_exact json_group_array json_group_object json_group_structure "
    "variant_group_array variant_group_object".split()
)
_AGGREGATING = frozenset(("SELECT_NODE", "PIVOT"))  # the nodes that may have aggregates
# What takes one of its rows as it comes; of several pieces, the first piece's.
_TAKING_ONE = frozenset(
    "any_value arbitrary first arg_max arg_max_null arg_max_nulls_last arg_min arg_min_null arg_min_nulls_last argmax argmin max_by min_by".split()
)
# The classes of expressions whose value follows from their parts.
_OF_PARTS = frozenset(("BETWEEN", "CASE", "CAST", "COMPARISON", "CONJUNCTION", "CONSTANT", "FUNCTION", "OPERATOR", "TYPE"))
# Window functions whose value is the same however ties among a partition's rows are broken, and wherever its rows stand
# among those of other partitions. Others number tied rows, or add floats in pieces that begin where the engine's do.
STEADY_WINDOWS = frozenset(
    ("rank", "rank_dense", "dense_rank", "percent_rank", "cume_dist", "count", "count_star", "count_if", "min", "max",
     "bool_and", "bool_or", "bit_and", "bit_or", "bit_xor")
)


def sees_layout(tree: Mapping[str, Any]) -> bool:
    """Whether what a statement gives may depend on how the tables that it reads are laid out: it may add floats (of which
    type a sum is, the tree does not say: one of integers counts too), or samples. What it orders before, it adds one by one."""
    return any(
        (_name(node) in FLOAT_SUMS and not _is_ordered(node)) or node.get("show_type") == "SUMMARY" or node.get("sample") for node in nodes(tree)
    )


def adds_in_pieces(tree: Mapping[str, Any]) -> bool:
    """Whether a block adds floats, or takes the last of its rows, beside an aggregate that keeps its rows. With these the engine's hash table
    outgrows its room (DuckDB 2.0.0, from 4 million rows): it begins another one, and combines what both have, and where it begins
    depends on all groups."""
    return any(node.get("type") in _AGGREGATING and _adds_beside_kept_rows(node) for node in nodes(tree))


def _adds_beside_kept_rows(block: Node) -> bool:
    found = _aggregates_of(block)
    return any(_is_ordered(node) or _name(node) in _KEEPING_ROWS for node in found) and any(
        _depends_on_order(node) and _name(node) not in _KEEPING_ROWS | _TAKING_ONE for node in found
    )


def disordered(tree: Node, views: Collection[str] = ()) -> bool:
    """Whether rows come out of a statement in an order that depends on how many others there are: out of a join (for each vector of rows its
    first matches, then its second ones), a semi-join, a hash table, or a window. `views` are the names of those of which this is true."""
    return _is_disordered(tree, _disordered_names(tree, views))


def follows_plan(tree: Node) -> bool:
    """Whether what a statement gives, or the order in which, may depend on how the engine plans it: it joins, groups, numbers or combines."""
    return any(_disorders(node) for node in nodes(tree))


def takes_disordered_rows(tree: Node, views: Collection[str] = ()) -> bool:
    """Whether an aggregate whose value depends on the order of its rows takes them from what is `disordered`, and does not order them. From
    300,000 rows on, sums of floats have other last bits then (DuckDB 2.0.0 and 2.0.1)."""
    taking = [node for node in nodes(tree) if node.get("type") in _AGGREGATING and _takes_by_order(node)]
    names = _disordered_names(tree, views) if taking else ()
    return any(
        _is_disordered(block["source"] if block["type"] == "PIVOT" else block["from_table"], names) or _takes_of_queries(block)
        for block in taking
    ) or any(map(_is_asked_by_order, nodes(tree) if taking else ()))


def _takes_by_order(block: Node) -> bool:
    return _is_picked(block) or any(_depends_on_order(node) for node in _aggregates_of(block))


def _is_picked(block: Node) -> bool:
    return any(modifier.get("distinct_on_targets") for modifier in block.get("modifiers", ()))


def _takes_of_queries(block: Node) -> bool:
    """Whether a query in an expression is asked before a block's rows are aggregated or picked: the engine joins its answers to them."""
    parts = [block.get("where_clause"), block.get("group_expressions"), _aggregates_of(block), block["select_list"] if _is_picked(block) else None]
    return any(map(_asks, [*parts, _grouped_items(block)]))


def _grouped_items(block: Node) -> list[Node]:
    """The items of a select list that a block may group by without their words: by all, by place or by alias."""
    by = block.get("group_expressions") or []
    names = {each["column_names"][-1].lower() for each in by if each.get("class") == "COLUMN_REF"}
    is_by_place = block.get("aggregate_handling") == "FORCE_AGGREGATES" or any(each.get("class") == "CONSTANT" for each in by)
    grouped = [item for item in block.get("select_list") or [] if is_by_place or (item.get("alias") or "").lower() in names]
    return [item for item in grouped if not _aggregates_itself(item)]


def _aggregates_itself(expression: Node) -> bool:
    """Whether an expression aggregates the rows of its block; a query in it has rows of its own."""
    pending: list[Any] = [expression]
    found = False
    while pending and not found:
        node = pending.pop()
        if isinstance(node, list):
            pending += inner(node)
        elif node.get("class") != "SUBQUERY":
            found = _is_aggregate(node)
            pending += inner(node)
    return found


def _is_asked_by_order(node: Node) -> bool:
    """Whether a query in an expression aggregates by the order of its rows. If it refers to the row that asks, the engine joins it to all that
    ask, before; whether it does is not in the tree."""
    return node.get("class") == "SUBQUERY" and any(
        block.get("type") in _AGGREGATING and _takes_by_order(block) for block in nodes(node)
    )


def _disordered_names(tree: Node, views: Collection[str]) -> set[str]:
    """`views`, and the CTEs out of which rows come in no order, wherever they are."""
    ctes = [(str(entry["key"]).lower(), entry["value"]["query_node"]) for node in nodes(tree) for entry in (node.get("cte_map") or {}).get("map", ())]
    found = set(views)
    while more := {name for name, query in ctes if name not in found and _is_disordered(query, found)}:
        found |= more
    return found


def _is_disordered(tree: Node, names: Collection[str]) -> bool:
    pending: list[Any] = [tree]
    while pending:
        node = pending.pop()
        if type(node) is not list:
            if any(modifier["type"] == "ORDER_MODIFIER" for modifier in node.get("modifiers") or ()):
                continue  # sorted here, whatever came before
            if _disorders(node) or (node.get("type") == "BASE_TABLE" and node["table_name"].lower() in names):
                return True
        pending += inner(node, "cte_map", "where_clause", "having")  # `_disorders` looks at what filters rows
    return False


def _disorders(node: Node) -> bool:
    match node.get("type"):
        case "SELECT_NODE":
            is_distinct = any(modifier["type"] == "DISTINCT_MODIFIER" for modifier in node["modifiers"])
            is_grouped = bool(node["group_expressions"]) or node["aggregate_handling"] == "FORCE_AGGREGATES"
            return is_distinct or is_grouped or _asks(node["where_clause"]) or _asks(node["select_list"])
        case "SET_OPERATION_NODE":
            return not ("UNION" in node["setop_type"] and node["setop_all"])
        case "RECURSIVE_CTE_NODE":
            return not node["union_all"]
        case "PIVOT":
            return any(pivot["pivot_expressions"] for pivot in node["pivots"])  # UNPIVOT has none, and keeps the order
        case kind:
            return kind == "JOIN" or node.get("class") == "WINDOW"


def _asks(expressions: Node | list[Any] | None) -> bool:
    """Whether expressions ask a query. The engine joins for IN and for what refers to the row; of few rows and many it hashes the few, and gives
    them out of its hash table. A query that has one answer for all rows is no join, but which one is not in the tree."""
    return any(node.get("class") == "SUBQUERY" for node in nodes(expressions or []))


def _aggregates_of(block: Node) -> list[Node]:
    """The calls of aggregates in a block or PIVOT, or in a query within its expressions."""
    parts = [block[part] for part in ("select_list", "having", "qualify", "aggregates") if block.get(part)]
    return [node for node in nodes(*parts) if _is_aggregate(node)]


def _is_aggregate(node: Node) -> bool:
    return node.get("class") == "FUNCTION" and _name(node) in AGGREGATES | AGGREGATE_MACROS


def _depends_on_order(call: Node) -> bool:
    return _name(call) not in STEADY_AGGREGATES and not _is_decided(call)


def _is_decided(call: Node) -> bool:
    """Whether rows that its order does not tell apart are the same to an aggregate: all that it takes of them follows from what it is ordered by."""
    orders = {shape(order["expression"]) for order in (call.get("order_bys") or {}).get("orders", ())}
    return bool(orders) and all(_follows_from(orders, argument["expression"]) for argument in call["arguments"])


def _follows_from(known: Collection[str], expression: Node) -> bool:
    """Whether an expression's value follows from those of the `known` ones, by their shapes. No model calls a function that may answer otherwise
    for equal arguments (WH226)."""
    pending: list[Any] = [expression]
    while pending:
        node = pending.pop()
        if type(node) is not list:
            if "class" in node and shape(node) in known:
                continue
            if node.get("class", "CONSTANT") not in _OF_PARTS:
                return False
        pending += inner(node)
    return True


def _is_ordered(call: Node) -> bool:
    return bool((call.get("order_bys") or {}).get("orders"))


def has_unsteady_window(tree: Mapping[str, Any]) -> bool:
    """Whether a statement has a window whose value for a row may depend on rows of other partitions."""
    return any(node.get("class") == "WINDOW" and _name(node) not in STEADY_WINDOWS for node in nodes(tree))


def _name(node: Mapping[str, Any]) -> str:
    return str(node.get("function_name")).lower()
