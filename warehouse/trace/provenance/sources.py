"""The items of FROM: each table, derived table, LATERAL, table function and parenthesised join becomes sources.

Joins that only filter (SEMI, ANTI) become conditions; commas and NATURAL become what they mean. No other syntax
is touched: what a join pairs is left to DuckDB.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeGuard

from sqlglot import exp

from warehouse.trace.provenance.relations import (
    BaseSource,
    ComputedSource,
    Ctes,
    Relation,
    RelationSource,
    Resolution,
    Scope,
    Source,
    position_of,
)
from warehouse.trace.provenance.scope import find_column, resolve
from warehouse.trace.provenance.syntax.refusals import refuse
from warehouse.trace.provenance.values import Kind, column, identifier, named, select, subquery

VALUES_ALIAS = "valueslist"  # DuckDB's own name for VALUES without one


def block_scope(resolver: Resolution, node: exp.Select, ctes: Ctes, outer: Scope | None) -> Scope:
    """The sources of one SELECT, in order; SEMI and ANTI joins have become conditions of its WHERE."""
    scope = Scope(outer=outer)
    origin = node.args.get("from_")
    if origin is not None:
        _hoist_joins(node, origin)
        bind_commas(node, origin)
        _add(resolver, origin.this, ctes, scope)
    kept = []
    for join in node.args.get("joins") or []:
        if _is_filter(join):
            node.where(_membership(join, scope), copy=False)
        else:
            _add(resolver, join.this, ctes, scope, join)
            kept.append(join)
    node.set("joins", kept)
    return scope


def number_rows(scope: Scope, is_aggregated: bool) -> None:
    """Let rows that are joined know those of CTEs by number, where a list would be copied for each: in every block if it is that of one
    row, else where a block gathers them. (A join that hands its rows on mostly has a partner for each: lists are then quicker.)"""
    if len(scope.sources) > 1:
        for alias, source in scope.sources.items():
            if isinstance(source, RelationSource) and (is_aggregated or source.is_one_row):
                scope.sources[alias] = source.numbered()


def _hoist_joins(node: exp.Select, origin: exp.From) -> None:
    """Of `(from a join b ...)` sqlglot hangs the joins on `a`; they are those of the SELECT."""
    joins = origin.this.args.get("joins")
    if joins:
        origin.this.set("joins", None)
        node.set("joins", [*joins, *(node.args.get("joins") or [])])


def bind_commas(node: exp.Select, origin: exp.From) -> None:
    """`a, b right join c` as `a, (b right join c)`: the comma binds weaker, which matters once joins are appended."""
    joins = node.args.get("joins") or []
    if not any((join.side or "").upper() in ("RIGHT", "FULL") for join in joins):
        return
    segments: list[tuple[exp.From | exp.Join, list[exp.Join]]] = [(origin, [])]
    for join in joins:
        if is_comma(join):
            segments.append((join, []))
        else:
            segments[-1][1].append(join)
    if len(segments) == 1:
        return
    for holder, own in segments:
        if own:
            if not isinstance(holder.this, (exp.Table, exp.Subquery)):
                refuse("E_COMMA_JOIN", holder, "a table function between a comma and a RIGHT or FULL JOIN")
            item = holder.this.copy()
            item.set("joins", own)
            holder.set("this", exp.Subquery(this=item))
    node.set("joins", [holder for holder, _ in segments[1:]])


def is_comma(join: exp.Join) -> bool:
    return not (join.side or join.kind or join.method or join.args.get("on") is not None or join.args.get("using"))


# --- SEMI and ANTI ------------------------------------------------------------------------------------------------


def _is_filter(join: exp.Join) -> bool:
    return {(join.kind or "").upper(), (join.side or "").upper()} & {"SEMI", "ANTI"} != set()


def _membership(join: exp.Join, scope: Scope) -> exp.Expr:
    """`a semi join b on c` as `exists (select 1 from b where c)`: all matches are witnesses; ANTI as NOT EXISTS."""
    right = join.this.alias_or_name
    if right.lower() in scope.sources:
        refuse("E_RESOLVE", join, f"two FROM items are called {right}")
    is_anti = "ANTI" in ((join.kind or "").upper(), (join.side or "").upper())
    if join.args.get("using"):
        return _using_membership(join, scope, right, is_anti)
    if join.args.get("on") is None:
        refuse("E_SEMI_JOIN", join, "neither ON nor USING")
    body = select([exp.Literal.number(1)], join.this)
    body.set("where", exp.Where(this=join.args["on"]))
    exists = exp.Exists(this=body)
    return exp.Not(this=exists) if is_anti else exists


def _using_membership(join: exp.Join, scope: Scope, right: str, is_anti: bool) -> exp.Expr:
    """`a semi join b using (c)` as `a.c in (select b.c from b)`: inside, a column of b could be called a."""
    names = [using.name.lower() for using in join.args["using"]]
    left = [scope.merged.get(using.name.lower()) or find_column([using], scope) for using in join.args["using"]]
    if None in left or not right:
        refuse("E_SEMI_JOIN", join, "a USING column needs a name on both sides")
    operands = [operand.copy() for operand in left if operand is not None]
    body = select([named(column(right, name), f"__column_{i}") for i, name in enumerate(names)], join.this)
    compared = operands[0] if len(operands) == 1 else exp.Tuple(expressions=operands)
    is_in = exp.In(this=compared, query=exp.Subquery(this=body))
    # NULLs match nothing, on neither side: the row is kept, which NOT IN would not do.
    return exp.Not(this=exp.Is(this=exp.Paren(this=is_in), expression=exp.Boolean(this=True))) if is_anti else is_in


# --- one item -----------------------------------------------------------------------------------------------------


def _add(resolver: Resolution, node: exp.Expr, ctes: Ctes, scope: Scope, join: exp.Join | None = None) -> None:
    """Add an item's source to the scope, after those on its left."""
    if _is_parenthesised(node):
        added = _parenthesised(resolver, node, ctes, scope)
    else:
        source = _source(resolver, node, ctes, scope)
        added = Scope(sources={source.alias.lower(): source})
        if isinstance(node, exp.Table) and node.db:
            added.databases[source.alias.lower()] = node.db.lower()
    for alias in added.sources:
        if alias in scope.sources:
            refuse("E_RESOLVE", node, f"two FROM items are called {alias}")
    if join is not None:
        if (join.method or "").upper() == "NATURAL":
            _write_natural(join, added, scope)
        for using in join.args.get("using") or []:
            _merge_using(using, join, added, scope)
    scope.sources.update(added.sources)
    scope.databases.update(added.databases)
    for name, value in added.merged.items():
        if name not in scope.merged:
            scope.merged[name], scope.merged_from[name] = value, added.merged_from[name]
    if join is not None and join.args.get("on") is not None:
        resolve(join.args["on"], scope)  # an unknown column is refused here, not by DuckDB later


