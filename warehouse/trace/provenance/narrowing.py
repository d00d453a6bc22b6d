"""Rows that are not wanted, left out as early as possible: a condition on an output column is carried to where its rows come
from, so that for one row of a rollup only what belongs to it is read and listed.

A condition is an SQL template with `{value}`. A row that it is true for is never left out, nor what it was made of; of others
some may stay. Conditions go where DuckDB's optimizer does not take them: through a CTE, through GROUP BY by way of a
join, into the witnesses of a subquery.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeGuard

import sqlglot
from sqlglot import exp

from warehouse.trace.provenance.relations import BaseSource, Block, Relation, RelationSource, Source, position_of
from warehouse.trace.provenance.scope import resolve
from warehouse.trace.provenance.syntax.writing import written
from warehouse.trace.provenance.values import column, conjuncts, copied, named, select, subquery

_LOOKUP, _KEY, _VALUE = "__lookup", "__key", "__value"


def narrow(block: Block, position: int, condition: str) -> bool:
    """Leave out of one SELECT the rows for whose output column the condition is not true; whether all such rows are. A key is the
    same in all rows of its group or partition, so it is asked of them in WHERE."""
    value, node = block.items[position].resolved, block.node
    if node.args.get("distinct") is not None or node.args.get("limit") is not None:
        return False
    if not all(value in (window.args.get("partition_by") or []) for window in block.windows):
        return False
    if value.find(exp.Window, exp.Query, exp.UDTF, exp.Explode):  # not for WHERE, or to be run twice there
        return False
    if not block.is_aggregated or (value in block.group_keys and not block.has_grouping_sets):
        if not _narrow_sources(block, value, condition):  # asked twice, DuckDB expects fewer rows and joins them the wrong way
            node.where(_asked(condition, value), copy=False)
        return True
    if len(block.group_keys) == 1 and not block.has_grouping_sets and not block.windows:
        _narrow_groups(block, value, condition)
    return False


def _asked(condition: str, value: exp.Expr) -> exp.Expr:
    # In parentheses: a value may be a comparison itself, and comparisons do not chain.
    return sqlglot.parse_one(condition.replace("{value}", f"({written(copied(value))})"), dialect="duckdb")


def _narrow_groups(block: Block, value: exp.Expr, condition: str) -> None:
    """An aggregate has to be computed to be asked. It is computed by itself first, and evidence is listed only of the groups
    that are wanted."""
    [key] = block.group_keys
    alone = copied(block.node)
    for clause in ("order", "with_"):
        alone.set(clause, None)
    alone.append("expressions", named(copied(key), _KEY))
    alone.set("group", exp.Group(expressions=[copied(key)]))
    alone.having(_asked(condition, value), copy=False)
    block.node.where(_exists(alone, exp.NullSafeEQ, key), copy=False)


def _narrow_sources(block: Block, value: exp.Expr, condition: str) -> bool:
    """Ask the condition on a column of a derived table within it, and within what is joined by equality to a base table,
    whether that has such a row. Whether the block's own rows are now such that the condition is true."""
    if not isinstance(value, exp.Column) or not _pairs_only(block.node):
        return False
    source, item = block.scope.sources.get(value.table), _item(block.node, value.table)
    if not isinstance(source, BaseSource) or item is None:
        return _narrow_source(source, value, condition)
    for own, other in _equalities(block, value.table):
        asked = condition if own == value else _asked_of_partners(own, value, condition, item)
        _narrow_source(block.scope.sources.get(other.table), other, asked)
        for witness in block.witnesses.values():
            if witness.is_numbered and witness.relation.readers <= 1 and witness.probes == (other,):
                witness.relation.keep_only(0, asked)
    return False


def _asked_of_partners(own: exp.Column, value: exp.Column, condition: str, item: exp.Expr) -> str:
    """The condition on what is equal to `own`: that in FROM item `item` such a row has a `value` that the condition is true for."""
    lookup = select([named(copied(own), _KEY)], copied(item))
    lookup.where(_asked(condition, value), copy=False)
    return written(_exists(lookup, exp.EQ, exp.Placeholder(this=_VALUE))).replace(f"${_VALUE}", "{value}")


def _pairs_only(node: exp.Select) -> bool:
    """Whether every join only pairs rows: one without a partner is not in the result. Joins in parentheses are not looked into."""
    joins = node.args.get("joins") or []
    items = [node.args["from_"].this, *(join.this for join in joins)]
    is_nested = any(isinstance(item, exp.Subquery) and isinstance(item.this, (exp.Subquery, exp.Table)) for item in items)
    return not is_nested and not any(join.side or join.method for join in joins)


def _narrow_source(source: Source | None, read: exp.Column, condition: str) -> bool:
    """Leave out rows of a derived table, or of a CTE that nothing else reads; whether all for whose column it is not true are."""
    if not isinstance(source, RelationSource) or not isinstance(source.relation, Relation) or source.relation.readers > 1:
        return False
    position = position_of(source.columns, read.name)
    assert position is not None  # `resolve` found it
    return source.relation.keep_only(position, condition)


def _item(node: exp.Select, alias: str) -> exp.Expr | None:
    """The base table of this alias in FROM, as it is read."""
    items = [node.args["from_"].this, *(join.this for join in node.args.get("joins") or [])]
    return next((item for item in items if isinstance(item, exp.Subquery) and item.alias.lower() == alias), None)


def _equalities(block: Block, alias: str) -> Iterator[tuple[exp.Column, exp.Column]]:
    """Columns of one FROM item, each with a column that it is equal to in every row, of another or itself."""
    probes = (probe for witness in block.witnesses.values() for probe in witness.probes)
    yield from ((probe, probe) for probe in probes if _is_of(probe, alias))
    joins, where = block.node.args.get("joins") or [], block.node.args.get("where")
    conditions = [condition for condition in (*(join.args.get("on") for join in joins), where and where.this) if condition]
    for part in (part for condition in conditions for part in conjuncts(condition)):
        if isinstance(part, exp.EQ) and isinstance(part.this, exp.Column) and isinstance(part.expression, exp.Column):
            one, other = resolve(part.this, block.scope), resolve(part.expression, block.scope)
            if isinstance(one, exp.Column) and isinstance(other, exp.Column):
                yield from ((own, far) for own, far in ((one, other), (other, one)) if _is_of(own, alias))
    for name, holders in block.scope.merged_from.items():
        if alias in holders:
            yield from ((column(alias, name), column(holder, name)) for holder in holders if holder != alias)


def _is_of(read: exp.Expr, alias: str) -> TypeGuard[exp.Column]:
    return isinstance(read, exp.Column) and read.table == alias


def _exists(query: exp.Select, equality: type[exp.Binary], value: exp.Expr) -> exp.Exists:
    """Whether a query yields the value as its `__key`. The operator is the join's own, so that types meet as they do there."""
    found = select([exp.Literal.number(1)], subquery(query, _LOOKUP))
    found.set("where", exp.Where(this=equality(this=column(_LOOKUP, _KEY), expression=copied(value))))
    return exp.Exists(this=found)
