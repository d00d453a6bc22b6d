"""The time of a run on one axis: its requests, and under them what was sampled while it ran."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from warehouse.surfaces.parts import Chart, Column, Table
from warehouse.surfaces.views.facts.reading import Reader
from warehouse.surfaces.views.facts.run_telemetry import TABLE as TELEMETRY
from warehouse.surfaces.views.facts.run_telemetry import VALUE, has_telemetry
from warehouse.transform.project.model import REQUESTS

_SPANS = 60  # of time, that requests are counted in
_MOST_LANES, _MOST_ROWS = 8, 4000
# The first of these that were sampled have a lane; others follow by name.
_FIRST = (
    "requests_running", "requests_waiting", "output_token_throughput_per_s", "ttft_p95_ms", "ttft_ms", "gpu_sm_clock_mhz", "gpu_util_pct",
    "gpu_power_w", "gpu_temperature_c",
)


def timeline(found: Reader, run: dict[str, Any]) -> Iterator[Table]:
    """Nothing where the run has no times of requests and no samples over time."""
    rows = [*_requests(found, run["run_id"]), *_samples(found, run)]
    if not rows:
        return
    columns = (
        Column("lane", "what"), Column("at_s", "from the start of the run", kind="number", unit="s"), Column("value", kind="number"), Column("unit"),
        Column("place", "where"),
    )
    chart = Chart("timeline", "at_s", "value", group="lane", line="place", value="unit")
    note = "Each lane goes from its least to its greatest value."
    yield Table("timeline", columns, tuple(rows), "The run", note, chart=chart, listed=100, is_folded=True)


def _requests(found: Reader, run_id: str) -> Iterator[tuple[Any, ...]]:
    """How many requests were in flight, and their median latency, of a run of one load: the times of several have no common start."""
    table = found.role(REQUESTS)
    if table is None or not {"run_id", "started_s", "workload_point", "concurrency_point", "e2e_ms"} <= table.columns:
        return
    first = "ttft_ms" if "ttft_ms" in table.columns else "null::double"
    rows = found.rows(
        f"with request as (select started_s, e2e_ms, {first} as ttft_ms, workload_point, concurrency_point from {table.sql}"
        " where run_id = $run and started_s is not null),"
        " load as (select max(started_s) as last, count(distinct (workload_point, concurrency_point)) as loads from request),"
        f" span as (select place, place * last / {_SPANS} as at_s, last / {_SPANS} as wide from load, range({_SPANS}) as r(place)"
        " where loads = 1 and last > 0)"
        " select at_s, count(e2e_ms) filter (started_s <= at_s and started_s + e2e_ms / 1000 > at_s) as in_flight,"
        " median(ttft_ms) filter (started_s >= at_s and started_s < at_s + wide) as ttft_ms,"
        " median(e2e_ms) filter (started_s >= at_s and started_s < at_s + wide) as e2e_ms"
        " from span cross join request group by at_s, wide order by at_s", {"run": run_id},
    )
    for name, words, unit in (("in_flight", "in flight", "requests"), ("ttft_ms", "TTFT, median", "ms"), ("e2e_ms", "latency, median", "ms")):
        if any(row[name] for row in rows):
            yield from ((words, row["at_s"], row[name], unit, None) for row in rows if row[name] is not None)


def _samples(found: Reader, run: dict[str, Any]) -> Iterator[tuple[Any, ...]]:
    if not has_telemetry(found):
        return
    rows = found.rows(
        f"with sampled as (select metric, coalesce(scope_name, node_name, scope) as place, window_start, {VALUE} as value, unit,"
        f" coalesce(list_position($first, metric), {len(_FIRST) + 1}) as rank from {TELEMETRY}"
        " where run_id = $run and window_kind = 'interval' and window_start is not null),"
        " chosen as (select metric from sampled where value is not null group by metric, rank having count(distinct window_start) > 1"
        f" order by rank, metric limit {_MOST_LANES})"
        " select metric, place, epoch(window_start) - epoch(coalesce($start, (select min(window_start) from sampled))) as at_s, value, unit"
        f" from sampled where metric in (select metric from chosen) and value is not null order by rank, metric, at_s, place limit {_MOST_ROWS}",
        {"run": run["run_id"], "start": run["started_at"], "first": list(_FIRST)},
    )
    for row in rows:
        name, _, unit = found.metric_names.of(row["metric"], row["unit"])
        yield name if name != row["metric"] else name.replace("_", " "), row["at_s"], row["value"], unit, row["place"]
