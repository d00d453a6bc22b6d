"""The engine's aggregate functions, and those whose last bits depend on how the rows lie in memory.

A test compares with the engine, and tries which are which.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

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
# Of a vector of one value they add value x count, else one value after another: 100 times 0.1 is 10.0 or
# 9.99999999999998. Such vectors come from tables that are compressed already, where rows of one value fill a vector.
# With them the macros over them.
FLOAT_SUMS = frozenset(("sum", "avg", "mean", "wavg", "weighted_avg", "geomean", "geometric_mean"))


def adds_floats(tree: Mapping[str, Any]) -> bool:
    """Whether a statement may add floats. Of which type a sum is, the tree does not say: one of integers counts too."""
    pending: list[Any] = [tree]
    while pending:
        node = pending.pop()
        values: Iterable[Any] = node.values() if isinstance(node, dict) else node
        for value in values:
            if isinstance(value, (dict, list)):
                pending.append(value)
        if isinstance(node, dict) and str(node.get("function_name")).lower() in FLOAT_SUMS:
            return True
    return False
