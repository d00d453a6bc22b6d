"""Where a result's grain columns come from, block by block downwards, as long as each is handed on as it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from warehouse.trace.excluded.readings import Hop, Reading
from warehouse.trace.excluded.stages import item_at
from warehouse.trace.provenance.selecting import has_aggregate
from warehouse.trace.provenance.syntax.stars import has_star

# Grain column -> the column that it is in a block's output; None where that is not known.
Names = Mapping[str, str | None]


def names_in_blocks(reading: Reading, grain: Sequence[str]) -> list[Names]:
    """For each block of a reading, in its order, what it calls the grain columns."""
    found: list[Names] = []
    names: Names = {column: column for column in grain}
    for hop in reversed(reading.hops):
        if hop.names:  # a CTE's column list renames
            names = dict.fromkeys(grain)
        found.append(names)
        names = {column: name and _handed_on(hop, name) for column, name in names.items()}
    return found[::-1]


def row_expression(block: exp.Expr, name: str) -> exp.Expr | None:
    """What an output column is of one row of FROM; None when it is of a group, a window, or not in the list."""
    item = _item_of(block, name) if isinstance(block, exp.Select) else exp.column(name, quoted=True)
    return None if item is None or has_aggregate(item) or item.find(exp.Window, exp.Query) else item


def _handed_on(hop: Hop, name: str) -> str | None:
    """What the block below calls an output column of a block."""
    if isinstance(hop.block, exp.SetOperation):
        return _in_branch(hop.block, hop.slot, name)
    item, source = _item_of(hop.block, name), item_at(hop.block, hop.slot)
    if not isinstance(item, exp.Column) or (source.args.get("alias") and source.args["alias"].columns):
        return None
    is_alone = not hop.block.args.get("joins")
    return item.name if is_alone or item.table.lower() == source.alias_or_name.lower() else None


def _in_branch(block: exp.SetOperation, slot: int, name: str) -> str | None:
    """Columns of a set operation are named by its first branch, and matched by position unless by name."""
    if slot == 0 or block.args.get("by_name"):
        return name
    first, second = block.this, block.expression
    while isinstance(first, exp.SetOperation):
        first = first.this
    if not isinstance(first, exp.Select) or not isinstance(second, exp.Select) or has_star(first) or has_star(second):
        return None
    named = [item.alias_or_name.lower() for item in first.expressions]
    return second.expressions[named.index(name.lower())].alias_or_name if name.lower() in named else None


def _item_of(block: exp.Select, name: str) -> exp.Expr | None:
    """The expression of an output column; through a star the column of that name. None when there is none."""
    stars = []
    for item in block.expressions:
        star = item.this if isinstance(item, exp.Column) else item
        if isinstance(star, exp.Star):
            stars += [item] if name.lower() not in _changed_by(star) else []
        elif item.alias_or_name.lower() == name.lower():
            unaliased: exp.Expr = item.unalias()
            return unaliased
    if len(stars) != 1 or block.find(exp.Columns):
        return None
    return exp.column(name, table=getattr(stars[0], "table", None) or None, quoted=True)


def _changed_by(star: exp.Star) -> set[str]:
    """The names that a star does not hand on as they are: those of EXCLUDE, REPLACE and RENAME."""
    changed = [*(star.args.get("except_") or ()), *(star.args.get("replace") or ()), *(star.args.get("rename") or ())]
    return {name.lower() for part in changed for name in (part.name, part.alias_or_name, part.unalias().name)}
