"""The hot metrics of the current build: those of every model with the role `hot_metrics`, of recent runs, and the health of the warehouse.

The series are counted before any is written, and more than the budget are refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from warehouse.analysis.health.health import HEALTH, health
from warehouse.errors import WarehouseError, counted, printable
from warehouse.landing.declaration.hot_metrics import MAX_ACTIVE_SERIES
from warehouse.project.project import Project
from warehouse.surfaces.hot_metrics.text_format import label_text, render
from warehouse.transform.finished.builds import current_build
from warehouse.transform.finished.query import open_build
from warehouse.transform.finished.role_tables import RoleTable, role_table
from warehouse.transform.project.hot_metrics import HotMetric, hot_metrics_of
from warehouse.transform.project.model import HOT_METRICS, RUN_COLUMN, RUNS, Column, Model
from warehouse.transform.sql.duck import quote, quoted

if TYPE_CHECKING:
    import duckdb

_STARTED = "started_at"


@dataclass(frozen=True)
class _HotTable:
    """The rows of one model that are exported, in a temporary table: a column for each label, where an empty text is NULL, and one for each
    metric, where a value that is not finite is NULL."""

    model: Model
    metrics: Sequence[HotMetric]
    sql: str

    @property
    def labels(self) -> tuple[str, ...]:
        return self.metrics[0].labels


def exposition(project: Project, now: datetime | None = None) -> str:
    """The hot metrics of the current build in the text format of Prometheus, of runs that started within `retention.hot_days` before `now`.
    Raises WH211, WH218, WH114; WH531 above the budget; WH532 where two rows are one series; WH533 where the start of runs is not known."""
    now = now or datetime.now(UTC)
    build = current_build(project)
    state = health(project, build, now)
    con = open_build(build.path)
    try:
        runs, since = role_table(build.path, RUNS), now - timedelta(days=project.retention.hot_days)
        tables = [_recent(con, runs, since, model, types) for model, types in _models(con)]
        _check_budget(con, tables, len(state), project.max_hot_series or MAX_ACTIVE_SERIES)
        samples: dict[HotMetric, list[tuple[str, float]]] = {}
        for table in tables:
            _check_distinct(con, table)
            samples |= _samples(con, table)
    finally:
        con.close()
    for metric in HEALTH:
        value = state[metric.name]
        samples[metric] = [] if value is None else [("", value)]
    return render(samples)


def _models(con: "duckdb.DuckDBPyConnection") -> list[tuple[Model, dict[str, str]]]:
    """The models of hot metrics in a build, each with the types of its columns."""
    if not con.execute("select 1 from duckdb_columns() where schema_name = 'catalog' and table_name = 'model' and column_name = 'role'").fetchall():
        return []  # a build of an earlier version
    models = con.execute("select schema_name, name, place, sql from catalog.model where role = ? order by name", [HOT_METRICS]).fetchall()
    found = []
    for schema, name, place, text in models:
        columns = con.execute(
            "select c.column_name, c.data_type, d.unit, d.description from duckdb_columns() as c"
            " join catalog.model_column as d using (schema_name, table_name, column_name)"
            " where c.schema_name = ? and c.table_name = ? order by c.column_index", [schema, name],
        ).fetchall()
        described = {column: Column(column, kind, description or "", unit) for column, kind, unit, description in columns}
        found.append((Model(name, schema, place, text, columns=described), {column: kind for column, kind, *_ in columns}))
    return found


def _recent(con: "duckdb.DuckDBPyConnection", runs: RoleTable | None, since: datetime, model: Model, types: dict[str, str]) -> _HotTable:
    """The rows of a model whose run started after a time; all rows where the model has no run."""
    metrics = hot_metrics_of(model, types)
    of_runs = ""
    if RUN_COLUMN in metrics[0].labels:
        if runs is None or _STARTED not in runs.columns:
            hint = f"give the model of one row per run `role: {RUNS}` and a column {_STARTED} (docs/models.md)"
            raise WarehouseError("WH533", f"no table says when the runs of {model.qualified} started", model.place, hint)
        of_runs = f" where {RUN_COLUMN} in (select {RUN_COLUMN} from {runs.sql} where {_STARTED}::timestamptz > $since)"
    labels = [f"nullif({quote(name)}, '') as {quote(name)}" for name in metrics[0].labels]
    values = [f"case when isfinite({metric.sql}) then {metric.sql} end as {quote(metric.name)}" for metric in metrics]
    table = _HotTable(model, metrics, quote(f"hot rows of {model.name}"))  # no model has such a name
    con.execute(
        f"create temp table {table.sql} as select {', '.join([*labels, *values])} from {quoted(model.qualified)}{of_runs}",
        {"since": since} if of_runs else {},
    )
    return table


def _check_budget(con: "duckdb.DuckDBPyConnection", tables: Iterable[_HotTable], others: int, most: int) -> None:
    """Raise WH531 if there are more series than allowed, with the metric that has most of them and the label that splits it most."""
    total = others
    count, name, largest = 0, "", None
    for table in tables:
        counts = con.execute(f"select {', '.join(f'count({quote(metric.name)})' for metric in table.metrics)} from {table.sql}").fetchall()[0]
        total += sum(counts)
        if max(counts) > count:
            count, name, largest = max(counts), table.metrics[counts.index(max(counts))].name, table
    if total <= most:
        return
    message = f"there would be {total:,} series, and {most:,} are allowed"
    if largest:
        message += f"; {name} alone has {count:,}"
    if largest and largest.labels:
        distinct = con.execute(f"select {', '.join(f'count(distinct {quote(label)})' for label in largest.labels)} from {largest.sql}").fetchall()[0]
        values, label = max(zip(distinct, largest.labels, strict=True))
        message += f", and its label {label} has {counted(values, 'distinct value')}"
    hint = "leave the label out of the model, or set another limit: [hot_metrics] max_series in warehouse.toml"
    raise WarehouseError("WH531", message, largest.model.place if largest else None, hint)


def _check_distinct(con: "duckdb.DuckDBPyConnection", table: _HotTable) -> None:
    """Raise WH532 where two rows have the same labels, an empty label being an absent one."""
    labels = ", ".join(map(quote, table.labels))
    twice = con.execute(f"select {labels or '1'} from {table.sql} group by {labels or '()'} having count(*) > 1 order by all limit 1").fetchall()
    if twice:
        shown = printable(label_text(table.labels, twice[0]) if table.labels else "no labels")
        raise WarehouseError("WH532", f"two rows have {shown}", table.model.place, "give the model the grain of its labels: group by them")


def _samples(con: "duckdb.DuckDBPyConnection", table: _HotTable) -> dict[HotMetric, list[tuple[str, float]]]:
    """The samples of each metric of a table, in the order of their labels."""
    samples: dict[HotMetric, list[tuple[str, float]]] = {metric: [] for metric in table.metrics}
    width = len(table.labels)
    order = f" order by {', '.join(map(quote, table.labels))}" if table.labels else ""
    rows = con.execute(f"from {table.sql}{order}")
    while batch := rows.fetchmany(10_000):
        for row in batch:
            labels = label_text(table.labels, row[:width])
            for metric, value in zip(table.metrics, row[width:], strict=True):
                if value is not None:
                    samples[metric].append((labels, value))
    return samples
