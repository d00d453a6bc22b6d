"""Serving on the home page: the best measured points of each GPU, and a table of configurations with their headline figures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from warehouse.analysis.events.event import Event
from warehouse.analysis.names import SEPARATOR, load_words, model_name, name_of, tokens
from warehouse.errors import counted
from warehouse.statistics.frontier import non_dominated
from warehouse.statistics.interval import Interval
from warehouse.surfaces.parts import Chart, Column, Part, Table
from warehouse.surfaces.view import address
from warehouse.surfaces.views.analysis.wording import direction
from warehouse.surfaces.views.facts.reading import Reader
from warehouse.transform.project.model import LOAD_POINTS, RUNS

_MOST_PANELS, _MOST_POINTS, _MOST_ROWS = 3, 60, 12
_FEWEST = 3  # points of a panel; runs of a trend
_MOST_RUNS = 60  # of a trend
_X, _Y = "interactivity_p50_tokens_per_s", "output_token_throughput_per_accelerator_per_s"
_NEEDED = {
    "run_id", "curve_key", "load_kind", "load", "status", "copy_of", "model", "framework", "framework_version", "accelerator", "accelerator_count",
    "input_length", "output_length", "precision", "output_token_throughput_per_s", "ttft_p99_ms", "cost_per_million_output_tokens_usd", "started_at",
    _X, _Y,
}
_HARDWARE = "main.hardware_topology_dim"
_POINTS = "rollup.serving_points"


def serving_parts(found: Reader, events: Sequence[Event]) -> Iterator[Part]:
    """Nothing where the warehouse has no load points."""
    table = found.role(LOAD_POINTS)
    if table is None or not _NEEDED <= table.columns:
        return
    rows = found.rows(_sql(found, table.sql), {"most": _MOST_RUNS})
    points = [{**row, "name": name_of({**row, "load": None, "load_kind": None, "input_length": None})} for row in rows]
    if not points:
        return
    if drawn := list(_drawn(points)):
        yield _frontiers(drawn)
    yield replace(_configurations(found, points, events), title="" if drawn else "Serving")


def _sql(found: Reader, table: str) -> str:
    """The load points, each the mean of its runs, with the values of the runs in the order of time."""
    runs, join, family = found.role(RUNS), "", "null"
    if runs and "hardware_topology_key" in runs.columns and {"hardware_topology_key", "accelerator_family"} <= found.columns(_HARDWARE):
        join = f"left join {runs.sql} as run on run.run_id = p.run_id left join {_HARDWARE} as h using (hardware_topology_key)"
        family = "h.accelerator_family"
    ids, number = "", "null"
    if {"curve_key", "load_kind", "load", "number_ids", _Y} <= found.columns(_POINTS):
        alike = " and ".join(f"n.{name} is not distinct from p.{name}" for name in ("curve_key", "load_kind", "load"))
        ids = f"left join {_POINTS} as n on {alike}"
        number = f"n.number_ids.{_Y}"
    return (
        "select p.curve_key, p.load_kind, p.load, any_value(p.model) as model, any_value(p.framework) as framework,"
        f" any_value(p.framework_version) as framework_version, any_value(p.accelerator) as accelerator, any_value({family}) as accelerator_family,"
        " any_value(p.accelerator_count) as accelerator_count, any_value(p.precision) as precision, any_value(p.input_length) as input_length,"
        f" any_value(p.output_length) as output_length, avg(p.{_X}) as x, avg(p.{_Y}) as y, avg(p.output_token_throughput_per_s) as throughput,"
        " avg(p.ttft_p99_ms) as ttft_p99_ms, avg(p.cost_per_million_output_tokens_usd) as cost, count(distinct p.run_id) as runs,"
        " max(p.started_at) as last, arg_max(p.run_id, coalesce(p.started_at, timestamptz '1970-01-01')) as run_id,"
        f" any_value({number}) as number_id,"
        f" list(p.{_Y} order by p.started_at, p.run_id)[-$most:] as trend from {table} as p {join} {ids}"
        " where p.status in ('succeeded', 'unknown') and p.copy_of is null and p.output_token_throughput_per_s is not null"
        " group by p.curve_key, p.load_kind, p.load order by p.curve_key, p.load_kind, p.load"
    )


def _drawn(points: list[dict[str, Any]]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Of each model the scope with the most points, of the models with the most; only points that no other of their GPU beats."""
    scopes: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for point in points:
        if point["x"] is not None and point["y"] is not None and point["model"]:
            scopes.setdefault((point["model"], point["precision"], point["input_length"], point["output_length"]), []).append(point)
    largest: dict[str, tuple[Any, ...]] = {}
    for scope, of_scope in sorted(scopes.items(), key=lambda each: (-len(each[1]), str(each[0]))):
        if len(of_scope) >= _FEWEST:
            largest.setdefault(scope[0], scope)
    for scope in list(largest.values())[:_MOST_PANELS]:
        by_gpu: dict[str, list[dict[str, Any]]] = {}
        for point in scopes[scope]:
            by_gpu.setdefault(SEPARATOR.join(filter(None, (point["name"].gpu, point["name"].engine))) or "not stated", []).append(point)
        best = []
        for gpu, of_gpu in sorted(by_gpu.items()):
            on = non_dominated([[each["x"], each["y"]] for each in of_gpu], ("higher", "higher"))
            best += [{**each, "gpu": gpu} for each, is_on in zip(of_gpu, on, strict=True) if is_on]
        lengths = f"{tokens(scope[2])} in / {tokens(scope[3])} out" if scope[2] is not None and scope[3] is not None else None
        yield SEPARATOR.join(filter(None, (model_name(scope[0]), scope[1], lengths))), best[:_MOST_POINTS]


