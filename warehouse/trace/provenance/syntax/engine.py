"""What DuckDB says about its own functions, which are aggregates, which exist at all; and which a traced query may not call.

Which functions answer from their arguments alone, the project's own table decides (`transform.sql.functions`); one that the table
does not know is judged by what the running engine says of its overloads. No query runs on the user's data here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from sqlglot import Token, TokenType, exp
from sqlglot.dialects.duckdb import DuckDB

from warehouse.trace.provenance.syntax.refusals import refuse
from warehouse.trace.provenance.values import copied
from warehouse.transform.sql.aggregates import AGGREGATE_MACROS
from warehouse.transform.sql.duck import asking
from warehouse.transform.sql.functions import OF_SESSION, SESSION_WORDS, VARYING, VARYING_WORDS, is_steady, varies

_UNSTEADY_WORDS = VARYING_WORDS | SESSION_WORDS
APPROXIMATE = frozenset("reservoir_quantile histogram_approx".split())
# Macros over averages and sums: they consider the rows that have all their arguments, as any aggregate does.
_AVERAGES = frozenset("geomean geometric_mean wavg weighted_avg".split())
UNRULED_AGGREGATES = (AGGREGATE_MACROS - _AVERAGES) | frozenset(
    "arg_max_null arg_min_null arg_max_nulls_last arg_min_nulls_last lttb combine_aggr variant_group_object".split()
)
ORDER_DEPENDENT = frozenset("list array_agg string_agg listagg group_concat first last arbitrary".split())
COUNTED = frozenset("min max arg_min arg_max".split())  # that take several values, as in max(x, 3)
NULL_KEEPING = frozenset("list array_agg first last arbitrary".split())

_WORD = re.compile(r"[a-z_]\w*")
_CALL = re.compile(r"\s*(\w+)\s*\(")
# Function classes of sqlglot that DuckDB writes as syntax, not as a call of a catalogued function.
_SYNTAX = (
    exp.Cast, exp.TryCast, exp.Case, exp.If, exp.Coalesce, exp.Nullif, exp.And, exp.Or, exp.Xor, exp.Extract,
    exp.Array, exp.Struct, exp.Map, exp.Unnest, exp.Explode, exp.Trim, exp.Substring, exp.Exists, exp.DPipe,
    exp.StrPosition, exp.Try, exp.Grouping, exp.GroupingId, exp.Columns,
)  # fmt: skip


@dataclass(frozen=True)
class EngineFunctions:
    names: frozenset[str]
    aggregates: frozenset[str]
    unsteady: frozenset[str]  # but for those of `VARYING_CALLS`
    approximate: frozenset[str]


@cache
def engine_functions() -> EngineFunctions:
    """The functions of the DuckDB in this process; about 20 ms, once."""
    with asking() as connection:
        rows = connection.execute(
            "select function_name, function_type, stability, concat_ws(' ', parameter_types, return_type) from duckdb_functions() "
            "where not function_name ~ '^[^a-z]'"
        ).fetchall()
    names = frozenset(name for name, _, _, _ in rows)
    return EngineFunctions(
        names=names,
        aggregates=frozenset(name for name, kind, _, _ in rows if kind == "aggregate") | AGGREGATE_MACROS,
        unsteady=frozenset(name for name, _, stability, types in rows if not is_steady(name, stability, types)) | VARYING | OF_SESSION,
        approximate=frozenset(name for name in names if "approx" in name) | APPROXIMATE,
    )


def function_name(node: exp.Expr) -> str:
    """The name under which DuckDB knows a call: sqlglot's class names differ (`RAND`, `APPROX_DISTINCT`). What is no call,
    such as AND or CAST, has none."""
    if isinstance(node, exp.Anonymous):
        return node.name.lower()
    if isinstance(node, (exp.Connector, exp.Case, exp.If, exp.Cast)) or not isinstance(node, exp.Func):
        return ""
    kind = type(node)
    if kind not in DuckDB.Generator.TRANSFORMS and not hasattr(DuckDB.Generator, f"{kind.key}_sql"):
        return kind.sql_name().lower()  # written as it is called; writing out all that it is called with takes ten times as long
    match = _CALL.match(copied(node).sql("duckdb", copy=False))  # sqlglot's own copy takes longer than the writing
    return match.group(1).lower() if match else ""


def words_of(sql: str) -> frozenset[str]:
    return frozenset(_WORD.findall(sql.lower()))


@cache
def written_name(expression: str, names: tuple[str, ...]) -> str | None:
    """How DuckDB names an output column without an alias; None if it must be asked on the data (a subquery).

    Only what can be a macro has a name here: that is bound to no table, and `names` become its parameters.
    """
    import duckdb

    listed = ", ".join(f'"{name}"' for name in names)
    with asking() as connection:
        try:
            connection.execute(f"create temp macro named({listed}) as {expression}")
        except duckdb.Error:
            return None
        # The same text as the macro's definition, which takes 13 ms to find among all functions.
        [(written,)] = connection.execute("select json_deserialize_sql(json_serialize_sql(?))", [f"select {expression}"]).fetchall()
    return str(written).removeprefix("SELECT ")


def is_aggregate(node: exp.Expr) -> bool:
    if isinstance(node, exp.AggFunc):
        return True
    return isinstance(node, exp.Func) and function_name(node) in engine_functions().aggregates


def check_words(tokens: Sequence[Token]) -> None:
    """Refuse volatile and approximate functions as the analyst wrote them, before any parser renames them."""
    known = engine_functions()
    for before, token, following in zip([None, *tokens[:-1]], tokens, [*tokens[1:], None], strict=True):
        word = token.text.lower()
        if token.token_type in (TokenType.STRING, TokenType.IDENTIFIER):
            continue
        called = following is not None and following.token_type == TokenType.L_PAREN
        is_field = before is not None and before.token_type == TokenType.DOT
        if (called and word in known.unsteady) or (word in _UNSTEADY_WORDS and not is_field):
            refuse("E_VOLATILE", token, "a volatile function")
        if called and word in known.approximate:
            refuse("E_APPROX", token, "an approximate function")


def check_function(node: exp.Func) -> None:
    """Refuse a function that DuckDB does not provide, or an aggregate without a rule."""
    known, name = engine_functions(), function_name(node)
    is_varying = isinstance(node, exp.Anonymous) and varies(name, len(node.expressions))
    if name in known.unsteady or is_varying or (not name and _niladic(node)):
        refuse("E_VOLATILE", node, "a volatile function")
    if name in known.approximate:
        refuse("E_APPROX", node, "an approximate function")
    if name in UNRULED_AGGREGATES:
        refuse("E_AGGREGATE", node, "an aggregate without a rule")
    count = node.args.get("count") if name in COUNTED else None
    if count is not None and count.find(exp.Column):
        refuse("E_UNORDERED_AGG", node, "how many values are taken is read from one of the rows, the first")
    if isinstance(node, exp.Anonymous) and name not in known.names:
        refuse("E_FUNCTION", node, f"DuckDB provides no function {name}")
    if (name in ORDER_DEPENDENT and is_aggregate(node) or _lists_rows(node)) and not _is_ordered(node):
        refuse("E_UNORDERED_AGG", node, "the answer depends on row order")
    if not isinstance(node, (*_SYNTAX, exp.Anonymous)) and name and name not in known.names:
        refuse("E_FUNCTION", node, f"no rule for {name}")


def _niladic(node: exp.Func) -> bool:
    return next(node.iter_expressions(), None) is None and node.sql("duckdb").lower() in _UNSTEADY_WORDS


def _lists_rows(node: exp.Func) -> bool:
    """Whether it makes a list of the rows of a query, `array(select ...)`, that may have several."""
    query = _listed_query(node)
    if not isinstance(query, exp.Select):
        return query is not None
    parts = (part for item in query.expressions for part in item.walk(prune=lambda inner: isinstance(inner, exp.Query)))
    is_total = query.args.get("group") is None and query.find(exp.Window) is None and any(map(is_aggregate, parts))
    return not is_total and query.args.get("from_") is not None


def _listed_query(node: exp.Func) -> exp.Query | None:
    is_list = isinstance(node, exp.Array) and not node.args.get("value_constructor")  # which `[(select ...)]` is, of one value
    listed = node.expressions[0] if is_list and len(node.expressions) == 1 else None
    while isinstance(listed, (exp.Paren, exp.Subquery)):
        listed = listed.this
    return listed if isinstance(listed, exp.Query) else None


def _is_ordered(node: exp.Func) -> bool:
    """ORDER BY inside the aggregate or of the listed query, WITHIN GROUP around it, a window that orders its frame, or list_sort() of the list."""
    query = _listed_query(node)
    if (query.args.get("order") if query is not None else node.find(exp.Order)) is not None:
        return True
    above = node.parent
    while isinstance(above, (exp.Filter, exp.IgnoreNulls, exp.RespectNulls)):
        above = above.parent
    if isinstance(above, exp.ArraySort) or (isinstance(above, exp.Window) and isinstance(above.parent, exp.ArraySort)):
        return True
    if isinstance(above, exp.Window):
        return above.args.get("order") is not None or above.args.get("alias") is not None
    return isinstance(above, exp.WithinGroup)
