"""The parts of one SELECT: its output columns, group keys, windows, and the witnesses of its subqueries.

Stars are written out here, because the evidence columns beside a table must not leak through them. Nothing else in
the analyst's select list is touched.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sqlglot import exp

from warehouse.claims.provenance.engine import is_aggregate, words_of, written_name
from warehouse.claims.provenance.refusals import refuse
from warehouse.claims.provenance.relations import Item, Scope, Witness
from warehouse.claims.provenance.scope import resolve
from warehouse.claims.provenance.values import GROUPING_SETS, column, named
from warehouse.claims.provenance.windows import bare_function, frame_of, inline_named

if TYPE_CHECKING:
    from warehouse.claims.provenance.resolve import Ctes, Resolver

Parts = tuple[list[Item], list[exp.Expression], bool, list[exp.Window], dict[int, Witness]]


def block_parts(resolver: Resolver, node: exp.Select, scope: Scope, ctes: Ctes, is_named: bool) -> Parts:
    """Items, group keys, whether the block aggregates, windows and witnesses, in the order `SelectBlock` takes."""
    expand_stars(node, scope)
    strip_schemas(node, scope)
    name_items(node, is_named, resolver.words)
    inline_windows(node)
    is_aggregated = aggregates(node)
    witnesses = find_witnesses(resolver, node, scope, ctes, is_aggregated)
    items, aliases = resolve_items(node, scope)
    for clause in ("where", "having", "qualify"):
        if node.args.get(clause) is not None:
            resolve(node.args[clause].this, scope, aliases)
    keys = group_keys(node, scope, items, aliases)
    return items, keys, is_aggregated, block_windows(node, scope, items, aliases), witnesses


def expand_stars(node: exp.Select, scope: Scope) -> None:
    """`*`, `t.*`, each with EXCLUDE, as the list of columns they stand for."""
    expanded: list[exp.Expression] = []
    for item in node.expressions:
        star = item.this if isinstance(item, exp.Column) else item
        if not isinstance(star, exp.Star):
            expanded.append(item)
            continue
        if any(value for name, value in star.args.items() if name != "except_"):
            refuse("E_STAR", item, "only EXCLUDE is traced behind a star")
        excluded = {_excluded_name(part) for part in star.args.get("except_") or []}
        found = scope.star_columns() if star is item else _table_columns(item, scope)
        expanded += [c for c in found if c.name.lower() not in excluded]
    node.set("expressions", expanded)


def _excluded_name(part: exp.Expression) -> str:
    return part.name.lower()


def _table_columns(item: exp.Column, scope: Scope) -> list[exp.Column]:
    source = scope.sources.get(item.table.lower())
    if source is None:
        refuse("E_RESOLVE", item, "no such FROM item")
    return [column(source.alias, name) for name in source.columns]


def strip_schemas(node: exp.Select, scope: Scope) -> None:
    """`feed.run.id` as `run.id`: the table behind its token is a derived table, which has no schema."""
    for reference in node.find_all(exp.Column):
        is_schema = scope.databases.get(reference.table.lower()) == reference.text("db").lower() != ""
        if is_schema:
            reference.set("db", None)


def name_items(node: exp.Select, is_named: bool, words: frozenset[str]) -> None:
    """Refuse nameless or repeated columns where they are read by name; give a subquery's column one elsewhere."""
    items, names = [], set()
    for position, item in enumerate(node.expressions):
        if not item.alias and not isinstance(item, exp.Column):
            item = named(item, engine_name(item, words) if is_named else f"__column_{position}")
        name = item.alias_or_name.lower()
        if name in names:
            refuse("E_DUPLICATE_COLUMN", item, f"two output columns are called {name}")
        names.add(name)
        items.append(item)
    node.set("expressions", items)


def engine_name(item: exp.Expression, words: frozenset[str]) -> str:
    """What DuckDB itself calls a column without an alias, as in `sum(x)`.

    It is refused if it holds a word that the analyst did not write: the parser then respelled a type or a function.
    """
    names = tuple(sorted({reference.parts[0].name for reference in item.find_all(exp.Column)}, key=str.lower))
    name = None if item.find(exp.Query) else written_name(item.sql("duckdb"), names)
    if name is None or not words_of(name) <= words | {"count_star"}:
        refuse("E_UNNAMED", item, "an output column without a name")
    return name


