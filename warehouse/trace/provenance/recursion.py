"""Recursive CTEs with UNION ALL: a row's evidence is its path, the rows behind each step that led to it.

The step reads the evidence of the row it continues like that of any other source and adds its own. Both operands
write out every evidence column, since the engine takes a recursive CTE's types from the first one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from sqlglot import exp

from warehouse.trace.provenance.relations import Readable, Relation
from warehouse.trace.provenance.selecting import aggregates
from warehouse.trace.provenance.syntax.refusals import refuse
from warehouse.trace.provenance.values import (
    Kind,
    as_list,
    call,
    cell_name,
    cell_of,
    column,
    named,
    select,
    subquery,
    token_name,
    why_name,
)


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
        self.node.set("this", self._operand(self.anchor))
        self.node.set("expression", self._operand(self.step))
        return self.node

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
    if not isinstance(union, exp.Union) or union.args.get("distinct") or union.args.get("by_name"):
        refuse("E_RECURSIVE", cte, "a recursive CTE that is not anchor UNION ALL step")
    step = union.expression
    if any(union.args.get(clause) for clause in ("with_", "order", "limit")) or not isinstance(step, exp.Select):
        refuse("E_RECURSIVE", cte, "a recursive CTE that is not anchor UNION ALL step")
    over_rows = any(step.args.get(clause) for clause in ("with_", "distinct", "order", "limit", "qualify"))
    if over_rows or aggregates(step) or step.find(exp.Window) is not None:
        refuse("E_RECURSIVE", step, "a step that aggregates, ranks, sorts or merges the rows it continues")
    found = _references(union, cte.alias)
    if len(found) != 1 or found[0].find_ancestor(exp.Query, exp.Pivot) is not step:
        refuse("E_RECURSIVE", step, "a step that does not read its CTE exactly once, in FROM")
    return union


def _references(query: exp.Expr, name: str) -> list[exp.Table]:
    return [table for table in query.find_all(exp.Table) if table.name.lower() == name.lower() and not table.db]
