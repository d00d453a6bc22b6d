"""Set operations: the rows of several queries under one another, each with the evidence of its own branch.

The engine unites the types of the branches, as it does for the original: INTERSECT and EXCEPT are decided on the
united rows, so that their columns get the same types. Nothing here drops or merges a row but by GROUP BY and HAVING.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlglot import exp

from warehouse.trace.provenance.relations import Relation, position_of
from warehouse.trace.provenance.values import (
    Kind,
    as_list,
    call,
    cell_name,
    column,
    named,
    select,
    subquery,
    why_name,
)

BRANCH = "__branch"


class UnionBlock(Relation):
    """The rows of several blocks, by position or by name, each with its own evidence.

    It is UNION ALL itself; UNION, INTERSECT and EXCEPT are a GROUP BY around it. For the last two, each row says in
    column `__branch` which operand it is of.
    """

    def __init__(
        self, node: exp.SetOperation, branches: Sequence[Relation], by_name: bool, tells_branch: bool = False
    ) -> None:
        super().__init__()
        self.node, self.branches, self.by_name, self.tells_branch = node, branches, by_name, tells_branch
        self.columns = _union_columns(branches, by_name)
        self.whys = {}
        for number in dict.fromkeys(number for branch in branches for number in branch.whys):
            kinds = [branch.whys[number] for branch in branches if number in branch.whys]
            if len(kinds) > 1:  # an occurrence that two branches read is in a CTE: its rows come once from each
                kinds = [kind.repeated for kind in kinds]
            lookups = [branch.lookups.get(number) for branch in branches if number in branch.whys]
            is_same = all(found == (kinds[0], lookups[0]) for found in zip(kinds, lookups, strict=True))
            self.whys[number] = kinds[0] if is_same else Kind.LIST
            if is_same and lookups[0] is not None:
                self.lookups[number] = lookups[0]

    def _find_support(self, position: int) -> Iterable[int]:
        return dict.fromkeys(number for branch, own in self.rests_on(position) for number in branch.support(own))

    def rests_on(self, position: int) -> Iterable[tuple[Relation, int]]:
        for branch in self.branches:
            if (own := self._position_in(branch, position)) is not None:
                yield branch, own

    def _position_in(self, branch: Relation, position: int) -> int | None:
        return position_of(branch.columns, self.columns[position]) if self.by_name else position

    def annotate(self) -> exp.Expr:
        for position in self.demanded:
            for branch, own in self.rests_on(position):
                branch.demanded.add(own)
        united: exp.Expr = self._branch(0)
        for index in range(1, len(self.branches)):
            # By name even where the analyst wrote positions: each branch then names only its own evidence, and the
            # engine pads the rest with NULL. Padding by hand is quadratic: 400 branches were 7 MB of SQL and 16 s.
            united = exp.Union(this=united, expression=self._branch(index), distinct=False, by_name=True)
        for clause in ("with_", "order", "limit"):
            united.set(clause, self.node.args.get(clause))
        return united

    def _branch(self, index: int) -> exp.Select:
        """The branch behind a select that gives its columns and its own evidence the names of the union."""
        branch = self.branches[index]
        branch.holder = subquery(exp.Select(), "__branch")
        names = branch.columns if self.by_name else self.columns
        data = [named(column("__branch", own), name) for own, name in zip(branch.columns, names, strict=True)]
        if self.tells_branch:
            data.append(named(exp.Literal.number(index), BRANCH))
        return select([*data, *self._own_evidence(branch)], branch.holder)

    def _own_evidence(self, branch: Relation) -> list[exp.Expr]:
        found: list[exp.Expr] = []
        for number, [term] in branch.why_terms("__branch").items():
            is_as_read = term.kind.repeated is self.whys[number].repeated and term.lookup == self.lookups.get(number)
            value = term.expression if is_as_read else as_list([term])
            found.append(named(value, why_name(number)))
        for position in sorted(self.demanded):
            own = self._position_in(branch, position)
            terms = branch.cell_terms("__branch", own) if own is not None else {}
            found += [named(term.expression, cell_name(position, number)) for number, [term] in terms.items()]
        return found


def _union_columns(branches: Sequence[Relation], by_name: bool) -> tuple[str, ...]:
    if not by_name:
        return branches[0].columns
    names: list[str] = []
    for branch in branches:
        names += [name for name in branch.columns if position_of(names, name) is None]
    return tuple(names)


def branch_condition(node: exp.SetOperation, alias: str) -> exp.Expr | None:
    """What HAVING asks of a group of equal rows: in both operands (INTERSECT), not in the second (EXCEPT)."""
    first, second = (_has_branch(alias, index) for index in (0, 1))
    if isinstance(node, exp.Intersect):
        return exp.And(this=first, expression=second)
    if isinstance(node, exp.Except):
        return exp.Not(this=second)
    return None


def _has_branch(alias: str, index: int) -> exp.Expr:
    return call("bool_or", exp.EQ(this=column(alias, BRANCH), expression=exp.Literal.number(index)))
