"""What the gate lets pass, in samples drawn with a seed: how often the interval of a number that it calls publishable holds the truth, and
how often it stops honest runs. *Before* is the first version of the gate."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
from figure import Figure
from numpy.random import Generator
from numpy.typing import NDArray

from warehouse.claims.gate.evidence import GATE_VERSION, ColumnEvidence, RowEvidence
from warehouse.claims.gate.history import History
from warehouse.claims.gate.judgement import Judgement, judge
from warehouse.claims.gate.policy import PUBLISHABLE, Policy, read_policy
from warehouse.statistics.interval import Interval
from warehouse.statistics.shape import two_levels_p
from warehouse.transform.project.claim import WORDS, Claim, ClaimedNumber

Floats = NDArray[np.float64]
BETWEEN = (0.0, 0.01, 0.02, 0.03, 0.04, 0.05)
FIRST = datetime(2026, 1, 1)
_SPREAD = 0.01  # of the runs of a session
_RUNS = 5  # a session
_TOGETHER = 40  # numbers of one publication
_NOISY = 0.09  # the spread of runs in a history whose runs hide what its sessions differ by
_OF_HISTORY = 19  # sessions of such a history, of two runs each
_FEWEST = 0.02  # share of publishable numbers from which on their coverage is a figure


_RULES = {"runs", "sessions", "session-balance", "interval", "spread", "one-level", "drift"}  # those that values decide


def default_policy() -> Policy:
    path = Path(__file__).resolve().parents[2] / "queries" / "policies" / "default.toml"
    policy = read_policy(tomllib.loads(path.read_text(encoding="utf-8")), path.name)
    return replace(policy, rules=tuple(rule for rule in policy.rules if rule.id in _RULES))


POLICY = default_policy()


def figures(trials: int) -> Iterator[Figure]:
    yield from after_the_gate(trials)
    yield from of_odd_histories(trials)
    yield from of_noisy_runs(trials)
    yield from honest_designs(trials)
    yield from rounded_constants(trials)


def evidence(values: Floats, number: int = 0) -> RowEvidence:
    """One number over `values[session, run]`: a session a day, whose runs are an hour apart."""
    sessions, runs = values.shape
    observed = [
        (
            f"{number}-{session}-{run}",
            {"session": f"job {number}-{session}", "started_at": f"{FIRST + timedelta(days=session, hours=run):%Y-%m-%dT%H:%M:%S+00:00}"},
        )
        for session in range(sessions) for run in range(runs)
    ]
    return RowEvidence(observed, {"v": ColumnEvidence(values.ravel().tolist(), frozenset(range(values.size)))})


def judged(rows: Sequence[RowEvidence], statistic: str, gate: int = GATE_VERSION, others: Sequence[RowEvidence] = ()) -> Iterator[Judgement]:
    """The numbers of one publication that has `others` as well."""
    claim = Claim("default", "o", {"v": ClaimedNumber(statistic, "observation.value")}, {}, None, dict.fromkeys(WORDS, "written"))
    history = History((row, ["v"]) for row in (*rows, *others))
    for row in rows:
        values = row.columns["v"].values
        value = float(np.median(values) if statistic == "median" else np.mean(values))  # type: ignore[arg-type]
        yield judge(history.of(row).of("v", value, {}, claim, {}), POLICY, gate)


def drawn(chance: Generator, sessions: int, between: float, runs: int = _RUNS, spread: float = _SPREAD) -> Floats:
    levels = between * chance.normal(size=(sessions, 1))
    values: Floats = np.round(100 * np.exp(levels + spread * chance.normal(size=(sessions, runs))), 9)
    return values


def after_the_gate(trials: int) -> Iterator[Figure]:
    """Of the numbers that are publishable, the share whose interval holds the truth: the least over what sessions differ by."""
    for statistic, together, gate in (
        ("median", 1, 1), ("mean", 1, 1), ("median", 1, 2), ("mean", 1, 2), ("median", _TOGETHER, 2), ("mean", _TOGETHER, 2),
    ):
        for sessions in (2, 3, 4, 5):
            cells = [_cell(trials, sessions, between, statistic, together, gate=gate) for between in BETWEEN]
            known = [(covered, between) for (passed, covered), between in zip(cells, BETWEEN, strict=True) if passed >= _FEWEST]
            passing = ", ".join(f"{passed:.0%}" for passed, _ in cells)
            alone = "alone" if together == 1 else f"one of {together} of the testbed"
            name = f"{'before: ' if gate == 1 else ''}{statistic} of {sessions} sessions, {alone}; publishable {passing}"
            yield Figure("coverage of publishable numbers", name, min(known)[0] if known else 1.0, None if gate == 1 else 0.93)


def of_odd_histories(trials: int) -> Iterator[Figure]:
    """The same beside a history whose runs hide what its sessions differ by, one of copies of a quiet session under other days, and one of
    values that are rounded to be alike."""
    for kind, make in (("noisy", _noisy), ("copied", _copied), ("rounded", _rounded)):
        for statistic in ("median", "mean"):
            for sessions in (2, 3, 4, 5):
                cells = [_cell(trials, sessions, between, statistic, 1, others=make) for between in BETWEEN]
                yield _told(f"{statistic} of {sessions} sessions, {kind} history", cells, BETWEEN)


def of_noisy_runs(trials: int) -> Iterator[Figure]:
    """The same of runs that spread by more than 1 %, on a testbed whose sessions agree."""
    spreads = (0.01, 0.02, 0.03)
    for statistic in ("median", "mean"):
        for sessions, runs in ((2, 5), (3, 2), (5, 1)):
            cells = [_cell(trials, sessions, 0.0, statistic, 1, runs, spread, _quiet) for spread in spreads]
            yield _told(f"{statistic} of {sessions} sessions of {runs}, runs that spread by 1, 2, 3 %", cells, spreads)


def _told(name: str, cells: Sequence[tuple[float, float]], of: Sequence[float]) -> Figure:
    known = [(covered, each) for (passed, covered), each in zip(cells, of, strict=True) if passed >= _FEWEST]
    passing = ", ".join(f"{passed:.0%}" for passed, _ in cells)
    return Figure("coverage of publishable numbers", f"{name}; publishable {passing}", min(known)[0] if known else 1.0, 0.93)


Others = Callable[[Generator, float], RowEvidence]


def _noisy(chance: Generator, between: float) -> RowEvidence:
    return evidence(drawn(chance, _OF_HISTORY, between, 2, _NOISY), -1)


def _quiet(chance: Generator, between: float) -> RowEvidence:
    return evidence(drawn(chance, 10 * _OF_HISTORY, 0.0, 2, 0.002), -1)


def _rounded(chance: Generator, between: float) -> RowEvidence:
    return evidence(np.round(drawn(chance, _OF_HISTORY, between, 2) / 33), -1)


def _copied(chance: Generator, between: float) -> RowEvidence:
    made = evidence(np.tile(drawn(chance, 1, between, 2), (2 * _OF_HISTORY, 1)), -1)
    return replace(made, observed=[(run, {**columns, "figures": [f"{run[-1]}.2345678912"]}) for run, columns in made.observed])


def _cell(
    trials: int, sessions: int, between: float, statistic: str, together: int, runs: int = _RUNS, spread: float = _SPREAD,
    others: Others | None = None, gate: int = GATE_VERSION,
) -> tuple[float, float]:
    """The share that is publishable, and of these the share that holds the truth."""
    chance = np.random.default_rng([sessions, together, int(1000 * between)])
    truth = 100.0 if statistic == "median" else 100 * np.exp((between**2 + spread**2) / 2)
    held = []
    for _ in range(max(1, trials // together)):
        rows = [evidence(drawn(chance, sessions, between, runs, spread), number) for number in range(together)]
        for each in judged(rows, statistic, gate, [others(chance, between)] if others else []):
            if each.verdict == PUBLISHABLE:
                held.append(isinstance(each.interval, Interval) and each.interval.low <= truth <= each.interval.high)
    return len(held) / (max(1, trials // together) * together), float(np.mean(held)) if held else 1.0


def honest_designs(trials: int) -> Iterator[Figure]:
    """Runs without drift about one level: how often the rules of drift and shape stop them."""
    for sessions, runs in ((3, 5), (2, 5), (5, 3), (6, 5)):
        for between in (0.0, 0.05):
            for gate in (1, GATE_VERSION):
                chance = np.random.default_rng([sessions, runs, int(1000 * between)])
                stopped = [
                    any(rule.rule.id in ("drift", "one-level") and rule.verdict != PUBLISHABLE for rule in each.rules)
                    for _ in range(trials) for each in judged([evidence(drawn(chance, sessions, between, runs))], "median", gate)
                ]
                name = f"{'before: ' if gate == 1 else ''}{sessions} sessions of {runs} runs that differ by {between:.0%}: drift or two levels"
                yield Figure("honest designs that are called unstable", name, float(np.mean(stopped)), high=None if gate == 1 else 0.02)


def rounded_constants(trials: int) -> Iterator[Figure]:
    """A constant with a noise of a fraction of its last digit."""
    for noise in (0.2, 0.5):
        for n in (10, 20, 50):
            chance = np.random.default_rng([n, int(10 * noise)])
            samples = [np.round(1000 + chance.uniform() + noise * chance.normal(size=n)) / 10 for _ in range(trials // 4)]
            name = f"{n} values with a noise of {noise} steps: two levels"
            for said, step in (("before: ", 0.0), ("", None)):
                found = float(np.mean([float(two_levels_p(sample, step=step)) < 0.01 for sample in samples]))  # type: ignore[arg-type]
                yield Figure("constants that are rounded", said + name, found, high=None if said else 0.02)
