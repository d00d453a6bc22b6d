"""Cell evidence of expressions: from which column of which row a value was computed. One rule a function.

Evidence follows the value, not the decision: the branch that CASE took (for a constant branch what chose it), the
argument that COALESCE returned, the rows an aggregate considered. No rule changes the expression it reads.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from warehouse.trace.provenance import windows
from warehouse.trace.provenance.relations import Block, ComputedSource, Scope, position_of, repeated
from warehouse.trace.provenance.selecting import has_aggregate
from warehouse.trace.provenance.syntax.engine import NULL_KEEPING, function_name, is_aggregate
from warehouse.trace.provenance.syntax.refusals import refuse
from warehouse.trace.provenance.values import (
    Evidence,
    Kind,
    Over,
    Term,
    as_list,
    collected,
    copied,
    guarded,
    is_not_null,
    merge,
    star_cells,
)

# In these, only the first argument is a value; the rest says how (a fraction, a separator) or in which order.
_VALUE_FIRST = frozenset(
    "arg_max arg_min max_by min_by argmax argmin quantile quantile_cont quantile_disc median string_agg listagg "
    "group_concat bitstring_agg mad mode histogram min max any_value".split()
)
_FEW_BRANCHES = 4  # each has columns of its own where a query is ungrouped
_DECIDED_BY_SECOND = frozenset("arg_max arg_min max_by min_by argmax argmin".split())


def evidence_of(expression: exp.Expr, block: Block, grouped: bool) -> Evidence:
    """The cells of a resolved expression; `grouped` means after GROUP BY, where only keys and aggregates remain."""
    if grouped and expression in block.group_keys:
        return key_rule(expression, block)
    if isinstance(expression, (exp.Grouping, exp.GroupingId)):
        return {}  # the query, not the data, decides the grouping set of a row
    if isinstance(expression, exp.Column):
        return column_rule(expression, block, grouped)
    if isinstance(expression, exp.Case):
        return case_rule(expression, block, grouped)
    if isinstance(expression, exp.If):
        return branch_rule([(expression.this, expression.args["true"])], expression.args.get("false"), block, grouped)
    if isinstance(expression, exp.Coalesce):
        return coalesce_rule(expression, block, grouped)
    if isinstance(expression, exp.Window):
        return window_rule(expression, block, grouped)
    if isinstance(windows.bare_function(expression), exp.Func) and is_aggregate(windows.bare_function(expression)):
        return aggregate_rule(expression, block)
    if isinstance(expression, (exp.Subquery, exp.Select, exp.Exists)) or expression.args.get("query") is not None:
        return subquery_rule(expression, block, grouped)
    return merge(evidence_of(operand, block, grouped) for operand in expression.iter_expressions())


def column_rule(node: exp.Column, block: Block, grouped: bool) -> Evidence:
    name = node.name.lower()
    if not node.table:
        merged = merged_column(name, block.scope)
        return evidence_of(merged, block, grouped) if merged is not None else {}  # a lambda's parameter
    owner = block.scope.owner_of(node.table.lower())
    assert owner is not None  # `resolve` found it
    if grouped and owner is block.scope:
        refuse("E_RESOLVE", node, "neither grouped by nor aggregated")
    around: Scope | None = block.scope
    while around is not None and around is not owner:
        if around.has_column_called(node.table):  # DuckDB would take `table.__cell` for a field of that column
            refuse("E_CORRELATED", node, "a column inside the subquery is called like the FROM item outside")
        around = around.outer
    source = owner.sources[node.table.lower()]
    if isinstance(source, ComputedSource):
        return merge(evidence_of(argument, block, False) for argument in source.arguments)
    position = position_of(source.columns, name)
    assert position is not None  # `resolve` found it
    if block.is_annotating:
        source.demand(position)
    return owner.of_row(source.cells(position)) if owner is block.scope else repeated(source.cells(position))


def key_rule(key: exp.Expr, block: Block) -> Evidence:
    """A key's cells in all rows of the group; none in a grouping set that leaves the key out and makes it NULL."""
    if block.is_ungrouped:
        return evidence_of(key, block, False)
    evidence = gather(evidence_of(key, block, False), ())
    if not block.has_grouping_sets:
        return evidence
    is_of_set = exp.EQ(this=exp.Grouping(expressions=[copied(key)]), expression=exp.Literal.number(0))
    return {
        n: [Term(exp.Case(ifs=[exp.If(this=copied(is_of_set), true=as_list(terms))]), Kind.LIST)]
        for n, terms in evidence.items()
    }


