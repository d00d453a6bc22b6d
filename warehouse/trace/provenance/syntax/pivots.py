"""PIVOT with listed values, written as what it means: one aggregate with a FILTER for each combination of values. And UNPIVOT
of named columns: each row once for each of them, with the value of that one.

The names are those that DuckDB gives. A list that only the data knows is refused on admission.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from sqlglot import exp

from warehouse.trace.provenance.selecting import engine_name
from warehouse.trace.provenance.syntax.engine import is_aggregate
from warehouse.trace.provenance.syntax.refusals import refuse
from warehouse.trace.provenance.values import all_of, column, identifier, is_not_null, named

Columns = Sequence[exp.Column]
_PLACES, _PLACE = "__unpivoted", "__place"


def write_pivot(body: exp.Select, node: exp.Pivot, columns: Columns, words: frozenset[str]) -> None:
    """Give `body`, which reads the pivoted table with these columns, its select list and its GROUP BY."""
    lists, aggregates = node.expressions, node.args.get("using") or []
    for aggregate in aggregates:
        if not is_aggregate(aggregate.unalias()):
            refuse("E_PIVOT", aggregate, "only a plain aggregate can be pivoted")
    if not aggregates:
        refuse("E_PIVOT", node, "PIVOT without USING")
    keys = _keys(node, columns)
    cells = [
        named(_filtered(aggregate, lists, values), _cell_name(aggregate, values, len(aggregates), words))
        for values in product(*(listed.expressions for listed in lists))
        for aggregate in aggregates
    ]
    body.set("expressions", [*(key.copy() for key in keys), *cells])
    if keys:
        body.set("group", exp.Group(expressions=[key.copy() for key in keys]))


def _keys(node: exp.Pivot, columns: Columns) -> list[exp.Expr]:
    """Those of GROUP BY; without one every column that neither the lists nor the aggregates read."""
    group: exp.Group | None = node.args.get("group")
    if group is not None:
        return list(group.expressions)
    read = [*node.expressions, *node.args["using"]]
    taken = {reference.name.lower() for part in read for reference in part.find_all(exp.Column)}
    return [column for column in columns if column.name.lower() not in taken]


def _filtered(aggregate: exp.Expr, lists: Sequence[exp.In], values: Sequence[exp.Literal]) -> exp.Filter:
    pairs = zip(lists, values, strict=True)
    condition = all_of(exp.EQ(this=listed.this.copy(), expression=value.copy()) for listed, value in pairs)
    return exp.Filter(this=aggregate.unalias().copy(), expression=exp.Where(this=condition))


def _cell_name(aggregate: exp.Expr, values: Sequence[exp.Literal], count: int, words: frozenset[str]) -> str:
    """`1`, `1_ok`; with an alias or several aggregates `1_s`, `1_sum(tput)`."""
    parts = [value.name for value in values]
    if aggregate.alias or count > 1:
        parts.append(aggregate.alias or engine_name(aggregate, words))
    return "_".join(parts)


def places_of(node: exp.Pivot) -> exp.Join:
    """The join by which each row of an UNPIVOT comes once for each column that it lists."""
    places = exp.Array(expressions=[exp.Literal.number(place) for place in range(len(node.expressions))])
    alias = exp.TableAlias(this=identifier(_PLACES), columns=[identifier(_PLACE)])
    return exp.Join(this=exp.Unnest(expressions=[places], alias=alias), kind="CROSS")


def write_unpivot(body: exp.Select, node: exp.Pivot, columns: Columns) -> None:
    """Give `body`, which reads the table with these columns and `places_of`, its select list and its WHERE."""
    known = {read.name.lower(): read for read in columns}
    listed = [known.get(read.name.lower()) for read in node.expressions]
    if None in listed:
        refuse("E_RESOLVE", node, "no such column")
    found = [read for read in listed if read is not None]
    into = node.args.get("into")
    names = ("name", "value") if into is None else (into.this.name, into.expressions[0].name)
    name = _at_place([exp.Literal.string(read.name) for read in found])
    value = _at_place(found)
    kept = [read for read in columns if read not in found and read.table != _PLACES]
    body.set("expressions", [*kept, named(name, names[0]), named(value, names[1])])
    if not node.args.get("include_nulls"):
        body.set("where", exp.Where(this=is_not_null(value)))


def _at_place(values: Sequence[exp.Expr]) -> exp.Case:
    ifs = [
        exp.If(this=exp.EQ(this=column(_PLACES, _PLACE), expression=exp.Literal.number(place)), true=value.copy())
        for place, value in enumerate(values)
    ]
    return exp.Case(ifs=ifs)