def _frontiers(drawn: Sequence[tuple[str, list[dict[str, Any]]]]) -> Table:
    columns = (
        Column("scope", "model"), Column("gpu", "GPU · engine"), Column("load"), Column("x", "tokens/s a user", kind="number"),
        Column("y", "tokens/s a GPU", kind="number", link="/runs/{run_id:path}"), Column("runs", kind="number"), Column("is_on", is_hidden=True),
        Column("run_id", is_hidden=True),
    )
    rows = tuple(
        (
            scope, each["gpu"], load_words({"load_kind": each["load_kind"], "load": each["load"]}), each["x"], each["y"], each["runs"], True,
            each["run_id"],
        )
        for scope, points in drawn for each in points
    )
    chart = Chart(
        "steps", "x", "y", group="gpu", on_line="is_on", link="/runs/{run_id:path}", better="higher", facet="scope", line="gpu", is_own=True,
    )
    note = "Output tokens a second and GPU against tokens a second and user: the measured points of each GPU that no other of its points beats."
    return Table("frontiers", columns, rows, "Serving", note, chart=chart, is_folded=True)


def _configurations(found: Reader, points: list[dict[str, Any]], events: Sequence[Event]) -> Table:
    """One row a model, GPU and engine: its point with the most output tokens a second and GPU, or a second where GPUs are not stated."""
    best: dict[str, dict[str, Any]] = {}
    counts: dict[str, int] = {}
    for point in points:
        name = str(point["name"])
        counts[name] = counts.get(name, 0) + 1
        if name not in best or _rate(point) > _rate(best[name]):
            best[name] = point
    columns = (
        Column("name", "model · GPU · engine", link="/results/serving_results?where={where}"),
        Column("y", "best rate", kind="number", unit="tokens/s a GPU", link="/numbers/{number_id}", half="half"), Column("half", is_hidden=True),
        Column("load", "at"),
        Column("x", "speed", kind="number", unit="tokens/s a user"), Column("ttft_p99_ms", "TTFT, p99", kind="number", unit="ms"),
        Column("cost", "output", kind="number", unit="$ a million tokens"), Column("trend", "runs of it", kind="spark", is_minor=True),
        Column("worth", kind="state"), Column("last", "last run", kind="moment", link="/runs/{run_id:path}", is_minor=True),
        *(Column(name, is_hidden=True) for name in ("number_id", "run_id", "where", "points")),
    )
    moved = _moved(events)
    ordered = sorted(best.items(), key=lambda each: (each[1]["y"] is None, -counts[each[0]], each[0]))
    halves = _halves(found, [each for _, each in ordered[:_MOST_ROWS]])
    rows = tuple(
        (
            name, each["y"], halves.get((each["curve_key"], each["load_kind"], each["load"])), load_words(each), each["x"],
            each["ttft_p99_ms"], each["cost"], _trend(each["trend"]),
            moved.get((each["name"].subject, each["name"].gpu)) or counted(each["runs"], "run"), each["last"], each["number_id"], each["run_id"],
            _where(each), counts[name],
        )
        for name, each in ordered[:_MOST_ROWS]
    )
    note = "Of each configuration the point with the most output tokens a second and GPU."
    more = address("/results/{query}", query="serving_results") if "run_id" in found.columns("rollup.serving_results") else None
    without = tuple(column for place, column in enumerate(columns) if column.is_hidden or any(row[place] is not None for row in rows))
    kept = [columns.index(column) for column in without]
    return Table(
        "configurations", without, tuple(tuple(row[place] for place in kept) for row in rows), "", note, total=len(best), more=more,
    )


