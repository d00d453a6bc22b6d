"""Where an answer may depend on how a tie is broken, and the same query with its ties broken in a chosen way.

Rows tie when the order that chooses, numbers or lists them does not tell them apart. Broken in several ways the query gives
the same answer exactly when no tie matters to it; what breaks a tie is the value that is chosen, where one is, else all of
the row, so that rows which are alike stay harmless. It asks no data; the caller does.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import sqlglot
from sqlglot import exp

from warehouse.trace.provenance.selecting import aggregates, has_aggregate, inline_windows, is_aggregate_of_block
from warehouse.trace.provenance.syntax.engine import function_name
from warehouse.trace.provenance.syntax.refusals import offset_of, refuse
from warehouse.trace.provenance.syntax.spelling import respelled
from warehouse.trace.provenance.syntax.stars import has_star
from warehouse.trace.provenance.ties.item_names import flat, rename_items_like_columns
from warehouse.trace.provenance.values import call, identifier, subquery
from warehouse.trace.provenance.windows import bare_function, cuts_rows

# Aggregates that hand on one of their rows, or all in an order.
_CHOOSERS = frozenset(
    "any_value arbitrary first last mode list array_agg string_agg listagg group_concat "
    "arg_max arg_min max_by min_by argmax argmin".split()
)
# A text without any of these words has no point at which rows may tie: a window has OVER, a cut one of LIMIT, OFFSET, FETCH and DISTINCT ON,
# a listed query ARRAY.
POINT_WORDS = re.compile(rf"\b({'|'.join(['over', 'limit', 'offset', 'fetch', 'distinct', 'asof', 'array', *sorted(_CHOOSERS)])})\b", re.IGNORECASE)
_PICKS = frozenset("first_value last_value nth_value first last".split())
_PLACES_IN_ORDER = frozenset("row_number ntile lag lead".split())
_RANKS = frozenset("rank rank_dense dense_rank percent_rank cume_dist".split())  # tied rows have one rank


@dataclass(frozen=True)
class Way:
    """One way to break all ties: by values and rows, up or down, or in one of several orders that `salt` shuffles; with `turn`
    first by that one of the columns that the block reads (from 1)."""

    is_descending: bool
    salt: int
    turn: int = 0


# Up and down differ in every first, last and cut. Shuffles are for what is in the middle of three tied rows.
WAYS = (Way(False, 0), Way(True, 0), *(Way(False, salt) for salt in range(1, 5)))
# Among many rows that tie, a row that differs in a column is first, or last, by that column; a shuffle rarely puts it there.
_TURNS = 6


def ways(points: Sequence[exp.Expr]) -> tuple[Way, ...]:
    """The ways in which the ties of a query are to be broken."""
    turns = max((min(len(_turned(point)), _TURNS) for point in points), default=0)
    return (*WAYS, *(Way(is_descending, 0, turn) for turn in range(1, turns + 1) for is_descending in (False, True)))


def tie_points(tree: exp.Expr) -> list[exp.Expr]:
    """The clauses of a query whose answer may depend on a tie, in the order of the text: windows, aggregates, queries whose
    ORDER BY cuts or orders a list, and ASOF joins."""
    for block in tree.find_all(exp.Select):
        inline_windows(block)
    return sorted((node for node in tree.walk() if _may_tie(node)), key=lambda node: (offset_of(node) or 0))


@lru_cache(maxsize=1024)  # queries share the models under them
def broken(sql: str, way: Way, only: int | None = None) -> str:
    """The query with its ties broken in one way: all of them, or those of one of its `tie_points`."""
    holder = exp.Paren(this=respelled(sqlglot.parse_one(sql, dialect="duckdb")))
    rename_items_like_columns(holder)
    points = tie_points(holder)
    for number, point in reversed(list(enumerate(points))):
        if only in (None, number):
            _break(point, way)
    return str(holder.this.sql("duckdb"))


def _may_tie(node: exp.Expr) -> bool:
    if isinstance(node, exp.Window):
        return _numbers_rows(node) or _window_name(node) in _PICKS | _CHOOSERS
    if isinstance(node, exp.Func):
        return function_name(node) in _CHOOSERS and is_aggregate_of_block(node) and bool(_operands(node))
    if isinstance(node, exp.Join):
        return (node.method or "").upper() == "ASOF"
    return isinstance(node, exp.Query) and node.args.get("order") is not None and (has_cut(node) or _is_listed(node))


def _is_listed(node: exp.Expr) -> bool:
    """Whether a query's rows become a list in their order: `array(select v from t order by k)`."""
    above = node.parent
    while isinstance(above, (exp.Paren, exp.Subquery)):
        above = above.parent
    return isinstance(above, exp.Array) and not above.args.get("value_constructor")


def has_cut(node: exp.Expr) -> bool:
    """Whether the ORDER BY of a query decides which rows it has."""
    distinct = node.args.get("distinct")
    is_on = isinstance(distinct, exp.Distinct) and distinct.args.get("on") is not None
    return is_on or any(node.args.get(clause) is not None for clause in ("limit", "offset"))


