"""What a number was made by, as it was recorded: its query's spec, the models of it checked again, their column lineage.

Nothing of the project's own models is read, which may have changed since.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
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
    try:
        return _sound_project(json.dumps(specification), json.dumps(dict(sorted(landing_types.items()))))  # a build has them in another order
    except WarehouseError as fault:
        query = str(specification["document"]["name"]).partition(".")[2]
        raise refused(query, f"a recorded model is not sound any more: {fault}") from fault


# Every number of a query is checked with one, and it follows from these texts.
@lru_cache(maxsize=4)
def _sound_project(specification: str, landing_types: str) -> "CheckedProject":
    from warehouse.transform.build.recorded import recorded_project

    return recorded_project(json.loads(specification), json.loads(landing_types))


def recorded_landing(specification: Mapping[str, Any], landing: "LandingTables", families: Collection[str]) -> "LandingTables":
    """Landing tables as a recorded query read them: with the columns that are recorded (`transform.check.digests.landing_leaf`), whatever
    version of an ingestor parses them here. Raises WH309 if no ingestor here gives a table that these families filled, or if rows lack a
    recorded column."""
    from warehouse.transform.build.material import landing_leaves
    from warehouse.transform.inputs.landing_tables import LandingTable, engine_type

    query = str(specification["document"]["name"]).partition(".")[2]
    kinds = {arrow: kind for table in landing.tables.values() for _, arrow, kind in table.columns}
    leaves, tables = landing_leaves(landing), dict(landing.tables)
    for leaf in recorded_leaves(specification):
        name, here = leaf["table"], leaves.get(leaf["table"])
        if here == leaf:
            continue
        then, now = _versions(leaf["parsed_by"]), _versions(here["parsed_by"]) if here else {}
        if lost := {*families} & then.keys() - now.keys():
            parser = without_code(", ".join(f"{family} {then[family]}" for family in sorted(lost)))
            raise refused(query, f"{name} was parsed by {parser}, and no ingestor here gives it")
        files = tables[name].files if here else ()
        if any(file.rows for file in files):
            for column in leaf["columns"]:
                if here and column not in here["columns"]:
                    raise refused(query, f"{name} has no column {column[0]} of type {column[1]} here: {_otherwise(leaf, here)}")
        else:
            files = ()  # their columns may be others
        kinds |= {arrow: kind for _, arrow in leaf["columns"] if arrow not in kinds and (kind := engine_type(arrow))}
        unknown = {arrow for _, arrow in leaf["columns"]} - kinds.keys()
        if unknown:
            raise refused(query, f"{name} had a column of type {min(unknown)}, and nothing here has")
        columns = tuple((column, arrow, kinds[arrow]) for column, arrow in leaf["columns"])
        tables[name] = LandingTable(name, leaf["parsed_by"], columns, files)
    return replace(landing, tables=tables)


def changed_parsers(
    specification: Mapping[str, Any], landing: "LandingTables", families: Collection[str]
) -> dict[str, tuple[str | None, str | None]]:
    """The parsers of evidence of these families that are others here than when a query was recorded, by name: the version with the digest of
    the code (`_versions`) then and here, None where it gave none of the query's tables."""
    from warehouse.landing.logs.reader import LogReader
    from warehouse.landing.parse.batches import ENGINE_PARSER

    then: dict[str, str] = {}
    now: dict[str, str] = {}
    for leaf in recorded_leaves(specification):
        then |= _versions(leaf["parsed_by"])
        if leaf["table"] in landing.tables:
            now |= _versions(landing.tables[leaf["table"]].parsed_by)
    parsing = {*_versions(ENGINE_PARSER), LogReader.name, *families}  # logs of any family are read by rules
    return {name: (then.get(name), now.get(name)) for name in sorted(parsing) if then.get(name) != now.get(name)}


def recorded_leaves(specification: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """What a spec says of the landing tables under its query (`transform.check.digests.landing_leaf`)."""
    for document in (specification["document"], *specification["models"].values()):
        yield from document["landing"]


def _versions(parsed_by: str) -> dict[str, str]:
    """The versions of the ingestors that gave a table, each with the digest of its code, by their names."""
    return {name: version for name, _, version in (one.rpartition(" ") for one in parsed_by.split(", "))}


def _otherwise(leaf: Mapping[str, Any], here: Mapping[str, Any]) -> str:
    then, now = without_code(leaf["parsed_by"]), without_code(here["parsed_by"])
    return f"it was parsed by {then}, and is by {now} now" if now != then else f"it was parsed by other code of the same version, {then}"


def without_code(parsed_by: str) -> str:
    """Names and versions alone."""
    return re.sub(r"\+[0-9a-f]{64}", "", parsed_by)


def recorded_columns(project: Project, number: Lineage) -> "tuple[ColumnGraph, ColumnRef]":
    """The column lineage under a number's query, and the number's own column in it. Raises WH307, WH309, and what loading the ingestors
    raises."""
    from warehouse.transform.inputs.landing_tables import project_landing_types
    from warehouse.transform.lineage.columns import column_graph
    from warehouse.transform.lineage.derived import ColumnRef

    types = project_landing_types(project)
    column = ColumnRef(f"rollup.{number.query}", number.column)
    checked = sound_project(recorded_specification(project, number), types)
    return column_graph(checked, types, project.root), column


def own_models(project: Project, number: Lineage) -> list[str] | None:
    """The models that a number's value comes through from the evidence of its own families, by the columns that it is computed from,
    nearest first. None where the spec or a manifest cannot be read."""
    from warehouse.transform.lineage.derived import ColumnRef
    from warehouse.transform.lineage.recorded_values import value_edges

    store = open_store(project)
    bundles = {file.artifact_manifest_digest for file in number.raw_files}
    bundles = bundles or {str(run["artifact_manifest_digest"]) for run in number.runs if run.get("artifact_manifest_digest")}
    try:
        families = {store.manifest(digest).family for digest in bundles}
        specification = recorded_specification(project, number)
    except WarehouseError:
        return None
    landing = {leaf["table"] for leaf in recorded_leaves(specification) if families & _versions(leaf["parsed_by"]).keys()}
    edges = list(value_edges(specification, ColumnRef(f"rollup.{number.query}", number.column), landing))
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
