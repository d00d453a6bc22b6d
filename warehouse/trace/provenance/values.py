"""The small values of the annotator: occurrences, terms of evidence, and how they become SQL expressions.

It promises that a term which does not exist for a row (the NULL side of a join) is never listed. It never looks at
a query: only at the expressions it is handed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, TypeVar

from sqlglot import exp

RESERVED_PREFIX = "__"
NUMBER = "__number"  # of a row of a CTE that `Lookup` reads
GROUPING_SETS = (exp.Rollup, exp.Cube, exp.GroupingSets)

Over = dict[str, Any]  # partition_by, order and spec of a window, as sqlglot names them
_Node = TypeVar("_Node", bound=exp.Expr)


@dataclass(frozen=True)
class Occurrence:
    """One appearance of a base table in the query, numbered in the order in which the annotator meets them."""

    number: int
    table: str


@dataclass(frozen=True)
class Mark:
    """One evidence column: what it is evidence of, the place of a value among those asked for or None for the row's being there;
    and from which occurrence. It is a list, or, with `columns`, one token or NULL: of these columns (`*`: of the row as
    such) was read. `is_own`: no two rows have the same token."""

    name: str
    value: int | None
    occurrence: Occurrence
    columns: tuple[str, ...] = ()
    is_own: bool = False


@dataclass(frozen=True)
class Annotated:
    """The annotated SQL, its base-table occurrences, the names of the original output columns and the evidence columns, all in
    order. SQL that is ungrouped has one row for each row of each group, and of the original columns only `keys`, which tell
    the groups apart."""

    sql: str
    occurrences: tuple[Occurrence, ...]
    columns: tuple[str, ...]
    marks: tuple[Mark, ...]
    keys: tuple[str, ...] | None = None


class Kind(Enum):
    """What an evidence expression yields for one row."""

    ROW = "row"  # one token or cell, or nothing when `present` is NULL
    OWN = "own"  # the same, and no other row of the block has it
    LIST = "list"  # a list of them; NULL reads as empty
    SET = "set"  # a list that has each of them once
    PART = "part"  # the same, and no other row of the block has any of them
    SHARED = "shared"  # a set that is the same for every row of the block that has it, or a mark for it (`Term.lookup`)
    CONSTANT = "constant"  # a set that is the same for every row of the block, to be read beside it

    @property
    def is_row(self) -> bool:
        return self in (Kind.ROW, Kind.OWN)

    @property
    def repeated(self) -> "Kind":
        """What it becomes when several rows may have the same."""
        return {Kind.OWN: Kind.ROW, Kind.PART: Kind.SET}.get(self, self)


def held(cte: str) -> str:
    """What a CTE is called where its lists are looked up: around that it may be read under its own name."""
    return f"__held_{cte}"


@dataclass(frozen=True)
class Lookup:
    """Lists that rows of a query do not carry: they are in a CTE, and read where evidence is listed at last. A list beside every joined row
    is copied as often: of TPC-DS's Q23 that was 20 GB, of 200 MB."""

    cte: str
    lists: exp.Expr  # the list of one row of the CTE, which is called `held` there
    is_everywhere: bool  # whether all of the query can read the CTE, or the block around it alone

    def whole(self) -> exp.Expr:
        """The list of the CTE's only row."""
        return exp.Subquery(this=select([copied(self.lists)], self._table()))

    def of(self, numbers: exp.Expr, is_read: bool) -> exp.Expr:
        """What is in the lists of the rows of these numbers. `is_read`: the numbers are read from a row, and not gathered right there."""
        if not is_read:  # Only above what gathers them: below a join, DuckDB carries all of the CTE's lists beside each row.
            by_number = exp.Order(this=copied(self.lists), expressions=[exp.Ordered(this=column(held(self.cte), NUMBER))])
            lists = exp.Subquery(this=select([call("list", by_number)], self._table()))
            return call("flatten", call("list_select", lists, numbers))
        wanted = subquery(exp.Select(expressions=[named(call("unnest", numbers), NUMBER)]), "__wanted")
        found = select([call("flatten", call("list", copied(self.lists)))], self._table())
        found.set("joins", [exp.Join(this=wanted, on=exp.EQ(this=column(held(self.cte), NUMBER), expression=column("__wanted", NUMBER)))])
        return exp.Subquery(this=found)

    def _table(self) -> exp.Table:
        return exp.Table(this=identifier(self.cte), alias=exp.TableAlias(this=identifier(held(self.cte))))


