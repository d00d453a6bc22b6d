"""What a publication may say of its why-sets: guarantees G1 to G4 of the design, each with how it was established.

- G1, result identity: the query run again gives the published values, and so does each annotated query.
- G2, occurrence sufficiency: each occurrence of a table that the query reads, views written out, restricted to its own rows in
  the why-set, the query still gives the number. Whether the models under it still give these rows is a matter of G3.
- G3, sufficiency: nothing but the why-set's evidence is needed. G4, stability: and nothing else can be retracted so that the
  number changes. Both hold where no clause lets the *absence* of a row bring another one in. Where some clause does, no one
  knows from the SQL alone: `wh verify` finds G3 out for a number by replaying it.

G2 is claimed where it is proven (`claims.trace.sufficiency`), G3 and G4 of monotone queries (`claims.trace.monotony`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from warehouse.transform.sql.text import body

if TYPE_CHECKING:
    from warehouse.trace.catalog import BuiltModel, Catalog
    from warehouse.transform.check.text_facts import TextFacts

# What each says of a number, in a few words.
MEANINGS = {
    "G1": "the query, run again, gives the published value",
    "G2": "each table cut down to the rows of these runs still gives it",
    "G3": "the evidence of these runs alone gives it",
    "G4": "no other run can be retracted so that it changes",
}
YES, UNKNOWN = "yes", "unknown"
CHECKED, BY_CONSTRUCTION, NOT_ESTABLISHED = "checked", "by construction", "not established"


def remembered_guarantees(catalog: "Catalog", spec: "BuiltModel", facts: "TextFacts") -> dict[str, Any]:
    """`guarantees`, taken from `facts` where these have them."""
    from warehouse.trace.trace_step import tracer_digest

    return facts.recall("guarantees", [tracer_digest(), *catalog.meaning_of(spec.qualified)], lambda: guarantees(catalog, spec))


def guarantees(catalog: "Catalog", spec: "BuiltModel") -> dict[str, Any]:
    """The four guarantees of a query's why-sets as a document; `clauses` are those for which G3 and G4 are not known. Of G2 its
    own `clauses` are reported, if there are any."""
    from warehouse.trace.monotony import absences  # sqlglot: 0.1 s, and `wh lineage` needs only the words

    models = (spec, *catalog.under(spec.qualified))
    clauses = [
        f"{model.qualified}: {clause}" for model in models for clause in absences(body(model.sql), is_outermost=model is spec)
    ]
    insufficient = [f"{spec.qualified}: {clause}" for clause in _unproven(catalog, spec)]
    return {
        "G1": {"holds": YES, "established": CHECKED},
        "G2": _promised(insufficient) | ({"clauses": insufficient} if insufficient else {}),
        "G3": _promised(clauses),
        "G4": _promised(clauses),
        "clauses": clauses,
    }


def but_for(promised: Mapping[str, Any], left_out: Sequence[str], *, contradicts: bool) -> dict[str, Any]:
    """The guarantees of numbers, from the tables under which a build left rows out (`transform.testing.rejected_rows`). One that
    `contradicts` another row may be there again where that one's evidence is not: then nobody knows of G3 and G4."""
    if not left_out:
        return dict(promised)
    unknown = {name: _promised([*left_out]) for name in ("G3", "G4")} if contradicts else {}
    return {**promised, **unknown, "left_out": {"rows": list(left_out), "contradicts": contradicts}}


def as_recorded(promised: Mapping[str, Any], recorded: Any) -> dict[str, Any]:
    """The guarantees that SQL gives, but for the rows that a record says were left out."""
    left_out = recorded.get("left_out") if isinstance(recorded, dict) else None
    if not isinstance(left_out, dict) or not isinstance(left_out.get("rows"), list):  # whoever may have written it
        return dict(promised)
    return but_for(promised, left_out["rows"], contradicts=left_out.get("contradicts") is True)


def promises_no_more(recorded: Any, promised: Mapping[str, Any]) -> bool:
    """Whether each guarantee of a record is one of `promised`, or unknown: another version of wh may prove less."""
    if not isinstance(recorded, dict) or recorded.get("left_out") != promised.get("left_out"):
        return False
    return all(said == promised[name] or (isinstance(said, dict) and said.get("holds") == UNKNOWN)
               for name, said in ((name, recorded.get(name)) for name in ("G1", "G2", "G3", "G4")))


def _promised(clauses: list[str]) -> dict[str, Any]:
    return {"holds": UNKNOWN, "established": NOT_ESTABLISHED} if clauses else {"holds": YES, "established": BY_CONSTRUCTION}


def _unproven(catalog: "Catalog", spec: "BuiltModel") -> list[str]:
    """The clauses of a query, and of the views in it, for which G2 is not proven."""
    from warehouse.trace.inlined_views import expanded
    from warehouse.trace.monotony import shown
    from warehouse.trace.parse_cache import parsed
    from warehouse.trace.sufficiency import Tables, unproven

    def key_of(name: str) -> tuple[str, ...]:
        found = catalog.models.get(catalog.resolve(name))
        return found.grain if found is not None else ()

    columns = catalog.by_any_name
    tree = parsed(expanded(spec, catalog).text)
    return list(dict.fromkeys(map(shown, unproven(tree, Tables(key_of, columns.get)))))