def merged_column(name: str, scope: Scope | None) -> exp.Expr | None:
    """What a USING column of this block, or of one around it, is made of."""
    while scope is not None and name not in scope.merged:
        scope = scope.outer
    return scope.merged[name] if scope is not None else None


def case_rule(node: exp.Case, block: Block, grouped: bool) -> Evidence:
    """The value of the branch taken; for a constant branch the conditions that chose it."""
    operand = node.this
    branches = []
    for branch in node.args["ifs"]:
        condition = branch.this if operand is None else exp.EQ(this=copied(operand), expression=copied(branch.this))
        branches.append((condition, branch.args["true"]))
    return branch_rule(branches, node.args.get("default"), block, grouped)


def coalesce_rule(node: exp.Coalesce, block: Block, grouped: bool) -> Evidence:
    """The first argument that is not NULL, alone."""
    if block.is_ungrouped and grouped and has_aggregate(node):
        return evidence_of(node.this, block, grouped)  # `may_ungroup` found that it is NULL only where it considers no row
    arguments = [node.this, *node.expressions]
    return branch_rule([(is_not_null(argument), argument) for argument in arguments], None, block, grouped)


def branch_rule(
    branches: Sequence[tuple[exp.Expr, exp.Expr]],
    default: exp.Expr | None,
    block: Block,
    grouped: bool,
) -> Evidence:
    taken = [
        (condition, evidence_of(value, block, grouped) or decision_rule([condition], block, grouped))
        for condition, value in branches
    ]
    otherwise: Evidence = {}
    if default is not None and not isinstance(default, exp.Null):
        conditions = [condition for condition, _ in branches]
        otherwise = evidence_of(default, block, grouped) or decision_rule(conditions, block, grouped)
    if block.is_by_row and len(taken) <= _FEW_BRANCHES:
        return merge(_where_taken(taken, otherwise, place) for place in range(len(taken) + 1))
    numbers = merge([*(evidence for _, evidence in taken), otherwise])
    return {n: [_branched(taken, otherwise, n)] for n in numbers}


def _where_taken(taken: Sequence[tuple[exp.Expr, Evidence]], otherwise: Evidence, place: int) -> Evidence:
    """The evidence of one branch, of the last one what is otherwise, in the rows that take it: tokens stay tokens."""
    ifs = [exp.If(this=copied(condition), true=exp.Boolean(this=i == place)) for i, (condition, _) in enumerate(taken[: place + 1])]
    is_taken = exp.Case(ifs=ifs, default=exp.Boolean(this=place == len(taken)))
    evidence = taken[place][1] if place < len(taken) else otherwise
    return {n: [guarded(term, [is_taken]) for term in terms] for n, terms in evidence.items()}


def decision_rule(conditions: Sequence[exp.Expr], block: Block, grouped: bool) -> Evidence:
    """A branch that is a constant holds no cells: what was read to choose it is its evidence. What was read by IN or
    EXISTS is not known, and is refused."""
    return merge(evidence_of(condition, block, grouped) for condition in conditions)


def _branched(taken: Sequence[tuple[exp.Expr, Evidence]], otherwise: Evidence, number: int) -> Term:
    ifs = [
        exp.If(this=copied(condition), true=as_list(evidence[number]) if number in evidence else exp.Null())
        for condition, evidence in taken
    ]
    default = as_list(otherwise[number]) if number in otherwise else None
    return Term(exp.Case(ifs=ifs, default=default), Kind.LIST)


