"""What a project is made of: its tables with their columns, what reads what, and how the last build went.

Values only. The documentation site, the artifacts for catalogues and the lineage events are three renderings of a
`ProjectDescription`; none of them reads the project, a build or the disk by itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import Any

from warehouse.transform.check.checked_project import CheckedProject
from warehouse.transform.export.publication_values import Publication
from warehouse.transform.project.data_tests import data_tests
from warehouse.transform.project.graph import Graph
from warehouse.transform.project.model import PUBLIC_SCHEMAS, Column, Model

LANDING = "landing"  # shown as the schema of landing tables, which have none of their own
# The columns of every landing table that lead back to the bytes: description and unit.
_LANDING_COLUMNS: Mapping[str, tuple[str, str | None]] = {
    "artifact_manifest_digest": ("The evidence bundle that the row was read from", None),
    "raw_path": ("The file in the bundle", None),
    "raw_offset": ("Its place in the file, from the file's first byte", "bytes"),
    "raw_length": ("How long it is there", "bytes"),
}
# (table, column) to the columns it is made of: source table, source column, and `value` or `condition`. Tables are
# named as `Table.name`.
ColumnLineage = Mapping[tuple[str, str], Sequence[tuple[str, str, str]]]


@dataclass(frozen=True)
class ModelOutcome:
    """How one model fared in a build. `name` is qualified; `status` is built, updated, kept or failed."""

    name: str
    status: str
    seconds: float = 0.0
    rows: int | None = None
    message: str = ""
    started_at: datetime | None = None


# What a build calls its actions, as the statuses of results.
STATUS_OF_ACTION = {"build": "built", "update": "updated", "empty": "built", "keep": "kept"}


@dataclass(frozen=True)
class PromiseOutcome:
    """How one test fared in a build, by its name. `status` is pass, warn or error; `failures` counts the rows that break
    it."""

    name: str
    status: str
    failures: int = 0


@dataclass(frozen=True)
class BuildOutcome:
    """How a build went. A failed one has an `error` and may have no digest; times are UTC."""

    digest: str
    started_at: datetime
    ended_at: datetime
    models: tuple[ModelOutcome, ...] = ()
    promises: tuple[PromiseOutcome, ...] = ()
    error: str = ""


@dataclass(frozen=True)
class Promise:
    """One test of a model, by its name: `sql` selects the rows that break it. `test` and `column` are None where the header states
    it otherwise than as a test of one column; then `argument` is the grain, if it is that."""

    name: str
    text: str
    sql: str
    severity: str = "error"
    test: str | None = None
    column: str | None = None
    argument: Any = None


@dataclass(frozen=True)
class Table:
    """A model, feed, rollup or landing table: its bound columns with what the header says of them, and its neighbours.
    `name` is qualified, but for a landing table, which has no `model`."""

    name: str
    schema: str
    columns: Mapping[str, Column]
    reads: tuple[str, ...] = ()
    read_by: tuple[str, ...] = ()
    model: Model | None = None

    @property
    def bare_name(self) -> str:
        return self.model.name if self.model else self.name

    @property
    def kind(self) -> str:
        """What it is, in one word: `landing table`, or how it is materialised."""
        return self.model.materialized if self.model else "landing table"

    @property
    def description(self) -> str:
        return self.model.description if self.model else ""

    @cached_property
    def promises(self) -> tuple[Promise, ...]:
        return tuple(_promises(self.model)) if self.model else ()


@dataclass(frozen=True)
class Sample:
    """A few rows of a table as the last build holds them."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]


@dataclass(frozen=True)
class ProjectDescription:
    """A checked project under its name. `landing` gives every landing table's columns and their types; `samples` has rows of tables by
    name; of `publications` the last one comes first. Tables that are `left_out` are those of no interest: nothing names them."""

    name: str
    checked: CheckedProject
    landing: Mapping[str, Mapping[str, str]]
    lineage: ColumnLineage = field(default_factory=dict)
    last_build: BuildOutcome | None = None
    samples: Mapping[str, Sample] = field(default_factory=dict)
    publications: tuple[Publication, ...] = ()
    left_out: frozenset[str] = frozenset()

    @cached_property
    def tables(self) -> Mapping[str, Table]:
        """All tables by name: the landing tables, then the models in build order."""
        models, graph = self.checked.models, self.checked.graph
        reads = {
            models[name].qualified: tuple(
                sorted({*(models[parent].qualified for parent in graph.models[name]), *graph.landing[name]} - self.left_out)
            )
            for name in graph.order if models[name].qualified not in self.left_out
        }
        readers: dict[str, list[str]] = {}
        for reader, sources in reads.items():
            for source in sources:
                readers.setdefault(source, []).append(reader)
        landing = (
            Table(name, LANDING, {column: Column(column, kind, *_LANDING_COLUMNS.get(column, ("", None))) for column, kind in columns.items()})
            for name, columns in sorted(self.landing.items()) if name not in self.left_out
        )
        modelled = (
            Table(
                models[name].qualified, models[name].schema, self.checked.described_columns(name),
                reads[models[name].qualified], model=models[name],
            )
            for name in graph.order if models[name].qualified not in self.left_out
        )
        return {
            table.name: replace(table, read_by=tuple(sorted(readers.get(table.name, ()))))
            for table in (*landing, *modelled)
        }

    @cached_property
    def unused(self) -> frozenset[str]:
        """The tables that the last build left without rows, and the steps and landing tables that only such tables read."""
        found = {name for name, sample in self.samples.items() if not sample.rows}
        for table in reversed(list(self.tables.values())):
            if table.schema not in PUBLIC_SCHEMAS and table.read_by and found.issuperset(table.read_by):
                found.add(table.name)
        return frozenset(found)

    def in_use(self) -> ProjectDescription:
        """The same project without its unused tables."""
        left_out = self.unused
        lineage = {
            (table, column): [source for source in sources if source[0] not in left_out]
            for (table, column), sources in self.lineage.items() if table not in left_out
        }
        return replace(self, lineage=lineage, left_out=left_out)

    @cached_property
    def outcomes(self) -> Mapping[str, ModelOutcome]:
        """The last build's outcome of each model that was in it."""
        return {outcome.name: outcome for outcome in self.last_build.models} if self.last_build else {}

    @cached_property
    def promise_outcomes(self) -> Mapping[str, PromiseOutcome]:
        """The last build's outcome of each test, by its name."""
        return {outcome.name: outcome for outcome in self.last_build.promises} if self.last_build else {}


def nothing_known(name: str) -> ProjectDescription:
    """A project of which only the name is known."""
    return ProjectDescription(name, CheckedProject({}, Graph((), {}, {}, {}, {}), {}), {})


def _promises(model: Model) -> Iterator[Promise]:
    for test in data_tests({model.name: model}):
        if test.stated:
            column = str(test.path[1]) if test.path[0] == "columns" else None
            yield Promise(
                test.name, test.promise, test.sql, test.severity, test.stated.kind, column, test.stated.argument
            )
        else:
            yield Promise(test.name, test.promise, test.sql, test.severity, argument=model.grain)
