"""Recursive CTEs: a row's evidence is its path, the rows behind each step that led to it.

The step reads the evidence of the row it continues like that of any other source and adds its own. Both operands
write out every evidence column, since the engine takes a recursive CTE's types from the first one.

UNION continues a row once, however many paths lead to it, and ends where a step finds no other row. Beside a list, a row
that a cycle leads back to is another each time. So each row is repeated, once without evidence and once for each piece of
it, in a list of one. There are only so many of these, and what a step hands on of a list is what it hands on of each
piece. The recursion is read through a GROUP BY that lists the pieces again: those of all paths.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from sqlglot import exp

from warehouse.trace.provenance.relations import Readable, Relation
from warehouse.trace.provenance.selecting import aggregates
from warehouse.trace.provenance.sources import is_comma
from warehouse.trace.provenance.syntax.refusals import refuse
from warehouse.trace.provenance.values import (
    Kind,
    Term,
    as_list,
    call,
    cell_name,
    cell_of,
    collected,
    column,
    identifier,
    named,
    select,
    subquery,
    token_name,
    why_name,
)

_PIECE = "__piece"


class SelfReference(Readable):
    """The rows of the step before, as the step reads them: every occurrence may be on the path to them."""

    def __init__(self, columns: Sequence[str], numbers: Sequence[int]) -> None:
        super().__init__()
        self.columns = tuple(columns)
        self.whys = dict.fromkeys(numbers, Kind.LIST)

    def _find_support(self, position: int) -> Iterable[int]:
        return self.whys


class RecursiveBlock(Relation):
    """Anchor and step. If the cells of one column are asked for, those of all are: the step may exchange them."""

    def __init__(
        self, node: exp.Union, anchor: Relation, step: Relation, reference: SelfReference,
        tables: Mapping[int, exp.Subquery],
    ) -> None:  # fmt: skip
        super().__init__()
        self.node, self.anchor, self.step, self.tables = node, anchor, step, tables
        self.columns, self.whys = reference.columns, reference.whys

    def _find_support(self, position: int) -> Iterable[int]:
        return self.whys

    def annotate(self) -> exp.Expr:
        if self.demanded:
            for relation in (self, self.anchor, self.step):
                relation.demanded.update(range(len(self.columns)))
        is_distinct = bool(self.node.args.get("distinct")) and bool(self.extras())
        for operand, relation in (("this", self.anchor), ("expression", self.step)):
            lists = self._operand(relation)
            self.node.set(operand, self._in_pieces(lists) if is_distinct else lists)
        return self._gathered() if is_distinct else self.node

    def _in_pieces(self, lists: exp.Select) -> exp.Select:
        """Each row of an operand without evidence, and with each piece of it alone."""
        names = [name for name, _, _ in self.extras()]
        piece = exp.to_identifier("piece")
        pieces: list[exp.Expr] = [exp.Array(expressions=[exp.Null()])]
        for name in names:
            alone = exp.PropertyEQ(this=exp.to_identifier(name), expression=exp.Array(expressions=[piece.copy()]))
            body = exp.Lambda(this=exp.Struct(expressions=[alone]), expressions=[piece.copy()])
            pieces.append(call("list_transform", column("__lists", name), body))
        each = named(call("unnest", call("flatten", exp.Array(expressions=pieces))), _PIECE)
        repeated = select([*self._data("__lists"), each], subquery(lists, "__lists"))
        read = [
            named(call("struct_extract", column("__pieces", _PIECE), exp.Literal.string(name)), name) for name in names
        ]
        return select([*self._data("__pieces"), *read], subquery(repeated, "__pieces"))

    def _gathered(self) -> exp.Select:
        """The recursion, under its own name, and around it each row once with all pieces of its evidence."""
        assert self.holder is not None
        name = self.holder.alias
        found = exp.CTE(this=self.node, alias=exp.TableAlias(this=identifier(name)))
        evidence = [
            named(collected(Term(column(name, extra), Kind.LIST)).expression, extra) for extra, _, _ in self.extras()
        ]
        query = select([*self._data(name), *evidence], exp.Table(this=identifier(name)))
        query.set("group", exp.Group(expressions=[column(name, read) for read in self.columns]))
        query.set("with_", exp.With(expressions=[found], recursive=True))
        return query

    def _data(self, alias: str) -> list[exp.Expr]:
        return [named(column(alias, name), name) for name in self.columns]

    def _operand(self, relation: Relation) -> exp.Select:
        relation.holder = subquery(exp.Select(), "__operand")
        data = [
            named(column("__operand", own), name)
            for own, name in zip(relation.columns, self.columns, strict=True)
        ]
        whys = relation.why_terms("__operand")
        evidence = [named(as_list(whys[n]) if n in whys else self._none(n), why_name(n)) for n in self.whys]
        for position in sorted(self.demanded):
            cells = relation.cell_terms("__operand", position)
            for n in self.support(position):
                value = as_list(cells[n]) if n in cells else self._none(n, is_cell=True)
                evidence.append(named(value, cell_name(position, n)))
        return select([*data, *evidence], relation.holder)

    def _none(self, number: int, is_cell: bool = False) -> exp.Subquery:
        """No evidence of an occurrence, but of the type that its tokens have."""
        table = self.tables[number].copy()
        table.set("joins", None)
        token = column(table.alias, token_name(number))
        query = select([call("list", cell_of("*", token) if is_cell else token)], table)
        query.set("where", exp.Where(this=exp.Boolean(this=False)))
        return exp.Subquery(this=query)


def is_recursive(cte: exp.CTE) -> bool:
    """Whether a CTE of WITH RECURSIVE reads itself."""
    written = cte.parent
    return written is not None and bool(written.args.get("recursive")) and bool(_references(cte.this, cte.alias))


def check_recursion(cte: exp.CTE) -> exp.Union:
    """The union of a recursive CTE whose step continues each row on its own; anything else is refused."""
    union = cte.this
    if not isinstance(union, exp.Union) or union.args.get("by_name"):
        refuse("E_RECURSIVE", cte, "a recursive CTE that is not anchor UNION [ALL] step")
    step = union.expression
    if any(union.args.get(clause) for clause in ("with_", "order", "limit")) or not isinstance(step, exp.Select):
        refuse("E_RECURSIVE", cte, "a recursive CTE that is not anchor UNION [ALL] step")
    over_rows = any(step.args.get(clause) for clause in ("with_", "distinct", "order", "limit", "qualify"))
    if over_rows or aggregates(step) or step.find(exp.Window) is not None:
        refuse("E_RECURSIVE", step, "a step that aggregates, ranks, sorts or merges the rows it continues")
    found = _references(union, cte.alias)
    if len(found) != 1 or found[0].find_ancestor(exp.Query, exp.Pivot) is not step:
        refuse("E_RECURSIVE", step, "a step that does not read its CTE exactly once, in FROM")
    if union.args.get("distinct") and (clause := _compares(step, found[0])) is not None:
        refuse("E_RECURSIVE", clause, "with UNION, a clause that compares, counts or picks the rows that the step continues")
    return union


def _compares(step: exp.Select, reference: exp.Table) -> exp.Expr | None:
    """The item of FROM whose rows depend on which rows are continued at once: in pieces, these are others."""
    first = step.args["from_"].this
    is_before = first is reference
    joins: list[exp.Join] = [*(first.args.get("joins") or []), *(step.args.get("joins") or [])]  # of `(from a join b)`, on `a`
    for join in joins:
        is_before = is_before and not is_comma(join)
        words = {word.upper() for word in (join.side, join.kind, join.method) if word}
        if join.this is reference and words & {"LEFT", "FULL", "ANTI", "ASOF"}:
            return join
        if is_before and words & {"RIGHT", "FULL"}:
            return join
        is_before = is_before or join.this is reference
    pivots: list[exp.Pivot] = reference.args.get("pivots") or []
    return next((pivot for pivot in pivots if not pivot.args.get("unpivot")), None)


def _references(query: exp.Expr, name: str) -> list[exp.Table]:
    return [table for table in query.find_all(exp.Table) if table.name.lower() == name.lower() and not table.db]
