"""A syntax tree as DuckDB's SQL.

sqlglot's own writer for DuckDB drops the qualifier of every column inside a PIVOT, in the queries that it reads as well: what is
left may be ambiguous, or another column.
"""

from __future__ import annotations

from sqlglot import exp
from sqlglot.dialects.duckdb import DuckDB


class _Writer(DuckDB.Generator):
    TRANSFORMS = {kind: rule for kind, rule in DuckDB.Generator.TRANSFORMS.items() if kind is not exp.Pivot}


def written(tree: exp.Expression) -> str:
    """The text of a tree, which may be changed by it: a copy of a large one takes longer than many a query."""
    return _Writer(dialect="duckdb").generate(tree, copy=False)
