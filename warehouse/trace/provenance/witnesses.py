"""The subqueries of a block's expressions: for each a witness, an annotated copy whose rows are the evidence of its answer.

The place of a subquery decides what its rows are evidence of: of one row of FROM, of a group, or of every row alike.
The original subquery is not touched.
"""

from __future__ import annotations

from sqlglot import exp

from warehouse.trace.provenance.blocks import SelectBlock
from warehouse.trace.provenance.relations import Ctes, Relation, Resolution, Scope, Witness
from warehouse.trace.provenance.scope import find_column, resolve
from warehouse.trace.provenance.selecting import clauses, has_aggregate, is_aggregate_of_block
from warehouse.trace.provenance.syntax.engine import is_aggregate
from warehouse.trace.provenance.syntax.refusals import refuse
from warehouse.trace.provenance.syntax.stars import reads_unnamed
from warehouse.trace.provenance.syntax.writing import written
from warehouse.trace.provenance.values import GROUPING_SETS


def find_witnesses(
    resolver: Resolution, node: exp.Select, scope: Scope, ctes: Ctes, is_aggregated: bool
) -> dict[int, Witness]:
    """A witness for each subquery of the block's expressions; the expression is tagged with its number."""
    witnesses: dict[int, Witness] = {}
    for clause in clauses(node):
        for part in list(clause.walk(prune=lambda n: isinstance(n, exp.Query))):
            is_query = isinstance(part, exp.Query) and not isinstance(part.parent, exp.Exists)
            if is_query or isinstance(part, exp.Exists):
                _check_inner_reads(part, ctes)
                number = resolver.witness_count
                resolver.witness_count += 1
                place = _place(part, clause, node, is_aggregated) if scope.sources else "none"
                witness = _witness(resolver, part, scope, ctes, number, place, clause)
                if not _keeps_out(part, clause) and place != "order":
                    witnesses[number] = witness
    return witnesses


def _keeps_out(part: exp.Expr, clause: exp.Expr) -> bool:
    """Whether WHERE asks that an IN or EXISTS be not true: the rows it keeps have no witness, so none is looked for."""
    test = part if isinstance(part, exp.Exists) else part.parent
    if not isinstance(clause, exp.Where) or not isinstance(test, (exp.Exists, exp.In)):
        return False
    above = test.parent
    while isinstance(above, exp.Paren) or (isinstance(above, exp.Is) and above.expression == exp.true()):
        above = above.parent
    if not isinstance(above, exp.Not):
        return False
    return _is_conjunct(above, clause)


def _place(part: exp.Expr, clause: exp.Expr, node: exp.Select, is_aggregated: bool) -> str:
    """What a subquery that depends on its surroundings depends on there: a 'row', a 'group', or what has 'none'; in 'order' it
    decides what LIMIT leaves out, and by itself a row that was kept comes first."""
    if isinstance(clause, exp.Order):
        return "order"
    if isinstance(clause, exp.Where) or _is_inside_aggregate(part, clause):
        return "row"
    if isinstance(clause.parent, exp.Join):
        return "row" if _only_filters(clause.parent, node) else "none"
    if isinstance(clause, exp.Having) or isinstance(clause, exp.Qualify) or any(clause is i for i in node.expressions):
        return "group" if is_aggregated else "row"
    return "none"


def _is_inside_aggregate(part: exp.Expr, clause: exp.Expr) -> bool:
    """Whether an aggregate of the block reads the subquery, in its argument or its FILTER: row by row, then."""
    above = part.parent
    while above is not None and above is not clause.parent:
        if isinstance(above, exp.Filter) and is_aggregate_of_block(above.this):
            return True
        if is_aggregate_of_block(above):
            return True
        above = above.parent
    return False


def _only_filters(join: exp.Join, node: exp.Select) -> bool:
    """Whether the ON of this join is as good as WHERE: an inner join, and no outer join adds rows on this side."""
    if join.side or join.method:
        return False
    return not any((other.side or "").upper() in ("RIGHT", "FULL") for other in node.args.get("joins") or [])


def _witness(
    resolver: Resolution, part: exp.Expr, scope: Scope, ctes: Ctes, number: int, place: str, clause: exp.Expr
) -> Witness:
    form, tagged, probes = _form(part, scope)
    if form == "in" and len(probes) == 1 and (place == "none" or _is_of_group(probes[0])):
        form, probes = "compared", ()  # no row to look for its matches: all rows of the subquery are evidence
    tagged.meta["witness"] = number
    around = Scope(outer=scope)
    query = part.this if isinstance(part, exp.Exists) else part
    home, after = _home(resolver, query, ctes)
    key = (form, written(query.copy())) if home is not None and _reads_only_ctes(query, ctes) else None
    known = resolver.alike.get(key) if key is not None else None
    relation = known.relation if known is not None else resolver.query(query.copy(), ctes, around, is_named=False)
    is_correlated = around.reads_outer
    if form != "exists" and len(relation.columns) != max(len(probes), 1):
        refuse("E_SUBQUERY_FORM", part, "the subquery must have as many columns as it is compared with")
    is_row_level = form == "in" or is_correlated
    if is_row_level:
        _check_place(part, probes, scope, place)
    answered = tagged if _is_answered(tagged, form, relation, is_row_level, clause) else None
    alias = f"__witness_{number}"
    cte = known.cte if known is not None else alias
    witness = Witness(alias, relation, form, is_row_level, is_correlated, probes, answered, home, after, cte)
    if key is not None and not is_correlated:
        resolver.alike[key] = witness
        relation.readers += 1
    return witness


