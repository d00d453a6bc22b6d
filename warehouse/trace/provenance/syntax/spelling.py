"""Clauses that are another spelling of one that has rules, written as that one: FETCH FIRST as LIMIT, ORDER BY ALL as positions.
A LIMIT that cuts nothing, whatever the data are, is left out."""

from __future__ import annotations

from sqlglot import exp

from warehouse.trace.provenance.syntax.engine import is_aggregate


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
    for limit in list(tree.find_all(exp.Limit)):
        if _is_idle(limit):
            limit.pop()
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


def _is_idle(limit: exp.Limit) -> bool:
    """Whether a LIMIT without ORDER BY is behind a query that gives as many rows at most."""
    query, count = limit.parent, limit.args.get("expression")
    if not isinstance(query, exp.Query) or query.args.get("order") is not None or query.args.get("offset") is not None:
        return False
    if limit.args.get("limit_options") is not None or not isinstance(count, exp.Literal) or not count.name.isdecimal():
        return False
    most = _most_rows(query)
    return most is not None and most <= int(count.name)


def _most_rows(query: exp.Expr) -> int | None:
    """How many rows a query gives at most, where its text says so: an aggregate of all rows gives one."""
    while isinstance(query, exp.Subquery) and not any(query.args.get(clause) for clause in ("pivots", "joins", "sample")):
        query = query.this
    if isinstance(query, exp.SetOperation):
        left, right = _most_rows(query.left), _most_rows(query.right)
        return (None if right is None or left is None else left + right) if isinstance(query, exp.Union) else left
    if not isinstance(query, exp.Select) or any(item.find(exp.Explode, exp.Unnest, exp.Columns) for item in query.expressions):
        return None
    if query.args.get("group") is None and any(map(_has_aggregate, query.expressions)):
        return 1
    if query.args.get("group") is not None or query.args.get("laterals"):
        return None
    origin, joins = query.args.get("from_"), query.args.get("joins") or []
    most = _most_rows(origin.this) if origin is not None else 1
    for join in joins:
        right = _most_rows(join.this)
        if most is None or right is None or join.method:
            return None
        most = most * right + (most + right if join.side else 0)
    return most


def _has_aggregate(item: exp.Expr) -> bool:
    """Whether an aggregate of this block is in an item: that of a window, or of a query inside, is not."""
    for part in item.walk(prune=lambda node: isinstance(node, (exp.Query, exp.Window))):
        if isinstance(part, exp.Func) and not isinstance(part, exp.Window) and is_aggregate(part):
            return True
    return False
