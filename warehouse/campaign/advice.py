"""The best measured stack of a campaign, and how sure that is: the cells that may be the best, compared over the campaign's sessions.

Cells compete where they do the same work: same case, workload, point and metric. A cell without a result in a session is compared over the others,
and said to have failed. Nothing that was not measured is advised.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean, stdev
from typing import Any

from warehouse.errors import ExitCode, WarehouseError, counted, did_you_mean, printable
from warehouse.statistics.best import Against, Best, best

WORK = ("benchmark_case_id", "workload", "point")
PRICE = "price_usd_per_hour"  # a factor of this name is the price of its cell
_LIMIT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*) *(<=|>=) *([0-9]+(?:\.[0-9]*)?(?:[eE][-+]?[0-9]+)?)")
MEETS, MISSES, NOT_SHOWN = "meets", "misses", "not shown"


@dataclass(frozen=True)
class CellResult:
    """A cell with what it gave: `values` has the geometric mean of the runs of each session in which it has a result, `run_ids` all of those runs,
    `typical` the geometric mean over them, `number_id` that number in the rollup campaign_stacks. `failures`: how its other runs ended, and why, with
    their number. `slo`: whether it meets the limits that were given; None: none were. `usd_per_hour`: the price of what it runs on. `unlike`:
    factors of which a run had another value than was asked for."""

    cell: str
    factors: Mapping[str, str]
    is_baseline: bool
    stack_digest: str | None
    values: Mapping[str, float]
    typical: float | None
    run_ids: tuple[str, ...]
    number_id: str | None
    failures: Mapping[tuple[str, str | None], int]
    slo: str | None = None
    usd_per_hour: float | None = None
    unlike: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        return " ".join(f"{name}={value}" for name, value in self.factors.items())

    @property
    def failures_text(self) -> str:
        """Its failures, with the beginning of each reason."""
        return "; ".join(f"{count} {status}{f': {reason[:60]}' if reason else ''}" for (status, reason), count in self.failures.items())


@dataclass(frozen=True)
class Advice:
    """What a campaign says of one piece of work. `sessions` that the campaign has; `cells` by name; `found` compares those that can be compared, and
    where limits were given those that meet them, and of these with `is_cheapest` those of the lowest price. `run_more` begins the command that adds
    sessions."""

    campaign: str
    case: str | None
    workload: str | None
    point: str
    metric: str
    unit: str | None
    higher_is_better: bool
    sessions: int
    cells: Mapping[str, CellResult]
    found: Best
    slo: str | None = None
    is_cheapest: bool = False
    run_more: str = "wh matrix SPEC"
    other_metrics: tuple[str, ...] = field(default=())

    @property
    def baseline(self) -> CellResult | None:
        return next((cell for cell in self.cells.values() if cell.is_baseline), None)

    def typical(self, cell: str) -> float:
        """The geometric mean of a cell's runs."""
        return self.cells[cell].typical or math.nan

    @property
    def ranked(self) -> tuple[str, ...]:
        """All cells: those that may be the best, those that are beaten, then the others; each by its typical value."""
        found = self.found
        beaten = sorted(found.beaten_by, key=self.typical, reverse=self.higher_is_better)
        left = sorted(self.cells.keys() - {*found.may_be_best, *beaten}, key=self.typical, reverse=self.higher_is_better)
        return (*found.may_be_best, *beaten, *left)

    @property
    def verdict(self) -> str:
        """What is advised, in a sentence."""
        found = self.found
        zone = f" by more than {found.indifference:.1%}" if found.indifference else ""
        if found.named:
            beside = self.against_baseline
            gain = f", {beside.ratio:.3g} times the baseline ({beside.low:.3g} to {beside.high:.3g})" if beside else ""
            return f"best: {self.cells[found.named].label}{zone}{gain}"
        if self.slo and not any(cell.slo == MEETS for cell in self.cells.values()):
            return "no advice: no stack is shown to meet the SLO"
        if len(found.may_be_best) == 1 and not found.against:
            only = self.cells[found.may_be_best[0]]
            return f"{only.label} alone is {'the cheapest that is ' if self.is_cheapest else ''}shown to meet the SLO"
        if not found.may_be_best:
            return "no advice: two stacks with three sessions in common are needed"
        return f"a tie of {len(found.may_be_best)}: no stack is shown to be better than all others{zone}"

    def state(self, name: str) -> str:
        """What is said of a cell, in a few words."""
        cell, found = self.cells[name], self.found
        if name == found.named:
            return "best"
        if name in found.beaten_by:
            return f"beaten by {found.beaten_by[name]}"
        if cell.slo in (MISSES, NOT_SHOWN):
            return "misses the SLO" if cell.slo == MISSES else "SLO not shown"
        if self.is_cheapest and name not in found.may_be_best:
            return "no price" if cell.usd_per_hour is None else "costs more"
        return "may be best" if name in found.may_be_best else "too few sessions"

    @property
    def against_baseline(self) -> Against | None:
        """The first of those that may be the best beside the baseline; None where that is itself, or is not known."""
        base = self.baseline
        if base is None or not self.found.may_be_best or self.found.may_be_best[0] == base.cell:
            return None
        first = self.found.may_be_best[0]
        values = {name: self.cells[name].values for name in (first, base.cell)}
        return best(values, higher_is_better=self.higher_is_better, confidence=self.found.confidence).against.get(first)

    @property
    def runner_up(self) -> tuple[str, Against] | None:
        """The best of the others, and the first of those that may be the best beside it; None: there is nothing to compare."""
        against = self.found.against.get(self.found.may_be_best[0]) if self.found.may_be_best else None
        return (against.other, against) if against else None

    @property
    def least_certain(self) -> str | None:
        """The cell of which more sessions would say most: the one with the widest interval among those that may be the best, or the runner-up of the
        only one. None: nothing can be compared."""
        may, runner_up, against = self.found.may_be_best, self.runner_up, self.found.against
        if runner_up is None:
            return None
        return max(may, key=lambda name: against[name].high / against[name].low) if len(may) > 1 else runner_up[0]


    @property
    def next_run(self) -> str | None:
        """The command that makes the next most informative run: a session of the least certain cell beside the one that it is compared with, and of
        the baseline. None: nothing can be compared."""
        cell, base = self.least_certain, self.baseline
        if cell is None:
            return None
        against, first = self.found.against.get(cell), self.found.may_be_best[0]
        beside = against.other if against and cell in self.found.may_be_best else first
        cells = sorted({cell, beside, *([base.cell] if base else [])})
        return f"{self.run_more} --add-sessions 1 {' '.join(f'--cell {each}' for each in cells)}"


