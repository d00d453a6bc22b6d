"""`wh compare A B`: all metrics that both sides have, each with its effect and verdict; beside them what differs between the runs, and
how much repeats of the same thing differ on their testbed."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from warehouse.analysis.conditions import Conditions, Difference, differences, read_conditions
from warehouse.analysis.judged_sides import Judged, judge_sides
from warehouse.analysis.measurements import VARIABLES, Measured, Measurement, measured
from warehouse.analysis.session_noise import session_noise
from warehouse.analysis.sides import Side, select
from warehouse.errors import ExitCode, WarehouseError, counted, printable
from warehouse.project.project import Project
from warehouse.statistics.levels import variance_components
from warehouse.statistics.scans import benjamini_hochberg
from warehouse.transform.finished.builds import current_build

THRESHOLD = 0.02
_Q = 0.05
_ORDER = ("confirmed", "suspected", "inconclusive", "equivalent", "not supported")
_OF_SERIES = ("workload", "parameters", "hardware", "testbed")  # the variables that a series holds equal


@dataclass(frozen=True)
class Noise:
    """How much repeats of the same thing differ (A/A), as a share: runs within a session, and sessions beyond that; None where no
    session has two runs, or no key has two sessions. From so many runs and sessions."""

    run: float | None
    session: float | None
    runs: int
    sessions: int


@dataclass(frozen=True)
class MetricComparison:
    """One metric at one point. `variables` are what differs between the sides (`varying`), and the node where each side ran on
    one. `mixed` are the variables of which one side alone has several values within what a series holds equal: its runs are not repeats of
    one thing. With more than one variable, or any that is mixed, the comparison is exploratory."""

    indicator: str
    metric: str
    point: str
    unit: str | None
    better: str
    base: tuple[Measurement, ...]
    head: tuple[Measurement, ...]
    variables: tuple[str, ...]
    mixed: tuple[str, ...]
    judged: Judged
    noise: Noise | None

    @property
    def is_exploratory(self) -> bool:
        return len(self.variables) > 1 or bool(self.mixed)

    @property
    def verdict(self) -> str:
        """The verdict in words: which way it went, and what would settle it."""
        judged = self.judged
        needs = f", needs {judged.needs} {judged.level}s a side" if judged.needs else ""
        exploratory = " (exploratory)" if self.is_exploratory else ""
        return f"{judged.verdict}{f' {judged.outcome}' if judged.outcome else ''}{exploratory}{needs}"

    @property
    def notes(self) -> list[str]:
        """What limits the verdict, each in a line."""
        judged = self.judged
        notes = [f"paired: {counted(len(judged.design.pairs), 'pair')} of runs ran side by side"] if judged.is_paired else []
        if judged.design.note:
            notes.append(f"note: {judged.design.note}")
        if len(self.variables) > 1:
            notes.append(f"exploratory: more than one thing differs ({', '.join(self.variables)})")
        if self.mixed:
            notes.append(f"exploratory: a side mixes several of one variable ({', '.join(self.mixed)}), so its runs are not repeats")
        if judged.verdict in ("suspected", "inconclusive"):
            notes.append(f"{judged.verdict}: {judged.reason}")
        return notes


@dataclass(frozen=True)
class Comparison:
    """What `wh compare` found. `differences` are those of all runs that were compared, or where no metric could be, of all that were
    meant; `unmatched` counts the measurements of each side that the other side has no counterpart of, `not_finite` the rows of the table
    that have no number and were left out."""

    base: Side
    head: Side
    threshold: float
    metrics: tuple[MetricComparison, ...]
    differences: tuple[Difference, ...]
    unmatched: tuple[int, int]
    not_finite: int

    @property
    def untested(self) -> int:
        """How many metrics have so few runs that they could not have shown any effect."""
        return sum(not each.judged.is_tested for each in self.metrics)

    def ranked(self) -> list[MetricComparison]:
        """The metrics with the strongest verdict first, and of these what got worse."""
        return sorted(self.metrics, key=lambda each: (_ORDER.index(each.judged.verdict), each.judged.outcome != "worse", each.metric, each.point))

    @property
    def left_out(self) -> list[str]:
        """Which measurements were not compared, each reason in a line."""
        lines = [f"{counted(self.not_finite, 'measurement')} without a number left out"] if self.not_finite else []
        for name, left in zip(("base", "head"), self.unmatched, strict=True):
            if left:
                why = "another workload, or a metric that the other side has not"
                lines.append(f"{counted(left, 'measurement')} of {name} without a counterpart: {why}")
        return lines

    def worst(self) -> str | None:
        """The strongest verdict that something got worse: `confirmed`, `suspected` or None. A metric without a direction counts: which
        way is worse is not known."""
        bad = {each.judged.verdict for each in self.metrics if each.judged.outcome in ("worse", "higher", "lower")}
        return next((verdict for verdict in ("confirmed", "suspected") if verdict in bad), None)


def compare(
    project: Project, base: str, head: str, threshold: float = THRESHOLD, metric: str | None = None, *, may_be_file: bool = True
) -> Comparison:
    """Compare the runs that `head` means with those that `base` means (`selection.select`), in the current build. `metric` restricts it to
    the metrics of that name or pattern. Raises WH501, WH502, WH504, WH211, WH218."""
    with measured(current_build(project)) as found:
        sides = [select(found, asked, may_be_file=may_be_file) for asked in (base, head)]
        if both := set(sides[0].run_ids) & set(sides[1].run_ids):
            message = f"{counted(len(both), 'run is', 'runs are')} on both sides, among them {min(both)}"
            raise WarehouseError("WH502", printable(message), printable(head), "narrow one side, for example with name!=value", ExitCode.USAGE)
        return compare_sides(found, sides[0], sides[1], threshold, metric)


def compare_sides(found: Measured, base: Side, head: Side, threshold: float, metric: str | None = None) -> Comparison:
    """Compare two sides that were selected. Measurements are matched by series; those that have no counterpart there by workload, and
    then by metric alone where each side has but one workload."""
    rest: tuple[list[Measurement], list[Measurement]] = ([], [])
    for place, side in enumerate((base, head)):
        rest[place].extend(each for each in side.measurements if metric is None or _is_named(each.metric, metric))
    matched: list[tuple[tuple[Measurement, ...], tuple[Measurement, ...]]] = []
    by: tuple[Callable[[Measurement], Hashable], ...] = (
        lambda each: each.series_key,
        lambda each: (each.name, each.unit, each.better, each.variables["workload"]),
        lambda each: (each.name, each.unit, each.better),
    )
    for key in by:
        groups = [_grouped(side, key) for side in rest]
        common = [name for name in groups[0] if name in groups[1]]
        if key is by[-1]:
            common = [name for name in common if all(len({each.variables["workload"] for each in side[name]}) == 1 for side in groups)]
        matched += [(tuple(groups[0][name]), tuple(groups[1][name])) for name in common]
        rest = ([], []) if not rest[0] and not rest[1] else tuple(  # type: ignore[assignment]
            [each for each in side if key(each) not in set(common)] for side in rest
        )
    runs = [sorted({each.run_id for pair in matched for each in pair[place]} or {*side.run_ids}) for place, side in enumerate((base, head))]
    conditions = read_conditions(found, {*runs[0], *runs[1]})
    metrics = _among_many([_compared(found, of_base, of_head, threshold, conditions) for of_base, of_head in matched])
    differing = differences(*([conditions[run] for run in side] for side in runs))
    return Comparison(base, head, threshold, metrics, differing, (len(rest[0]), len(rest[1])), found.not_finite)


def _among_many(metrics: Sequence[MetricComparison]) -> tuple[MetricComparison, ...]:
    """What is confirmed by itself, but of so many metrics may look so by chance, is suspected: the false share of the confirmed is to be at
    most 5 % (Benjamini and Hochberg)."""
    tested = [each for each in metrics if each.judged.p is not None]
    q = dict(zip(map(id, tested), benjamini_hochberg([each.judged.p or 0.0 for each in tested]), strict=True))
    return tuple(
        replace(each, judged=replace(each.judged, verdict="suspected", reason=f"of {len(tested)} metrics one may differ so by chance"))
        if each.judged.verdict == "confirmed" and len(tested) > 1 and q.get(id(each), 0.0) > _Q else each
        for each in metrics
    )


def varying(base: Sequence[Measurement], head: Sequence[Measurement], conditions: Mapping[str, Conditions]) -> tuple[str, ...]:
    """The variables that differ between two sides, each parameter and each part of the workload document by itself: a frozen workload
    holds its parameters, and a change of one of them is one change."""
    found = [name for name in VARIABLES if _differs(base, head, name)]
    if {"workload", "parameters"} & set(found):
        differing = differences(*([conditions.get(each.run_id, {}) for each in side] for side in (base, head)))
        parameters = [each.name for each in differing if each.kind == "parameter"]
        parts = [each.name for each in differing if each.kind == "workload" and each.name != "workload_spec_digest"]
        parts = [name for name in parts if name.removeprefix("parameters.") not in parameters]
        detailed = [*(f"parameter {name}" for name in parameters), *(f"workload {name}" for name in parts)]
        if detailed:
            found = [*detailed, *(name for name in found if name not in ("workload", "parameters"))]
    nodes = [{each.node for each in side} for side in (base, head)]
    return (*found, *(["node"] if len(nodes[0]) == len(nodes[1]) == 1 and nodes[0] != nodes[1] else []))


def _shares(side: Sequence[Measurement], variable: str) -> dict[str | None, float]:
    """The share of a side's runs that has each value of a variable."""
    return {value: count / len(side) for value, count in Counter(each.variables[variable] for each in side).items()}


