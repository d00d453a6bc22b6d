"""A query spec read back: its models, what they read and yield, and their digests, as they were when it was recorded.

A spec's own digest covers all of it. So nothing of it is worked out again but what it does not hold, the tree of each SQL,
and none of it is trusted further than it goes: the SQL is held against the rules for any model's.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from warehouse.errors import WarehouseError
from warehouse.transform.binding_session import BindingSession
from warehouse.transform.check import LandingTypes, create_schemas, inspect
from warehouse.transform.check_inputs import key_plans
from warehouse.transform.check_memory import CheckMemory
from warehouse.transform.checked_project import CheckedProject
from warehouse.transform.digests import Envelope, parents_of, recorded_model
from warehouse.transform.duck import connect
from warehouse.transform.feeds import FEED_SCHEMA, feed_text
from warehouse.transform.graph import Graph, build_graph
from warehouse.transform.model import Model
from warehouse.transform.sql_text import canonical

if TYPE_CHECKING:
    import duckdb


# Of a table that is to have no rows: its columns are as they are recorded.
_NO_ROWS = "select null where false"


def recorded_envelopes(specification: Mapping[str, Any]) -> dict[str, Envelope]:
    """The query's envelope and that of every model with it, keyed as a project's are: models read feeds by their whole
    names."""
    digests = {specification["query_spec_digest"]: specification["document"], **specification["models"]}
    return {_key(document["name"]): Envelope(digest, document) for digest, document in digests.items()}


def _key(qualified: str) -> str:
    """By which a graph has a model of this name."""
    schema, _, name = qualified.partition(".")
    return qualified if schema == FEED_SCHEMA else name


def recorded_project(
    specification: Mapping[str, Any], landing: LandingTypes, *, is_bound: bool, without_rows: Collection[str] = ()
) -> CheckedProject:
    """The recorded query and models, over landing tables of these types (column to type). With `is_bound` the engine
    binds each of them again, and must find the columns that are recorded; else these are taken, and the models `without_rows`
    are left out, but for empty tables where others read them. Raises the first fault."""
    made = recorded_envelopes(specification)
    with TemporaryDirectory(prefix="wh-recorded-") as empty:
        return _bound(made, landing, Path(empty)) if is_bound else _as_said(made, landing, Path(empty), without_rows)


def _bound(made: Mapping[str, Envelope], landing: LandingTypes, root: Path) -> CheckedProject:
    models = {name: recorded_model(envelope.document) for name, envelope in made.items()}
    queries = {name: model for name, model in models.items() if model.schema == "rollup"}
    checked, faults = inspect({name: model for name, model in models.items() if name not in queries}, queries, landing, root)
    for fault in [*faults, *_leaf_faults(made, checked.graph)]:
        raise fault
    for name, envelope in made.items():
        if [[*column] for column in checked.columns[name].items()] != envelope.document["columns"]:
            raise _fault(envelope, "its SQL gives other columns than are recorded")
    return replace(checked, tests=())  # a project's tests are promises of its data, and no part of a number


def _as_said(
    made: Mapping[str, Envelope], landing: LandingTypes, root: Path, without_rows: Collection[str]
) -> CheckedProject:
    models = _that_can_have_rows(made, without_rows)
    con = connect(files_root=root)
    try:
        create_schemas(con)
        columns = {name: _columns(con, made[name]) for name in models}
        graph, faults = build_graph(con, models, landing.keys())
        faults += _leaf_faults(made, graph)
        if not faults:
            session, memory = BindingSession(con, models, graph, landing, root, CheckMemory()), CheckMemory()
            session.columns.update(columns)
            plans, faults = key_plans(con, models, graph, columns, {}, landing, dict.fromkeys(models, ""), memory, session.give_inputs)
    finally:
        con.close()
    for fault in faults:
        raise fault
    return CheckedProject(models, graph, columns, key_plans=plans)


def _that_can_have_rows(made: Mapping[str, Envelope], without_rows: Collection[str]) -> dict[str, Model]:
    """The recorded queries and the models that can have rows, and empty tables for the others that these read."""
    models: dict[str, Model] = {}
    read: set[str] = set()
    for name, envelope in made.items():
        model = recorded_model(envelope.document)
        if name in without_rows and model.schema != "rollup":
            continue
        parents = [parent["name"] for parent in parents_of(envelope.document)]
        if model.schema == FEED_SCHEMA and model.text == canonical(feed_text(model.columns, parents)):
            parents = [parent for parent in parents if _key(parent) not in without_rows]
            model = replace(model, text=feed_text(model.columns, parents))
        models[name] = model
        read.update(map(_key, parents))
    for name in read - models.keys():
        models[name] = replace(recorded_model(made[name].document), text=_NO_ROWS, materialized="table", key=())
    return models


def _columns(con: "duckdb.DuckDBPyConnection", envelope: Envelope) -> dict[str, str]:
    """The recorded columns, whose types go into statements: each is one as the engine itself writes it, and no more."""
    import duckdb

    columns = {str(name): str(kind) for name, kind in envelope.document["columns"]}
    for kind in set(columns.values()):
        try:
            is_type = str(con.type(kind)) == kind
        except duckdb.Error:
            is_type = False
        if not is_type:
            raise _fault(envelope, f"{kind!r} is no type as the engine writes it")
    return columns


def _leaf_faults(made: Mapping[str, Envelope], graph: Graph) -> Iterator[WarehouseError]:
    """Where SQL reads a landing table of which the spec does not say who parses it, or files: no evidence, both."""
    for name in graph.order:
        if graph.landing[name] - {leaf["table"] for leaf in made[name].document["landing"]}:
            yield _fault(made[name], "it reads a landing table that the spec does not name")
        for read in graph.files[name]:
            yield _fault(made[name], f"it reads files, by {read.call}")


def _fault(envelope: Envelope, message: str) -> WarehouseError:
    return WarehouseError("WH309", message, f"{envelope.document['name']} (recorded)")
