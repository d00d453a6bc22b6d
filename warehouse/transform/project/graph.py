"""Which model reads which table, found by DuckDB's own parser, and the order that follows.

A pure function of the models' text: nothing is bound, no table need exist. Walks are iterative: a chain of thousands of
models is no special case.
"""

from __future__ import annotations

import graphlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

from warehouse.errors import WarehouseError, did_you_mean
from warehouse.transform.project.model import Model, model_names
from warehouse.transform.sql.aggregates import follows_plan, sees_layout
from warehouse.transform.sql.emptiness import EmptyWhen, empty_when
from warehouse.transform.sql.text import fault_at
from warehouse.transform.sql.tree import FileRead, Readings, Reference, character_offset, parsed, readings, references, statement
from warehouse.transform.sql.tree_nodes import Node

if TYPE_CHECKING:
    import duckdb

_SHOWN_PLACES = 4


@dataclass(frozen=True)
class Graph:
    """For every model, in build order: the models, landing tables and files it reads, and its SQL's tree."""

    order: tuple[str, ...]
    models: Mapping[str, frozenset[str]]
    landing: Mapping[str, frozenset[str]]
    files: Mapping[str, tuple[FileRead, ...]]
    trees: Mapping[str, Node]

    def order_facts(self, name: str) -> tuple[bool, bool]:
        """Whether a model's SQL may tell how tables are laid out, and how the engine runs it (`aggregates`)."""
        if name not in self._orders:
            self._orders[name] = sees_layout(self.trees[name]), follows_plan(self.trees[name])
        return self._orders[name]

    def empty_when(self, name: str) -> EmptyWhen:
        """When a model's SQL has no row: asked of every model, where how tables are laid out is asked only of those that are run."""
        if name not in self._empty_when:
            self._empty_when[name] = empty_when(self.trees[name])
        return self._empty_when[name]

    @cached_property
    def _orders(self) -> dict[str, tuple[bool, bool]]:
        return {}

    @cached_property
    def _empty_when(self) -> dict[str, EmptyWhen]:
        return {}


def build_graph(
    con: "duckdb.DuckDBPyConnection",
    models: Mapping[str, Model],
    landing_tables: Collection[str],
    unreadable: Collection[str] = (),
) -> tuple[Graph, list[WarehouseError]]:
    """The graph of `models`, keyed as the mapping is, and every WH202, WH203 (unknown table), WH206 (a circle), WH220 and WH226. Its
    order leaves out what has a fault or reads, by whatever way, what has one. `unreadable` names files that are no models
    for now: to read one is no fault of the reader's."""
    reads: dict[str, frozenset[str]] = {}
    lands: dict[str, frozenset[str]] = {}
    files: dict[str, tuple[FileRead, ...]] = {}
    trees: dict[str, Node] = {}
    faults: list[WarehouseError] = []
    unsound: set[str] = set()
    by_reference = model_names(models)
    documents = parsed(con, [model.text for model in models.values()])
    for (name, model), document in zip(models.items(), documents, strict=True):
        from_models, from_landing = set(), set()
        try:
            trees[name] = statement(document, model)
            found = readings(trees[name], model)
        except WarehouseError as fault:
            faults.append(fault)
            unsound.add(name)
            found = Readings()
        for reference in found.tables:
            if reference.name in by_reference:
                from_models.add(by_reference[reference.name])
            elif reference.name in landing_tables:
                from_landing.add(reference.name)
            else:
                unsound.add(name)
                if not _may_be_unreadable(reference.name, unreadable):
                    faults.append(_unknown_table(reference, model, [*by_reference, *landing_tables]))
        reads[name], lands[name], files[name] = frozenset(from_models), frozenset(from_landing), found.files
    order, blocked = _ordered(reads, unsound)
    faults += [_circle_fault(con, models, by_reference, circle) for circle in _circles(reads, blocked)]
    return Graph(order, reads, lands, files, trees), faults


def constant_models(graph: Graph) -> set[str]:
    """The models that no evidence and no file changes."""
    found: set[str] = set()
    for name in graph.order:
        if not graph.landing[name] and not graph.files[name] and graph.models[name] <= found:
            found.add(name)
    return found


