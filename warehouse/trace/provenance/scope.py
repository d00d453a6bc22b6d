"""Resolution of names inside one query block, by DuckDB's rules: a column of FROM first, then an alias of the list.

It works on copies. The analyst's own expressions stay as they were written, so DuckDB itself binds the data columns
and a mistake here can never change a published value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from warehouse.trace.provenance.relations import Scope, Source, position_of
from warehouse.trace.provenance.syntax.refusals import offset_of, refuse
from warehouse.trace.provenance.values import column, copied

Aliases = Mapping[str, exp.Expr]  # lower-case alias -> resolved expression


def resolve(expression: exp.Expr, scope: Scope, aliases: Aliases | None = None) -> exp.Expr:
    """A copy in which every column is `"alias"."column"`, merged columns stay bare, and aliases are expanded."""
    holder = exp.Paren(this=copied(expression))
    for node in local_columns(holder):
        if not node.table and _is_bound(node):
            continue
        found = _resolve_column(node, scope, aliases or {})
        offset = offset_of(node)
        if offset is not None:
            found.meta["start"] = offset
        node.replace(found)
    resolved: exp.Expr = holder.this
    return resolved


def local_columns(expression: exp.Expr) -> list[exp.Column]:
    """The columns of this block: those of nested queries belong to them."""
    return [node for node in expression.walk(prune=_is_query) if isinstance(node, exp.Column)]


def _is_query(node: exp.Expr) -> bool:
    return isinstance(node, exp.Query)


def _is_bound(node: exp.Column) -> bool:
    """Whether the name is a parameter of a lambda or a list comprehension around it, so no column."""
    name, above = node.name.lower(), node.parent
    while above is not None and not isinstance(above, exp.Query):
        if isinstance(above, exp.Lambda) and any(p.name.lower() == name for p in above.expressions):
            return True
        if isinstance(above, exp.Comprehension) and above.expression.name.lower() == name:
            return True
        above = above.parent
    return False


def _resolve_column(node: exp.Column, scope: Scope, aliases: Aliases) -> exp.Expr:
    if isinstance(node.this, exp.Star):
        refuse("E_STAR", node, "a star inside an expression")
    found = find_column(node.parts, scope)
    if found is not None:
        return found
    parts = [part.name for part in node.parts]
    alias = aliases.get(parts[0].lower())
    if alias is not None:
        return _fields(exp.Paren(this=alias.copy()), parts[1:])
    outer = _find_outer(node, scope)
    if outer is not None:
        return outer
    refuse("E_RESOLVE", node, "no such column")


def find_column(names: Sequence[exp.Expr], scope: Scope) -> exp.Expr | None:
    """`column`, `table.column`, `schema.table.column`, each with struct fields behind it; None if unknown."""
    parts = [name.name for name in names]
    if len(parts) > 2 and parts[1].lower() in scope.sources:
        if scope.databases.get(parts[1].lower()) == parts[0].lower():
            return _of_source(scope.sources[parts[1].lower()], parts[2:])
    source = scope.sources.get(parts[0].lower())
    if source is not None and len(parts) > 1:
        return _of_source(source, parts[1:])
    name = parts[0].lower()
    if name in scope.merged:
        return _fields(exp.Column(this=exp.Identifier(this=name, quoted=True)), parts[1:])
    holders = [s for s in scope.sources.values() if position_of(s.columns, name) is not None]
    if len(holders) > 1:
        refuse("E_RESOLVE", names[0], f"ambiguous: in {', '.join(s.alias for s in holders)}")
    return _of_source(holders[0], parts) if holders else None


def _of_source(source: Source, parts: list[str]) -> exp.Expr | None:
    position = position_of(source.columns, parts[0])
    if position is None:
        return None
    return _fields(column(source.alias.lower(), source.columns[position].lower()), parts[1:])


def _find_outer(node: exp.Column, scope: Scope) -> exp.Expr | None:
    """A column of a block around this one: the subquery is then correlated."""
    passed, around = [scope], scope.outer
    while around is not None:
        found = find_column(node.parts, around)
        if found is not None:
            _check_not_hidden(node, found, passed)
            for inner in passed:
                inner.reads_outer = True
            return found
        passed.append(around)
        around = around.outer
    return None


def _check_not_hidden(node: exp.Column, found: exp.Expr, passed: Sequence[Scope]) -> None:
    """Evidence beside an outer column is read by the alias of its FROM item, which must mean the same inside."""
    read = found.find(exp.Column)
    assert read is not None
    name = (read.table or read.name).lower()
    if any(name in scope.sources or name in scope.merged for scope in passed):
        refuse("E_CORRELATED", node, "a name inside the subquery hides the FROM item outside that this column is of")


def _fields(expression: exp.Expr, names: list[str]) -> exp.Expr:
    for name in names:
        expression = exp.Dot(this=expression, expression=exp.Identifier(this=name, quoted=True))
    return expression