@dataclass(frozen=True)
class Vulnerability:
    """A known vulnerability of a package in a stack, by a file that the user brought. `is_affected` None: the entry lists no versions."""

    stack_digest: str
    package: str
    version: str | None
    vulnerability_id: str
    summary: str | None
    is_affected: bool | None

    @property
    def text(self) -> str:
        return f"{self.vulnerability_id} in {self.package} {self.version}{'' if self.is_affected else ', if its ranges have this version'}"


@dataclass(frozen=True)
class Disturbance:
    """A session in which `disturbed` of its `runs` were: other work filled the host, or a limit, heat or a power brake held them back."""

    session: str
    disturbed: int
    runs: int


@dataclass(frozen=True)
class Advised:
    """All that a campaign says: an advice for each piece of work, the cells that have no result at all, and how many combinations of its factors
    were not drawn. `added_sessions`: sessions after the plan, which were asked for by who had seen results. `vulnerabilities` of its stacks, those
    that are not affected left out. `disturbances`: the sessions with runs that other work disturbed, by the recordings."""

    campaign: str
    works: tuple[Advice, ...]
    failed: tuple[CellResult, ...]
    not_drawn: int
    added_sessions: int = 0
    vulnerabilities: tuple[Vulnerability, ...] = ()
    disturbances: tuple[Disturbance, ...] = ()

    @property
    def disturbed_text(self) -> str:
        """The sessions that were disturbed, with their runs."""
        return ", ".join(f"{each.session.rpartition(' ')[2]} ({each.disturbed} of {counted(each.runs, 'run')})" for each in self.disturbances)


