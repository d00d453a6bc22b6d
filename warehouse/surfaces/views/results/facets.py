"""Facets: the columns by which results are chosen, each with its values and how many rows have them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from warehouse.analysis.metric_names import MetricNames
from warehouse.analysis.names import engine_name, model_name
from warehouse.surfaces.parts import Fact, Facts
from warehouse.surfaces.views.facts.reading import Reader
from warehouse.surfaces.views.results.conditions import Condition, where_sql, with_value
from warehouse.transform.sql.duck import quote

_MOST, _MOST_VALUES = 8, 10
_LARGEST = 300  # values of a column that is a facet
_LONGEST = 34  # characters of a value
# The columns that people choose by, in the order in which they do; others follow if they are text.
_FIRST = (
    "model", "accelerator_family", "accelerator", "gpu_model", "accelerator_count", "framework", "framework_version", "precision", "benchmark",
    "scenario", "round", "division", "submitter", "test", "cluster", "node_count", "indicator", "component", "study", "input_length",
    "output_length", "load_kind", "slo", "status", "validity", "family",
)
_HEADINGS = {
    "accelerator_family": "GPU", "accelerator_count": "GPUs", "framework": "engine", "framework_version": "engine version", "node_count": "nodes",
    "nodes": "which nodes", "concurrency_point": "in flight", "request_rate_per_s": "requests sent", "run_count": "runs", "started_at": "when",
    "last_run_at": "last run", "result_key": "metric", "run_id": "run", "workload_point": "workload",
    "completed_count": "requests completed", "failed_count": "requests failed", "benchmark_case_id": "case", "accelerator": "GPU, as stated",
    "input_length": "in", "output_length": "out", "output_token_throughput_per_accelerator_per_s": "output per GPU",
    "total_token_throughput_per_accelerator_per_s": "input and output per GPU", "interactivity_p50_tokens_per_s": "speed of a user, median",
}
_UNIT = re.compile(r"(?<=[a-z0-9])_(?:[gmt]i?b_per_s|tokens_per_s|per_s|pct|usecs|[mun]?s|minutes|hours|bytes|usd|w|j|mj|mhz|c)$")
_SPELLINGS = ("accelerator", "gpu_model", "accelerator_name")  # of what one column may have under one name
METRICS = ("result_key", "metric")  # columns of rows that each hold one metric
_NEVER = ("run_id", "unit", "number_ids", "query_spec_digest", "server_flags", "status_reason")


def facet_columns(found: Reader, table: str, columns: Sequence[tuple[str, str]]) -> list[str]:
    """The columns of a table by which its rows can be told apart, and are few values."""
    types = dict(columns)
    spelled = _SPELLINGS if "accelerator_family" in types else ()
    offered = [name for name in _FIRST if name in types and name not in spelled]
    offered += [
        name for name, kind in columns
        if name not in (*offered, *_NEVER, *spelled) and kind in ("VARCHAR", "BOOLEAN") and not name.endswith(("_key", "_digest", "_sha256", "_ids"))
    ]
    if not offered:
        return []
    row = found.rows(f"select {', '.join(f'count(distinct {quote(name)}) as {quote(name)}' for name in offered)} from {table}")[0]
    return [name for name in offered if 1 < row[name] <= _LARGEST][:_MOST]


def facets(
    found: Reader, table: str, names: Iterable[str], conditions: Sequence[Condition], link: Callable[[str | None], str]
) -> Iterator[Facts]:
    """Each facet counts the rows that the other conditions leave. `link` is the address of the results with a text of conditions."""
    for name in names:
        others = [each for each in conditions if each.name != name]
        where, values = where_sql(others)
        rows = found.rows(
            f"select {quote(name)}::varchar as value, count(*) as rows from {table} where {where} group by all order by rows desc, value", values
        )
        chosen = next((each for each in conditions if each.name == name and not each.is_negated), None)
        items = [
            Fact(
                name, f"{row['rows']:,}", title=_words(name, row["value"]),
                link=None if chosen and chosen.value == (row["value"] or "") else link(with_value(conditions, name, row["value"] or "")),
            )
            for row in rows[:_MOST_VALUES]
        ]
        if chosen and all(each.link for each in items):  # one that is not among the first
            items.append(Fact(name, None, title=_words(name, chosen.value or None)))
        if chosen:
            items.append(Fact(name, None, title="any", link=link(with_value(conditions, name, None))))
        more = len(rows) - _MOST_VALUES
        if more > 0:
            items.append(Fact(name, f"{more} more", title="and"))
        shown = [each.title for each in items if each.value is not None]
        if (len(rows) > 1 and len(set(shown)) == len(shown)) or chosen:  # values of one beginning cannot be told apart here
            yield Facts(f"facet-{name}", tuple(items), heading(name), "links")


def heading(name: str, unit: str | None = None) -> str:
    """A column as people name it, where no definition of a metric does: without the unit that stands beside it."""
    plain = _UNIT.sub("", name) if unit else name
    return _HEADINGS.get(name) or plain.replace("_", " ")


def named_column(names: MetricNames, name: str, unit: str | None) -> tuple[str, str | None]:
    """What people call a column, and its unit: as the metric is defined, else by the column's own words."""
    if not names.is_defined(name):
        return heading(name, unit), unit
    called, _, unit = names.of(name, unit)
    return called, unit


def metric_of_row(grain: Mapping[str, Any]) -> str | None:
    """The metric that a row names, whose values are in columns such as `median`; None where the columns are the metrics."""
    return next((str(grain[name]) for name in METRICS if grain.get(name) is not None), None)


def title(query: str) -> str:
    """The name of a query in words."""
    words = query.replace("_", " ").replace("mlperf", "MLPerf")
    return words[:1].upper() + words[1:]


def _words(name: str, value: Any) -> str:
    if value in (None, ""):
        return "not stated"
    text = model_name(value) if name == "model" else engine_name(value, None) or "" if name == "framework" else str(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
