"""Hot metrics as values: what a model of role `hot_metrics` exports, and how each metric is named.

Text columns are labels, every other column is a metric. Its name is `<model>_<column>` with the unit as Prometheus spells it: base units,
converted from the unit that the header declares and from nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from warehouse.errors import WarehouseError, did_you_mean
from warehouse.landing.declaration.hot_metrics import ALLOWED_LABELS, FORBIDDEN_LABELS
from warehouse.transform.project.model import HOT_METRICS, Model

ENGINE_PREFIX = "wh_warehouse_"  # of the metrics that `wh` computes itself
_NUMBER = re.compile(r"U?(?:TINY|SMALL|BIG|HUGE)?INT(?:EGER)?|FLOAT|DOUBLE|DECIMAL\(\d+,\d+\)|BOOLEAN")
_TIME = "TIMESTAMP WITH TIME ZONE"
_NAME = re.compile(r"[a-z][a-z0-9_]*")


@dataclass(frozen=True)
class _Unit:
    """A unit that a header may declare: how a column's name ends with it, the base unit in a metric's name, and value * times / over."""

    ending: str
    base: str
    times: int = 1
    over: int = 1


_UNITS: Mapping[str, _Unit] = {
    "ns": _Unit("ns", "seconds", over=10**9), "us": _Unit("us", "seconds", over=10**6), "ms": _Unit("ms", "seconds", over=10**3),
    "s": _Unit("s", "seconds"),
    "bytes": _Unit("bytes", "bytes"),
    "KiB": _Unit("kib", "bytes", 2**10), "MiB": _Unit("mib", "bytes", 2**20), "GiB": _Unit("gib", "bytes", 2**30),
    "kB": _Unit("kb", "bytes", 10**3), "MB": _Unit("mb", "bytes", 10**6), "GB": _Unit("gb", "bytes", 10**9),
    "bytes/s": _Unit("bytes_per_s", "bytes_per_second"), "GiB/s": _Unit("gib_per_s", "bytes_per_second", 2**30),
    "MB/s": _Unit("mb_per_s", "bytes_per_second", 10**6), "GB/s": _Unit("gb_per_s", "bytes_per_second", 10**9),
    "1/s": _Unit("per_s", "per_second"), "tokens/s": _Unit("tokens_per_s", "tokens_per_second"),
    "samples/s": _Unit("samples_per_s", "samples_per_second"), "%": _Unit("pct", "ratio", over=100),
    "W": _Unit("w", "watts"), "kW": _Unit("kw", "watts", 10**3), "J": _Unit("j", "joules"), "mJ": _Unit("mj", "joules", over=10**3),
    "°C": _Unit("c", "celsius"), "USD": _Unit("usd", "usd"),
}


@dataclass(frozen=True)
class HotMetric:
    """One metric, always a gauge. `unit` is the base unit, None where it has no dimension; `source` the model, None where `wh` computes it;
    `sql` the value of a row in base units, a double."""

    name: str
    help: str
    unit: str | None = None
    labels: tuple[str, ...] = ()
    source: str | None = None
    sql: str = ""

    type = "gauge"


def hot_metrics_of(model: Model, types: Mapping[str, str]) -> list[HotMetric]:
    """The metrics of a model whose SQL yields columns of these types. It must be one without `hot_metric_faults`."""
    labels = tuple(sorted(_labels(types)))
    found = []
    for column in (name for name in types if name not in labels):
        name, unit = _named(model, column, types[column])
        described = " ".join(model.columns[column].description.split())
        found.append(HotMetric(name, described, unit, labels, model.qualified, _sql(model, column, types[column])))
    return found


def hot_metric_faults(models: Iterable[Model], columns: Mapping[str, Mapping[str, str]]) -> Iterator[WarehouseError]:
    """What is wrong with the hot metrics of a project's models, by the types of their columns: WH229 for a label, WH230 for anything else."""
    first: dict[str, Model] = {}
    for model in models:
        if model.role != HOT_METRICS:
            continue
        types = columns[model.name]
        faults = [*_label_faults(model, types), *_model_faults(model, types)]
        yield from faults
        for metric in hot_metrics_of(model, types) if not faults else ():
            if first.setdefault(metric.name, model) is not model:
                message = f"{first[metric.name].place} has the metric {metric.name} too"
                yield model.header_fault("WH230", message, "role", hint="rename the file or the column")


