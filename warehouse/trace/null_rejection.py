"""Which outer joins the filters beside them make inner: a row that has NULL for all columns of an item of FROM does not pass, so
those that such a join fills in never come out, whatever the data (Galindo-Legaria and Rosenthal, TODS 1997)."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from warehouse.trace.provenance.selecting import aggregates
from warehouse.trace.provenance.values import conjuncts

_COMPARISONS = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Like, exp.ILike)
_NULL_OF_NONE = (exp.Avg, exp.Max, exp.Median, exp.Min, exp.Sum)
_ARITHMETIC = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod, exp.Neg, exp.Paren, exp.Cast)


def effective_words(node: exp.Select) -> Mapping[int, set[str]]:
    """The words of each join of a block, by its id, without LEFT, RIGHT or FULL where NULLs are rejected after it. An inner join, and the
    side of an outer join that is only matched, reject those for which its condition never holds."""
    where = node.args.get("where")
    rejected = needed_by(where.this if where is not None else None)
    joins: list[exp.Join] = node.args.get("joins") or []
    origin = node.args.get("from_")
    before = [item.alias_or_name.lower() for item in ([origin.this] if origin is not None else [])]
    before += ["" if join.kind in ("SEMI", "ANTI") else join.this.alias_or_name.lower() for join in joins]
    found = {}
    for place in range(len(joins) - 1, -1, -1):
        join, left, right = joins[place], set(before[: place + 1]), before[place + 1]
        words = words_of(join)
        on = needed_by(join.args.get("on"))
        if not join.method:
            keeps_left = bool(words & {"LEFT", "FULL"}) and right not in rejected
            keeps_right = bool(words & {"RIGHT", "FULL"}) and not left & rejected
            words -= {"LEFT", "RIGHT", "FULL", "OUTER"}
            words |= {"FULL"} if keeps_left and keeps_right else {"LEFT"} if keeps_left else {"RIGHT"} if keeps_right else set()
            rejected = rejected if keeps_left or "ANTI" in words else rejected | on
        elif "POSITIONAL" in words:  # fewer rows before it are other pairs
            rejected = set()
        found[id(join)] = words
    return found


def words_of(join: exp.Join) -> set[str]:
    return {word.upper() for word in (join.side, join.kind, join.method) if word}


def needed_by(condition: exp.Expr | None) -> set[str]:
    """The items without which a condition is not true: it is false or NULL where all their columns are NULL."""
    if condition is None:
        return set()
    return set().union(*map(_needed_by_one, conjuncts(condition)))


def _needed_by_one(part: exp.Expr) -> set[str]:
    part = part.unnest()
    if isinstance(part, exp.Or):
        return needed_by(part.this) & needed_by(part.expression)
    if isinstance(part, exp.And):
        return needed_by(part)
    if isinstance(part, exp.In) or (isinstance(part, _COMPARISONS) and isinstance(part.expression, exp.Any)):
        return _without_it_null(part.this)
    if isinstance(part, exp.Exists):
        query = part.this.unnest()
        return yields_nothing_without(query) if not aggregates(query) else set()
    if isinstance(part, exp.Not) and isinstance(part.this.unnest(), exp.Is) and part.this.unnest().expression == exp.null():
        return _without_it_null(part.this.unnest().this)
    return _without_it_null(part)


def _without_it_null(part: exp.Expr) -> set[str]:
    """The items without which a value is NULL."""
    if isinstance(part, (exp.Subquery, exp.Select)):
        query = part.unnest()
        is_null = isinstance(query, exp.Select) and (not aggregates(query) or isinstance(query.selects[0].unalias(), _NULL_OF_NONE))
        return yields_nothing_without(query) if is_null else set()
    if isinstance(part, exp.Column):
        return {part.table.lower()} if part.table and not part.args.get("db") else set()
    is_strict = isinstance(part, (*_ARITHMETIC, exp.Not)) or (
        isinstance(part, _COMPARISONS) and not isinstance(part.expression, (exp.Any, exp.All))
    )
    if not is_strict:
        return set()
    return set().union(*(_without_it_null(value) for value in (part.this, part.args.get("expression")) if isinstance(value, exp.Expr)))


def yields_nothing_without(query: exp.Expr) -> set[str]:
    """The items outside a query without which no row passes its WHERE, on any data."""
    where = query.args.get("where")
    own = {item.alias_or_name.lower() for item in query.find_all(exp.Table, exp.Subquery, exp.Lateral)}
    if not isinstance(query, exp.Select) or where is None or query.args.get("group"):
        return set()
    return needed_by(where.this) - own
