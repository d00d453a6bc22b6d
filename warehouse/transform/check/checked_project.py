"""A project that the static check found sound: the value that planning, building, lineage and documentation start from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from warehouse.landing.parse.batches import REJECTED_TABLE
from warehouse.transform.incremental.changed_keys import KeyPlan
from warehouse.transform.project.data_tests import DataTest
from warehouse.transform.project.feeds import FEED_SCHEMA
from warehouse.transform.project.graph import Graph, with_views
from warehouse.transform.project.model import Column, Model
from warehouse.transform.sql.emptiness import EmptyWhen
from warehouse.transform.sql.tree_nodes import has_order


@dataclass(frozen=True)
class SqlFacts:
    """What a build asks of a model's SQL: whether it may tell how tables are laid out, and how the engine runs it (`aggregates`); when it
    has no row; and whether it states the order of its rows."""

    sees_layout: bool
    follows_plan: bool
    empty_when: EmptyWhen
    has_order: bool


@dataclass(frozen=True)
class CheckedProject:
    """Models with their feeds, sources and queries, in build order; the columns (name to type) that binding gave each and
    every call that reads files; how the keys of each model that is local to one are found, and for every table that is not updated by key
    the reason; every test of their data; and the facts about their SQL that are known already."""

    models: Mapping[str, Model]
    graph: Graph
    columns: Mapping[str, Mapping[str, str]]
    file_columns: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    key_plans: Mapping[str, KeyPlan] = field(default_factory=dict)
    tests: tuple[DataTest, ...] = ()
    known_facts: Mapping[str, SqlFacts] = field(default_factory=dict, compare=False)
    whole_because: Mapping[str, str] = field(default_factory=dict)

    def is_stored(self, name: str) -> bool:
        """Whether a finished build holds it: all but views over files, which would change under the build."""
        return name not in self._over_files

    def keeps_keys(self, name: str) -> bool:
        """Whether a table keeps which of its keys came from which file, so that it follows a file that goes. Others are built again."""
        return self.models[name].materialized == "incremental"

    def place_of(self, name: str) -> int:
        """A model's place in build order."""
        return self._places[name]

    def reads(self, name: str) -> list[str]:
        """The qualified names of the models that a model reads, and its landing tables."""
        models = sorted(self.models[parent].qualified for parent in self.graph.models[name])
        return models + sorted(self.graph.landing[name])

    def described_columns(self, name: str) -> Mapping[str, Column]:
        """The bound columns of a model, each with what the model's header states of it; where that states nothing, with what the
        contract of the feed states that the model joins."""
        if name not in self._described_columns:
            self._described_columns[name] = self._described(self.models[name], self.columns[name])
        return self._described_columns[name]

    @cached_property
    def _described_columns(self) -> dict[str, Mapping[str, Column]]:
        return {}

    def _described(self, model: Model, types: Mapping[str, str]) -> dict[str, Column]:
        feed = self.models.get(f"{FEED_SCHEMA}.{model.feeds}")
        joined = {column: replace(stated, tests=()) for column, stated in feed.columns.items()} if feed else {}
        stated = {**joined, **model.columns}
        return {
            column: replace(stated[column], type=kind) if column in stated else Column(column, kind, "") for column, kind in types.items()
        }

    def with_views(self, name: str) -> set[str]:
        """A model and every view that it reads, directly or through another."""
        return with_views(name, self.models, self.graph)

    def sees_layout(self, name: str) -> bool:
        """Whether a model, or a view that it reads, may tell how tables are laid out (`aggregates`)."""
        return any(self._order_facts(found)[0] for found in self.with_views(name))

    def follows_plan(self, name: str) -> bool:
        """Whether a table's rows, or their order, may depend on how the engine runs its SQL: never where it is local to a key."""
        return name not in self.key_plans and any(self._order_facts(found)[1] for found in self.with_views(name))

    def is_put_in_order(self, name: str) -> bool:
        """Whether a table that is made whole is put in the order of its grain, where its SQL states none: what became of its rows is then told
        from them alone (`row_delta`), however the engine came to them."""
        model = self.models[name]
        return bool(model.grain) and model.schema != "rollup" and name not in self.key_plans and not self._has_order(name)

    def facts(self, name: str) -> SqlFacts:
        """The facts about a model's SQL."""
        return SqlFacts(*self._order_facts(name), self.empty_when(name), self._has_order(name))

    def _has_order(self, name: str) -> bool:
        known = self.known_facts.get(name)
        return known.has_order if known else has_order(self.graph.trees[name])

    def _order_facts(self, name: str) -> tuple[bool, bool]:
        known = self.known_facts.get(name)
        return (known.sees_layout, known.follows_plan) if known else self.graph.order_facts(name)

    def empty_when(self, name: str) -> EmptyWhen:
        """When a model's SQL has no row."""
        known = self.known_facts.get(name)
        return known.empty_when if known else self.graph.empty_when(name)

    @cached_property
    def late(self) -> frozenset[str]:
        """The models that read what a build left out of the others, and those that read them: they come last."""
        found: set[str] = set()
        for name in self.graph.order:
            if REJECTED_TABLE in self.graph.landing[name] or found & self.graph.models[name]:
                found.add(name)
        return frozenset(found)

    @cached_property
    def order(self) -> tuple[str, ...]:
        """All models as a build makes them: in the graph's order, the `late` ones last."""
        return (*(name for name in self.graph.order if name not in self.late), *(name for name in self.graph.order if name in self.late))

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self.order)}

    @cached_property
    def _over_files(self) -> frozenset[str]:
        found: set[str] = set()
        for name in self.graph.order:
            if self.models[name].materialized == "view" and (self.graph.files[name] or found & self.graph.models[name]):
                found.add(name)
        return frozenset(found)