def aggregate_rule(node: exp.Expr, block: Block, over: Over | None = None) -> Evidence:
    """The arguments' cells, over the rows that the aggregate considered."""
    grouped = over is not None and block.is_aggregated
    function = windows.bare_function(node)
    arguments = aggregate_arguments(node, function)
    guards = [*filter_guards(node), *null_guards(function, arguments)]
    values = arguments[:1] if function_name(function) in _VALUE_FIRST else arguments
    considered = merge(evidence_of(value, block, grouped) for value in values) if arguments else _counted_rows(block, grouped)
    if block.is_ungrouped:
        return {n: [guarded(term, guards) for term in terms] for n, terms in considered.items()}
    found = gather(considered, guards, over)
    return repeated(found) if block.has_grouping_sets else found  # each row is in a group of every set


def aggregate_arguments(node: exp.Expr, function: exp.Expr) -> list[exp.Expr]:
    """What is aggregated: `x` of `sum(distinct x)`, of `list(x order by y)`, of WITHIN GROUP; none for count(*)."""
    within = node
    while isinstance(within, (exp.Filter, exp.IgnoreNulls, exp.RespectNulls)):
        within = within.this
    if isinstance(within, exp.WithinGroup):
        return [ordered.this for ordered in within.expression.expressions]
    operands = [operand for operand in function.iter_expressions() if not isinstance(operand, exp.Star)]
    bare: list[exp.Expr] = []
    for operand in operands:
        while isinstance(operand, (exp.Order, exp.IgnoreNulls)):
            operand = operand.this
        bare.extend(operand.expressions if isinstance(operand, exp.Distinct) else [operand])
    return [operand for operand in bare if not isinstance(operand, exp.Ordered)]


def filter_guards(node: exp.Expr) -> list[exp.Expr]:
    """The condition of FILTER: rows it drops are no evidence."""
    while isinstance(node, (exp.IgnoreNulls, exp.RespectNulls)):
        node = node.this
    return [node.expression.this] if isinstance(node, exp.Filter) else []


def null_guards(function: exp.Expr, arguments: Sequence[exp.Expr]) -> list[exp.Expr]:
    """NULL-skipping aggregates consider the rows whose arguments are there; arg_max those whose second is."""
    name = function_name(function)
    if name in NULL_KEEPING:
        return []
    if name in _DECIDED_BY_SECOND:
        return [is_not_null(arguments[1])]
    considered = arguments[:1] if name in _VALUE_FIRST else arguments
    return [is_not_null(argument) for argument in considered]


def gather(evidence: Evidence, guards: Sequence[exp.Expr], over: Over | None = None) -> Evidence:
    """Row evidence gathered over a group, or over a window's frame."""
    return {n: [collected(term, guards, over) for term in terms] for n, terms in evidence.items()}


def window_rule(node: exp.Window, block: Block, grouped: bool) -> Evidence:
    over = windows.frame_of(node)
    if windows.is_pick(node):
        function = windows.bare_function(node.this)
        if isinstance(node.this, exp.Filter):
            refuse("E_WINDOW", node, "FILTER on a function that picks one row")
        default = function.args.get("default")
        handed_on = evidence_of(default, block, grouped) if default is not None else {}
        return windows.picked(node, evidence_of(function.this, block, grouped), handed_on)
    if windows.is_rank(node):
        keys = windows.rank_order(node)
        cells = merge(evidence_of(key, block, grouped) for key in keys) if keys else _counted_rows(block, grouped)
        return gather(cells, (), over)
    return aggregate_rule(node.this, block, over)


def subquery_rule(node: exp.Expr, block: Block, grouped: bool) -> Evidence:
    """A scalar subquery hands on the cells of its one column; one of a group was asked at each row of it."""
    witness = block.witness_of(node)
    if witness is None or witness.form != "scalar":
        refuse("E_SUBQUERY_CELL", node, "the truth of IN or EXISTS has no cells")
    if block.is_annotating:
        witness.relation.demanded.add(0)
    return gather(witness.cells(), ()) if grouped and witness.is_row_level else witness.cells()


def _counted_rows(block: Block, grouped: bool) -> Evidence:
    """The rows that count(*) counts: those of FROM, not the witnesses of WHERE."""
    rows = merge(block.scope.of_row(source.why()) for source in block.scope.sources.values())
    evidence = {n: [star_cells(term) for term in terms] for n, terms in rows.items()}
    if not grouped:
        return evidence
    found = gather(evidence, ())
    return repeated(found) if block.has_grouping_sets else found