def _halves(found: Reader, points: Sequence[dict[str, Any]]) -> dict[tuple[Any, ...], float]:
    """Half the width of the interval of each point's rate, where its runs, or their sessions, support one: by curve and load."""
    from warehouse.statistics.means import mean_interval

    table = found.role(LOAD_POINTS)
    assert table
    session = "session" if "session" in table.columns else "null"
    rows = found.rows(
        f"select curve_key, load_kind, load, list(y order by run_id) as of_runs, list(session order by run_id) as sessions from"
        f" (select curve_key, load_kind, load, run_id, avg({_Y}) as y, any_value({session})::varchar as session from {table.sql}"
        " where list_contains($curves, curve_key) and status in ('succeeded', 'unknown') and copy_of is null and isfinite(" + _Y + ")"
        " group by all) group by all", {"curves": [each["curve_key"] for each in points]},
    )
    halves = {}
    for row in rows:
        are_several = None not in row["sessions"] and len(set(row["sessions"])) > 1
        interval = mean_interval(row["of_runs"], sessions=row["sessions"] if are_several else None)
        if isinstance(interval, Interval) and interval.high > interval.low:
            halves[row["curve_key"], row["load_kind"], row["load"]] = (interval.high - interval.low) / 2
    return halves


def _rate(point: dict[str, Any]) -> tuple[bool, float]:
    return point["y"] is not None, float(point["y"] if point["y"] is not None else point["throughput"])


def _trend(values: list[float | None]) -> dict[str, Any] | None:
    return {"values": values} if sum(each is not None for each in values) >= _FEWEST else None


def _where(point: dict[str, Any]) -> str:
    """The conditions of the configuration's results, as `where` of the page of results reads them."""
    return ",".join(
        f"{name}={point[name]}" for name in ("model", "accelerator_family", "framework", "framework_version")
        if point[name] is not None and "," not in str(point[name])
    )


def _moved(events: Sequence[Event]) -> dict[tuple[str | None, str | None], str]:
    """What moved of which model and GPU, in words: slower since 12 Nov."""
    told: dict[tuple[str | None, str | None], str] = {}
    for event in events:
        at = event.clearest.first.started_at
        way = direction(event.outcome, event.headline.first.unit)
        if event.now == "still" and event.status == "confirmed" and at:
            for member in event.members:
                if member.label:
                    told.setdefault((member.label.subject, member.label.gpu), f"{way} since {at:%-d %b}")
    return told