def _home(resolver: Resolution, query: exp.Expr, ctes: Ctes) -> tuple[exp.With | None, exp.CTE | None]:
    """The WITH of the whole query, if all CTEs that a subquery reads are in it, and the last of these."""
    names = {table.name.lower() for table in query.find_all(exp.Table) if not table.db}
    read = [getattr(ctes[name].relation, "holder", None) for name in names if name in ctes]
    places = [next((i for i, cte in enumerate(resolver.constants.expressions) if cte is holder), -1) for holder in read]
    if -1 in places:
        return None, None
    return resolver.constants, resolver.constants.expressions[max(places)] if places else None


def _reads_only_ctes(query: exp.Expr, ctes: Ctes) -> bool:
    """Whether a subquery written alike reads the same rows of the same occurrences: it reads no base table, each of which is another."""
    return query.find(exp.With) is None and all(not table.db and table.name.lower() in ctes for table in query.find_all(exp.Table))


def _is_of_group(probe: exp.Expr) -> bool:
    return has_aggregate(probe) or probe.find(exp.Window) is not None


def _is_answered(tagged: exp.Expr, form: str, relation: Relation, is_row_level: bool, clause: exp.Expr) -> bool:
    """Whether the witness gives the subquery's own answer, so that it need not be looked for twice: the one value of an
    aggregate in WHERE, or in HAVING where all groups compare with the same; and of a match that WHERE asks for, that it is."""
    if form == "scalar":
        of_clause = isinstance(clause, exp.Where) or (isinstance(clause, exp.Having) and not is_row_level)
        return of_clause and isinstance(relation, SelectBlock) and relation.is_one_row
    return form in ("in", "exists") and is_row_level and isinstance(clause, exp.Where) and _is_conjunct(tagged, clause)


def _is_conjunct(test: exp.Expr, clause: exp.Expr) -> bool:
    above = test.parent
    while isinstance(above, (exp.Paren, exp.And)):
        above = above.parent
    return above is clause


def _check_place(part: exp.Expr, probes: tuple[exp.Expr, ...], scope: Scope, place: str) -> None:
    """A group's subquery can be asked at each of its rows if it depends on the keys alone: they are equal there."""
    if place == "order":
        return
    if place == "none":
        refuse("E_SUBQUERY_PLACE", part, "this subquery depends on the row, and here there is no row")
    if any(map(_is_of_group, probes)):
        refuse("E_SUBQUERY_PLACE", part, "what is compared with this subquery is an aggregate or a window")
    if place == "group":
        block = part.find_ancestor(exp.Select)
        group = block.args.get("group") if block is not None else None
        if group is None or (probes and not any(probe.find(exp.Column) for probe in probes)):
            refuse("E_SUBQUERY_PLACE", part, "this subquery depends on no key of the group")
        if group.find(*GROUPING_SETS) is not None:
            refuse("E_SUBQUERY_PLACE", part, "a subquery that depends on a key which a grouping set may leave out")
        if any(_reads_outer(aggregate, scope) for aggregate in part.find_all(exp.Func) if is_aggregate(aggregate)):
            refuse("E_SUBQUERY_PLACE", part, "an aggregate of the group inside the subquery")


def _reads_outer(aggregate: exp.Expr, scope: Scope) -> bool:
    """Whether a column of the aggregate may be of the query around; if the name is in both, it is taken to be."""
    columns = aggregate.find_all(exp.Column)
    return any(find_column(reference.parts, scope) is not None for reference in columns)


def _form(part: exp.Expr, scope: Scope) -> tuple[str, exp.Expr, tuple[exp.Expr, ...]]:
    """Which kind of subquery it is, the node that carries its number, and the left side of IN."""
    if isinstance(part, exp.Exists):
        return "exists", part, ()
    above = part.parent
    if isinstance(above, exp.In):
        left = above.this.expressions if isinstance(above.this, exp.Tuple) else [above.this]
        return "in", above, tuple(resolve(operand, scope) for operand in left)
    if isinstance(above, exp.Any) and isinstance(above.parent, exp.EQ):
        return "in", above, (resolve(above.parent.this, scope),)
    if isinstance(above, (exp.Any, exp.All)):
        return "compared", above, ()  # with all of its rows
    return "scalar", part, ()


def _check_inner_reads(part: exp.Expr, ctes: Ctes) -> None:
    """The original subquery stays in the SQL and may read an annotated CTE: taking all columns would take evidence."""
    reads_cte = any(not table.db and table.name.lower() in ctes for table in part.find_all(exp.Table))
    for join in part.find_all(exp.Join):
        if (join.method or "").upper() == "NATURAL":
            refuse("E_JOIN", join, "a NATURAL JOIN inside a subquery of an expression; write USING")
    for pivot in part.find_all(exp.Pivot):
        if pivot.args.get("group") is None:
            refuse("E_PIVOT", pivot, "PIVOT without GROUP BY inside a subquery of an expression")
    for star in filter(reads_unnamed, part.find_all(exp.Star, exp.Columns)):
        block = star.find_ancestor(exp.Select)
        if block is not None and isinstance(block.parent, exp.Exists) and not block.args.get("distinct"):
            continue  # EXISTS asks for rows, not for their columns
        if reads_cte or not _is_of_block(star, block):
            refuse("E_STAR", part, "a star inside a subquery of an expression")


def _is_of_block(star: exp.Expr, block: exp.Select | None) -> bool:
    """Whether a star takes columns of its own block's FROM, and of no row outside."""
    origin = block.args.get("from_") if block is not None else None
    if block is None or origin is None or not isinstance(star, exp.Star):
        return False
    table = star.parent.table.lower() if isinstance(star.parent, exp.Column) else ""
    items = [origin.this, *(join.this for join in block.args.get("joins") or [])]
    return table in ("", *(item.alias_or_name.lower() for item in items))
