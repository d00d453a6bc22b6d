"""A query spec read back: its models, what they read and yield, and their digests, as they were when it was recorded.

A spec's own digest covers all of it. So nothing of it is worked out again but what it does not hold, the tree of each SQL,
and none of it is trusted further than it goes: the SQL is held against the rules for any model's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from warehouse.errors import WarehouseError
from warehouse.transform.check.checked_project import CheckedProject
from warehouse.transform.check.digests import Envelope, recorded_model
from warehouse.transform.check.project_check import LandingTypes, inspect
from warehouse.transform.project.feeds import FEED_SCHEMA
from warehouse.transform.project.graph import Graph
from warehouse.transform.project.model import Model

if TYPE_CHECKING:
    pass


def recorded_envelopes(specification: Mapping[str, Any]) -> dict[str, Envelope]:
    """The query's envelope and that of every model with it, keyed as a project's are: models read feeds by their whole
    names."""
    digests = {specification["query_spec_digest"]: specification["document"], **specification["models"]}
    return {_key(document["name"]): Envelope(digest, document) for digest, document in digests.items()}


def _key(qualified: str) -> str:
    """By which a graph has a model of this name."""
    schema, _, name = qualified.partition(".")
    return qualified if schema == FEED_SCHEMA else name


def recorded_project(specification: Mapping[str, Any], landing: LandingTypes) -> CheckedProject:
    """The recorded query and models, over landing tables of these types (column to type), without the keys of the tables (`with_keys`). The
    engine binds each model again, and must find the columns that are recorded. Raises the first fault."""
    made = recorded_envelopes(specification)
    models = {name: _made_whole(recorded_model(envelope.document)) for name, envelope in made.items()}
    queries = {name: model for name, model in models.items() if model.schema == "rollup"}
    with TemporaryDirectory(prefix="wh-recorded-") as empty:
        others = {name: model for name, model in models.items() if name not in queries}
        checked, faults = inspect(others, queries, landing, Path(empty), is_recorded=True)
    for fault in [*faults, *_leaf_faults(made, checked.graph)]:
        raise fault
    for name, envelope in made.items():
        if [[*column] for column in checked.columns[name].items()] != envelope.document["columns"]:
            raise _fault(envelope, "its SQL gives other columns than are recorded")
    return checked  # without tests: they are promises of a project's data, and no part of a number


def _made_whole(model: Model) -> Model:
    """A model as a replay makes it: from nothing, so that how an incremental one would be updated need not be found."""
    return replace(model, materialized="table") if model.materialized == "incremental" else model


def _leaf_faults(made: Mapping[str, Envelope], graph: Graph) -> Iterator[WarehouseError]:
    """Where SQL reads a landing table of which the spec does not say who parses it, or files: no evidence, both."""
    for name in graph.order:
        if graph.landing[name] - {leaf["table"] for leaf in made[name].document["landing"]}:
            yield _fault(made[name], "it reads a landing table that the spec does not name")
        for read in graph.files[name]:
            yield _fault(made[name], f"it reads files, by {read.call}")


def _fault(envelope: Envelope, message: str) -> WarehouseError:
    return WarehouseError("WH309", message, f"{envelope.document['name']} (recorded)")
