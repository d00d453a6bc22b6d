"""The measurements of a finished build as values, read from the tables that have the roles `measurements` and `conditions`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from warehouse.errors import WarehouseError, printable
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
_COLUMNS = ", ".join(f"m.{name}" for name in (*_TEXTS, "value", "started_at"))


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
    """The tables of one build, and a read-only session on it. `measurements` has the columns of a `Measurement` and the rows whose value is a
    number; `not_finite` counts those that were left out because their value is missing, NaN or infinite."""

    con: "duckdb.DuckDBPyConnection"
    build: Build
    measurements: RoleTable
    conditions: RoleTable | None
    runs: RoleTable | None
    not_finite: int

    def read(self, where: str, parameters: Sequence[Any] = ()) -> list[Measurement]:
        """The measurements that a condition on `m` holds for, in the order of time and run."""
        sql = f"select {_COLUMNS} from {self.measurements.sql} as m where {where} order by m.started_at nulls first, m.run_id"
        return [_measurement(row) for row in self.con.execute(sql, list(parameters)).fetchall()]


@contextmanager
def measured(build: Build) -> Iterator[Measured]:
    """A session on the measurements of a build. Raises WH501 where no table of the project has them, and WH504 where a series has two units
    or two directions."""
    table = role_table(build.path, MEASUREMENTS)
    if table is None or "value" not in table.columns:
        message = "no table has the measurements" if table is None else f"{table.name} has no column value"
        raise WarehouseError("WH501", message, build.path.name, f"give a model of one row per run and metric `role: {MEASUREMENTS}` (docs/models.md)")
    others = role_table(build.path, CONDITIONS), role_table(build.path, RUNS)
    con = open_build(build.path)
    try:
        measurements, not_finite = _checked(con, table)
        yield Measured(con, build, measurements, *others, not_finite)
    finally:
        con.close()


def _checked(con: "duckdb.DuckDBPyConnection", table: RoleTable) -> tuple[RoleTable, int]:
    """The rows of a table of measurements that have a number, with NULL for the columns that it lacks; and how many rows have none."""
    texts = [name if name in table.columns else f"null::varchar as {name}" for name in _TEXTS]
    started_at = "started_at::timestamptz" if "started_at" in table.columns else "null::timestamptz"
    con.execute(
        f"create temp view finite_measurement as select {', '.join(texts)}, value::double as value, {started_at} as started_at"
        f" from {table.sql} where isfinite(value::double)"
    )
    checked = RoleTable("temp.finite_measurement", table.columns)
    for name in ("unit", "better"):
        mixed = con.execute(
            f"select series_key, min({name}) as first, max({name}) as last, count(*) > count({name}) from {checked.sql} group by series_key"
            f" having first <> last or count({name}) not in (0, count(*)) order by series_key limit 1"
        ).fetchone()
        if mixed:
            series_key, first, last, has_none = mixed
            values = " and ".join(dict.fromkeys([first, last, *(["none"] if has_none else [])]))
            message = f"series {printable(series_key)} mixes values whose {name} is {printable(values)}"
            raise WarehouseError("WH504", message, table.name, f"a series has one {name}: make it part of series_key (docs/models.md)")
    ((left_out,),) = con.execute(f"select count(*) from {table.sql} where not coalesce(isfinite(value::double), false)").fetchall()
    return checked, left_out


def _measurement(row: Sequence[Any]) -> Measurement:
    found = dict(zip(_TEXTS, row, strict=False))
    value, started_at = row[len(_TEXTS) :]
    return Measurement(
        found["run_id"], found["indicator"], found["metric"], found["point"], found["unit"], found["better"], found["session"],
        found["benchmark_case_id"], found["node"], found["series_key"], found["comparable_key"], value, started_at,
        {name: found[name] for name in VARIABLES},
    )
