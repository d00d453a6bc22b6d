"""The time of a run on one axis: its requests, and under them what was sampled while it ran, with what is beyond all that its repeats did."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from warehouse.errors import counted
from warehouse.surfaces.parts import Chart, Column, Table
from warehouse.surfaces.views.facts.reading import Reader
from warehouse.surfaces.views.facts.run_telemetry import TABLE as TELEMETRY
from warehouse.surfaces.views.facts.run_telemetry import VALUE, has_telemetry
from warehouse.transform.project.model import REQUESTS

_SPANS = 60  # of time, that requests are counted in
_MOST_LANES, _MOST_ROWS = 8, 4000
_LEAST_REPEATS, _MOST_REPEATS = 2, 4  # that a run is held against
OUTSIDE = "outside"  # of what its repeats did
# The first of these that were sampled have a lane; others follow by name.
_FIRST = (
    "requests_running", "requests_waiting", "output_token_throughput_per_s", "ttft_p95_ms", "ttft_ms", "gpu_sm_clock_mhz", "gpu_util_pct",
    "gpu_power_w", "gpu_temperature_c",
)


def timeline(found: Reader, run: dict[str, Any], repeats: Sequence[str]) -> Iterator[Table]:
    """Nothing where the run has no times of requests and no samples over time. `repeats` are runs of the same case, workload and machine, the
    nearest first."""
    others = list(repeats[:_MOST_REPEATS])
    asked, sampled = list(_requests(found, [run["run_id"]])), list(_samples(found, run))
    if not asked and not sampled:
        return
    did: dict[str, tuple[float, float]] = {}
    if len(others) >= _LEAST_REPEATS:
        did = {**(_ranges(_requests(found, others)) if asked else {}), **(_sampled_ranges(found, others) if sampled else {})}
    rows = [(*row, _beside(row, did)) for row in (*asked, *sampled)]
    columns = (
        Column("lane", "what"), Column("at_s", "from the start of the run", kind="number", unit="s"), Column("value", kind="number"), Column("unit"),
        Column("place", "where"), Column("state", "beside its repeats", kind="state", is_hidden=not did),
    )
    chart = Chart("timeline", "at_s", "value", group="lane", line="place", value="unit", state="state", hatched=(OUTSIDE,))
    note = "Each lane goes from its least to its greatest value."
    if did:
        is_any = any(row[-1] == OUTSIDE for row in rows)
        repeated = counted(len(others), "repeat")
        note += f" Red: beyond all that its {repeated} did." if is_any else f" Nothing is beyond what its {repeated} did."
    yield Table("timeline", columns, tuple(rows), "The run", note, chart=chart, listed=100, is_folded=True)


def _beside(row: Sequence[Any], did: dict[str, tuple[float, float]]) -> str | None:
    """Whether a value is beyond all that the repeats did; None where they have none of the lane."""
    ends = did.get(row[0])
    return None if ends is None else "as its repeats" if ends[0] <= row[2] <= ends[1] else OUTSIDE


def _ranges(rows: Iterator[tuple[Any, ...]]) -> dict[str, tuple[float, float]]:
    values: dict[str, list[float]] = {}
    for lane, _, value, *_ in rows:
        values.setdefault(lane, []).append(value)
    return {lane: (min(of_lane), max(of_lane)) for lane, of_lane in values.items()}


def _requests(found: Reader, run_ids: list[str]) -> Iterator[tuple[Any, ...]]:
    """How many requests were in flight, and their median latency, of runs of one load: the times of several have no common start."""
    table = found.role(REQUESTS)
    if table is None or not {"run_id", "started_s", "workload_point", "concurrency_point", "e2e_ms"} <= table.columns:
        return
    first = "ttft_ms" if "ttft_ms" in table.columns else "null::double"
    rows = found.rows(
        f"with request as (select run_id, started_s, e2e_ms, {first} as ttft_ms, workload_point, concurrency_point from {table.sql}"
        " where list_contains($runs, run_id) and started_s is not null),"
        " load as (select run_id, max(started_s) as last, count(distinct (workload_point, concurrency_point)) as loads from request"
        " group by run_id),"
        f" span as (select run_id, place * last / {_SPANS} as at_s, last / {_SPANS} as wide from load, range({_SPANS}) as r(place)"
        " where loads = 1 and last > 0)"
        " select at_s, count(e2e_ms) filter (started_s <= at_s and started_s + e2e_ms / 1000 > at_s) as in_flight,"
        " median(ttft_ms) filter (started_s >= at_s and started_s < at_s + wide) as ttft_ms,"
        " median(e2e_ms) filter (started_s >= at_s and started_s < at_s + wide) as e2e_ms"
        " from span join request using (run_id) group by run_id, at_s, wide order by at_s, run_id", {"runs": run_ids},
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
        unit = found.metric_names.of(row["metric"], row["unit"])[2]
        yield _lane(found, row), row["at_s"], row["value"], unit, row["place"]


def _lane(found: Reader, row: dict[str, Any]) -> str:
    """What people call the lane of a metric."""
    name = found.metric_names.of(row["metric"], row["unit"])[0]
    return name if name != row["metric"] else name.replace("_", " ")


def _sampled_ranges(found: Reader, run_ids: list[str]) -> dict[str, tuple[float, float]]:
    """From the least to the greatest value that was sampled while these ran, by lane; only of what was sampled in enough of them."""
    rows = found.rows(
        f"select metric, any_value(unit) as unit, min({VALUE}) as low, max({VALUE}) as high from {TELEMETRY}"
        f" where list_contains($runs, run_id) and window_kind = 'interval' and {VALUE} is not null group by metric"
        " having count(distinct run_id) >= $least", {"runs": run_ids, "least": _LEAST_REPEATS},
    )
    return {_lane(found, row): (row["low"], row["high"]) for row in rows}
