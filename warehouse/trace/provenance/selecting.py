"""The parts of one SELECT: its output columns, group keys and windows. Its stars are written out before (`stars`); nothing
else in the analyst's select list is touched.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from sqlglot import exp

from warehouse.trace.provenance.relations import Item, Scope
from warehouse.trace.provenance.scope import resolve
from warehouse.trace.provenance.syntax.engine import is_aggregate, words_of, written_name
from warehouse.trace.provenance.syntax.refusals import refuse
from warehouse.trace.provenance.values import GROUPING_SETS, named
from warehouse.trace.provenance.windows import frame_of, inline_named


def strip_schemas(node: exp.Select, scope: Scope) -> None:
    """`feed.run.id` as `run.id`: the table behind its token is a derived table, which has no schema."""
    for reference in node.find_all(exp.Column) if scope.databases else ():
        is_schema = scope.databases.get(reference.table.lower()) == reference.text("db").lower() != ""
        if is_schema:
            reference.set("db", None)


def name_items(node: exp.Select, is_named: bool, words: frozenset[str]) -> None:
    """Refuse nameless columns where they are read by name, and repeated ones that are published; give a subquery's column one elsewhere,
    and a repeated one that which DuckDB gives it: the second `id` of a query in FROM is `id_1`."""
    items, names = [], set()
    repeated: Counter[str] = Counter()
    taken = {item.alias_or_name.lower() for item in node.expressions}
    for position, item in enumerate(node.expressions):
        if not item.alias and not isinstance(item, exp.Column):
            item = named(item, engine_name(item, words) if is_named else f"__column_{position}")
        name = item.alias_or_name.lower()
        if name in names:
            repeated[name] += 1
            other = f"{name}_{repeated[name]}"
            if other in taken or (is_named and _is_published(node)):
                refuse("E_DUPLICATE_COLUMN", item, f"two output columns are called {name}")
            item, name = named(item.unalias(), f"{item.alias_or_name}_{repeated[name]}"), other
        names.add(name)
        items.append(item)
    node.set("expressions", items)


def _is_published(node: exp.Select) -> bool:
    """Whether the columns of a block are those of the whole query."""
    above = node.parent
    while isinstance(above, exp.SetOperation):
        above = above.parent
    return above is None


def engine_name(item: exp.Expr, words: frozenset[str]) -> str:
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


def clauses(node: exp.Select) -> list[exp.Expr]:
    """The select list and the clauses whose expressions may hold windows and subqueries."""
    written = [node.args.get(name) for name in ("where", "group", "having", "qualify", "order")]
    conditions = [join.args.get("on") for join in node.args.get("joins") or []]
    return [*node.expressions, *(part for part in [*written, *conditions] if part is not None)]


def aggregates(node: exp.Select) -> bool:
    if node.args.get("group") is not None or node.args.get("having") is not None:
        return True
    return any(has_aggregate(item) for item in node.expressions)


def has_aggregate(expression: exp.Expr) -> bool:
    """Whether an aggregate of this block is in it; the function of a window is not one."""
    return any(is_aggregate_of_block(part) for part in expression.walk(prune=lambda n: isinstance(n, exp.Query)))


def is_aggregate_of_block(node: exp.Expr) -> bool:
    if not is_aggregate(node):
        return False
    above = node.parent
    while isinstance(above, (exp.Filter, exp.IgnoreNulls, exp.RespectNulls, exp.WithinGroup)) and above.this is node:
        node, above = above, above.parent
    return not (isinstance(above, exp.Window) and above.this is node)


def resolve_items(node: exp.Select, scope: Scope) -> tuple[list[Item], dict[str, exp.Expr]]:
    """Each item resolved; an alias can be read by the items after it."""
    items: list[Item] = []
    aliases: dict[str, exp.Expr] = {}
    for item in node.expressions:
        resolved = resolve(item.unalias(), scope, aliases)
        items.append(Item(item.alias_or_name, resolved))
        if item.alias:
            aliases[item.alias.lower()] = resolved
    return items, aliases


def group_keys(
    node: exp.Select, scope: Scope, items: Sequence[Item], aliases: dict[str, exp.Expr]
) -> list[exp.Expr]:
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


def _keys_of(part: exp.Expr) -> list[exp.Expr]:
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
    key: exp.Expr, scope: Scope, items: Sequence[Item], aliases: dict[str, exp.Expr]
) -> exp.Expr:
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
    node: exp.Select, scope: Scope, items: Sequence[Item], aliases: dict[str, exp.Expr]
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
