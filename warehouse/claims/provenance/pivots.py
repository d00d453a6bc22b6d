"""PIVOT with listed values, written as what it stands for: one aggregate with a FILTER for each combination of values.

The names are those that DuckDB gives. A list that only the data knows is refused on admission.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from sqlglot import exp

from warehouse.claims.provenance.engine import is_aggregate
from warehouse.claims.provenance.refusals import refuse
from warehouse.claims.provenance.selecting import engine_name
from warehouse.claims.provenance.values import all_of, named

Columns = Sequence[exp.Column]


def write_pivot(body: exp.Select, node: exp.Pivot, columns: Columns, words: frozenset[str]) -> None:
    """Give `body`, which reads the pivoted table with these columns, its select list and its GROUP BY."""
    lists, aggregates = node.expressions, node.args.get("using") or []
    for aggregate in aggregates:
        if not is_aggregate(aggregate.unalias()):
            refuse("E_PIVOT", aggregate, "only a plain aggregate can be pivoted")
    if not aggregates:
        refuse("E_PIVOT", node, "PIVOT without USING")
    keys = _keys(node, columns)
    cells = [
        named(_filtered(aggregate, lists, values), _cell_name(aggregate, values, len(aggregates), words))
        for values in product(*(listed.expressions for listed in lists))
        for aggregate in aggregates
    ]
    body.set("expressions", [*(key.copy() for key in keys), *cells])
    if keys:
        body.set("group", exp.Group(expressions=[key.copy() for key in keys]))


def _keys(node: exp.Pivot, columns: Columns) -> list[exp.Expr]:
    """Those of GROUP BY; without one every column that neither the lists nor the aggregates read."""
    group: exp.Group | None = node.args.get("group")
    if group is not None:
        return list(group.expressions)
    read = [*node.expressions, *node.args["using"]]
    taken = {reference.name.lower() for part in read for reference in part.find_all(exp.Column)}
    return [column for column in columns if column.name.lower() not in taken]


def _filtered(aggregate: exp.Expr, lists: Sequence[exp.In], values: Sequence[exp.Literal]) -> exp.Filter:
    pairs = zip(lists, values, strict=True)
    condition = all_of(exp.EQ(this=listed.this.copy(), expression=value.copy()) for listed, value in pairs)
    return exp.Filter(this=aggregate.unalias().copy(), expression=exp.Where(this=condition))


def _cell_name(aggregate: exp.Expr, values: Sequence[exp.Literal], count: int, words: frozenset[str]) -> str:
    """`1`, `1_ok`; with an alias or several aggregates `1_s`, `1_sum(tput)`."""
    parts = [value.name for value in values]
    if aggregate.alias or count > 1:
        parts.append(aggregate.alias or engine_name(aggregate, words))
    return "_".join(parts)
