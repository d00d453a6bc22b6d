"""OFFSET, written as what it is: a row is in the answer for those before it as well, which the numbering of rows has as its evidence.

`order by k limit n offset m` is `qualify row_number() over (order by k) between m + 1 and m + n`.
"""

from __future__ import annotations

from sqlglot import exp

from warehouse.trace.provenance.syntax.refusals import refuse

_COUNTED = "OFFSET beside DISTINCT, QUALIFY or a set operation; put that into a derived table"


def number_rows(tree: exp.Expr) -> None:
    """Write the OFFSETs of a query so, in place. Raises WH306 (E_OFFSET) for one that cannot be."""
    for node in list(tree.find_all(exp.Offset)):
        query = node.parent
        if not isinstance(query, exp.Select) or query.args.get("distinct") is not None or query.args.get("qualify") is not None:
            refuse("E_OFFSET", node, _COUNTED)
        order, limit = query.args.get("order"), query.args.get("limit")
        if order is None:
            refuse("E_OFFSET", node, "OFFSET without ORDER BY")
        skipped, most = _count(node), None if limit is None else _count(limit)
        keys = [_key(part, query, node) for part in order.expressions]
        number = exp.Window(this=exp.RowNumber(), order=exp.Order(expressions=keys))
        is_kept: exp.Expr = exp.GT(this=number, expression=exp.Literal.number(skipped))
        if most is not None:
            low, high = (exp.Literal.number(count) for count in (skipped + 1, skipped + most))
            is_kept = exp.Between(this=number, low=low, high=high)
        query.set("qualify", exp.Qualify(this=is_kept))
        query.set("limit", None)
        query.set("offset", None)


def _count(clause: exp.Expr) -> int:
    count = clause.args.get("expression")
    if not isinstance(count, exp.Literal) or count.is_string or not count.name.isdecimal():
        refuse("E_OFFSET", clause, "OFFSET with other than plain row counts")
    return int(count.name)


def _key(part: exp.Expr, query: exp.Select, offset: exp.Expr) -> exp.Expr:
    """A key of ORDER BY as a window can have it: aliases and positions as what they stand for."""
    items = query.expressions
    named = {item.alias.lower(): item.this for item in items if item.alias}
    key = part.copy()
    value = key.this
    if isinstance(value, exp.Literal) and not value.is_string and 0 < int(value.name) <= len(items):
        value = items[int(value.name) - 1].unalias().copy()
    elif isinstance(value, exp.Column) and not value.table and value.name.lower() in named:
        value = named[value.name.lower()].copy()
    elif any(not each.table and each.name.lower() in named for each in value.find_all(exp.Column)):
        refuse("E_OFFSET", offset, "OFFSET behind an ORDER BY that computes with an alias")
    if value.is_star or isinstance(value, (exp.Literal, exp.Var)) or value.find(exp.Window, exp.Query, exp.Explode, exp.Unnest):
        refuse("E_OFFSET", offset, "OFFSET behind an ORDER BY of a star, a window or a subquery")
    key.set("this", value)
    return key
