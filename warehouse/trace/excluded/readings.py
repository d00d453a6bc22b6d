"""The ways in which a query reads the runs: from each table of runs that its FROM clauses keep rows of, block by block to the
result.

The population is the runs of these tables. A table on the NULL side of an outer join, behind SEMI, ANTI or EXCEPT, or in a
subquery of an expression decides about rows or adds to them, but the result is not over its rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from sqlglot import exp

from warehouse.trace.excluded.tree import SOURCE

Ctes = Mapping[str, exp.CTE]  # by lower-case name, each after those it reads


@dataclass(frozen=True)
class Hop:
    """One block on the way. `slot` is what of it the way comes through: -1 FROM, i the i-th join, or the branch (0, 1) of a
    set operation. `names` are those that a CTE's column list gives its output."""

    block: exp.Select | exp.SetOperation
    slot: int
    ctes: Ctes
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Reading:
    """One way: its table, and the blocks from the table to the result. `unread` is what is between the table and the
    first of the blocks, where that has no clauses that can be distinguished."""

    table: str
    hops: tuple[Hop, ...]
    unread: exp.Expr | None = None


def readings(tree: exp.Expr, table_of_runs: Callable[[exp.Table], str | None]) -> list[Reading]:
    """All ways in which a query reads tables of runs; `table_of_runs` says which table a name means, if it is one."""
    return list(_of_query(tree, {}, (), (), table_of_runs))


def _of_query(
    node: exp.Expr, ctes: Ctes, names: tuple[str, ...], above: tuple[Hop, ...], table_of_runs: Callable[[exp.Table], str | None]
) -> Iterator[Reading]:
    while isinstance(node, exp.Subquery):
        node = node.this
    visible = dict(ctes) if SOURCE not in node.meta else {}  # a model that was written out sees none of these
    written = node.args.get("with_")
    for cte in written.expressions if written is not None else ():
        visible.pop(cte.alias.lower(), None)  # it hides one of its name outside, and comes after all it sees
        visible[cte.alias.lower()] = cte
    if isinstance(node, exp.SetOperation):
        sides = (node.this,) if isinstance(node, exp.Except) else (node.this, node.expression)
        for slot, side in enumerate(sides):
            yield from _of_query(side, visible, (), (Hop(node, slot, visible, names), *above), table_of_runs)
    elif isinstance(node, exp.Select):
        for slot, item in _kept_items(node):
            yield from _of_item(item, visible, (Hop(node, slot, visible, names), *above), table_of_runs)
    else:
        yield from _unread(node, above, visible, table_of_runs)


def _kept_items(block: exp.Select) -> list[tuple[int, exp.Expr]]:
    """The FROM items whose rows the joins keep or pair, not those that only fill in columns or only filter."""
    origin = block.args.get("from_")
    kept = [(-1, origin.this)] if origin is not None else []
    for slot, join in enumerate(block.args.get("joins") or []):
        words = {(join.side or "").upper(), (join.kind or "").upper()}
        if "RIGHT" in words:
            kept = [(slot, join.this)]
        elif not words & {"LEFT", "SEMI", "ANTI"}:
            kept.append((slot, join.this))
    return kept


def _of_item(
    item: exp.Expr, ctes: Ctes, hops: tuple[Hop, ...], table_of_runs: Callable[[exp.Table], str | None]
) -> Iterator[Reading]:
    if item.args.get("pivots") or item.args.get("joins"):
        yield from _unread(item, hops, ctes, table_of_runs)
    elif isinstance(item, exp.Subquery) and isinstance(item.this, exp.Query):
        yield from _of_query(item.this, ctes, (), hops, table_of_runs)
    elif isinstance(item, exp.Subquery):
        yield from _unread(item, hops, ctes, table_of_runs)
    elif isinstance(item, exp.Table):
        cte = ctes.get(item.name.lower()) if not item.db else None
        if cte is None:
            table = table_of_runs(item)
            if table is not None:
                yield Reading(table, hops)
        elif _is_recursive(cte):
            yield from _unread(cte.this, hops, _before(ctes, cte), table_of_runs)
        else:
            names = tuple(name.name for name in cte.args["alias"].columns)
            yield from _of_query(cte.this, _before(ctes, cte), names, hops, table_of_runs)


def _before(ctes: Ctes, cte: exp.CTE) -> Ctes:
    """The CTEs that one sees: those before it."""
    seen: dict[str, exp.CTE] = {}
    for name, other in ctes.items():
        if other is cte:
            break
        seen[name] = other
    return seen


def _is_recursive(cte: exp.CTE) -> bool:
    if not is_recursive_with(cte):
        return False  # it may read the table whose name it takes
    return any(not table.db and table.name.lower() == cte.alias.lower() for table in cte.this.find_all(exp.Table))


def is_recursive_with(cte: exp.CTE) -> bool:
    """Whether the WITH of a CTE lets it read itself."""
    return isinstance(cte.parent, exp.With) and bool(cte.parent.args.get("recursive"))


def _unread(
    node: exp.Expr, hops: tuple[Hop, ...], ctes: Ctes, table_of_runs: Callable[[exp.Table], str | None]
) -> Iterator[Reading]:
    """The tables of runs anywhere under what is not taken apart, also through CTEs."""
    pending, seen = [node], set[str]()
    while pending:
        for table in pending.pop().find_all(exp.Table):
            cte = ctes.get(table.name.lower()) if not table.db else None
            if cte is not None and table.name.lower() not in seen:
                seen.add(table.name.lower())
                pending.append(cte.this)
            elif cte is None and (name := table_of_runs(table)) is not None:
                yield Reading(name, hops, node)
