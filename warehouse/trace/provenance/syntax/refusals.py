"""Every reason for which SQL is refused, with the way out. Refusing is the default: what no rule names is not traced.

A refusal is a `WarehouseError` WH306 whose message starts with a stable token (`E_...`) and quotes the clause, and which
knows the clause's place in the SQL: the caller, which knows the file, turns that into a place in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

from sqlglot import Token, exp

from warehouse.errors import WarehouseError, printable

MAX_QUOTED_CHARACTERS = 120

REASONS: dict[str, str] = {
    "E_PARSE": "correct the SQL; DuckDB's own message may say more",
    "E_MULTI": "give exactly one statement",
    "E_NOT_QUERY": "give a select statement",
    "E_NODE": "rewrite the clause with plain select, join, group by, window and set operations",
    "E_VOLATILE": "the answer changes between runs; bind the value as a parameter or compute it in a model",
    "E_APPROX": "the answer depends on thread order; use the exact function",
    "E_FUNCTION": "use a function that DuckDB itself provides; macros and user functions cannot be read",
    "E_AGGREGATE": "no evidence rule exists for this aggregate; use a standard one",
    "E_UNORDERED_AGG": "the answer depends on row order; add ORDER BY inside the aggregate, or use min() or max()",
    "E_SAMPLE": "a sample differs between runs; filter on a key instead",
    "E_LIMIT_UNORDERED": "add an ORDER BY that decides every tie",
    "E_LIMIT_PERCENT": "give a row count, or use row_number() and QUALIFY",
    "E_TIE": "add to ORDER BY what tells the tied rows apart, down to a key; or take min() or max() of the value",
    "E_OFFSET": "put what is ordered into a derived table and order that by its columns; n and m of LIMIT n OFFSET m are numbers",
    "E_ORDER_ALL": "name the columns to order by",
    "E_SETOP": "use INTERSECT and EXCEPT without ALL and BY NAME, or row_number() to tell equal rows apart",
    "E_RECURSIVE": "write anchor UNION [ALL] step; the step is one SELECT that continues each row on its own",
    "E_PIVOT": "list the values, as in ON c IN (1, 2), or write aggregates with FILTER",
    "E_UNPIVOT": "name the columns, as in UNPIVOT t ON a, b INTO NAME n VALUE v; or write a SELECT for each and UNION ALL",
    "E_DISTINCT_ON": "add to ORDER BY what decides the row, or use row_number() and QUALIFY",
    "E_DISTINCT_ORDER": "order by columns of the SELECT DISTINCT or UNION list",
    "E_JOIN": "use INNER, LEFT, RIGHT, FULL, CROSS or ASOF [LEFT] JOIN with ON or USING",
    "E_COMMA_JOIN": "write CROSS JOIN instead of the comma",
    "E_SEMI_JOIN": "use WHERE [NOT] EXISTS, or put the SEMI or ANTI JOIN into a derived table",
    "E_LATERAL": "DuckDB lets a table function read the items before it without the word LATERAL",
    "E_TABLEFUNC": "only range(), generate_series() and unnest() are traced; read files through an ingestor",
    "E_UNTRACKED": "give the table a token, or select from a model that has one",
    "E_RESOLVE": "check the spelling and qualify the column with its table",
    "E_STAR": "name the columns",
    "E_COLUMNS": "name the columns",
    "E_ALIAS_COLUMNS": "give no more names than there are columns",
    "E_NOALIAS": "name the table function or VALUES and its columns, as in unnest(x) as u(item)",
    "E_UNNAMED": "give the expression a name with AS",
    "E_DUPLICATE_COLUMN": "give each output column its own name with AS",
    "E_RESERVED": "names that begin with __ belong to the annotator; choose another",
    "E_PAREN": "put ORDER BY, LIMIT and WITH inside the parentheses",
    "E_CORRELATED": "give the FROM item outside a name that no FROM item and no column of the subquery has",
    "E_SUBQUERY_PLACE": "compute the subquery in a CTE and join it",
    "E_SUBQUERY_CELL": "the value itself is IN or EXISTS; use it in WHERE, or compute it with a join",
    "E_SUBQUERY_FORM": "give the subquery as many columns as it is compared with",
    "E_WINDOW": "order the window; known are aggregates, ranks, lag, lead, first_value, last_value, nth_value",
}


@dataclass
class Refusal(WarehouseError):
    """WH306 for a clause. `offset` is the character of the SQL at which the clause begins; None when it is no part of it."""

    offset: int | None = None


def refuse(
    reason: str, clause: exp.Expr | Token | str, message: str, offset: int | None = None
) -> NoReturn:
    """Raise WH306 for `clause`; the hint comes from `REASONS`. A text has no place of its own: `offset` gives it."""
    if isinstance(clause, Token):
        text, offset = clause.text, clause.start
    elif isinstance(clause, exp.Expr):
        text, offset = clause.sql("duckdb"), offset_of(clause)
    else:
        text = clause
    quoted = printable(text)
    if len(quoted) > MAX_QUOTED_CHARACTERS:
        quoted = quoted[:MAX_QUOTED_CHARACTERS] + "..."
    raise Refusal("WH306", f"{reason}: {message}: {quoted}", hint=REASONS[reason], offset=offset)


def offset_of(clause: exp.Expr) -> int | None:
    """The first character of a clause in the SQL it was parsed from, or of what contains it; None for what was not parsed.
    The parser keeps the places of names, literals and functions only, so it is that of the leftmost of these."""
    node: exp.Expr | None = clause
    while node is not None:
        starts: list[int] = [part.meta["start"] for part in node.walk() if "start" in part.meta]
        if starts:
            return min(starts)
        node = node.parent
    return None
