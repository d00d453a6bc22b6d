"""Telemetry that was sampled while a run ran and belongs to no run: evidence that is here, and that no check can see."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from warehouse.analysis.explain.playbooks import metrics_in
from warehouse.errors import counted

if TYPE_CHECKING:
    import duckdb

_TABLES = {"telemetry_place", "telemetry_run_series", "run_window"}
_WAY_OUT = "a model that feeds run_node maps them to the run (docs/telemetry.md)"
_MOST_LINES = 3
_READ = """
select
    coalesce(place.labels ->> '$.job', place.source) as exporter,
    coalesce(place.node_name, '') as node_name,
    count(*) as series,
    list(distinct place.metric) as metrics
from telemetry_place as place
inner join run_window as ran
    on
        ran.run_id = ?
        and ran.window_kind = 'run'
        and place.first_at < ran.window_end
        and place.last_at > ran.window_start
where
    place.metric is not null
    and not exists (
        select 1
        from telemetry_run_series as joined
        where
            joined.artifact_manifest_digest = place.artifact_manifest_digest
            and joined.series_number = place.series_number
    )
group by exporter, coalesce(place.node_name, '')
order by series desc, exporter, node_name
"""


@dataclass(frozen=True)
class Unjoined:
    """Series of one exporter that name one node, or none."""

    exporter: str
    node_name: str
    series: int
    metrics: frozenset[str]

    @property
    def words(self) -> str:
        named = f"node {self.node_name}" if self.node_name else "no node stated"
        are = "is" if self.series == 1 else "are"
        return f"{counted(self.series, 'series', 'series')} of {self.exporter} ({named}) {are} here and joined to no run"


def read_unjoined(con: "duckdb.DuckDBPyConnection", run_id: str) -> tuple[Unjoined, ...]:
    """By exporter and node, the most series first; of a project without the standard models none."""
    tables = {name for (name,) in con.execute("select distinct table_name from duckdb_columns()").fetchall()}
    if not tables >= _TABLES:
        return ()
    return tuple(Unjoined(exporter, node, series, frozenset(metrics)) for exporter, node, series, metrics in con.execute(_READ, [run_id]).fetchall())


def of_check(unjoined: Sequence[Unjoined], sql: str) -> str | None:
    """What is here of the metrics that a check reads, and how it can reach the check."""
    names = metrics_in(sql)
    wanted = [each for each in unjoined if any(fnmatchcase(metric, name) for metric in each.metrics for name in names)]
    return f"{wanted[0].words}: {_WAY_OUT}" if wanted else None


def as_notes(unjoined: Sequence[Unjoined]) -> tuple[str, ...]:
    """For people: the exporters with the most series, and how to use them."""
    if not unjoined:
        return ()
    more = len(unjoined) - _MOST_LINES
    words = "; ".join(each.words for each in unjoined[:_MOST_LINES])
    return (f"{words}{f'; and those of {more} more exporters or nodes' if more > 0 else ''}: {_WAY_OUT}",)
