"""What a number was made by, as it was recorded: its query's spec, the models of it checked again, their column lineage.

Nothing of the project's own models is read, which may have changed since.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from warehouse.claims.numbers.lineage import Lineage
from warehouse.claims.publish.specification import stored_specification
from warehouse.errors import WarehouseError
from warehouse.evidence.objects.location import open_store
from warehouse.project.project import Project

if TYPE_CHECKING:
    from warehouse.transform.check.checked_project import CheckedProject
    from warehouse.transform.inputs.landing_tables import LandingTables
    from warehouse.transform.lineage.columns import ColumnGraph
    from warehouse.transform.lineage.derived import ColumnRef


def recorded_specification(project: Project, number: Lineage) -> Mapping[str, Any]:
    """The spec of a number's query: of its publication (WH307), or of the current build that holds it (WH211)."""
    if number.publication:
        return stored_specification(project, number.query_spec_digest).document
    from warehouse.transform.finished.builds import current_build
    from warehouse.transform.finished.query import read_query

    sql = f"select specification from catalog.model where schema_name = 'rollup' and name = '{number.query}'"
    with read_query(current_build(project).path, sql) as result:
        specification: Mapping[str, Any] = json.loads(result.fetchall()[0][0])
    return specification


def sound_project(specification: Mapping[str, Any], landing_types: Mapping[str, Mapping[str, str]]) -> "CheckedProject":
    """A recorded query and every model under it, bound again on landing tables of these types (column to type). Raises WH309 when it
    is not sound any more."""
    from warehouse.transform.build.recorded import recorded_project

    try:
        return recorded_project(specification, landing_types)
    except WarehouseError as fault:
        query = str(specification["document"]["name"]).partition(".")[2]
        raise refused(query, f"a recorded model is not sound any more: {fault}") from fault


def recorded_landing(specification: Mapping[str, Any], landing: "LandingTables", families: Collection[str]) -> "LandingTables":
    """Landing tables as a recorded query read them. What parses evidence of these families must be of the version, and what has rows
    must have the columns, that are recorded (`transform.check.digests.landing_leaf`); a table of other families has no rows either way, so
    it has the columns that are recorded, whatever gives it now. Raises WH309."""
    from warehouse.landing.parse.batches import ENGINE_PARSER
    from warehouse.transform.build.material import landing_leaves
    from warehouse.transform.inputs.landing_tables import LandingTable, engine_type

    query = str(specification["document"]["name"]).partition(".")[2]
    parsing = {*_versions(ENGINE_PARSER), *families}
    kinds = {arrow: kind for table in landing.tables.values() for _, arrow, kind in table.columns}
    leaves, tables = landing_leaves(landing), dict(landing.tables)
    for leaf in (leaf for document in (specification["document"], *specification["models"].values()) for leaf in document["landing"]):
        name, here = leaf["table"], leaves.get(leaf["table"])
        if here == leaf:
            continue
        then, now = _versions(leaf["parsed_by"]), _versions(here["parsed_by"]) if here else {}
        if any(then.get(family) != now.get(family) for family in parsing):
            raise refused(query, f"{name} {_otherwise(leaf, here)}")
        if here and here["columns"] == leaf["columns"]:
            tables[name] = replace(tables[name], parsed_by=leaf["parsed_by"])
            continue
        if parsing & then.keys() or (here and any(file.rows for file in tables[name].files)):
            raise refused(query, f"{name} {_otherwise(leaf, here)}")
        kinds |= {arrow: kind for _, arrow in leaf["columns"] if arrow not in kinds and (kind := engine_type(arrow))}
        unknown = {arrow for _, arrow in leaf["columns"]} - kinds.keys()
        if unknown:
            raise refused(query, f"{name} had a column of type {min(unknown)}, and nothing here has")
        columns = tuple((column, arrow, kinds[arrow]) for column, arrow in leaf["columns"])
        tables[name] = LandingTable(name, leaf["parsed_by"], columns, ())
    return replace(landing, tables=tables)


def _versions(parsed_by: str) -> dict[str, str]:
    """The versions of the ingestors that gave a table, each with the digest of its code, by their names."""
    return {name: version for name, _, version in (one.rpartition(" ") for one in parsed_by.split(", "))}


def _otherwise(leaf: Mapping[str, Any], here: Mapping[str, Any] | None) -> str:
    then = _without_code(leaf["parsed_by"])
    if here is None:
        return f"was parsed by {then}, and no ingestor here gives it"
    if (now := _without_code(here["parsed_by"])) != then:
        return f"was parsed by {then}, and is by {now} now"
    if here["parsed_by"] != leaf["parsed_by"]:
        names = _versions(leaf["parsed_by"]).items() - _versions(here["parsed_by"]).items()
        return f"was parsed by other code than is here, though its version is the same: {_without_code(', '.join(sorted(map(' '.join, names))))}"
    return f"had other columns by the same version of its ingestor, {then}"


def _without_code(parsed_by: str) -> str:
    """Names and versions alone."""
    return re.sub(r"\+[0-9a-f]{64}", "", parsed_by)


def recorded_columns(project: Project, number: Lineage, *, only_values: bool = False) -> "tuple[ColumnGraph, ColumnRef]":
    """The column lineage under a number's query, and the number's own column in it; with `only_values` only of the models that its
    value comes through. Raises WH307, WH309, and what loading the ingestors raises."""
    from warehouse.transform.inputs.landing_tables import project_landing_types
    from warehouse.transform.lineage.columns import column_graph
    from warehouse.transform.lineage.derived import ColumnRef

    types = project_landing_types(project)
    column = ColumnRef(f"rollup.{number.query}", number.column)
    checked = sound_project(recorded_specification(project, number), types)
    return column_graph(checked, types, project.root, column if only_values else None), column


def own_models(project: Project, number: Lineage) -> list[str] | None:
    """The models that a number's value comes through from the evidence of its own families, by the columns that it is computed from,
    nearest first. None where that is not known here: the recorded SQL cannot be bound, or a manifest cannot be read."""
    from warehouse.transform.lineage.columns import VALUE

    store = open_store(project)
    bundles = {file.artifact_manifest_digest for file in number.raw_files}
    bundles = bundles or {str(run["artifact_manifest_digest"]) for run in number.runs if run.get("artifact_manifest_digest")}
    try:
        families = {store.manifest(digest).family for digest in bundles}
        graph, column = recorded_columns(project, number, only_values=True)
        specification = recorded_specification(project, number)
    except WarehouseError:
        return None
    documents = [specification["document"], *specification["models"].values()]
    landing = {
        leaf["table"] for document in documents for leaf in document["landing"] if families & _versions(leaf["parsed_by"]).keys()
    }
    edges = list(graph.walk(column, kinds=(VALUE,)))
    carrying = {edge.source for edge in edges if edge.source.table in landing}
    waiting = list(carrying)
    for source in waiting:
        new = {edge.target for edge in edges if edge.source == source} - carrying
        carrying |= new
        waiting += new
    tables = {ref.table for ref in carrying}
    return [name for name, _ in number.models if name in tables]


def refused(query: str, message: str) -> WarehouseError:
    """The error for a recorded query that cannot be run or read here."""
    return WarehouseError(
        "WH309", message, f"rollup.{query}", "install the versions of wh, engine and ingestors that the spec records"
    )
