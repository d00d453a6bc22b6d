"""What people call a series: metric, model, GPU and load, as in *TTFT, median · Llama-3.3-70B · 8×H100 · 64 in flight*.

Names come from the metric's definition and from the dimensions of workload and hardware. A project without these tables has the metric's
column name, the case and the point.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any

from warehouse.analysis.measurements import Measured
from warehouse.analysis.metric_names import metric_names
from warehouse.analysis.names import gpu_name, model_name, tokens

# What a label needs of each dimension: its table, its key, the column of the measurements that has it, and its columns.
_DIMENSIONS = (
    ("main.workload_dim", "workload_spec_digest", "workload", ("model",)),
    ("main.hardware_topology_dim", "hardware_topology_key", "hardware", (
        "accelerator_family", "accelerator_name", "gpu_model", "gpu_count", "node_count", "cpu_model", "system_name")),
    ("main.cluster_region_dim", "cluster_region_key", "testbed", ("cluster",)),
)
_OWN = ("indicator", "metric", "point", "unit", "benchmark_case_id", "parameters", "workload", "hardware", "testbed")
_NEVER_NULL = ("indicator", "metric", "point")
_SEPARATOR = " · "
_SHORT = 8  # characters of a series key
_LENGTHS = re.compile(r"^isl(\d+)[/-]osl(\d+)(?= |$)")  # of requests in and out, as ingestors write a point


@dataclass(frozen=True)
class Label:
    """The parts of a name for people. `family` is the metric without its statistic: TTFT of *TTFT, median*. `subject` is the model, else the
    case. `apart` is what tells the series from others of the same name among those that were asked for."""

    metric: str
    family: str
    unit: str | None
    subject: str | None = None
    gpu: str | None = None
    load: str | None = None
    apart: str | None = None

    def __str__(self) -> str:
        return _SEPARATOR.join(filter(None, (self.metric, self.where)))

    @property
    def where(self) -> str:
        """What was measured, without the metric."""
        return _SEPARATOR.join(filter(None, (self.subject, self.gpu, self.load, self.apart)))


def labels(found: Measured, series_keys: Iterable[str] | None = None) -> dict[str, Label]:
    """The labels of series by their key, of all series if none are named, at the cost of one query."""
    columns = _columns(found)
    rows = _series(found, columns, series_keys)
    names = metric_names(found.con)
    plain = {key: _label(row, *names.of(row["metric"], row["unit"])) for key, row in rows.items()}
    return _told_apart(plain, rows)


def _columns(found: Measured) -> dict[str, set[str]]:
    """The columns of the tables that labels are made from, as far as the build has them."""
    wanted = [table for table, *_ in _DIMENSIONS]
    columns: dict[str, set[str]] = defaultdict(set)
    sql = (
        "select table_schema || '.' || table_name as name, column_name from information_schema.columns"
        " where table_catalog = current_database() and list_contains(?, name)"
    )
    for table, column in found.con.execute(sql, [wanted]).fetchall():
        columns[table].add(column)
    return columns


def _series(found: Measured, columns: Mapping[str, set[str]], series_keys: Iterable[str] | None) -> dict[str, dict[str, Any]]:
    joins, selected = [], [f"coalesce(m.{name}, '') as {name}" if name in _NEVER_NULL else f"m.{name}" for name in _OWN]
    for table, key, own, named in _DIMENSIONS:
        has = key in columns.get(table, ())
        selected += [f"{own}_dim.{name}" if has and name in columns[table] else f"null as {name}" for name in named]
        joins += [f"left join {table} as {own}_dim on {own}_dim.{key} = m.{own}"] if has else []
    where, asked = ("", []) if series_keys is None else ("where list_contains(?, series_key)", [list(dict.fromkeys(series_keys))])
    result = found.con.execute(
        f"with m as (select series_key, {', '.join(f'any_value({name}) as {name}' for name in _OWN)}"
        f" from {found.measurements.sql} {where} group by series_key) select m.series_key, {', '.join(selected)} from m {' '.join(joins)}",
        asked,
    )
    names = [column[0] for column in result.description or ()]
    return {row[0]: dict(zip(names, row, strict=True)) for row in result.fetchall()}


def _label(row: Mapping[str, Any], metric: str, family: str, unit: str | None) -> Label:
    gpu = row["accelerator_family"] or row["accelerator_name"] or row["gpu_model"]
    subject = model_name(row["model"]) if row["model"] else row["benchmark_case_id"]
    return Label(metric, family, unit, subject, gpu_name(gpu, row["gpu_count"]) if gpu else None, load_of(row))


def load_of(row: Mapping[str, Any]) -> str | None:
    """A point in words. Its parts are those that `mart.measurement` writes for each kind of fact."""
    point = row["point"]
    if row["indicator"] == "serving":
        rules: tuple[tuple[str, Callable[[str], str]], ...] = (
            ("concurrency", lambda value: f"{value} in flight"), ("rate", lambda value: f"{_plain(value)} requests/s"),
        )
        point = re.sub(r"^all(?= |$)", "", point)
    elif row["indicator"] == "training":
        rules = ("nodes", _counted("node")), ("accelerators", lambda value: "" if value == str(row["gpu_count"]) else _counted("accelerator")(value))
    else:
        rules = ("message", lambda value: f"{_bytes(value)} messages"), ("nodes", _counted("node")), ("ranks", _counted("rank"))
        if point == row["metric"] or point == model_name(row["model"] or ""):
            return None
    parts = []
    for word, write in reversed(rules):
        if match := re.search(rf"(?:^| ){word} (\d+(?:\.\d+)?(?:e[+-]?\d+)?)$", point):
            parts.append(write(match[1]))
            point = point[: match.start()]
    lengths = _LENGTHS.sub(lambda found: f"{tokens(int(found[1]))} in / {tokens(int(found[2]))} out", point.strip())
    return _SEPARATOR.join(filter(None, (lengths, *reversed(parts)))) or None


def _counted(noun: str) -> Callable[[str], str]:
    return lambda value: f"{value} {noun}{'' if value == '1' else 's'}"


def _plain(number: str) -> str:
    """A number in short; one that is too large for that as it is written."""
    return f"{float(number):g}" if isfinite(float(number)) else number


def _bytes(number: str) -> str:
    for power, unit in ((30, "GiB"), (20, "MiB"), (10, "KiB")):
        size = float(number) / (1 << power)
        if size >= 1 and size.is_integer():
            return f"{size:.0f} {unit}"
    return f"{number} B"


def _told_apart(plain: Mapping[str, Label], rows: Mapping[str, Mapping[str, Any]]) -> dict[str, Label]:
    """Labels that several series share, each with what is different there."""
    sharing: dict[str, list[str]] = defaultdict(list)
    for key, label in plain.items():
        sharing[str(label)].append(key)
    told = dict(plain)
    for keys in sharing.values():
        if len(keys) > 1:
            told |= {key: replace(plain[key], apart=part) for key, part in _apart({key: rows[key] for key in keys}).items()}
    return told


def _apart(rows: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    parts: dict[str, list[str]] = {key: [] for key in rows}
    facts = {key: {**row, **_parameters(row["parameters"])} for key, row in rows.items()}
    names = ["benchmark_case_id", "indicator", "accelerator_name", "node_count", "cpu_model", "system_name", "cluster"]
    names += sorted({name for key in rows for name in _parameters(rows[key]["parameters"])})
    names += ["hardware", "testbed", "workload"]
    for name in names:
        values = {key: facts[key].get(name) for key in rows}
        if len(set(values.values())) < 2 or len(set(map(tuple, parts.values()))) == len(parts):
            continue
        for key, value in values.items():
            parts[key].append(_fact(name, value))
    if len(set(map(tuple, parts.values()))) < len(parts):
        parts = {key: [*part, f"series {key[:_SHORT]}"] for key, part in parts.items()}
    return {key: ", ".join(part) for key, part in parts.items()}


def _fact(name: str, value: Any) -> str:
    if name in ("hardware", "testbed", "workload"):  # digests
        return f"{name} {str(value)[:_SHORT] if value else '(not stated)'}"
    if name in ("benchmark_case_id", "accelerator_name", "cpu_model", "system_name"):
        return str(value or f"no {name.replace('_', ' ')} stated")
    return f"{name.replace('_', ' ')} {value if value is not None else '(not stated)'}"


def _parameters(text: str | None) -> dict[str, str]:
    return dict(part.split("=", 1) for part in re.split(r", (?=[^,=]+=)", text or "") if "=" in part)
