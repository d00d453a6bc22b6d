"""A syntax tree as DuckDB's SQL.

sqlglot's own writer for DuckDB drops the qualifier of every column inside a PIVOT, in the queries that it reads as well: what is
left may be ambiguous, or another column. There a qualified column is written as the access to a part that it also is.
"""

from __future__ import annotations

from sqlglot import exp


def written(tree: exp.Expr) -> str:
    """The text of a tree, which may be changed by it: a copy of a large one takes longer than many a query."""
    for pivot in list(tree.find_all(exp.Pivot)):
        for column in list(pivot.find_all(exp.Column)):
            if column.table:
                column.replace(exp.Dot.build(column.parts))
    return tree.sql("duckdb", copy=False)
