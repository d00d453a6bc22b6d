"""What one block of a query says of its rows by itself: the names and the keys of its columns, its windows' frames, the queries
in its expressions. The levels of `claims.trace.sufficiency` are defined here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum

from sqlglot import exp

from warehouse.trace.provenance.selecting import has_aggregate
from warehouse.trace.provenance.syntax.engine import function_name
from warehouse.trace.provenance.values import GROUPING_SETS, conjuncts
from warehouse.trace.provenance.windows import bare_function


class Level(IntEnum):
    """What a part of a query yields of the why-sets of some of its rows."""

    UNPROVEN = 0
    ENOUGH = 1
    GENUINE = 2
    EXACT = 3


Key = frozenset[str]  # column names, within a block as `alias.column`, that tell the rows apart


@dataclass(frozen=True)
class Rows:
    """What is known of the rows of a part of a query. `is_shared`: it reads a CTE that something else reads, too; `columns` are
    None where the text does not say; `is_whole`: of all that its rows together list it yields just its rows, whatever a part of that yields;
    `is_optional`: in the rows of its block there may be NULLs in its place."""

    level: Level
    is_vacuous: bool = True
    key: Key | None = None
    columns: tuple[str, ...] | None = None
    is_shared: bool = False
    is_one_row: bool = False  # on any data
    is_whole: bool = False
    is_optional: bool = False

    @property
    def is_its_own(self) -> bool:
        """Whether what comes of it is just what is kept of it for the rows of one block."""
        return self.level == Level.EXACT and self.is_vacuous and not self.is_shared

    @property
    def never_gains(self) -> bool:
        """Whether it yields none but its own rows when nothing is kept for it."""
        return self.is_vacuous and (self.level >= Level.GENUINE or not self.is_shared)



# --- names and keys ----------------------------------------------------------------------------------------------------


def determines(join: exp.Join, left: Rows, right: Rows, added: set[str], known: set[str]) -> tuple[bool, bool]:
    """Whether each row of the left side has at most one partner, and each of the right side."""
    equal: set[str] = set()
    for using in join.args.get("using") or []:
        equal |= {f"{alias}.{using.name.lower()}" for alias in (*added, *known)} if len(known) == 1 else {f"{a}.{using.name.lower()}" for a in added}
    for part in conjuncts(join.args["on"]) if join.args.get("on") is not None else ():
        if isinstance(part, (exp.EQ, exp.NullSafeEQ)):
            for own, other in ((part.this, part.expression), (part.expression, part.this)):
                if isinstance(own, exp.Column) and own.table and not other.find(exp.Query):
                    read = {column.table.lower() for column in other.find_all(exp.Column)}
                    mine, others = (added, known) if own.table.lower() in added else (known, added)
                    if own.table.lower() in mine and read <= others:
                        equal.add(f"{own.table.lower()}.{own.name.lower()}")
    return right.key is not None and right.key <= equal, left.key is not None and left.key <= equal


def named_key(key: Key | None, node: exp.Select, is_alone: bool) -> Key | None:
    """The key of FROM by the names of the select list; None where a part of it is not selected as it is."""
    if key is None:
        return None
    names = set()
    for part in key:
        alias, _, name = part.partition(".")
        found = None
        for item in node.expressions:
            bare = item.unalias()
            is_star = isinstance(bare, exp.Star) and is_alone and not any(bare.args.get(word) for word in ("except_", "replace", "rename"))
            is_column = isinstance(bare, exp.Column) and bare.name.lower() == name and (bare.table.lower() == alias or (is_alone and not bare.table))
            if is_star or is_column:
                found = name if is_star else item.alias_or_name.lower()
                break
        if found is None:
            return None
        names.add(found)
    return frozenset(names)


def output_of(key: exp.Expr, node: exp.Select) -> str | None:
    """What a select list calls an expression; None where it is not in it."""
    return next((item.alias_or_name.lower() for item in node.expressions if item.alias_or_name and key in (item.unalias(), item)), None)


def group_items(node: exp.Select) -> list[exp.Expr]:
    """What a block groups by; nothing for an aggregate of all rows."""
    group = node.args.get("group")
    if group is None:
        return []
    if group.args.get("all"):
        return [item.unalias() for item in node.expressions if not has_aggregate(item)]
    aliased = {item.alias.lower(): item.this for item in node.expressions if item.alias}
    keys = []
    for key in group.expressions:
        if isinstance(key, exp.Literal) and not key.is_string and 0 < int(key.name) <= len(node.expressions):
            key = node.expressions[int(key.name) - 1].unalias()
        elif isinstance(key, exp.Column) and not key.table:
            is_item = any(key == item.unalias() for item in node.expressions)
            key = key if is_item else aliased.get(key.name.lower(), key)
        keys.append(key)
    return keys


def groups_are_rows(node: exp.Select, found: Rows, sources: Mapping[str, Rows]) -> bool:
    """Whether a block groups by a key of its rows. Then each group is one row, on any data, and a spurious one is a group by itself."""
    [only] = sources if len(sources) == 1 else [""]
    names = {f"{(item.table or only).lower()}.{item.name.lower()}" for item in group_items(node) if isinstance(item, exp.Column)}
    return found.key is not None and bool(names) and found.key <= names


def groups_by_one(node: exp.Select, sources: Mapping[str, Rows]) -> bool:
    """Whether a block groups by columns of one item of FROM, of which just what is kept comes. Each row of that item is in a group of I
    then, and so is each joined row that it is in."""
    group = node.args.get("group")
    if group is None or any(part.find(*GROUPING_SETS, exp.Tuple) for part in group.expressions):
        return False
    keys = group_items(node)
    read = {column.table.lower() for key in keys for column in key.find_all(exp.Column)}
    if len(read) != 1 or any(key.find(exp.Query) for key in keys):
        return False
    return all(alias in sources and sources[alias].is_its_own and not sources[alias].is_optional for alias in read)


def outputs(node: exp.Select, sources: Mapping[str, Rows]) -> tuple[str, ...] | None:
    names: list[str] = []
    for item in node.expressions:
        star = item.this if isinstance(item, exp.Column) else item
        if not isinstance(star, exp.Star):
            names.append(item.alias_or_name)
            continue
        table = item.table.lower() if isinstance(item, exp.Column) else ""
        for rows in [sources.get(table, Rows(Level.UNPROVEN))] if table else sources.values():
            if rows.columns is None or any(star.args.get(word) for word in ("except_", "replace", "rename")):
                return None
            names += rows.columns
    return tuple(names)


def output_names(query: exp.Expr) -> tuple[str, ...] | None:
    while isinstance(query, exp.Subquery):
        query = query.this
    if isinstance(query, exp.SetOperation):
        return output_names(query.left)
    return outputs(query, {}) if isinstance(query, exp.Select) and not query.find(exp.Star) else None


def renamed(rows: Rows, names: Sequence[str]) -> Rows:
    if not names:
        return rows
    if rows.columns is None or len(names) > len(rows.columns):
        return replace(rows, columns=None, key=rows.key if rows.key == frozenset() else None)
    columns = (*names, *rows.columns[len(names) :])
    new = {old.lower(): name.lower() for old, name in zip(rows.columns, columns, strict=True)}
    key = frozenset(new[name] for name in rows.key) if rows.key is not None and rows.key <= new.keys() else None
    return replace(rows, columns=columns, key=key)


def is_called(table: exp.Table, name: str) -> bool:
    return not table.db and table.name.lower() == name


def either_is_vacuous(one: Rows, other: Rows) -> bool:
    """The rows that pair: nothing when one side has nothing. What is shared may have rows that are kept for others."""
    both = one.is_vacuous and other.is_vacuous
    return both or any(rows.is_vacuous and not rows.is_shared for rows in (one, other))


# --- parts of one SELECT -----------------------------------------------------------------------------------------------


def clause_of(node: exp.Expr, clause: str) -> Iterator[exp.Expr]:
    if node.args.get(clause) is not None:
        yield node.args[clause]


def own_nodes(part: exp.Expr, kind: type[exp.Expr]) -> Iterator[exp.Expr]:
    """The nodes of a kind in an expression, not those within its subqueries."""
    for node in part.walk(prune=lambda n: isinstance(n, exp.Query)):
        if isinstance(node, kind):
            yield node.unnest() if kind is exp.Query else node


def query_of(test: exp.Expr) -> exp.Expr | None:
    """The query of an IN, EXISTS or = ANY."""
    if isinstance(test, exp.Exists):
        query = test.this
    elif isinstance(test, exp.In):
        query = test.args.get("query")
    elif isinstance(test, exp.EQ) and isinstance(test.expression, exp.Any):
        query = test.expression.this
    else:
        return None
    bare = query.unnest() if isinstance(query, exp.Expr) else None
    return bare if isinstance(bare, exp.Query) else None


def has_query(test: exp.Expr, query: exp.Expr) -> bool:
    """Whether another query than its own is in a test, as on the left of IN."""
    return any(found is not query for found in own_nodes(test, exp.Query))


def may_be_null_or_false(test: exp.Expr) -> bool:
    """Whether a row that passed does so whether a test is NULL or false where it is not true. In WHERE, under AND, OR and NOT: what is
    true while a part is NULL is true whatever that part is. In CASE WHEN, under AND and OR: what is not true of NULL is not of false."""
    node, is_negated = test, False
    while isinstance(node.parent, (exp.And, exp.Or, exp.Not, exp.Paren)):
        node = node.parent
        is_negated = is_negated or isinstance(node, exp.Not)
    above = node.parent
    if isinstance(above, exp.Where):
        return isinstance(above.parent, exp.Select)
    case = above.parent if isinstance(above, exp.If) and above.this is node else None
    return isinstance(case, exp.Case) and case.this is None and not is_negated


_ALL_ASKED = (exp.Add, exp.Alias, exp.Div, exp.EQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Mul, exp.NEQ, exp.Paren, exp.Sub, exp.Subquery)


def is_always_asked(query: exp.Expr) -> bool:
    """Whether the value of a subquery counts for each row that passes, and not only in a branch, or beside OR."""
    above = query.parent
    while isinstance(above, _ALL_ASKED):
        above = above.parent
    while isinstance(above, (exp.And, exp.Paren)):
        above = above.parent
        if isinstance(above, exp.Select):
            return False
    return isinstance(above, exp.Select) or (isinstance(above, exp.Where) and isinstance(above.parent, exp.Select))


def takes_first(node: exp.Select) -> bool:
    """`qualify row_number() over (...) = 1`: what is kept needs no row but itself."""
    qualify = node.args.get("qualify")
    test = qualify.this.unnest() if qualify is not None else None
    if not isinstance(test, (exp.EQ, exp.LTE)) or not isinstance(test.expression, exp.Literal) or test.expression.name != "1":
        return False
    return isinstance(test.this, exp.Window) and isinstance(test.this.this, exp.RowNumber)


_OF_ALL_BEFORE = frozenset("row_number rank dense_rank".split())
_OF_ALL = frozenset("percent_rank cume_dist ntile".split())


def frames_are_closed(windows: Sequence[exp.Expr]) -> bool:
    """Whether each row that a frame brings in has its own frame in it: frames are all that precede, or the whole partition."""
    partitions = {tuple(key.sql() for key in window.args.get("partition_by") or []) for window in windows}
    orders = {window.args["order"].sql() if window.args.get("order") else "" for window in windows}
    spans = [_span(window) for window in windows]
    if len(partitions) > 1 or None in spans or any(window.args.get("alias") for window in windows):
        return False
    return "whole" in spans or len(orders) == 1


def _span(window: exp.Expr) -> str | None:
    name, spec, order = function_name(bare_function(window.this)), window.args.get("spec"), window.args.get("order")
    if name in _OF_ALL_BEFORE:
        return "before"
    if name in _OF_ALL or (spec is None and order is None):
        return "whole"
    if name in ("lag", "lead"):
        return None
    if spec is None:
        return "before"
    if spec.args.get("exclude") or spec.args.get("start") != "UNBOUNDED":
        return None
    return {"CURRENT ROW": "before", "UNBOUNDED": "whole"}.get(str(spec.args.get("end")))