def _is_parenthesised(node: exp.Expr) -> TypeGuard[exp.Subquery]:
    """Whether it is a FROM item in parentheses, alone or with joins, and not a query."""
    if not isinstance(node, exp.Subquery):
        return False
    inner = node.this
    return isinstance(inner, exp.Table) or (isinstance(inner, exp.Subquery) and bool(inner.args.get("joins")))


def _parenthesised(resolver: Resolution, node: exp.Subquery, ctes: Ctes, scope: Scope) -> Scope:
    """`(a join b on ...)`: its items see one another first, then what precedes the parenthesis."""
    if node.alias:
        refuse("E_PAREN", node, "a name for a parenthesised join")
    joins = node.this.args.get("joins") or []
    node.this.set("joins", None)
    inner = Scope(outer=scope)
    _add(resolver, node.this, ctes, inner)
    for join in joins:
        if _is_filter(join):
            refuse("E_SEMI_JOIN", join, "SEMI or ANTI JOIN within a parenthesised join")
        if join.args.get("on") is not None and join.args["on"].find(exp.Query):
            refuse("E_SUBQUERY_PLACE", join, "a subquery in the condition of a parenthesised join")
        node.this.append("joins", join)  # what was written may have been replaced by a projection with a token
        _add(resolver, join.this, ctes, inner, join)
    return inner


