"""`wh compare A B`: all metrics that both sides have, each with its effect and verdict; beside them what differs between the runs, and
how much repeats of the same thing differ on their testbed."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from warehouse.analysis.comparison.judged_sides import EXPLORATORY_REASON, Judged, judge_sides
from warehouse.analysis.comparison.same_measurement import distinct_measurements
from warehouse.analysis.comparison.session_noise import session_noise
from warehouse.analysis.conditions import EVIDENCE, Conditions, Difference, differences, read_conditions
from warehouse.analysis.labels import Label, labels
from warehouse.analysis.measurements import VARIABLES, Measured, Measurement, measured
from warehouse.analysis.sides import Side, select
from warehouse.errors import ExitCode, WarehouseError, counted, printable
from warehouse.project.project import Project
from warehouse.statistics.scans import benjamini_hochberg
from warehouse.statistics.sessions import variance_components
from warehouse.transform.finished.builds import current_build

THRESHOLD = 0.02
_Q = 0.05
_ORDER = ("confirmed", "suspected", "inconclusive", "equivalent", "not supported")
BAD = ("worse", "higher", "lower")
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
    """One metric at one point, of one configuration a side. `label` is what people call it. `variables` are what differs between the sides
    (`varying`), and the node where each side ran on one; with more than one of them the comparison is exploratory."""

    indicator: str
    metric: str
    point: str
    unit: str | None
    better: str
    base: tuple[Measurement, ...]
    head: tuple[Measurement, ...]
    variables: tuple[str, ...]
    judged: Judged
    noise: Noise | None
    threshold: float
    label: Label

    @property
    def is_exploratory(self) -> bool:
        return len(self.variables) > 1

    @property
    def headline(self) -> str:
        """The verdict and which way it went, never without saying that it is exploratory."""
        outcome = f" {self.judged.outcome}" if self.judged.outcome else ""
        return f"{self.judged.verdict}{outcome}{' (exploratory)' if self.is_exploratory else ''}"

    @property
    def verdict(self) -> str:
        """The headline, and what would settle it."""
        return f"{self.headline}{f', needs {self.needs}' if self.needs else ''}"

    @property
    def needs(self) -> str:
        """What would support or settle the verdict, in words; empty where nothing would, or it is settled."""
        return f"{self.judged.needs} {self.judged.level}s a side" if self.judged.needs else ""

    @property
    def finds(self) -> float | None:
        """The smallest ratio above 1 that a comparison of this size finds in four of five cases: the whole interval is then beyond the threshold.
        An effect of the threshold itself is found by chance alone."""
        least = self.judged.least_detectable
        return least * (1 + self.threshold) if least else None

    @property
    def notes(self) -> list[str]:
        """What limits the verdict, each in a line."""
        judged = self.judged
        notes = [f"paired: {counted(len(judged.design.pairs), 'pair')} of runs ran side by side"] if judged.is_paired else []
        if judged.design.note:
            notes.append(f"note: {judged.design.note}")
        if len(self.variables) > 1:
            notes.append(f"exploratory: more than one thing differs ({', '.join(self.variables)})")
        if judged.verdict in ("suspected", "inconclusive") and judged.reason != EXPLORATORY_REASON:
            notes.append(f"{judged.verdict}: {judged.reason}")
        return notes


@dataclass(frozen=True)
class Comparison:
    """What `wh compare` found. `differences` are those of all runs that were compared, or where no metric could be, of all that were
    meant; `unmatched` counts the measurements of each side that the other side has no counterpart of, `not_finite` the rows of the table
    that have no number and were left out. `ambiguous` are those of the unmatched whose metric the other side has, of several
    configurations without a counterpart: pooled, they would be no repeats of one thing."""

    base: Side
    head: Side
    threshold: float
    metrics: tuple[MetricComparison, ...]
    differences: tuple[Difference, ...]
    unmatched: tuple[int, int]
    not_finite: int
    ambiguous: tuple[int, int] = (0, 0)

    @property
    def untested(self) -> int:
        """How many metrics have so few runs that they could not have shown any effect."""
        return sum(not each.judged.is_tested for each in self.metrics)

    def ranked(self) -> list[MetricComparison]:
        """The metrics with the strongest verdict first, and of these what got worse."""
        return sorted(self.metrics, key=lambda each: (_ORDER.index(each.judged.verdict), each.judged.outcome != "worse", each.metric, each.point))

    def headlines(self) -> Counter[str]:
        """How many metrics have which headline, the strongest first."""
        return Counter(each.headline for each in self.ranked())

    @property
    def left_out(self) -> list[str]:
        """Which measurements were not compared, each reason in a line."""
        lines = [f"{counted(self.not_finite, 'measurement')} without a number left out"] if self.not_finite else []
        for name, left, several in zip(("base", "head"), self.unmatched, self.ambiguous, strict=True):
            if several:
                why = f"their configurations ({', '.join(_OF_SERIES)}) have none on the other side; narrow the sides, for example by accelerator=..."
                lines.append(f"{counted(several, 'measurement')} of {name} not compared: {why}")
            if left > several:
                lines.append(f"{counted(left - several, 'measurement')} of {name} without a counterpart: a metric that the other side has not")
        return lines

    def worst(self) -> str | None:
        """The strongest verdict that something got worse: `confirmed`, `suspected` or None. A metric without a direction counts: which
        way is worse is not known."""
        bad = {each.judged.verdict for each in self.metrics if each.judged.outcome in BAD}
        return next((verdict for verdict in ("confirmed", "suspected") if verdict in bad), None)

    def worst_headline(self) -> str | None:
        """The same in words; exploratory, if all that has this verdict is."""
        if (worst := self.worst()) is None:
            return None
        of_it = [each for each in self.metrics if each.judged.verdict == worst and each.judged.outcome in BAD]
        return f"{worst} worse{' (exploratory)' if all(each.is_exploratory for each in of_it) else ''}"


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
    """Compare two sides that were selected. Measurements are matched by series; those that have no counterpart there by workload, and then by
    metric alone; always one configuration of base with one of head (`_paired`)."""
    rest: tuple[list[Measurement], list[Measurement]] = ([], [])
    for place, side in enumerate((base, head)):
        rest[place].extend(each for each in side.measurements if metric is None or _is_named(each.metric, metric))
    matched: list[tuple[tuple[Measurement, ...], tuple[Measurement, ...]]] = []
    by: tuple[Callable[[Measurement], Hashable], ...] = (
        lambda each: each.series_key,
        lambda each: (each.name, each.unit, each.better, each.variables["workload"]),
        _kind,
    )
    for key in by:
        groups = [_grouped(side, key) for side in rest]
        pairs = [pair for name in groups[0] if name in groups[1] for pair in _paired(groups[0][name], groups[1][name], key is not by[-1])]
        taken = {id(each) for pair in pairs for side in pair for each in side}
        matched += pairs
        rest = ([each for each in rest[0] if id(each) not in taken], [each for each in rest[1] if id(each) not in taken])
    runs = [sorted({each.run_id for pair in matched for each in pair[place]} or {*side.run_ids}) for place, side in enumerate((base, head))]
    conditions = read_conditions(found, {*runs[0], *runs[1]})
    named = labels(found, {each.series_key for pair in matched for side in pair for each in side[:1]}) if matched else {}
    metrics = _among_many([_compared(found, of_base, of_head, threshold, conditions, named) for of_base, of_head in matched])
    differing = tuple(each for each in differences(*([conditions[run] for run in side] for side in runs)) if each.kind != EVIDENCE)
    kinds = [{_kind(each) for each in side.measurements} for side in (head, base)]
    ambiguous = tuple(sum(_kind(each) in others for each in side) for side, others in zip(rest, kinds, strict=True))
    return Comparison(base, head, threshold, metrics, differing, (len(rest[0]), len(rest[1])), found.not_finite, (ambiguous[0], ambiguous[1]))


def _kind(each: Measurement) -> tuple[Hashable, ...]:
    return each.name, each.unit, each.better


def _paired(
    base: Sequence[Measurement], head: Sequence[Measurement], of_one_workload: bool
) -> list[tuple[tuple[Measurement, ...], tuple[Measurement, ...]]]:
    """One configuration of each side: what a series holds equal. Those that differ least from each other belong together, where it is clear
    which these are; several configurations of one side go with the only one of the other if they are `of_one_workload`. Pooled, the runs of
    several would be no repeats, and their shares would decide."""
    sides = [_grouped(side, lambda each: tuple(each.variables[name] for name in _OF_SERIES)) for side in (base, head)]
    apart = {(one, other): sum(a != b for a, b in zip(one, other, strict=True)) for one in sides[0] for other in sides[1]}
    of_base = {one: min(apart[one, other] for other in sides[1]) for one in sides[0]}
    of_head = {other: min(apart[one, other] for one in sides[0]) for other in sides[1]}
    pairs = [(one, other) for (one, other), distance in apart.items() if distance == of_base[one] == of_head[other]]
    if not (of_one_workload and min(map(len, sides)) == 1):
        often = Counter(("base", one) for one, _ in pairs) + Counter(("head", other) for _, other in pairs)
        pairs = [(one, other) for one, other in pairs if often["base", one] == often["head", other] == 1]
    return [(tuple(sides[0][one]), tuple(sides[1][other])) for one, other in pairs]


def _among_many(metrics: Sequence[MetricComparison]) -> tuple[MetricComparison, ...]:
    """What is confirmed by itself, but of so many measurements may look so by chance, is suspected: the false share of the confirmed is to be at
    most 5 % (Benjamini and Hochberg). Three throughputs of the same runs are one measurement."""
    tested = [each for each in metrics if each.judged.p is not None]
    measurement = distinct_measurements([(each.base, each.head) for each in tested])
    p: dict[int, float] = {}
    for each, number in zip(tested, measurement, strict=True):
        p[number] = max(p.get(number, 0.0), each.judged.p or 0.0)
    of_measurement = dict(zip(p, benjamini_hochberg(list(p.values())), strict=True))
    q = {id(each): of_measurement[number] for each, number in zip(tested, measurement, strict=True)}
    reason = f"of {len(p)} measurements one may differ so by chance"
    return tuple(
        replace(each, judged=replace(each.judged, verdict="suspected", reason=reason))
        if each.judged.verdict == "confirmed" and len(p) > 1 and q.get(id(each), 0.0) > _Q else each
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
    found: Measured, base: tuple[Measurement, ...], head: tuple[Measurement, ...], threshold: float, conditions: Mapping[str, Conditions],
    named: Mapping[str, Label],
) -> MetricComparison:
    variables = varying(base, head, conditions)
    judged = judge_sides(base, head, threshold, len(variables) > 1, session_noise(found, base, head))
    keys = sorted({each.comparable_key for each in (*base, *head)})
    repeats = found.read("list_contains(?, m.comparable_key)", [keys])
    first = base[0]
    return MetricComparison(
        first.indicator, first.metric, first.point, first.unit, first.better, base, head, variables, judged, noise_of(repeats), threshold,
        _label(named[first.series_key], named[head[0].series_key]),
    )


def _label(base: Label, head: Label) -> Label:
    """The label of both sides: `H100 → H200` where a part differs."""
    parts = {
        name: one if one == other else f"{one or 'not stated'} → {other or 'not stated'}"
        for name in ("subject", "gpu", "load") for one, other in [(getattr(base, name), getattr(head, name))]
    }
    return replace(base, **parts, apart=base.apart if base.apart == head.apart else None)


def _grouped(measurements: Iterable[Measurement], key: Callable[[Measurement], Any]) -> dict[Any, list[Measurement]]:
    groups: defaultdict[Any, list[Measurement]] = defaultdict(list)
    for each in measurements:
        groups[key(each)].append(each)
    return groups


def _is_named(metric: str, pattern: str) -> bool:
    from fnmatch import fnmatchcase

    return fnmatchcase(metric, pattern)