def _labels(types: Mapping[str, str]) -> list[str]:
    return [name for name, kind in types.items() if kind == "VARCHAR"]


def _label_faults(model: Model, types: Mapping[str, str]) -> Iterator[WarehouseError]:
    for name in _labels(types):
        if name not in ALLOWED_LABELS:
            why = "is forbidden" if name in FORBIDDEN_LABELS else "is not on the allow-list"
            hint = did_you_mean(name, ALLOWED_LABELS) or f"leave it out; labels may be: {', '.join(ALLOWED_LABELS)}"
            yield model.header_fault("WH229", f"the label {name} {why} in hot metrics", "columns", name, hint=hint)


def _model_faults(model: Model, types: Mapping[str, str]) -> Iterator[WarehouseError]:
    labels = _labels(types)
    if f"{model.name}_".startswith(ENGINE_PREFIX):
        yield model.header_fault("WH230", f"{ENGINE_PREFIX}... are metrics of the warehouse itself", "role", hint="rename the file")
    if labels and not model.grain:
        hint = "name the labels that identify a series: grain: [run_id]"
        yield model.header_fault("WH230", "a model of hot metrics with labels must state its grain", "role", hint=hint)
    for name in model.grain:
        if name not in labels:
            hint = "a series is identified by its labels alone: take it out, or cast it to varchar"
            yield model.header_fault("WH230", f"the grain names {name}, which is not a label", "grain", name, hint=hint)
    values = [name for name in types if name not in labels]
    if not values:
        yield model.header_fault("WH230", "it has labels only, and no value", "role", hint="select what is measured too")
    for name in values:
        if message_and_hint := _value_fault(model, name, types[name]):
            message, hint = message_and_hint
            yield model.header_fault("WH230", message, "columns", name, hint=hint)


def _value_fault(model: Model, name: str, kind: str) -> tuple[str, str] | None:
    """What is wrong with a column that is a metric, and the way out."""
    column = model.columns.get(name)
    if not _NAME.fullmatch(name):
        return f"{name!r} cannot be part of a metric's name", "rename it: lower-case letters, digits and _"
    if column is None or not column.description.strip():
        return f"column {name} has no description, which is the help text of the metric", f'{name}: {{type: ..., description: "..."}}'
    if kind == _TIME:
        known = (None, "UTC")
        return None if column.unit in known else (f"column {name} is a time in {column.unit}", "a time with its zone has the unit UTC, or none")
    if not _NUMBER.fullmatch(kind):
        return f"column {name} is {kind}: neither a label, nor a number, a boolean or a time with its zone", "cast it, or leave it out"
    if column.unit is not None and column.unit not in _UNITS:
        return f"column {name} has the unit {column.unit}, whose base unit is not known", f"units are: {', '.join(_UNITS)}, or none"
    stated = _UNITS[column.unit].ending if column.unit is not None else ""
    in_name = _ending(name)
    if in_name and not f"_{stated}".endswith(f"_{in_name}"):
        return f"column {name} ends like a unit, {in_name}, and has the unit {column.unit or 'none'}", "declare the unit, or rename the column"
    return None


def _ending(name: str) -> str:
    """The longest ending of a column's name that is a unit's; empty if there is none."""
    return max((unit.ending for unit in _UNITS.values() if f"_{name}".endswith(f"_{unit.ending}")), key=len, default="")


def _named(model: Model, column: str, kind: str) -> tuple[str, str | None]:
    """A metric's name, and its base unit."""
    declared = model.columns[column].unit
    if kind == _TIME:
        return f"{model.name}_{column.removesuffix('_at')}_timestamp_seconds", "seconds"
    if declared is None:
        return f"{model.name}_{column}", None
    unit, ending = _UNITS[declared], _ending(column)
    stem = f"_{column}".removesuffix(f"_{ending}") if ending else f"_{column}"
    return f"{model.name}{stem}_{unit.base}", unit.base


def _sql(model: Model, column: str, kind: str) -> str:
    quoted = f'"{column}"'
    if kind == _TIME:
        return f"epoch({quoted})"
    unit = _UNITS.get(model.columns[column].unit or "")
    # Multiplied or divided by a whole number: one rounding, where a factor of 0.001 would bring its own.
    times, over = (f" * {unit.times}" if unit and unit.times > 1 else "", f" / {unit.over}" if unit and unit.over > 1 else "")
    return f"({quoted}::double{times}{over})"