def _source(resolver: Resolution, node: exp.Expr, ctes: Ctes, scope: Scope) -> Source:
    if node.args.get("joins"):
        refuse("E_PAREN", node, "a join that is not written in parentheses where one is read")
    if isinstance(node, exp.Lateral):
        return _lateral(resolver, node, ctes, scope)
    if isinstance(node, (exp.Table, exp.Subquery)) and node.args.get("pivots"):
        return _derived(resolver, _pivot_query(node), ctes, scope)
    if isinstance(node, exp.Subquery):
        return _derived(resolver, node, ctes, scope)
    if isinstance(node, (exp.Values, exp.Unnest)):
        return _computed(node, scope)
    if isinstance(node, exp.Table):
        if isinstance(node.this, exp.Func):
            return _computed(node, scope)
        return _table(resolver, node, ctes)
    refuse("E_NODE", node, f"no rule for {type(node).__name__} in FROM")


def _lateral(resolver: Resolution, node: exp.Lateral, ctes: Ctes, scope: Scope) -> Source:
    """LATERAL says that an item may read those before it; DuckDB lets any derived table or unnest() do so."""
    item = node.this
    if not isinstance(item, (exp.Subquery, exp.Unnest)):
        refuse("E_LATERAL", node, "LATERAL before a function")
    item.set("alias", node.args.get("alias"))
    node.replace(item)
    return _source(resolver, item, ctes, scope)


def _derived(resolver: Resolution, node: exp.Subquery, ctes: Ctes, scope: Scope) -> RelationSource:
    if not node.alias:
        node.set("alias", exp.TableAlias(this=identifier(f"__derived_{len(resolver.relations)}")))
    renames = node.args["alias"].columns
    relation = resolver.query(node.this, ctes, scope)
    relation.holder = node
    return RelationSource(node.alias, renamed(relation.columns, renames, node), relation)


def _pivot_query(node: exp.Table | exp.Subquery) -> exp.Subquery:
    """`t pivot (...) as p` as `(pivot t ...) as p`, in place; UNPIVOT likewise."""
    pivot, *more = node.args["pivots"]
    if more:
        refuse("E_PIVOT", node, "PIVOT of a PIVOT; put the first into a derived table")
    alias = pivot.args.get("alias")
    table = node.copy()
    table.set("pivots", None)
    if pivot.args.get("unpivot"):
        [listed] = pivot.args["fields"]
        into = exp.UnpivotColumns(this=listed.this, expressions=pivot.expressions)
        nulls = pivot.args.get("include_nulls")
        statement = exp.Pivot(this=table, expressions=listed.expressions, into=into, unpivot=True, include_nulls=nulls)
    else:
        statement = exp.Pivot(
            this=table, expressions=pivot.args.get("fields"), using=pivot.expressions, group=pivot.args.get("group")
        )
    derived = subquery(statement, alias.name) if alias is not None else exp.Subquery(this=statement)
    if alias is not None:
        derived.set("alias", alias.copy())
    node.replace(derived)
    return derived


def renamed(columns: Sequence[str], names: Sequence[exp.Expr], clause: exp.Expr) -> tuple[str, ...]:
    """The columns behind an alias list: it renames the first ones, in order."""
    if len(names) > len(columns):
        refuse("E_ALIAS_COLUMNS", clause, f"{len(names)} names for {len(columns)} columns")
    found = (*(name.name for name in names), *columns[len(names) :])
    if names and len({name.lower() for name in found}) < len(found):
        refuse("E_DUPLICATE_COLUMN", clause, "an alias list that gives two columns one name")
    return found