def _is_wrapped(point: exp.Expr) -> bool:
    """Whether only output columns may order it, and how many these are is not written down."""
    distinct = point.args.get("distinct")
    is_plain = isinstance(distinct, exp.Distinct) and distinct.args.get("on") is None
    return isinstance(point, exp.SetOperation) or (is_plain and isinstance(point, exp.Select) and has_star(point))


def _window_name(window: exp.Window) -> str:
    return function_name(bare_function(window.this))


def _numbers_rows(window: exp.Window) -> bool:
    """Whether a window tells tied rows of its order apart: by their places, or by a frame that counts rows."""
    name, spec = _window_name(window), window.args.get("spec")
    if name in _PLACES_IN_ORDER:
        return True
    counts_rows = isinstance(spec, exp.WindowSpec) and str(spec.args.get("kind")).upper() == "ROWS" and name not in _RANKS
    return counts_rows and (cuts_rows(spec) or name in _PICKS | _CHOOSERS)


# --- breaking -----------------------------------------------------------------------------------------------------


def _break(point: exp.Expr, way: Way) -> None:
    if isinstance(point, exp.Window):
        _break_window(point, way)
    elif isinstance(point, exp.Func):
        _order_operands(point, [], way)
    elif isinstance(point, exp.Join):
        _break_asof(point, way)
    elif _is_wrapped(point):
        _break_wrapped(point, way)
    elif isinstance(point, exp.Select) and has_star(point):
        _extend(point.args["order"], _row_keys(point, way))
    else:
        _extend(point.args["order"], _item_keys(point, way))


def _item_keys(point: exp.Expr, way: Way) -> list[exp.Expr]:
    """All that a query selects. By their positions items cannot be shuffled; DISTINCT is ordered by nothing else."""
    if way.salt and point.args.get("distinct") is None and point.find(exp.Window) is None:
        return [_shuffled([item.unalias().copy() for item in point.expressions], way)]
    positions = list(range(1, len(point.expressions) + 1))
    first = max(way.turn - 1, 0) % len(positions)
    return [_key(exp.Literal.number(position), way) for position in positions[first:] + positions[:first]]


def _break_window(window: exp.Window, way: Way) -> None:
    function, order = bare_function(window.this), window.args.get("order")
    if not _numbers_rows(window):
        _order_operands(function, order.expressions if order is not None else [], way)
        return
    if _window_name(window) not in _PLACES_IN_ORDER and any(isinstance(operand, exp.Order) for operand in _operands(function)):
        _order_operands(function, [], way)
    block = window.find_ancestor(exp.Select)
    if order is not None and block is not None:
        turned = [_key(key.copy(), way) for key in _turned(window)[way.turn - 1 : way.turn]] if way.turn else []
        _extend(order, [*turned, *_row_keys(block, way)])


def _turned(point: exp.Expr) -> list[exp.Expr]:
    """What the ties of a point may be broken by one after another: the columns that its block reads, or its group keys; of a
    query that is cut, its items."""
    if isinstance(point, exp.Select):
        return [] if has_star(point) else list(point.expressions)
    block = point.find_ancestor(exp.Select) if isinstance(point, exp.Window) and _numbers_rows(point) else None
    if block is None:
        return []
    if aggregates(block):
        return group_keys(block)
    aliases = {item.alias.lower() for item in block.expressions if item.alias}
    columns = [column for item in block.expressions for column in item.find_all(exp.Column) if column.find_ancestor(exp.Select) is block]
    named = [column for column in columns if not isinstance(column.this, exp.Star) and (column.table or column.name.lower() not in aliases)]
    return list({column.sql(): column for column in named}.values())


def _order_operands(function: exp.Expr, before: Sequence[exp.Expr], way: Way) -> None:
    """`f(x order by k)` as `f(x order by k, x)`; without an order of its own that of the window comes first."""
    operands = _operands(function)
    value = chosen_value(function).copy()
    is_distinct = function.find(exp.Distinct) is not None  # then only the value itself may order it
    key = _shuffled([value], way) if way.salt and not is_distinct else _key(value, way)
    for operand in operands:
        if isinstance(operand, exp.Order):
            _extend(operand, [key])
            return
    last = operands[-1]
    ordered = exp.Order(expressions=[*(part.copy() for part in before), key])
    last.replace(ordered)
    ordered.set("this", last)


def _operands(function: exp.Expr) -> list[exp.Expr]:
    return [operand for operand in function.iter_expressions() if isinstance(operand, exp.Expr)]


def own_order(function: exp.Expr) -> list[exp.Ordered]:
    """The ORDER BY inside an aggregate."""
    written = [operand for operand in _operands(function) if isinstance(operand, exp.Order)]
    return [part.copy() for part in written[0].expressions] if written else []


def chosen_value(function: exp.Expr) -> exp.Expr:
    """What an aggregate or a window function hands on: its first argument."""
    value = _operands(function)[0]
    while isinstance(value, (exp.Order, exp.Distinct, exp.IgnoreNulls)):
        value = value.expressions[0] if isinstance(value, exp.Distinct) else value.this
    return value


