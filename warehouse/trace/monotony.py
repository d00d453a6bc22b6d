"""Which clauses of a query let the *absence* of a row bring another one in: without one, its rows are only ever lost with their
own (Green, Karvounarakis and Tannen, PODS 2007, for what such monotone queries give)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from warehouse.errors import printable
from warehouse.trace.parse_cache import parsed
from warehouse.trace.provenance.values import copied

if TYPE_CHECKING:
    from sqlglot import exp

_LONGEST_CLAUSE = 100


@lru_cache(maxsize=1024)  # queries share the models under them
def absences(sql: str, *, is_outermost: bool) -> tuple[str, ...]:
    """The clauses of a query by which a row that is not there may bring another one in, as text. An aggregate counts in every
    block but the outermost of the query itself: there a group that lost rows is another row of the result."""
    from sqlglot import exp

    tree = parsed(sql)
    outermost = set(map(id, _outermost_blocks(tree))) if is_outermost else set()
    found = []
    for node in tree.walk():
        is_grouped = isinstance(node, exp.Select) and id(node) not in outermost and _aggregates(node)
        if is_grouped:
            found.append(f"GROUP BY of {shown(node)}" if node.args.get("group") else f"aggregate {shown(node)}")
        elif _lets_absence_in(node):
            found.append(shown(node))
    return tuple(dict.fromkeys(found))


def is_monotone(query: "exp.Expr", *, may_aggregate: bool = False) -> bool:
    """Whether more rows in the tables of a query, which may be a part of another, only ever bring more rows of it. With
    `may_aggregate`: whether the rows are such that it aggregates as a whole."""
    from sqlglot import exp

    return not any(
        (isinstance(node, exp.Select) and _aggregates(node) and not (may_aggregate and node is query))
        or (node is not query and _lets_absence_in(node))
        or (node is query and isinstance(node, exp.Except))
        for node in query.walk()
    )


def _outermost_blocks(tree: "exp.Expr") -> "Iterator[exp.Expr]":
    from sqlglot import exp

    if isinstance(tree, exp.SetOperation):
        yield from _outermost_blocks(tree.left)
        yield from _outermost_blocks(tree.right)
    elif isinstance(tree, exp.Subquery):
        yield from _outermost_blocks(tree.this)
    else:
        yield tree


def _aggregates(node: "exp.Select") -> bool:
    from warehouse.trace.provenance.selecting import aggregates

    return aggregates(node)


def _lets_absence_in(node: "exp.Expr") -> bool:
    from sqlglot import exp

    match node:
        case exp.Join():
            said = {part.upper() for part in (node.side, node.kind, node.method) if part}
            return bool(said & {"LEFT", "RIGHT", "FULL", "ANTI", "ASOF", "POSITIONAL"})
        case exp.Except() | exp.Window() | exp.Limit() | exp.Offset() | exp.Pivot():
            return True
        case exp.Distinct():
            return node.args.get("on") is not None
        case exp.Query():
            return not isinstance(node.parent, exp.Subquery) and not _brings_rows_in(node)
    return False


def _brings_rows_in(query: "exp.Query") -> bool:
    """Whether a query is read as a table, or by an IN or EXISTS that must hold: then more of its rows bring more rows in."""
    from sqlglot import exp

    above = query.parent
    if isinstance(above, (exp.In, exp.Exists)):
        return _is_asserted(above)
    if isinstance(above, exp.Subquery):
        return _brings_rows_in(above)
    return above is None or isinstance(above, (exp.From, exp.Join, exp.Lateral, exp.CTE, exp.SetOperation))


def _is_asserted(condition: "exp.Expr") -> bool:
    """Whether a row passes only where this holds: it is in WHERE under nothing but AND."""
    from sqlglot import exp

    above = condition.parent
    while isinstance(above, (exp.And, exp.Paren)):
        above = above.parent
    return isinstance(above, exp.Where)


def shown(node: "exp.Expr") -> str:
    """A clause as messages quote it."""
    text = " ".join(printable(copied(node.unnest()).sql("duckdb", comments=False, copy=False)).split())
    return text if len(text) <= _LONGEST_CLAUSE else text[:_LONGEST_CLAUSE] + "…"
