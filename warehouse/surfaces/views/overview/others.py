"""The fabric, training, indicators, nodes and campaigns on the home page."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median
from typing import Any

from warehouse.analysis.names import SEPARATOR
from warehouse.errors import counted
from warehouse.surfaces.figures import rounded
from warehouse.surfaces.parts import Chart, Column, Part, Table
from warehouse.surfaces.view import address
from warehouse.surfaces.views.facts.headlines import EXTREMES, headlines
from warehouse.surfaces.views.facts.reading import Reader
from warehouse.surfaces.views.facts.run_names import named, run_names
from warehouse.transform.export.docs.published_pages import short
from warehouse.transform.project.model import MEASUREMENTS, RUNS

_MOST, _MOST_NODES, _MOST_CASES = 8, 40, 20
_MOST_RESULTS = 3  # of an indicator
# What two results of an indicator may differ in, as it is named under a result.
_APART = {"component": "", "parameters": "", "hardware_topology_key": "hardware ", "software_version_key": "software "}
_ODD = 0.85  # of the median of the pairs: less is odd
_FABRIC, _INDICATORS, _NODES = "rollup.fabric_results", "rollup.indicator_results", "rollup.node_performance"
_ALIKE = ("cluster", "test", "workload_spec_digest", "status")  # what pairs share that are held against each other
_TRAINING = "main.training_outcome_fact"


def other_parts(found: Reader) -> Iterator[Part]:
    yield from _fabric(found)
    yield from _training(found)
    yield from _indicators(found)
    yield from _nodes(found)
    yield from _campaigns(found)


def measured_parts(found: Reader) -> Iterator[Table]:
    """What a project of its own measures, by case."""
    table = found.role(MEASUREMENTS)
    if table is None or not {"benchmark_case_id", "metric", "series_key", "run_id", "started_at"} <= table.columns:
        return
    rows = found.rows(
        'select benchmark_case_id as "case", count(distinct run_id) as runs, count(distinct series_key) as series,'
        f" count(distinct metric) as metrics, max(started_at) as last from {table.sql} group by benchmark_case_id"
        " order by last desc nulls last, runs desc, benchmark_case_id"
    )
    columns = (
        Column("case", link="/explore?case={case}"), Column("runs", kind="number"), Column("series", kind="number"), Column("metrics", kind="number"),
        Column("last", "last run", kind="moment"),
    )
    if rows:
        yield Table("measured", columns, tuple(tuple(row.values()) for row in rows[:_MOST_CASES]), "Measured", total=len(rows), more="/explore")


def _fabric(found: Reader) -> Iterator[Table]:
    """The test with the most pairs of nodes as a matrix, and all tests by how many nodes took part."""
    if not {"run_id", "nodes", "node_count", "avg_bus_bandwidth_gb_per_s", *_ALIKE} <= found.columns(_FABRIC):
        return
    measured = "avg_bus_bandwidth_gb_per_s is not null"
    most = found.rows(
        f"select cluster, test, workload_spec_digest, status, count(distinct nodes) as pairs from {_FABRIC}"
        f" where node_count = 2 and {measured} and nodes like '%,%' group by cluster, test, workload_spec_digest, status having pairs >= 3"
        " order by pairs desc, cluster, test, workload_spec_digest, status limit 1"
    )
    if most:
        alike = " and ".join(f"{name} is not distinct from ?" for name in _ALIKE)
        yield _pairs(most[0], found.rows(
            f"select nodes, median(avg_bus_bandwidth_gb_per_s) as value, count(*) as runs, min(run_id) as run_id from {_FABRIC}"
            f" where node_count = 2 and {measured} and {alike} group by nodes order by nodes",
            [most[0][name] for name in _ALIKE],
        ))
    rows = found.rows(
        f"select cluster, test, node_count, median(avg_bus_bandwidth_gb_per_s) as value, min(avg_bus_bandwidth_gb_per_s) as low,"
        f" max(avg_bus_bandwidth_gb_per_s) as high, count(*) as runs from {_FABRIC} where {measured} group by cluster, test, node_count"
        " order by node_count desc, runs desc, test, cluster"
    )
    if not rows:
        return
    columns = (
        Column("test", link="/results/fabric_results?where=test={test},node_count={node_count}"), Column("node_count", "nodes", kind="number"),
        Column("value", "bus bandwidth, median", kind="number", unit="GB/s"), Column("low", "least", kind="number", unit="GB/s"),
        Column("high", "greatest", kind="number", unit="GB/s"), Column("runs", kind="number"), Column("cluster", is_minor=True),
    )
    shown = tuple(tuple(row[column.name] for column in columns) for row in rows[:_MOST])
    more = address("/results/{query}", query="fabric_results")
    yield Table("fabric", columns, shown, "" if most else "Fabric", total=len(rows), more=more)


def _pairs(chosen: dict[str, Any], rows: list[dict[str, Any]]) -> Table:
    """Each pair of nodes, the odd ones first and named."""
    middle = median(row["value"] for row in rows)
    shown = []
    for row in rows:
        nodes = [each.strip() for each in row["nodes"].split(",")]
        if len(nodes) == 2:
            word = "odd" if row["value"] < _ODD * middle else "as the others"
            shown.append((f"{nodes[0]} ↔ {nodes[1]}", row["value"], word, row["runs"], row["run_id"], *nodes))
    shown.sort(key=lambda each: (each[2] != "odd", each[1]))
    odd = [each for each in shown if each[2] == "odd"]
    usual = [each[1] for each in shown if each[2] != "odd"]
    note = f"{counted(len(shown), 'pair')} of nodes, {rounded(min(usual))} to {rounded(max(usual))} GB/s." if usual else ""
    if odd:
        named_odd = ", ".join(f"{each[0]} {rounded(each[1])} GB/s" for each in odd[:3])
        named_odd += f" and {len(odd) - 3} more" if len(odd) > 3 else ""
        note = f"{named_odd}; the other {len(usual)} pairs {rounded(min(usual))} to {rounded(max(usual))}." if usual else f"{named_odd}."
    columns = (
        Column("pair", link="/runs/{run_id:path}"), Column("value", "bus bandwidth", kind="number", unit="GB/s"), Column("word", "is", kind="state"),
        Column("runs", kind="number"), *(Column(name, is_hidden=True) for name in ("run_id", "one", "other")),
    )
    of = " · ".join(filter(None, (chosen["test"], chosen["cluster"])))
    title = f"Bus bandwidth of each pair of nodes, {of}"
    chart = Chart("matrix", "one", "other", title, value="value", state="word", hatched=("odd",), link="/runs/{run_id:path}")
    drawn = chart if len({name for each in shown for name in each[5:]}) <= _MOST_NODES else None
    return Table("pairs", columns, tuple(shown), "Fabric", note, chart=drawn, listed=_MOST, is_folded=True)


def _training(found: Reader) -> Iterator[Table]:
    """The last training runs that are not submissions, which have a section of their own."""
    runs = found.role(RUNS)
    if runs is None or not {"run_id", "family", "started_at"} <= runs.columns or "run_id" not in found.columns(_TRAINING):
        return
    rows = found.rows(
        f"select run_id, started_at from {runs.sql} where family <> 'mlperf_training' and run_id in (select run_id from {_TRAINING})"
        " order by started_at desc nulls last, run_id"
    )
    if not rows:
        return
    ids = [row["run_id"] for row in rows[:_MOST]]
    names, results = run_names(found, runs, ids), headlines(found, ids, 2)
    columns = (
        Column("name", "model · GPU", link="/runs/{run_id:path}", below="run_id"), Column("result"), Column("started_at", "when", kind="moment"),
        Column("run_id", is_hidden=True),
    )
    shown = tuple(
        (named(names, each["run_id"]), SEPARATOR.join(map(str, results.get(each["run_id"], []))), each["started_at"], each["run_id"])
        for each in rows[:_MOST]
    )
    yield Table("training", columns, shown, "Training", total=len(rows), more="/runs")


def _indicators(found: Reader) -> Iterator[Table]:
    """The results of the indicators that ran last, of each the first few; of alike ones, what they differ in."""
    table = found.role(MEASUREMENTS)
    needed = {"indicator", "result_key", "run_count", "median", "interval_low", "interval_high", "last_run_at", "number_ids", *_APART}
    if table is None or not {"metric", "unit"} <= table.columns or not needed <= found.columns(_INDICATORS):
        return
    order = f"last_run_at desc nulls last, regexp_matches(result_key, '{EXTREMES}'), run_count desc, result_key, number"
    alike = "over (partition by indicator, result_key)"
    apart = ", ".join(f"if(min({name}) {alike} <> max({name}) {alike}, {name}, null) as {name}" for name in _APART)
    rows = found.rows(
        f"with unit as (select metric, min(unit) as unit from {table.sql} group by metric having count(distinct unit) = 1)"
        " select indicator, result_key, median, (interval_high - interval_low) / 2 as half, unit.unit, run_count, last_run_at,"
        " number_ids['median'] as number, max(last_run_at) over (partition by indicator) as last, count(*) over () as total,"
        f" {apart} from {_INDICATORS} as result left join unit on unit.metric = result.result_key where median is not null"
        f" qualify row_number() over (partition by indicator order by {order}) <= {_MOST_RESULTS}"
        f" order by last desc nulls last, indicator, {order} limit {_MOST}"
    )
    if not rows:
        return
    columns = (
        Column("indicator", link="/results/indicator_results?where=indicator={indicator}"), Column("called", "result", below="apart"),
        Column("median", kind="number", half="half", link="/numbers/{number}"), Column("unit"), Column("run_count", "runs", kind="number"),
        Column("last_run_at", "last run", kind="moment"), *(Column(name, is_hidden=True) for name in ("half", "number", "result_key", "apart")),
    )
    for row in rows:
        row["called"], _, row["unit"] = found.metric_names.of(row["result_key"], row["unit"])
        row["apart"] = SEPARATOR.join(f"{word}{short(row[name])}" for name, word in _APART.items() if row[name]) or None
        row["half"] = row["half"] or None  # of equal runs: all digits are known
    shown = tuple(tuple(row[column.name] for column in columns) for row in rows)
    more = address("/results/{query}", query="indicator_results")
    yield Table("indicators", columns, shown, "Indicators", total=rows[0]["total"], more=more)


def _nodes(found: Reader) -> Iterator[Table]:
    if not {"run_id", "node_name", "cpu_avg_utilization_pct", "max_t_mem_percent"} <= found.columns(_NODES):
        return
    rows = found.rows(
        "select coalesce(node_name, 'not named') as node, count(*) as runs, median(cpu_avg_utilization_pct) as cpu, max(max_t_mem_percent) as memory,"
        f" min(run_id) as run_id from {_NODES} group by node order by runs desc, node"
    )
    if not rows:
        return
    columns = (
        Column("node", link="/runs/{run_id:path}"), Column("runs", kind="number"), Column("cpu", "CPU used, median of runs", kind="number", unit="%"),
        Column("memory", "memory used, most", kind="number", unit="%"), Column("run_id", is_hidden=True),
    )
    more = address("/results/{query}", query="node_performance")
    yield Table("nodes", columns, tuple(tuple(row.values()) for row in rows[:_MOST]), "Nodes", total=len(rows), more=more)


def _campaigns(found: Reader) -> Iterator[Table]:
    """The last campaigns of stacks, with how many of their runs have a result."""
    if not found.columns("main.campaign_cell_fact"):
        return
    rows = found.rows(
        "select campaign.name, campaign.campaign_key, count(distinct cell.cell) as cells, count(*) filter (where cell.status = 'succeeded') as runs,"
        " count(*) as planned, campaign.started_at from main.campaign_cell_fact as cell join main.campaign_dim as campaign"
        " on campaign.campaign_key = cell.campaign_key group by all order by campaign.started_at desc nulls last, campaign.campaign_key"
    )
    columns = (
        Column("name", "campaign", link="/campaigns?campaign={campaign_key}"), Column("campaign_key", is_hidden=True), Column("cells", kind="number"),
        Column("runs", "runs with a result", kind="number"), Column("planned", "of", kind="number"), Column("started_at", "start", kind="moment"),
    )
    if rows:
        yield Table("campaigns", columns, tuple(tuple(row.values()) for row in rows[:_MOST]), "Campaigns", total=len(rows), more="/campaigns")
