"""The telemetry of a run: each metric over the whole run by node, GPU or server, and the windows of one of them over time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from warehouse.analysis.metric_names import Named
from warehouse.surfaces.parts import Chart, Column, Fact, Facts, Part, Table, without_empty
from warehouse.surfaces.view import address
from warehouse.surfaces.views.facts.reading import Reader

TABLE = "main.telemetry_slice_fact"
_FILE = "/evidence/{artifact_manifest_digest}/files/{raw_path:path}"
_MOST = 400  # rows of a table
_LISTED, _UNFOLDED = 30, 12
_COLUMNS = frozenset({"run_id", "metric", "window_kind", "window_start", "value_mean", "value_delta", "raw_path", "is_supported", "join_method"})
# The mean of a gauge, the increase of a counter, the last value of a state.
VALUE = "coalesce(value_mean, value_delta, value_last)"


def has_telemetry(found: Reader) -> bool:
    """Whether the build has the table, with the columns that pages need."""
    return found.columns(TABLE) >= _COLUMNS


def telemetry_parts(found: Reader, run_id: str, metric: str | None) -> Iterator[Part]:
    """What was sampled while the run ran; nothing where nothing was."""
    if not has_telemetry(found):
        return
    metrics: list[str] = [row["metric"] for row in found.rows(f"select distinct metric from {TABLE} where run_id = ? order by metric", [run_id])]
    if not metrics:
        return
    yield _whole_run(found, run_id)
    over_time: dict[str, Named] = {row["metric"]: found.metric_names.of(row["metric"], row["unit"]) for row in found.rows(
        f"select metric, min(unit) as unit from {TABLE} where run_id = ? and window_kind = 'interval' group by metric order by metric", [run_id]
    )}
    names = Counter(name for name, _, _ in over_time.values())
    of_others = {name: address("/runs/{run_id:path}", run_id=run_id, metric=name) + "#windows" for name in over_time if name != metric}
    if over_time:
        links = tuple(
            Fact(metric, unit if names[name] > 1 else None, link=of_others.get(metric), title=name) for metric, (name, _, unit) in over_time.items()
        )
        yield Facts("metrics", links, "Over time", "links")
    if metric in over_time:
        yield _windows(found, run_id, metric)


def _whole_run(found: Reader, run_id: str) -> Table:
    rows = found.rows(
        f"select metric, coalesce(scope_name, node_name, scope) as place, {VALUE} as value, unit, value_p95, value_max, coverage_pct,"
        " case when is_ambiguous then 'ambiguous' when is_supported then 'supported' when not is_supported then 'not supported' end as support,"
        " coalesce(join_method, 'own evidence') as join_method, clock, raw_path, artifact_manifest_digest"
        f" from {TABLE} where run_id = ? and window_kind = 'run' order by value is null, metric, place limit {_MOST}", [run_id],
    )
    columns = (
        Column("called", "what"), Column("place", "where"), Column("value", kind="number"), Column("unit"), Column("value_p95", "p95", kind="number"),
        Column("value_max", "greatest", kind="number"), Column("coverage_pct", "covered", kind="number", unit="%"),
        Column("support", kind="state", below="join_method"),
        Column("join_method", is_hidden=True), Column("clock", is_hidden=True), Column("raw_path", "file", link=_FILE),
        Column("artifact_manifest_digest", is_hidden=True), Column("metric", is_hidden=True),
    )
    for row in rows:
        row["called"], _, row["unit"] = found.metric_names.of(row["metric"], row["unit"])
    note = (
        "Of a gauge the mean over time, of a counter the increase, of a state the last value. Ambiguous: another run was at the same place. Below it:"
        " what joined them."
    )
    shown = _shown(columns, rows)
    return Table(
        "telemetry", without_empty(columns, shown), shown, "Telemetry of the run", note, listed=_LISTED, is_folded=len(rows) > _UNFOLDED,
        empty="no metric covers the run as a whole",
    )


def _windows(found: Reader, run_id: str, metric: str) -> Table:
    rows = found.rows(
        f"select window_start, window_name, coalesce(scope_name, node_name, scope) as place, {VALUE} as value, unit, is_supported, raw_path,"
        f" artifact_manifest_digest from {TABLE} where run_id = ? and metric = ? and window_kind = 'interval'"
        f" order by window_start, place limit {_MOST * 10}", [run_id, metric],
    )
    called, _, unit = found.metric_names.of(metric, next((row["unit"] for row in rows), None))
    columns = (
        Column("window_start", "from", kind="moment"), Column("window_name", "window"), Column("place", "where"),
        Column("value", called, kind="number"), Column("unit"), Column("is_supported", "covered"),
        Column("raw_path", "file", link=_FILE), Column("artifact_manifest_digest", is_hidden=True),
    )
    chart = Chart("trend", "window_start", "value", f"{called} over the run, by where it was measured", y_unit=unit, line="place", group="place")
    return Table("windows", columns, _shown(columns, rows), f"Windows of {called}", listed=_LISTED, is_folded=True, chart=chart)


def _shown(columns: tuple[Column, ...], rows: list[dict[str, Any]]) -> tuple[tuple[Any, ...], ...]:
    return tuple(tuple(row[column.name] for column in columns) for row in rows)
