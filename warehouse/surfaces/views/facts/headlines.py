"""The figures of a run that people ask for first: a few metrics of what it measured, with their unit, over its points."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import isfinite

from warehouse.surfaces.figures import rounded
from warehouse.surfaces.views.facts.reading import Reader
from warehouse.transform.project.model import MEASUREMENTS

# The first of these that a run has are shown; of other metrics the first by name that are not extremes.
_FIRST = (
    "output_token_throughput_per_s", "ttft_p50_ms", "ttft_p99_ms", "tpot_p50_ms", "itl_p50_ms", "e2e_p50_ms", "time_to_train_s", "mfu_pct",
    "step_time_p50_s", "samples_per_s", "tokens_per_s", "avg_bus_bandwidth_gb_per_s", "bus_bandwidth_gb_per_s", "latency_p50_us",
    "request_throughput_per_s", "sample_throughput_per_s", "early_stopping_latency_ms",
)
EXTREMES = "(^|_)(min|max|std|stddev)(_|$)"  # say less than what they are the extremes of
_ORDER = f"coalesce(list_position($first, metric), {len(_FIRST) + 1}), regexp_matches(metric, '{EXTREMES}'), metric"
_NEEDED = {"run_id", "metric", "value", "unit", "series_key"}
_MOST = 3


@dataclass(frozen=True)
class Headline:
    """A metric of one run: its name and unit for people, and the least and greatest value over the run's points; one value has its series.
    `others` is the range of the same series in other runs, and how many these are; None where there is none."""

    metric: str
    name: str
    unit: str | None
    low: float
    high: float
    series_key: str | None
    others: tuple[float, float, int] | None = None

    @property
    def words(self) -> str:
        """Its value, or the range of its values."""
        return rounded(self.low) if self.low == self.high else f"{rounded(self.low)} to {rounded(self.high)}"

    def __str__(self) -> str:
        return f"{self.name} {self.words}{f' {self.unit}' if self.unit else ''}"


def headlines(found: Reader, run_ids: Iterable[str], most: int = _MOST) -> dict[str, list[Headline]]:
    """The headlines of runs by their ids; nothing where the build has no table of measurements."""
    table = found.role(MEASUREMENTS)
    if table is None or not _NEEDED <= table.columns:
        return {}
    rows = found.rows(
        "select run_id, metric, any_value(unit) as unit, min(value) as low, max(value) as high, min(series_key) as series_key,"
        f" count(distinct series_key) as series from {table.sql} where list_contains($ids, run_id) and isfinite(value) group by run_id, metric"
        f" qualify row_number() over (partition by run_id order by {_ORDER}) <= {most} order by {_ORDER}",
        {"ids": list(run_ids), "first": list(_FIRST)},
    )
    told: dict[str, list[Headline]] = {}
    for row in rows:
        name, _, unit = found.metric_names.of(row["metric"], row["unit"])
        key = row["series_key"] if row["series"] == 1 else None
        told.setdefault(row["run_id"], []).append(Headline(row["metric"], name, unit, row["low"], row["high"], key))
    return told


def beside_others(found: Reader, run_id: str, most: int) -> list[Headline]:
    """The headlines of one run, each with the range that other runs of its series have."""
    told = headlines(found, [run_id], most).get(run_id, [])
    keys = [each.series_key for each in told if each.series_key]
    table = found.role(MEASUREMENTS)
    if table is None or not keys:
        return told
    others = {row["series_key"]: row for row in found.rows(
        f"select series_key, min(value) as low, max(value) as high, count(distinct run_id) as runs from {table.sql}"
        " where list_contains(?, series_key) and run_id <> ? and isfinite(value) group by series_key", [keys, run_id],
    )}
    return [
        replace(each, others=(others[each.series_key]["low"], others[each.series_key]["high"], others[each.series_key]["runs"]))
        if each.series_key in others and isfinite(others[each.series_key]["low"]) else each for each in told
    ]