@dataclass(frozen=True)
class Measured:
    """What was measured of a campaign. `slots`: a row for each run of the plan, with `cell`, `session`, `factors`, how it ended, and what else is
    known of it. `values`: a row for each value that counts, with its piece of work (`WORK`), `metric`, `unit`, `better`, `cell`, `session` and
    `run_id`. `numbers`: the number ids of typical values, by cell, piece of work and metric; `prices`: USD an hour, by run. The others as in
    `Advised` and `Advice`."""

    campaign: str
    slots: Sequence[Mapping[str, Any]]
    values: Sequence[Mapping[str, Any]]
    numbers: Mapping[tuple[Any, ...], str] = field(default_factory=dict)
    prices: Mapping[str, float | None] = field(default_factory=dict)
    run_more: str = "wh matrix SPEC"
    not_drawn: int = 0
    vulnerabilities: tuple[Vulnerability, ...] = ()
    disturbances: tuple[Disturbance, ...] = ()


@dataclass(frozen=True)
class Limit:
    """A bound of an SLO on a metric."""

    metric: str
    is_at_most: bool
    value: float


def read_slo(text: str) -> tuple[Limit, ...]:
    """The limits in `metric<=value,metric>=value`; none in an empty text. Raises WH502 for text that has another form."""
    found = [_LIMIT.fullmatch(part.strip()) for part in text.split(",")] if text else []
    if not all(found):
        raise WarehouseError("WH502", "is not an SLO of stacks", printable(text), "write latency_p99_ms<=200,requests_per_s>=1000", ExitCode.USAGE)
    return tuple(Limit(each[1], each[2] == "<=", float(each[3])) for each in found if each)


def advice_on(
    measured: Measured, metric: str | None = None, indifference: float = 0.0, slo: str | None = None, is_cheapest: bool = False
) -> Advised:
    """What a campaign says by what was measured. With `slo`, stacks compete that are shown to meet it; with `is_cheapest` those of the lowest price
    among them. Raises WH502 (no result; no such metric; no SLO) and WH504 where it has several metrics and none was chosen."""
    limits = read_slo(slo or "")
    key, taken = measured.campaign, measured.values
    # What chose the front-runners says too much of them: only fresh sessions count, once there are some.
    is_confirmed = any(slot["run_id"] and not slot["is_screening"] for slot in measured.slots)
    slots = [slot for slot in measured.slots if not (is_confirmed and slot["is_screening"])]
    metrics = sorted({each["metric"] for each in taken})
    chosen = _metric(metrics, metric, key)
    for limit in limits:
        _metric(metrics, limit.metric, key)
    works: dict[tuple[Any, ...], dict[str, list[Mapping[str, Any]]]] = {}
    for each in taken:
        works.setdefault(tuple(each[name] for name in WORK), {}).setdefault(each["metric"], []).append(each)
    of_cell: dict[str, list[Mapping[str, Any]]] = {}
    for slot in slots:
        of_cell.setdefault(slot["cell"], []).append(slot)
    sessions = len({slot["session"] for slot in slots})
    added = len({slot["session"] for slot in slots if slot["is_added"]})
    advised = []
    for work, by_metric in sorted(works.items(), key=lambda each: str(each[0])):
        if chosen not in by_metric:
            continue
        runs = _by_cell(by_metric[chosen])
        states = _states(by_metric, limits)
        cells = {
            name: _result(
                of_cell[name], runs[name], measured.numbers.get((name, *work, chosen)), states.get(name, NOT_SHOWN) if limits else None,
                measured.prices,
            )
            for name in sorted(runs)
        }
        first = by_metric[chosen][0]
        is_higher = first["better"] == "higher"
        others = tuple(name for name in metrics if name != chosen)
        found = _compared(cells, is_higher, indifference, is_cheapest)
        case, workload, point = work
        advised.append(Advice(
            key, case, workload, point, chosen, first["unit"], is_higher, sessions, cells, found, slo, is_cheapest, measured.run_more, others
        ))
    measured_cells = {name for each in advised for name in each.cells}
    failed = tuple(_result(found, [], None, None, {}) for name, found in sorted(of_cell.items()) if name not in measured_cells)
    return Advised(key, tuple(advised), failed, measured.not_drawn, added, measured.vulnerabilities, measured.disturbances)


