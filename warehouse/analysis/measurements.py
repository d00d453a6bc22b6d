"""The measurements of a finished build as values, read from the tables that have the roles `measurements` and `conditions`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from warehouse.errors import WarehouseError
from warehouse.transform.finished.builds import Build
from warehouse.transform.finished.query import open_build
from warehouse.transform.finished.role_tables import RoleTable, role_table
from warehouse.transform.project.model import CONDITIONS, MEASUREMENTS, RUNS

if TYPE_CHECKING:
    import duckdb

# What makes two runs comparable, by the columns of the table of measurements that state it.
VARIABLES = ("workload", "parameters", "hardware", "testbed", "software", "script")
_TEXTS = (
    "run_id", "indicator", "metric", "point", "unit", "better", "session", "benchmark_case_id", *VARIABLES, "node", "series_key", "comparable_key",
)


@dataclass(frozen=True)
class Measurement:
    """One metric of one run. `variables` has the value of each of `VARIABLES`, None where it is not stated."""

    run_id: str
    indicator: str
    metric: str
    point: str
    unit: str | None
    better: str
    session: str
    benchmark_case_id: str | None
    node: str | None
    series_key: str
    comparable_key: str
    value: float
    started_at: datetime | None
    variables: Mapping[str, str | None]

    @property
    def name(self) -> tuple[str, str, str]:
        return self.indicator, self.metric, self.point


@dataclass(frozen=True)
class Measured:
    """The tables of one build, and a read-only session on it."""

    con: "duckdb.DuckDBPyConnection"
    build: Build
    measurements: RoleTable
    conditions: RoleTable | None
    runs: RoleTable | None

    def read(self, where: str, parameters: Sequence[Any] = ()) -> list[Measurement]:
        """The measurements that a condition on `m` holds for, in the order of time and run."""
        sql = f"select {self.columns} from {self.measurements.sql} as m where {where} order by m.started_at nulls first, m.run_id"
        return [_measurement(row) for row in self.con.execute(sql, list(parameters)).fetchall()]

    @property
    def columns(self) -> str:
        """The columns of a `Measurement`."""
        return f"{self.columns_of(*_TEXTS)}, m.value::double, {self.columns_of('started_at')}"

    def columns_of(self, *names: str) -> str:
        """Columns of the rows `m` of measurements, NULL where the table has none of that name."""
        return ", ".join(f"m.{name}" if name in self.measurements.columns else f"null as {name}" for name in names)


@contextmanager
def measured(build: Build) -> Iterator[Measured]:
    """A session on the measurements of a build. Raises WH501 where no table of the project has them."""
    table = role_table(build.path, MEASUREMENTS)
    if table is None or "value" not in table.columns:
        message = "no table has the measurements" if table is None else f"{table.name} has no column value"
        raise WarehouseError("WH501", message, build.path.name, f"give a model of one row per run and metric `role: {MEASUREMENTS}` (docs/models.md)")
    others = role_table(build.path, CONDITIONS), role_table(build.path, RUNS)
    con = open_build(build.path)
    try:
        yield Measured(con, build, table, *others)
    finally:
        con.close()


def _measurement(row: Sequence[Any]) -> Measurement:
    found = dict(zip(_TEXTS, row, strict=False))
    value, started_at = row[len(_TEXTS) :]
    return Measurement(
        found["run_id"], found["indicator"], found["metric"], found["point"], found["unit"], found["better"], found["session"],
        found["benchmark_case_id"], found["node"], found["series_key"], found["comparable_key"], value, started_at,
        {name: found[name] for name in VARIABLES},
    )