def _differs(base: Sequence[Measurement], head: Sequence[Measurement], variable: str) -> bool:
    """Whether a side has a value that the other has not, or both have the same values but most runs of a side would need another one."""
    shares = _shares(base, variable), _shares(head, variable)
    common = sum(min(shares[0].get(value, 0.0), share) for value, share in shares[1].items())
    return shares[0].keys() != shares[1].keys() or common < 0.5


def noise_of(repeats: Iterable[Measurement]) -> Noise | None:
    """How much repeats differ: of each comparable key the logarithms, around their own mean. None without two runs of one key."""
    values, sessions = [], []
    for key, group in _grouped(repeats, lambda each: each.comparable_key).items():
        if len(group) < 2 or min(each.value for each in group) <= 0:
            continue
        logs = np.log([each.value for each in group])
        values += list(logs - logs.mean())
        sessions += [f"{key} {each.session}" for each in group]
    if len(values) < 2:
        return None
    parts = variance_components(values, sessions=sessions)
    run, session = (None if part is None else float(np.sqrt(part)) for part in (parts.run, parts.session))
    return Noise(run, session, len(values), len(set(sessions)))


def _compared(
    found: Measured, base: tuple[Measurement, ...], head: tuple[Measurement, ...], threshold: float, conditions: Mapping[str, Conditions]
) -> MetricComparison:
    variables = varying(base, head, conditions)
    mixed = tuple(name for name in _OF_SERIES if any(len(_shares(side, name)) > 1 for side in (base, head)))
    judged = judge_sides(base, head, threshold, len(variables) > 1 or bool(mixed), session_noise(found, base, head))
    keys = sorted({each.comparable_key for each in (*base, *head)})
    repeats = found.read("list_contains(?, m.comparable_key)", [keys])
    first = base[0]
    return MetricComparison(
        first.indicator, first.metric, first.point, first.unit, first.better, base, head, variables, mixed, judged, noise_of(repeats)
    )


def _grouped(measurements: Iterable[Measurement], key: Callable[[Measurement], Any]) -> dict[Any, list[Measurement]]:
    groups: defaultdict[Any, list[Measurement]] = defaultdict(list)
    for each in measurements:
        groups[key(each)].append(each)
    return groups


def _is_named(metric: str, pattern: str) -> bool:
    from fnmatch import fnmatchcase

    return fnmatchcase(metric, pattern)
