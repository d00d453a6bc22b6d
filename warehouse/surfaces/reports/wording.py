"""Words of reports: what kind of figure a unit makes, which way a change of it goes, and what that means for a user."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from warehouse.analysis.metric_names import MetricNames, metric_names
from warehouse.analysis.names import NAMED, SEPARATOR, name_of
from warehouse.claims.gate.judgement import interval_text
from warehouse.claims.gate.policy import PUBLISHABLE
from warehouse.claims.gate.worth import Worth
from warehouse.errors import counted
from warehouse.project.project import standard_folder
from warehouse.statistics.interval import Interval
from warehouse.surfaces.reports.numbers_shown import Number
from warehouse.surfaces.reports.withholding import names_ours
from warehouse.surfaces.views.analysis.wording import percent
from warehouse.transform.export.docs.published_pages import is_digest, shown_value

LATENCY, THROUGHPUT, RELIABILITY, COST, OTHER = "latency", "throughput", "reliability", "cost", "other"
AREAS = (LATENCY, THROUGHPUT, RELIABILITY, COST, OTHER)
_TIMES = frozenset({"h", "min", "s", "ms", "us", "µs", "ns"})
# Energy, but not power: a machine that draws more and is done sooner may cost less.
_COSTS = re.compile(r"(USD|\$|EUR|J|mJ|kJ|kWh|Wh|millijoules)(/.*)?")
_RELIABLE = frozenset(
    {"error", "errors", "failed", "failures", "failure", "success", "goodput", "accuracy", "timeouts", "availability", "attainment"}
)
# For lower and for higher values.
_WAYS: Mapping[str, tuple[str, str]] = {
    LATENCY: ("faster", "slower"), THROUGHPUT: ("slower", "faster"), COST: ("cheaper", "dearer"), RELIABILITY: ("lower", "higher"),
    OTHER: ("lower", "higher"),
}
UNPUBLISHABLE = "not publishable"
_LONGEST = 60
_MOST_SETTINGS = 6


def area(metric: str, unit: str | None) -> str:
    """What a figure says something about: reliability by the words of its name, else by its unit; `other` where neither says it."""
    if _RELIABLE & set(re.split(r"[^a-z]+", metric.lower())):
        return RELIABILITY
    if unit is None:
        return OTHER
    unit = named[1] if (named := re.search(r"\((\S+)\)$", unit)) else unit  # Latency (ms)
    if _COSTS.fullmatch(unit):
        return COST
    return LATENCY if unit in _TIMES else THROUGHPUT if unit.endswith("/s") else OTHER


def way(of: str, ratio: float) -> str:
    """The direction of a change in words."""
    return "unchanged" if ratio == 1 else _WAYS[of][ratio > 1]


def impact(of: str, ratio: float) -> str:
    """What a change of this size means for who uses it."""
    size = percent(ratio)
    said = {
        LATENCY: f"users wait {'longer' if ratio > 1 else 'shorter'} ({size})",
        THROUGHPUT: f"{'more' if ratio > 1 else 'less'} is done per second ({size})",
        COST: f"the same work costs {'more' if ratio > 1 else 'less'} ({size})",
    }
    return said.get(of, f"{size}; whether users notice depends on what this figure counts")


def title(number: Number, varying: Mapping[str, Any] | None = None, shown: Callable[[str], str] = str) -> str:
    """The row of a number, by the values of its grain. `shown` is applied to each value before it is shortened."""
    grain = number.grain if varying is None else varying
    return " · ".join(_middle(shown(shown_value(value))) for value in grain.values() if value is not None) or "the only row"


@cache
def _standard_names() -> MetricNames:
    """The names of metrics that this version of wh defines. Not those of a build: a report is made again from its publications alone."""
    import duckdb

    sql = (standard_folder() / "models" / "dims" / "metric_definition_dim.sql").read_text(encoding="utf-8")
    with duckdb.connect() as con:
        con.execute(f"create table metric_definition_dim as {sql}")
        return metric_names(con)


def measure(column: str, unit: str | None) -> str:
    """What people call the metric in a column: *TTFT, median*; a column that no definition names, in its own words."""
    name = _standard_names().of(column, unit)[0]
    return name.replace("_", " ") if name == column else name


def plain_title(number: Number, grain: Mapping[str, Any], shown: Callable[[str], str] = str) -> str:
    """The row of a number for who knows nothing of our machines and runs: by the grain without what names these and without digests, and in
    place of that by what else the row says in words."""
    said = {name: value for name, value in grain.items() if value is not None and not names_ours(name) and not is_digest(value)}
    stated = {name: shown(value) for name, value in number.settings.items() if not names_ours(name)}
    name = name_of({**stated, **{name: shown(value) if isinstance(value, str) else value for name, value in said.items()}})
    if name.subject and (name.gpu or name.engine or name.load):  # and what of the grain it does not say
        rest = {column: value for column, value in said.items() if column not in NAMED}
        return SEPARATOR.join(filter(None, (str(name), title(number, rest, shown) if rest else "")))
    if len(said) < len(grain):
        others = [(name, value) for name, value in number.settings.items() if not names_ours(name) and not name.endswith("_unit")]
        said |= dict(others[:_MOST_SETTINGS])
    return title(number, said, shown)


def _middle(text: str) -> str:
    """A long text without its middle: run ids differ at the end."""
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST // 2 - 1]}…{text[-_LONGEST // 2 :]}"


def interval(worth: Worth) -> str:
    return interval_text(worth.interval) if worth.interval else "none: no statistic is claimed"


def half_of(worth: Worth) -> float | None:
    """Half the width of the interval of a number, which says how many of its digits are known."""
    return (worth.interval.high - worth.interval.low) / 2 if isinstance(worth.interval, Interval) else None


def unit_of(number: Number) -> str:
    return number.unit or "not declared"


def n_of(worth: Worth) -> str:
    return ", ".join(counted(count, level) for level, count in worth.n.items()) if worth.n else "not counted"


def standing(worth: Worth) -> str:
    """Whether a number may be quoted."""
    return PUBLISHABLE if worth.verdict == PUBLISHABLE else UNPUBLISHABLE


def are_apart(one: Worth, other: Worth) -> bool | None:
    """Whether the intervals of two numbers have nothing in common; None where one has none."""
    if isinstance(one.interval, Interval) and isinstance(other.interval, Interval):
        return one.interval.low > other.interval.high or other.interval.low > one.interval.high
    return None
