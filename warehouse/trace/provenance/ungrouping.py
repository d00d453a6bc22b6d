"""Whether a grouped SELECT can be written without its GROUP BY, so that evidence comes row by row and no list is held of it.

A list of two million cells is most of the time and the memory that one number of a large table takes to trace.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from warehouse.trace.provenance.relations import Block, RelationSource
from warehouse.trace.provenance.selecting import has_aggregate
from warehouse.trace.provenance.syntax.engine import function_name
from warehouse.trace.provenance.values import Evidence, Kind

# These are NULL where they consider no row, and nowhere else.
_NULL_OF_NOTHING = frozenset("sum avg mean fsum favg min max median quantile quantile_cont quantile_disc".split())


def may_ungroup(block: Block, positions: Sequence[int], has_whys: bool) -> tuple[str, ...] | None:
    """The output columns that tell the groups apart, none for a single group; None where the evidence of an output column
    depends on more than one row of its group, or where its columns do not identify a group."""
    is_plain = block.is_aggregated and not block.has_grouping_sets and not block.windows
    if not is_plain or any(block.node.args.get(clause) for clause in ("distinct", "qualify")):
        return None
    has_group_level = any(not witness.is_row_level for witness in block.witnesses.values())
    if has_whys and (has_group_level or not _are_of_rows(block.row_why)):
        return None  # what is evidence of every row alike would be repeated beside each
    if any(_needs_group(block.items[position].resolved, block) for position in positions):
        return None
    if any(isinstance(source, RelationSource) and source.cte is not None for source in block.scope.sources.values()):
        return None  # each row would have a copy of the lists that it knows by number
    keys = [next((item.name for item in block.items if item.resolved == key), None) for key in block.group_keys]
    return tuple(key for key in keys if key is not None) if None not in keys else None


def may_tell_rows(block: Block, why: Evidence) -> bool:
    """Whether each row of a block comes from one row of its FROM, and may have its evidence, `why` of it, beside it."""
    return not block.is_aggregated and block.node.args.get("distinct") is None and _are_of_rows(why)


def _are_of_rows(why: Evidence) -> bool:
    """Whether no evidence is that of every row alike, or of every row that has the same number."""
    return all(term.kind not in (Kind.SHARED, Kind.CONSTANT) and not term.is_numbered for terms in why.values() for term in terms)


def _needs_group(value: exp.Expr, block: Block) -> bool:
    """Whether a branch is chosen by an aggregate, or a subquery is asked of the group."""
    if value in block.group_keys:
        return False
    for part in value.walk():
        if isinstance(part, (exp.Query, exp.Exists)):
            return True
        is_branch = isinstance(part, (exp.Case, exp.If, exp.Coalesce))
        if is_branch and has_aggregate(part) and not (isinstance(part, exp.Coalesce) and _is_null_of_nothing(part)):
            return True
    return False


def _is_null_of_nothing(node: exp.Coalesce) -> bool:
    """Whether it is an aggregate that is NULL where there are no rows, and a constant for that."""
    value = node.this
    while isinstance(value, (exp.Paren, exp.Cast, exp.Filter)):
        value = value.this
    return function_name(value) in _NULL_OF_NOTHING and not any(other.find(exp.Column, exp.Func) for other in node.expressions)