def inline_windows(node: exp.Select) -> None:
    written = {window.name.lower(): window for window in node.args.get("windows") or []}
    for clause in clauses(node):
        for part in clause.walk(prune=lambda n: isinstance(n, exp.Query)):
            if isinstance(part, exp.Window):
                inline_named(part, written)


def clauses(node: exp.Select) -> list[exp.Expression]:
    """The select list and the clauses whose expressions may hold windows and subqueries."""
    written = [node.args.get(name) for name in ("where", "group", "having", "qualify", "order")]
    conditions = [join.args.get("on") for join in node.args.get("joins") or []]
    return [*node.expressions, *(part for part in [*written, *conditions] if part is not None)]


def aggregates(node: exp.Select) -> bool:
    if node.args.get("group") is not None or node.args.get("having") is not None:
        return True
    return any(has_aggregate(item) for item in node.expressions)


def has_aggregate(expression: exp.Expression) -> bool:
    """Whether an aggregate of this block is in it; the function of a window is none."""
    window_functions = {
        id(bare_function(w.this)) for w in expression.find_all(exp.Window) if isinstance(w.this, exp.Expression)
    }
    return any(
        is_aggregate(part) and id(part) not in window_functions
        for part in expression.walk(prune=lambda n: isinstance(n, exp.Query))
    )


def resolve_items(node: exp.Select, scope: Scope) -> tuple[list[Item], dict[str, exp.Expression]]:
    """Each item resolved; an alias can be read by the items after it."""
    items: list[Item] = []
    aliases: dict[str, exp.Expression] = {}
    for item in node.expressions:
        resolved = resolve(item.unalias(), scope, aliases)
        items.append(Item(item.alias_or_name, resolved))
        if item.alias:
            aliases[item.alias.lower()] = resolved
    return items, aliases


def group_keys(
    node: exp.Select, scope: Scope, items: Sequence[Item], aliases: dict[str, exp.Expression]
) -> list[exp.Expression]:
    """The keys of GROUP BY as resolved expressions: columns first, then aliases, positions, or ALL."""
    group = node.args.get("group")
    if group is None:
        return []
    if group.args.get("all"):
        # As positions, so that the evidence columns beside the list are never taken for keys.
        positions = [i for i, item in enumerate(items) if not has_aggregate(item.resolved)]
        numbers = [exp.Literal.number(position + 1) for position in positions]
        node.set("group", exp.Group(expressions=numbers) if numbers else None)
        return [items[position].resolved for position in positions]
    written = [key for part in group.expressions for key in _keys_of(part)]
    return [_group_key(key, scope, items, aliases) for key in written]


def _keys_of(part: exp.Expression) -> list[exp.Expression]:
    """The keys that ROLLUP, CUBE and GROUPING SETS list, at any depth; any other part is one key."""
    if not isinstance(part, GROUPING_SETS):
        return [part]
    keys, unread = [], list(part.expressions)
    while unread:
        item = unread.pop(0)
        if isinstance(item, (exp.Tuple, *GROUPING_SETS)):
            unread = [*item.expressions, *unread]
        elif isinstance(item, exp.Paren):
            unread.insert(0, item.this)
        else:
            keys.append(item)
    return keys


def _group_key(
    key: exp.Expression, scope: Scope, items: Sequence[Item], aliases: dict[str, exp.Expression]
) -> exp.Expression:
    if isinstance(key, exp.Literal) and not key.is_string:
        position = int(key.name) - 1
        if not 0 <= position < len(items):
            refuse("E_RESOLVE", key, "no output column has this position")
        return items[position].resolved
    resolved = resolve(key, scope, aliases)
    while isinstance(resolved, exp.Paren):
        resolved = resolved.this
    return resolved