def with_views(name: str, models: Mapping[str, Model], graph: Graph) -> set[str]:
    """A model and every view that it reads, directly or through another."""
    found, pending = {name}, [name]
    while pending:
        read = graph.models[pending.pop()] - found
        views = [other for other in read if models[other].materialized == "view"]
        found.update(views)
        pending += views
    return found


def _may_be_unreadable(reference: str, unreadable: Collection[str]) -> bool:
    schema, _, name = reference.rpartition(".")
    return name in unreadable or (schema == "feed" and bool(unreadable))  # its collector may be such a file


def _ordered(reads: Mapping[str, frozenset[str]], unsound: Collection[str]) -> tuple[tuple[str, ...], set[str]]:
    """The order of what can be built when `unsound` models cannot, and the models that are in or behind a circle."""
    sorter = graphlib.TopologicalSorter({name: sorted(reads[name]) for name in sorted(reads)})
    try:
        sorter.prepare()
    except graphlib.CycleError:
        pass  # what is in no circle still comes, in order
    order: list[str] = []
    out, seen = set(unsound), set()
    while ready := sorter.get_ready():
        for name in sorted(ready):
            seen.add(name)
            if name in out or reads[name] & out:
                out.add(name)
            else:
                order.append(name)
            sorter.done(name)
    return tuple(order), set(reads) - seen


def _circles(reads: Mapping[str, frozenset[str]], blocked: set[str]) -> list[list[str]]:
    """Circles among the `blocked`, none sharing a model with another; each model reads the next, the last the first."""
    # Each blocked model reads a blocked one. Going from each to one of these ends in a circle.
    onward = {name: min(reads[name] & blocked) for name in blocked}
    circles: list[list[str]] = []
    walked: set[str] = set()
    for start in sorted(blocked):
        path: dict[str, int] = {}
        name = start
        while name not in walked and name not in path:
            path[name] = len(path)
            name = onward[name]
        if name in path:
            circle = list(path)[path[name] :]
            first = circle.index(min(circle))
            circles.append([*circle[first:], *circle[:first]])
        walked |= path.keys()
    return circles


def _circle_fault(
    con: "duckdb.DuckDBPyConnection", models: Mapping[str, Model], by_reference: Mapping[str, str], circle: list[str]
) -> WarehouseError:
    """WH206 at the reference that closes the circle; the others are in the hint."""
    steps = list(pairwise([*circle, circle[0]]))
    shown = [*steps[:-1][:_SHOWN_PLACES], steps[-1]]
    *others, last = [_step(con, models[name], models[read], read, by_reference) for name, read in shown]
    if len(circle) == 1:
        hint = "a build makes every table from its inputs alone: read what this one is made from"
    else:
        more = f" and {len(steps) - len(shown)} more" if len(steps) > len(shown) else ""
        hint = f"take out this reference, or one of: {', '.join(str(other.place) for other in others)}{more}"
    names = [*circle, circle[0]]
    if len(names) > 2 * _SHOWN_PLACES:
        names = [*names[:_SHOWN_PLACES], f"({len(names) - 2 * _SHOWN_PLACES} more)", *names[-_SHOWN_PLACES:]]
    head = f"models read each other in a circle: {' -> '.join(names)}" if len(circle) > 1 else f"{circle[0]} reads itself"
    return replace(last, message=head + last.message, hint=hint)


def _step(
    con: "duckdb.DuckDBPyConnection", model: Model, read: Model, name: str, by_reference: Mapping[str, str]
) -> WarehouseError:
    """A fault with the place and the line that make `model` read another: a feed reads those whose headers name it."""
    if model.schema == "feed" and read.feeds == model.name:
        return read.header_fault("WH206", "", "feeds")
    found = next(reference for reference in references(con, model) if by_reference.get(reference.name) == name)
    return _at_reference("WH206", "", model, found)


def _at_reference(
    code: str, message: str, model: Model, reference: Reference, hint: str | None = None
) -> WarehouseError:
    offset = character_offset(model.text, reference.offset)
    return fault_at(code, message, model.text, model.place, offset, hint)


def _unknown_table(reference: Reference, model: Model, known: list[str]) -> WarehouseError:
    if "/" in reference.name:
        hint = "a file whose name does not show its format is read by a function: read_csv('data/runs.txt')"
    else:
        hint = did_you_mean(reference.name, known) or "a table is a model's file, a feed or a landing table: is one missing?"
    return _at_reference("WH203", f"no model, feed or landing table is named {reference.name}", model, reference, hint)
