"""SQL as a syntax tree, parsed once: the same models are read for their ties, their guarantees, their tables and their keys."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlglot import exp


@lru_cache(maxsize=1024)  # more than the models of a project, which are read in turn
def parsed(sql: str) -> "exp.Expr":
    """The tree of one statement, respelled. It is shared: who wants to change it copies it. Raises sqlglot's ParseError."""
    import sqlglot

    from warehouse.trace.provenance.syntax.spelling import respelled

    return respelled(sqlglot.parse_one(sql, dialect="duckdb"))