def block_windows(
    node: exp.Select, scope: Scope, items: Sequence[Item], aliases: dict[str, exp.Expression]
) -> list[exp.Window]:
    """The windows of the select list and of QUALIFY, each once; their frames are why-evidence."""
    if node.args.get("order") is not None and node.args["order"].find(exp.Window):
        refuse("E_WINDOW", node.args["order"], "a window in ORDER BY; compute it in the select list")
    read = [item.resolved for item in items]
    if node.args.get("qualify") is not None:
        read.append(resolve(node.args["qualify"].this, scope, aliases))
    windows: list[exp.Window] = []
    for expression in read:
        for part in expression.walk(prune=lambda n: isinstance(n, exp.Query)):
            if isinstance(part, exp.Window) and part not in windows:
                frame_of(part)  # refuses a function without a known frame
                windows.append(part)
    return windows


# --- subqueries --------------------------------------------------------------------------------------------------


def find_witnesses(
    resolver: Resolver, node: exp.Select, scope: Scope, ctes: Ctes, is_aggregated: bool
) -> dict[int, Witness]:
    """A witness for each subquery of the block's expressions; the expression is tagged with its number."""
    witnesses: dict[int, Witness] = {}
    for clause in clauses(node):
        is_row_place = isinstance(clause, exp.Where) or (not is_aggregated and _is_item(clause, node))
        for part in list(clause.walk(prune=lambda n: isinstance(n, exp.Query))):
            is_query = isinstance(part, exp.Query) and not isinstance(part.parent, exp.Exists)
            if is_query or isinstance(part, exp.Exists):
                _check_inner_reads(part)
                number = resolver.witness_count
                resolver.witness_count += 1
                witnesses[number] = _witness(resolver, part, scope, ctes, number, is_row_place)
    return witnesses


def _is_item(clause: exp.Expression, node: exp.Select) -> bool:
    return any(clause is item for item in node.expressions) or isinstance(clause, exp.Qualify)


def _witness(
    resolver: Resolver, part: exp.Expression, scope: Scope, ctes: Ctes, number: int, is_row_place: bool
) -> Witness:
    form, tagged, probe = _form(part, scope)
    tagged.meta["witness"] = number
    around = Scope(outer=scope)
    query = part.this if isinstance(part, exp.Exists) else part
    relation = resolver.query(query.copy(), ctes, around, is_named=False)
    is_correlated = around.reads_outer
    if form != "exists" and len(relation.columns) != 1:
        refuse("E_SUBQUERY_FORM", part, "the subquery must have one column")
    is_row_level = form == "in" or is_correlated
    if is_row_level and not (is_row_place and scope.sources):
        refuse("E_SUBQUERY_PLACE", part, "this subquery depends on the row, and here there is no row")
    return Witness(f"__witness_{number}", relation, form, is_row_level, is_correlated, probe)


def _form(part: exp.Expression, scope: Scope) -> tuple[str, exp.Expression, exp.Expression | None]:
    """Which kind of subquery it is, the node that carries its number, and the left side of IN."""
    if isinstance(part, exp.Exists):
        return "exists", part, None
    above = part.parent
    if isinstance(above, exp.In):
        if isinstance(above.this, exp.Tuple):
            refuse("E_SUBQUERY_FORM", above, "IN with a tuple")
        return "in", above, resolve(above.this, scope)
    return "scalar", part, None


def _check_inner_reads(part: exp.Expression) -> None:
    """The original subquery stays in the SQL and may read an annotated CTE: taking all columns would take evidence."""
    for join in part.find_all(exp.Join):
        if (join.method or "").upper() == "NATURAL":
            refuse("E_JOIN", join, "a NATURAL JOIN inside a subquery of an expression; write USING")
    for pivot in part.find_all(exp.Pivot):
        refuse("E_PIVOT", pivot, "PIVOT inside a subquery of an expression")
    direct = part.this if isinstance(part, exp.Exists) else None
    for star in part.find_all(exp.Star):
        if isinstance(star.parent, exp.Count):
            continue
        if direct is not None and star.find_ancestor(exp.Select) is direct and not direct.args.get("distinct"):
            continue
        refuse("E_STAR", part, "a star inside a subquery of an expression")