@dataclass(frozen=True)
class Term:
    """A piece of evidence from one occurrence: an SQL expression and how to read it."""

    expression: exp.Expr
    kind: Kind
    present: exp.Expr | None = None  # for ROW and OWN: not NULL when the row exists
    # For SHARED: what reads the set that the expression only marks. For CONSTANT: the same set. For others: the expression is the number of
    # a row of the CTE, or a list of them.
    lookup: Lookup | None = None

    @property
    def row(self) -> exp.Expr:
        """What is not NULL when the row exists: for ROW and OWN."""
        assert self.present is not None
        return self.present

    @property
    def is_mark(self) -> bool:
        """Whether it marks the rows that have a set, which is not beside them."""
        return self.lookup is not None and self.kind is Kind.SHARED

    @property
    def is_numbered(self) -> bool:
        """Whether it has numbers of a CTE's rows in place of what it is evidence of."""
        return self.lookup is not None and self.kind not in (Kind.SHARED, Kind.CONSTANT)


Evidence = dict[int, list[Term]]  # occurrence number -> terms, no term twice


def column(alias: str, name: str) -> exp.Column:
    """`"alias"."name"`, quoted: user names may be keywords."""
    return exp.Column(this=identifier(name), table=identifier(alias))


def identifier(name: str) -> exp.Identifier:
    return exp.Identifier(this=name, quoted=True)


def named(expression: exp.Expr, name: str) -> exp.Alias:
    return exp.Alias(this=expression, alias=identifier(name))


def call(name: str, *arguments: exp.Expr) -> exp.Anonymous:
    return exp.Anonymous(this=name, expressions=list(arguments))


def copied(node: _Node) -> _Node:
    """A copy of a tree with the places in it, without comments. sqlglot's own copies what is known of each node deeply: that
    was a third of the time that it takes to annotate a query."""
    root = type(node)()
    unread: list[tuple[exp.Expr, exp.Expr]] = [(node, root)]
    while unread:
        old, new = unread.pop()
        if old.meta_get("start") is not None or old.meta_get("witness") is not None:
            new.meta.update(old.meta)
        for key, value in old.args.items():
            if isinstance(value, exp.Expr):
                new.args[key] = _child(value, new, key, None, unread)
            elif isinstance(value, list):
                new.args[key] = [
                    _child(part, new, key, index, unread) if isinstance(part, exp.Expr) else part
                    for index, part in enumerate(value)
                ]
            else:
                new.args[key] = value
    return root


def _child(
    value: exp.Expr, parent: exp.Expr, key: str, index: int | None, unread: list[tuple[Any, Any]]
) -> exp.Expr:
    child = type(value)()
    child.parent, child.arg_key, child.index = parent, key, index
    unread.append((value, child))
    return child


def is_not_null(expression: exp.Expr) -> exp.Expr:
    return exp.Not(this=exp.Is(this=exp.Paren(this=copied(expression)), expression=exp.Null()))


def subquery(query: exp.Expr, alias: str) -> exp.Subquery:
    return exp.Subquery(this=query, alias=exp.TableAlias(this=identifier(alias)))


def select(expressions: Sequence[exp.Expr], source: exp.Expr) -> exp.Select:
    return exp.Select(expressions=list(expressions), from_=exp.From(this=source))


def conjuncts(condition: exp.Expr) -> list[exp.Expr]:
    """What AND joins, in order."""
    found, unread = [], [condition]
    while unread:
        part = unread.pop()
        if isinstance(part, exp.Paren):
            unread.append(part.this)
        elif isinstance(part, exp.And):
            unread += [part.right, part.left]
        else:
            found.append(part)
    return found


def all_of(conditions: Iterable[exp.Expr]) -> exp.Expr | None:
    """The conditions joined with AND; None for none."""
    joined: exp.Expr | None = None
    for condition in conditions:
        operand = exp.Paren(this=copied(condition))
        joined = operand if joined is None else exp.And(this=joined, expression=operand)
    return joined


def nothing() -> exp.Alias:
    """The select list of a block of which only the number of rows is read: SQL has no empty one."""
    return named(exp.Literal.number(1), "__none")


def why_name(occurrence: int) -> str:
    return f"__why_{occurrence}"


def cell_name(position: int, occurrence: int) -> str:
    return f"__cell_{position}_{occurrence}"


def token_name(occurrence: int) -> str:
    return f"__token_{occurrence}"


def cell_of(column_name: str, token: exp.Expr) -> exp.Expr:
    """The struct of one cell of evidence: `c` names the column ('*' for the row as such), `t` is the row's token."""
    fields = {"c": exp.Literal.string(column_name), "t": copied(token)}
    pairs = [exp.PropertyEQ(this=exp.to_identifier(name), expression=value) for name, value in fields.items()]
    return exp.Struct(expressions=pairs)


_CELL = re.compile(r"\{'c': '((?:[^']|'')*)', 't': [^{}]*?__token_(\d+)")


