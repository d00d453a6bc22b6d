"""What may enter: one statement, made only of clauses that some rule traces. Everything else is refused here.

It looks at the shape of the syntax tree alone; names are resolved elsewhere. It never changes the tree.
"""

from __future__ import annotations

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from warehouse.claims.provenance.engine import check_function, check_words
from warehouse.claims.provenance.refusals import refuse
from warehouse.claims.provenance.values import RESERVED_PREFIX

_ADMITTED = (
    exp.Select, exp.Union, exp.Subquery, exp.With, exp.CTE, exp.From, exp.Join, exp.Table, exp.TableAlias, exp.Values,
    exp.Where, exp.Group, exp.Having, exp.Qualify, exp.Order, exp.Ordered, exp.Limit, exp.Distinct,
    exp.Column, exp.Identifier, exp.Star, exp.Alias, exp.Literal, exp.Boolean, exp.Null, exp.Placeholder,
    exp.Parameter, exp.Paren, exp.Binary, exp.Unary, exp.Predicate, exp.Between, exp.In, exp.Case, exp.If,
    exp.DataType, exp.DataTypeParam, exp.ColumnDef, exp.Interval, exp.IntervalSpan, exp.Var, exp.Bracket, exp.Slice,
    exp.Tuple, exp.Lambda, exp.Kwarg, exp.PropertyEQ, exp.Comprehension, exp.Filter, exp.Window, exp.WindowSpec,
    exp.IgnoreNulls, exp.RespectNulls, exp.WithinGroup, exp.Collate, exp.AtTimeZone, exp.JSONPath, exp.JSONPathPart,
    exp.JSONKeyValue, exp.Func,
)  # fmt: skip
_REASON_OF_CLAUSE = {"offset": "E_OFFSET", "sample": "E_SAMPLE", "pivots": "E_PIVOT", "laterals": "E_LATERAL"}
_SELECT_CLAUSES = frozenset(
    "with_ expressions from_ joins where group having qualify windows distinct order limit".split()
)
_UNION_CLAUSES = frozenset("with_ this expression distinct by_name order limit".split())
_JOIN_CLAUSES = frozenset("this side kind on using".split())
_REASON_OF_CLASS: dict[type[exp.Expression], str] = {
    exp.TableSample: "E_SAMPLE", exp.Pivot: "E_PIVOT", exp.Offset: "E_OFFSET", exp.Except: "E_SETOP",
    exp.Intersect: "E_SETOP", exp.Rollup: "E_GROUPING_SETS", exp.Cube: "E_GROUPING_SETS",
    exp.GroupingSets: "E_GROUPING_SETS", exp.Lateral: "E_LATERAL", exp.Columns: "E_COLUMNS",
    exp.Any: "E_SUBQUERY_FORM", exp.All: "E_SUBQUERY_FORM",
}  # fmt: skip


def admit(sql: str) -> exp.Expression:
    """The parsed query, or a refusal."""
    try:
        check_words(sql)
        statements = [tree for tree in sqlglot.parse(sql, dialect="duckdb") if tree is not None]
    except SqlglotError as error:
        refuse("E_PARSE", sql, str(error).splitlines()[0])
    if len(statements) != 1:
        refuse("E_MULTI", sql, f"{len(statements)} statements")
    tree = statements[0]
    if isinstance(tree, exp.Pivot):
        refuse("E_PIVOT", tree, "PIVOT")
    if not isinstance(tree, exp.Query):
        refuse("E_NOT_QUERY", tree, "not a select statement")
    for node in tree.walk():
        _check_node(node)
    return tree


def _check_node(node: exp.Expression) -> None:
    for refused, reason in _REASON_OF_CLASS.items():
        if isinstance(node, refused):
            refuse(reason, node, f"{refused.__name__.upper()} is not traced")
    if not isinstance(node, _ADMITTED):
        refuse("E_NODE", node, f"no rule for {type(node).__name__}")
    if isinstance(node, exp.Identifier) and node.name.startswith(RESERVED_PREFIX):
        refuse("E_RESERVED", node, "a reserved name")
    rule = _CHECKS.get(type(node))
    if rule is not None:
        rule(node)
    elif isinstance(node, exp.Func) and not isinstance(node.parent, (exp.Table, exp.From)):
        check_function(node)


def _check_clauses(node: exp.Expression, admitted: frozenset[str]) -> None:
    for name, value in node.args.items():
        if value and name not in admitted:
            reason = _REASON_OF_CLAUSE.get(name, "E_NODE")
            refuse(reason, node, f"no rule for the clause {name.strip('_')}")


