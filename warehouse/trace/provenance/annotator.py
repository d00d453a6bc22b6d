"""`annotate`: one SELECT in, the same SELECT with its evidence beside every row out.

The data columns, their names, their order and the rows are those of the original. A caller that publishes should
still compare the two results once (guarantee G1): the engine has the last word, not this rewriter.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from sqlglot import exp

from warehouse.trace.provenance.blocks import SelectBlock, final_columns, member_columns
from warehouse.trace.provenance.relations import Relation, position_of
from warehouse.trace.provenance.resolve import Resolver
from warehouse.trace.provenance.syntax.admission import admit
from warehouse.trace.provenance.syntax.engine import words_of
from warehouse.trace.provenance.syntax.refusals import refuse
from warehouse.trace.provenance.syntax.stars import reads_unnamed
from warehouse.trace.provenance.syntax.writing import written
from warehouse.trace.provenance.values import NUMBER, Annotated, column, named, nothing, select, subquery


def annotate(
    sql: str,
    catalog: Mapping[str, Sequence[str]],
    tokens: Mapping[str, str | None],
    values: Sequence[str] = (),
    *,
    unique: Collection[str] = (),
    is_cut: bool = True,
    only: Mapping[str, str] | None = None,
    has_whys: bool = True,
    ungroups: bool = False,
) -> Annotated:
    """Rewrite one SELECT so that every output row carries the rows and cells of the base tables behind it.

    `catalog` gives the columns of each table, `tokens` an SQL template (with `{alias}`) for what names a row of it, None for a table
    that has no rows: nothing can come from it, so its occurrences have no evidence.
    The result has the original columns and, for each occurrence n of a base table, `__why_n` (a list of tokens: the
    why-set) and, for the i-th of `values`, `__cell_i_n` (a list of structs `c`, `t`: column and token). Lists are
    empty rather than NULL, in no order, and may repeat what is in them. `marks` are those of the extra columns that can hold anything.
    `unique` are the tables no two rows of which have one token. Without `is_cut` the outermost ORDER BY and LIMIT are left out, for a caller who
    looks for rows that he knows to be in the result. `only` gives for output columns an SQL template (with `{value}`) that
    is true for the rows he looks for; other rows need not be there. Without `has_whys` there are no `__why_n`. With
    `ungroups` the evidence comes row by row where the outermost block groups plainly (`Annotated.keys`) or not at all. Raises
    `WarehouseError` WH306 for SQL that no rule traces.
    """
    tree = admit(sql)
    if not is_cut:
        _uncut(tree)
    known = {name.lower(): columns for name, columns in catalog.items()}
    constants = tree.unnest().args.get("with_") or exp.With(expressions=[])
    resolver = Resolver(known, tokens, frozenset(name.lower() for name in unique), words_of(sql), names_all_columns(tree), constants)
    root = resolver.query(tree, {}, None)
    for name, condition in (only or {}).items():
        root.keep_only(_position(root, name), condition)
    positions = [_position(root, value) for value in values]
    root.demanded.update(positions)
    keys = root.ungroup(positions, has_whys) if ungroups and isinstance(root, SelectBlock) else None
    if ungroups and keys is None and isinstance(root, SelectBlock):
        root.tell_rows(has_whys)
    holder = subquery(exp.Select(), "__result")
    root.holder = holder
    _find_support(resolver.relations, {id(root): set(positions)})
    _annotate_all(resolver.relations)
    if isinstance(root, SelectBlock) and root.is_by_row:
        evidence = member_columns(root, "__result", positions, resolver.occurrences, has_whys)
    else:
        evidence = final_columns(root, "__result", positions, resolver.occurrences, has_whys)
    data = [named(column("__result", name), name) for name in (root.columns if keys is None else keys)]
    published = select([*data, *(written for written, _ in evidence)] or [nothing()], holder)
    if constants.expressions:
        holder.this.set("with_", None)  # around all of the query they can be read where evidence is listed, too
        published.set("with_", constants)
    marks = tuple(mark for _, mark in evidence if mark is not None)
    return Annotated(written(published), tuple(resolver.occurrences), root.columns, marks, keys)


def _find_support(relations: Sequence[Relation], wanted: dict[int, set[int]]) -> None:
    """Find what the wanted columns (by relation's identity) can come from, what they depend on first: a column looks for its own
    support in that of others, and a chain of a thousand would recurse."""
    for relation in reversed(relations):
        for position in sorted(wanted.get(id(relation), ())):
            for other, read in relation.rests_on(position):
                wanted.setdefault(id(other), set()).add(read)
    for relation in relations:
        for position in sorted(wanted.get(id(relation), ())):
            relation.support(position)


def _annotate_all(relations: Sequence[Relation]) -> None:
    """Consumers before what they read: by then every demand on a relation is known. A loop, not a recursion."""
    for relation in reversed(relations):
        annotated = relation.annotate()
        if relation.holder is not None:
            relation.holder.set("this", annotated)
            if relation.is_numbered:
                _number(relation.holder)


def _number(cte: exp.Expr) -> None:
    """Put a number beside each row of a CTE, which is computed once: the numbers of its rows are others each time."""
    number = named(exp.Window(this=exp.RowNumber()), NUMBER)
    cte.set("this", select([exp.Star(), number], subquery(cte.this, "__numbered")))
    cte.set("materialized", True)


def _uncut(tree: exp.Expr) -> None:
    tree.set("limit", None)
    distinct = tree.args.get("distinct")
    if not isinstance(distinct, exp.Distinct) or distinct.args.get("on") is None:  # DISTINCT ON keeps the first row of an order
        tree.set("order", None)


def names_all_columns(tree: exp.Expr) -> bool:
    """Whether every column that the query reads is written out in it; a star in EXISTS or count(*) reads none."""
    for node in tree.find_all(exp.Pivot, exp.Join, exp.Star, exp.Columns):
        if isinstance(node, exp.Pivot) or (isinstance(node, exp.Join) and (node.method or "").upper() == "NATURAL"):
            return False
        above = node.parent
        if reads_unnamed(node):
            if not (isinstance(above, exp.Select) and isinstance(above.parent, exp.Exists)):
                return False
    return True


def _position(root: Relation, value: str) -> int:
    position = position_of(root.columns, value)
    if position is None:
        refuse("E_RESOLVE", value, "no output column has this name")
    return position
