"""The engine's aggregate functions, and those whose last bits depend on how the rows lie in memory.

A test compares with the engine, and tries which are which.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from warehouse.transform.sql.tree_nodes import nodes

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


# What keeps all that it is given until its group is complete; so does any aggregate with an order of its own.
_KEEPING_ROWS = frozenset(
    "list array_agg string_agg group_concat listagg histogram histogram_exact json_group_array json_group_object json_group_structure "
    "variant_group_array variant_group_object".split()
)
# Window functions whose value is the same however ties among a partition's rows are broken, and wherever its rows stand
# among those of other partitions. Others number tied rows, or add floats in pieces that begin where the engine's do.
STEADY_WINDOWS = frozenset(
    ("rank", "rank_dense", "dense_rank", "percent_rank", "cume_dist", "count", "count_star", "count_if", "min", "max",
     "bool_and", "bool_or", "bit_and", "bit_or", "bit_xor")
)


def sees_layout(tree: Mapping[str, Any]) -> bool:
    """Whether what a statement gives may depend on how the tables that it reads are laid out: it may add floats (of which
    type a sum is, the tree does not say: one of integers counts too), or samples."""
    return any(
        _name(node) in FLOAT_SUMS or node.get("show_type") == "SUMMARY" or node.get("sample") for node in nodes(tree)
    )


def adds_in_pieces(tree: Mapping[str, Any]) -> bool:
    """Whether a block adds floats beside an aggregate that keeps its rows. With these the engine's hash table outgrows its room (DuckDB 2.0.0):
    it begins another one, and adds the sums of both, and where it begins depends on all groups."""
    return any(node.get("type") == "SELECT_NODE" and _adds_beside_kept_rows(node) for node in nodes(tree))


def _adds_beside_kept_rows(block: Mapping[str, Any]) -> bool:
    parts = [block[part] for part in ("select_list", "having", "qualify") if block.get(part)]
    found = [node for node in nodes(*parts) if node.get("class") == "FUNCTION"]
    ordered = [node for node in found if (node.get("order_bys") or {}).get("orders")]
    adds = any(_name(node) in FLOAT_SUMS for node in found if node not in ordered)
    return adds and any(_name(node) in _KEEPING_ROWS or node in ordered for node in found)


def has_unsteady_window(tree: Mapping[str, Any]) -> bool:
    """Whether a statement has a window whose value for a row may depend on rows of other partitions."""
    return any(node.get("class") == "WINDOW" and _name(node) not in STEADY_WINDOWS for node in nodes(tree))


def _name(node: Mapping[str, Any]) -> str:
    return str(node.get("function_name")).lower()
