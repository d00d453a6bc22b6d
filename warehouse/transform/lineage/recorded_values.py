"""The columns that a value of a recorded query comes through, read off the SQL of only those models that it passes.

The spec states the columns of every table, and its digest covers that, so no other model is bound. Good for showing a number's way;
what is verified is bound whole (`transform.build.recorded`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from graphlib import TopologicalSorter
from typing import TYPE_CHECKING, Any

from warehouse.transform.check.project_check import create_schemas
from warehouse.transform.inputs.landing_tables import engine_type, open_landing_table
from warehouse.transform.lineage.column_expressions import NotUnderstood
from warehouse.transform.lineage.columns import VALUE, Edge, edges_of, relation_of
from warehouse.transform.lineage.derived import ColumnRef
from warehouse.transform.sql.duck import connect, quote, quoted

if TYPE_CHECKING:
    import duckdb

_Document = Mapping[str, Any]


def value_edges(specification: Mapping[str, Any], start: ColumnRef, landing: Collection[str]) -> Iterator[Edge]:
    """The edges by which values reach a column of a recorded query, nearest first, as far as a model rests on one of these landing tables.
    A model whose SQL is not understood here has none."""
    documents = {str(each["name"]): each for each in (specification["document"], *specification["models"].values())}
    resting = _resting(documents, landing)
    known: dict[str, Mapping[ColumnRef, tuple[Edge, ...]]] = {}
    con = connect()
    try:
        create_schemas(con)
        con.execute("set enable_external_access = false")  # the SQL may be a stranger's
        seen, waiting = {start}, [start]
        for column in waiting:
            if column.table not in resting:
                continue
            if column.table not in known:
                known[column.table] = _edges(con, documents[column.table], documents)
            for edge in known[column.table].get(column, ()):
                if edge.kind == VALUE:
                    yield edge
                    if edge.source not in seen:
                        seen.add(edge.source)
                        waiting.append(edge.source)
    finally:
        con.close()


def _resting(documents: Mapping[str, _Document], landing: Collection[str]) -> set[str]:
    """The models that read one of these landing tables, or a model that rests on one."""
    parents = {name: [str(parent["name"]) for parent in each["parents"]] for name, each in documents.items()}
    found = set[str]()
    for name in TopologicalSorter(parents).static_order():
        if any(leaf["table"] in landing for leaf in documents[name]["landing"]) or found.intersection(parents[name]):
            found.add(name)
    return found


def _edges(con: "duckdb.DuckDBPyConnection", document: _Document, documents: Mapping[str, _Document]) -> Mapping[ColumnRef, tuple[Edge, ...]]:
    import duckdb

    try:
        for leaf in document["landing"]:
            open_landing_table(con, leaf["table"], {name: engine_type(arrow) or arrow for name, arrow in leaf["columns"]}, ())
        for parent in document["parents"]:
            columns = ", ".join(f"{quote(name)} {kind}" for name, kind in documents[parent["name"]]["columns"])
            con.execute(f"create table if not exists {quoted(parent['name'])} ({columns})")
        return edges_of(document["name"], tuple(name for name, _ in document["columns"]), relation_of(con, document["sql"]))
    except (NotUnderstood, duckdb.Error):
        return {}