def cells_read(annotated: Annotated) -> set[tuple[str, str]]:
    """The tables and columns of all cells that annotated SQL may list: it names both in each struct of `cell_of`."""
    found = ((name.replace("''", "'"), int(number)) for name, number in _CELL.findall(annotated.sql))
    return {(annotated.occurrences[number].table, name) for name, number in found if name != "*"}


def row_cell(column_name: str, token: exp.Expr, kind: Kind) -> Term:
    return Term(cell_of(column_name, token), kind, present=token)


def star_cells(why: Term) -> Term:
    """The cells of `count(*)`: each row of a why term, under the column name '*'."""
    if why.is_numbered and why.lookup is not None:
        return replace(why, lookup=replace(why.lookup, lists=_star_cells(copied(why.lookup.lists))))
    if why.kind.is_row:
        return row_cell("*", why.expression, why.kind)
    return Term(_star_cells(_listed(why)), why.kind)


def _star_cells(tokens: exp.Expr) -> exp.Expr:
    token = exp.to_identifier("token")
    return call("list_transform", tokens, exp.Lambda(this=cell_of("*", token), expressions=[token.copy()]))


def merge(parts: Iterable[Evidence]) -> Evidence:
    """The union of evidence, in order, each term once."""
    merged: Evidence = {}
    for part in parts:
        for occurrence, terms in part.items():
            known = merged.setdefault(occurrence, [])
            known.extend(term for term in terms if term not in known)
    return merged


def as_list(terms: Sequence[Term]) -> exp.Expr:
    """One list-valued expression for several terms; NULL or the empty list when there is no evidence."""
    lists = [_listed(term) for term in terms]
    return lists[0] if len(lists) == 1 else call("flatten", exp.Array(expressions=lists))


def _listed(term: Term) -> exp.Expr:
    if term.is_mark and term.lookup is not None:
        return exp.Case(ifs=[exp.If(this=copied(term.expression), true=term.lookup.whole())])
    listed: exp.Expr = copied(term.expression)
    if term.kind.is_row:
        listed = exp.Array(expressions=[listed])
    elif term.kind is Kind.LIST and term.is_numbered:
        listed = call("list_distinct", listed)
    if term.lookup is not None and term.is_numbered:
        listed = term.lookup.of(listed, is_read=isinstance(term.expression, exp.Column))
    if not term.kind.is_row:
        return listed
    return exp.Case(ifs=[exp.If(this=is_not_null(term.row), true=listed)])


def collected(
    term: Term,
    guards: Sequence[exp.Expr] = (),
    over: Over | None = None,
    distinct: bool = False,
) -> Term:
    """The term gathered over a group (or, with `over`, over a window's frame), from the rows where all guards hold."""
    if term.kind is Kind.CONSTANT:
        return term
    present = term.row if term.kind.is_row else term.expression
    gathered: exp.Expr = copied(term.expression)
    distinct = distinct or (term.is_numbered and over is None)
    if distinct and term.kind is Kind.ROW:
        gathered = exp.Distinct(expressions=[gathered])
    condition = all_of([is_not_null(present), *guards])
    function = "any_value" if term.kind is Kind.SHARED else "list"
    result: exp.Expr = exp.Filter(this=call(function, gathered), expression=exp.Where(this=condition))
    if over is not None:
        result = exp.Window(this=result, **_copied(over))
    if term.kind is Kind.SHARED:
        return Term(result, Kind.SHARED, lookup=term.lookup)
    is_part = term.kind in (Kind.OWN, Kind.PART)
    if not term.kind.is_row:
        result = call("flatten", result)
        # Why-lists repeat once a joined row; without this a chain of joins and groups multiplies them.
        result = call("list_distinct", result) if distinct and not is_part else result
    if is_part:
        return Term(result, Kind.PART if over is None else Kind.SET)  # frames overlap
    return Term(result, Kind.SET if distinct else Kind.LIST, lookup=term.lookup)


def guarded(term: Term, guards: Sequence[exp.Expr]) -> Term:
    """The term where all guards hold, else no evidence."""
    condition = all_of(guards)
    if condition is None or term.kind is Kind.CONSTANT:
        return term

    def if_held(value: exp.Expr) -> exp.Expr:
        return exp.Case(ifs=[exp.If(this=copied(condition), true=copied(value))])

    if term.kind.is_row:
        return replace(term, present=if_held(term.row))
    return replace(term, expression=if_held(term.expression))


def cell_column(cell: Term) -> str:
    """The column that the cells of a row term are of."""
    return str(cell.expression.expressions[0].expression.name)


def _copied(over: Over) -> Over:
    return {
        name: [copied(part) for part in value] if isinstance(value, list) else copied(value)
        for name, value in over.items()
    }
