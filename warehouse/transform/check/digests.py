"""What a model's digest covers: its canonical SQL, its contract, and by Merkle chaining everything under it.

Logic only: data is not in it, so that loading a new run does not change what a query *is*.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from warehouse.digest import domain_digest
from warehouse.transform.check.checked_project import CheckedProject
from warehouse.transform.project.header_tests import HeaderTest
from warehouse.transform.project.model import RUNS, Column, Model, model_of_role
from warehouse.transform.sql.duck import PINNED_SETTINGS, engine_version
from warehouse.transform.sql.text import CANONICAL_FORM

MODEL_DOMAIN = "wh/model/1"
QUERY_SPEC_DOMAIN = "wh/query-spec/1"


@dataclass(frozen=True)
class Envelope:
    """A digest and the canonical document it is of."""

    digest: str
    document: Mapping[str, Any]


def landing_leaf(table: str, version: str, columns: Mapping[str, str]) -> dict[str, Any]:
    """The leaf of the Merkle tree for one landing table: who parses it, at which version, into which columns."""
    return {"table": table, "parsed_by": version, "columns": [[name, kind] for name, kind in columns.items()]}


def engine_leaf() -> dict[str, Any]:
    """What runs the SQL: the engine, its version and the settings of every session."""
    return {"name": "duckdb", "version": engine_version(), "settings": dict(PINNED_SETTINGS)}


def envelopes(checked: CheckedProject, leaves: Mapping[str, Mapping[str, Any]]) -> dict[str, Envelope]:
    """One envelope a model, feed and query, keyed as the graph is. `leaves` are those of `landing_leaf` by table."""
    made: dict[str, Envelope] = {}
    # Every publication quotes what the table of runs says of its runs, so every query spec holds how that is made.
    runs = model_of_role(checked.models.values(), RUNS)
    # Nothing reads a rollup but other rollups, and these come in order.
    for name in sorted(checked.graph.order, key=lambda name: checked.models[name].schema == "rollup"):
        model = checked.models[name]
        document = {
            "canonical_form": CANONICAL_FORM,
            "name": model.qualified,
            "sql": model.canonical_sql,
            "contract": model.contract,
            "columns": [[column, kind] for column, kind in checked.columns[name].items()],
            "parents": [
                {"name": checked.models[parent].qualified, "digest": made[parent].digest}
                for parent in sorted(checked.graph.models[name])
            ],
            "landing": [dict(leaves[table]) for table in sorted(checked.graph.landing[name])],
        }
        if model.schema == "rollup":
            document["engine"] = engine_leaf()
            document["claim"] = dict(model.claim)
            if runs and runs.name not in _under(name, checked):
                document["runs"] = {"name": runs.qualified, "digest": made[runs.name].digest}
        made[name] = Envelope(document_digest(document), document)
    return made


def document_digest(document: Mapping[str, Any]) -> str:
    """The digest of a document of `envelopes`. A query spec that another one reads is a query spec there too."""
    return domain_digest(QUERY_SPEC_DOMAIN if is_query_spec(document) else MODEL_DOMAIN, document)


def is_query_spec(document: Mapping[str, Any]) -> bool:
    """Whether a document of `envelopes` is of a query spec."""
    return str(document["name"]).startswith("rollup.")


def specification(name: str, checked: CheckedProject, made: Mapping[str, Envelope]) -> dict[str, Any]:
    """The whole envelope of a query spec, as `specs/<query_spec_digest>.json` keeps it: the query's own document, and that
    of every model under it, and of the table of runs, by its digest. Nothing is in it that no digest covers."""
    held = _under(name, checked)
    runs = model_of_role(checked.models.values(), RUNS)
    if runs and "runs" in made[name].document:
        held |= {runs.name} | _under(runs.name, checked)
    under = {made[parent].digest: made[parent].document for parent in sorted(held, key=checked.place_of)}
    return {"query_spec_digest": made[name].digest, "document": made[name].document, "models": under}


def parents_of(document: Mapping[str, Any]) -> list[Mapping[str, str]]:
    """The name and digest of every model that a document of `envelopes` depends on directly, by name."""
    runs = [document["runs"]] if "runs" in document else []
    return sorted([*document["parents"], *runs], key=lambda parent: str(parent["name"]))


def _under(name: str, checked: CheckedProject) -> set[str]:
    """Every model that another reads, at any depth."""
    found: set[str] = set()
    pending = list(checked.graph.models[name])
    while pending:
        parent = pending.pop()
        if parent not in found:
            found.add(parent)
            pending += checked.graph.models[parent]
    return found


def recorded_model(document: Mapping[str, Any]) -> Model:
    """The model that a document of `envelopes` is of, as far as a digest covers it: all that decides its rows."""
    schema, _, name = str(document["name"]).partition(".")
    contract = document["contract"]
    tests: dict[str, list[HeaderTest]] = {}
    for column, kind, argument, where in contract.get("rejects", ()):
        tests.setdefault(column, []).append(HeaderTest(kind, argument, where=where))
    return Model(
        name=name,
        schema=schema,
        place=f"{document['name']} (recorded)",
        text=document["sql"],
        materialized=contract["materialized"],
        key=tuple(contract.get("key", ())),
        grain=tuple(contract["grain"]),
        columns={
            column: Column(
                column, kind, "", unit, tuple(tests.pop(column, ())), tolerance=contract.get("tolerances", {}).get(column)
            )
            for column, kind, unit in contract["columns"]
        },
        tests=tuple(tests.get("", ())),
        claim=document.get("claim", {}),
        role=contract.get("role"),
        rejects="rejects" in contract,
    )
