"""What a publication may say of its why-sets: guarantees G1 to G4 of the design, each with how it was established.

- G1, result identity: the query run again gives the published values, and so does each annotated query.
- G2, occurrence sufficiency: each occurrence of a table restricted to its own rows in the why-set, the query still gives the
  number. The rewriter's rules are such (`claims.provenance`).
- G3, sufficiency: nothing but the why-set's evidence is needed. G4, stability: and nothing else can be retracted so that the
  number changes. Both hold where no clause lets the *absence* of a row bring another one in. Where some clause does, no one
  knows from the SQL alone: `wh verify` finds G3 out for a number by replaying it.

Green, Karvounarakis and Tannen (PODS 2007) for what monotone queries give; the clauses here are those that are not.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from warehouse.claims.parsed import parsed
from warehouse.errors import printable
from warehouse.transform.sql_text import body

if TYPE_CHECKING:
    from sqlglot import exp

    from warehouse.claims.catalog import BuiltModel, Catalog

YES, UNKNOWN = "yes", "unknown"
CHECKED, BY_CONSTRUCTION, NOT_ESTABLISHED = "checked", "by construction", "not established"
_LONGEST_CLAUSE = 100


def guarantees(catalog: "Catalog", spec: "BuiltModel") -> dict[str, Any]:
    """The four guarantees of a query's why-sets as a document; `clauses` are those for which G3 and G4 are not known."""
    clauses = [
        f"{model.qualified}: {clause}"
        for model in (spec, *catalog.under(spec.qualified))
        for clause in absences(body(model.sql), is_outermost=model is spec)
    ]
    by_absence = {"holds": UNKNOWN, "established": NOT_ESTABLISHED} if clauses else {"holds": YES, "established": BY_CONSTRUCTION}
    return {
        "G1": {"holds": YES, "established": CHECKED},
        "G2": {"holds": YES, "established": BY_CONSTRUCTION},
        "G3": by_absence,
        "G4": by_absence,
        "clauses": clauses,
    }


def absences(sql: str, *, is_outermost: bool) -> list[str]:
    """The clauses of a query by which a row that is not there may bring another one in, as text. An aggregate counts in every
    block but the outermost of the query itself: there a group that lost rows is another row of the result."""
    from sqlglot import exp

    tree = parsed(sql)
    outermost = set(map(id, _outermost_blocks(tree))) if is_outermost else set()
    found = []
    for node in tree.walk():
        is_grouped = isinstance(node, exp.Select) and id(node) not in outermost and _aggregates(node)
        if is_grouped:
            found.append(f"GROUP BY of {_shown(node)}" if node.args.get("group") else f"aggregate {_shown(node)}")
        elif _lets_absence_in(node):
            found.append(_shown(node))
    return list(dict.fromkeys(found))


def _outermost_blocks(tree: "exp.Expr") -> "Iterator[exp.Expr]":
    from sqlglot import exp

    if isinstance(tree, exp.SetOperation):
        yield from _outermost_blocks(tree.left)
        yield from _outermost_blocks(tree.right)
    elif isinstance(tree, exp.Subquery):
        yield from _outermost_blocks(tree.this)
    else:
        yield tree


def _aggregates(node: "exp.Select") -> bool:
    from warehouse.claims.provenance.selecting import aggregates

    return aggregates(node)


def _lets_absence_in(node: "exp.Expr") -> bool:
    from sqlglot import exp

    match node:
        case exp.Join():
            said = {part.upper() for part in (node.side, node.kind, node.method) if part}
            return bool(said & {"LEFT", "RIGHT", "FULL", "ANTI", "ASOF", "POSITIONAL"})
        case exp.Except() | exp.Window() | exp.Limit() | exp.Pivot():
            return True
        case exp.Distinct():
            return node.args.get("on") is not None
        case exp.Query():
            return not isinstance(node.parent, exp.Subquery) and not _brings_rows_in(node)
    return False


def _brings_rows_in(query: "exp.Query") -> bool:
    """Whether a query is read as a table, or by an IN or EXISTS that must hold: then more of its rows bring more rows in."""
    from sqlglot import exp

    above = query.parent
    if isinstance(above, (exp.In, exp.Exists)):
        return _is_asserted(above)
    if isinstance(above, exp.Subquery):
        return _brings_rows_in(above)
    return above is None or isinstance(above, (exp.From, exp.Join, exp.Lateral, exp.CTE, exp.SetOperation))


def _is_asserted(condition: "exp.Expr") -> bool:
    """Whether a row passes only where this holds: it stands in WHERE under nothing but AND."""
    from sqlglot import exp

    above = condition.parent
    while isinstance(above, (exp.And, exp.Paren)):
        above = above.parent
    return isinstance(above, exp.Where)


def _shown(node: "exp.Expr") -> str:
    text = " ".join(printable(node.unnest().sql("duckdb", comments=False)).split())
    return text if len(text) <= _LONGEST_CLAUSE else text[:_LONGEST_CLAUSE] + "…"
