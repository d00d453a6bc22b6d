"""What may enter: one statement, made only of clauses that some rule traces. Everything else is refused here.

It looks at the shape of the syntax tree alone; names are resolved elsewhere. It changes nothing in the tree but spellings:
`$$it's$$` is the literal `'it''s'`, and OFFSET a numbering of rows.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp
from sqlglot.dialects.duckdb import DuckDB
from sqlglot.errors import ParseError, SqlglotError

from warehouse.trace.provenance.syntax.engine import check_function, check_words
from warehouse.trace.provenance.syntax.offsets import number_rows
from warehouse.trace.provenance.syntax.refusals import refuse
from warehouse.trace.provenance.syntax.spelling import is_all, respelled
from warehouse.trace.provenance.values import RESERVED_PREFIX

_ADMITTED = (
    exp.Select, exp.SetOperation, exp.Pivot, exp.Subquery, exp.With, exp.CTE, exp.From, exp.Join, exp.Lateral,
    exp.Table, exp.TableAlias, exp.Values, exp.Rollup, exp.Cube, exp.GroupingSets,
    exp.Where, exp.Group, exp.Having, exp.Qualify, exp.Order, exp.Ordered, exp.Limit, exp.Distinct,
    exp.Column, exp.Identifier, exp.Star, exp.Alias, exp.Literal, exp.Boolean, exp.Null, exp.Placeholder,
    exp.Parameter, exp.Paren, exp.Binary, exp.Unary, exp.Predicate, exp.Between, exp.In, exp.Case, exp.If,
    exp.DataType, exp.DataTypeParam, exp.ColumnDef, exp.Interval, exp.IntervalSpan, exp.Var, exp.Bracket, exp.Slice,
    exp.Tuple, exp.Lambda, exp.Kwarg, exp.PropertyEQ, exp.Comprehension, exp.Filter, exp.Window, exp.WindowSpec,
    exp.IgnoreNulls, exp.RespectNulls, exp.WithinGroup, exp.Collate, exp.AtTimeZone, exp.JSONPath, exp.JSONPathPart,
    exp.JSONKeyValue, exp.UnpivotColumns, exp.Func,
)  # fmt: skip
_REASON_OF_CLAUSE = {"sample": "E_SAMPLE", "laterals": "E_LATERAL"}
_SELECT_CLAUSES = frozenset(
    "with_ expressions from_ joins where group having qualify windows distinct order limit".split()
)
_UNION_CLAUSES = frozenset("with_ this expression distinct by_name order limit".split())
_JOIN_CLAUSES = frozenset("this method side kind on using".split())
# What sqlglot writes down of its own accord beside a PIVOT changes nothing.
_PIVOT_CLAUSES = frozenset(
    "this expressions fields using group alias with_ columns unpivot pivot_column_naming into include_nulls".split()
)
_REASON_OF_CLASS: dict[type[exp.Expr], str] = {exp.TableSample: "E_SAMPLE"}


def admit(sql: str) -> exp.Expr:
    """The parsed query, or a refusal."""
    try:
        tokens = DuckDB().tokenize(sql)
        if not tokens:
            refuse("E_MULTI", sql, "no statements")
        check_words(tokens)
        statements = [respelled(tree) for tree in DuckDB().parser().parse(tokens, sql) if tree is not None]
    except SqlglotError as error:
        refuse("E_PARSE", sql, str(error).splitlines()[0], _offset_of_error(error, sql))
    if len(statements) != 1:
        refuse("E_MULTI", statements[1] if statements else sql, f"{len(statements) or 'no'} statements")
    tree = statements[0]
    if not isinstance(tree, (exp.Query, exp.Pivot)):
        refuse("E_NOT_QUERY", tree, "not a select statement")
    for text in list(tree.find_all(exp.RawString)):
        literal = exp.Literal.string(text.this)
        literal.meta.update(text.meta)  # its place in the query
        text.replace(literal)
    number_rows(tree)
    for node in tree.walk():
        _check_node(node)
    return tree


def _offset_of_error(error: SqlglotError, sql: str) -> int | None:
    """Where the parser stopped: at its highlighted text, whose column is that of its last character."""
    if not isinstance(error, ParseError) or not error.errors or not error.errors[0].get("line"):
        return None
    stop = error.errors[0]
    before = sum(len(line) for line in sql.splitlines(keepends=True)[: stop["line"] - 1])
    return int(before + stop["col"] - len(stop["highlight"]))


def _check_node(node: exp.Expr) -> None:
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


def _check_clauses(node: exp.Expr, admitted: frozenset[str]) -> None:
    for name, value in node.args.items():
        if value and name not in admitted:
            reason = _REASON_OF_CLAUSE.get(name, "E_NODE")
            clause = value[0] if isinstance(value, list) else value
            written = clause if isinstance(clause, exp.Expr) else node
            refuse(reason, written, f"no rule for the clause {name.strip('_')}")


def _check_tail(node: exp.Expr) -> None:
    """ORDER BY and LIMIT of a select or a union."""
    limit, order = node.args.get("limit"), node.args.get("order")
    if limit is not None and not isinstance(limit, exp.Limit):
        refuse("E_LIMIT_PERCENT", limit, "not a plain row count")
    is_count = limit is None or isinstance(limit.expression, (exp.Literal, exp.Placeholder, exp.Parameter))
    if limit is not None and (not is_count or limit.args.get("limit_options") is not None):
        refuse("E_LIMIT_PERCENT", limit, "not a plain row count")
    if limit is not None and order is None:
        refuse("E_LIMIT_UNORDERED", limit, "LIMIT without ORDER BY")
    if order is not None and is_all(order):
        refuse("E_ORDER_ALL", order, "ORDER BY ALL of a star")


def _check_select(node: exp.Select) -> None:
    _check_clauses(node, _SELECT_CLAUSES)
    _check_tail(node)
    distinct, group = node.args.get("distinct"), node.args.get("group")
    if distinct is not None and distinct.args.get("on") is not None:
        _check_distinct_on(node, distinct.args["on"])
    if group is not None:
        _check_clauses(group, frozenset(("expressions", "all")))
    if not node.expressions:
        refuse("E_STAR", node, "no select list")


def _check_distinct_on(node: exp.Select, on: exp.Expr) -> None:
    """The row that is kept must be decided: by more than the keys, which are equal in all rows it is chosen from."""
    order = node.args.get("order")
    keys = [_ordering_key(ordered.this, node) for ordered in order.expressions] if order is not None else []
    decides = any(key not in on.expressions for key in keys)
    if not decides or on.find(exp.Query) is not None:
        refuse("E_DISTINCT_ON", node, "DISTINCT ON whose ORDER BY does not decide which row is kept")


def _ordering_key(key: exp.Expr, node: exp.Select) -> exp.Expr:
    """The expression that a key of ORDER BY is, or is the position of."""
    is_position = isinstance(key, exp.Literal) and not key.is_string and 0 < int(key.name) <= len(node.expressions)
    return node.expressions[int(key.name) - 1].unalias() if is_position else key


def _check_set_operation(node: exp.SetOperation) -> None:
    _check_clauses(node, _UNION_CLAUSES)
    _check_tail(node)
    if not isinstance(node, exp.Union) and (not node.args.get("distinct") or node.args.get("by_name")):
        refuse("E_SETOP", node, "INTERSECT or EXCEPT of bags, or by name")


def _check_join(node: exp.Join) -> None:
    side, kind = (node.side or "").upper(), (node.kind or "").upper()
    method = (node.method or "").upper()
    if {side, kind} & {"SEMI", "ANTI"}:
        if method:
            refuse("E_SEMI_JOIN", node, f"{method} SEMI or ANTI JOIN")
        _check_semi_join(node)
    elif side not in ("", "LEFT", "RIGHT", "FULL") or kind not in ("", "INNER", "OUTER", "CROSS"):
        refuse("E_JOIN", node, "no rule for this join")
    if method not in ("", "ASOF", "NATURAL") or (method == "ASOF" and side not in ("", "LEFT")):
        refuse("E_JOIN", node, "no rule for this join")
    _check_clauses(node, _JOIN_CLAUSES)


def _check_semi_join(node: exp.Join) -> None:
    """As a condition it is applied after all joins, which is the same unless one of them adds rows."""
    joins = node.parent.args.get("joins") or [] if node.parent else []
    following = joins[[id(join) for join in joins].index(id(node)) + 1 :]
    if any((join.side or "").upper() in ("RIGHT", "FULL") for join in following):
        refuse("E_SEMI_JOIN", node, "a SEMI or ANTI JOIN before a RIGHT or FULL JOIN")


def _check_table(node: exp.Table) -> None:
    if isinstance(node.this, exp.Func) and not isinstance(node.this, exp.GenerateSeries):
        refuse("E_TABLEFUNC", node, "reads data outside the registered tables")
    _check_clauses(node, frozenset("this alias db catalog joins pivots".split()))


def _check_subquery(node: exp.Subquery) -> None:
    if any(node.args.get(name) for name in ("order", "limit", "offset", "with_")):
        refuse("E_PAREN", node, "ORDER BY, LIMIT or WITH on a parenthesised query")
    _check_clauses(node, frozenset("this alias joins pivots".split()))


def _check_pivot(node: exp.Pivot) -> None:
    """PIVOT as a statement or behind a FROM item, with the values written down: else the columns depend on the data."""
    if node.args.get("unpivot"):
        _check_unpivot(node)
        return
    lists = node.args.get("fields") or node.expressions
    for listed in lists:
        is_list = isinstance(listed, exp.In) and listed.expressions
        if not is_list or not all(isinstance(value, exp.Literal) for value in listed.expressions):
            refuse("E_PIVOT", node, "PIVOT without a list of plain values")
    _check_clauses(node, _PIVOT_CLAUSES)


def _check_unpivot(node: exp.Pivot) -> None:
    """UNPIVOT of columns that are named, into one column of names and one of values."""
    lists = node.args.get("fields") or [exp.In(expressions=node.expressions)]
    into = node.args.get("into")
    values = node.expressions if node.args.get("fields") else into.expressions if into is not None else [exp.Identifier()]
    is_plain = all(isinstance(column, exp.Column) and not column.table and not column.is_star for column in lists[0].expressions)
    if not is_plain or len(lists) != 1 or len(values) != 1 or isinstance(values[0], exp.Tuple):
        refuse("E_UNPIVOT", node, "UNPIVOT of anything but columns that are named, or into several columns of values")
    alias = node.args.get("alias")
    if alias is not None and alias.columns:
        refuse("E_UNPIVOT", node, "UNPIVOT with a list of columns behind its alias")  # DuckDB 2.0.0 then keeps the NULLs
    _check_clauses(node, _PIVOT_CLAUSES)


def _check_with(node: exp.With) -> None:
    _check_clauses(node, frozenset("expressions recursive".split()))


def _check_lateral(node: exp.Lateral) -> None:
    _check_clauses(node, frozenset("this alias".split()))


def _check_cte(node: exp.CTE) -> None:
    if not isinstance(node.this, (exp.Query, exp.Pivot)):
        refuse("E_NOT_QUERY", node, "a CTE that is not a query")
    _check_clauses(node, frozenset("this alias materialized".split()))


def _check_placeholder(node: exp.Placeholder) -> None:
    """A guard may repeat an expression: a named parameter can be read twice, a positional one cannot."""
    if not node.this:
        refuse("E_NODE", node, "a positional parameter; name it, as in $as_of")


def _check_exists(node: exp.Exists) -> None:
    if not isinstance(node.this, exp.Query):
        refuse("E_NODE", node, "EXISTS without a query")


_CHECKS: dict[type[exp.Expr], Callable[..., None]] = {
    exp.Select: _check_select, exp.Union: _check_set_operation, exp.Intersect: _check_set_operation,
    exp.Except: _check_set_operation, exp.Join: _check_join, exp.Table: _check_table, exp.Subquery: _check_subquery,
    exp.Pivot: _check_pivot, exp.Lateral: _check_lateral, exp.With: _check_with, exp.CTE: _check_cte,
    exp.Exists: _check_exists, exp.Placeholder: _check_placeholder,
}  # fmt: skip
