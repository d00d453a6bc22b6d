"""A description as values: how the files of a format are recognised, where their records are, and what is read of each."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from warehouse.landing.described.expressions import Expression, Scope
from warehouse.landing.described.expressions import Path as ValuePath
from warehouse.landing.described.forms.sources import Dialect, Pattern

_TEXT = re.compile(r"'([^']+)'")


@dataclass(frozen=True)
class Moment:
    """When something was: ISO 8601, or a `format` as of strptime, or a number of a `unit` since 1970. `zone` is UTC where the text has none and
    the description says so."""

    value: Expression
    format: str | None = None
    unit: str | None = None
    is_zone_known: bool = False


@dataclass(frozen=True)
class Metric:
    """One number, or several samples, of each record, or of each element of `each` in it. `unit` is that of the metric. `stated_in` is the
    unit of the file, if that is another, and may be read from it."""

    name: Expression
    value: Expression
    unit: str
    each: ValuePath | None = None
    stated_in: Expression | None = None
    better: str | None = None
    when: Expression | None = None
    summary: str = "median"
    about: str | None = None
    column: str | None = None  # of serving_outcome_fact
    unit_from: Expression | None = None  # where each record states the unit of its metric
    kind: str = "gauge"  # of a series


@dataclass(frozen=True)
class Check:
    stated: Expression
    of: Expression
    tolerance: float
    stated_in: Expression | None = None  # their units, where these differ
    of_in: Expression | None = None


@dataclass(frozen=True)
class Telemetry:
    """Where the samples of metrics over time are, when each was taken, and what it is of."""

    each: Records
    where: Expression | None
    at: Moment
    labels: Mapping[str, Expression]
    series: tuple[Metric, ...]

    @property
    def paths(self) -> tuple[ValuePath, ...]:
        """What it reads of a record."""
        values = [each.value for each in self.series] + [each.when for each in self.series if each.when]
        return tuple(path for each in (self.at.value, *self.labels.values(), *values) for path in each.paths)


@dataclass(frozen=True)
class Records:
    """Where the records are: what one path leads to, then the next."""

    paths: tuple[ValuePath, ...]

    @property
    def text(self) -> str:
        return ", ".join(path.text for path in self.paths)

    @property
    def is_file(self) -> bool:
        """Whether the file is the one record."""
        return not any(path.steps for path in self.paths)

    def scopes(self, scope: Scope) -> Iterator[Scope]:
        return (found for path in self.paths for found in path.scopes(scope))


@dataclass(frozen=True)
class Rows:
    """Rows of a table that a run's records state beside its values: its requests, or the points that a test of a fabric measured."""

    each: ValuePath | None
    when: Expression | None
    texts: Mapping[str, Expression]
    numbers: tuple[Metric, ...]
    statuses: tuple[tuple[str, Expression], ...] = ()
    started_at: Moment | None = None

    @property
    def read(self) -> tuple[Expression, ...]:
        """What it reads of an element."""
        numbers = [each for metric in self.numbers for each in (metric.value, metric.when, metric.stated_in) if each]
        moments = [self.started_at.value] if self.started_at else []
        return (*self.texts.values(), *numbers, *(condition for _, condition in self.statuses), *moments)


@dataclass(frozen=True)
class Layout:
    """What one version of a format's files is recognised by and how it is read."""

    label: str
    requires: tuple[Expression, ...]
    each: Records
    where: Expression | None
    group: tuple[Expression, ...]
    id: Expression | None
    texts: Mapping[str, Expression]  # case, component, component_version, node, cluster
    moments: Mapping[str, Moment]
    duration_s: Metric | None
    failed_if: tuple[tuple[str, Expression], ...]  # status and condition, in order
    reason: Expression | None
    status: str | None
    parameters: tuple[tuple[str | None, ValuePath | Expression], ...]
    workload: Mapping[str, Expression]
    software: Mapping[str, Expression]
    hardware: Mapping[str, Expression]
    source: Mapping[str, Expression]
    metrics: tuple[Metric, ...]
    serving_point: Expression | None
    refusals: tuple[tuple[Expression, Expression], ...]
    checks: tuple[Check, ...]
    telemetry: Telemetry | None
    requests: Rows | None = None
    fabric: Rows | None = None

    @property
    def has_runs(self) -> bool:
        return bool(self.metrics or self.requests or self.fabric)


@dataclass(frozen=True)
class Description:
    name: str
    version: int
    about: str
    files: tuple[str, ...]
    forms: tuple[str, ...]
    dialect: Dialect
    patterns: tuple[Pattern, ...]
    layouts: tuple[Layout, ...]
    expressions: tuple[tuple[str, Expression], ...] = field(default=(), compare=False)  # with the key that states each, for `wh check`

    @property
    def is_of_telemetry_alone(self) -> bool:
        return not any(layout.has_runs for layout in self.layouts)

    @cached_property
    def marks(self) -> list[list[tuple[bytes, ...]]]:
        """For each layout, bytes of which a file must have one of each tuple: the last key of each path, the fixed part of a line, or, where a
        table has no header, the texts that a condition asks for."""
        return [list(self._marks(layout)) for layout in self.layouts]

    def _marks(self, layout: Layout) -> Iterator[tuple[bytes, ...]]:
        for each in layout.requires:
            if self.dialect.columns:
                if texts := tuple(text.encode() for text in _TEXT.findall(each.text)):
                    yield texts
                continue
            for path in each.paths[:1] if not {"or", "not"} & set(each.text.split()) else ():
                keys = [step for kind, step in path.steps if kind == "key" and not step.startswith(("@", "#", "<"))]
                literals = tuple(pattern.literal.encode() for pattern in self.patterns if keys and pattern.name == keys[0])
                if literals:
                    yield from [literals] if all(literals) else []
                elif keys:
                    yield (keys[-1].encode(),)

    def columns(self, layout: Layout) -> frozenset[str]:
        """The columns that the header of a table must have: the keys that are required of each row."""
        return frozenset(
            path.steps[1][1] for each in layout.requires for path in each.paths
            if len(path.steps) == 2 and path.steps[0][0] == "each" and path.steps[1][0] == "key"
        )
