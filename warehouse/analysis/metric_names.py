"""What people call metrics: *TTFT, median* in ms for `ttft_p50_ms`, from the table of definitions, else the metric's own words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import duckdb

_DEFINITIONS = "main.metric_definition_dim", {"metric", "version", "display_name", "display_unit", "definition"}
_SUFFIXES = "staging.metric_suffix", {"suffix", "unit"}
_ABBREVIATIONS = frozenset({"cpu", "gpu", "hbm", "kv", "nic", "pcie", "sm"})
_UNITS = {"us": "µs", "usecs": "µs"}
Named = tuple[str, str, str | None]  # the metric, its family (the metric without its statistic), and its unit


@dataclass(frozen=True)
class MetricNames:
    """The defined metrics of a build: pattern, name, unit and definition; and the endings of names that state a unit, with the unit."""

    defined: tuple[tuple[str, str, str | None, str], ...] = ()
    suffixes: Mapping[str, str | None] = field(default_factory=dict)
    _known: dict[tuple[str, str | None], Named] = field(default_factory=dict)

    def of(self, metric: str, unit: str | None) -> Named:
        """The name, family and unit of a metric that is measured in a unit; without one, in that which its name states."""
        if (metric, unit) not in self._known:
            self._known[metric, unit] = self._named(metric, unit)
        return self._known[metric, unit]

    def definition(self, metric: str) -> str | None:
        """What the metric means; None where no definition names it."""
        found = self._matching(metric)
        return found[3] if found else None

    def is_defined(self, metric: str) -> bool:
        return self._matching(metric) is not None

    def _matching(self, metric: str) -> tuple[str, str, str | None, str] | None:
        """The longest pattern is the closest."""
        return max((each for each in self.defined if fnmatchcase(metric, each[0])), key=lambda each: len(each[0]), default=None)

    def _named(self, metric: str, unit: str | None) -> Named:
        if matching := self._matching(metric):
            pattern, name, stated, _ = matching
            before, _, after = pattern.partition("*")
            name = name.replace("*", _statistic(metric[len(before) : len(metric) - len(after)]))
            return name, name.split(", ")[0], stated or unit
        ending = max((each for each in self.suffixes if metric.endswith(each)), key=len, default="")
        unit = unit or self.suffixes.get(ending)
        unit = _UNITS.get(unit or "", unit)
        if not self.suffixes or not re.fullmatch(r"[a-z][a-z0-9_]*", metric):
            return metric, metric, unit
        words = metric.removesuffix(ending).strip("_").split("_")
        statistics = [word for word in words if re.fullmatch(r"mean|avg|min|max|p\d+", word)]
        family = " ".join(word.upper() if word in _ABBREVIATIONS else word for word in words if word not in statistics)
        family = f"{family[:1].upper()}{family[1:]}" or metric
        return ", ".join([family, *map(_statistic, statistics)]), family, unit


def _statistic(word: str) -> str:
    return {"p50": "median", "avg": "mean"}.get(word, word.replace("_", " "))


def metric_names(con: "duckdb.DuckDBPyConnection") -> MetricNames:
    """The names that a build defines; none where it lacks the tables."""
    columns: Mapping[str, list[str]] = dict(con.execute(
        "select table_schema || '.' || table_name as name, list(column_name) from information_schema.columns"
        " where table_catalog = current_database() and list_contains(?, name) group by name", [[_DEFINITIONS[0], _SUFFIXES[0]]],
    ).fetchall())
    defined: list[tuple[str, str, str | None, str]] = []
    suffixes: dict[str, str | None] = {}
    table, needed = _DEFINITIONS
    if needed <= set(columns.get(table, ())):
        sql = f"select metric, display_name, display_unit, definition from {table} where display_name is not null order by version desc"
        defined = [(pattern, name, unit, text) for listed, name, unit, text in con.execute(sql).fetchall() for pattern in listed.split(", ")]
    if _SUFFIXES[1] <= set(columns.get(_SUFFIXES[0], ())):
        suffixes = dict(con.execute(f"select suffix, unit from {_SUFFIXES[0]} where suffix[1] = '_'").fetchall())
    return MetricNames(tuple(defined), suffixes)
