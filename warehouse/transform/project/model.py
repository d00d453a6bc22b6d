"""A model as a value: what its file says, whoever has read it (`model_files`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from warehouse.errors import WarehouseError
from warehouse.transform.project.header import Header
from warehouse.transform.project.header_tests import OF_SEVERAL, HeaderTest
from warehouse.transform.sql.text import canonical, fault_at, first_token, output_column

RUN_COLUMN, BUNDLE_COLUMN = "run_id", "artifact_manifest_digest"  # of what a row of a table of the warm tier is
PUBLIC_SCHEMAS = ("main", "mart", "rollup")  # of others are the steps in between
RESERVED_COLUMNS = ("query_spec_digest", "number_ids")  # of a rollup: the warehouse adds them
RUNS, RUN_FILES, MEASUREMENTS, CONDITIONS = "runs", "run_files", "measurements", "conditions"
LOAD_POINTS, REQUESTS, SLOS = "load_points", "requests", "slos"
HOT_METRICS = "hot_metrics"  # the one role that several models may have
# What a model may be to the engine, which knows no table of any project by name, and the text columns that it needs for that.
ROLES: Mapping[str, tuple[str, ...]] = {
    RUNS: (RUN_COLUMN,), RUN_FILES: (RUN_COLUMN, BUNDLE_COLUMN),
    MEASUREMENTS: (RUN_COLUMN, "indicator", "metric", "point", "better", "session", "series_key", "comparable_key"),
    CONDITIONS: (RUN_COLUMN, "kind", "name", "value_text"),
    LOAD_POINTS: (RUN_COLUMN, "curve_key", "load_kind", "status"),
    REQUESTS: (RUN_COLUMN,), SLOS: ("slo",), HOT_METRICS: (),
}


@dataclass(frozen=True)
class Column:
    """One column of a contract. `type` is empty where the header leaves it to the column that this one is a copy of, until the check has
    found that. `unit` None: dimensionless or stated elsewhere in the row. `in_feed`: whether feeders of
    the table may fill it. `tolerance`: by how much, relative to the larger, a float that is added up may differ and be the same
    number; None where nothing is declared."""

    name: str
    type: str
    description: str
    unit: str | None = None
    tests: tuple[HeaderTest, ...] = ()
    in_feed: bool = True
    tolerance: float | None = None


@dataclass(frozen=True)
class Model:
    """A model as written. `place` is the file as messages show it; `key` is what an incremental model is brought up to date by,
    and after the check every other that is local to a key, and empty where there is none; `retention_tier` the tier whose age its rows
    have in the database (`WARM_TIER`), if any; `role` one of `ROLES`, if any. `rejects`: a row that breaks a test is left out, with an
    issue, and the build goes on, as in the standard project; in a project's own models the build fails."""

    name: str
    schema: str
    place: str
    text: str
    description: str = ""
    materialized: str = "table"
    key: tuple[str, ...] = ()
    grain: tuple[str, ...] = ()
    feeds: str | None = None
    collects: str | None = None
    columns: Mapping[str, Column] = field(default_factory=dict)
    tests: tuple[HeaderTest, ...] = ()
    tags: tuple[str, ...] = ()
    claim: Mapping[str, Any] = field(default_factory=dict)
    retention_tier: str | None = None
    role: str | None = None
    rejects: bool = False

    @property
    def qualified(self) -> str:
        return f"{self.schema}.{self.name}"

    def header_fault(self, code: str, message: str, *path: str, hint: str | None = None) -> WarehouseError:
        """A fault of this model at a part of its header (`columns`, `run_id`, `type`)."""
        return Header({}, self.text, self.place).fault(message, *path, hint=hint, code=code)

    def column_fault(self, code: str, message: str, column: str, hint: str, occurrence: int = 0) -> WarehouseError:
        """A fault of this model where its select list names an output column; at the statement when it does not, as with
        a star."""
        places = (output_column(self.text, column, number) for number in (occurrence, 0))
        offset = next((place for place in places if place is not None), first_token(self.text))
        return fault_at(code, message, self.text, self.place, offset, hint)

    @cached_property
    def canonical_sql(self) -> str:
        return canonical(self.text)

    @cached_property
    def contract(self) -> dict[str, Any]:
        """What a digest covers beside the SQL: a change of it changes what the table promises."""
        tolerances = {name: column.tolerance for name, column in self.columns.items() if column.tolerance is not None}
        return {
            "materialized": self.materialized,
            **({"key": list(self.key)} if self.materialized == "incremental" else {}),
            "grain": list(self.grain),
            "columns": [[column.name, column.type, column.unit] for column in self.columns.values()],
            **({"tolerances": tolerances} if tolerances else {}),
            **({"role": self.role} if self.role else {}),
            **({"rejects": self._rejected_by} if self.rejects and self.materialized != "view" else {}),
        }

    @property
    def _rejected_by(self) -> list[list[Any]]:
        """The tests that decide which rows the table has, each with its column; the grain is one more."""
        tests = [(column.name, test) for column in self.columns.values() for test in column.tests] + [("", test) for test in self.tests]
        return [
            [name, test.kind, test.argument, test.where] for name, test in tests if test.severity == "error" and test.kind not in OF_SEVERAL
        ]


def model_of_role(models: Iterable[Model], role: str) -> Model | None:
    """The model that plays a role; None where none does."""
    return next((model for model in models if model.role == role), None)


def model_names(models: Mapping[str, Model]) -> dict[str, str]:
    """Every name by which SQL may call a model, `schema.name` too, to its key in `models`."""
    return {**{model.qualified: name for name, model in models.items()}, **{name: name for name in models}}
