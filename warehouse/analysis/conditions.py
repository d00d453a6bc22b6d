"""What differs between two sets of runs: software, packages, hardware, workload, script, and what their hosts did meanwhile."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any

from warehouse.analysis.measurements import Measured

# A measured condition, such as a clock, differs a little from run to run.
_NUMERIC_SHARE = 0.1
_LISTED = 3  # values a side
_LONGEST = 80  # characters of a value
_DOCUMENT = "workload_document"
_NOT_STATED = "(not stated)"
_ORDER = (
    "script", "parameter", "workload", "serving", "software", "package", "hardware", "testbed", "declared", "host", "telemetry", "reported",
    "evidence",
)

# A run's conditions: kind and name, to the text and where it is a measured quantity the number.
Conditions = Mapping[tuple[str, str], tuple[str, float | None]]


@dataclass(frozen=True)
class Difference:
    """One condition of which the sides have different values; for a measured quantity `ratio` is head's median over base's, and
    `is_apart` whether every run of one side is above every run of the other."""

    kind: str
    name: str
    base: tuple[str, ...]
    head: tuple[str, ...]
    ratio: float | None = None
    is_apart: bool = True

    def __str__(self) -> str:
        if self.ratio is not None:
            change = f" ({self.ratio:.2f}x{'' if self.is_apart else ', ranges overlap'})"
            return f"{self.kind} {self.name}: {self.base[0]} -> {self.head[0]}{change}"
        return f"{self.kind} {self.name}: {listed(self.base)} -> {listed(self.head)}"


def read_conditions(found: Measured, run_ids: Collection[str]) -> dict[str, dict[tuple[str, str], tuple[str, float | None]]]:
    """The conditions of runs, by run id; empty for a project that has no such table."""
    conditions: dict[str, dict[tuple[str, str], tuple[str, float | None]]] = {run_id: {} for run_id in run_ids}
    if found.conditions is None:
        return conditions
    number = "c.value_number" if "value_number" in found.conditions.columns else "null"
    sql = f"select c.run_id, c.kind, c.name, c.value_text, {number} from {found.conditions.sql} as c where list_contains(?, c.run_id)"
    for run_id, kind, name, text, value in found.con.execute(sql, [list(run_ids)]).fetchall():
        if name == _DOCUMENT:
            leaves = _leaves(text)
            conditions[run_id] |= {(kind, leaf): (value_text, None) for leaf, value_text in leaves.items()}
        else:
            conditions[run_id][kind, name] = text, value
    return conditions


def differences(base: Iterable[Conditions], head: Iterable[Conditions]) -> tuple[Difference, ...]:
    """What differs between the runs of two sides, the measuring script first and the evidence last."""
    sides = list(base), list(head)
    names = {name for side in sides for run in side for name in run}
    found = (_difference(kind, name, *([run.get((kind, name)) for run in side] for side in sides)) for kind, name in names)
    return tuple(sorted(filter(None, found), key=lambda each: (_rank(each.kind), each.ratio is None, each.name)))


def _difference(
    kind: str, name: str, base: list[tuple[str, float | None] | None], head: list[tuple[str, float | None] | None]
) -> Difference | None:
    numbers = [[value[1] for value in side if value and value[1] is not None] for side in (base, head)]
    if all(numbers):
        return _numeric(kind, name, *numbers)
    texts = [tuple(sorted({value[0] if value else _NOT_STATED for value in side})) for side in (base, head)]
    return Difference(kind, name, texts[0], texts[1]) if texts[0] != texts[1] else None


def _numeric(kind: str, name: str, base: list[float], head: list[float]) -> Difference | None:
    before, after = median(base), median(head)
    is_apart = max(base) < min(head) or max(head) < min(base)
    if before == after or (before and abs(after / before - 1) < _NUMERIC_SHARE):
        return None
    return Difference(kind, name, (f"{before:g}",), (f"{after:g}",), after / before if before else None, is_apart)


def _leaves(text: str) -> dict[str, str]:
    """The values of a JSON document by their paths."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return {_DOCUMENT: text}
    leaves: dict[str, str] = {}
    waiting: list[tuple[str, Any]] = [("", document)]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, dict) and value:
            waiting += [(f"{path}.{key}" if path else key, each) for key, each in value.items()]
        else:
            leaves[path] = value if isinstance(value, str) else json.dumps(value)
    return leaves


def _rank(kind: str) -> int:
    return _ORDER.index(kind) if kind in _ORDER else len(_ORDER)


def listed(values: tuple[str, ...]) -> str:
    """The values of a side in a few words: the first of them, and how many more there are."""
    shown = [value if len(value) <= _LONGEST else f"{value[:_LONGEST]}..." for value in values[:_LISTED]]
    return ", ".join(shown) + (f" and {len(values) - _LISTED} more" if len(values) > _LISTED else "")