def _table(resolver: Resolution, node: exp.Table, ctes: Ctes) -> Source:
    alias = node.args.get("alias")
    renames = alias.columns if alias is not None else []
    known = ctes.get(node.name.lower()) if not node.db else None
    if known is not None:
        if isinstance(known.relation, Relation):
            known.relation.readers += 1
        return replace(known, alias=node.alias_or_name, columns=renamed(known.columns, renames, node))
    occurrence, projection = resolver.occurrence(node)
    stored = resolver.columns_of(occurrence.table, bool(renames))
    if projection is None:
        return ComputedSource(node.alias_or_name, renamed(stored, renames, node))
    node.replace(projection)
    kind = Kind.OWN if occurrence.table in resolver.unique else Kind.ROW
    token = projection.this.selects[-1].this
    is_key = isinstance(token, exp.Column) and not renames
    token_key = column(node.alias_or_name.lower(), token.name.lower()) if is_key else None
    return BaseSource(node.alias_or_name, renamed(stored, renames, node), occurrence.number, stored, kind, token_key)


def _computed(node: exp.Expr, scope: Scope) -> ComputedSource:
    """VALUES and table functions: their columns are named by an alias list; those of VALUES have names without one."""
    alias = node.args.get("alias")
    own = _value_columns(node) if isinstance(node, exp.Values) else ()
    if own and alias is None:
        alias = exp.TableAlias(this=identifier(VALUES_ALIAS))
        node.set("alias", alias)
    if alias is None or not (alias.columns or own):
        refuse("E_NOALIAS", node, "name the columns, as in unnest(x) as u(item)")
    written = node.this if isinstance(node, exp.Table) else node
    arguments = [
        resolve(argument, scope)
        for key, value in written.args.items()
        if key != "alias"
        for argument in (value if isinstance(value, list) else [value])
        if isinstance(argument, exp.Expr)
    ]
    if any(argument.find(exp.Query) for argument in arguments):
        refuse("E_SUBQUERY_PLACE", node, "a subquery inside a table function or VALUES")
    return ComputedSource(alias.name, (*(c.name for c in alias.columns), *own[len(alias.columns) :]), tuple(arguments))


def _value_columns(node: exp.Values) -> tuple[str, ...]:
    """The names that DuckDB gives the columns of VALUES."""
    first = node.expressions[0]
    return tuple(f"col{i}" for i in range(len(first.expressions) if isinstance(first, exp.Tuple) else 1))


# --- USING and NATURAL --------------------------------------------------------------------------------------------


def _write_natural(join: exp.Join, added: Scope, scope: Scope) -> None:
    """NATURAL as USING the columns that both sides have, so that no evidence column is ever among them."""
    left = [read.name for read in scope.star_columns()]
    common = [read.name for read in added.star_columns() if position_of(left, read.name) is not None]
    if not common:
        refuse("E_JOIN", join, "a NATURAL JOIN without a common column")
    join.set("method", None)
    join.set("using", [identifier(name) for name in common])


def _merge_using(using: exp.Expr, join: exp.Join, right: Scope, scope: Scope) -> None:
    """One USING column: its value is the left side's, the right side's (RIGHT JOIN) or the first not NULL (FULL)."""
    name = using.name.lower()
    left, other = scope.merged.get(name) or find_column([using], scope), find_column([using], right)
    if left is None or other is None:
        refuse("E_RESOLVE", join, f"USING column {name} is missing on one side")
    other = right.merged.get(name) or other
    side = (join.side or "").upper()
    if side == "RIGHT":
        scope.merged[name] = other
    elif side == "FULL":
        scope.merged[name] = exp.Coalesce(this=left.copy(), expressions=[other])
    else:
        scope.merged[name] = left
    united = [*scope.sources.values(), *right.sources.values()]
    holders = [source for source in united if position_of(source.columns, name) is not None]
    scope.merged_from[name] = {source.alias.lower() for source in holders}