def _break_wrapped(point: exp.Expr, way: Way) -> None:
    """`q order by k limit n` as `select * from (q) r order by k, r limit n`: its own columns alone may order it."""
    order = point.args["order"]
    wrapper = exp.Select(expressions=[exp.Star()])
    clauses = {name: point.args.get(name) for name in ("order", "limit", "offset")}
    point.replace(wrapper)
    for name, clause in clauses.items():
        point.set(name, None)
        wrapper.set(name, clause)
    inner = exp.Subquery(this=point, alias=exp.TableAlias(this=identifier("__rows")))
    wrapper.set("from_", exp.From(this=inner))
    _extend(order, [_key(exp.Column(this=identifier("__rows")), way)])


def _break_asof(join: exp.Join, way: Way) -> None:
    """One of the rows that tie for an ASOF join is left: it takes at most one for each row of the other side anyway."""
    keys, item = asof_keys(join), join.this
    kept = exp.Select(expressions=[exp.Star()], from_=exp.From(this=item.copy()))
    number = exp.Window(this=call("row_number"), partition_by=keys, order=exp.Order(expressions=_row_keys(kept, way)))
    kept.set("qualify", exp.Qualify(this=exp.EQ(this=number, expression=exp.Literal.number(1))))
    join.set("this", subquery(kept, item.alias_or_name))


def asof_keys(join: exp.Join) -> list[exp.Column]:
    """What an ASOF join reads of its right side: rows equal in it tie. Refuses a condition that does not say of which side
    each column is."""
    item = join.this
    if not isinstance(item, (exp.Table, exp.Subquery)) or not item.alias_or_name:
        refuse("E_TIE", join, "an ASOF JOIN with other than a named table or query")
    if join.args.get("using"):
        name = item.args["alias"].this if item.args.get("alias") is not None else item.this
        return [exp.Column(this=part.copy(), table=name.copy()) for part in join.args["using"]]
    read = list(join.args["on"].find_all(exp.Column)) if join.args.get("on") is not None else []
    if any(not part.table for part in read):
        refuse("E_TIE", join, "an ASOF JOIN whose condition does not name the table of each column")
    return [part.copy() for part in read if part.table.lower() == item.alias_or_name.lower()]


def _extend(order: exp.Order, keys: Sequence[exp.Expr]) -> None:
    order.set("expressions", [*order.expressions, *keys])


def _key(value: exp.Expr, way: Way) -> exp.Ordered:
    # Down is up backwards: NULLs, which come last going up, come first.
    return exp.Ordered(this=value, desc=way.is_descending, nulls_first=way.is_descending)


def _shuffled(told: Sequence[exp.Expr], way: Way) -> exp.Expr:
    return _key(call("hash", *told, exp.Literal.number(way.salt)), way)


def _row_keys(block: exp.Select, way: Way) -> list[exp.Expr]:
    told = what_tells_rows_apart(block)
    return [_shuffled(told, way)] if told else []


def what_tells_rows_apart(block: exp.Select) -> list[exp.Expr]:
    """All of each row of FROM, or the keys of a block's groups; nothing where there is one row."""
    return group_keys(block) if aggregates(block) else [exp.Column(this=identifier(name)) for name in _row_names(block)]


def group_keys(block: exp.Select) -> list[exp.Expr]:
    """What a block groups by, as it can be written in its select list."""
    group, items = block.args.get("group"), block.expressions
    if group is None:
        return []
    if group.args.get("all"):
        return [item.unalias().copy() for item in items if not has_aggregate(item) and not item.find(exp.Window)]
    aliased = {item.alias.lower(): item.this for item in items if item.alias}
    keys = []
    for key in group.expressions:
        if isinstance(key, exp.Literal) and not key.is_string:
            if has_star(block):
                refuse("E_TIE", key, "a group by position in a list with a star")
            key = items[int(key.name) - 1].unalias()
        elif isinstance(key, exp.Column) and not key.table:
            key = aliased.get(key.name.lower(), key)
        keys += [part.copy() for part in key.find_all(exp.Column)] if isinstance(key, _SETS) else [key.copy()]
    return keys


_SETS = (exp.Rollup, exp.Cube, exp.GroupingSets, exp.Tuple)


def _row_names(block: exp.Select) -> list[str]:
    """The names of the items of FROM, each of which means its row; an item without one is given one."""
    origin = block.args.get("from_")
    joins = [join for join in block.args.get("joins") or [] if not _filters(join)]
    written = [*([origin.this] if origin is not None else []), *(join.this for join in joins)]
    names = []
    for position, item in enumerate(flat(written)):
        pivots = item.args.get("pivots")
        named = pivots[-1] if pivots else item
        if not named.alias_or_name:
            named.set("alias", exp.TableAlias(this=identifier(f"__tied_{position}")))
        names.append(named.alias_or_name)
    return names


def _filters(join: exp.Join) -> bool:
    return bool({(join.side or "").upper(), (join.kind or "").upper()} & {"SEMI", "ANTI"})