def _compared(cells: Mapping[str, CellResult], higher_is_better: bool, indifference: float, is_cheapest: bool) -> Best:
    meeting = {name: cell.values for name, cell in cells.items() if cell.slo in (None, MEETS)}
    if is_cheapest:
        prices = {name: price for name in meeting if (price := cells[name].usd_per_hour) is not None}
        meeting = {name: meeting[name] for name, price in prices.items() if price == min(prices.values())}
    found = best(meeting, higher_is_better=higher_is_better, indifference=indifference)
    if len(meeting) == 1 and any(cell.slo for cell in cells.values()):  # nothing to compare it with, and nothing else does what is asked for
        return Best(tuple(meeting), {}, (), {}, found.confidence, indifference)
    return found


def _states(by_metric: Mapping[str, Sequence[Mapping[str, Any]]], limits: Sequence[Limit]) -> dict[str, str]:
    """Whether each cell meets all limits: by the end of a one-sided 95 % interval of its sessions' mean (t, on logarithms)."""
    states: dict[str, list[str]] = {}
    for limit in limits:
        for name, runs in _by_cell(by_metric.get(limit.metric, [])).items():
            states.setdefault(name, []).append(_state(list(_sessions(runs).values()), limit))
    return {
        name: MISSES if MISSES in found else MEETS if found == [MEETS] * len(limits) else NOT_SHOWN for name, found in states.items()
    }


def _state(values: Sequence[float], limit: Limit) -> str:
    from scipy.special import stdtrit

    if len(values) < 2 or limit.value <= 0:
        return NOT_SHOWN
    logs = [math.log(value) for value in values]
    half = float(stdtrit(len(logs) - 1, 0.95)) * stdev(logs) / math.sqrt(len(logs))
    low, high, bound = fmean(logs) - half, fmean(logs) + half, math.log(limit.value)
    if not limit.is_at_most:
        low, high, bound = -high, -low, -bound
    return MEETS if high <= bound else MISSES if low > bound else NOT_SHOWN


def _metric(metrics: Sequence[str], metric: str | None, key: str) -> str:
    if not metrics:
        hint = "wh sql \"select * from campaign_cell_fact\" says what became of them"
        raise WarehouseError("WH502", "none of its runs has a result", key, hint, ExitCode.NOT_FOUND)
    if metric is None and len(metrics) > 1:
        raise WarehouseError("WH504", f"it measured {', '.join(metrics)}", key, f"choose one: --metric {metrics[0]}", ExitCode.USAGE)
    if metric is not None and metric not in metrics:
        hint = did_you_mean(metric, metrics) or f"it has {', '.join(metrics)}"
        raise WarehouseError("WH502", f"it has no metric {printable(metric)}", key, hint, ExitCode.NOT_FOUND)
    return metric or metrics[0]


def _by_cell(runs: Sequence[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    found: dict[str, list[Mapping[str, Any]]] = {}
    for each in runs:
        found.setdefault(each["cell"], []).append(each)
    return found


def _sessions(runs: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """The geometric mean of the runs of each session."""
    logs: dict[str, list[float]] = {}
    for each in runs:
        logs.setdefault(each["session"], []).append(math.log(each["value"]))
    return {session: math.exp(fmean(values)) for session, values in logs.items()}


def _result(
    slots: Sequence[Mapping[str, Any]], runs: Sequence[Mapping[str, Any]], number_id: str | None, slo: str | None,
    prices: Mapping[str, float | None],
) -> CellResult:
    failures = Counter((slot["status"], slot["status_reason"]) for slot in slots if slot["status"] != "succeeded")
    first = slots[0]
    unlike = {name for slot in slots for name in (slot["unlike"] or "").split(", ") if name}
    return CellResult(
        first["cell"], first["factors"], first["is_baseline"], next((slot["stack_digest"] for slot in slots if slot["stack_digest"]), None),
        _sessions(runs), math.exp(fmean(math.log(each["value"]) for each in runs)) if runs else None,
        tuple(each["run_id"] for each in runs), number_id, failures, slo,
        _price(first["factors"], [prices.get(each["run_id"]) for each in runs]), tuple(sorted(unlike)),
    )


def _price(factors: Mapping[str, str], of_runs: Sequence[float | None]) -> float | None:
    """What an hour of a cell costs: by its factor, else by the price list that applies to all of its runs. None: unknown, or not one price."""
    if PRICE in factors:
        return float(factors[PRICE]) if re.fullmatch(r"[0-9]+(\.[0-9]+)?", factors[PRICE]) else None
    return of_runs[0] if len(set(of_runs)) == 1 else None
