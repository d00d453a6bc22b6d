"""The query block of one SELECT, and how its syntax is annotated once all demands are known.

Data columns stay as the analyst wrote them; annotation only appends columns, joins of at most one row, and CTEs of
exactly one row. It never drops, adds or reorders a row.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

from sqlglot import exp

from warehouse.trace.provenance import cells, windows
from warehouse.trace.provenance.narrowing import narrow
from warehouse.trace.provenance.relations import (
    BaseSource,
    Block,
    Item,
    Readable,
    Relation,
    RelationSource,
    Scope,
    Witness,
    position_of,
    repeated,
)
from warehouse.trace.provenance.scope import find_column, local_columns
from warehouse.trace.provenance.selecting import has_aggregate
from warehouse.trace.provenance.ungrouping import may_tell_rows, may_ungroup
from warehouse.trace.provenance.values import (
    GROUPING_SETS,
    NUMBER,
    Evidence,
    Kind,
    Lookup,
    Mark,
    Occurrence,
    Term,
    all_of,
    as_list,
    call,
    cell_column,
    cell_name,
    collected,
    column,
    conjuncts,
    copied,
    identifier,
    is_not_null,
    merge,
    named,
    nothing,
    select,
    subquery,
    why_name,
)

_ANSWER = "__answer"


class SelectBlock(Block):
    """One SELECT: resolved items, group keys, windows and the witnesses of its subqueries."""

    def __init__(
        self,
        node: exp.Select,
        scope: Scope,
        items: Sequence[Item],
        group_keys: Sequence[exp.Expr],
        is_aggregated: bool,
        block_windows: Sequence[exp.Window],
        witnesses: dict[int, Witness],
    ) -> None:
        super().__init__()
        self.node, self.scope, self.items = node, scope, items
        self.group_keys, self.is_aggregated = group_keys, is_aggregated
        group = node.args.get("group")
        self.has_grouping_sets = group is not None and group.find(*GROUPING_SETS) is not None
        self.windows, self.witnesses = block_windows, witnesses
        self.is_ungrouped = self.is_by_row = self.is_annotating = False
        self.columns = tuple(item.name for item in items)
        self.tokens: dict[str, list[tuple[str, tuple[str, ...], bool]]] = {}  # of a block by row: `_tokens_of` by extra column
        self.whys = {n: _kind(terms) for n, terms in self.why.items()}
        self.lookups = _lookups(self.why)

    def _find_support(self, position: int) -> Iterable[int]:
        return cells.evidence_of(self.items[position].resolved, self, self.is_aggregated)

    def rests_on(self, position: int) -> Iterable[tuple[Readable, int]]:
        for read in self.items[position].resolved.find_all(exp.Column):
            source = self.scope.sources.get(read.table.lower())
            if isinstance(source, RelationSource) and (found := position_of(source.columns, read.name)) is not None:
                yield source.relation, found
        yield from ((witness.relation, 0) for witness in self.witnesses.values())

    @property
    def is_one_row(self) -> bool:
        """Whether it is sure to yield one row: aggregates of all that it reads."""
        clauses = ("group", "having", "qualify", "distinct", "limit")
        return self.is_aggregated and not any(self.node.args.get(clause) for clause in clauses)

    @cached_property
    def why(self) -> Evidence:
        """The why-set of one output row: its group, the frames of its windows, and its subqueries."""
        base = group_why(self) if self.is_aggregated and not self.is_ungrouped else self.row_why
        frames = [windows.window_why(base, window) for window in self.windows]
        return merge([base, *frames, *(w.why() for w in self.witnesses.values() if not w.is_row_level)])

    def keep_only(self, position: int, condition: str) -> bool:
        return narrow(self, position, condition)

    def ungroup(self, positions: Sequence[int], has_whys: bool) -> tuple[str, ...] | None:
        """Write the block without its GROUP BY, with one row for each row of each group, if the evidence of these columns can
        be reported for each by itself. The names of the columns that identify the groups; None where it stays as it is."""
        keys = may_ungroup(self, positions, has_whys)
        if keys is None:
            return None
        self.is_ungrouped = self.is_by_row = True
        del self.why
        self.whys, self.lookups = {n: _kind(terms) for n, terms in self.why.items()}, _lookups(self.why)
        kept = [written for written, item in zip(self.node.expressions, self.items, strict=True) if not has_aggregate(item.resolved)]
        self.node.set("expressions", kept)
        for clause in ("group", "having", "order", "limit"):
            self.node.set(clause, None)
        return keys

    def tell_rows(self, has_whys: bool) -> None:
        """Let the evidence of a block whose rows are rows of FROM be bare tokens where that is all there is, if it can be."""
        self.is_by_row = may_tell_rows(self, self.why if has_whys else {})

    def annotate(self) -> exp.Expr:
        self.is_annotating = True
        appended: list[exp.Expr] = []
        for name, number, position in self.extras():
            if position is None:
                appended.append(named(self._why_column(number), name))
                if self.is_by_row and self.whys[number].is_row:
                    self.tokens[name] = [(name, ("*",), self.is_ungrouped and self.whys[number] is Kind.OWN)]
                continue
            terms = cells.evidence_of(self.items[position].resolved, self, self.is_aggregated)[number]
            if self.is_by_row and all(term.kind.is_row and not term.is_numbered for term in terms):
                appended += self._tokens_of(terms, name)
            else:
                appended.append(named(as_list(terms), name))
                if len(terms) == 1 and not terms[0].is_numbered and terms[0].kind in (Kind.ROW, Kind.OWN, Kind.SET, Kind.PART):
                    self.cell_sets.add((position, number))
        self.node.set("expressions", [*self.node.expressions, *appended] or [nothing()])  # ungrouped, `count(*)` of an empty table is neither
        for witness in self.witnesses.values():
            if witness.answered is not None:
                witness.answered.replace(witness.read(_ANSWER))
        if any(witness.is_row_level for witness in self.witnesses.values()):
            _filter_first(self.node, self.scope)
        for witness in self.witnesses.values():
            attach(witness, self.node)
        return self.node

    def _tokens_of(self, terms: Sequence[Term], name: str) -> list[exp.Alias]:
        """Row terms as columns of bare tokens: those that are there in the same rows are one."""
        found: dict[exp.Expr, list[Term]] = {}
        for term in terms:
            found.setdefault(term.row, []).append(term)
        self.tokens[name] = [
            (f"{name}_{i}", tuple(map(cell_column, same)), self.is_ungrouped and all(term.kind is Kind.OWN for term in same))
            for i, same in enumerate(found.values())
        ]
        return [named(copied(row), token) for row, (token, _, _) in zip(found, self.tokens[name], strict=True)]

    def _why_column(self, number: int) -> exp.Expr:
        terms = self.why[number]
        if number in self.lookups:
            return exp.true() if terms[0].kind is Kind.CONSTANT else copied(terms[0].expression)
        return copied(terms[0].expression) if self.whys[number].is_row else as_list(terms)


def _kind(terms: Sequence[Term]) -> Kind:
    """How a consumer of the block reads what the terms are together."""
    [term, *more] = terms
    if more or (term.is_numbered and _handed_on(term) is None):
        return Kind.LIST
    return Kind.SHARED if term.kind is Kind.CONSTANT else term.kind


def _lookups(why: Evidence) -> dict[int, Lookup]:
    alone = {n: _handed_on(terms[0]) for n, terms in why.items() if len(terms) == 1}
    return {n: lookup for n, lookup in alone.items() if lookup is not None}


def _handed_on(term: Term) -> Lookup | None:
    """What consumers of a block can look up themselves."""
    return term.lookup if term.lookup is not None and term.lookup.is_everywhere else None


def group_why(block: SelectBlock) -> Evidence:
    """Every row of the group, also those a FILTER or a NULL argument kept out of one aggregate."""
    same = {
        source.occurrence
        for source in block.scope.sources.values()
        if isinstance(source, BaseSource) and source.token_key in block.group_keys and not block.has_grouping_sets
    }
    why = {
        n: [_any_of(term) if n in same and term.kind.is_row else collected(term, distinct=True) for term in terms]
        for n, terms in block.row_why.items()
    }
    return repeated(why) if block.has_grouping_sets else why  # each row is in a group of every set


def _any_of(term: Term) -> Term:
    """The token of a group whose key it is: all its rows have the same."""
    token = call("any_value", term.expression.copy())
    return Term(token, Kind.ROW, present=token)


def _filter_first(node: exp.Select, scope: Scope) -> None:
    """WHERE of the only FROM item into it, ahead of the witnesses' joins: else DuckDB gathers the witnesses of every row
    and then drops most (TPC-H's Q20: of all of partsupp). WHERE may read aliases of the select list: then it stays."""
    where, item = node.args.get("where"), node.args["from_"].this
    if where is None or node.args.get("joins") or not isinstance(item, (exp.Subquery, exp.Table)):
        return
    parts = conjuncts(where.this)
    moved = [part for part in parts if all(_is_of_from(read, scope) for read in local_columns(part))]
    if not moved:
        return
    left = all_of(part for part in parts if not any(part is other for other in moved))
    node.set("where", exp.Where(this=left) if left is not None else None)
    kept = select([exp.Star()], item)
    kept.set("where", exp.Where(this=all_of(moved)))
    node.set("from_", exp.From(this=subquery(kept, item.alias_or_name)))


def _is_of_from(read: exp.Column, scope: Scope) -> bool:
    """Whether a column names its FROM item, or is one of this block's; those of a witness are not."""
    if read.table:
        return scope.owner_of(read.table.lower()) is not None
    return find_column(read.parts, scope) is not None


def attach(witness: Witness, node: exp.Select) -> None:
    """Put a witness's rows beside the block: a one-row CTE, or a left join that finds at most one row."""
    if not witness.is_row_level:
        body, inner = _gathering(witness)
        _add_cte(witness, select(body, inner), node)
        return
    joins = list(node.args.get("joins") or [])
    for join in joins:
        # The comma binds weaker than the join that is appended; as CROSS JOIN it does not.
        if not (join.side or join.kind or join.args.get("on") is not None or join.args.get("using")):
            join.set("kind", "CROSS")
    node.set("joins", [*joins, _witness_join(witness, node)])


def _add_cte(witness: Witness, query: exp.Select, node: exp.Select) -> None:
    """Make a CTE of a witness. It is computed once: the numbers of its rows are others each time."""
    cte = exp.CTE(this=query, alias=exp.TableAlias(this=identifier(witness.cte)), materialized=witness.is_numbered or None)
    if witness.home is not None:
        known = [other for other in witness.home.expressions if other.alias != witness.cte]  # of a subquery that is alike
        place = next((i + 1 for i, other in enumerate(known) if other is witness.after), 0)
        witness.home.set("expressions", [*known[:place], cte, *known[place:]])  # before what reads it: what it reads itself is annotated later
        return
    written = node.args.get("with_")
    node.set("with_", exp.With(expressions=[*(written.expressions if written is not None else []), cte]))


def _gathering(witness: Witness) -> tuple[list[exp.Expr], exp.Subquery]:
    """The select list that gathers a witness's evidence, and the subquery it reads."""
    relation = witness.relation
    holder = subquery(exp.Select(), "__rows")
    relation.holder = holder
    gathered: Evidence = relation.why_terms("__rows")
    body: list[exp.Expr] = [named(as_list([collected(gathered[n][0], distinct=True)]), why_name(n)) for n in gathered]
    if witness.answered is not None or relation.readers > 1:
        body.append(named(_answer(witness), _ANSWER))
    for name, number, position in relation.extras():
        if position is not None:
            [term] = relation.cell_terms("__rows", position)[number]
            body.append(named(collected(term).expression, name))
    # An aggregate, so that it is one row without evidence, too: else it would repeat the rows that it is joined to.
    return body or [named(exp.Count(this=exp.Star()), "__none")], holder


def _answer(witness: Witness) -> exp.Expr:
    """What the subquery answers, of the rows that a witness gathers: its one value, or that there are some."""
    if witness.form == "scalar":
        return call("any_value", column("__rows", witness.relation.columns[0]))
    return exp.GT(this=exp.Count(this=exp.Star()), expression=exp.Literal.number(0))


def _witness_join(witness: Witness, node: exp.Select) -> exp.Join:
    body, inner = _gathering(witness)
    query = select(body, inner)
    if not witness.probes:
        return _lateral_join(query, witness.alias)
    # Under names of our own: a column called like a FROM item outside would take its place in the probe.
    names = [f"__probe_{i}" for i in range(len(witness.probes))]
    inner.args["alias"].set("columns", [identifier(name) for name in names])
    matched = [column("__rows", name) for name in names]
    if witness.is_correlated:
        query.set("where", exp.Where(this=_equal(matched, witness.probes)))
        return _lateral_join(query, witness.alias)
    # Uncorrelated IN: one hash join against the grouped keys, instead of a search for each row.
    keys = [named(read.copy(), f"__key_{i}") for i, read in enumerate(matched)]
    number = named(exp.Window(this=exp.RowNumber()), NUMBER)
    query.set("expressions", [*keys, *query.expressions, number])
    query.set("group", exp.Group(expressions=[read.copy() for read in matched]))
    query.set("where", exp.Where(this=all_of(is_not_null(read) for read in matched)))
    _add_cte(witness, query, node)
    condition = _equal([column(witness.alias, key.alias) for key in keys], witness.probes)
    numbered = exp.Table(this=identifier(witness.cte), alias=exp.TableAlias(this=identifier(witness.alias)))
    return exp.Join(this=numbered, side="LEFT", on=condition)


def _equal(columns: Sequence[exp.Expr], probes: Sequence[exp.Expr]) -> exp.Expr | None:
    pairs = zip(columns, probes, strict=True)
    return all_of(exp.EQ(this=read.copy(), expression=exp.Paren(this=probe.copy())) for read, probe in pairs)


def _lateral_join(query: exp.Select, alias: str) -> exp.Join:
    lateral = exp.Lateral(this=exp.Subquery(this=query), alias=exp.TableAlias(this=identifier(alias)))
    return exp.Join(this=lateral, side="LEFT", on=exp.Boolean(this=True))


Columns = list[tuple[exp.Expr, Mark | None]]


def final_columns(
    relation: Relation, alias: str, values: Sequence[int], occurrences: Sequence[Occurrence], has_whys: bool
) -> Columns:
    """The published extra columns of the outermost block: lists, empty rather than NULL, with a mark where there can be evidence. A token
    may be in one several times: whoever reads them takes each once after unnesting, which costs a hash table, and not another join or a
    `list_distinct` for every list here."""
    found: Columns = []
    whys = relation.why_terms(alias)
    for n in occurrences if has_whys else ():
        found.append(_final(whys, why_name(n.number), None, n))
    for index, position in enumerate(values):
        evidence = relation.cell_terms(alias, position)
        found += [_final(evidence, cell_name(index, n.number), index, n) for n in occurrences]
    return found


def _final(evidence: Evidence, name: str, value: int | None, occurrence: Occurrence) -> tuple[exp.Expr, Mark | None]:
    empty = exp.Array(expressions=[])
    if occurrence.number not in evidence:
        return named(empty, name), None
    listed = exp.Coalesce(this=as_list(evidence[occurrence.number]), expressions=[empty])
    return named(listed, name), Mark(name, value, occurrence)


def member_columns(
    block: SelectBlock, alias: str, values: Sequence[int], occurrences: Sequence[Occurrence], has_whys: bool
) -> Columns:
    """The same of a block by row: tokens and lists as it has them."""
    read: list[tuple[str, str, int | None, Occurrence]] = [
        (why_name(n.number), why_name(n.number), None, n) for n in occurrences if has_whys and n.number in block.whys
    ]
    read += [
        (cell_name(position, n.number), cell_name(index, n.number), index, n)
        for index, position in enumerate(values) for n in occurrences if n.number in block.support(position)
    ]
    return [
        (named(column(alias, token), name + token.removeprefix(own)), Mark(name + token.removeprefix(own), index, n, columns, is_own))
        for own, name, index, n in read
        for token, columns, is_own in block.tokens.get(own, [(own, (), False)])
    ]
