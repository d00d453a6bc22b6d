"""The groups of rows that tie at one point of a query, as a query of their own: to tell an analyst how many and which.

It reads what the point's own block reads, so it cannot be asked of a block inside a subquery that depends on the row around.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import sqlglot
from sqlglot import exp

from warehouse.trace.provenance.syntax.engine import NULL_KEEPING, function_name
from warehouse.trace.provenance.syntax.spelling import respelled
from warehouse.trace.provenance.syntax.stars import has_star
from warehouse.trace.provenance.ties.tie_points import asof_keys, chosen_value, group_keys, has_cut, own_order, tie_points, what_tells_rows_apart
from warehouse.trace.provenance.values import call, identifier, is_not_null, named, select, subquery
from warehouse.trace.provenance.windows import bare_function

_DECIDED_BY_SECOND = frozenset("arg_max arg_min max_by min_by argmax argmin".split())
_VALUE = exp.Column(this=identifier("__value"))
_BY_ANOTHER = _DECIDED_BY_SECOND | {"mode"}  # which row they take is not a matter of a window's order alone
_DIFFERENT = "count(distinct hash(__value)) > 1"
_ALL_IN_ORDER = frozenset("list array_agg string_agg listagg group_concat".split())


def tied_groups(sql: str, number: int) -> tuple[str, tuple[str, ...]]:
    """For one of the query's `tie_points`, SQL that yields one row for each group of rows that tie, and what its columns
    are, as SQL. Of `mode`, of a set operation and of an order by position behind a star no groups are known: then the SQL is empty."""
    tree, point, block = _point(sql, number)
    if block is None or isinstance(point, exp.SetOperation) or _orders_behind_a_star(block):
        return "", ()
    if isinstance(point, exp.Window):
        keys, found = _of_window(point, block)
    elif isinstance(point, exp.Join):
        keys, found = _of_asof(point)
    elif isinstance(point, exp.Select):
        keys, found = _of_cut(block)
    elif function_name(point) == "mode":
        return "", ()
    else:
        keys, found = _of_aggregate(point, block)
    return _beside_ctes(found, block, tree), tuple(key.sql("duckdb") for key in keys)


def tied_rows(sql: str, number: int) -> str:
    """For one of the query's `tie_points`, SQL that yields a row if any two rows have the same keys there, whatever their values are.
    Empty where that would not show that none tie: then nothing is known. Only for places in the order of a window, and for lists."""
    tree, point, block = _point(sql, number)
    if block is None or _is_recursive(tree):  # a recursive CTE would not see itself, but perhaps a table of its name
        return ""
    if isinstance(point, exp.Window):
        function = bare_function(point.this)
        is_by_another = function_name(function) in _BY_ANOTHER or function.find(exp.Order)
        if isinstance(point.this, exp.IgnoreNulls) or point.args.get("order") is None or is_by_another:
            return ""
        keys, rows = _rows_of_window(point, block, exp.Literal.number(0))
    elif isinstance(point, exp.Func) and function_name(point) in _ALL_IN_ORDER and own_order(point):
        group = block.args.get("group")
        if group is not None and group.find(exp.Rollup, exp.Cube, exp.GroupingSets):
            return ""  # a set of fewer keys puts rows together that all keys tell apart
        keys, rows = _rows_of_aggregate(point, group_keys(block), own_order(point), block)
    else:
        return ""
    return _beside_ctes(_grouped(rows, len(keys), "count(*) > 1").limit(1), block, tree)


def is_ordered_by_value(point: exp.Expr) -> bool:
    """Whether a list of different values is in the order of these values, as `list(distinct x order by x)`: no two tie."""
    if not isinstance(point, exp.Func) or function_name(point) not in _ALL_IN_ORDER or point.find(exp.Distinct) is None:
        return False
    return chosen_value(point) in [part.this for part in own_order(point)]


def _point(sql: str, number: int) -> tuple[exp.Expr, exp.Expr, exp.Select | None]:
    """The tree of a query, one of its points, and the block that has it."""
    tree = respelled(sqlglot.parse_one(sql, dialect="duckdb"))
    point = tie_points(tree)[number]
    return tree, point, point if isinstance(point, exp.Select) else point.find_ancestor(exp.Select)


def _beside_ctes(found: exp.Select, block: exp.Select, tree: exp.Expr) -> str:
    """A query of what a block reads, with the CTEs that the block sees, as SQL."""
    if ctes := _visible_ctes(block):
        found.set("with_", exp.With(expressions=ctes, recursive=_is_recursive(tree)))
    return str(found.sql("duckdb"))


def _orders_behind_a_star(block: exp.Select) -> bool:
    """Whether it is ordered by a position in a list of which the length is not written down."""
    order = block.args.get("order")
    return order is not None and has_star(block) and any(isinstance(part.this, exp.Literal) for part in order.expressions)


def _of_window(window: exp.Window, block: exp.Select) -> tuple[list[exp.Expr], exp.Select]:
    """Rows of one partition that its order does not tell apart, with different values, or different altogether."""
    function = bare_function(window.this)
    numbers = function_name(function) in ("row_number", "ntile")
    value = call("hash", *what_tells_rows_apart(block)) if numbers else chosen_value(function)
    keys, rows = _rows_of_window(window, block, value)
    if isinstance(window.this, exp.IgnoreNulls):
        rows = select([exp.Star()], subquery(rows, "__all")).where(is_not_null(_VALUE))
    return keys, _grouped(rows, len(keys), _DIFFERENT)


def _rows_of_window(window: exp.Window, block: exp.Select, value: exp.Expr) -> tuple[list[exp.Expr], exp.Select]:
    """The rows of a window by their partitions and its order, with a value."""
    order = window.args.get("order")
    keys = [*(window.args.get("partition_by") or []), *(part.this for part in (order.expressions if order is not None else []))]
    return keys, _rows(block, keys, value, is_grouped=True)


def _of_cut(block: exp.Select) -> tuple[list[exp.Expr], exp.Select]:
    """The rows at the cut of LIMIT; those that DISTINCT ON chooses the first from."""
    parts = [part.copy() for part in block.args["order"].expressions]
    for part in parts:
        if isinstance(part.this, exp.Literal) and not part.this.is_string:
            part.set("this", block.expressions[int(part.this.name) - 1].unalias().copy())
    keys, limit = [part.this for part in parts], block.args.get("limit")
    distinct = block.args.get("distinct")
    on = distinct.args.get("on") if isinstance(distinct, exp.Distinct) else None
    partition = [keys.index(key) for key in on.expressions if key in keys] if on is not None else []
    rank = _rank(partition, parts)
    read = what_tells_rows_apart(block) if has_star(block) else [item.unalias().copy() for item in block.expressions]
    rows = select([exp.Star(), named(rank, "__rank")], subquery(_rows(block, keys, call("hash", *read), True), "__tied"))
    offset = block.args.get("offset")
    if not has_cut(block):
        return keys, _grouped(rows, len(keys), _DIFFERENT)
    if on is not None or (limit is None and offset is None):
        return keys, _grouped(rows, len(keys), f"{_DIFFERENT} and min(__rank) = 1")
    first = offset.expression.sql("duckdb") if offset is not None else "0"
    last = f"{first} + {limit.expression.sql('duckdb')}" if limit is not None else None
    cuts = [f"(min(__rank) <= {cut} and min(__rank) + count(*) - 1 > {cut})" for cut in (first, last) if cut not in (None, "0")]
    return keys, _grouped(rows, len(keys), f"{_DIFFERENT} and {' or '.join(cuts)}")


def _of_asof(join: exp.Join) -> tuple[list[exp.Expr], exp.Select]:
    """Rows of the right side that are equal in what the join reads of them, and not altogether."""
    keys: list[exp.Expr] = list(asof_keys(join))
    row = call("hash", exp.Column(this=identifier(join.this.alias_or_name)))
    items = [named(key.copy(), f"__key_{i}") for i, key in enumerate(keys)]
    return keys, _grouped(select([*items, named(row, "__value")], join.this.copy()), len(keys), _DIFFERENT)


def _of_aggregate(function: exp.Expr, block: exp.Select) -> tuple[list[exp.Expr], exp.Select]:
    """Rows of one group with the same order and different values: of all, or of those that come first."""
    name, groups, order = function_name(function), group_keys(block), own_order(function)
    if name in _DECIDED_BY_SECOND:
        by = list(function.iter_expressions())[1]
        by = by.this if isinstance(by, exp.Order) else by
        order = [exp.Ordered(this=by.copy(), desc="max" in name), *order]
    keys, rows = _rows_of_aggregate(function, groups, order, block)
    if name in _DECIDED_BY_SECOND:
        rows = rows.where(is_not_null(order[0].this))
    if name not in _ALL_IN_ORDER and order:
        first = exp.EQ(this=_rank(range(len(groups)), order, len(groups), name == "last"), expression=exp.Literal.number(1))
        rows = select([exp.Star()], subquery(rows, "__all"))
        rows.set("qualify", exp.Qualify(this=first))
    return keys, _grouped(rows, len(keys), _DIFFERENT)


def _rows_of_aggregate(
    function: exp.Expr, groups: Sequence[exp.Expr], order: Sequence[exp.Ordered], block: exp.Select
) -> tuple[list[exp.Expr], exp.Select]:
    """The rows that an aggregate takes, by their groups and its order, with their values."""
    value, keys = chosen_value(function), [*groups, *(part.this for part in order)]
    rows = _rows(block, keys, value, is_grouped=False)
    if isinstance(function.parent, exp.Filter):
        rows = rows.where(function.parent.expression.this)
    if function_name(function) not in NULL_KEEPING:
        rows = rows.where(is_not_null(value))
    return keys, rows


def _rows(block: exp.Select, keys: list[exp.Expr], value: exp.Expr, is_grouped: bool) -> exp.Select:
    """What a block reads (its groups, with `is_grouped`), by the keys, with a value."""
    rows = block.copy()
    for clause in ("with_", "qualify", "distinct", "order", "limit", *(() if is_grouped else ("group", "having"))):
        rows.set(clause, None)
    items = [named(key.copy(), f"__key_{i}") for i, key in enumerate(keys)]
    # A key may read another item by its alias.
    aliased = [item.copy() for item in block.expressions if item.alias and not item.find(exp.Window)] if is_grouped else []
    rows.set("expressions", [*aliased, *items, named(value.copy(), "__value")])
    return rows


def _grouped(rows: exp.Select, count: int, having: str) -> exp.Select:
    """Those groups of equal keys that fulfil a condition."""
    keys = [_named_key(position) for position in range(count)]
    found = select(keys, subquery(rows, "__rows"))
    found.set("group", exp.Group(expressions=[key.copy() for key in keys]) if keys else None)
    found.set("having", exp.Having(this=sqlglot.parse_one(having, dialect="duckdb")))
    return found


def _named_key(position: int) -> exp.Column:
    return exp.Column(this=identifier(f"__key_{position}"))


def _rank(partition: Iterable[int], order: Sequence[exp.Ordered], skipped: int = 0, is_reversed: bool = False) -> exp.Window:
    """The rank of a row by its keys after the `skipped` ones, among rows of equal `partition` keys."""
    parts = [
        exp.Ordered(
            this=_named_key(skipped + position),
            desc=bool(part.args.get("desc")) != is_reversed,
            nulls_first=bool(part.args.get("nulls_first")) != is_reversed,
        )
        for position, part in enumerate(order)
    ]
    keys = [_named_key(position) for position in partition]
    return exp.Window(this=exp.Anonymous(this="rank"), partition_by=keys, order=exp.Order(expressions=parts))


def _visible_ctes(block: exp.Select) -> list[exp.CTE]:
    """The CTEs that a block can read, in order: of every WITH around it those before the one that it is in."""
    found: list[exp.CTE] = []
    below: exp.Expr | None = None
    node: exp.Expr | None = block
    while node is not None:
        if isinstance(node, exp.CTE):
            below = node
        written = node.args.get("with_") if isinstance(node, exp.Query) else None
        if written is not None:
            names = written.expressions
            place = next((i for i, cte in enumerate(names) if cte is below), len(names))
            found = [*(cte.copy() for cte in names[:place]), *found]
        node = node.parent
    return found


def _is_recursive(tree: exp.Expr) -> bool:
    return any(written.args.get("recursive") for written in tree.find_all(exp.With))
