"""Clauses that are another spelling of one that has rules, written as that one: FETCH FIRST as LIMIT, ORDER BY ALL as positions."""

from __future__ import annotations

from sqlglot import exp


def respelled(tree: exp.Expr) -> exp.Expr:
    """The tree, changed in place. What is no mere spelling (a percentage, ties, a star that ALL counts) stays as it is."""
    for fetch in list(tree.find_all(exp.Fetch)):
        options = fetch.args.get("limit_options")
        if options is None or not (options.args.get("percent") or options.args.get("with_ties")):
            fetch.replace(exp.Limit(expression=fetch.args.get("count") or exp.Literal.number(1)))
    for order in list(tree.find_all(exp.Order)):
        if is_all(order) and (width := _width(order.parent)) is not None:
            [ordered] = order.expressions
            order.set("expressions", [_at(ordered, position) for position in range(1, width + 1)])
    return tree


def is_all(order: exp.Order) -> bool:
    """Whether it is ORDER BY ALL."""
    return any(isinstance(ordered.this, exp.Var) and ordered.this.name.lower() == "all" for ordered in order.expressions)


def _at(ordered: exp.Ordered, position: int) -> exp.Ordered:
    copy = ordered.copy()
    copy.set("this", exp.Literal.number(position))
    return copy


def _width(query: exp.Expr | None) -> int | None:
    """How many columns a query has, where that is written in it."""
    while isinstance(query, (exp.SetOperation, exp.Subquery)):
        if query.args.get("by_name"):
            return None
        query = query.this
    if not isinstance(query, exp.Select):
        return None
    has_star = any(item.is_star or item.find(exp.Columns) for item in query.expressions)
    return None if has_star else len(query.expressions)