def _check_tail(node: exp.Expression) -> None:
    """ORDER BY and LIMIT of a select or a union."""
    limit, order = node.args.get("limit"), node.args.get("order")
    if limit is not None and not isinstance(limit, exp.Limit):
        refuse("E_LIMIT_PERCENT", limit, "not a plain row count")
    is_count = limit is None or isinstance(limit.expression, (exp.Literal, exp.Placeholder, exp.Parameter))
    if not is_count or (limit is not None and limit.args.get("limit_options") is not None):
        refuse("E_LIMIT_PERCENT", limit, "not a plain row count")
    if limit is not None and order is None:
        refuse("E_LIMIT_UNORDERED", limit, "LIMIT without ORDER BY")
    for ordered in order.expressions if order is not None else ():
        if isinstance(ordered.this, exp.Var) and ordered.this.name.lower() == "all":
            refuse("E_ORDER_ALL", order, "ORDER BY ALL")


def _check_select(node: exp.Select) -> None:
    _check_clauses(node, _SELECT_CLAUSES)
    _check_tail(node)
    distinct, group = node.args.get("distinct"), node.args.get("group")
    if distinct is not None and distinct.args.get("on") is not None:
        refuse("E_DISTINCT_ON", node, "DISTINCT ON")
    if group is not None:
        for name, value in group.args.items():
            if value and name not in ("expressions", "all"):
                refuse("E_GROUPING_SETS", group, "GROUPING SETS, ROLLUP or CUBE")
    if not node.expressions:
        refuse("E_STAR", node, "no select list")


def _check_union(node: exp.Union) -> None:
    _check_clauses(node, _UNION_CLAUSES)
    _check_tail(node)


def _check_join(node: exp.Join) -> None:
    side, kind = (node.side or "").upper(), (node.kind or "").upper()
    if kind in ("SEMI", "ANTI") or side in ("SEMI", "ANTI"):
        refuse("E_SEMI_JOIN", node, "SEMI and ANTI JOIN are not traced yet")
    if node.method or side not in ("", "LEFT", "RIGHT", "FULL") or kind not in ("", "INNER", "OUTER", "CROSS"):
        refuse("E_JOIN", node, "no rule for this join")
    _check_clauses(node, _JOIN_CLAUSES)
    is_comma = not (side or kind or node.args.get("on") is not None or node.args.get("using"))
    outer = any((join.side or "").upper() in ("RIGHT", "FULL") for join in node.parent.args.get("joins") or [])
    if is_comma and outer:
        refuse("E_COMMA_JOIN", node, "the comma binds weaker than the RIGHT or FULL JOIN beside it")


def _check_table(node: exp.Table) -> None:
    if isinstance(node.this, exp.Func) and not isinstance(node.this, exp.GenerateSeries):
        refuse("E_TABLEFUNC", node, "reads data outside the registered tables")
    _check_clauses(node, frozenset("this alias db catalog".split()))


def _check_subquery(node: exp.Subquery) -> None:
    if any(node.args.get(name) for name in ("order", "limit", "offset", "with_")):
        refuse("E_PAREN", node, "ORDER BY, LIMIT or WITH on a parenthesised query")
    _check_clauses(node, frozenset("this alias".split()))


def _check_with(node: exp.With) -> None:
    if node.args.get("recursive"):
        refuse("E_RECURSIVE", node, "WITH RECURSIVE")


def _check_cte(node: exp.CTE) -> None:
    if not isinstance(node.this, exp.Query):
        refuse("E_NOT_QUERY", node, "a CTE that is not a query")
    _check_clauses(node, frozenset("this alias materialized".split()))


def _check_placeholder(node: exp.Placeholder) -> None:
    """A guard may repeat an expression: a named parameter can be read twice, a positional one cannot."""
    if not node.this:
        refuse("E_NODE", node, "a positional parameter; name it, as in $as_of")


def _check_exists(node: exp.Exists) -> None:
    if not isinstance(node.this, exp.Query):
        refuse("E_NODE", node, "EXISTS without a query")


_CHECKS = {
    exp.Select: _check_select, exp.Union: _check_union, exp.Join: _check_join, exp.Table: _check_table,
    exp.Subquery: _check_subquery, exp.With: _check_with, exp.CTE: _check_cte, exp.Exists: _check_exists,
    exp.Placeholder: _check_placeholder,
}  # fmt: skip
